"""Rename or define the columns of an expression, and name the right columns of a join."""

from __future__ import annotations

from collections.abc import Mapping

from ..expr.expressions import ColumnRef, Expr, FunctionCall, call, col


def rename_columns(expression: Expr, names: Mapping[str, str]) -> Expr:
    """Replace the names of columns in an expression; a column without a new name keeps its name."""
    if isinstance(expression, ColumnRef):
        return col(names.get(expression.name, expression.name))
    if isinstance(expression, FunctionCall):
        return FunctionCall(
            expression.function,
            tuple(rename_columns(argument, names) for argument in expression.arguments),
            expression.weight,
            expression.cost,
            expression.depth,
        )
    return expression


def inline_columns(expression: Expr, definitions: Mapping[str, Expr]) -> Expr:
    """Replace every column that has a definition by it."""
    if isinstance(expression, ColumnRef):
        return definitions.get(expression.name, expression)
    if isinstance(expression, FunctionCall) and expression.columns & set(definitions):
        return call(
            expression.function.name,
            *(inline_columns(argument, definitions) for argument in expression.arguments),
        )
    return expression


def right_names(left: Mapping[str, object], right: Mapping[str, object]) -> dict[str, str]:
    """Name the right columns so that none collides with a left column: append `_right` where
    needed.
    """
    used, right_lower = {name.lower() for name in left}, {name.lower() for name in right}
    names: dict[str, str] = {}
    for name in right:
        candidate, number = name, 1
        while candidate.lower() in used or (candidate != name and candidate.lower() in right_lower):
            candidate, number = (
                f"{name}_right" if number == 1 else f"{name}_right_{number}",
                number + 1,
            )
        names[name] = candidate
        used.add(candidate.lower())
    return names
