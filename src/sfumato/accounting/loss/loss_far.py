"""Bounds on compositions in which some losses are so large that their exponentials overflow a
double. The large losses are bounded without a lattice, the rest with one.

*Above*     Where the far releases lose m at most, or infinitely much with probability l, all
            together have δ(ε) ≤ l + (1 − l)·δ'(ε − m), δ' being that of the others: a loss is
            replaced by one that is not smaller. For x < 0, δ'(x) = 1 − e^x·(1 − δ''(−x)), δ'' being
            that of the other direction.
*Below*     An event of probability c whose loss is at least m, counted as one outcome (joining is
            processing), gives δ(ε) ≥ l + c·δ'(ε − m), where δ'(x) ≥ 1 − e^x. Three events are
            tried: the largest losses of all uses, and smaller ones that are likely, or nearly
            certain, in all uses.
*Nearer*    Also below are the same releases with smaller losses, which are processed versions of
            them.
*Wide*      Normal noise of a large μ has no largest loss. All such noise, rounded or behind
            sampling (both are processing), is dominated by normal noise of the sum of the μ², which
            has a closed form; beside the others it is counted by basic composition: ε₁(δ₁) +
            ε₂(δ₂), δ₁ + δ₂ = δ.
*Width*     As the losses are large, a factor c in δ is little beside ε.
*Proof*     docs/proofs/certified-composition.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ...exact.balls import ball, down, evaluate, up
from ...exact.numbers import SMALLEST
from ...guarantees import GDP
from .loss_ends import CurveEnd, end_of
from .loss_pairs import DominatingPair, GaussianPair
from .pair_of_mechanism import Parts
from .pairs_sampled import RoundedPair

NEAREST = 300
"""Losses above this are far: e^600 is a double, and sums and differences of two losses must stay
below it.
"""
_WIDEST = 2**32
"""The curve of a larger μ² is too extreme to be computed: the lattice then takes all data as
revealed.
"""
Bounds = tuple[float, float]
CurveBounds = Callable[[Parts, Fraction, tuple[int, ...]], Bounds]


@dataclass(frozen=True, slots=True)
class Split:
    """A composition, split into far releases, normal noise that dominates the wide ones, and the
    near rest. `normal` and `nearer` are compositions that the whole dominates: the normal noise in
    it, and the same releases with smaller losses or left out.
    """

    far: Parts
    wide: Parts
    near: Parts
    normal: Parts
    nearer: Parts
    tops: Parts
    """The releases with known events of large loss: the far ones, and rounded noise."""


def is_far(pair: DominatingPair) -> bool:
    """Whether a pair, or the pair that it samples, has a bounded loss too large for the lattice."""
    both = (*pair.largest, *(getattr(pair, "base", pair)).largest)
    return not is_wide(pair) and any(most is not None and most[1] > NEAREST for most in both)


def is_wide(pair: DominatingPair) -> bool:
    """Whether a pair is normal noise with large losses, plain, rounded or behind sampling. Rounding
    to a coarse grid makes losses smaller.
    """
    base = getattr(pair, "base", pair)
    square = (
        (base.steps - Fraction(1, 2)) ** 2 / base.sigma**2
        if isinstance(base, RoundedPair)
        else getattr(base, "mu_squared", 0)
    )
    return bool(2 * NEAREST < square <= _WIDEST)


@lru_cache(maxsize=256)
def split(parts: Parts) -> Split | None:
    """Split a composition if some of it is far or wide; else return None."""
    far, wide = (tuple(part for part in parts if applies(part[0])) for applies in (is_far, is_wide))
    if not far and not wide:
        return None
    near = tuple(part for part in parts if part not in far and part not in wide)
    promises = [(getattr(pair, "base", pair).guarantee, count) for pair, count in wide]
    square = sum(
        (count * promise.mu_squared for promise, count in promises if isinstance(promise, GDP)),
        Fraction(0),
    )
    smaller = [(pair.nearer(NEAREST // 2), count) for pair, count in (*far, *wide)]
    nearer = (*((pair, count) for pair, count in smaller if pair is not None), *near)
    normal = tuple(part for part in wide if isinstance(part[0], GaussianPair))
    tops = (*far, *(part for part in wide if isinstance(part[0], RoundedPair)))
    return Split(far, ((GaussianPair(square), 1),) if wide else (), near, normal, nearer, tops)


def epsilon_bounds(parts: Split, side: int, delta: Fraction, epsilons: CurveBounds) -> Bounds:
    """Bound ε in one direction, at a δ above the chance of an infinite loss."""
    end = end_of(parts.far, side)
    lows = [epsilons(some, delta, (side,))[0] for some in (parts.nearer, parts.normal)]
    for loss, chance in _events(parts.tops, side):
        if chance and (left := (delta - end.lost[0]) / chance) < 1:
            rest = epsilons(parts.near, max(left, SMALLEST), (side,))[0]
            # zero says only that the others keep (0, δ), not where their curve passes δ
            if rest > 0:
                lows.append(math.inf if math.isinf(rest) else down(loss + Fraction(rest)))
            lows.append(_event_epsilon(loss, left))
    left = (delta - end.lost[1]) / (1 - end.lost[1]) if delta > end.lost[1] else Fraction(0)
    shares = [(left / 2, left / 2), (left, Fraction(0))] if parts.wide else [(Fraction(0), left)]
    rests = [
        (
            epsilons(parts.wide, _representable(wide), (side,))[1],
            epsilons(parts.near, _representable(near), (side,))[1],
        )
        for wide, near in shares
    ]
    sums = [Fraction(wide) + Fraction(near) for wide, near in rests if math.isfinite(wide + near)]
    return max(lows), up(_largest(end) + min(sums)) if sums else math.inf


def delta_bounds(parts: Split, side: int, epsilon: Fraction, deltas: CurveBounds) -> Bounds:
    """Bound δ at ε in one direction."""
    end = end_of(parts.far, side)
    lows = [deltas(some, epsilon, (side,))[0] for some in (parts.nearer, parts.normal)]
    for loss, chance in _events(parts.tops, side):
        at = epsilon - loss
        rest = Fraction(deltas(parts.near, at, (side,))[0] if at >= 0 else _event_delta(at))
        lows.append(down(end.lost[0] + chance * rest))
    at = epsilon - _largest(end)
    if parts.wide:
        hidden = 1 - _delta_of_wide_and_near(parts, side, at, deltas)
    else:
        rest = Fraction(deltas(parts.near, abs(at), (side if at >= 0 else 1 - side,))[1])
        hidden = (1 - rest) * (1 if at >= 0 else Fraction(evaluate(lambda: ball(at).exp(), "down")))
    return max(lows), min(1.0, up(1 - (1 - end.lost[1]) * hidden))


def _delta_of_wide_and_near(
    parts: Split, side: int, epsilon: Fraction, deltas: CurveBounds
) -> Fraction:
    """Bound δ of the wide and near releases from above. Each gets half of ε, or the near ones get
    the largest loss that they can have.
    """
    most = end_of(parts.near, side).largest
    shares = [
        share for share in (epsilon / 2, *(most[1:] if most else ())) if 0 <= share <= epsilon
    ]
    sums = (
        Fraction(deltas(parts.near, share, (side,))[1])
        + Fraction(deltas(parts.wide, epsilon - share, (side,))[1])
        for share in shares
    )
    return min((Fraction(1), *sums))


def _representable(delta: Fraction) -> Fraction:
    """Round a δ below the smallest normal double down to zero."""
    return delta if delta >= SMALLEST else Fraction(0)


def _event_epsilon(loss: Fraction, delta: Fraction) -> float:
    """Return loss + ln(1 − δ), rounded down: the ε at which 1 − e^(ε − loss) is δ."""
    return evaluate(lambda: ball(loss) + ball(1 - delta).log(), "down")


def _event_delta(epsilon: Fraction) -> float:
    """Return 1 − e^ε for ε < 0, rounded down."""
    return evaluate(lambda: -ball(epsilon).expm1(), "down")


def _largest(end: CurveEnd) -> Fraction:
    """Return the upper bound on the loss of far releases, whose losses have a bound."""
    assert end.largest is not None
    return end.largest[1]


def _events(parts: Parts, side: int) -> list[tuple[Fraction, Fraction]]:
    """List events of all these releases together: a loss and its probability, both lower bounds."""
    joint = []
    for much in (0, 1, 2**20):
        events = [
            (event, count)
            for pair, count in parts
            if (event := pair.likely(side, much * count) if much else pair.top(side)) is not None
        ]
        if len(events) < len(parts):
            return []
        loss = sum((count * each for (each, _), count in events), Fraction(0))
        joint.append((loss, Fraction(max(0.0, _joint_chance(events)))))
    return joint


def _joint_chance(events: list[tuple[tuple[Fraction, Fraction], int]]) -> float:
    """Multiply the probabilities of independent events, each so many times, rounded down."""
    return evaluate(
        lambda: sum((count * ball(chance).log() for (_, chance), count in events), arb(0)).exp(),
        "down",
    )
