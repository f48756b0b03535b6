"""Random queries on random tables: with silent mechanisms, the integers that reach the noise are
those of the row-by-row evaluator, every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args

import pyarrow.parquet as pq
import pytest

from sfumato.tables.aggregates import KINDS as AGGREGATE_KINDS
from sfumato.tables.aggregates import (
    count,
    count_if,
    count_units,
    cumulative,
    histogram,
    mean,
    median,
    std,
)
from sfumato.tables.aggregates import sum as total
from sfumato.tables.aggregates.component import ComponentForm
from sfumato.tables.declare.declaration import declare
from sfumato.tables.engine.sources import open_source
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.grids import Grid
from sfumato.tables.expr.types import Type
from sfumato.tables.plan import statements
from sfumato.tables.plan.query_plan import plan
from sfumato.tables.query.stages import Rows
from sfumato.testing.exact_checks import through_the_door

from .rowwise import differences, exact
from .worlds import PROMISES, Bench, Nobody, arrow, planned, world

BLOCK = 25


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


def wrong(seed: int, bench: Bench) -> list[str]:
    """One query on one table; `Random(seed)` makes both."""
    random = Random(seed)
    release_plan = planned(random, bench)
    rows = world(random, release_plan.query.rows.declaration)
    bench.put(rows)
    return differences(release_plan, through_the_door(release_plan), rows)


@pytest.mark.parametrize("block", range(6))
def test_the_engine_agrees_with_the_evaluator(block: int, bench: Bench) -> None:
    """The first blocks of queries; `make slow` asks the others."""
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not wrong(seed, bench), seed


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6, 140))
def test_the_engine_agrees_with_the_evaluator_on_many_more(block: int, bench: Bench) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not wrong(seed, bench), seed


def wrong_in_a_file(seed: int, folder: Path) -> list[str]:
    """The same of a Parquet file, which states the least and the largest value of every chunk;
    engines plan with that.
    """
    random, path = Random(10**7 + seed), folder / f"{seed}.parquet"
    pq.write_table(arrow([]), path)
    schema: Any = ParquetBench(path)
    release_plan = planned(random, schema)
    schema.close()
    rows = world(random, release_plan.query.rows.declaration)
    pq.write_table(arrow(rows), path, row_group_size=random.choice((3, 1000)))
    again = ParquetBench(path)
    try:
        file_plan = plan(release_plan.query, release_plan.promise, again.source)
        return differences(file_plan, through_the_door(file_plan), rows)
    finally:
        again.close()


class ParquetBench:
    def __init__(self, path: Path) -> None:
        self.source = open_source(path, None, "world", threads=1)
        self.schema = {**self.source.schema, "sure": Type.of("float64 not null")}

    def close(self) -> None:
        self.source.engine.close()


def test_the_engine_agrees_on_files(tmp_path: Path) -> None:
    for seed in range(20):
        assert not wrong_in_a_file(seed, tmp_path), seed


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 21))
def test_the_engine_agrees_on_many_more_files(block: int, tmp_path: Path) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert not wrong_in_a_file(seed, tmp_path), seed


def test_every_kind_of_question_is_asked(bench: Bench) -> None:
    """What the generator covers: without it the test above could be green for want of questions."""
    kinds, forms, norms, features = set(), set(), set(), set()
    for seed in range(400):
        release_plan = planned(Random(seed), bench)
        declared, bounding = release_plan.query.rows.declaration, release_plan.calibration.bounding
        kinds |= {aggregate.kind for _, aggregate in release_plan.query.aggregates}
        forms |= {piece.form for piece in release_plan.components}
        norms.add((bounding.norm, bounding.truncation, bounding.relation, bounding.grouped))
        features |= {
            ("unit", len(declared.unit)),
            ("public", release_plan.query.public),
            ("keys", len(release_plan.query.keys)),
        }
        features |= {("step", type(step).__name__) for step in release_plan.query.rows.steps}
        features |= {
            ("wide", statements.needs_decimal(piece, bounding)) for piece in release_plan.components
        }
        features |= {
            ("doubles", statements.as_doubles(piece, bounding)) for piece in release_plan.components
        }
        features |= {
            ("filter", aggregate.where is not None)
            for _, aggregate in release_plan.query.aggregates
        }
    assert kinds == set(AGGREGATE_KINDS)
    assert forms == set(get_args(ComponentForm))
    assert len(norms) == 16
    required = (
        {("unit", n) for n in (0, 1, 2)}
        | {("keys", n) for n in (0, 1, 2)}
        | {("step", "RowStep"), ("step", "PerUnit")}
    )
    required |= {
        (what, value) for what in ("public", "wide", "doubles", "filter") for value in (True, False)
    }
    assert required <= features


def _unclipped(self: Grid, value: Any) -> Any:
    return (
        (self.doubles(value) * float(1 / self.step)).cast("int64")
        if self.floating
        else self._in_units(value)
    )


def _unweighted(base: Any, bounding: Any, *_: Any, **__: Any) -> Any:
    return base.mutate(w=1 << bounding.bits, w1=1 << bounding.bits)


def _first_vote(base: Any, bounding: Any, units: Any, keys: Any, secret: str) -> Any:
    return base.group_by(keys).agg(votes=lambda t: t.count())


@pytest.mark.parametrize(
    ("where", "name", "twin"),
    [
        (Grid, "integers", _unclipped),
        (statements, "row_weights", _unweighted),
        (statements, "votes", _first_vote),
    ],
)
def test_a_wrong_engine_is_noticed(
    where: Any, name: str, twin: Any, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, twin)
    assert any(wrong(seed, bench) for seed in range(60))


def test_several_aggregates_share_their_pieces(bench: Bench) -> None:
    """A count, a mean and a spread of the same rows need three pieces, and all columns are
    right.
    """
    declared = declare(
        name="world",
        unit="user",
        max_rows=3,
        bounds={"v0": (-2, 10)},
        keys={"k0": ["Roma", "Bari", None]},
        schema=bench.schema,
    )
    rows = Rows.of(declared, Nobody()).group_by("k0")
    query = rows.aggregate(
        n=count(),
        m=mean("v0"),
        s=std("v0"),
        again=mean("v0"),
        all=total("v0"),
        u=count_units(),
        some=count_if(col("v0") > 1),
        q=median("v0"),
        h=histogram("v0", edges=(0, 1, 5)),
        of=count("v0"),
    )
    for promise in PROMISES:
        release_plan = plan(query, promise, bench.source)
        assert len(release_plan.components) == 10
        data = world(Random(3), declared)
        bench.put(data)
        assert not differences(release_plan, through_the_door(release_plan), data)


def test_cumulative_counts_by_every_strategy(bench: Bench) -> None:
    """Random questions seldom ask for a tree of many cells with rows in them."""
    declared = declare(
        name="world",
        unit="user",
        max_rows=3,
        keys={"k0": ["Roma", "Bari", None]},
        schema=bench.schema,
    )
    data, names = world(Random(3), declared), set()
    bench.put(data)
    rows = Rows.of(declared, Nobody()).group_by("k0")
    query = rows.aggregate(
        few=cumulative("v0", edges=(0, 1, 5)), many=cumulative("v0", edges=range(-20, 21))
    )
    for promise in PROMISES:
        release_plan = plan(query, promise, bench.source)
        assert not differences(release_plan, through_the_door(release_plan), data)
        assert all(any(map(any, piece)) for piece in exact(data, release_plan).pieces.values())
        norm = release_plan.calibration.bounding.norm
        names |= {piece.strategies.of(norm).name for piece in release_plan.components}
    assert names == {"identity", "square root", "tree of 2", "tree of 13"}
