"""Small hostile worlds: tables with values that break things, declarations of every kind, queries
of every kind, and neighbours of a table.

*Seeded*    everything follows from a `random.Random`, so a number reproduces a failure.
*Names*     columns are called what the engine's own expressions are called: u0, k0, v0, w, votes,
            n, s0_0 … A name of the user's must not meet one of ours.
*Bench*     one engine and one source for all of them: only the table that it reads changes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pyarrow as pa

from sfumato.errors import Refused
from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import Declaration, declare
from sfumato.tables.engine.duckdb_engine import DuckDBEngine, copy_rows
from sfumato.tables.engine.sources import TableSource, open_source
from sfumato.tables.expr.expressions import Expr, col, literal, when
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Query, Rows

Row = dict[str, Any]

NAN, INF = math.nan, math.inf


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


@dataclass(frozen=True, slots=True)
class Kind:
    """A column: its name, its Arrow type, values that are common and values that are not."""

    name: str
    arrow: pa.DataType
    common: tuple[Any, ...]
    rare: tuple[Any, ...]

    def value(self, random: Random) -> Any:
        odds = random.random()
        return (
            None
            if odds < 0.08
            else random.choice(self.rare)
            if odds < 0.3 and self.rare
            else random.choice(self.common)
        )


_DAYS = (date(2026, 3, 1), date(2026, 3, 2), date(1970, 1, 1))
_TIMES = (
    datetime(2026, 3, 1, 12),
    datetime(2026, 3, 29, 1, 30, 0, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
)

KINDS = (
    Kind("user", pa.int64(), (1, 2, 3, 4, 5), (0, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1)),
    Kind(
        "n",
        pa.string(),
        ("ada", "bob", "cyd"),
        ("", " ", "Ada", "ADA", "é", "e\u0301", "a\0b", "'", "😀", "ada "),
    ),  # the second half of a unit
    Kind("place", pa.int8(), (0, 1, 2, 3), (-128, 127, -1)),
    Kind("q", pa.int16(), (10, 20, 30), (-32768, 32767, 0)),
    Kind("c", pa.int32(), (1, 5, 9), (-(2**31), 2**31 - 1, 0)),
    Kind("s0_0", pa.int64(), (7, 70, 700, -7), (-(2**63), 2**63 - 1, 2**53 + 1, 10**18, 0)),
    Kind(
        "v0",
        pa.float64(),
        (0.5, 1.25, 3.7, -2.0, 9.9),
        (NAN, INF, -INF, -0.0, 0.0, 5e-324, 1e308, -1e308, 0.1, 0.30000000000000004, 2.0**53 + 2),
    ),
    Kind(
        "w",
        pa.float32(),
        (0.5, 1.25, 2.5),
        (NAN, INF, -INF, -0.0, 0.0, _single(0.1), _single(3e38)),
    ),
    Kind(
        "w1",
        pa.decimal128(12, 2),
        tuple(map(Decimal, ("1.25", "0.10", "99.99"))),
        tuple(map(Decimal, ("-9999999999.99", "9999999999.99", "0.00", "0.29"))),
    ),
    Kind(
        "u1",
        pa.decimal128(38, 0),
        (Decimal(3), Decimal(12)),
        (Decimal(10**38 - 1), Decimal(-(10**38) + 1), Decimal(0)),
    ),
    Kind("votes", pa.bool_(), (True, False), ()),
    Kind(
        "k0",
        pa.string(),
        ("Roma", "Bari", "Pisa"),
        ("", " ", "roma", "Roma ", "NULL", "null", "Ro\u0301ma", "Róma", "😀", "a\0b", "x" * 300),
    ),
    Kind("k1", pa.date32(), _DAYS, (date(1, 1, 1), date(9999, 12, 31))),
    Kind(
        "u0",
        pa.timestamp("us"),
        _TIMES,
        (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ),
    Kind(
        "t0",
        pa.timestamp("us", "UTC"),
        tuple(t.replace(tzinfo=UTC) for t in _TIMES),
        (datetime(1, 1, 1, tzinfo=UTC),),
    ),
    Kind(
        "id",
        pa.uuid(),
        tuple(UUID(int=i) for i in (1, 2, 2**127)),
        (UUID(int=0), UUID(int=2**128 - 1)),
    ),
    Kind(
        "sure", pa.float64(), (1.0, 2.0, 3.5), (NAN, INF, -1.0)
    ),  # declared never null, which need not be so
)
BY_NAME = {kind.name: kind for kind in KINDS}
NUMBERS = ("place", "q", "c", "s0_0", "v0", "w", "w1", "u1", "sure")
KEYS = ("place", "q", "s0_0", "v0", "w", "w1", "votes", "k0", "k1", "u0", "t0", "id")
UNITS: tuple[tuple[str, ...], ...] = (
    (),
    ("user",),
    ("user",),
    ("n",),
    ("user", "n"),
    ("id",),
    ("k1", "user"),
)
ENDS = (
    (0, 10),
    (-5, 5),
    (-10, -2),
    (2, 30),
    ("-1/3", "7/2"),
    (-(10**6), 10**9),
    (0, "0.1"),
    (-3, 100),
)
ARROW = pa.schema([(kind.name, kind.arrow) for kind in KINDS])


def arrow(rows: list[Row]) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.table(
        {
            kind.name: pa.array([_stored(row[kind.name]) for row in rows], type=kind.arrow)
            for kind in KINDS
        },
        schema=ARROW,
    )


def _stored(value: Any) -> Any:
    return value.bytes if isinstance(value, UUID) else value


class Held:
    """An Arrow table, as an engine takes it."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def empty(self) -> pa.Table:
        return self._table.schema.empty_table()

    def load(self) -> pa.Table:
        return self._table


