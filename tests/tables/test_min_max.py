"""MIN and MAX by quantiles: by arithmetic, what they promise and how often they hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.mechanisms import WeightedQuantile
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.plan.explain import explain_rules
from sfumato.tables.plan.min_max import with_end
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows

from .worlds import Bench, Nobody


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


def plan_of(bench: Bench, aggregate: Aggregate, promise: Guarantee | None = None) -> Plan:
    declared = declare(name="world", schema=bench.schema, bounds={"c": (0, 9)})
    return plan(
        Rows.of(declared, Nobody()).aggregate(x=aggregate), promise or Pure(1), bench.source
    )


def chosen(release_plan: Plan) -> WeightedQuantile:
    ((mechanism,),) = release_plan.calibration.noise
    assert isinstance(mechanism, WeightedQuantile)
    return mechanism


@pytest.mark.parametrize(
    "promise", [Pure(1), Approx(1, "1e-6"), ZCDP("1/8"), GDP(1)], ids=lambda p: type(p).__name__
)
def test_the_whole_cost_is_for_one_point(promise: Guarantee, bench: Bench) -> None:
    release_plan = plan_of(bench, ag.max("c"), promise)
    assert chosen(release_plan).q == 1
    assert chosen(release_plan).shift > 0
    assert chosen(plan_of(bench, ag.min("c"), promise)).shift < 0
    assert (
        release_plan.cost.to(type(promise), delta="1e-6") <= promise
        if isinstance(promise, Approx)
        else release_plan.mechanism.to(type(promise)) <= promise
    )


@pytest.mark.parametrize(
    "points", [[5] * 30, [0, 9], [9] * 200, list(range(10)) * 20, [0] * 200 + [9], [3]], ids=len
)
def test_the_law_holds_the_extreme_as_often_as_promised(points: list[int], bench: Bench) -> None:
    """Exact: the chance of a point beyond every row is at most one in twenty."""
    largest = chosen(plan_of(bench, ag.max("c"))).law(points, [1] * len(points))
    least = chosen(plan_of(bench, ag.min("c"))).law(points, [1] * len(points))
    assert sum(p for first, _, p in largest if first > max(points)) <= 0.05
    assert sum(p for _, last, p in least if last < min(points)) <= 0.05


def test_it_is_the_extreme_where_there_are_many_rows(bench: Bench) -> None:
    law = chosen(plan_of(bench, ag.max("c"))).law(list(range(9)) * 300, [1] * 2700)
    assert sum(p for first, last, p in law if first <= 8 <= last) > 0.95


def test_without_a_shift_it_would_lie_beyond(bench: Bench) -> None:
    """The twin: the 1-quantile itself is any point from the largest value on."""
    built = chosen(plan_of(bench, ag.max("c")))
    plain = WeightedQuantile(
        q=1, low=0, high=9, weight=1, epsilon=built.epsilon, groups=False, relation="add-remove"
    )
    assert sum(p for first, _, p in plain.law([5] * 200, [1] * 200) if first > 5) > 0.5


def test_the_interval_goes_to_the_public_end(bench: Bench) -> None:
    points = np.array([[4], [7]], dtype=np.int64)
    assert with_end(plan_of(bench, ag.max("c")).components[0], points).tolist() == [
        [4, 4, 9],
        [7, 7, 9],
    ]
    assert with_end(plan_of(bench, ag.min("c")).components[0], points).tolist() == [
        [4, 0, 4],
        [7, 0, 7],
    ]
    assert with_end(plan_of(bench, ag.median("c", interval=False)).components[0], points) is points


def test_it_is_labelled(bench: Bench) -> None:
    release_plan = plan_of(bench, ag.max("c"))
    rows = chosen(release_plan).shift
    assert (
        f"the largest c is a quantile: about {float(rows):.3g} rows lie above it, and at "
        f"least one with probability 0.95"
    ) in explain_rules(release_plan)
    assert release_plan.error()["x"] == 2 * rows
    assert any(
        "the least c is a quantile" in rule for rule in explain_rules(plan_of(bench, ag.min("c")))
    )
    assert not any(
        "is a quantile" in rule for rule in explain_rules(plan_of(bench, ag.median("c")))
    )
