"""Plans: they read no data, cost nothing, and say what a release would cost and how exact it would
be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.plan.query_plan import MOST_CELLS, MOST_KEPT, plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows

from ..refusing import refusal
from .worlds import Bench, Nobody, planned

CITIES = ["Roma", "Bari"]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


def rows(bench: Bench, **about: Any) -> Rows:
    limits = {"unit": "user", "max_rows": 2, "bounds": {"v0": (0, 10)}, **about}
    return Rows.of(declare(name="world", schema=bench.schema, **limits), Nobody())


def test_planning_runs_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither planning, nor explaining, nor the statements' text has the engine do anything."""

    def touched(*_: Any, **__: Any) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(type(bench.source.engine), "run", touched)
    monkeypatch.setattr(type(bench.source.engine), "tally", touched)
    monkeypatch.setattr(type(bench.source.engine), "_load", touched)
    for seed in range(15):
        release_plan = planned(Random(seed), bench)
        assert release_plan.sql
        assert release_plan.explain()
        assert release_plan.error()
        assert release_plan.statements
        assert (release_plan.groups is None) == (not release_plan.query.public)
        assert release_plan.cost == release_plan.mechanism.promise


def test_statements_are_made_once_for_a_question(bench: Bench) -> None:
    """And again for whatever they are made of: columns, conditions, bounds, limits, the kind of
    noise, another table.
    """

    def plan_statements(
        where: int = 5,
        aggregate: Aggregate | None = None,
        promise: Guarantee | None = None,
        source: Any = bench.source,
        **about: Any,
    ) -> Any:
        query = (
            rows(bench, **about)
            .where(col("v0") < where)
            .group_by(k0=CITIES)
            .aggregate(n=aggregate or ag.sum("v0"))
        )
        return plan(query, promise or Pure(1), source).statements

    first = plan_statements()
    assert plan_statements(promise=Pure(2)) is first
    others = [
        plan_statements(6),
        plan_statements(aggregate=ag.mean("v0")),
        plan_statements(bounds={"v0": (0, 9)}),
        plan_statements(max_rows=3),
        plan_statements(relation="replace"),
        plan_statements(promise=GDP(1)),
        plan_statements(source=replace(bench.source, name="other")),
    ]
    assert len({id(item) for item in [first, *others]}) == 8
    assert plan_statements() is first


def test_what_is_drawn_for_a_plan_is_drawn_for_each(bench: Bench) -> None:
    for about, aggregate in (
        ({"bounding": "truncation"}, ag.count()),
        ({}, ag.count_distinct("v0")),
    ):
        built = [
            plan(rows(bench, **about).aggregate(n=aggregate), Pure(1), bench.source)
            for _ in range(2)
        ]
        assert built[0].sql != built[1].sql


def test_only_so_many_statements_are_kept(bench: Bench) -> None:
    for place in range(MOST_KEPT + 5):
        assert plan(
            rows(bench).where(col("v0") < place).aggregate(n=ag.count()), Pure(1), bench.source
        ).statements
    assert len(bench.source.statements) == MOST_KEPT
    keys = ["x" * 4000 + str(i) for i in range(6)]
    assert plan(
        rows(bench).group_by(k0=keys).aggregate(n=ag.count()), Pure(1), bench.source
    ).statements
    assert len(bench.source.statements) == MOST_KEPT


def test_a_plan_shows_its_statements(bench: Bench) -> None:
    release_plan = plan(
        rows(bench).group_by(k0=CITIES).aggregate(n=ag.count(), q=ag.median("v0")),
        Pure(1),
        bench.source,
    )
    assert len(release_plan.sql) == 2
    assert all("SELECT" in text for text in release_plan.sql)


def test_public_groups_are_known_beforehand(bench: Bench) -> None:
    release_plan = plan(
        rows(bench).group_by(k0=[*CITIES, None], votes=[True]).aggregate(n=ag.count()),
        Pure(1),
        bench.source,
    )
    assert release_plan.groups is not None
    assert release_plan.groups.rows == [("Bari", True), ("Roma", True), (None, True)]
    assert (
        plan(
            rows(bench).group_by("k0").aggregate(n=ag.count()), Approx(1, "1e-6"), bench.source
        ).groups
        is None
    )


def test_more_of_a_promise_is_less_error(bench: Bench) -> None:
    query = rows(bench).aggregate(
        n=ag.count(),
        s=ag.sum("v0"),
        m=ag.mean("v0"),
        v=ag.var("v0"),
        d=ag.std("v0"),
        q=ag.median("v0"),
        u=ag.count_units(),
    )
    for first, second in (
        (Pure("1/10"), Pure(1)),
        (ZCDP("1/100"), ZCDP(1)),
        (GDP("1/10"), GDP(1)),
        (Approx("1/10", "1e-6"), Approx(1, "1e-6")),
    ):
        less, more = (
            plan(query, first, bench.source).error(),
            plan(query, second, bench.source).error(),
        )
        assert set(less) == {"n", "s", "m", "v", "d", "q", "u"}
        assert all(less[name] >= more[name] > 0 for name in less)
        assert all(less[name] > more[name] for name in ("n", "s", "q", "u"))


def test_errors_are_those_of_the_noise(bench: Bench) -> None:
    release_plan = plan(rows(bench).aggregate(n=ag.count()), Pure("1/2"), bench.source)
    (noise,) = release_plan.calibration.noise[0]
    scale = noise.law.half_width(0.95) / 2**20
    assert release_plan.error()["n"] == pytest.approx(scale)
    assert release_plan.error(0.5)["n"] < release_plan.error()["n"] < release_plan.error(0.999)["n"]


