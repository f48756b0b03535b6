"""Questions about several tables: equal to an oracle that joins row by row, and moved by one unit
no farther than was declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import GDP, Approx, Guarantee, Pure
from sfumato.session.protect_many import _declare_all
from sfumato.session.protect_options import ProtectSettings
from sfumato.session.protected_database import Database
from sfumato.tables.engine.duckdb_engine import DuckDBEngine, copy_rows
from sfumato.tables.engine.sources import TableSource
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.query import join_steps
from sfumato.tables.query.unit_work import JOINED_ROWS
from sfumato.testing.exact_checks import Rehearsal, Through, through_the_door

from ..tables.replay import moved
from ..tables.rowwise import differences
from .joined import RandomQuestion, Row, World, question, world

PROMISES: tuple[Guarantee, ...] = (Pure(1), GDP(1))
PRIVATE_KEYS = Approx(1, "1e-6")
KINDS = {"int": "int64", "text": "string", "float": "float64"}


class Room:
    """One engine, in which databases follow each other."""

    def __init__(self) -> None:
        self.engine = DuckDBEngine(threads=1)
        self.ledger = sf.Ledger.open(
            None, budget=sf.Approx(1, "1e-3"), dataset="rooms", unit="unit", relation="add-remove"
        )

    def put(self, database: World, rows: dict[str, list[Row]] | None = None) -> None:
        for table in (
            database.columns if rows is None else database.private
        ):  # what is public is the same in a neighbour
            copy_rows(
                self.engine.connection,
                table,
                database.arrow(table, rows),
                "CREATE OR REPLACE TABLE",
            )

    def opened(self, database: World) -> Database:
        """What `protect` does with tables that are there already."""
        self.put(database)
        sources = {}
        for table, columns in database.columns.items():
            schema = {name: Type.of(KINDS[kind]) for name, kind in columns.items()}
            sources[table] = TableSource(
                self.engine.backend.table(table), schema, self.engine, table, "frame", {}
            )
        private = {table: sources.pop(table) for table in database.private}
        settings = ProtectSettings(
            links=database.links,
            max_rows=database.limits,
            bounding=database.bounding,
            relation=database.relation,
        )
        total, ready = _declare_all(private, sources, database.unit, settings)
        return Database(total, ready, self.ledger, durable=False)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    built = Room()
    yield built
    built.engine.close()
    built.ledger.close()


def arriving(plan: Plan, question: RandomQuestion) -> tuple[Plan, list[Row]]:
    """The plan as one of a table that holds the joined rows, and those rows under the plan's
    names.
    """
    query = plan.query
    unit = query.rows.declaration.unit[0]
    of = next((aggregate.of for _, aggregate in query.aggregates if aggregate.of is not None), None)
    rows = []
    for person, row in question.rows:
        built = dict.fromkeys(query.rows.schema) | {unit: person}
        built |= {query.keys[0]: row[question.key]} if question.key else {}
        built |= (
            {min(of.columns): row[question.number]} if of is not None and question.number else {}
        )
        rows.append(built)
    declaration = replace(query.rows.declaration, types=tuple(query.rows.schema.items()))
    return replace(
        plan, query=replace(query, rows=replace(query.rows, steps=(), declaration=declaration))
    ), rows


def check_database(seed: int, room: Room) -> Fraction:
    """One database, one question, one neighbour. The largest part of what was declared that
    anything moved.
    """
    random = Random(10**7 + seed)
    database = world(random)
    query = question(database, random)
    promise = PRIVATE_KEYS if query.key else random.choice(PROMISES)
    db = room.opened(database)
    try:
        plan = db.plan(query.text, promise=promise)
    except Refused as refusal:
        if (
            refusal.code == "question.work"
        ):  # some of the largest questions: two of the first thousand
            return Fraction(0)
        raise
    assert plan.calibration.bounding.rows in (1, query.limit), (seed, query.text)
    rehearsal = Rehearsal(plan)
    first = rehearsal.run()
    alone, rows = arriving(plan, query)
    alone.__dict__["statements"] = rehearsal.plan.statements  # its own would not join
    result = differences(alone, first, rows)
    assert not result, (seed, query.text, result)
    room.put(database, database.neighbour(random))
    plan.__dict__["statements"] = (
        rehearsal.plan.statements
    )  # to make them takes longer than to run them
    apart = moved(plan, first, rehearsal.run())
    assert not apart.wrong, (seed, query.text, apart.wrong)
    return apart.most


BLOCK = 30


def check_databases(block: int, room: Room) -> None:
    """Check each database of a block; the limits are reached."""
    seeds = range(BLOCK * block, BLOCK * (block + 1))
    assert max(check_database(seed, room) for seed in seeds) > Fraction(9, 10)


@pytest.mark.parametrize("block", range(2))
def test_random_databases(block: int, room: Room) -> None:
    check_databases(block, room)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 334))
def test_ten_thousand_databases(block: int, room: Room) -> None:
    check_databases(block, room)


def test_a_join_without_the_unit_is_found_out(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were rows joined by their link alone, those of two people would meet where a number
    of a visit is given twice.
    """
    total = join_steps._join_conditions
    monkeypatch.setattr(
        join_steps,
        "_join_conditions",
        lambda step, *rest: total(replace(step, unit=(), most=0), *rest),
    )

    def is_wrong(seed: int) -> bool:
        try:
            check_database(seed, room)
        except AssertionError:
            return True
        return False

    assert any(is_wrong(seed) for seed in range(2 * BLOCK))


