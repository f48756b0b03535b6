"""Random queries on random tables: PostgreSQL, asked by a role that may only read, hands the noise
the integers that DuckDB does, every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from sfumato.tables.engine.dialects import postgres_dialect, postgres_floats
from sfumato.tables.engine.dialects.templates import fill

from ..ledger.servers import PostgresServer
from ..tables.worlds import Bench
from .benches import PostgresBench, differ_in_groupings, differs, generate_case

BLOCK = 25


@pytest.fixture(scope="module")
def second_bench(server: PostgresServer) -> Iterator[PostgresBench]:
    url = server.new()
    opened = PostgresBench(url, url.replace("postgres@", "reader@"))
    yield opened
    opened.close()


@pytest.mark.parametrize("block", range(4))
def test_both_engines_agree(block: int, bench: Bench, second_bench: PostgresBench) -> None:
    """A hundred queries, none of which is refused."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not differs(seed, bench, second_bench)


def test_the_queries_have_cells_of_every_kind(bench: Bench) -> None:
    """Among the hundred, some read several columns from cells, with squares and with products."""
    plans = [generate_case(seed, bench)[0] for seed in range(4 * BLOCK)]
    assert sum(any(block.cells for block in plan.calibration.blocks) for plan in plans) > 20
    for form in ("square", "product"):
        assert sum(any(part.form == form for part in plan.components) for plan in plans) >= 5


OVERFLOWING = 196
"""A query with a product that is too large for a double, the first of all seeds."""


def test_a_product_may_be_too_large(bench: Bench, second_bench: PostgresBench) -> None:
    assert not differs(OVERFLOWING, bench, second_bench)


def test_groupings_agree(bench: Bench, second_bench: PostgresBench) -> None:
    """Several groupings of the same rows: the integers of every measured table."""
    assert differ_in_groupings(bench, second_bench, 12) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4, 400))
def test_both_engines_agree_on_many_more(
    block: int, bench: Bench, second_bench: PostgresBench
) -> None:
    """Ten thousand, with those above."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not differs(seed, bench, second_bench, refusing=True)


def _in_doubles(self: Any, op: Any, *, left: Any, right: Any) -> Any:
    return fill(
        "CAST(a_ AS DOUBLE PRECISION) / CAST(b_ AS DOUBLE PRECISION)", "postgres", a_=left, b_=right
    )


def test_a_wrong_dialect_is_noticed(
    bench: Bench, second_bench: PostgresBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of weights: quotients in doubles. Functions that rows rarely need have their twins beside
    their own tests.
    """
    monkeypatch.setattr(postgres_dialect.TotalPostgresCompiler, "visit_FloorDivide", _in_doubles)
    assert any(differs(seed, bench, second_bench) for seed in range(4 * BLOCK))


def test_plain_arithmetic_would_fail(
    bench: Bench, second_bench: PostgresBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forms are there for a reason: PostgreSQL raises where a product is too large."""
    monkeypatch.setattr(postgres_floats, "PRODUCT", "a_ * b_")
    monkeypatch.setattr(postgres_floats, "QUOTIENT", "a_ / b_")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        differs(OVERFLOWING, bench, second_bench)
