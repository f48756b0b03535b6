"""One expression on one row, in the engine: for tests of known values."""

from __future__ import annotations

from functools import cache
from typing import Any

from sfumato.tables.expr.expressions import Expr

from .special_values import engine, schema, table


@cache
def connection() -> Any:
    return engine()


def computed(expression: Expr, **values: tuple[str, Any]) -> Any:
    """The value of an expression where each column has that type and value."""
    arguments = table(
        connection(),
        "one_row",
        {name: (kind, [value]) for name, (kind, value) in values.items()}
        or {"nothing": ("bool", [True])},
    )
    types = dict(zip(values, schema(*(kind for kind, _ in values.values())).values(), strict=True))
    return (
        connection()
        .to_pyarrow(arguments.select(r=expression.build(arguments, types)))
        .column("r")
        .to_pylist()[0]
    )