def test_a_unit_that_is_bounded_before_the_join_is_found_out() -> None:
    """D7, the other twin: 60 rows here and 60 there are 3,600 together, so a limit on each table
    would be none on the joined rows.
    """
    many = {"id": [42] * 60 + list(range(100, 120))}
    with sf.protect(
        {"a": pa.table(many), "b": pa.table(many)},
        unit="a.id",
        links={"b.id": "a.id"},
        budget=1,
        max_rows=3,
    ) as db:
        (count,) = through_the_door(
            db.plan("SELECT COUNT(*) AS n FROM a JOIN b USING (id)", promise=Pure(1))
        ).pieces
        assert count.values.tolist() == [[3 * 2**20 // 3600 * 3600 + 20 * 2**20]]
        raw = (
            db["a"]
            ._source.engine.connection.execute("SELECT COUNT(*) FROM a JOIN b USING (id)")
            .fetchone()
        )
        assert raw == (3600 + 20,)


SIZE = JOINED_ROWS
"""As many rows as a join makes of one unit."""


@pytest.fixture(scope="module")
def fanned() -> Iterator[tuple[Database, Database]]:
    """Without somebody who has very many rows, and with."""
    about: dict[str, Any] = {
        "unit": "few.id",
        "links": {"many.id": "few.id"},
        "budget": 10,
        "max_rows": 4,
        "keys": {"many.g": [0, 1, 2]},
    }
    about |= {
        "bounds": {"many.x": (0, 10), "wide.x": (0, 10)},
        "public": {"wide": pa.table({"x": np.full(1000, 10)})},
    }
    rest = {"few": pa.table({"id": [1, 2, 3], "y": [1, 2, 3]}), "many": _many([1, 2, 3], [5, 7, 9])}
    mine = {
        "few": pa.table({"id": [1, 2, 3, 42], "y": [1, 2, 3, 4]}),
        "many": _many([1, 2, 3], [5, 7, 9], SIZE),
    }
    with sf.protect(rest, **about) as without, sf.protect(mine, **about) as with_them:
        yield without, with_them


@pytest.mark.parametrize("promise", [Pure(1), GDP(1)], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n, SUM(x) AS s FROM few JOIN many USING (id)",
        "SELECT COUNT(*) AS n, SUM(x) AS s FROM many JOIN few USING (id)",
        "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM few JOIN many USING (id) GROUP BY g",
        "SELECT COUNT(*) AS n, SUM(x) AS s FROM few CROSS JOIN wide",
        (
            "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT id, x FROM many UNION ALL SELECT "
            "id, 1 FROM few) AS s"
        ),
    ],
    ids=["one to many", "many to one", "groups", "public", "union"],
)
def test_very_many_rows_of_one_unit(
    text: str, promise: Guarantee, fanned: tuple[Database, Database]
) -> None:
    """D7: with the largest fan-out that there is a unit still moves no more than was declared."""
    plans = [db.plan(text, promise=promise) for db in fanned]
    apart = moved(plans[1], *_alike([through_the_door(plan) for plan in plans]))
    assert not apart.wrong
    assert Fraction(9, 10) < apart.most <= 1


def _many(ids: list[int], values: list[int], size: int = 0) -> pa.Table:
    every = np.concatenate([ids, np.full(size, 42)])
    return pa.table(
        {
            "id": every,
            "x": np.concatenate([values, np.full(size, 10)]),
            "g": np.arange(len(every)) % 3,
        }
    )


def _alike(result: list[Through]) -> list[Through]:
    """Two plans of one question have equal mechanisms: as calls of the same ones."""
    mechanisms = [call.mechanism for call in result[1].calls]
    calls = tuple(
        replace(call, mechanism=mechanism)
        for call, mechanism in zip(result[0].calls, mechanisms, strict=True)
    )
    return [replace(result[0], calls=calls), result[1]]
