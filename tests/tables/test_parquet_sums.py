"""Sums in arrays against the same sums in SQL, which have an oracle of their own: integer for
integer, whatever lies in the files.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import Failed
from sfumato.tables.engine.duckdb_engine import DuckDBEngine, Engine
from sfumato.tables.plan.fast_path import numpy_sums, parquet_sums
from sfumato.tables.plan.fast_path.parquet_sums import TimeUp
from sfumato.testing.exact_checks import through_the_door

KINDS = ("int8", "int16", "int32", "int64", "float32", "float64")
Source = Callable[..., Any]


def numbers(kind: str, rows: int, rng: random.Random, *, tame: bool) -> pa.Array:
    """Numbers of a type, tame ones between −20 and 100; else also nulls, the largest and least, and
    of floats what is no number.
    """
    wild: list[Any] = [
        None,
        *(() if kind.startswith("f") else (np.iinfo(kind).min, np.iinfo(kind).max)),
    ]
    if kind.startswith("f"):
        wild += [
            math.nan,
            math.inf,
            -math.inf,
            -0.0,
            5e-324 if kind == "float64" else 1e-45,
            1e300 if kind == "float64" else 3e38,
        ]

    def draw_number() -> Any:
        if not tame and rng.random() < 0.2:
            return rng.choice(wild)
        return rng.uniform(-20, 100) if kind.startswith("f") else rng.randint(-20, 100)

    return pa.array([draw_number() for _ in range(rows)], kind)


@pytest.fixture
def protect(tmp_path: Path) -> Source:
    def protect_files(*tables: pa.Table, row_group: int = 100, **more: Any) -> Any:
        for i, table in enumerate(tables):
            pq.write_table(table, tmp_path / f"part{i}.parquet", row_group_size=row_group)
        bounds = {name: (-10, 50) for name in ("x", "y") if name in tables[0].column_names}
        declared = {
            "name": "visits",
            "budget": sf.Pure(100),
            "bounds": bounds,
            "table_rows": 10**6,
            "threads": 2,
        } | more
        declared |= {} if "unit" not in declared or "max_rows" in declared else {"max_rows": 3}
        threads = declared.pop("threads")
        table = sf.protect(sorted(map(str, tmp_path.glob("*.parquet"))), **declared)
        table._source.engine._threads = threads
        return table

    return protect_files


def both(query: Any, **promise: Any) -> tuple[list[Any], list[Any]]:
    """The integers of every piece, in arrays and in SQL."""
    plan = query.plan(**(promise or {"promise": sf.Pure(1)}))
    assert [statement.plain is not None for statement in plan.statements] == [True]
    results, received = [], []
    for way, closed in (
        (DuckDBEngine.tally, (DuckDBEngine, "run")),
        (Engine.tally, (parquet_sums.PlainSums, "compute")),
    ):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(DuckDBEngine, "tally", way)
            patched.setattr(*closed, _not_this_way)
            through = through_the_door(plan)
        results.append([piece.values.tolist() for piece in through.pieces])
        received.append([[each.tolist() for each in call.integers] for call in through.calls])
    assert (received[0] == received[1]) == (results[0] == results[1])
    return results[0], results[1]


def _not_this_way(*_: Any, **__: Any) -> None:
    pytest.fail("the other way was meant")


def anything(pieces: list[Any]) -> bool:
    return any(np.any(np.array(piece, dtype=object) != 0) for piece in pieces)


def owners(rows: int, rng: random.Random, kind: str = "int64", *, some: bool = True) -> pa.Array:
    """Units of which a few have many rows, and some rows none."""
    return pa.array(
        [
            None
            if some and rng.random() < 0.05
            else rng.choice([-100, -3, 0, 1, 2, *range(20, 120)])
            for _ in range(rows)
        ],
        kind,
    )


def make_aggregates() -> dict[str, Any]:
    return {
        "n": sf.count(),
        "known": sf.count("x"),
        "total": sf.sum("x"),
        "mean": sf.mean("x"),
        "spread": sf.var("x"),
        "other": sf.sum("y"),
        "middle": sf.std("y"),
    }


@pytest.mark.parametrize(
    "unit",
    [
        {},
        {"unit": "u"},
        {"unit": "u", "max_rows": 20},
        {"unit": "u", "relation": "replace"},
        {"unit": "u", "table_rows": 2**40},
    ],
    ids=["rows", "3", "20", "replace", "wide"],
)
@pytest.mark.parametrize("tame", [True, False], ids=["tame", "wild"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_types_of_numbers(kind: str, tame: bool, unit: dict[str, Any], protect: Source) -> None:
    rng = random.Random(f"{kind} {tame} {unit}")
    keys = pa.array([rng.choice([1, 2, 3, 4, 5, 7, None]) for _ in range(1000)], "int32")
    columns = {
        "k": keys,
        "u": owners(1000, rng),
        "x": numbers(kind, 1000, rng, tame=tame),
        "y": numbers(rng.choice(KINDS), 1000, rng, tame=tame),
    }
    table = protect(pa.table(columns), **unit)
    for query in (
        table.group_by(k=range(1, 6)).aggregate(**make_aggregates()),
        table.aggregate(**make_aggregates()),
    ):
        short, long = both(query)
        assert short == long
        assert anything(short)


@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize(
    "domain",
    [range(3), [5, 3, 4], [-7, 100, 3], range(-128, 128), [0, 2**40], [-(2**70), 1], [900]],
    ids=str,
)
def test_all_kinds_of_keys(domain: Any, kind: str, protect: Source) -> None:
    """Runs, gaps, any order; keys that no column of the type could hold; rows with none of them."""
    rng = random.Random(kind)
    keys = [
        rng.choice(
            [0, 1, 2, 3, 4, 5, 100, -7, -128, 127, np.iinfo(kind).min, np.iinfo(kind).max, None]
        )
        for _ in range(500)
    ]
    table = protect(
        pa.table({"k": pa.array(keys, kind), "x": numbers("float64", 500, rng, tame=True)})
    )
    try:
        query = table.group_by(k=domain).aggregate(n=sf.count(), total=sf.sum("x"))
        plan = query.plan(epsilon=1)
    except sf.Refused:
        return  # keys that the declaration does not take
    if plan.statements[0].plain is None:
        assert max(domain) - min(domain) >= parquet_sums.MOST_PLACES
        return
    short, long = both(query)
    assert short == long


@pytest.mark.parametrize("kind", KINDS[:4])
def test_all_types_of_units(kind: str, protect: Source) -> None:
    rng = random.Random(kind)
    rows = pa.table(
        {
            "u": owners(600, rng, kind),
            "k": pa.array([rng.randint(0, 5) for _ in range(600)], kind),
            "x": numbers("float64", 600, rng, tame=False),
        }
    )
    table = protect(rows, unit="u")
    for query in (
        table.group_by(k=range(4)).aggregate(n=sf.count(), total=sf.sum("x")),
        table.aggregate(n=sf.count()),
        table.aggregate(mean=sf.mean("x")),
    ):
        short, long = both(query)
        assert short == long


def test_rows_that_do_not_count_weigh_nothing(protect: Source) -> None:
    """A unit's rows with other keys take nothing from those that count: three rows of one unit
    weigh three.
    """
    table = protect(pa.table({"u": [1] * 10, "k": [0] * 3 + [9] * 7, "x": [1.0] * 10}), unit="u")
    short, long = both(table.group_by(k=[0, 1]).aggregate(n=sf.count()))
    assert short == long == [[[3 << 20], [0]]]


@pytest.mark.parametrize("unit", [{}, {"unit": "u"}], ids=["rows", "units"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_files_parts_and_threads(
    threads: int, unit: dict[str, Any], protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several files, one of them empty, with small parts and smaller batches."""
    monkeypatch.setattr(parquet_sums, "BATCH", 64)
    monkeypatch.setattr(numpy_sums, "PART", 16)
    rng = random.Random(threads)
    monkeypatch.setattr(parquet_sums, "GROUPS", 2)

    def part(rows: int) -> pa.Table:
        keys = pa.array([rng.randint(0, 9) for _ in range(rows)], "int64")
        return pa.table(
            {
                "k": keys,
                "u": owners(rows, rng, some=False),
                "x": numbers("float64", rows, rng, tame=False),
            }
        )

    parts = [part(rows) for rows in (700, 0, 301)]
    table = protect(*parts, row_group=97, threads=threads, **unit)
    short, long = both(
        table.group_by(k=range(9)).aggregate(n=sf.count(), known=sf.count("x"), mean=sf.mean("x"))
    )
    assert short == long
    if not unit:
        short, long = both(table.group_by(k=range(9)).aggregate(n=sf.count()))
        assert short == long
        assert sum(map(sum, short[0])) == sum(
            key < 9 for part in parts for key in part["k"].to_pylist()
        )


