"""The same expression on other names of columns."""

from __future__ import annotations

from collections.abc import Mapping

from .expressions import Call, Column, Expr, col


def renamed(expression: Expr, names: Mapping[str, str]) -> Expr:
    """Each column by its new name; one that has none keeps its own."""
    if isinstance(expression, Column):
        return col(names.get(expression.name, expression.name))
    if isinstance(expression, Call):
        return Call(
            expression.function,
            tuple(renamed(argument, names) for argument in expression.arguments),
            expression.weight,
            expression.cost,
            expression.depth,
        )
    return expression


def beside(left: Mapping[str, object], right: Mapping[str, object]) -> dict[str, str]:
    """Names for the columns of the right that can stand beside those of the left: their own, or
    with `_right` after them.
    """
    taken, own = {name.lower() for name in left}, {name.lower() for name in right}
    found: dict[str, str] = {}
    for name in right:
        made, number = name, 1
        while made.lower() in taken or (made != name and made.lower() in own):
            made, number = f"{name}_right" if number == 1 else f"{name}_right_{number}", number + 1
        found[name] = made
        taken.add(made.lower())
    return found
