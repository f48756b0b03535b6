"""The user's way to write expressions: `col("age") >= 18`, `when(condition, a).otherwise(b)`. The
tree is in `nodes`, its functions in `functions`.

`==` builds an expression, so compare expressions with `same`, or compare their texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    "same",
    "when",
]


def col(name: str) -> Expr:
    """Refer to a column of the table by its name."""
    if not isinstance(name, str) or not name:
        raise refusals.EXPRESSION_COLUMN_1(name=name)
    return ColumnRef(name)


def as_expr(value: str | Expr) -> Expr:
    """Return an expression: the one given, or the column of that name."""
    return value if isinstance(value, Expr) else col(value)


def same(first: Expr, second: Expr) -> bool:
    """Whether two expression trees are equal."""
    return first is second or first.text == second.text


@dataclass(frozen=True, slots=True)
class When:
    """Conditions and values of a CASE; `otherwise` completes it."""

    branches: tuple[Expr, ...]

    def when(self, condition: Any, value: Any) -> When:
        return When((*self.branches, literal(condition), literal(value)))

    def otherwise(self, value: Any) -> Expr:
        return call("case", *self.branches, value)


def when(condition: Any, value: Any) -> When:
    """Begin a CASE: `when(c, a).when(d, b).otherwise(e)` is the value of the first true condition.
    `otherwise(None)` gives null.
    """
    return When(()).when(condition, value)
