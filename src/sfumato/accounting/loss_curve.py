"""The curve of dominating pairs, from below and from above: in closed form where there is one, else certified.

*Gaussian*   Pairs of normal laws compose to one: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with the μ² added up (Balle & Wang 2018).
*Sampled*    One use of such noise behind Poisson sampling: q times that curve at the threshold that sampling moves it to; adding a unit has a like form.
*Response*   Randomized responses are counted (`optimal_composition`), while they are few and on a common grid.
*Few*        Where finitely many outcomes come out in few different ways, these are counted too (`finite_sums`).
*Pure*       No ε above the sum of the largest losses is needed.
*Rounded*    A closed form is rounded up from 72 correct bits, by at most two units in the last place; 2⁻⁴⁹ less of it is surely below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ..exact.balls import ball, down, evaluate, least, normal_cdf, up
from ..exact.numbers import Number, double_below
from ..guarantees import GDP, Approx
from ..guarantees.base import known_delta, known_epsilon
from . import finite_sums
from .certificate import delta_bounds, epsilon_bounds
from .loss_laws import NOTHING
from .loss_sweep import Sweep, sweep
from .optimal_composition import Composition, optimal_curve
from .pairs import GaussianPair, law_of
from .pairs_finite import ResponsePair
from .pairs_of import Parts
from .pairs_sampled import SampledPair

_FEW = 2000  # steps of randomized response that are composed in closed form
_NOTHING = 10**5  # an ε that no one would call privacy
_FACTORS = 64  # multiplied out


def _ceiling(parts: Parts) -> Fraction | None:
    """The largest loss of all together, where it is known."""
    each = [(pair.largest, count) for pair, count in parts]
    return None if any(most is None for most, _ in each) else sum((count * most for most, count in each if most is not None), Fraction(0))


@dataclass(frozen=True, slots=True)
class SampledNormal:
    """Normal noise behind Poisson sampling, once: removal, ((1 − q)Q + qP − tQ)₊ = q·(P − sQ)₊, and addition, (Q − t((1 − q)Q + qP))₊ = a·(Q − sP)₊."""

    mu_squared: Fraction
    rate: Fraction

    def delta(self, epsilon: Fraction) -> float:
        def curve() -> arb:
            mu, q, t = ball(self.mu_squared).sqrt(), ball(self.rate), ball(epsilon).exp()
            left = 1 - t * (1 - q)
            removed = q * _normal(mu, (t - 1) / q + 1)
            return removed.max(left * _normal(mu, t * q / left)) if left > 0 else removed

        return min(1.0, evaluate(curve, "up"))

    def epsilon(self, delta: Fraction) -> float:
        return 0.0 if self.delta(Fraction(0)) <= delta else float(least(lambda e: self.delta(e) <= delta))


def _normal(mu: arb, growth: arb) -> arb:
    """∫(φ(x − μ) − growth·φ(x))₊."""
    at = growth.log() / mu
    return normal_cdf(mu / 2 - at) - growth * normal_cdf(-mu / 2 - at)


def _closed(parts: Parts) -> GDP | SampledNormal | Composition | None:
    """What has a curve in closed form."""
    if len(parts) == 1 and parts[0][1] == 1 and isinstance(pair := parts[0][0], SampledPair) and pair.how == "poisson" and isinstance(pair.base, GaussianPair):
        return SampledNormal(pair.base.mu_squared, pair.rate)
    if len(parts) == 1 and isinstance(parts[0][0], GaussianPair):
        return GDP.from_square(parts[0][0].mu_squared)
    if all(isinstance(pair, ResponsePair) and pair.categories == 2 for pair, _ in parts) and sum(count for _, count in parts) <= _FEW:
        found = optimal_curve([(Approx(pair.epsilon, pair.delta), count) for pair, count in parts if isinstance(pair, ResponsePair)])
        return found if found.exact else None
    return None


@lru_cache(maxsize=1024)
def deltas(parts: Parts, epsilon: Fraction) -> tuple[float, float]:
    """δ at ε, from below and from above."""
    ceiling, lost = _ceiling(parts), _lost(parts)
    if not parts:
        return 0.0, 0.0
    if ceiling is not None and ceiling <= epsilon:
        return down(lost[0]), min(1.0, up(lost[1]))
    closed = _closed(parts)
    if closed is not None:
        return _just_below(closed.delta(epsilon)), closed.delta(epsilon)
    if finite_sums.few(parts):
        return _outward(finite_sums.delta_bounds(parts, epsilon))
    if epsilon > _NOTHING:
        return down(lost[0]), 1.0
    low, high = delta_bounds([(law_of(pair), count) for pair, count in parts], epsilon)
    return _outward((low, high))


@lru_cache(maxsize=1024)
def epsilons(parts: Parts, delta: Fraction) -> tuple[float, float]:
    """ε at δ, from below and from above."""
    ceiling, lost = _ceiling(parts), _lost(parts)
    if not parts:
        return 0.0, 0.0
    if delta < lost[0]:
        return math.inf, math.inf
    most = math.inf if ceiling is None else up(ceiling)
    if delta <= lost[1]:  # exactly all that is lost, or too near to it to tell
        return (_just_below(most) if lost[0] == lost[1] == delta and ceiling is not None else 0.0), (most if lost[1] == delta else math.inf)
    closed = _closed(parts)
    if closed is not None:
        return _just_below(closed.epsilon(delta)), min(most, closed.epsilon(delta))
    bounds = finite_sums.epsilon_bounds(parts, delta) if finite_sums.few(parts) else None
    low, high = bounds or epsilon_bounds([(law_of(pair), count) for pair, count in parts], delta)
    low, high = _outward((low, high))
    return min(low, most), min(high, most)


@dataclass(frozen=True, slots=True)
class Quick:
    """The curve of pairs for searches: δ not below the truth, ε roughly."""

    parts: Parts

    def delta(self, epsilon: Number) -> float:
        e = known_epsilon(epsilon)
        found = _swept(self.parts)
        if found is None or e > _NOTHING or ((ceiling := _ceiling(self.parts)) is not None and ceiling <= e):
            return deltas(self.parts, e)[1]
        return _outward((0.0, found.delta(double_below(e))))[1]

    def epsilon(self, delta: Number = 0) -> float:
        d = known_delta(delta)
        found = _swept(self.parts)
        return epsilons(self.parts, d)[1] if found is None or d <= _lost(self.parts)[1] else found.epsilon(float(d))


@lru_cache(maxsize=32)
def _swept(parts: Parts) -> Sweep | None:
    """The sums to answer from, unless the curve is quick as it is."""
    if not parts or _closed(parts) is not None or finite_sums.few(parts):
        return None
    return sweep(tuple((law_of(pair), count) for pair, count in parts))


def _outward(bounds: tuple[float, float]) -> tuple[float, float]:
    """Doubles, and their texts: a user may type in what he was told."""
    low, high = bounds
    return (low if math.isinf(low) else down(Fraction(low))), (high if math.isinf(high) or high == 1.0 else up(Fraction(high)))


def _just_below(value: float) -> float:
    """Surely below a number in closed form that was rounded up; zero where it may have been rounded up from less than any double."""
    return value * (1 - 2.0**-49) if value > NOTHING else 0.0


def _lost(parts: Parts) -> tuple[Fraction, Fraction]:
    """The chance of infinite loss in the worse direction, 1 − Π(1 − δ)^k, from below and from above; exact where few factors are not 1."""
    sides = [[(pair.lost[side], count) for pair, count in parts if pair.lost[side]] for side in (0, 1)]
    if all(sum(count for _, count in side) <= _FACTORS for side in sides):
        exact = max(1 - math.prod(((1 - lost) ** count for lost, count in side), start=Fraction(1)) for side in sides)
        return exact, exact

    def formula(side: list[tuple[Fraction, int]]) -> arb:
        return -sum((count * ball(-lost).log1p() for lost, count in side), arb(0)).expm1()

    bounds = [[Fraction(evaluate(lambda s=side: formula(s), rounding)) for side in sides] for rounding in ("down", "up")]  # type: ignore[misc]
    return max(bounds[0]), min(Fraction(1), max(bounds[1]))