@pytest.mark.parametrize("unit", [{}, {"unit": "u"}], ids=["rows", "units"])
@pytest.mark.parametrize("rows", [0, 5])
def test_nothing_at_all(rows: int, unit: dict[str, Any], protect: Source) -> None:
    """No rows, or rows without anything in them."""
    columns = {
        "k": pa.array([None] * rows, "int32"),
        "u": pa.array([None] * rows, "int64"),
        "x": pa.array([None] * rows, "float64"),
    }
    table = protect(pa.table(columns), **unit)
    for query in (
        table.group_by(k=range(3)).aggregate(n=sf.count(), total=sf.sum("x")),
        table.aggregate(total=sf.sum("x")),
    ):
        short, long = both(query)
        assert short == long
        assert not anything(short)
        assert len(short) == len(long)


def test_values_far_from_zero(protect: Source) -> None:
    rng = random.Random(1)
    far = pa.array([1000 + rng.random() for _ in range(300)])
    table = protect(
        pa.table({"k": pa.array([1] * 300, "int8"), "x": far}), bounds={"x": (1000, 1001)}
    )
    short, long = both(table.group_by(k=[1]).aggregate(total=sf.sum("x"), mean=sf.mean("x")))
    assert short == long


@pytest.mark.parametrize(
    "promise",
    [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"promise": sf.ZCDP(1)}],
    ids=["pure", "approx", "zcdp"],
)
def test_any_promise(promise: dict[str, Any], protect: Source) -> None:
    rng = random.Random(2)
    rows = pa.table(
        {
            "k": pa.array([rng.randint(0, 4) for _ in range(300)]),
            "x": numbers("float64", 300, rng, tame=False),
        }
    )
    table = protect(rows, budget=sf.ZCDP(10) if "promise" in promise else sf.Approx(100, "1e-3"))
    short, long = both(
        table.group_by(k=range(5)).aggregate(n=sf.count(), total=sf.sum("x")), **promise
    )
    assert short == long