class Swap:
    """A source on one engine, whose table can be exchanged for another of the same columns."""

    def __init__(
        self, schema: pa.Schema, types: dict[str, str] | None = None, threads: int = 1
    ) -> None:
        self.source: TableSource = open_source(
            schema.empty_table(), types, "world", threads=threads
        )
        assert isinstance(self.source.engine, DuckDBEngine)
        self._engine = self.source.engine
        (self._name,) = self._engine._frames
        self._engine._frames.clear()
        self.rows = 0

    def hold(self, table: pa.Table) -> None:
        """Have the engine read this table from now on."""
        copy_rows(self._engine.connection, self._name, table, "CREATE OR REPLACE TABLE")
        self.rows = table.num_rows

    def close(self) -> None:
        self._engine.close()


class Bench(Swap):
    """The columns of this module."""

    def __init__(self, threads: int = 1) -> None:
        super().__init__(ARROW, threads=threads)
        self.schema = {**self.source.schema, "sure": Type.of("float64 not null")}

    def put(self, rows: list[Row]) -> None:
        self.hold(arrow(rows))


class Shelf(Bench):
    """Many tables at once, of which one is read: to go from one to the next costs nothing."""

    def __init__(self) -> None:
        super().__init__()
        ((statement,),) = self._engine.connection.execute(
            "SELECT sql FROM duckdb_views() WHERE view_name = 'world'"
        ).fetchall()
        self._view = (
            statement[statement.index("SELECT") :]
            .rstrip("; \n")
            .replace(f'"{self._name}"', '(SELECT * FROM shelf WHERE "which one" = {})')
        )
        self._made = 0
        self._at = 0
        self._engine.run = self._run  # type: ignore[method-assign]  # reads the table at hand

    def lay(self, tables: list[list[Row]]) -> None:
        """These, by their places."""
        which = pa.array([i for i, rows in enumerate(tables) for _ in rows], pa.int32())
        together = arrow([row for rows in tables for row in rows]).append_column("which one", which)
        copy_rows(self._engine.connection, "shelf", together, "CREATE OR REPLACE TABLE")
        for i in range(self._made, len(tables)):
            self._engine.connection.execute(f"CREATE VIEW world{i} AS {self._view.format(i)}")
        self._made = max(self._made, len(tables))

    def look(self, place: int) -> None:
        self._at = place

    def _run(self, expression: Any, *, timeout: float | None = None) -> Any:
        import ibis.expr.operations as ops

        assert timeout is None
        cursor = self._engine.connection.cursor()
        text = self._engine.sql(expression)
        try:
            for op in expression.op().find(ops.InMemoryTable) if "ibis_keys" in text else ():
                copy_rows(cursor, op.name, op.data.to_pyarrow(op.schema), "CREATE TEMP TABLE")
            return cursor.execute(text.replace('"world"', f"world{self._at}")).to_arrow_table()
        finally:
            cursor.close()


class Nobody:
    """A curator who does neither plan nor release."""

    def plan(self, query: Query, **arguments: Any) -> Any:
        raise NotImplementedError

    release = plan

    def condition(self, text: str, rows: Rows) -> Expr:
        raise NotImplementedError


def row(random: Random) -> Row:
    return {kind.name: kind.value(random) for kind in KINDS}


