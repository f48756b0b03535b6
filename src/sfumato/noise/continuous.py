"""The continuous Laplace and normal laws, for analysis only. They have no sampler, because all
noise of this package is integer.

*Ask*     pdf, cdf, tail P(X ≥ x), quantile; and for a shift of the mean, what an observer learns:
          `delta(epsilon, shift=)`, the least δ with (ε, δ)-indistinguishability, and `renyi(order,
          shift=)`. Doubles, each rounded in the direction asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..exact.balls import Rounding, ball, chance, evaluate, normal_cdf, up
from ..exact.numbers import Number, exact, non_negative, positive, probability
from . import noise_refusals as refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuousLaplace:
    """Density e^(−|x − location|/scale) / (2·scale)."""

    scale: Fraction
    location: Fraction

    def __init__(
        self, *, scale: Number | None = None, rate: Number | None = None, location: Number = 0
    ) -> None:
        if (scale is None) == (rate is None):
            raise refusals.SCALE_AND_RATE()
        object.__setattr__(
            self,
            "scale",
            positive(scale, "scale") if scale is not None else 1 / positive(rate or 0, "rate"),
        )
        object.__setattr__(self, "location", exact(location, "location"))

    @property
    def variance(self) -> Fraction:
        return 2 * self.scale**2

    def pdf(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = abs(self._standard(x))
        return evaluate(lambda: (-ball(t)).exp() / (2 * ball(self.scale)), rounding)

    def cdf(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = self._standard(x)
        return chance(lambda: _laplace_tail(-t), rounding)

    def tail(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = self._standard(x)
        return chance(lambda: _laplace_tail(t), rounding)

    def quantile(self, p: Number, rounding: Rounding = "nearest") -> float:
        level = probability(p, "p", zero=False)
        far = min(level, 1 - level)
        sign = -1 if level < Fraction(1, 2) else 1
        return evaluate(
            lambda: ball(self.location) - sign * ball(self.scale) * ball(2 * far).log(), rounding
        )

    def delta(self, epsilon: Number, *, shift: Number, rounding: Rounding = "up") -> float:
        """Return the least δ at ε of the law and its shift: (1 − e^((ε − |shift|/scale)/2))₊."""
        e = non_negative(epsilon, "epsilon")
        loss = abs(exact(shift, "shift")) / self.scale
        return chance(lambda: -ball((e - loss) / 2).expm1(), rounding) if e < loss else 0.0

    def renyi(self, order: Number, *, shift: Number, rounding: Rounding = "up") -> float:
        """Return D_α between the law and its shift (Mironov 2017); order 1 is the Kullback–Leibler
        divergence.
        """
        a, loss = positive(order, "order"), abs(exact(shift, "shift")) / self.scale
        if a == 1:
            return evaluate(lambda: ball(loss) + (-ball(loss)).expm1(), rounding)
        if a == Fraction(1, 2):  # the two terms of the general formula merge
            return evaluate(lambda: ball(loss) - 2 * (1 + ball(loss) / 2).log(), rounding)
        first, second = a / (2 * a - 1), (a - 1) / (2 * a - 1)
        return evaluate(
            lambda: (
                (
                    ball(first) * ball((a - 1) * loss).exp() + ball(second) * ball(-a * loss).exp()
                ).log()
                / ball(a - 1)
            ),
            rounding,
        )

    def _standard(self, x: Number) -> Fraction:
        return (exact(x, "x") - self.location) / self.scale


def _laplace_tail(t: Fraction) -> arb:
    return (-ball(t)).exp() / 2 if t >= 0 else 1 - ball(t).exp() / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """Density e^(−(x − location)²/(2·sigma²)) / (sigma·√(2π))."""

    sigma: Fraction
    location: Fraction

    def __init__(self, *, sigma: Number, location: Number = 0) -> None:
        object.__setattr__(self, "sigma", positive(sigma, "sigma"))
        object.__setattr__(self, "location", exact(location, "location"))

    @property
    def variance(self) -> Fraction:
        return self.sigma**2

    def pdf(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = self._standard(x)
        return evaluate(
            lambda: (-ball(t * t / 2)).exp() / (ball(self.sigma) * (2 * arb.pi()).sqrt()), rounding
        )

    def cdf(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = self._standard(x)
        return chance(lambda: normal_cdf(ball(t)), rounding)

    def tail(self, x: Number, rounding: Rounding = "nearest") -> float:
        t = self._standard(x)
        return chance(lambda: normal_cdf(-ball(t)), rounding)

    def quantile(self, p: Number, rounding: Rounding = "nearest") -> float:
        level = probability(p, "p", zero=False)
        return evaluate(
            lambda: (
                ball(self.location) - ball(self.sigma) * arb(2).sqrt() * (2 * ball(level)).erfcinv()
            ),
            rounding,
        )

    def delta(self, epsilon: Number, *, shift: Number, rounding: Rounding = "up") -> float:
        """Return the least δ at ε of the law and its shift: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ),
        μ = |shift|/sigma (Balle & Wang 2018).
        """
        e, mu = non_negative(epsilon, "epsilon"), abs(exact(shift, "shift")) / self.sigma
        return (
            chance(
                lambda: (
                    normal_cdf(ball(mu / 2 - e / mu))
                    - ball(e).exp() * normal_cdf(ball(-mu / 2 - e / mu))
                ),
                rounding,
            )
            if mu
            else 0.0
        )

    def renyi(self, order: Number, *, shift: Number, rounding: Rounding = "up") -> float:
        """Return D_α between the law and its shift: α·μ²/2, μ = |shift|/sigma."""
        a, mu = positive(order, "order"), exact(shift, "shift") / self.sigma
        return (
            up(a * mu * mu / 2)
            if rounding == "up"
            else evaluate(lambda: ball(a * mu * mu / 2), rounding)
        )

    def _standard(self, x: Number) -> Fraction:
        return (exact(x, "x") - self.location) / self.sigma
