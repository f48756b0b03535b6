"""The (ε, δ) curve of composed dominating pairs, from below and above: by a closed form if one
exists, else by the certificate.

*Gaussian*   Pairs of normal laws compose to one: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with the μ² added
             up (Balle & Wang 2018).
*Sampled*    One use of such noise behind Poisson sampling: q times that curve at the threshold that
             sampling moves it to; adding a unit has a like form.
*Response*   Randomized responses are counted (`optimal_composition`), while they are few and on a
             common grid.
*Few*        Where finitely many outcomes come out in few different ways, these are counted too
             (`finite_sums`).
*Ends*       At a δ that is exactly the chance of an infinite loss, 0 among them, ε is the sum of
             the largest finite losses: in each direction by itself (`loss_ends`). No ε above it is
             needed.
*Far*        Losses whose exponentials leave the doubles are taken out of the sum (`loss_far`).
*Rounded*    Upper bounds are rounded up; lower ones are moved down until ball arithmetic proves
             them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ...exact.balls import ball, below_crossing, chance, down, evaluate, least, normal_cdf, up
from ...exact.numbers import Number, double_below
from ...guarantees import GDP, Approx
from ...guarantees.gdp import normal_curve
from ...guarantees.guarantee import check_delta, check_epsilon
from ..optimal_composition import Composition, optimal_curve
from . import finite_sums, loss_far
from .certificate import delta_bounds, epsilon_bounds
from .loss_ends import CurveEnd, end_of
from .loss_laws import BOTH
from .loss_pairs import Between, GaussianPair, laws_of
from .loss_sweep import Sweep, sweep
from .pair_of_mechanism import Parts
from .pairs_finite import ResponsePair
from .pairs_sampled import SampledPair

_FEW = 2000  # steps of randomized response that are composed in closed form
_NOTHING = 10**5  # a larger ε gives no privacy


@dataclass(frozen=True, slots=True)
class SampledNormal:
    """Normal noise behind Poisson sampling, once: removal, ((1 − q)Q + qP − tQ)₊ = q·(P − sQ)₊, and
    addition, (Q − t((1 − q)Q + qP))₊ = a·(Q − sP)₊.
    """

    mu_squared: Fraction
    rate: Fraction

    def curve(self, epsilon: Fraction) -> arb:
        mu, q, t = ball(self.mu_squared).sqrt(), ball(self.rate), ball(epsilon).exp()
        left = 1 - t * (1 - q)
        removed = q * _normal(mu, (t - 1) / q + 1)
        return removed.max(left * _normal(mu, t * q / left)) if left > 0 else removed

    def delta(self, epsilon: Fraction) -> float:
        return min(1.0, evaluate(lambda: self.curve(epsilon), "up"))

    def epsilon(self, delta: Fraction) -> float:
        return (
            0.0
            if self.delta(Fraction(0)) <= delta
            else float(least(lambda e: self.delta(e) <= delta))
        )


def _normal(mu: arb, growth: arb) -> arb:
    """Return ∫(φ(x − μ) − growth·φ(x))₊."""
    at = growth.log() / mu
    return normal_cdf(mu / 2 - at) - growth * normal_cdf(-mu / 2 - at)


def _closed(parts: Parts) -> GDP | SampledNormal | Composition | None:
    """Return the closed form of the curve, or None."""
    if (
        len(parts) == 1
        and parts[0][1] == 1
        and isinstance(pair := parts[0][0], SampledPair)
        and pair.how == "poisson"
        and isinstance(pair.base, GaussianPair)
    ):
        return SampledNormal(pair.base.mu_squared, pair.rate)
    if len(parts) == 1 and isinstance(parts[0][0], GaussianPair):
        return GDP.from_square(parts[0][0].mu_squared)
    if (
        all(isinstance(pair, ResponsePair) and pair.categories == 2 for pair, _ in parts)
        and sum(count for _, count in parts) <= _FEW
    ):
        composition = optimal_curve(
            [
                (Approx(pair.epsilon, pair.delta), count)
                for pair, count in parts
                if isinstance(pair, ResponsePair)
            ]
        )
        return composition if composition.exact else None
    return None


def _curve(closed: GDP | SampledNormal | Composition, epsilon: Fraction) -> arb:
    """Return δ at ε by the closed form, as a ball."""
    return (
        normal_curve(closed.mu_squared, epsilon)
        if isinstance(closed, GDP)
        else closed.curve(epsilon)
    )


@lru_cache(maxsize=1024)
def deltas(parts: Parts, epsilon: Fraction, sides: tuple[int, ...] = BOTH) -> tuple[float, float]:
    """Bound δ at ε in the worse of these directions, from below and above."""
    if not parts:
        return 0.0, 0.0
    ends = {side: end_of(parts, side) for side in sides}
    left = tuple(
        side for side, end in ends.items() if end.largest is None or end.largest[1] > epsilon
    )
    lost = max(end.lost[0] for end in ends.values()), max(end.lost[1] for end in ends.values())
    bounds = (
        (0.0, 0.0) if not left else _deltas(parts, epsilon, left, lost, _closed_in(parts, sides))
    )
    return max(bounds[0], down(lost[0])), min(1.0, max(bounds[1], up(lost[1])))


def _deltas(
    parts: Parts,
    epsilon: Fraction,
    sides: tuple[int, ...],
    lost: Between,
    closed: GDP | SampledNormal | Composition | None,
) -> tuple[float, float]:
    """Bound δ at an ε that is below some finite loss."""
    if closed is not None:
        return chance(lambda: _curve(closed, epsilon), "down"), closed.delta(epsilon)
    if finite_sums.few(parts):
        return _outward(finite_sums.delta_bounds(parts, epsilon, sides))
    if beyond := loss_far.split(parts):
        per_side = [loss_far.delta_bounds(beyond, side, epsilon, deltas) for side in sides]
        return _outward((max(low for low, _ in per_side), max(high for _, high in per_side)))
    if epsilon > _NOTHING:
        return down(lost[0]), 1.0
    return _outward(_certified(delta_bounds, parts, epsilon, sides))


@lru_cache(maxsize=1024)
def epsilons(parts: Parts, delta: Fraction, sides: tuple[int, ...] = BOTH) -> tuple[float, float]:
    """Bound ε at δ in the worse of these directions, from below and above."""
    if not parts:
        return 0.0, 0.0
    settled = {side: end_of(parts, side).epsilon(delta) for side in sides}
    left = tuple(side for side, bounds in settled.items() if bounds is None)
    per_side = [bounds for bounds in settled.values() if bounds is not None]
    if left:
        per_side.append(_epsilons(parts, delta, left, _closed_in(parts, sides)))
    return max(low for low, _ in per_side), max(high for _, high in per_side)


def _epsilons(
    parts: Parts,
    delta: Fraction,
    sides: tuple[int, ...],
    closed: GDP | SampledNormal | Composition | None,
) -> tuple[float, float]:
    """Bound ε at a δ above the chance of an infinite loss."""
    ends = [end_of(parts, side) for side in sides]
    most = max(math.inf if end.largest is None else up(end.largest[1]) for end in ends)
    if closed is not None:
        high = closed.epsilon(delta)
        return _outward((below_crossing(lambda e: _curve(closed, e), delta, high), 0.0))[0], max(
            0.0, min(most, high)
        )
    if finite_sums.few(parts):
        low, high = finite_sums.epsilon_bounds(parts, delta, sides)
    elif beyond := loss_far.split(parts):
        per_side = [loss_far.epsilon_bounds(beyond, side, delta, epsilons) for side in sides]
        low, high = max(low for low, _ in per_side), max(high for _, high in per_side)
    else:
        low, high = _certified(epsilon_bounds, parts, delta, sides)
    low, high = _outward((low, high))
    return low, max(0.0, min(high, most))


def _certified(
    bounds: Callable[..., tuple[float, float]], parts: Parts, at: Fraction, sides: tuple[int, ...]
) -> tuple[float, float]:
    """Bound by the lattice. The lower bound uses separate laws if the pairs have them."""
    below, above = (tuple((laws_of(pair)[side], count) for pair, count in parts) for side in (0, 1))
    low, high = bounds(above, at, sides=sides)
    return (low if below == above else bounds(below, at, sides=sides)[0]), high


def _closed_in(parts: Parts, sides: tuple[int, ...]) -> GDP | SampledNormal | Composition | None:
    """Return the closed form of the curve if it covers these directions."""
    symmetric = all(pair.symmetric for pair, _ in parts)
    return _closed(parts) if sides == BOTH or symmetric else None


@dataclass(frozen=True, slots=True)
class Quick:
    """The curve of pairs for searches: δ is an upper bound, ε an estimate."""

    parts: Parts

    def delta(self, epsilon: Number) -> float:
        e = check_epsilon(epsilon)
        swept = _swept(self.parts)
        if (
            swept is None
            or e > _NOTHING
            or all(end.largest is not None and end.largest[1] <= e for end in _ends(self.parts))
        ):
            return deltas(self.parts, e)[1]
        return _outward((0.0, swept.delta(double_below(e))))[1]

    def epsilon(self, delta: Number = 0) -> float:
        d = check_delta(delta)
        swept = _swept(self.parts)
        return (
            epsilons(self.parts, d)[1]
            if swept is None or d <= max(end.lost[1] for end in _ends(self.parts))
            else swept.epsilon(float(d))
        )


@lru_cache(maxsize=32)
def _swept(parts: Parts) -> Sweep | None:
    """Return the sweep to answer from; None if the curve is fast without it."""
    if not parts or _closed(parts) is not None or finite_sums.few(parts) or loss_far.split(parts):
        return None
    return sweep(tuple((laws_of(pair)[1], count) for pair, count in parts))


def _ends(parts: Parts) -> tuple[CurveEnd, CurveEnd]:
    return end_of(parts, 0), end_of(parts, 1)


def _outward(bounds: tuple[float, float]) -> tuple[float, float]:
    """Round bounds outward, with texts that are safe too: a user may type them in."""
    low, high = bounds
    return (low if math.isinf(low) else down(Fraction(low))), (
        high if math.isinf(high) or high == 1.0 else up(Fraction(high))
    )
