"""Expressions, as they are written: `col("age") >= 18`, `when(condition, value).otherwise(other)`.
The tree itself is in `tree`, its functions in `functions`.

`==` makes an expression, so expressions are compared by `same`, or by their texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import Refused
from .nodes import Call, Column, Expr, Literal, call, literal

__all__ = [
    "Call",
    "Column",
    "Expr",
    "Literal",
    "When",
    "call",
    "col",
    "known",
    "literal",
    "same",
    "when",
]


def col(name: str) -> Expr:
    """A column of the table."""
    if not isinstance(name, str) or not name:
        raise Refused(
            "expression.column", f"col({name!r:.60})", "a column is named by a text", 'col("age")'
        )
    return Column(name)


def known(value: str | Expr) -> Expr:
    """Where a column is meant: its name, or an expression."""
    return value if isinstance(value, Expr) else col(value)


def same(one: Expr, other: Expr) -> bool:
    """Whether two trees are equal."""
    return one is other or one.text == other.text


@dataclass(frozen=True, slots=True)
class When:
    """Conditions and values, waiting for what holds otherwise."""

    branches: tuple[Expr, ...]

    def when(self, condition: Any, value: Any) -> When:
        return When((*self.branches, literal(condition), literal(value)))

    def otherwise(self, value: Any) -> Expr:
        return call("case", *self.branches, value)


def when(condition: Any, value: Any) -> When:
    """The value where the condition is true: `when(c, a).when(d, b).otherwise(e)`.
    `otherwise(None)` is null.
    """
    return When(()).when(condition, value)
