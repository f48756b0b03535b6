"""Random queries on random tables: a cluster of Spark hands the noise the integers that DuckDB
does, every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sfumato.tables.engine.dialects import spark_dialect as dialect
from sfumato.tables.engine.dialects.templates import fill

from ..tables.worlds import Bench
from .benches import SparkBench, differ_in_groupings, differs
from .conftest import SPARK

pytestmark = SPARK

BLOCK = 12


@pytest.fixture(scope="module")
def second_bench(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkBench]:
    opened = SparkBench(spark, tmp_path_factory.mktemp("worlds"))
    yield opened
    opened.close()


def test_both_engines_agree(bench: Bench, second_bench: SparkBench) -> None:
    """Twelve queries, none of which is refused."""
    for seed in range(BLOCK):
        assert not differs(seed, bench, second_bench)


@pytest.mark.parametrize("seed", [413, 421, 835])
def test_truncation_keeps_the_same_rows(seed: int, bench: Bench, second_bench: SparkBench) -> None:
    """Queries that truncate rows with floats, which Spark writes otherwise than DuckDB does."""
    assert not differs(seed, bench, second_bench)


def test_groupings_agree(bench: Bench, second_bench: SparkBench) -> None:
    """Several groupings of the same rows: the integers of every measured table."""
    assert differ_in_groupings(bench, second_bench, 3) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 84))
def test_both_engines_agree_on_many_more(
    block: int, bench: Bench, second_bench: SparkBench
) -> None:
    """A thousand, with those above."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not differs(seed, bench, second_bench, refusing=True)


def _in_doubles(self: Any, op: Any, *, left: Any, right: Any) -> Any:
    return fill(
        "CAST(round(CAST(a_ AS DOUBLE) / CAST(b_ AS DOUBLE)) AS BIGINT)", "spark", a_=left, b_=right
    )


def test_a_wrong_dialect_is_noticed(
    bench: Bench, second_bench: SparkBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialect.TotalSparkCompiler, "visit_FloorDivide", _in_doubles)
    assert any(differs(seed, bench, second_bench) for seed in range(2 * BLOCK))
