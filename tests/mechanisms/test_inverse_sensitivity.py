"""Inverse sensitivity: every neighbouring pair of small datasets, the sharper count, exact
draws.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees.neighbour_relations import REPLACE
from sfumato.mechanisms.inverse_sensitivity import count_rate

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

pytestmark = pytest.mark.usefixtures("precise")


def spread(m: mech.InverseSensitivity, x: Any, points: list[Any]) -> list[float]:
    """The record's law, from runs to points."""
    out = dict.fromkeys(points, 0.0)
    for first, last, chance in m.law(x):
        run = points[points.index(first) : points.index(last) + 1]
        out |= dict.fromkeys(run, chance / len(run))
    return list(out.values())


def distances(statistic: str, x: tuple[Any, ...], points: list[Any], q: Fraction) -> list[int]:
    """By search over all datasets: the nearest whose statistic is z (for the mode, one of whose
    modes is z).
    """
    n = len(x)
    rank = min(n, max(1, math.ceil(q * n)))

    def has(y: tuple[Any, ...], z: Any) -> bool:
        if statistic == "count":
            return sum(y) == z
        if statistic == "mode":
            return Counter(y)[z] == max(Counter(y).values())
        return sorted(y)[rank - 1] == z

    domain = [0, 1] if statistic == "count" else points
    world = list(itertools.product(domain, repeat=n))
    return [
        min(sum(a != b for a, b in zip(x, y, strict=True)) for y in world if has(y, z))
        for z in points
    ]


CASES: dict[str, tuple[dict[str, Any], list[Any], tuple[Any, ...], int]] = {
    "median": ({"low": 0, "high": 4, "grid": 1}, list(range(5)), (0, 1, 2, 3, 4), 3),
    "quantile 1/4": (
        {"low": 0, "high": 4, "grid": 1, "q": "1/4"},
        list(range(5)),
        (0, 1, 2, 3, 4),
        3,
    ),
    "quantile 1": ({"low": 0, "high": 3, "grid": 1, "q": 1}, list(range(4)), (0, 1, 2, 3), 3),
    "median of four": ({"low": 0, "high": 2, "grid": 1}, list(range(3)), (0, 1, 2), 4),
    "mode": ({"categories": ["a", "b", "c"]}, ["a", "b", "c"], ("a", "b", "c"), 4),
    "count": ({}, list(range(6)), (0, 1), 5),
}
"""The record's public things, the possible answers, the possible values of a record, and how many
records.
"""


@pytest.mark.parametrize("name", CASES)
def test_every_pair_of_small_datasets(name: str) -> None:
    statistic, (public, points, domain, n), epsilon = name.split()[0], CASES[name], Fraction(2)
    m = mech.InverseSensitivity(statistic, epsilon=epsilon, **public)
    rate = count_rate(epsilon, n) if statistic == "count" else epsilon / 2
    laws: dict[tuple[Any, ...], list[arb]] = {}

    def of(x: tuple[Any, ...]) -> list[arb]:
        key = tuple(sorted(x))
        if key not in laws:
            laws[key] = choosing.exponential(
                [-d for d in distances(statistic, key, points, Fraction(public.get("q", "1/2")))],
                rate,
            )
            assert choosing.agree(spread(m, list(key), points), laws[key], 2.0**-50)
        return laws[key]

    worst = arb(0)
    neighbours = {(tuple(sorted(x)), tuple(sorted(y))) for x, y in REPLACE.pairs(domain, n)}
    for x, y in neighbours:
        worst = max(worst, choosing.loss(of(x), of(y)))
        for promise in m.promises[1:]:
            assert isinstance(promise, sf.ZCDP)
            for order in choosing.ORDERS[::3]:
                assert not choosing.renyi(of(x), of(y), order) > ball(order * promise.rho)
    assert not worst > ball(epsilon)
    assert statistic != "count" or worst > ball(epsilon * (1 - Fraction(1, 10**12))), (
        "the count's rate is the largest"
    )
    assert m.promise == sf.Pure(2, relation="replace")


def test_too_high_a_rate_is_caught() -> None:
    """The median of eight 9s and a 10 beside that of eight 9s and a −10^9: all points below 9 come
    nearer, and 10 goes further away. So the rate ε/2 is the largest there is for a median; ε, the
    twin, loses twice as much. For a count the twin is ε in place of the calibrated rate.
    """
    low, points = -(10**9), [-5, 9, 10]
    m = mech.InverseSensitivity("median", low=low, high=10, grid=1, epsilon=1)
    before, after = [9] * 8 + [10], [9] * 8 + [low]
    d, e = (
        [max(0, sum(v < z for v in x) - 4) + max(0, sum(v > z for v in x) - 4) for z in points]
        for x in (before, after)
    )
    assert (d, e) == ([5, 0, 4], [4, 0, 5])
    for rate, loss in ((Fraction(1, 2), Fraction(1)), (Fraction(1), Fraction(2))):
        p, q = (
            choosing.exponential([-v for v in distance], rate, [10**9, 1, 1]) for distance in (d, e)
        )
        assert ball(loss) > choosing.loss(p, q) > ball(loss * Fraction(99999, 100000))
    assert m.law(before)[-1][2] / m.law(after)[-1][2] == pytest.approx(math.e, rel=1e-5)
    p, q = (choosing.exponential([-abs(z - f) for z in range(11)], Fraction(1)) for f in (0, 1))
    assert choosing.loss(p, q) > ball(Fraction(1))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 1000, 10**9])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(4), Fraction(16)])
