"""Constants that every engine has to compute rightly: all accepted ones do, and one that does not
is refused.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import ibis
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.engine.capabilities import SUMS, check_capabilities, expressions
from sfumato.tables.engine.duckdb_engine import DuckDBEngine
from sfumato.tables.engine.external_duckdb import ExternalDuckDB

from ..refusing import refusal


def test_the_own_engine_has_them() -> None:
    engine = DuckDBEngine()
    check_capabilities(engine)
    engine.close()


def test_a_lent_duckdb_has_them() -> None:
    check_capabilities(ExternalDuckDB(ibis.duckdb.connect()))


class Wrong:
    """An engine that computes one of them otherwise, or nothing."""

    version = "Wrong 1"

    def __init__(self, place: int | None, value: Any = None) -> None:
        self._place, self._value, self._engine = place, value, DuckDBEngine()

    def run(self, expression: Any) -> Any:
        if self._place is None:
            raise ArithmeticError("integer overflow")
        row = self._engine.run(expression).to_pylist()[0]
        self._engine.close()
        return pa.table(
            {
                name: [self._value if i == self._place else value]
                for i, (name, value) in enumerate(row.items())
            }
        )


WRONG = {
    "a sum of 32-bit integers beyond 32 bits": 0,  # as Polars adds
    "a sum of 64-bit integers beyond 64 bits": Decimal(0),
    "a product beyond the doubles": None,
    "a product beyond the 64-bit integers": 0.0,
    "a division by zero": 0.0,
    "a cast of a text that is no number": 0,
    "texts compared by their bytes": True,
}


@pytest.mark.parametrize("what", WRONG)
def test_an_engine_that_computes_otherwise_is_refused(what: str) -> None:
    engine: Any = Wrong(list(WRONG).index(what), WRONG[what])
    assert what in refusal(lambda: check_capabilities(engine), "engine.capability").reason


def test_all_of_them_are_tried_here() -> None:
    assert list(WRONG) == [*SUMS, *expressions()]


def test_an_engine_that_fails_is_refused() -> None:
    broken: Any = Wrong(None)
    refused = refusal(lambda: check_capabilities(broken), "engine.capability")
    assert "overflow" not in refused.reason


def test_a_connection_that_takes_two_texts_for_one_is_refused() -> None:
    """With a collation without case, one person's rows would weigh another's."""
    backend = ibis.duckdb.connect()
    backend.create_table("visits", pa.table({"u": ["a", "A"]}))
    assert sf.protect(backend.table("visits"), unit="u", max_rows=1, budget=1)
    backend.con.execute("SET default_collation = 'NOCASE'")
    refused = refusal(
        lambda: sf.protect(backend.table("visits"), unit="u", max_rows=1, budget=1),
        "engine.capability",
    )
    assert "bytes" in refused.reason
