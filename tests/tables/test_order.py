"""The integers are a function of the multiset of rows: bit for bit the same in any order, on any
number of threads, in any chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.guarantees import ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.engine.sources import TableSource, open_source
from sfumato.tables.engine.sql_cache import SqlCache
from sfumato.tables.expr.expressions import col
from sfumato.tables.plan import statements
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Query, Rows
from sfumato.testing.exact_checks import Rehearsal, Through

from .worlds import Bench, Nobody, arrow, row

THREADS = (1, 2, 8)
CHUNKS = (41, 100_000, 500)
ORDERS = 20
CITIES = ["Roma", "Bari", "Pisa", None]
BOUNDS = {"v0": (-2, 10), "s0_0": (-(10**18), 10**18), "w": ("-1/3", 3), "w1": (0, 100)}

Ask = Callable[[Rows], Query]

QUESTIONS: dict[str, tuple[Ask, Guarantee, dict[str, Any]]] = {
    "doubles": (
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.sum("v0"), b=ag.mean("w"), c=ag.std("v0")),
        Pure(1),
        {"table_rows": 2**20},
    ),
    "integers": (
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.sum("v0"), b=ag.sum("s0_0"), c=ag.var("w1")),
        Pure(1),
        {},
    ),
    "wide": (
        lambda r: r.aggregate(
            a=ag.sum("s0_0"), b=ag.std("s0_0"), h=ag.histogram("v0", edges=(0, 1, 2))
        ),
        Pure(1),
        {"table_rows": 2**48},
    ),
    "weights": (
        lambda r: r.group_by(k0=CITIES).aggregate(
            a=ag.sum("v0"), u=ag.count_units(), q=ag.median("v0")
        ),
        Pure(1),
        {"unit": "user", "max_rows": 3},
    ),
    "heavy units": (
        lambda r: r.aggregate(a=ag.sum("v0"), h=ag.histogram("v0", edges=(0, 1, 2))),
        Pure(1),
        {"unit": "user", "max_rows": 20},
    ),
    "euclidean": (
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.sum("v0"), u=ag.count_units()),
        ZCDP("1/8"),
        {"unit": ["user", "n"], "max_rows": 3},
    ),
    "private keys": (
        lambda r: r.group_by("v0", "k1").aggregate(a=ag.count(), b=ag.sum("w")),
        Approx(1, "1e-6"),
        {"unit": "user", "max_rows": 3},
    ),
    "truncation": (
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.sum("v0")),
        Pure(1),
        {"unit": "user", "max_rows": 3, "bounding": "truncation"},
    ),
    "per unit": (
        lambda r: r.per_unit(
            {}, {"x": Total("sum", col("v0").clip(-2, 10)), "y": Total("mean", col("s0_0"))}
        ).aggregate(a=ag.sum("x", low=0, high=50)),
        Pure(1),
        {"unit": "user"},
    ),
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Rows enough for several vectors of the engine; some of the units own hundreds of them."""
    random = Random(11)
    few = [row(random) for _ in range(600)]
    return arrow(
        [
            {**random.choice(few), "user": random.choice((1, 2, 3, random.randrange(900)))}
            for _ in range(3000)
        ]
    )


@pytest.fixture(scope="module")
def orders(
    table: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[TableSource]]:
    """The same rows in twenty orders, as Parquet files in chunks of several sizes, each read by an
    engine with its own number of threads.
    """
    sources = list(
        engines(
            table,
            tmp_path_factory.mktemp("orders"),
            ((seed, THREADS[(seed + seed // 3) % 3]) for seed in range(ORDERS)),
        )
    )
    yield sources
    for source in sources:
        source.engine.close()


def engines(
    table: pa.Table, folder: Path, runs: Iterable[tuple[int, int]]
) -> Iterator[TableSource]:
    written: SqlCache | None = None  # the same statements on all of them: written once
    for seed, threads in runs:
        path = folder / f"{seed}.parquet"
        if not path.exists():
            order = np.random.default_rng(seed).permutation(table.num_rows)
            pq.write_table(
                table.take(pa.array(order)), path, row_group_size=CHUNKS[seed % len(CHUNKS)]
            )
        source = open_source(path, name="world", threads=threads)
        engine: Any = source.engine
        engine._sql_cache = written = written or engine._sql_cache
        yield source


def planned(bench: Bench, name: str) -> Plan:
    ask, promise, about = QUESTIONS[name]
    declared = declare(name="world", bounds=BOUNDS, schema=bench.schema, **about)
    return plan(ask(Rows.of(declared, Nobody())), promise, bench.source)


def bits(through: Through) -> list[Any]:
    """All that was handed to the noise, with dtypes; what comes in the engine's own order
    sorted.
    """
    recorded: list[Any] = [through.groups.rows]
    for call in through.calls:
        recorded.append([str(values.dtype) for values in call.integers])
        recorded.append(sorted(zip(*(values.tolist() for values in call.integers), strict=True)))
    return recorded


def all_alike(name: str, bench: Bench, sources: Iterable[TableSource]) -> bool:
    """Whether every source gives the same bits."""
    rehearsal = Rehearsal(planned(bench, name))
    recordings = []
    for source in sources:
        # the same statements on every engine, so that a key which is drawn when planning is the
        # same, too
        object.__setattr__(rehearsal.plan, "source", source)
        recordings.append(bits(rehearsal.run()))
    return len(recordings) >= ORDERS and all(recording == recordings[0] for recording in recordings)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_integers_in_any_order_on_any_threads_in_any_chunks(
    name: str, bench: Bench, orders: list[TableSource]
) -> None:
    """Twenty orders; each number of threads sees each size of chunks."""
    assert all_alike(name, bench, orders)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_integers_in_a_hundred_orders(
    name: str, bench: Bench, table: pa.Table, tmp_path: Path
) -> None:
    assert all_alike(
        name,
        bench,
        engines(table, tmp_path, ((seed, threads) for seed in range(100) for threads in THREADS)),
    )


def test_the_double_path_is_taken_and_exact(bench: Bench, table: pa.Table) -> None:
    """With few declared rows sums are added as doubles; with many, as integers: the same
    integers.
    """
    bench.hold(table)
    few, many = planned(bench, "doubles"), planned(bench, "integers")
    assert [
        statements.as_doubles(piece, few.calibration.bounding)
        for piece in few.components
        if piece.form in ("value", "centred")
    ] == [True, True, True]
    assert not any(
        statements.as_doubles(piece, many.calibration.bounding) for piece in many.components
    )
    name = next(piece.name for piece in few.components if piece.form == "value")
    assert (
        Rehearsal(few).run().integers(name).tolist()
        == Rehearsal(many).run().integers(name).tolist()
    )


def test_sums_of_raw_doubles_depend_on_the_order(orders: list[TableSource]) -> None:
    """The twin: what an engine gives for SUM of the column itself."""
    sums = {
        source.engine.run(source.table.filter(source.table.v0.abs() < 1e200).v0.sum().as_table())[
            0
        ][0].as_py()
        for source in orders
    }
    assert len(sums) > 1
