"""What taking part can do to the chance of an outcome, against the exact chance."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.exact.balls import ball, evaluate, normal_cdf
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.meaning.outcomes import least_chance, outcome_bounds

CHANNEL = Channel([["0.5", "0.2", "0.2", "0.1"], ["0.3", "0.3", "0.25", "0.15"]])
EVENTS = list(chain.from_iterable(combinations(range(4), size) for size in range(5)))


def above(threshold: int, mean: int) -> float:
    return evaluate(lambda: normal_cdf(ball(Fraction(mean - threshold))))


@pytest.mark.parametrize(
    "guarantee",
    [
        sf.Pure(Fraction(CHANNEL.epsilon())),
        sf.Approx("0.3", Fraction(CHANNEL.delta("0.3"))),
        sf.Renyi({a: Fraction(CHANNEL.renyi(a)) for a in (Fraction("1.1"), 2, 5, 40)}),
        sf.ZCDP(Fraction(max(CHANNEL.renyi(a) / a for a in (1, 2, 3, 5, 8, 20)) + 0.001)),
    ],
    ids=lambda g: type(g).__name__,
)
def test_every_event_of_a_channel(guarantee: sf.Guarantee) -> None:
    for x, neighbour in ((0, 1), (1, 0)):
        for event in EVENTS:
            baseline, chance = (
                sum((CHANNEL.row(i)[y] for y in event), Fraction(0)) for i in (x, neighbour)
            )
            assert chance in outcome_bounds(guarantee, baseline)


def test_a_bad_outcome_in_closed_form() -> None:
    """Under a pure ε: times e^ε, and the chance of its not happening divided by e^ε; under μ-GDP by
    the trade-off curve.
    """
    pure = outcome_bounds(sf.Pure(1), "0.01")
    assert pure == pytest.approx((0.01 / math.e, 0.01 * math.e))
    assert outcome_bounds(sf.Pure(1), "0.9").high == pytest.approx(1 - 0.1 / math.e)
    normal = outcome_bounds(sf.GDP(1), Fraction(above(4, 0)))
    assert normal.high == pytest.approx(above(4, 1))


def test_E_07_the_left_side_needs_its_exponent() -> None:
    """σ = 1, α = 2, ε = 1: S = {z > 4} has 1.35e-3 under N(1, 1) and 3.17e-5 under N(0, 1); printed
    lower bound 4.97e-4, correct 6.70e-7.
    """
    p, q = above(4, 1), above(4, 0)
    assert q < p / math.e, "the printed bound is false"
    assert least_chance(2, 1, Fraction(p)) == pytest.approx(6.703590027792743e-07)
    assert least_chance(2, 1, Fraction(p)) < q
    assert Fraction(q) in outcome_bounds(sf.Renyi({2: 1}), Fraction(p))
    assert Fraction(p) in outcome_bounds(sf.Renyi({2: 1}), Fraction(q))


def test_the_renyi_bound_is_used_where_it_is_better() -> None:
    """At one order α = 2 the direct bound (e^r·q)^½ beats what the curve δ(ε) gives."""
    guarantee = sf.Renyi({2: "0.1"})
    direct = math.sqrt(math.exp(0.1) * 1e-6)
    assert outcome_bounds(guarantee, "1e-6").high <= direct * (1 + 1e-12)
    assert 1 - guarantee.tradeoff("1e-6") > direct


def test_ends() -> None:
    assert outcome_bounds(sf.Pure(1), 0) == (0, 0)
    assert outcome_bounds(sf.Pure(1), 1) == (1, 1)
    assert outcome_bounds(sf.Approx(1, "0.1"), 0) == (0, pytest.approx(0.1))
    assert outcome_bounds(sf.ZCDP(1), Fraction(1, 10**400)).high < 1e-100
    assert least_chance(2, 1, 0) == 0
    with pytest.raises(Refused) as caught:
        least_chance(1, 1, "0.1")
    assert caught.value.code == "divergence.order"
