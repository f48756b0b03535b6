"""The user's way to write expressions: `col("age") >= 18`, `when(condition, a).otherwise(b)`. The
tree is in `nodes`, its functions in `functions`.

`==` builds an expression, so compare expressions with `same`, or compare their texts.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import expr_refusals as refusals
from .nodes import ColumnRef, Expr, FunctionCall, Literal, call, literal

__all__ = [
    "ColumnRef",
    "Expr",
    "FunctionCall",
    "Literal",
    "When",
    "as_expr",
    "call",
    "col",
    "literal",
    "python_text",
    "same",
    "when",
]


def col(name: str) -> Expr:
    """Refer to a column of the table by its name."""
    if not isinstance(name, str) or not name:
        raise refusals.COLUMN_NAME_NOT_TEXT(name=name)
    return ColumnRef(name)


def as_expr(value: str | Expr) -> Expr:
    """Return an expression: the one given, or the column of that name."""
    return value if isinstance(value, Expr) else col(value)


def same(first: Expr, second: Expr) -> bool:
    """Whether two expression trees are equal."""
    return first is second or first.text == second.text


_PYTHON = {"=": "==", "<>": "!=", "and": "&", "or": "|", "power": "**"} | {
    sign: sign for sign in ("<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%")
}
"""Functions of the table that Python writes between their arguments."""


def python_text(expression: Expr) -> str:
    """Write an expression as the Python code that builds it."""
    if isinstance(expression, ColumnRef):
        return f"sf.col({expression.name!r})"
    if isinstance(expression, Literal):
        return repr(expression.value)
    assert isinstance(expression, FunctionCall)
    name = expression.function.name
    first, *rest = map(python_text, expression.arguments)
    if name in _PYTHON:
        if first.startswith("-"):
            first = f"({first})"  # ** binds more tightly than the sign of a constant
        return f"({f' {_PYTHON[name]} '.join([first, *rest])})"
    if name in ("negate", "not"):
        return f"({'-' if name == 'negate' else '~'}{first})"
    if name == "case":
        *branches, default = first, *rest
        pairs = zip(branches[::2], branches[1::2], strict=True)
        return f"sf{''.join(f'.when({c}, {value})' for c, value in pairs)}.otherwise({default})"
    if name == "is_in":
        return f"{first}.is_in([{', '.join(rest)}])"
    if name == "date_trunc":
        return f"{rest[0]}.date_trunc({first})"
    return f"{first}.{name}({', '.join(rest)})"


@dataclass(frozen=True, slots=True)
class When:
    """Conditions and values of a CASE; `otherwise` completes it."""

    branches: tuple[Expr, ...]

    def when(self, condition: object, value: object) -> When:
        return When((*self.branches, literal(condition), literal(value)))

    def otherwise(self, value: object) -> Expr:
        return call("case", *self.branches, value)


def when(condition: object, value: object) -> When:
    """Begin a CASE: `when(c, a).when(d, b).otherwise(e)` is the value of the first true condition.
    `otherwise(None)` gives null.
    """
    return When(()).when(condition, value)
