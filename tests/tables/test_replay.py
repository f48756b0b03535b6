"""Record and replay: on neighbouring tables the same statements, the same status, the same calls of
the noise, and integers no farther apart than declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato import release as door
from sfumato.guarantees import Approx, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import Declaration, declare
from sfumato.tables.expr import grids
from sfumato.tables.plan import statements
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.plan.read_results import read_component
from sfumato.tables.query.stages import Query, Rows
from sfumato.testing.exact_checks import Rehearsal

from .replay import Moved, moved, texts
from .rowwise import differences
from .worlds import Bench, Nobody, Row, Shelf, neighbour, planned, row, world

PLANS = 10
PAIRS = 20


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    new_shelf = Shelf()
    yield new_shelf
    new_shelf.close()


def replay(seed: int, shelf: Shelf, *, every: bool = False) -> Fraction:
    """One plan on one table and on its neighbours. Returns the largest part of what was declared
    that anything moved.
    """
    random = Random(10**6 + seed)
    release_plan = planned(random, shelf, aggregates=3 if every else 1)
    declared = release_plan.query.rows.declaration
    rows = world(random, declared)
    others = [neighbour(random, rows, declared) for _ in range(PAIRS)]
    nobodys = [{**row(random), declared.unit[-1]: None} for _ in range(3)] if declared.unit else []
    shelf.lay([rows, *others, [*rows, *nobodys]])
    rehearsal = Rehearsal(release_plan)
    shelf.look(0)
    before = rehearsal.run()
    assert not differences(release_plan, before, rows), seed
    most = Fraction(0)
    for pair, other_rows in enumerate(others):
        shelf.look(pair + 1)
        if pair == 0 and (every or seed % 4 == 0):
            again = plan(release_plan.query, release_plan.promise, shelf.source)
            assert texts(again) == texts(rehearsal.plan), seed
            assert again.mechanism == release_plan.mechanism, seed
        after = rehearsal.run()
        change = moved(release_plan, before, after)
        assert not change.wrong, (seed, pair, change.wrong)
        most = max(most, change.most)
        if pair < 2:
            assert not differences(release_plan, after, other_rows), (seed, pair)
    shelf.look(PAIRS + 1)
    assert moved(release_plan, before, rehearsal.run()) == Moved([], Fraction(0)), (
        seed
    )  # what nobody owns changes nothing
    return most


@pytest.mark.parametrize("block", range(2))
def test_neighbours_look_alike(block: int, shelf: Shelf) -> None:
    """Twenty plans, PAIRS pairs each. The limits are reached, too: what is declared is not
    more than is needed.
    """
    parts = [replay(seed, shelf) for seed in range(block * PLANS, (block + 1) * PLANS)]
    assert max(parts) > Fraction(9, 10)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 120))
def test_neighbours_of_many_more_plans_look_alike(block: int, shelf: Shelf) -> None:
    parts = [replay(seed, shelf, every=True) for seed in range(block * PLANS, (block + 1) * PLANS)]
    assert max(parts) > Fraction(9, 10)


# Twins: systems with a hole, each of which the recorder has to find


def _plan(
    bench: Bench, ask: Callable[[Rows], Query], *, private: bool = False, **about: Any
) -> Plan:
    limits = {
        "unit": "user",
        "max_rows": 2,
        "max_groups": 2,
        "bounds": {"c": (0, 10), "v0": (0, 10), "u1": (0, 10)},
        **about,
    }
    declared: Declaration = declare(name="world", schema=bench.schema, **limits)
    return plan(
        ask(Rows.of(declared, Nobody())), Approx(1, "1e-6") if private else Pure(1), bench.source
    )


def _caught(release_plan: Plan, bench: Bench, before: list[Row], after: list[Row]) -> bool:
    """Whether the recorder sees a difference: in the status, the calls, or the distance."""
    rehearsal = Rehearsal(release_plan)
    runs, status = [], []
    for rows in (before, after):
        bench.put(rows)
        try:
            runs.append(rehearsal.run())
            status.append("answered")
        except Exception:
            status.append("failed")
    return status[0] != status[1] or bool(moved(release_plan, *runs).wrong)


def _rows(*owned: Row) -> list[Row]:
    plain = {
        **row(Random(0)),
        "user": 1,
        "k0": "Roma",
        "c": 5,
        "v0": 1.0,
        "s0_0": 7,
        "votes": True,
        "place": 1,
    }
    return [{**plain, **cells} for cells in owned]


ALONE = _rows({"user": 1}, {"user": 2, "k0": "Bari"})
CITIES = ["Roma", "Bari", "Pisa"]
MANY = [*ALONE, *_rows(*({"user": 9, "k0": CITIES[i % 3]} for i in range(60)))]


def _unweighted(base: Any, bounding: Any, *_: Any, **__: Any) -> Any:
    return base.mutate(w=1 << bounding.bits, w1=1 << bounding.bits)


def _in_every_group(base: Any, bounding: Any, units: list[str], keys: list[str], **_: Any) -> Any:
    """Weights counted in each group by itself: a unit in three groups weighs three times."""
    counted = base.group_by([*units, *keys]).agg(n=lambda t: t.count())
    part = counted.select(
        *units, *keys, w=((bounding.rows << bounding.bits) // counted.n).cast("int64")
    )
    joined = base.join(part, [*units, *keys])
    return joined.mutate(w1=joined.w)


def _whole_votes(base: Any, bounding: Any, units: list[str], keys: list[str], secret: str) -> Any:
    pairs = base.select(*units, *keys).distinct()
    return pairs.group_by(keys).agg(votes=lambda t: t.count() * (1 << bounding.vote_bits))


def _smallest_dtype(*arguments: Any, **named: Any) -> Any:
    values = READ(*arguments, **named)
    return values.astype(np.int32) if abs(values).max(initial=0) < 2**24 else values


def _only_groups_with_rows(*arguments: Any, **named: Any) -> Any:
    values = READ(*arguments, **named)
    return values[values.any(axis=1)]


READ = read_component

TWINS: dict[str, tuple[Any, str, Any, Callable[[Rows], Query], list[Row], dict[str, Any]]] = {
    "no clip": (
        grids,
        "_clip",
        lambda value, low, high: value,
        lambda r: r.aggregate(a=ag.sum("c")),
        [*ALONE, *_rows({"user": 9, "c": 10**6})],
        {},
    ),
    "no weights": (
        statements,
        "row_weights",
        _unweighted,
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.count()),
        MANY,
        {},
    ),
    "no weights of units": (
        statements,
        "row_weight",
        lambda n, b: n * 0 + (1 << b.bits),
        lambda r: r.aggregate(a=ag.count()),
        MANY,
        {},
    ),
    "weights by group": (
        statements,
        "row_weights",
        _in_every_group,
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.count()),
        MANY,
        {},
    ),
    "whole votes": (
        statements,
        "votes",
        _whole_votes,
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.count_units()),
        MANY,
        {},
    ),
    "whole votes for names": (
        statements,
        "votes",
        _whole_votes,
        lambda r: r.group_by("k0").aggregate(a=ag.sum("c")),
        MANY,
        {"private": True},
    ),
    "no weights for names": (
        statements,
        "row_weights",
        _unweighted,
        lambda r: r.group_by("k0").aggregate(a=ag.count()),
        MANY,
        {"private": True},
    ),
    "whole votes for units that name": (
        statements,
        "votes",
        _whole_votes,
        lambda r: r.group_by("k0").aggregate(a=ag.count_units()),
        MANY,
        {"private": True},
    ),
    "dtype by value": (
        door,
        "read_component",
        _smallest_dtype,
        lambda r: r.aggregate(a=ag.sum("c")),
        [*ALONE, *_rows({"user": 9, "c": 9})],
        {},
    ),
    "no empty groups": (
        door,
        "read_component",
        _only_groups_with_rows,
        lambda r: r.group_by(k0=CITIES).aggregate(a=ag.count()),
        MANY,
        {},
    ),
    "no truncation": (
        statements,
        "truncate_rows",
        lambda base, *_: base,
        lambda r: r.aggregate(a=ag.count()),
        MANY,
        {"bounding": "truncation"},
    ),
    "an error": (
        statements,
        "_bin",
        lambda v, p: (v * v).cast("int8"),
        lambda r: r.aggregate(a=ag.histogram("c", edges=(0, 1))),
        [*ALONE, *_rows({"c": 999})],
        {},
    ),
}
"""Name → where the hole is torn, the question, the neighbour, and what is declared."""


@pytest.mark.parametrize("name", TWINS)
def test_a_hole_is_found(name: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, twin, ask, other_rows, about = TWINS[name]
    assert not _caught(_plan(bench, ask, **about), bench, ALONE, other_rows)
    monkeypatch.setattr(where, attribute, twin)
    assert _caught(_plan(bench, ask, **about), bench, ALONE, other_rows)


@pytest.mark.parametrize(
    ("name", "deciding"),
    [
        ("whole votes for names", None),
        ("no weights for names", "count"),
        ("whole votes for units that name", "count_units"),
    ],
)
def test_the_hole_is_where_groups_are_selected(
    name: str, deciding: str | None, bench: Bench
) -> None:
    *_, ask, _, about = TWINS[name]
    release_plan = _plan(bench, ask, **about)
    selection = release_plan.calibration.selection
    assert selection is not None
    assert (selection.place is None) == (deciding is None)
    if deciding is not None:
        assert [column.kind for column in release_plan.columns] == [deciding]


def test_statements_that_depend_on_data_are_found(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(rows: Rows) -> Query:
        return rows.group_by(k0=CITIES).aggregate(a=ag.count())

    def twice(other_rows: list[Row]) -> list[list[str]]:
        statement_texts = []
        for rows in (ALONE, other_rows):
            bench.put(rows)
            statement_texts.append(texts(_plan(bench, ask)))
        return statement_texts

    before, same = twice(MANY)
    assert before == same
    monkeypatch.setattr(statements, "is_inline", lambda domain: bench.rows < 10)
    before, after = twice(MANY)
    assert before != after
