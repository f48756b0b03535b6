"""Quantiles by the exponential mechanism: the law point by point, every neighbouring pair under
both relations, and no dataset that breaks it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees.neighbour_relations import RELATIONS

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

QS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
LOW, HIGH = 0, 6


pytestmark = pytest.mark.usefixtures("precise")


def score(x: Sequence[int], z: int, q: Fraction) -> Fraction:
    return -abs((1 - q) * sum(v < z for v in x) - q * sum(v > z for v in x))


def law(x: Sequence[int], q: Fraction, rate: Fraction) -> list[arb]:
    """Over every point of 0 … 6."""
    return choosing.exponential([score(x, z, q) for z in range(LOW, HIGH + 1)], rate)


def spread(m: mech.Quantile, x: Any) -> list[float]:
    """The record's law, from intervals to points."""
    points: list[float] = []
    for first, last, chance in m.law(x):
        size = int((last - first) / m.grid) + 1
        points += [chance / size] * size
    return points


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("q", QS)
def test_every_pair_of_small_datasets(relation: str, q: Fraction) -> None:
    """Pure ε and ε²/8-zCDP between all neighbours of three values in {0, 2, 3, 6}, at every point;
    the record's law is this one.
    """
    epsilon = Fraction(2)
    m = mech.Quantile(q=q, low=LOW, high=HIGH, epsilon=epsilon, relation=relation, grid=1)
    laws: dict[tuple[int, ...], list[arb]] = {}

    def of(x: Any) -> list[arb]:
        key = tuple(sorted(x))
        if key not in laws:
            laws[key] = law(key, q, m.rate)
            assert choosing.agree(spread(m, list(key)), laws[key], 2.0**-50)
        return laws[key]

    compared = set()
    for x, y in RELATIONS[relation].pairs((0, 2, 3, 6), 3):
        if (pair := (tuple(sorted(x)), tuple(sorted(y)))) in compared:
            continue
        compared.add(pair)
        assert not choosing.loss(of(x), of(y)) > ball(epsilon)
        for order in choosing.ORDERS[::3]:
            assert not choosing.renyi(of(x), of(y), order) > ball(order * epsilon**2 / 8)
    assert m.promises == (
        sf.Pure(epsilon, relation=relation),
        sf.ZCDP(epsilon**2 / 8, relation=relation),
    )


@pytest.mark.parametrize(
    ("relation", "expected"),
    [("add-remove", lambda q: max(q, 1 - q)), ("replace", lambda q: Fraction(1))],
)
@pytest.mark.parametrize("q", QS)
def test_the_sensitivity_of_the_score_by_brute_force(
    relation: str, expected: Any, q: Fraction
) -> None:
    world = sorted({x for pair in RELATIONS[relation].pairs(range(4), 3) for x in pair})
    sensitivity = mech.score_sensitivity(
        lambda x, z: score(x, z, q), world, range(4), RELATIONS[relation].are_neighbours
    )
    assert (
        sensitivity
        == expected(q)
        == mech.Quantile(q=q, low=0, high=3, epsilon=1, relation=relation, grid=1).sensitivity
    )


def test_the_other_relations_sensitivity_is_caught() -> None:
    """The twin: the median's ½ of add-remove, used where a value is replaced, loses nearly 2ε."""
    rate = mech.Quantile(low=LOW, high=HIGH, epsilon=4, relation="add-remove", grid=1).rate
    p, q = (law(x, Fraction(1, 2), rate) for x in ([0] * 9, [0] * 8 + [6]))
    assert choosing.loss(p, q) > ball(Fraction(5))


@pytest.mark.parametrize("n", [*range(1480, 1501), 10**5, 10**6])
def test_equal_values_break_nothing(n: int) -> None:
    """A6: all equal, and all but one."""
    m = mech.Quantile(low=0, high=100, epsilon=1, relation="add-remove", grid=1)
    for values in (
        np.zeros(n, dtype=np.int64),
        np.append(np.zeros(n, dtype=np.int64), 1),
        np.full(n, 100),
        np.full(n, 7.25),
    ):
        assert 0 <= m.perturb(values) <= 100
        chances = np.array([p for _, _, p in m.law(values)])
        assert np.isfinite(chances).all()
        assert chances.sum() == pytest.approx(1)
    assert m.perturb(np.full(n, 40)) == 40  # else with probability below 100·e^(−740)