@pytest.mark.parametrize(
    "query",
    [
        lambda t: t.where(sf.col("x") > 3).aggregate(total=sf.sum("x")),
        lambda t: t.mutate(z=sf.col("x") * 2).aggregate(total=sf.sum("x")),
        lambda t: t.aggregate(n=sf.count_if(sf.col("x") > 3)),
        lambda t: t.aggregate(n=sf.count()),
        lambda t: t.aggregate(half=sf.sum(sf.col("x") / 2, low=0, high=10)),
        lambda t: t.group_by(k=[1, 2], c=["a"]).aggregate(total=sf.sum("x")),
        lambda t: t.group_by(c=["a", "b"]).aggregate(total=sf.sum("x")),
        lambda t: t.group_by(k=[1, None]).aggregate(total=sf.sum("x")),
        lambda t: t.aggregate(p=sf.median("x")),
    ],
    ids=["where", "mutate", "count_if", "count", "computed", "two keys", "text", "null", "median"],
)
def test_other_questions_go_to_the_engine(query: Any, protect: Source) -> None:
    rows = pa.table({"k": pa.array([1, 2], "int32"), "c": ["a", "b"], "x": [1.0, 2.0]})
    plan = query(protect(rows)).plan(epsilon=1)
    assert all(statement.plain is None for statement in plan.statements)


def test_other_units_and_sources_do(protect: Source) -> None:
    columns = {
        "k": pa.array([1, 2], "int32"),
        "u": pa.array([1, 2]),
        "t": ["a", "b"],
        "x": [1.0, 2.0],
        "y": pa.array([1, 2], "uint8"),
    }
    rows = pa.table(columns)

    def plain(table: Any, name: str = "x", **promise: Any) -> bool:
        return (
            table.group_by(k=[1])
            .aggregate(total=sf.sum(name))
            .plan(**(promise or {"promise": sf.Pure(1)}))
            .statements[0]
            .plain
            is not None
        )

    assert plain(protect(rows, unit="u"))
    assert not plain(protect(rows, unit="t"))
    assert not plain(protect(rows, unit="u", bounding="truncation"))
    assert not plain(
        protect(rows, unit="u", budget=sf.ZCDP(10)), promise=sf.ZCDP("1e-3")
    )  # other weights, for another norm
    assert not plain(sf.protect(rows, name="held", budget=1, bounds={"x": (0, 1)}))
    read_otherwise = protect(rows, types={"x": "integer"}, bounds={"x": (0, 9), "y": (0, 9)})
    assert not plain(read_otherwise)
    assert not plain(read_otherwise, "y")  # read as wider numbers


