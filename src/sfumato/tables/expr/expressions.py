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


def python_text(expression: Expr) -> str:
    """Write an expression as the Python code that builds it."""
    if isinstance(expression, ColumnRef):
        return f"sf.col({expression.name!r})"
    if isinstance(expression, Literal):
        return repr(expression.value)
    assert isinstance(expression, FunctionCall)
    function, arguments = expression.function, list(map(python_text, expression.arguments))
    sign = next((sign for sign in function.operator.split() if not sign.isalpha()), "")
    if sign and len(arguments) == 1:
        return f"({sign}{arguments[0]})"
    if sign:
        if arguments[0].startswith("-"):
            arguments[0] = f"({arguments[0]})"  # ** binds more tightly than the sign of a constant
        return f"({f' {sign} '.join(arguments)})"
    if function.pairs:
        *branches, default = arguments
        pairs = zip(branches[::2], branches[1::2], strict=True)
        return f"sf{''.join(f'.when({c}, {value})' for c, value in pairs)}.otherwise({default})"
    value, rest = arguments.pop(function.self_place), ", ".join(arguments)
    return f"{value}.{function.name}({f'[{rest}]' if function.name == 'is_in' else rest})"


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
