"""Weighted quantiles: the law point by point, every way a unit can spread its weight over two
groups, and ends that bracket all quantiles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.mechanisms.shared import weighted_runs
from sfumato.testing import SeededBits

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

LOW, HIGH = 0, 4
POINTS = range(LOW, HIGH + 1)
K = 2
QS = [Fraction(0), Fraction(1, 2), Fraction(9, 10)]
Data = tuple[tuple[int, int], ...]
"""Points with their weights."""


pytestmark = pytest.mark.usefixtures("precise")


def distance(data: Data, z: int, q: Fraction, shift: int) -> Fraction:
    total, less, upto = (
        sum(w for p, w in data if test(p))
        for test in (lambda p: True, lambda p: p < z, lambda p: p <= z)
    )
    return max(
        less - q * total + shift if z > LOW else Fraction(0),
        q * total - upto - shift if z < HIGH else Fraction(0),
        Fraction(0),
    )


def law(data: Data, q: Fraction, shift: int, rate: Fraction) -> list[arb]:
    return choosing.exponential([-distance(data, z, q, shift) for z in POINTS], rate)


def quantiles(data: Data, q: Fraction) -> list[int]:
    """Points with at most q of the weight below and at most 1 − q above."""
    total = sum(w for _, w in data)
    return [
        z
        for z in POINTS
        if sum(w for p, w in data if p < z) <= q * total
        and sum(w for p, w in data if p > z) <= (1 - q) * total
    ]


def spread(m: Any, data: Data) -> list[float]:
    """The record's law, from runs to points."""
    points: list[float] = []
    for first, last, chance in m.law([p for p, _ in data], [w for _, w in data]):
        points += [chance / (last - first + 1)] * (last - first + 1)
    return points


def record(q: Any, relation: str = "add-remove", **arguments: Any) -> Any:
    return mech.WeightedQuantile(
        **(
            {"q": q, "low": LOW, "high": HIGH, "weight": K, "epsilon": 2, "relation": relation}
            | arguments
        )
    )


def shares(total: int) -> list[tuple[Data, Data]]:
    """The ways to spread at most `total` over the points of two groups, with at most two points in
    each.
    """
    cells = list(itertools.product((0, 1), (0, 1, 4)))
    placements = {
        tuple(sorted(c))
        for n in range(total + 1)
        for c in itertools.combinations_with_replacement(cells, n)
    }
    return [
        tuple(
            tuple((p, sum(1 for c in picked if c == (g, p))) for p in (0, 1, 4) if (g, p) in picked)
            for g in (0, 1)
        )
        for picked in sorted(placements)
    ]


BASES: list[tuple[Data, Data]] = [
    ((), ()),
    (((1, 2), (3, 1)), ()),
    (((0, 3), (4, 3)), ((1, 5),)),
    (((1, 4), (2, 3)), ((0, 1), (1, 1), (4, 9))),
]
SPREADS = shares(K)


class World:
    """The exact law of both groups' answers, and what neighbours lose."""

    def __init__(self, q: Fraction, shift: int, rate: Fraction) -> None:
        self.q, self.shift, self.rate = q, shift, rate
        self.known: dict[Data, list[arb]] = {}

    def of(self, data: Data) -> list[arb]:
        merged = tuple(
            sorted((p, sum(w for at, w in data if at == p)) for p in {p for p, _ in data})
        )
        if merged not in self.known:
            self.known[merged] = law(merged, self.q, self.shift, self.rate)
        return self.known[merged]

    def losses(self, x: tuple[Data, Data], y: tuple[Data, Data]) -> list[arb]:
        """ln P/Q of every pair of answers: sums of the groups' losses."""
        parts = [
            [(p / r).log() for p, r in zip(self.of(a), self.of(b), strict=True)]
            for a, b in zip(x, y, strict=True)
        ]
        return [a + b for a, b in itertools.product(*parts)]

    def chances(self, x: tuple[Data, Data]) -> list[arb]:
        return [a * b for a, b in itertools.product(self.of(x[0]), self.of(x[1]))]