def test_units_that_are_far_apart_go_to_the_engine(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        parquet_sums.PlainSums, "compute", lambda *_: pytest.fail("the array would be too long")
    )
    table = protect(pa.table({"u": [1, 2**40], "x": [1.0, 2.0]}), unit="u")
    through_the_door(table.aggregate(total=sf.sum("x")).plan(epsilon=1))


@pytest.mark.parametrize(("most", "value"), [("MOST_ROWS", 2), ("table_rows", 2)])
def test_more_rows_than_are_stated_go_to_the_engine(
    most: str, value: int, protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted as they are read, whatever a footer says: a count that turned over would give a unit
    more weight than it may have.
    """
    rows = pa.table({"u": [1, 1, 1], "x": [1.0, 2.0, 3.0]})
    table = protect(rows, unit="u", **({most: value} if most == "table_rows" else {}))
    if most == "MOST_ROWS":
        monkeypatch.setattr(parquet_sums, most, value)
    statement = table.aggregate(total=sf.sum("x")).plan(promise=sf.Pure(1)).statements[0]
    with statement.plain.open_files() as files, pytest.raises(numpy_sums.UnexpectedRows):
        statement.plain.compute(files, statement.expression.schema(), 2, lambda: False)
    assert table._source.engine.tally(statement).num_rows == 1


@pytest.mark.parametrize(
    "names",
    [["k", "u", "U", "U_1"], ["k", "u", "U", "x"], ["k", "u", "u", "u_1"], ["k", "u", "x", ""]],
    ids=str,
)
def test_columns_that_duckdb_calls_otherwise_go_to_the_engine(
    names: list[str], tmp_path: Path
) -> None:
    """It gives names of its own to those that differ in case alone, and to those without a name:
    Arrow would find another column under them.
    """
    values = [
        pa.array([0] * 6),
        pa.array([1, 2, 3, 4, 5, 6]),
        pa.array([1] * 6),
        pa.array([6, 5, 4, 3, 2, 1]),
    ]
    pq.write_table(pa.Table.from_arrays(values, names=names), tmp_path / "a.parquet")
    with sf.protect(tmp_path / "a.parquet", name="t", budget=sf.Pure(1)) as looked:
        duckdb_names = list(looked._source.stored.names)
    assert duckdb_names != names
    for unit in duckdb_names[1:]:
        table = sf.protect(
            tmp_path / "a.parquet",
            name="t",
            unit=unit,
            max_rows=1,
            budget=sf.Pure(1),
            keys={"k": [0]},
        )
        table._source.engine._threads = 2
        plan = table.group_by("k").aggregate(n=sf.count()).plan(promise=sf.Pure("0.1"))
        assert plan.statements[0].plain is not None
        with plan.statements[0].plain.open_files() as files:
            assert not plan.statements[0].plain.can_read(files)
        weight = 6 << 20 if duckdb_names.index(unit) != 2 else 6 * ((1 << 20) // 6)
        assert through_the_door(plan).integers("count").tolist() == [[weight]]


def test_what_arrow_cannot_read_goes_to_the_engine(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "a.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT 1.5::DOUBLE AS x) TO '{path}' (FORMAT parquet, KV_METADATA "
        f"{{'ARROW:schema': 'garbage!'}})"
    )
    table = sf.protect(path, name="t", budget=sf.Pure(1), bounds={"x": (0, 2)})
    table._source.engine._threads = 2
    plan = table.aggregate(total=sf.sum("x")).plan(epsilon=1)
    assert plan.statements[0].plain is not None
    assert anything([piece.values.tolist() for piece in through_the_door(plan).pieces])


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_of_what_is_no_number(protect: Source) -> None:
    """A NaN that signals makes NumPy warn, and what it warns of would be about the data."""
    for bits, kind in ((0x7FF0000000000001, "u8"), (0x7F800001, "u4")):
        signalling = np.array([bits], kind).view(kind.replace("u", "f"))
        short, long = both(
            protect(pa.table({"x": pa.array(signalling)})).aggregate(
                total=sf.sum("x"), n=sf.count("x")
            )
        )
        assert short == long
        assert not anything(short)


def test_rows_that_are_found_through_another_table_go_to_the_engine(tmp_path: Path) -> None:
    """Only those with an owner count, which no file says."""
    pq.write_table(pa.table({"id": [7, 8]}), tmp_path / "patients.parquet")
    pq.write_table(pa.table({"visit": [1, 2], "patient": [7, 8]}), tmp_path / "visits.parquet")
    pq.write_table(pa.table({"visit": [1, 2, 9], "x": [1.0, 2.0, 3.0]}), tmp_path / "tests.parquet")
    links = {"visits.patient": "patients.id", "tests.visit": "visits.visit"}
    tables = {name: tmp_path / f"{name}.parquet" for name in ("patients", "visits", "tests")}
    with sf.protect(tables, unit="patients.id", links=links, budget=sf.Pure(1), max_rows=5) as db:
        plan = db["tests"].aggregate(n=sf.count()).plan(promise=sf.Pure("0.1"))
        assert plan.source.stored is None
        assert through_the_door(plan).integers("count").tolist() == [[2 << 20]]


def test_a_column_may_be_several_things(protect: Source) -> None:
    """The key, or the unit, and what is added."""
    rng = random.Random(5)
    rows = pa.table({"x": pa.array([rng.randint(-12, 60) for _ in range(300)], "int16")})
    for query in (
        protect(rows).group_by(x=range(0, 50, 3)).aggregate(n=sf.count("x"), total=sf.sum("x")),
        protect(rows, unit="x").aggregate(total=sf.sum("x"), n=sf.count()),
    ):
        short, long = both(query)
        assert short == long


@pytest.mark.parametrize("stated", [False, ["k"]], ids=["nothing", "another column"])
def test_units_of_which_nothing_is_stated_go_to_the_engine(
    stated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(
        pa.table({"u": [1, 2], "k": [1, 1], "x": [1.0, 2.0]}),
        tmp_path / "a.parquet",
        write_statistics=stated,
    )
    monkeypatch.setattr(
        parquet_sums.PlainSums,
        "compute",
        lambda *_: pytest.fail("nobody knows how long the array would be"),
    )
    table = sf.protect(tmp_path / "a.parquet", unit="u", max_rows=3, budget=1, bounds={"x": (0, 5)})
    table._source.engine._threads = 2
    through_the_door(table.aggregate(total=sf.sum("x")).plan(epsilon=1))


def test_a_footer_that_is_wrong_is_noticed(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units outside the range that is stated: the engine is asked instead."""
    table = protect(pa.table({"u": [1, 2, 9], "k": [0, 0, 0], "x": [1.0, 2.0, 3.0]}), unit="u")
    plan = table.group_by(k=[0]).aggregate(n=sf.count()).plan(epsilon=1)
    monkeypatch.setattr(parquet_sums.PlainSums, "_range", lambda *_: (1, 5))
    assert through_the_door(plan).integers("count").tolist() == [[3 << 20]]
    with plan.statements[0].plain.open_files() as files, pytest.raises(numpy_sums.UnexpectedRows):
        plan.statements[0].plain.compute(
            files, plan.statements[0].expression.schema(), 2, lambda: False
        )
    assert (
        plan.statements[0].plain.attempt(plan.statements[0].expression.schema(), 2, lambda: False)
        is None
    )


def test_a_weight_of_its_own_would_be_seen(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin that forgets to weigh."""
    table = protect(pa.table({"u": [1] * 9, "x": [1.0] * 9}), unit="u")
    monkeypatch.setattr(numpy_sums.Weights, "weigh", lambda _: None)
    short, long = both(table.aggregate(total=sf.sum("x")))
    assert short != long


def test_what_arrow_would_read_otherwise_goes_to_the_engine(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations are stored as whole numbers, and a note says that they are durations."""
    rows = pa.table({"k": pa.array([1, 1], "int32"), "x": pa.array([1, 2], pa.duration("us"))})
    table = protect(rows)
    plan = table.group_by(k=[1]).aggregate(total=sf.sum("x")).plan(epsilon=1)
    assert plan.statements[0].plain is not None
    with plan.statements[0].plain.open_files() as files:
        assert not plan.statements[0].plain.can_read(files)
    monkeypatch.setattr(
        parquet_sums.PlainSums,
        "compute",
        lambda *_: pytest.fail("it would be read as something else"),
    )
    assert through_the_door(plan).integers("sum x [-10, 50]").tolist() == [[3]]


def test_many_threads_go_to_the_engine(protect: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        parquet_sums.PlainSums, "compute", lambda *_: pytest.fail("DuckDB is quicker")
    )
    table = protect(pa.table({"x": [1.0]}), threads=5)
    through_the_door(table.aggregate(total=sf.sum("x")).plan(epsilon=1))


def test_a_question_stops_when_its_time_is_up(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = protect(pa.table({"x": [1.0]}))
    plan = table.aggregate(total=sf.sum("x")).plan(epsilon=1)
    statement = plan.statements[0]
    assert statement.plain is not None
    with statement.plain.open_files() as files, pytest.raises(TimeUp):
        statement.plain.compute(files, statement.expression.schema(), 2, lambda: True)
    waiting = parquet_sums._Totals.add

    def slow(self: Any, batch: Any) -> None:
        import time

        time.sleep(0.3)
        waiting(self, batch)

    monkeypatch.setattr(parquet_sums._Totals, "add", slow)
    monkeypatch.setattr(parquet_sums, "_read_batches", _endless(parquet_sums._read_batches))
    with pytest.raises(TimeoutError):
        table._source.engine.tally(statement, timeout=0.1)


def _endless(real: Any) -> Any:
    def batches(*arguments: Any) -> Any:
        while True:
            yield from real(*arguments)

    return batches


def test_what_breaks_says_nothing_of_the_data(protect: Source, tmp_path: Path) -> None:
    """The file goes after the charge: one constant text."""
    table = protect(pa.table({"x": [1.0, 2.0]}))
    real = DuckDBEngine.tally

    def gone(self: Any, statement: Any, **more: Any) -> Any:
        for path in tmp_path.glob("*.parquet"):
            path.unlink()
        return real(self, statement, **more)

    query = table.aggregate(total=sf.sum("x"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DuckDBEngine, "tally", gone)
        with pytest.raises(Failed) as caught:
            query.release(epsilon=1)
    assert ".parquet" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert table.spent.parameters["epsilon"] == 1


def test_a_rounding_of_its_own_would_be_seen(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin that rounds down."""
    rng = random.Random(3)
    table = protect(pa.table({"x": numbers("float64", 500, rng, tame=True)}))

    def down(grid: Any) -> Any:
        step = float(1 / grid.step)
        return lambda values, out: np.floor(np.multiply(values, step, out=out), out=out)

    monkeypatch.setattr("sfumato.tables.expr.grids.Grid.rounder", down)
    short, long = both(table.aggregate(total=sf.sum("x")))
    assert short != long


def counted_then_replaced(protect: Source, folder: Path) -> tuple[Any, Callable[[], bool]]:
    """The statement of a count for which a unit with one row is weighed, and a hook for the moment
    after that: then the unit has a thousand rows.
    """
    table = protect(pa.table({"u": [1], "k": [0]}), unit="u", max_rows=1)
    statement = table.group_by(k=[0]).aggregate(n=sf.count()).plan(epsilon=1).statements[0]
    pq.write_table(pa.table({"u": [1] * 1000, "k": [0] * 1000}), folder / "tomorrow")
    calls = []

    def hook() -> bool:
        calls.append(None)
        if len(calls) == 1:  # the first reading gives one batch
            (folder / "tomorrow").replace(folder / "part0.parquet")
        return False

    return statement, hook


def test_a_file_that_is_replaced_between_the_readings_is_read_as_it_was(
    protect: Source, tmp_path: Path
) -> None:
    """A file replaced during a question, in arrays: both readings are of the file that was
    opened.
    """
    statement, hook = counted_then_replaced(protect, tmp_path)
    result = statement.plain.attempt(statement.expression.schema(), 1, hook)
    assert result.column("s0_0").to_pylist() == [1 << 20]
    assert pq.read_metadata(tmp_path / "part0.parquet").num_rows == 1000


def test_a_file_that_is_opened_for_each_reading_gives_a_unit_a_thousand_times_its_weight(
    protect: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin that opens the file again for the second reading."""
    true = parquet_sums._read_batches
    monkeypatch.setattr(
        parquet_sums,
        "_read_batches",
        lambda _, *arguments: true([pq.ParquetFile(tmp_path / "part0.parquet")], *arguments),
    )
    statement, hook = counted_then_replaced(protect, tmp_path)
    result = statement.plain.attempt(statement.expression.schema(), 1, hook)
    assert result.column("s0_0").to_pylist() == [1000 << 20]


def test_more_files_than_may_be_open_go_to_the_engine(
    protect: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_sums, "MOST_FILES", 1)
    rows = pa.table({"x": [1.0]})
    statement = protect(rows, rows).aggregate(total=sf.sum("x")).plan(epsilon=1).statements[0]
    assert statement.plain.attempt(statement.expression.schema(), 2, lambda: False) is None