@pytest.mark.parametrize("n", [1, 1000, 10**6])
def test_wide_ranges_cost_nothing(n: int) -> None:
    """2^61 points, none of them enumerated."""
    m = mech.Quantile(low=-1, high=1, epsilon=1, relation="replace", grid=2.0**-60)
    value = m.perturb(np.linspace(-0.5, 0.5, n))
    assert -1 <= value <= 1
    assert n < 10**6 or abs(value) < 0.01


def test_an_empty_dataset_is_one_like_others() -> None:
    m = mech.Quantile(low=0, high=9, epsilon=1, relation="add-remove", grid=1)
    for empty in ([], np.array([], dtype=np.int64), np.array([])):
        assert m.law(empty) == [(0, 9, 1.0)]
        assert 0 <= m.perturb(empty) <= 9


def test_values_are_clipped_and_rounded() -> None:
    m = mech.Quantile(low=0, high=1, epsilon=1, relation="replace", grid="1/4")
    assert (
        m.law([-5.0, 0.3, 7.0])
        == m.law([0.0, 0.25, 1.0])
        == m.law(np.array([0.0, 0.25, 1.0], dtype=np.float32))
    )
    assert m.law([-5, 0, 10**30]) == m.law([0, 0, 1])
    assert isinstance(m.perturb([0.3]), float)
    assert isinstance(
        mech.Quantile(low=0, high=9, epsilon=1, relation="replace", grid=1).perturb([3]), int
    )
    coarse = mech.Quantile(low=0, high=64, epsilon=1, relation="replace", grid=16)
    assert isinstance(coarse.perturb([3]), int)
    assert coarse.law([8, 24]) == coarse.law([16, 32])


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6. The twin is the law at twice the rate."""
    m, x = mech.Quantile(low=LOW, high=HIGH, epsilon=1, relation="replace", grid=1), [1, 1, 2, 6]
    sample = [m.perturb(x) for _ in range(6000)]
    assert choosing.fit(sample, spread(m, x)) > choosing.FALSE_ALARM
    assert choosing.fit(sample, [float(p.mid()) for p in law(x, Fraction(1, 2), 2 * m.rate)]) < 1e-9


@pytest.mark.parametrize("confidence", [0.5, 0.95, "0.999"])
@pytest.mark.parametrize("x", [[3] * 40, [0, 6] * 20, list(range(7)) * 6])
def test_the_rank_error_holds(confidence: Any, x: list[int]) -> None:
    m = mech.Quantile(low=LOW, high=HIGH, epsilon=2, relation="replace", grid=1)
    scores = [score(x, z, m.q) for z in range(LOW, HIGH + 1)]
    far = sum(
        p
        for p, s in zip(spread(m, x), scores, strict=True)
        if max(scores) - s > m.rank_error(confidence)
    )
    assert far <= 1 - float(confidence)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"relation": None}, "quantile.relation"),
        ({"relation": "swap"}, "guarantee.relation"),
        ({"q": 2}, "number.not-a-probability"),
        ({"q": "1/1234567890"}, "quantile.q"),
        ({"low": 9}, "range.ends"),
        ({"low": "0.1", "high": "0.9", "grid": 1}, "range.grid"),
        ({"high": 2**62, "grid": 1}, "range.grid"),
        ({"high": math.inf}, "number.not-finite"),
        ({"grid": 3}, "number.not-a-power-of-two"),
        ({"epsilon": 0}, "number.not-positive"),
    ],
    ids=str,
)
def test_records_that_are_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(
        lambda: mech.Quantile(
            **({"low": 0, "high": 9, "epsilon": 1, "relation": "replace"} | arguments)
        ),
        code,
    )


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([math.nan, 98765.5], "value.not-finite"),
        ([math.inf, 98765.5], "value.not-finite"),
        (["98765"], "value.type"),
        ([True], "value.type"),
    ],
    ids=str,
)
def test_values_that_are_refused(values: Any, code: str) -> None:
    refused = refusal(
        lambda: mech.Quantile(low=0, high=9, epsilon=1, relation="replace", grid=1).perturb(
            values, bits=Untouchable()
        ),
        code,
    )
    assert "98765" not in str(refused)


def test_without_a_grid_it_has_about_a_million_points() -> None:
    """The median of values in [0, 1] is not an end: at ε = 10 a hundred values in the middle leave
    the ends a probability below e⁻²⁰⁰.
    """
    m = mech.Quantile(low=0, high=1, epsilon=10, relation="replace")
    assert m.grid == Fraction(1, 2**20)
    assert abs(m.perturb([0.5] * 100) - 0.5) < 0.25
    assert mech.Quantile(low=0, high=100, epsilon=1, relation="replace").grid == Fraction(1, 2**13)
