"""Test a connection on constants: sums must not wrap, and expressions must give a value or null for
every row.

*Constants*  The statement reads no table, so its result holds nothing of the data, and `protect`
             may show what is wrong.
*Why*        The sensitivity of a plan relies on exact sums of up to 126 bits. A sum that wraps, or
             an error on one row, would reveal that row. `engine_registry` lists the engines that
             are accepted; the settings of a connection and the version of a server can still differ
             from those in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ..expr.expressions import Expr, call, col
from ..expr.types import Type
from . import engine_refusals as refusals
from .duckdb_engine import Engine

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 8  # of the table of constants, all alike
COLUMNS: Mapping[str, tuple[float | str, str]] = {
    "small": (2**30, "int32"),
    "large": (2**62, "int64"),
    "wide": (1e308, "float64"),
    "text": ("x", "string"),
}
"""Column → its value in every row, and its type."""

_SCHEMA = {name: Type.of(kind) for name, (_, kind) in COLUMNS.items()}

SUMS: Mapping[str, tuple[str, str, int]] = {
    "a sum of 32-bit integers beyond 32 bits": ("small", "int64", ROWS * 2**30),
    "a sum of 64-bit integers beyond 64 bits": ("large", "decimal(38, 0)", ROWS * 2**62),
}
"""Check → the column that is summed, the type of the sum, and the expected sum."""


@cache
def expressions() -> Mapping[str, tuple[Expr, float | None]]:
    """Check → an expression of a row, and its expected value."""
    return {
        "a product beyond the doubles": (col("wide") * col("wide"), math.inf),
        "a product beyond the 64-bit integers": (col("large") * col("large"), 2.0**124),
        "a division by zero": (col("large") // (col("large") - col("large")), None),
        "a cast of a text that is no number": (call("cast", col("text"), "int64"), None),
        "texts compared by their bytes": (col("text") == "X", False),
    }


def check_capabilities(engine: Engine) -> None:
    """Refuse a connection that computes one of these checks wrongly."""
    try:
        row = engine.run(_statement()).to_pylist()[0]
    except Exception:  # what an engine says differs from one to the next
        row = {}
    expected = [
        (what, value) for checks in (SUMS, expressions()) for what, (*_, value) in checks.items()
    ]
    for i, (what, value) in enumerate(expected):
        if f"a{i}" not in row or row[f"a{i}"] != value:
            raise refusals.CONNECTION_COMPUTES_WRONGLY(version=engine.version, check=what)


def _statement() -> ir.Table:
    """Build the statement that computes all checks in one row."""
    import ibis

    row = (
        ibis.literal(0)
        .name("row")
        .as_table()
        .select(**{name: ibis.literal(value, kind) for name, (value, kind) in COLUMNS.items()})
    )
    rows = ibis.union(*[row.view() for _ in range(ROWS)], distinct=False)
    values: dict[str, ir.Scalar] = {}
    for i, (column, kind, _) in enumerate(SUMS.values()):
        values[f"a{i}"] = rows[column].sum().cast(kind)
    for i, (expression, _) in enumerate(expressions().values(), len(SUMS)):
        value = expression.build(rows, _SCHEMA)
        values[f"a{i}"] = value.max() if not value.type().is_boolean() else value.any()
    return rows.aggregate(**values)