def test_the_count_takes_the_largest_rate(epsilon: Fraction, n: int) -> None:
    """Between ε/2 and ε: at an end of 0 … n the normaliser grows with the first step, so not quite
    ε is left; 5 % to 50 % of noise are saved.
    """
    rate = count_rate(epsilon, n)
    assert epsilon / 2 <= rate <= epsilon
    if n < 2:
        assert rate == epsilon
        return
    q, r = (-ball(rate)).exp(), (-ball(rate * (1 + Fraction(1, 2**40)))).exp()
    losses = [
        ball(s) + (1 + (t - t**n) * (1 - t) / (1 - t ** (n + 1))).log()
        for s, t in ((rate, q), (rate * (1 + Fraction(1, 2**40)), r))
    ]
    assert losses[0] < ball(epsilon) < losses[1]


@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_the_worst_pair_of_counts_is_at_an_end(n: int) -> None:
    for rate in (Fraction(1, 10), Fraction(1), Fraction(3)):
        laws = [
            choosing.exponential([-abs(z - f) for z in range(n + 1)], rate) for f in range(n + 1)
        ]
        losses = [choosing.loss(p, q) for p, q in itertools.pairwise(laws)]
        assert all(not loss > losses[0] for loss in losses[: (n + 1) // 2])
        assert losses[0].overlaps(losses[-1])


def test_a_count_by_its_distance_wastes_up_to_half() -> None:
    """E-41: at ε/2, as for any statistic, a count of the middle keeps ε/2 only; the geometric law
    at ε is better than both.
    """
    n, f = 100, 50
    p, q = (
        choosing.exponential([-abs(z - g) for z in range(n + 1)], Fraction(1, 2))
        for g in (f, f + 1)
    )
    assert abs(choosing.loss(p, q) - ball(Fraction(1, 2))) < 1e-9
    law = np.array(
        [c for _, _, c in mech.InverseSensitivity("count", epsilon=1).law([1] * f + [0] * (n - f))]
    )
    deviation = math.sqrt(law @ (np.arange(n + 1) - f) ** 2)
    assert 1.356962486 < deviation < 2.799177768  # of the geometric law at ε, and at ε/2


@pytest.mark.parametrize("name", ["median", "mode", "count"])
def test_draws_fit_the_law(name: str) -> None:
    """False alarms: 1e-6 each, 3 in all. The twin is the law of another dataset."""
    public, points, _, _ = CASES[name]
    m = mech.InverseSensitivity(name, epsilon=2, **public)
    x, different = {
        "median": ([1, 2, 4], [0, 0, 1]),
        "mode": (list("aabc"), list("bbbc")),
        "count": ([1, 1, 1, 1, 0], [0, 0, 0, 0, 1]),
    }[name]
    sample = [points.index(m.perturb(x)) for _ in range(4000)]
    assert choosing.fit(sample, spread(m, x, points)) > choosing.FALSE_ALARM
    assert choosing.fit(sample, spread(m, different, points)) < 1e-9


@pytest.mark.parametrize("n", [1, 2, *range(1480, 1501, 4), 10**5, 10**6])
def test_equal_values_break_nothing(n: int) -> None:
    """A6."""
    m = mech.InverseSensitivity("median", low=0, high=1, epsilon=1)
    assert 0 <= m.perturb(np.full(n, 0.5)) <= 1
    assert sum(p for _, _, p in m.law(np.full(n, 0.5))) == pytest.approx(1)
    assert 0 <= mech.InverseSensitivity("count", epsilon=1).perturb(np.ones(n)) <= n
    assert mech.InverseSensitivity("mode", epsilon=1, categories=[0, 1]).perturb(np.ones(n)) in (
        0,
        1,
    )


def test_no_records_at_all() -> None:
    assert 0 <= mech.InverseSensitivity("median", low=0, high=1, epsilon=1).perturb([]) <= 1
    assert mech.InverseSensitivity("count", epsilon=1).perturb([]) == 0
    assert mech.InverseSensitivity("mode", epsilon=1, categories="ab").perturb([]) in "ab"


def test_records_with_other_ranges_are_others() -> None:
    public = {"low": 0, "high": 1, "epsilon": 1}
    m = mech.InverseSensitivity("median", **public)
    assert m == mech.InverseSensitivity("median", **public)
    assert m != mech.InverseSensitivity("median", **(public | {"high": 2}))
    assert m != mech.InverseSensitivity("median", **(public | {"grid": 0.5}))
    assert "low=0, high=1" in repr(m)


@pytest.mark.parametrize(
    ("statistic", "arguments", "code"),
    [
        ("mean", {}, "statistic.unknown"),
        ("median", {}, "range.ends"),
        ("quantile", {"low": 0}, "range.ends"),
        ("median", {"low": 1, "high": 0}, "range.ends"),
        ("quantile", {"low": 0, "high": 1, "q": -1}, "number.not-a-probability"),
        ("mode", {}, "statistic.categories"),
        ("mode", {"categories": ["a", "a"]}, "statistic.categories"),
        ("count", {"epsilon": 0}, "number.not-positive"),
        ("median", {"low": 0, "high": 1, "grid": 0.3}, "number.not-a-power-of-two"),
    ],
    ids=str,
)
def test_records_that_are_refused(
    statistic: str, arguments: dict[str, Any], code: str, no_entropy: None
) -> None:
    refusal(lambda: mech.InverseSensitivity(statistic, **({"epsilon": 1} | arguments)), code)


def test_values_that_are_refused() -> None:
    m = mech.InverseSensitivity("median", low=0, high=1, epsilon=1)
    refused = refusal(
        lambda: m.perturb([math.nan, 98765.5], bits=Untouchable()), "value.not-finite"
    )
    assert "98765" not in str(refused)