def joined(base: tuple[Data, Data], unit: tuple[Data, Data]) -> tuple[Data, Data]:
    return base[0] + unit[0], base[1] + unit[1]


@pytest.mark.parametrize("shift", [0, 3, -2])
@pytest.mark.parametrize("q", QS)
def test_a_unit_joins_two_groups(q: Fraction, shift: int) -> None:
    """Pure ε and ε²/8-zCDP of both answers together, wherever a unit puts its weight; the record's
    law is this one.
    """
    m = record(q, shift=shift)
    world = World(q, shift, m.rate)
    for base, unit in itertools.product(BASES, SPREADS):
        with_unit, without_unit = joined(base, unit), base
        losses = world.losses(with_unit, without_unit)
        assert not any(abs(loss) > ball(m.epsilon) for loss in losses)
        for order in (Fraction(11, 10), Fraction(2), Fraction(16)):
            for side, sign in ((with_unit, 1), (without_unit, -1)):
                moment = sum(
                    (
                        p * (sign * loss * ball(order - 1)).exp()
                        for p, loss in zip(world.chances(side), losses, strict=True)
                    ),
                    arb(0),
                )
                assert not moment.log() / ball(order - 1) > ball(order * m.epsilon**2 / 8)
    for data, truth in world.known.items():
        assert choosing.agree(spread(m, data), truth, 2.0**-50)
    assert m.promises == (sf.Pure(2, relation="add-remove"), sf.ZCDP("1/2", relation="add-remove"))


def most(q: Fraction, rate: Fraction, pairs: Any) -> arb:
    world = World(q, 0, rate)
    return max((abs(loss) for x, y in pairs for loss in world.losses(x, y)), key=float)


def replaced(
    spreads: Sequence[tuple[Data, Data]],
) -> Iterator[tuple[tuple[Data, Data], tuple[Data, Data]]]:
    full = [s for s in spreads if sum(w for part in s for _, w in part) == K]
    return (
        (joined(base, a), joined(base, b))
        for base in BASES[1:3]
        for a, b in itertools.combinations(full, 2)
    )


@pytest.mark.parametrize("q", QS)
def test_a_unit_is_replaced(q: Fraction) -> None:
    """Grouped: weight may leave one group and come to another. In one group: K and no more."""
    one_group = [s for s in SPREADS if not s[1]]
    assert not most(q, record(q, "replace").rate, replaced(SPREADS)) > ball(Fraction(2))
    assert not most(q, record(q, "replace", groups=False).rate, replaced(one_group)) > ball(
        Fraction(2)
    )


def largest_gain(m: Any, points: list[int], before: list[int], after: list[int]) -> float:
    """The largest loss of a group, over its runs on a wide grid, when weights change."""
    return max(
        math.log(a / b)
        for (_, _, a), (_, _, b) in zip(m.law(points, after), m.law(points, before), strict=True)
    )


