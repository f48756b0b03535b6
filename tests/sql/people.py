"""A protected table for these tests, and an engine that says when it is asked."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import ibis.expr.operations as ops
import pyarrow as pa

import sfumato as sf
from sfumato.session import Table

CANARY = "Xenophon-8f3a7c"
"""A text that stands in the data and in no question: no message may hold it."""
CANARY_NUMBER = 773_311_559

COLUMNS = {
    "user_id": pa.int64(),
    "city": pa.string(),
    "age": pa.int64(),
    "spend": pa.float64(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "vip": pa.bool_(),
    "amount": pa.decimal128(10, 2),
    "note": pa.string(),
}


def rows(count: int = 40) -> dict[str, list[Any]]:
    """Rows of which some hold canaries."""
    cities = ["Roma", "Bari", "Milano", CANARY]
    return {
        "user_id": [i // 2 if i % 7 else CANARY_NUMBER for i in range(count)],
        "city": [cities[i % 4] for i in range(count)],
        "age": [20 + i for i in range(count)],
        "spend": [None if i % 11 == 3 else i * 1.25 for i in range(count)],
        "day": [datetime.date(2026, 1, 1) + datetime.timedelta(days=i) for i in range(count)],
        "at": [datetime.datetime(2026, 1, 1, i % 24, 30) for i in range(count)],
        "vip": [i % 3 == 0 for i in range(count)],
        "amount": [Decimal(i) / 4 for i in range(count)],
        "note": [CANARY if i % 5 == 0 else "seen" for i in range(count)],
    }


def arrow(data: dict[str, list[Any]] | None = None) -> pa.Table:
    result = data or rows()
    return pa.table({name: pa.array(result[name], type=kind) for name, kind in COLUMNS.items()})


def protected(data: dict[str, list[Any]] | None = None, **declared: Any) -> Table:
    """The table, declared as an owner would."""
    arguments = {
        "name": "visits",
        "unit": "user_id",
        "max_rows": 4,
        "budget": sf.Approx(1000, "1e-3"),
        "bounds": {"age": (0, 120), "spend": (0, 100)},
        "keys": {"city": ["Roma", "Bari", "Milano"]},
    }
    table: Table = sf.protect(arrow(data), **{**arguments, **declared})
    return table


class UnexpectedRun(Exception):
    """The engine was asked, though it should not have been."""


def unasked(table: Table, *public: str) -> Table:
    """The same table with an engine that must not be asked, but about public tables."""
    run = table._source.engine.run

    def run_public(expression: Any, **how: Any) -> Any:
        if {op.name for op in expression.op().find(ops.DatabaseTable)} <= set(public):
            return run(expression, **how)
        raise UnexpectedRun

    table._source.engine.run = run_public  # type: ignore[method-assign]  # refuses first
    return table