def rows_of(random: Random, unit: tuple[str, ...], owner: Row, count: int) -> list[Row]:
    """So many rows of one unit; of many, most are copies, as data are."""
    rows = [row(random) for _ in range(min(count, 40))]
    rows = [dict(random.choice(rows)) for _ in range(count)] if count > 40 else rows
    return [{**row_, **{name: owner[name] for name in unit}} for row_ in rows]


def world(random: Random, declaration: Declaration) -> list[Row]:
    """A table: units with 0, 1, k, k + 1 and many rows, some rows that nobody owns, sometimes
    nothing at all, sometimes a column without a value.
    """
    k = declaration.max_rows or 1
    counts = random.choices((0, 1, 2, k, k + 1, 3 * k, 25), k=random.choice((0, 1, 3, 6)))
    rows = [
        item
        for count in counts
        for item in rows_of(random, declaration.unit, row(random), min(count, 60))
    ]
    rows += [row(random) for _ in range(random.randrange(4))]
    if random.random() < 0.1:
        empty = random.choice(KINDS).name
        rows = [{**item, empty: None} for item in rows]
    random.shuffle(rows)
    return rows


def neighbour(random: Random, rows: list[Row], declaration: Declaration) -> list[Row]:
    """A table that differs in all rows of one unit: gone or new, or, under replace, exchanged for
    any others, very many at times.
    """
    unit, k = declaration.unit, declaration.max_rows or 1
    if not unit:
        gone = random.randrange(len(rows)) if rows else None
        rest = [item for i, item in enumerate(rows) if i != gone]
        if declaration.relation == "replace":
            return [*rest, row(random)] if rows else rest
        return [*rows, row(random)] if random.random() < 0.5 else rest
    owners = {tuple(item[name] for name in unit) for item in rows}
    owners = {owner for owner in owners if None not in owner}
    count = random.choice((1, 2, k, k + 1, 4 * k + 3, 100))
    count = 1000 if random.random() < 0.02 else count
    if declaration.relation == "replace":
        if not owners:
            return rows
        owner = random.choice(sorted(owners, key=repr))
        return [
            *_without(rows, unit, owner),
            *rows_of(random, unit, dict(zip(unit, owner, strict=True)), count),
        ]
    if owners and random.random() < 0.5:
        return _without(rows, unit, random.choice(sorted(owners, key=repr)))
    for _ in range(30):
        new = (
            (random.randrange(100, 1000),)
            if unit == ("user",)
            else tuple(BY_NAME[name].value(random) for name in unit)
        )
        if new not in owners and None not in new:
            return [*rows, *rows_of(random, unit, dict(zip(unit, new, strict=True)), count)]
    return _without(rows, unit, min(owners, key=repr))  # all names are taken


def _without(rows: list[Row], unit: tuple[str, ...], owner: tuple[Any, ...]) -> list[Row]:
    return [item for item in rows if tuple(item[name] for name in unit) != owner]


def declaration(random: Random, schema: dict[str, Type]) -> Declaration:
    """Who is protected, by which relation, within which bounds, with which public keys."""
    unit = random.choice(UNITS)
    keyed = random.sample(KEYS, random.randrange(4))
    return declare(
        name="world",
        unit=unit or None,
        relation=random.choice(("add-remove", "replace")),
        bounds={name: random.choice(ENDS) for name in random.sample(NUMBERS, 4)},
        keys={name: public_keys(random, name) for name in keyed},
        max_rows=random.choice((1, 2, 3, 5, 16, 20)) if unit else None,
        max_groups=random.choice((None, 1, 2, 5)) if unit else None,
        table_rows=random.choice((2**40, 2**40, 2**10, 2**20, 2**32, 2**48)),
        bounding="truncation" if unit and random.random() < 0.15 else "weights",
        schema=schema,
    )


def public_keys(random: Random, name: str) -> list[Any]:
    """Some values of a column, each once, perhaps null; sometimes more than are sent in a list."""
    pool = {
        _same(v): v
        for v in (*BY_NAME[name].common, *BY_NAME[name].rare)
        if v is not None and not (isinstance(v, float) and not abs(v) < 1e30)
    }
    keys = random.sample(list(pool.values()), random.randint(1, len(pool)))
    if name == "s0_0" and random.random() < 0.2:
        keys = [*range(-50, 50)]
    if name == "k0" and random.random() < 0.2:
        keys = [*keys, *(f"town {i}" for i in range(70))]
    return [*keys, *([None] if random.random() < 0.4 else [])]


