"""What the mechanisms that choose have in common: scores that come in exactly, the sensitivity of
scores, refusals, the regret.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, RELATIONS, REPLACE

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

CHOOSERS: dict[str, Any] = {
    "exponential": mech.Exponential,
    "permute and flip": mech.PermuteAndFlip,
    "noisy max": mech.NoisyMax,
}
LAWS: dict[str, Any] = {
    "exponential": choosing.exponential,
    "permute and flip": choosing.permute_and_flip,
    "noisy max": choosing.noisy_max,
}
each = pytest.mark.parametrize("name", CHOOSERS)


pytestmark = pytest.mark.usefixtures("precise")


# Promises.


@each
@pytest.mark.parametrize("epsilon", ["1/3", "1", "4"])
@pytest.mark.parametrize("monotone", [False, True])
def test_no_neighbour_exceeds_epsilon(name: str, epsilon: str, monotone: bool) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=epsilon, monotone=monotone)
    moves = choosing.ONE_WAY if monotone else choosing.ANY_WAY
    assert choosing.violations(LAWS[name], m.rate, m.epsilon, moves) == []
    assert m.promise == sf.Pure(epsilon)


@each
def test_half_the_noise_is_for_monotone_scores_alone(name: str) -> None:
    """The twin: scores that move both ways under a rate for those that move one way, and a rate 5 %
    above that.
    """
    m = CHOOSERS[name](sensitivity=1, epsilon=4, monotone=True)
    assert choosing.violations(LAWS[name], m.rate, m.epsilon, choosing.ANY_WAY) != []
    assert (
        choosing.violations(LAWS[name], m.rate * Fraction(21, 20), m.epsilon, choosing.ONE_WAY)
        != []
    )


CATEGORIES = ("a", "b", "c")


def counts(x: tuple[str, ...]) -> list[int]:
    frequencies = Counter(x)
    return [frequencies[c] for c in CATEGORIES]


@each
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_of_small_datasets(name: str, relation: str) -> None:
    """The most frequent of three categories, every neighbouring pair of datasets of three or four
    people: counts move one way only under add-remove.
    """
    m = CHOOSERS[name](
        sensitivity=1, epsilon=1, monotone=relation == "add-remove", relation=relation
    )
    exact_laws = {}
    for x, y in RELATIONS[relation].pairs(CATEGORIES, 4 if relation == "add-remove" else 3):
        laws = []
        for scores in (tuple(counts(x)), tuple(counts(y))):
            if scores not in exact_laws:
                exact_laws[scores] = LAWS[name](scores, m.rate)
                assert choosing.agree(m.probabilities(scores), exact_laws[scores])
            laws.append(exact_laws[scores])
        assert not choosing.loss(*laws) > ball(m.epsilon)


@each
@pytest.mark.parametrize(
    "scores",
    [(3, 1, 0), (0, 0, 0), (7,), (5, 5), (0, 10, -3, 2), (10**18, 10**18 - 2), (0, 10**6)],
    ids=str,
)
def test_probabilities_are_the_law(name: str, scores: tuple[int, ...]) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon="1/2")
    small = [s - min(scores) for s in scores] if max(scores) - min(scores) < 1000 else [0, 10**6]
    law = (
        LAWS[name](small, m.rate) if name != "noisy max" or max(small) < 1000 else [arb(0), arb(1)]
    )
    probabilities = m.probabilities(scores)
    assert choosing.agree(probabilities, law, 2.0**-51)
    assert probabilities.sum() == pytest.approx(1, abs=1e-15)


@each
def test_larger_scores_are_likelier(name: str) -> None:
    """E-18: printed with a minus before the score, the worst candidate would win."""
    law = CHOOSERS[name](sensitivity=1, epsilon=1).probabilities([10, 8, 5, 0])
    assert list(law) == sorted(law, reverse=True)
    wrong = choosing.exponential([-10, -8, -5, 0], Fraction(1, 2))
    assert wrong[0] < wrong[-1]


@each
def test_the_law_depends_on_epsilon_and_is_never_zero(name: str) -> None:
    """E-20: without the exponential ε cancels, a score of 0 is never chosen, and (1, 0) beside (0,
    1) gives δ = 1.
    """
    few, much = (CHOOSERS[name](sensitivity=1, epsilon=e).probabilities([1, 0]) for e in (1, 4))
    assert few[0] < much[0] < 1
    without_exp = [[Fraction(s, 1) for s in scores] for scores in ((1, 0), (0, 1))]
    assert sum(max(p - q, Fraction(0)) for p, q in zip(*without_exp, strict=True)) == 1
    p, q = (CHOOSERS[name](sensitivity=1, epsilon=1).probabilities(s) for s in ([1, 0], [0, 1]))
    assert np.maximum(p - math.e * q, 0).sum() == 0


# Scores come in exactly.


@each
@pytest.mark.parametrize(
    "scores",
    [
        [3, 1, 0],
        (3, 1, 0),
        np.array([3, 1, 0]),
        np.array([3, 1, 0], dtype=np.uint8),
        np.array([3, 1, 0], dtype=np.int32),
        [Fraction(3), Decimal(1), 0],
        [3 + 10**30, 1 + 10**30, 10**30],
        [3 - 2**63, 1 - 2**63, -(2**63)],
        [3 + 10**400, 1 + 10**400, 10**400],
        np.array([2**63 + 3, 2**63 + 1, 2**63], dtype=np.uint64),
    ],
    ids=lambda s: type(s).__name__,
)
def test_equal_scores_give_equal_laws(name: str, scores: Any) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=1)
    np.testing.assert_array_equal(m.probabilities(scores), m.probabilities([3, 1, 0]))
    assert m.choose(scores) in (0, 1, 2)


@each
@pytest.mark.parametrize(
    "scores",
    [
        [2**63, -1],
        [2**62, -(2**62)],
        np.array([2**63 - 1, -(2**63)]),
        [10**25, -1],
        [2**63 - 1, -(2**63)],
    ],
    ids=str,
)
def test_scores_that_overflow_when_subtracted(name: str, scores: Any) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=1)
    assert m.choose(scores) == 0  # the other has probability e^(−10^18)
    assert m.probabilities(scores)[0] == 1


@each
def test_floats_live_on_a_grid(name: str) -> None:
    m = CHOOSERS[name](sensitivity=0.1, epsilon=1, grid=2**-4)
    assert m.rate == Fraction(1, 4)  # ⌈0.1 · 16⌉ = 2 steps, and the factor 2
    floats, steps = [0.26, 0.03, 0.5], [4, 0, 8]
    integer_chooser = CHOOSERS[name](sensitivity=2, epsilon=1)
    np.testing.assert_array_equal(m.probabilities(floats), integer_chooser.probabilities(steps))
    np.testing.assert_array_equal(
        m.probabilities(np.array(floats, dtype=np.float32)), integer_chooser.probabilities(steps)
    )
    np.testing.assert_array_equal(
        m.probabilities([Fraction(26, 100), Decimal("0.03"), Fraction(1, 2)]),
        integer_chooser.probabilities(steps),
    )
    np.testing.assert_array_equal(m.probabilities([1, 2]), integer_chooser.probabilities([16, 32]))
    assert m.choose([1e300, -1e300, 0.0]) == 0


@given(
    values=st.lists(st.floats(-100, 100), min_size=1, max_size=6),
    moves=st.lists(st.floats(-0.5, 0.5), min_size=6, max_size=6),
)
def test_rounding_to_the_grid_moves_no_score_further(
    values: list[float], moves: list[float]
) -> None:
    m = mech.Exponential(sensitivity=0.5, epsilon=1, grid="1/8")
    moved = [Fraction(v) + Fraction(d) for v, d in zip(values, moves, strict=False)]
    a, b = m._exact(values), m._exact(moved)
    assert max(abs(int(p) - int(q)) for p, q in zip(a, b, strict=True)) <= 4


# The sensitivity of a score.


def test_score_sensitivity_is_the_maximum_over_candidates_too() -> None:
    """E-19: the score of one candidate may not move at all; the second moves by 5, and with Δ = 1
    in its place ε = 1 is 1.886 in truth.
    """
    scores = {0: (0, 0), 1: (0, 5)}
    sensitivity = mech.score_sensitivity(
        lambda x, h: scores[x][h], [0, 1], [0, 1], lambda a, b: True
    )
    assert sensitivity == 5
    assert mech.score_sensitivity(lambda x, h: scores[x][h], [0, 1], [0], lambda a, b: True) == 0
    wrong, right = (
        choosing.loss(*(choosing.exponential(s, Fraction(1, 2 * d)) for s in scores.values()))
        for d in (1, 5)
    )
    assert float(wrong.mid()) == pytest.approx(1.8857425537326042, abs=1e-12)
    assert not right > 1


PRICES = (Fraction(1), Fraction(101, 100), Fraction(301, 100), Fraction(302, 100))


def revenue(bids: Any, price: Fraction) -> Fraction:
    return price * sum(bid >= price for bid in bids)


@pytest.mark.parametrize(("relation", "size"), [(ADD_REMOVE, 3), (REPLACE, 3)])
def test_score_sensitivity_by_brute_force(relation: Any, size: int) -> None:
    """The auction: one bidder moves the revenue at a price by at most that price, so by 3.02 over
    all prices.
    """
    bids = (Fraction(0), *PRICES)
    world = sorted({x for pair in relation.pairs(bids, size) for x in pair})
    assert mech.score_sensitivity(revenue, world, PRICES, relation.are_neighbours) == Fraction(
        302, 100
    )
    assert (
        mech.score_sensitivity(lambda x, c: x.count(c), world, bids, relation.are_neighbours) == 1
    )
    assert (
        mech.score_sensitivity(lambda x, c: x.count(c) ** 2, world, bids, relation.are_neighbours)
        == 5
    )


def test_a_world_without_neighbours_has_no_sensitivity() -> None:
    refusal(
        lambda: mech.score_sensitivity(
            lambda x, c: 0, [(0,), (1,)], [0], ADD_REMOVE.are_neighbours
        ),
        "selection.world",
    )
    refusal(
        lambda: mech.score_sensitivity(lambda x, c: 0, [[0]], [0], ADD_REMOVE.are_neighbours),
        "selection.world",
    )


def test_lists_may_be_datasets() -> None:
    assert (
        mech.score_sensitivity(lambda x, c: sum(x), [[0, 0], [0, 1]], [0], REPLACE.are_neighbours)
        == 1
    )


# The regret.


@each
@pytest.mark.parametrize("epsilon", ["1/4", "1", "5"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, "0.9999"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_regret_holds(name: str, epsilon: str, confidence: Any, count: int) -> None:
    """The worst case of each bound: one best candidate, all others just beyond the regret that is
    named.
    """
    m = CHOOSERS[name](sensitivity=1, epsilon=epsilon)
    bound = m.regret(confidence, count=count)
    beyond = [0] + [-math.floor(bound) - 1] * (count - 1)
    assert m.probabilities(beyond)[1:].sum() <= 1 - Fraction(str(confidence)) + Fraction(1, 10**12)


def test_the_regret_of_noisy_max_is_not_that_of_the_exponential_mechanism() -> None:
    """Far out, a candidate wins by noise more often than e^(−rate·regret)."""
    m = mech.NoisyMax(sensitivity=1, epsilon="1/5")
    bound = mech.Exponential(sensitivity=1, epsilon="1/5").regret(1 - Fraction(1, 10**6), count=2)
    assert m.probabilities([0, -math.ceil(bound)])[1] > 1e-6
    assert m.regret(1 - Fraction(1, 10**6), count=2) > bound


def test_the_regret_with_a_prior() -> None:
    """ln(Σπ/(min π·β))/rate: a likely bad candidate beside an unlikely good one."""
    m = mech.Exponential(sensitivity=1, epsilon=2, prior=[1, 99])
    assert m.regret(0.95) == pytest.approx(math.log(100 / 0.05))
    bound = math.ceil(m.regret(0.95))
    assert (
        m.probabilities([bound, 0])[1]
        <= 0.05
        < m.probabilities([math.ceil(math.log(2 / 0.05)), 0])[1]
    )
    assert mech.Exponential(
        sensitivity=1, epsilon=1, candidates="abcd"
    ).regret() == mech.Exponential(sensitivity=1, epsilon=1).regret(count=4)


@each
def test_the_regret_counts_the_rounding(name: str) -> None:
    plain = CHOOSERS[name](sensitivity=8, epsilon=1)
    gridded = CHOOSERS[name](sensitivity=1, epsilon=1, grid="1/8")
    assert gridded.regret(0.95, count=3) == pytest.approx((plain.regret(0.95, count=3) + 1) / 8)


# Refusals.


@each
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"sensitivity": 0}, "number.not-positive"),
        ({"sensitivity": -1}, "number.not-positive"),
        ({"sensitivity": math.nan}, "number.not-finite"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"epsilon": math.inf}, "number.not-finite"),
        ({"epsilon": 1e-320}, "number.subnormal"),
        ({"epsilon": "much"}, "number.text"),
        ({"grid": 0.3}, "number.not-a-power-of-two"),
        ({"candidates": []}, "selection.candidates"),
        ({"candidates": ["a", "b", "a"]}, "selection.candidates"),
        ({"relation": "swap"}, "guarantee.relation"),
        ({"unit": ""}, "guarantee.unit"),
    ],
    ids=str,
)
def test_records_that_are_refused(
    name: str, arguments: dict[str, Any], code: str, no_entropy: None
) -> None:
    refusal(lambda: CHOOSERS[name](**({"sensitivity": 1, "epsilon": 1} | arguments)), code)


SECRET = 987654321


@each
@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ([], "selection.scores"),
        (SECRET, "selection.scores"),
        (None, "selection.scores"),
        pytest.param(object(), "selection.scores", id="object-selection.scores"),
        ({SECRET: 1, 2: 3}, "selection.scores"),  # its keys are no scores
        ({SECRET, 1}, "selection.scores"),  # a set has no order
        ([[SECRET, 1]], "selection.scores"),
        (np.array([[SECRET, 1]]), "selection.scores"),
        (np.array(SECRET), "selection.scores"),
        ([SECRET, [1, 2]], "selection.scores"),
        ([SECRET, "a"], "selection.scores"),
        ([SECRET, None], "selection.scores"),
        ([True, False], "selection.scores"),
        ([Decimal("NaN"), SECRET], "selection.scores"),
        ([Decimal("-Infinity"), SECRET], "selection.scores"),
        ([SECRET + 0.5, 1.0], "selection.grid"),
        ([2**60, 0.5], "selection.scores"),
        ([SECRET + 1j, 0], "selection.scores"),
    ],
    ids=str,
)
def test_scores_that_are_refused(name: str, scores: Any, code: str) -> None:
    refused = refusal(
        lambda: CHOOSERS[name](sensitivity=1, epsilon=1).choose(scores, bits=Untouchable()), code
    )
    assert str(SECRET) not in str(refused)


@each
def test_floats_without_a_place_on_the_grid(name: str) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=1, grid=1)
    for wrong in (math.nan, math.inf):
        refused = refusal(
            lambda wrong=wrong: m.choose([SECRET + 0.5, wrong], bits=Untouchable()),
            "value.not-finite",
        )
        assert str(SECRET) not in str(refused)


@each
def test_as_many_scores_as_candidates(name: str) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=1, candidates=["a", "b"])
    assert m.choose([0, 10**6]) == "b"
    refusal(lambda: m.choose([SECRET, 1, 2], bits=Untouchable()), "selection.scores")


@pytest.mark.parametrize("count", [0, -1, True, 2.5, None])
@each
def test_a_count_of_candidates(name: str, count: Any) -> None:
    refusal(lambda: CHOOSERS[name](sensitivity=1, epsilon=1).regret(count=count), "selection.count")


def test_a_record_shows_public_things_only() -> None:
    m = mech.Exponential(sensitivity=1, epsilon="1/3", candidates=["a", "b"], prior=[1, 2])
    assert repr(m) == (
        "Exponential(sensitivity=1, epsilon=1/3, prior=(Fraction(1, 1), Fraction(2, 1)), "
        "candidates=('a', 'b'))"
    )
    assert repr(m.law([SECRET, 0])) == "Choice(among 2 candidates)"
    assert m == mech.Exponential(sensitivity=1, epsilon="1/3", candidates=("a", "b"), prior=[1, 2])
    assert m != mech.Exponential(sensitivity=1, epsilon="1/3", candidates=("a", "b"))
    assert len({m, mech.Exponential(sensitivity=1, epsilon=1)}) == 2


@each
def test_relation_and_unit_are_carried(name: str) -> None:
    m = CHOOSERS[name](sensitivity=1, epsilon=1, relation="replace", unit="patient")
    assert all(p.relation == "replace" and p.unit == "patient" for p in m.promises)


def test_all_orders_are_tried_in_the_reference() -> None:
    """The reference laws are laws, and agree where they must: on two candidates permute-and-flip
    takes the worse with probability e^(−r)/2.
    """
    for law, scores in itertools.product(LAWS.values(), [(0, 0, 0), (4, 1, 0)]):
        assert sum(law(scores, Fraction(1, 2)), arb(0)).overlaps(arb(1))
    assert choosing.permute_and_flip((2, 0), Fraction(1, 2))[1].overlaps((-arb(1)).exp() / 2)
