"""Where curves end, against exact rationals: in each direction by itself, at δ = 0, at the lost
mass, and around both.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction as F

import pytest

from sfumato.accounting.compose import loss_between
from sfumato.accounting.loss.loss_ends import CurveEnd, end_of
from sfumato.accounting.loss.loss_pairs import DominatingPair, GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import ClonePair, RoundedPair, SampledPair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.exact.balls import ball, precision

from .exact_losses import random_pair

Law = list[tuple[F, F]]


def outcomes(parts: list[tuple[FinitePair, int]], side: int) -> Law:
    """The probabilities of every sequence of outcomes by either law, written out."""
    pairs: Law = [(F(1), F(1))]
    for pair, count in parts:
        both = list(zip(*((pair.p, pair.q) if side == 0 else (pair.q, pair.p)), strict=True))
        for _ in range(count):
            joined: dict[F | None, tuple[F, F]] = {}
            for (p, q), (a, b) in itertools.product(pairs, both):
                if p * a:
                    ratio = p * a / (q * b) if q * b else None
                    before = joined.get(ratio, (F(0), F(0)))
                    joined[ratio] = before[0] + p * a, before[1] + q * b
            pairs = list(joined.values())
    return pairs


def least_growth(law: Law, delta: F) -> F | None:
    """The least t ≥ 1 with Σ(p − t·q)₊ ≤ δ, exactly; None where there is none."""
    if sum((p for p, q in law if not q), F(0)) > delta:
        return None
    if sum((max(F(0), p - q) for p, q in law), F(0)) <= delta:
        return F(1)
    law = sorted(law, key=lambda masses: -masses[0] / masses[1] if masses[1] else F(-(10**30)))
    p, q = F(0), F(0)
    for i, (a, b) in enumerate(law):
        p, q = p + a, q + b
        following = law[i + 1][0] / law[i + 1][1] if i + 1 < len(law) else F(0)
        if q and p - following * q > delta:
            return (p - delta) / q
        if q and p - following * q == delta and following >= 1:
            return following
    raise AssertionError


def holds(loss: Loss, parts: list[tuple[FinitePair, int]], delta: F) -> None:
    """The truth lies between the bounds, in exact rationals but for the last logarithm."""
    growth = [least_growth(outcomes(parts, side), delta) for side in (0, 1)]
    low, high = loss.epsilon_lower(delta), loss.epsilon(delta)
    if None in growth:
        assert low == high == math.inf
        return
    truth = max(least for least in growth if least is not None)
    with precision(256):
        exactly = ball(truth).log()
        assert not ball(F(low)) > exactly
        assert not ball(F(high)) < exactly
    assert high - low <= 1e-9 * max(high, 1e-3), "always right would be easy if bounds were wide"


def lost(parts: list[tuple[FinitePair, int]], side: int) -> F:
    return 1 - math.prod(((1 - pair.lost[side]) ** count for pair, count in parts), start=F(1))


@pytest.mark.parametrize("seed", range(120))
def test_random_pairs_that_are_not_symmetric(seed: int) -> None:
    """ε at δ = 0, at the lost mass of either direction, a little more, and in between; δ at some ε:
    both directions in exact rationals.
    """
    rng = random.Random(seed)
    parts = [(random_pair(rng), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))]
    loss = Loss(tuple(parts), relation="add-remove")
    masses = {lost(parts, side) for side in (0, 1)}
    for delta in {F(0), *masses, *(mass + F(1, 10**12) for mass in masses), F(1, 10), F(1, 2)}:
        if delta < 1:
            holds(loss, parts, delta)
    for growth in (F(1), F(5, 4), F(3), F(1000)):
        truth = max(
            sum((max(F(0), p - growth * q) for p, q in outcomes(parts, side)), F(0))
            for side in (0, 1)
        )
        with precision(256):
            epsilon = F(float(ball(growth).log().mid()))  # near enough to compare with a margin
        assert loss.delta_lower(epsilon) <= truth + F(1, 10**12)
        assert loss.delta(epsilon) >= truth - F(1, 10**12)


def test_largest_losses_of_different_directions_do_not_add_up() -> None:
    """ln 4 + ln 1.5, of which each direction has one of either; the largest of both directions
    would come to 2 · ln 4.
    """
    p, q = [F(1, 10), F(9, 10)], [F(4, 10), F(6, 10)]
    both = loss_between(p, q, relation="add-remove") + loss_between(q, p, relation="add-remove")
    truth = math.log(6)
    assert both.epsilon_lower(0) <= truth <= both.epsilon(0)
    assert both.epsilon(0) == pytest.approx(truth, rel=1e-14)
    assert both.epsilon_lower(0) == pytest.approx(truth, rel=1e-14)


def test_only_a_direction_that_loses_so_much_ends_there() -> None:
    """δ(0) is exactly 1/10, so ε is 0; in the other direction nothing is lost, and its largest loss
    has no part in it.
    """
    loss = loss_between([F(1, 10), F(1, 2), F(2, 5)], [0, F(1, 2), F(1, 2)], relation="add-remove")
    assert loss.epsilon_lower(F(1, 10)) == 0
    assert loss.epsilon(F(1, 10)) < 1e-15
    assert loss.epsilon(F(1, 10) - F(1, 10**20)) == math.inf


def test_a_negative_largest_loss_counts() -> None:
    """All losses of the one pair are infinite or ln 0.9: beside another pair it takes that much
    off.
    """
    lossy, fair = (
        FinitePair((F(1, 10), F(9, 10)), (F(0), F(1))),
        FinitePair((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))),
    )
    assert end_of(((lossy, 1), (fair, 1)), 0).largest == pytest.approx((math.log(2.7),) * 2)
    loss = Loss(((lossy, 1), (fair, 1)), relation="add-remove")
    holds(loss, [(lossy, 1), (fair, 1)], F(1, 10))


@pytest.mark.parametrize(
    ("pair", "sides"),
    [
        (LaplacePair(F(1)), (1.0, 1.0)),
        (ResponsePair(F(2), F(1, 10)), (2.0, 2.0)),
        (ClonePair(F(1), 10), (1.0, 1.0)),
        (GaussianPair(F(1)), (None, None)),
        (RoundedPair(1, F(1)), (None, None)),
        (SampledPair(GaussianPair(F(1)), F(1, 2)), (None, math.log(2))),
        (
            SampledPair(ResponsePair(F(1), F(1, 10)), F(1, 2)),
            (math.log((1 + math.e) / 2), math.log(2)),
        ),
        (
            SampledPair(LaplacePair(F(1)), F(1, 2)),
            (math.log((1 + math.e) / 2), -math.log((1 + math.exp(-1)) / 2)),
        ),
        (SampledPair(LaplacePair(F(1)), F(1, 2), "fixed"), (math.log((1 + math.e) / 2),) * 2),
    ],
    ids=str,
)
def test_the_largest_loss_of_a_pair(
    pair: DominatingPair, sides: tuple[float | None, float | None]
) -> None:
    for between, truth in zip(pair.largest, sides, strict=True):
        if truth is None:
            assert between is None
        else:
            assert between is not None
            assert between[0] <= between[1]
            assert float(between[0]) == pytest.approx(truth, rel=1e-14)
    if pair.lost[0] == pair.lost[1]:
        loss, most = (
            Loss(((pair, 1),), relation="add-remove"),
            max(math.inf if truth is None else truth for truth in sides),
        )
        assert loss.epsilon(pair.lost[0]) == pytest.approx(most, rel=1e-14)
        assert loss.epsilon_lower(pair.lost[0]) == pytest.approx(most, rel=1e-14)


def test_a_lost_mass_that_is_known_from_two_sides_decides_no_more_than_it_tells() -> None:
    end = CurveEnd((F(1, 10), F(1, 5)), (F(1), F(2)))
    assert end.epsilon(F(1, 20)) == (math.inf, math.inf)
    assert end.epsilon(F(3, 20)) == (0.0, math.inf)
    assert end.epsilon(F(1, 5)) == (0.0, 2.0)
    assert end.epsilon(F(3, 10)) is None


def test_a_pair_that_betrays_all_loses_all_however_often_it_is_used() -> None:
    betrays = FinitePair((F(1), F(0)), (F(0), F(1)))
    for count in (1, 10**6):
        parts = ((betrays, count), (ResponsePair(F(1), F(1, 7)), 10**6))
        assert end_of(parts, 0).lost == (1, 1)
        assert Loss(parts).delta(5) == 1