def _same(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def query(random: Random, declared: Declaration, aggregates: int = 3) -> Query:
    """Conditions, new columns, groups and aggregates, at most so many."""
    rows = Rows.of(declared, Nobody())
    if declared.unit and random.random() < 0.2:
        return per_unit(random, rows)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        if random.random() < 0.5:
            rows = rows.where(truth(random, 2))
        else:
            name = random.choice(("new", "k0", "v0", "s0_0", "w", "votes"))
            if name not in declared.unit:
                make = {"k0": text, "votes": truth}.get(name, number)
                rows = rows.mutate(**{name: make(random, 2)})
    keys = [
        name
        for name in random.sample(KEYS, random.choice((0, 0, 1, 1, 1, 2)))
        if name not in declared.unit
    ]
    facts = [
        name
        for name in keys
        if random.random() < 0.4
        and name not in {getattr(step, "column", None) for step in rows.steps}
    ]
    groups = rows.group_by(
        *(name for name in keys if name not in facts),
        **{name: public_keys(random, name) for name in facts},
    )
    return groups.aggregate(
        **{
            f"a{i}": aggregate(random)
            for i in range(min(aggregates, random.choice((1, 1, 1, 2, 3))))
        }
    )


def per_unit(random: Random, rows: Rows) -> Query:
    """A row for each unit, or for each unit and key, and a question about those."""
    if random.random() < 0.3:
        rows = rows.where(truth(random, 1))
    keys = {
        name: col(name)
        for name in random.choice(((), (), ("k0",), ("v0", "k0")))
        if name not in rows.declaration.unit
    }
    what = col(random.choice(("c", "place", "w1", "s0_0", "votes")))
    built = {
        "s0_0": Total("count", random.choice((None, what))),
        "c": Total(random.choice(("sum", "mean")), what, random.choice((None, truth(random, 1)))),
    }
    built |= {
        "q": Total(
            random.choice(("min", "max", "sum")),
            random.choice((what.cast("int16"), col("v0").clip(-3, 10))),
        )
    }
    rows = rows.per_unit(keys, built)
    if random.random() < 0.3:
        rows = rows.where(col(random.choice(("c", "s0_0", "q"))) > 1)
    of, (low, high) = random.choice(("c", "s0_0", "q")), random.choice(ENDS)
    querys = random.choice(
        (
            ag.count(),
            ag.sum(of, low=low, high=high),
            ag.mean(of, low=low, high=high),
            ag.count_units(),
            ag.median(of, low=low, high=high),
        )
    )
    return rows.group_by(*(name for name in keys if random.random() < 0.7)).aggregate(
        a0=querys, a1=ag.count(of)
    )


PAIRS = ("sample", "covar", "corr", "regr")


def _clipped(random: Random) -> Expr:
    """A second column, within bounds of its own."""
    return col(random.choice(("c", "v0", "w1", "q", "sure"))).clip(
        *random.choice(((0, 3), (-20, 100), (-1.5, 2.25)))
    )


def aggregate(random: Random) -> Aggregate:
    """Any of them, of a column or an expression, within bounds of any sign, of all rows or of
    some.
    """
    of: Any = random.choice(NUMBERS) if random.random() < 0.7 else number(random, 1)
    low, high = random.choice(ENDS)
    kinds = (
        "count",
        "count_of",
        "count_if",
        "count_units",
        "sum",
        "mean",
        "var",
        "std",
        "quantile",
        "histogram",
        "bool",
    )
    kind = random.choice((*kinds, "distinct", "ratio", "weighted", "percentile", "extreme", *PAIRS))
    makers: dict[str, Callable[[], Aggregate]] = {
        "count": ag.count,
        "count_of": lambda: ag.count(random.choice((*KEYS, *NUMBERS))),
        "count_if": lambda: ag.count_if(truth(random, 1)),
        "count_units": ag.count_units,
        "quantile": lambda: ag.quantile(
            of,
            random.choice(("1/2", 0, 1, "0.9", "1/3")),
            low=low,
            high=high,
            interval=random.random() < 0.5,
        ),
        "histogram": lambda: random.choice((ag.histogram, ag.cumulative))(
            of,
            edges=random.choice(
                (
                    (0, 1),
                    (-5, 0, "1/3", 2, 10, 300),
                    range(-20, 21),
                    ("0.1", "0.30000000000000004", 1),
                )
            ),
        ),
        "distinct": lambda: ag.count_distinct(
            random.choice((*KEYS, *NUMBERS)) if random.random() < 0.8 else number(random, 1)
        ),
        "ratio": lambda: ag.ratio(of, random.choice(("c", "v0", "w1")), low=low, high=high),
        "weighted": lambda: ag.mean(
            of,
            weight=col(random.choice(("c", "v0", "w", "w1", "sure"))).clip(
                *random.choice(((0, 3), (1, 5)))
            ),
            low=low,
            high=high,
        ),
        "sample": lambda: random.choice((ag.var, ag.std))(of, sample=True, low=low, high=high),
        "covar": lambda: ag.covar(
            of, _clipped(random), sample=random.random() < 0.5, low=low, high=high
        ),
        "corr": lambda: ag.corr(of, _clipped(random), low=low, high=high),
        "regr": lambda: random.choice(
            (
                ag.regr_count(of, _clipped(random)),
                ag.regr_avgx(of, _clipped(random)),
                *(
                    build(of, _clipped(random), low=low, high=high)
                    for build in (ag.regr_slope, ag.regr_intercept, ag.regr_r2, ag.regr_avgy)
                ),
            )
        ),
        "percentile": lambda: ag.quantiles(
            of, [random.choice(("1/2", 0, 1, "0.9"))], low=low, high=high
        )[0],
        "extreme": lambda: random.choice((ag.min, ag.max))(of, low=low, high=high),
        "bool": lambda: random.choice((ag.sum, ag.mean))("votes"),
    }
    built = (
        makers[kind]()
        if kind in makers
        else getattr(ag, kind)(of, **({"low": low, "high": high} if random.random() < 0.8 else {}))
    )
    return (
        built.filter(truth(random, 1))
        if random.random() < 0.25 and kind != "count_units"
        else built
    )


def number(random: Random, depth: int) -> Expr:
    """An expression that is a number."""
    if not depth or random.random() < 0.3:
        return (
            col(random.choice(NUMBERS))
            if random.random() < 0.8
            else literal(random.choice((0, 1, -2, 7, 0.1, 1.5, Decimal("0.25"), 10**9, -(2**40))))
        )
    first, two = number(random, depth - 1), number(random, depth - 1)
    return random.choice(
        (
            lambda: first + two,
            lambda: first - two,
            lambda: first * two,
            lambda: -first,
            lambda: abs(first),
            lambda: first / two,
            lambda: first // two,
            lambda: first % two,
            lambda: first.fill_null(random.choice((0, 3, -1.5))),
            lambda: first.clip(-3, 10),
            lambda: when(truth(random, depth - 1), first).otherwise(two),
            lambda: first.least(two),
            lambda: text(random, 0).length(),
            lambda: col("k1").year(),
            lambda: col("u0").month(),
            lambda: first.cast(random.choice(("int64", "float64", "int32", "decimal(12,2)"))),
        )
    )()


def text(random: Random, depth: int) -> Expr:
    """An expression that is a text."""
    base = col(random.choice(("k0", "n")))
    return (
        random.choice(
            (
                lambda: base,
                lambda: base.lower(),
                lambda: base.left(2),
                lambda: base.concat("!"),
                lambda: base.fill_null("none"),
            )
        )()
        if depth
        else base
    )


def truth(random: Random, depth: int) -> Expr:
    """An expression that is true, false or null."""
    if not depth:
        return col("votes")
    item = number(random, depth - 1)
    return random.choice(
        (
            lambda: item > random.choice((0, 1.5, 5, -3)),
            lambda: item <= number(random, depth - 1),
            lambda: item.between(0, 5),
            lambda: item.is_null(),
            lambda: item != 1,
            lambda: truth(random, depth - 1) & truth(random, depth - 1),
            lambda: truth(random, depth - 1) | truth(random, depth - 1),
            lambda: ~truth(random, depth - 1),
            lambda: text(random, depth - 1).is_in(["Roma", "", "ada"]),
            lambda: text(random, depth - 1) == "Bari",
            lambda: col("k1") >= date(2026, 3, 1),
            lambda: col("t0") < datetime(2026, 3, 1, 13, tzinfo=UTC),
        )
    )()


PROMISES: tuple[Guarantee, ...] = (
    Pure(1),
    Approx(1, "1e-6"),
    ZCDP("1/8"),
    GDP(1),
    Approx("1/10", "1e-9"),
)
WITH_DELTA: tuple[Guarantee, ...] = (Approx(1, "1e-6"), ZCDP("1/8", "1e-6"))


def planned(random: Random, bench: Bench, aggregates: int = 3) -> Plan:
    """A plan of a random query; queries that are refused are drawn again."""
    while True:
        declared = declaration(random, bench.schema)
        try:
            querys = query(random, declared, aggregates)
            return plan(
                querys, random.choice(PROMISES if querys.public else WITH_DELTA), bench.source
            )
        except Refused:
            continue
