"""The selection of groups: the best way for a question, sizes in agreement with the mechanisms, and
shares that follow from public numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.guarantees import ZCDP, Approx, Guarantee
from sfumato.mechanisms import CountThreshold, Gaussian, Laplace, OptimalSelection
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan import choose_noise, choose_selection
from sfumato.tables.plan.choose_noise import Calibration
from sfumato.tables.plan.choose_selection import HALF, GroupSelection, deciding_counts
from sfumato.tables.plan.components import components_of
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from .worlds import Nobody

SCHEMA = {"user": Type.of("int64"), "city": Type.of("string"), "x": Type.of("float64")}
PROMISE = Approx(1, "1e-9")


def query(aggregates: dict[str, Aggregate], **about: Any) -> Query:
    limits = {"unit": "user", "max_rows": 20, "bounds": {"x": (0, 10)}, **about}
    declared = declare(name="visits", schema=SCHEMA, **limits)
    return Rows.of(declared, Nobody()).group_by("city").aggregate(**aggregates)


def calibrated(
    aggregates: dict[str, Aggregate],
    promise: Guarantee = PROMISE,
    group_size: int = 1000,
    **about: Any,
) -> Calibration:
    question = query(aggregates, **about)
    needed = components_of(question)
    return choose_noise.calibrate(question, needed.components, needed.columns, promise, group_size)


def selection(*arguments: Any, **about: Any) -> GroupSelection:
    chosen = calibrated(*arguments, **about).selection
    assert chosen is not None
    return chosen


COUNT, UNITS, MEAN = {"n": ag.count()}, {"d": ag.count_units()}, {"m": ag.mean("x")}


def test_a_count_decides_itself_and_has_nearly_all_of_the_promise() -> None:
    """OpenDP 0.16 at 20 contributions shows a group from 481 rows on, with noise of scale 20."""
    calibration = calibrated(COUNT)
    chosen = calibration.selection
    assert chosen is not None
    rule = chosen.mechanism
    assert isinstance(rule, CountThreshold)
    assert isinstance(rule.noise, Laplace)
    assert (chosen.place, chosen.counts_rows) == (0, True)
    assert chosen.half == 422 < 481
    assert calibration.noise[0] == (rule,)  # and no other selection is paid for
    assert sum(isinstance(part, CountThreshold) for part in calibration.mechanism.parts) == 1
    assert rule.noise.scale == 20 * 2**20


def test_votes_decide_by_the_rule_that_needs_fewer_people() -> None:
    few, spread = selection(MEAN, max_groups=1), selection(MEAN)
    assert isinstance(few.mechanism, OptimalSelection)
    assert isinstance(spread.mechanism, CountThreshold)
    assert isinstance(spread.mechanism.noise, Gaussian)
    assert (few.place, spread.place) == (None, None)
    assert spread.half < 350  # the best rule for a vote needs 813 people at this share


def test_units_are_not_paid_for_twice() -> None:
    for groups in (1, 20):
        chosen = selection(UNITS, max_groups=groups)
        assert chosen.place == 0
        assert not chosen.counts_rows
    assert selection(UNITS, max_groups=1).half == 22
    assert selection(UNITS).half < 170


@pytest.mark.parametrize("promise", [Approx("1/2", "1e-6"), ZCDP("1/8", "1e-9")], ids=str)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("bounding", ["weights", "truncation"])
@pytest.mark.parametrize("aggregates", [COUNT, UNITS, MEAN, {**COUNT, **MEAN, **UNITS}], ids=len)
def test_limits_of_the_threshold_are_those_of_a_unit(
    aggregates: dict[str, Aggregate], bounding: str, relation: str, promise: Guarantee
) -> None:
    calibration = calibrated(
        aggregates, promise, relation=relation, bounding=bounding, max_groups=6
    )
    chosen, bounds = calibration.selection, calibration.bounding
    assert chosen is not None
    rule = chosen.mechanism
    if not isinstance(rule, CountThreshold):
        return
    twice = 2 if relation == "replace" else 1
    weight = 20 if chosen.counts_rows else 6
    assert rule.total == twice * weight << chosen.bits
    assert rule.most == (20 if chosen.counts_rows else 1) << chosen.bits
    assert rule.relation == relation
    if chosen.place is not None:
        assert bounds.rule in ("part", "drawn")  # no weights without a limit on their total


def test_a_count_that_a_mean_is_read_from_does_not_decide() -> None:
    """The interval of a mean does not know that its count is conditioned on being shown."""
    filled = {"m": ag.mean("x"), "n": ag.count("x")}
    question = query(filled)
    needed = components_of(question)
    assert deciding_counts(needed.components, needed.columns) == []
    columns = components_of(query({**COUNT, **MEAN}))
    assert deciding_counts(columns.components, columns.columns) == [0]
    some = components_of(query({"n": ag.count_if(col("x") > 0)}))
    assert deciding_counts(some.components, some.columns) == []


@pytest.mark.parametrize("groups", [1, 4, 20, 256])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_estimated_sizes_are_those_of_the_mechanisms(groups: int, epsilon: str) -> None:
    """The share is chosen by estimates in doubles."""
    optimal = choose_selection.optimal_size(float(epsilon), 1e-9, groups)
    mu = choose_selection._mu(float(epsilon), 5e-10)
    gaussian = choose_selection._gaussian_size(mu, 5e-10, groups)
    rule = OptimalSelection(epsilon=epsilon, delta="1e-9", groups=groups, quanta=1 << 20)
    assert GroupSelection(rule, 20).half == pytest.approx(optimal, rel=0.02, abs=1)
    noise = Gaussian(
        sensitivity=Fraction(2**20) * Fraction(groups**0.5 + 1e-9), epsilon=epsilon, delta="5e-10"
    )
    votes = CountThreshold(noise=noise, delta="5e-10", total=groups << 20, most=1 << 20)
    assert GroupSelection(votes, 20).half == pytest.approx(gaussian, rel=0.05, abs=2)


def test_the_share_follows_the_size_that_is_plausible() -> None:
    halves = [selection(MEAN, PROMISE, size, max_groups=1).half for size in (100, 1000, 10**5)]
    assert halves == sorted(halves)
    assert halves[0] < halves[-1]
    few = selection(MEAN, PROMISE, 10**5, max_groups=1, table_rows=100)
    assert few.half == halves[0]


def test_sizes_by_probability() -> None:
    chosen = selection(COUNT)
    rule = chosen.mechanism
    for level in (HALF, Fraction(99, 100)):
        size = chosen.size_named_with(level)
        assert rule.keep_probability(size << chosen.bits) >= level
        assert rule.keep_probability((size - 1) << chosen.bits) < level
