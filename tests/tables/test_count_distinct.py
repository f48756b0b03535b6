"""Different values: each counts once, a unit has at most so many, and what it keeps is its own
affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from sfumato.guarantees import ZCDP, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan import count_distinct, statements
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.stages import Rows
from sfumato.testing.exact_checks import Rehearsal, through_the_door

from .worlds import Bench, Nobody, Row, row

CITIES = ["Bari", "Pisa", "Roma"]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


def rows(*owned: tuple[int | None, str | None, int | None]) -> list[Row]:
    return [
        {**row(Random(0)), "user": user, "k0": city, "c": c, "votes": True}
        for user, city, c in owned
    ]


def plan_of(bench: Bench, promise: Any = None, *, grouped: bool = True, **about: Any) -> Plan:
    declared = declare(
        name="world", schema=bench.schema, **{"unit": "user", "max_rows": 2, **about}
    )
    every = Rows.of(declared, Nobody())
    groups = every.group_by(k0=CITIES) if grouped else every.group_by()
    return plan(groups.aggregate(d=ag.count_distinct("c")), promise or Pure(1), bench.source)


def count(release_plan: Plan, bench: Bench, table: list[Row]) -> list[int]:
    bench.put(table)
    return [int(value) for value in through_the_door(release_plan).pieces[0].values[:, 0]]


def test_a_value_counts_once_whoever_has_it(bench: Bench) -> None:
    table = rows(
        (1, "Roma", 5),
        (2, "Roma", 5),
        (3, "Roma", 6),
        (3, "Roma", 6),
        (4, "Bari", 5),
        (5, "Bari", None),
        (None, "Bari", 9),
    )
    assert count(plan_of(bench), bench, table) == [1, 0, 2]
    assert count(plan_of(bench, grouped=False), bench, table) == [2]


def test_a_unit_has_at_most_so_many_over_all_groups(bench: Bench) -> None:
    busy = rows(*((9, city, c) for city in CITIES for c in range(20)))
    for limit in (1, 2, 5):
        assert sum(count(plan_of(bench, max_rows=limit), bench, busy)) == limit


def test_what_is_declared_is_what_a_unit_can_do(bench: Bench) -> None:
    assert plan_of(bench).calibration.noise[0][0].sensitivity == 2
    assert plan_of(bench, relation="replace").calibration.noise[0][0].sensitivity == 4
    assert (
        plan_of(bench, relation="replace", grouped=False).calibration.noise[0][0].sensitivity == 2
    )
    assert Fraction(plan_of(bench, ZCDP("1/8")).calibration.noise[0][0].sensitivity) == 2


OTHERS = rows((1, "Roma", 0), (2, "Roma", 1), (3, "Bari", 2))
BUSY = rows(*((9, CITIES[i % 3], i) for i in range(40)))


@pytest.mark.parametrize("promise", [Pure(1), ZCDP("1/8")], ids=["L1", "L2"])
def test_a_neighbour_moves_no_more(promise: Any, bench: Bench) -> None:
    """An outlier whose values coincide with those of others, or do not; and the limit is
    reached.
    """
    rehearsal, most = Rehearsal(plan_of(bench, promise)), Fraction(0)
    for extra in (
        BUSY,
        rows((9, "Roma", 0), (9, "Roma", 1)),
        rows(*((9, "Roma", c) for c in range(50))),
    ):
        bench.put(OTHERS)
        first = rehearsal.run()
        bench.put([*OTHERS, *extra])
        second = rehearsal.run()
        apart = [
            int(b) - int(a)
            for a, b in zip(
                first.pieces[0].values[:, 0], second.pieces[0].values[:, 0], strict=True
            )
        ]
        assert sum(map(abs, apart)) <= 2
        assert min(apart) >= 0
        most = max(most, Fraction(sum(apart)))
    assert most == 2


def test_a_count_without_truncation_would_be_seen(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: every value of every unit counts."""
    monkeypatch.setattr(count_distinct, "truncate_rows", lambda pairs, *_: pairs)
    assert sum(count(plan_of(bench), bench, BUSY)) == 40


def test_bounding_rows_before_values_would_be_seen(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin that others shipped: at most k rows of a unit, and among them whatever values others
    do not have yet; here k in each group.
    """

    def each_group(base: Any, limit: int, units: list[str], keys: list[str], secret: str) -> Any:
        return counted(base, limit, [*units, *keys], keys, secret)

    counted = count_distinct.distinct_counts
    monkeypatch.setattr(statements, "distinct_counts", each_group)
    assert sum(count(plan_of(bench), bench, BUSY)) == 6


def test_null_and_nan_are_no_values_and_zero_has_one_sign(bench: Bench) -> None:
    declared = declare(name="world", schema=bench.schema, unit="user", max_rows=3)
    release_plan = plan(
        Rows.of(declared, Nobody()).aggregate(d=ag.count_distinct("v0")), Pure(1), bench.source
    )
    table = [
        {**row(Random(0)), "user": user, "v0": v}
        for user, v in ((1, 0.0), (2, -0.0), (3, float("nan")), (4, None), (5, float("inf")))
    ]
    assert count(release_plan, bench, table) == [2]
