"""What every engine has to compute rightly, asked of the connection at hand: sums that do not wrap,
and expressions that give a value or null for every row.

*Constants*  The statement reads no table, so nothing of the data is in what it gives, and `protect`
             may say what is wrong.
*Why*        The sensitivity of a plan counts on exact sums of up to 126 bits. A sum that wraps, or
             an error on one row, would tell about that row. Which engines are asked at all says
             `served`; settings of a connection and versions of a server can still differ from those
             in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...errors import Refused
from ..expr.expressions import Expr, call, col
from ..expr.types import Type
from .duckdb_engine import Engine

ROWS = 8  # of the table of constants, all alike
COLUMNS: Mapping[str, tuple[Any, str]] = {
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
"""What is asked → the column that is added, the type that the sum is read as, and the sum."""


@cache
def expressions() -> Mapping[str, tuple[Expr, Any]]:
    """What is asked → an expression of a row, and its value."""
    return {
        "a product beyond the doubles": (col("wide") * col("wide"), math.inf),
        "a product beyond the 64-bit integers": (col("large") * col("large"), 2.0**124),
        "a division by zero": (col("large") // (col("large") - col("large")), None),
        "a cast of a text that is no number": (call("cast", col("text"), "int64"), None),
        "texts compared by their bytes": (col("text") == "X", False),
    }


def check_capabilities(engine: Engine) -> None:
    """Refuse a connection that computes one of these constants otherwise."""
    try:
        found = engine.run(_statement()).to_pylist()[0]
    except Exception:  # what an engine says differs from one to the next
        found = {}
    wanted = [
        (what, value) for asked in (SUMS, expressions()) for what, (*_, value) in asked.items()
    ]
    for i, (what, value) in enumerate(wanted):
        if f"a{i}" not in found or found[f"a{i}"] != value:
            reason = (
                f"{what} is not what it has to be on this connection: an answer could tell "
                f"about one row"
            )
            rewrite = "a connection with the engine's own settings, or the table as a Parquet file"
            raise Refused(
                "engine.capability", f"a connection to {engine.version:.60}", reason, rewrite
            )


def _statement() -> Any:
    """All of it, as one row."""
    import ibis

    row = (
        ibis.literal(0)
        .name("row")
        .as_table()
        .select(**{name: ibis.literal(value, kind) for name, (value, kind) in COLUMNS.items()})
    )
    rows = ibis.union(*[row.view() for _ in range(ROWS)], distinct=False)
    asked: dict[str, Any] = {}
    for i, (column, kind, _) in enumerate(SUMS.values()):
        asked[f"a{i}"] = rows[column].sum().cast(kind)
    for i, (expression, _) in enumerate(expressions().values(), len(SUMS)):
        value = expression.build(rows, _SCHEMA)
        asked[f"a{i}"] = value.max() if not value.type().is_boolean() else value.any()
    return rows.aggregate(**asked)