def test_a_sensitivity_that_is_too_small_is_caught() -> None:
    """Twins: one group's sensitivity where weight goes from one group to another, and add-remove's
    for replace.
    """
    top = 1 << 30
    for groups, most_lost in ((True, 2.0), (False, 3.6)):
        m = mech.WeightedQuantile(
            q="0.9", groups=groups, low=0, high=top, weight=2, epsilon=2, relation="replace"
        )
        comes = largest_gain(m, [0, top - 1, top], [90, 10, 0], [90, 10, 2])
        goes = largest_gain(m, [0, 1, top], [50, 40, 10], [50, 40, 8])
        assert comes + goes == pytest.approx(most_lost, abs=1e-6)  # of ε = 2
    assert most(Fraction(1, 2), record("1/2").rate, replaced(SPREADS)) > ball(Fraction(2))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, lambda q: max(q, 1 - q)),
        ({"relation": "replace"}, lambda q: 2 * max(q, 1 - q)),
        ({"relation": "replace", "groups": False}, lambda q: Fraction(1)),
    ],
    ids=["add-remove", "replace", "replace one group"],
)
@pytest.mark.parametrize("q", [*QS, Fraction(1, 3)])
def test_the_sensitivity_by_brute_force(
    arguments: dict[str, Any], expected: Any, q: Fraction
) -> None:
    """The moves of the groups' distances, each at its worst point, added up: attained, and never
    more.
    """
    m = record(q, **arguments)
    largest = Fraction(0)
    pairs: Any = ((joined(base, unit), base) for base in BASES for unit in SPREADS)
    if m.relation == "replace":
        pairs = replaced(SPREADS if m.groups else [s for s in SPREADS if not s[1]])
    for x, y in pairs:
        largest = max(
            largest,
            sum(
                (
                    max(abs(distance(a, z, q, 0) - distance(b, z, q, 0)) for z in POINTS)
                    for a, b in zip(x, y, strict=True)
                ),
                Fraction(0),
            ),
        )
    assert m.sensitivity == K * expected(q)
    assert largest == m.sensitivity


TIES: list[Data] = [
    (),
    ((2, 1),),
    ((0, 1),),
    ((4, 1),),
    ((2, 101), (3, 100)),
    ((0, 100), (4, 100)),
    ((0, 40), (4, 60)),
    ((0, 1), (1, 1), (2, 1), (3, 1), (4, 1)),
    ((0, 500),),
    ((4, 500),),
    ((1, 90), (2, 10), (3, 900)),
    ((3, 1000), (4, 1000)),
]


def misses(record_: Any, data: Data, q: Fraction, *, lower: bool) -> float:
    """The chance that an end is not beyond all quantiles, by the exact law."""
    inside = quantiles(data, q)
    wall = min(inside) if lower else max(inside)
    return math.fsum(
        p
        for z, p in zip(POINTS, spread(record_, data), strict=True)
        if (z > wall if lower else z < wall)
    )


@pytest.mark.parametrize("confidence", ["0.6", "0.95", "0.9999"])
@pytest.mark.parametrize("q", [*QS, Fraction(1)])
def test_ends_bracket_all_quantiles(q: Fraction, confidence: str) -> None:
    """By the exact law, for data with ties, none at all, and all at an end."""
    lower, upper = record(q).ends(confidence)
    assert lower.shift == -upper.shift == record(q).rank_error(confidence) > 0
    assert lower.promises == upper.promises == record(q).promises
    for data in TIES:
        assert misses(lower, data, q, lower=True) <= 1 - float(confidence)
        assert misses(upper, data, q, lower=False) <= 1 - float(confidence)