def test_the_error_of_a_mean_depends_on_the_group(bench: Bench) -> None:
    release_plan = plan(
        rows(bench).aggregate(m=ag.mean("v0"), v=ag.var("v0"), d=ag.std("v0")),
        Pure(1),
        bench.source,
    )
    small, large = release_plan.error(group_size=1), release_plan.error(group_size=10**6)
    assert (small["m"], small["v"], small["d"]) == (
        10.0,
        25.0,
        5.0,
    )  # nothing is known of so small a group
    assert all(large[name] < 0.05 for name in large)
    assert plan(release_plan.query, Pure(1), bench.source, group_size=10**6).error() == large


def test_the_withheld_part_is_paid_for_only_where_groups_are_named(bench: Bench) -> None:
    private = plan(
        rows(bench).group_by("k0").aggregate(n=ag.count()), Approx(1, "1e-6"), bench.source
    )
    assert [piece.name for piece in private.components] == ["count", "total"]
    assert private.components[1].pooled
    public = plan(
        rows(bench).group_by(k0=CITIES).aggregate(n=ag.count()), Approx(1, "1e-6"), bench.source
    )
    assert [piece.name for piece in public.components] == ["count"]


def test_two_plans_draw_two_keys(bench: Bench) -> None:
    query = rows(bench, bounding="truncation").aggregate(n=ag.count())
    assert plan(query, Pure(1), bench.source).sql != plan(query, Pure(1), bench.source).sql
    weights = rows(bench).aggregate(n=ag.count())
    assert plan(weights, Pure(1), bench.source).sql == plan(weights, Pure(1), bench.source).sql


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "many", None])
def test_a_group_has_a_whole_number_of_rows(size: Any, bench: Bench) -> None:
    refusal(
        lambda: plan(rows(bench).aggregate(n=ag.count()), Pure(1), bench.source, size),
        "plan.group-size",
    )


def test_too_many_groups_are_refused(bench: Bench) -> None:
    wide = rows(bench).group_by(s0_0=range(4000), c=range(4000))
    refusal(lambda: plan(wide.aggregate(n=ag.count()), Pure(1), bench.source), "plan.groups")
    binned = (
        rows(bench).group_by(s0_0=range(2000)).aggregate(h=ag.histogram("v0", edges=range(8000)))
    )
    assert MOST_CELLS < 2000 * 7999
    refusal(lambda: plan(binned, Pure(1), bench.source), "plan.groups")


@pytest.mark.parametrize(
    ("aggregate", "about"),
    [
        (ag.sum("s0_0", low=2**61, high=2**61 + 2**12), {}),
        (ag.sum("v0", low=10**15, high=10**15 + 1), {}),
        (
            ag.sum("v0", low=10**15, high=10**15 + 1),
            {"unit": None, "max_rows": None, "table_rows": 2**48},
        ),
        (ag.sum("v0", low=10**12, high=10**12 + 1), {"max_rows": 2**20}),
    ],
)
def test_sums_that_could_leave_the_engines_integers_are_refused(
    aggregate: Aggregate, about: dict[str, Any], bench: Bench
) -> None:
    """Before anything is read, from what is declared: an overflow could tell."""
    refusal(
        lambda: plan(rows(bench, **about).aggregate(a=aggregate), Pure("1/1000"), bench.source),
        "plan.range",
    )


def test_no_plan_of_the_generator_could_overflow(bench: Bench) -> None:
    for seed in range(80):
        release_plan = planned(Random(seed), bench)
        bounding = release_plan.calibration.bounding
        assert all(
            (piece.largest << bounding.bits) < 2**62
            and (piece.largest << bounding.bits) * bounding.table_rows < 2**126
            for piece in release_plan.components
        )


def test_a_plan_is_for_one_kind_of_noise(bench: Bench) -> None:
    release_plan = plan(
        rows(bench).group_by(k0=CITIES).aggregate(n=ag.count().filter(col("votes"))),
        Pure(1),
        bench.source,
    )
    assert len(release_plan.mechanism.parts) == 1
    assert np.isfinite(release_plan.error()["n"])


@pytest.mark.parametrize(
    ("promise", "about", "aggregate", "has_total"),
    [
        (Approx(1, "1e-6"), {}, ag.count(), True),
        (ZCDP("0.1", "1e-6"), {}, ag.count(), True),  # it selects the groups: L1 weights
        (ZCDP("0.1", "1e-6"), {}, ag.mean("sure"), False),
        (ZCDP("0.1", "1e-6"), {"bounding": "truncation"}, ag.mean("sure"), True),
        (ZCDP("0.1", "1e-6"), {"unit": None, "max_rows": None}, ag.mean("sure"), True),
    ],
    ids=str,
)
def test_all_rows_are_counted_only_where_they_weigh_what_they_weigh_in_groups(
    bench: Bench,
    promise: Guarantee,
    about: dict[str, Any],
    aggregate: Aggregate,
    has_total: bool,
) -> None:
    """A total with L1 weights was compared with groups that have L2 weights: 29 % were said to be
    withheld where 90 % were.
    """
    release_plan = plan(
        rows(bench, **{"bounds": {"sure": (0, 10)}, **about})
        .group_by("place")
        .aggregate(a=aggregate),
        promise,
        bench.source,
    )
    assert "count" in [piece.name for piece in release_plan.components]
    assert ("total" in [piece.name for piece in release_plan.components]) == has_total
    assert len(release_plan.calibration.noise) == len(release_plan.components)
    assert (release_plan.calibration.bounding.rule == "root") == (not has_total)
