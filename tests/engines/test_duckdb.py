"""Random queries on random tables, and every function on special values: a lent DuckDB hands the
noise the integers that the engine of our own does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import ibis
import pyarrow as pa
import pytest

from sfumato.tables.engine.capabilities import check_capabilities
from sfumato.tables.engine.duckdb_engine import copy_rows
from sfumato.tables.engine.external_duckdb import ExternalDuckDB

from ..refusing import refusal
from ..tables.special_values import VALUES, array
from ..tables.worlds import Bench
from .benches import DuckDBBench, differs
from .functions import ComparedEngine, compare

BLOCK = 20
DEFAULT = ("int64", "float64", "string", "timestamp with time zone")


@pytest.fixture(scope="module")
def second_bench() -> Iterator[DuckDBBench]:
    opened = DuckDBBench()
    yield opened
    opened.close()


@pytest.mark.parametrize("block", range(2))
def test_both_engines_agree(block: int, bench: Bench, second_bench: DuckDBBench) -> None:
    """Forty queries, none of which is refused."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not differs(seed, bench, second_bench)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 100))
def test_both_engines_agree_on_many_more(
    block: int, bench: Bench, second_bench: DuckDBBench
) -> None:
    """Two thousand, with those above."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not differs(seed, bench, second_bench)


class Lent(ComparedEngine):
    """A connection of the owner's."""

    def __init__(self) -> None:
        self._backend, self._laid = ibis.duckdb.connect(), 0
        self.engine = ExternalDuckDB(self._backend)

    def lay(self, names: Sequence[str], rows: list[tuple[Any, ...]]) -> Any:
        self._laid += 1
        columns = {f"c{i}": array(name, [row[i] for row in rows]) for i, name in enumerate(names)}
        copy_rows(
            self._backend.con,
            f"rows{self._laid}",
            pa.table({"number": pa.array(range(len(rows)), pa.int32()), **columns}),
            "CREATE TABLE",
        )
        return self._backend.table(f"rows{self._laid}")


@pytest.mark.parametrize("name", DEFAULT)
def test_one_column(name: str) -> None:
    compared, refused = compare(Lent(), [name])
    assert compared > 15
    assert not refused


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VALUES if name not in DEFAULT])
def test_one_more_column(name: str) -> None:
    compared, refused = compare(Lent(), [name])
    assert compared
    assert not refused


class Wrapping:
    """What is written, with sums that lose all but 16 bits."""

    def __init__(self, written: Any) -> None:
        self._sql_cache = written

    def text(self, expression: Any) -> str:
        return re.sub(r"\bSUM\(", "sum_16(", self._sql_cache.text(expression))


def test_an_engine_whose_sums_wrap_is_noticed(
    bench: Bench, second_bench: DuckDBBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin of which the corpus, and the constants that `protect` asks for, have to tell."""
    engine: Any = second_bench.source.engine
    engine.backend.con.execute("CREATE MACRO sum_16(x) AS sum(x) % 65536")
    monkeypatch.setattr(engine, "_sql_cache", Wrapping(engine._sql_cache))
    assert any(differs(seed, bench, second_bench) for seed in range(20))
    refusal(lambda: check_capabilities(engine), "engine.capability")