def test_half_the_shift_and_the_other_score_are_caught() -> None:
    """Twins: a shift that is too small; and −|(1 − q)·W_< − q·W_> + t|, which jumps over the point
    that holds the quantile.
    """
    q, confidence = Fraction(1, 2), "0.95"
    t = record(q).rank_error(confidence)
    assert max(misses(record(q, shift=t // 2), data, q, lower=True) for data in TIES) > 0.05
    assert max(misses(record(q, shift=-t), data, q, lower=True) for data in TIES) > 0.5
    data = ((1, 101), (3, 100))

    def signed(z: int) -> Fraction:
        return (1 - q) * sum(w for p, w in data if p < z) - q * sum(w for p, w in data if p > z)

    jumping = choosing.exponential([-abs(signed(z) + t) for z in POINTS], record(q).rate)
    assert quantiles(data, q) == [1]
    assert misses(record(q, shift=t), data, q, lower=True) < 0.05
    assert sum(jumping[2:], arb(0)) > arb("0.9")


def test_ties_do_not_push_the_answer_aside() -> None:
    """Three in five are 1: the median is 1. By |W_< − W_>| every point between 0 and 1 would be
    better.
    """
    m = mech.WeightedQuantile(low=0, high=1024, weight=1, epsilon=1, relation="add-remove")
    assert {a: p for a, _, p in m.law([0, 1024], [400, 600])}[1024] > 0.999


@pytest.mark.parametrize("confidence", [0.5, 0.95, "0.999"])
@pytest.mark.parametrize("data", TIES, ids=str)
def test_the_rank_error_holds(confidence: Any, data: Data) -> None:
    m = record("1/2")
    far = sum(
        p
        for z, p in zip(POINTS, spread(m, data), strict=True)
        if distance(data, z, m.q, 0) > m.rank_error(confidence)
    )
    assert far <= 1 - float(confidence)


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6 for each of five groups. The twin is the law at twice the rate."""
    m, groups = record("1/3", epsilon=1), [TIES[i] for i in (0, 1, 5, 7, 10)]
    rows = [(g, p, w) for g, data in enumerate(groups) for p, w in data]
    of, at, weight = (np.array(column) for column in zip(*rows, strict=True))
    copies = 4000
    every = np.concatenate([of + len(groups) * c for c in range(copies)])
    drawn = m.perturb_each(
        every, np.tile(at, copies), np.tile(weight, copies), len(groups) * copies
    ).reshape(copies, len(groups))
    for g, data in enumerate(groups):
        assert choosing.fit(drawn[:, g], spread(m, data)) > choosing.FALSE_ALARM
    assert (
        choosing.fit(drawn[:, 3], [float(p.mid()) for p in law(groups[3], m.q, 0, 4 * m.rate)])
        < 1e-9
    )
    alone = [m.perturb([p for p, _ in groups[3]], [w for _, w in groups[3]]) for _ in range(4000)]
    assert choosing.fit(alone, spread(m, groups[3])) > choosing.FALSE_ALARM


def test_rows_may_come_in_any_order() -> None:
    """The same bits give the same answers: shuffled, split into parts of weight, with points
    outside, with Python's integers, in small blocks.
    """
    generator = np.random.default_rng(4)
    m = mech.WeightedQuantile(
        q="0.3", low=-50, high=50, weight=100, epsilon=1, relation="add-remove"
    )
    of, at, weight = (
        generator.integers(0, 40, size=3000),
        generator.integers(-50, 51, size=3000),
        generator.integers(0, 100, size=3000),
    )
    answers = m.perturb_each(of, at, weight, 41, bits=SeededBits(1)).tolist()
    order = generator.permutation(3000)
    assert (
        m.perturb_each(of[order], at[order], weight[order], 41, bits=SeededBits(1)).tolist()
        == answers
    )
    twice = [np.concatenate([c, c]) for c in (of, at)]
    assert (
        m.perturb_each(
            *twice, np.concatenate([weight // 2, weight - weight // 2]), 41, bits=SeededBits(1)
        ).tolist()
        == answers
    )
    outside = np.where(at == 50, 10**9, np.where(at == -50, -(10**9), at))
    assert m.perturb_each(of, outside, weight, 41, bits=SeededBits(1)).tolist() == answers
    assert (
        m.perturb_each(
            of.tolist(), at.tolist(), weight.astype(object), 41, bits=SeededBits(1)
        ).tolist()
        == answers
    )
    more = [
        np.append(c, v)
        for c, v in zip((of, at, weight), ([-1, 41], [0, 0], [10**6, 10**6]), strict=True)
    ]
    assert m.perturb_each(*more, 41, bits=SeededBits(1)).tolist() == answers


def test_one_group_is_one_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    m = mech.WeightedQuantile(low=0, high=2**40, weight=1 << 20, epsilon=1, relation="add-remove")
    points, weights = np.array([3, 10**6, 10**9]), np.array([1 << 30, 1 << 31, 1 << 30])
    answer = m.perturb(points, weights, bits=SeededBits(2))
    assert m.perturb_each([0, 0, 0], points, weights, 1, bits=SeededBits(2)).tolist() == [answer]
    monkeypatch.setattr(weighted_runs, "_BLOCK", 1)
    assert len(m.perturb_each([0, 2, 2], points, weights, 4)) == 4


@pytest.mark.parametrize("total", [1 << 30, 1 << 61, 1 << 62, 1 << 80])
def test_any_weight_breaks_nothing(total: int) -> None:
    """All in one point, nearly all in one point, and nothing: answers in the range, and the point
    itself where there is much weight.
    """
    m = mech.WeightedQuantile(
        q="0.999", low=-(2**60), high=2**60, weight=5, epsilon=1, relation="replace"
    )
    for weights in ([total, 0, 0], [total, 1, 1], [0, 0, 0]):
        value = m.perturb([12, 13, 14], np.array(weights, dtype=object))
        assert abs(value) <= 2**60
        assert weights == [0, 0, 0] or value == 12
    lower, upper = m.ends(1 - Fraction(1, 10**9))
    assert lower.perturb([], []) <= upper.perturb(
        [], []
    )  # else with probability below 2e-9, as for the next two
    assert (
        lower.perturb([12], np.array([total], dtype=object))
        <= 12
        <= upper.perturb([12], np.array([total], dtype=object))
    )


def test_a_fine_grid_counts_in_steps() -> None:
    m = mech.WeightedQuantile(
        low=0, high=1, grid="1/4", weight=1, epsilon=50, relation="add-remove"
    )
    assert m.perturb([0, 2, 4], [10, 100, 10]) == 2
    assert isinstance(m.perturb([], []), int)
    assert m.law([], []) == [(0, 0, 0.2), (1, 3, pytest.approx(0.6)), (4, 4, 0.2)]


def test_the_record() -> None:
    m = record("1/2", shift=3, unit="patient")
    assert repr(m) == (
        "WeightedQuantile(q=0.5, low=0, high=4, grid=1, weight=2, epsilon=2, shift=3, "
        "groups=True, relation='add-remove', unit='patient')"
    )
    assert m == record("0.5", shift=3, unit="patient")
    assert record("1/2", groups=False).perturb_each([0], [1], [1], 1).shape == (1,)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"relation": None}, "quantile.relation"),
        ({"relation": "swap"}, "guarantee.relation"),
        ({"q": 2}, "number.not-a-probability"),
        ({"q": "1/1234567890"}, "quantile.q"),
        ({"low": 9}, "range.ends"),
        ({"grid": 3}, "number.not-a-power-of-two"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"weight": 0}, "quantile.weight"),
        ({"weight": 2.0}, "quantile.weight"),
        ({"weight": 1 << 62}, "quantile.weight"),
        ({"shift": True}, "quantile.weight"),
        ({"shift": -(1 << 62)}, "quantile.weight"),
    ],
    ids=str,
)
def test_records_that_are_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(lambda: record(**({"q": "1/2"} | arguments)), code)


def test_calls_that_are_refused() -> None:
    m = record("1/2")
    assert "98765" not in str(
        refusal(lambda: m.perturb([98765.5], [1], bits=Untouchable()), "value.type")
    )
    refusal(lambda: m.perturb([1], [1, 2], bits=Untouchable()), "value.type")
    for count in (0, -1, 2.0, True):
        refusal(
            lambda count=count: m.perturb_each([0], [1], [1], count, bits=Untouchable()),
            "quantile.groups",
        )
    refusal(
        lambda: record("1/2", groups=False).perturb_each([0], [1], [1], 2, bits=Untouchable()),
        "quantile.groups",
    )
    refusal(
        lambda: mech.WeightedQuantile(
            low=0, high=1, weight=1 << 61, epsilon="1e-9", relation="replace"
        ).ends(),
        "quantile.weight",
    )
