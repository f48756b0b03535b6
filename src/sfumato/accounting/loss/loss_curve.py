"""The curve of dominating pairs, from below and from above: in closed form where there is one, else
certified.

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
from ...guarantees.guarantee import known_delta, known_epsilon
from ..optimal_composition import Composition, optimal_curve
from . import finite_sums, loss_far
from .certificate import delta_bounds, epsilon_bounds
from .loss_ends import End, end_of
from .loss_laws import BOTH
from .loss_pairs import Between, GaussianPair, laws_of
from .loss_sweep import Sweep, sweep
from .pair_of_mechanism import Parts
from .pairs_finite import ResponsePair
from .pairs_sampled import SampledPair

_FEW = 2000  # steps of randomized response that are composed in closed form
_NOTHING = 10**5  # an ε that no one would call privacy


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
    """∫(φ(x − μ) − growth·φ(x))₊."""
    at = growth.log() / mu
    return normal_cdf(mu / 2 - at) - growth * normal_cdf(-mu / 2 - at)


def _closed(parts: Parts) -> GDP | SampledNormal | Composition | None:
    """What has a curve in closed form."""
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
        found = optimal_curve(
            [
                (Approx(pair.epsilon, pair.delta), count)
                for pair, count in parts
                if isinstance(pair, ResponsePair)
            ]
        )
        return found if found.exact else None
    return None


def _curve(closed: GDP | SampledNormal | Composition, epsilon: Fraction) -> arb:
    """The closed form, as a ball."""
    return (
        normal_curve(closed.mu_squared, epsilon)
        if isinstance(closed, GDP)
        else closed.curve(epsilon)
    )


@lru_cache(maxsize=1024)
def deltas(parts: Parts, epsilon: Fraction, sides: tuple[int, ...] = BOTH) -> tuple[float, float]:
    """δ at ε in the worse of these directions, from below and from above."""
    if not parts:
        return 0.0, 0.0
    ends = {side: end_of(parts, side) for side in sides}
    left = tuple(
        side for side, end in ends.items() if end.largest is None or end.largest[1] > epsilon
    )
    lost = max(end.lost[0] for end in ends.values()), max(end.lost[1] for end in ends.values())
    found = (
        (0.0, 0.0) if not left else _deltas(parts, epsilon, left, lost, _closed_in(parts, sides))
    )
    return max(found[0], down(lost[0])), min(1.0, max(found[1], up(lost[1])))


def _deltas(
    parts: Parts,
    epsilon: Fraction,
    sides: tuple[int, ...],
    lost: Between,
    closed: GDP | SampledNormal | Composition | None,
) -> tuple[float, float]:
    """The same where ε is not beyond all finite losses."""
    if closed is not None:
        return chance(lambda: _curve(closed, epsilon), "down"), closed.delta(epsilon)
    if finite_sums.few(parts):
        return _outward(finite_sums.delta_bounds(parts, epsilon, sides))
    if beyond := loss_far.split(parts):
        found = [loss_far.delta_bounds(beyond, side, epsilon, deltas) for side in sides]
        return _outward((max(low for low, _ in found), max(high for _, high in found)))
    if epsilon > _NOTHING:
        return down(lost[0]), 1.0
    return _outward(_certified(delta_bounds, parts, epsilon, sides))


@lru_cache(maxsize=1024)
def epsilons(parts: Parts, delta: Fraction, sides: tuple[int, ...] = BOTH) -> tuple[float, float]:
    """ε at δ in the worse of these directions, from below and from above."""
    if not parts:
        return 0.0, 0.0
    settled = {side: end_of(parts, side).epsilon(delta) for side in sides}
    left = tuple(side for side, bounds in settled.items() if bounds is None)
    found = [bounds for bounds in settled.values() if bounds is not None]
    if left:
        found.append(_epsilons(parts, delta, left, _closed_in(parts, sides)))
    return max(low for low, _ in found), max(high for _, high in found)


def _epsilons(
    parts: Parts,
    delta: Fraction,
    sides: tuple[int, ...],
    closed: GDP | SampledNormal | Composition | None,
) -> tuple[float, float]:
    """The same where δ is above all that is lost."""
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
        found = [loss_far.epsilon_bounds(beyond, side, delta, epsilons) for side in sides]
        low, high = max(low for low, _ in found), max(high for _, high in found)
    else:
        low, high = _certified(epsilon_bounds, parts, delta, sides)
    low, high = _outward((low, high))
    return low, max(0.0, min(high, most))


def _certified(
    bounds: Callable[..., tuple[float, float]], parts: Parts, at: Fraction, sides: tuple[int, ...]
) -> tuple[float, float]:
    """By the lattice; the lower bound from laws of their own where the pairs have such."""
    below, above = (tuple((laws_of(pair)[side], count) for pair, count in parts) for side in (0, 1))
    low, high = bounds(above, at, sides=sides)
    return (low if below == above else bounds(below, at, sides=sides)[0]), high


def _closed_in(parts: Parts, sides: tuple[int, ...]) -> GDP | SampledNormal | Composition | None:
    """The curve in closed form, where that is the worse of these directions."""
    return _closed(parts) if sides == BOTH or _symmetric(parts) else None


def _symmetric(parts: Parts) -> bool:
    return all(pair.symmetric for pair, _ in parts)


@dataclass(frozen=True, slots=True)
class Quick:
    """The curve of pairs for searches: δ not below the truth, ε roughly."""

    parts: Parts

    def delta(self, epsilon: Number) -> float:
        e = known_epsilon(epsilon)
        found = _swept(self.parts)
        if (
            found is None
            or e > _NOTHING
            or all(end.largest is not None and end.largest[1] <= e for end in _ends(self.parts))
        ):
            return deltas(self.parts, e)[1]
        return _outward((0.0, found.delta(double_below(e))))[1]

    def epsilon(self, delta: Number = 0) -> float:
        d = known_delta(delta)
        found = _swept(self.parts)
        return (
            epsilons(self.parts, d)[1]
            if found is None or d <= max(end.lost[1] for end in _ends(self.parts))
            else found.epsilon(float(d))
        )


@lru_cache(maxsize=32)
def _swept(parts: Parts) -> Sweep | None:
    """The sums to answer from, unless the curve is quick as it is."""
    if not parts or _closed(parts) is not None or finite_sums.few(parts) or loss_far.split(parts):
        return None
    return sweep(tuple((laws_of(pair)[1], count) for pair, count in parts))


def _ends(parts: Parts) -> tuple[End, End]:
    return end_of(parts, 0), end_of(parts, 1)


def _outward(bounds: tuple[float, float]) -> tuple[float, float]:
    """Doubles, and their texts: a user may type in what he was told."""
    low, high = bounds
    return (low if math.isinf(low) else down(Fraction(low))), (
        high if math.isinf(high) or high == 1.0 else up(Fraction(high))
    )
