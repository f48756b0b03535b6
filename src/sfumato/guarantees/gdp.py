"""Gaussian differential privacy.

*Promise*   Telling M(x) from M(x') is at least as hard as telling N(0, 1) from N(μ, 1), whatever
            test is used (Dong, Roth & Su 2022).
*Compose*   μ² adds up; the record therefore holds μ², exactly.
*Curve*     δ(t) = Φ(μ/2 − t/μ) − e^t · Φ(−μ/2 − t/μ) (Balle & Wang 2018).          *Rényi*   D_α ≤
            α·μ²/2.
*Group*     kμ for k units.          *Sample*   a `Loss`: the law of the sampled loss, in both
            directions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from typing import ClassVar, Self

from attrs import field
from flint import arb

from ..exact.balls import ball, evaluate, least, normal_cdf, root_up, short, up
from ..exact.numbers import Number, non_negative, positive, probability
from ..records import record
from . import guarantee_refusals as refusals
from .guarantee import (
    Guarantee,
    NoiseTarget,
    Numbers,
    Relation,
    check_delta,
    check_epsilon,
    check_order,
    notion,
    reach,
    relation_of,
    unit_of,
)
from .largest_epsilon import lower_until
from .pure import Pure
from .stored_guarantee import StoredFields, ratio

ABOVE = "sfumato.accounting.loss.privacy_loss"
_LEAST_DELTA = 1e-280
_NOTHING = 10**6  # a larger ε is no privacy at all, and would only slow down the search


def _square(mu: Number) -> Fraction:
    return non_negative(non_negative(mu, "mu") ** 2, "mu_squared")


@notion
@record(order=False)
class GDP(Guarantee):
    """μ-Gaussian differential privacy."""

    mu_squared: Fraction = field(alias="mu", converter=_square)
    relation: Relation | None = field(default=None, kw_only=True, converter=relation_of)
    unit: str | None = field(default=None, kw_only=True, converter=unit_of)

    strength: ClassVar = 2
    symbols: ClassVar = {"mu": "μ"}
    theorem: ClassVar = "Σμ² ≤ μ² (Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023)"

    @classmethod
    def from_square(
        cls, mu_squared: Number, *, relation: str | None = None, unit: str | None = None
    ) -> Self:
        """The guarantee with this μ², where μ itself need not be rational."""
        guarantee = cls(0, relation=relation, unit=unit)
        object.__setattr__(guarantee, "mu_squared", non_negative(mu_squared, "mu_squared"))
        return guarantee

    @property
    def mu(self) -> Fraction:
        """μ: exact where it is rational, else a double not below it."""
        return root_up(self.mu_squared)

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {"mu": self.mu}

    def delta(self, epsilon: Number) -> float:
        return delta_of_mu(self.mu_squared, check_epsilon(epsilon))

    def epsilon(self, delta: Number = 0) -> float:
        d = check_delta(delta)
        if self.delta(0) <= d:
            return 0.0
        return math.inf if d == 0 else float(least(lambda e: self.delta(e) <= d))

    def renyi(self, order: Number) -> float:
        a = check_order(order)
        return up(a * self.mu_squared / 2)

    def tradeoff(self, alpha: Number) -> float:
        """Φ(Φ⁻¹(1 − α) − μ), where Φ⁻¹(1 − α) = √2·erfc⁻¹(2α)."""
        a = probability(alpha, "alpha", one=True)
        if a in (0, 1):
            return float(1 - a)
        return max(
            0.0,
            evaluate(
                lambda: normal_cdf(
                    arb(2).sqrt() * (2 * ball(a)).erfcinv() - ball(self.mu_squared).sqrt()
                ),
                "down",
            ),
        )

    def _plus(self, addend: Self) -> Self:
        return type(self).from_square(short(self.mu_squared + addend.mu_squared))

    def _times(self, count: int) -> Self:
        return type(self).from_square(count * self.mu_squared)

    def _implied_by(self, premise: Guarantee) -> bool:
        weaker = reach(premise, GDP)
        return weaker is not None and weaker.mu_squared <= self.mu_squared

    def _meet(self, second: Self) -> Self:
        return min(self, second, key=lambda a: a.mu_squared)

    def _group(self, size: int) -> GDP:
        return GDP.from_square(size * size * self.mu_squared)

    def _subsample(self, q: Fraction) -> Guarantee:
        """Return a `Loss`. It is defined in a layer above this one, so it is imported on use."""
        loss: Guarantee = import_module(ABOVE).sampled_gaussian(self.mu_squared, q)
        return loss

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        square = positive(self.mu_squared, "mu_squared")
        guess = evaluate(
            lambda: (
                normal_cdf(ball(square).sqrt() / 2).log()
                - normal_cdf(-ball(square).sqrt() / 2).log()
            ),
            "down",
        )
        return lower_until(guess, lambda e: Pure(e).to(GDP).mu_squared <= square)

    def _stored(self) -> dict[str, object]:
        return {"mu_squared": str(self.mu_squared)}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        return cls.from_square(ratio(stored["mu_squared"]), relation=relation, unit=unit)

    @property
    def vector(self) -> Numbers:
        return (self.mu_squared,)

    @property
    def vector_names(self) -> tuple[str, ...]:
        return ("μ²",)

    def _from_vector(self, numbers: Numbers) -> Self:
        return type(self).from_square(*numbers)

    def cost_of(self, amount: Fraction, delta: Fraction) -> GDP:
        return GDP.from_square(amount)

    @property
    def noise_target(self) -> NoiseTarget:
        return NoiseTarget(mu_squared=self.mu_squared)


def delta_of_mu(mu_squared: Fraction, epsilon: Fraction) -> float:
    """δ(ε) of μ-GDP, rounded up."""
    return (
        min(1.0, evaluate(lambda: normal_curve(mu_squared, epsilon), "up")) if mu_squared else 0.0
    )


def normal_curve(mu_squared: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) between two normal laws whose means differ by μ, as a ball."""
    mu, e = ball(mu_squared).sqrt(), ball(epsilon)
    return normal_cdf(mu / 2 - e / mu) - e.exp() * normal_cdf(-mu / 2 - e / mu)


def largest_mu(epsilon: Number, delta: Number) -> Fraction:
    """The largest μ (to 2^-50 of itself, never above) for which μ-GDP implies (ε, δ)-DP: the
    analytic calibration of Balle & Wang 2018.
    """
    e, d = positive(epsilon, "epsilon"), positive(probability(delta, "delta", zero=False), "delta")
    if e > _NOTHING:
        raise refusals.EPSILON_PROMISES_NOTHING(epsilon=epsilon)
    return 1 / least(lambda s: delta_of_mu(1 / s**2, e) <= d, near=_guess_inverse(e, d))


def _guess_inverse(epsilon: Fraction, delta: Fraction) -> float | None:
    """Estimate 1/μ of the largest μ to 2^-50 of itself; None for numbers at which doubles are poor.

    Newton's method from an exact δ: its slope in μ is the density at μ/2 − ε/μ.
    """
    mu = approximate_mu(float(epsilon), float(delta)) if delta > _LEAST_DELTA else None
    for _ in range(2):
        if mu is None or not 0.0 < mu < math.inf:
            return None
        away = _excess(Fraction(mu) ** 2, epsilon, delta)
        slope = math.exp(-((mu / 2 - float(epsilon) / mu) ** 2) / 2) / math.sqrt(2 * math.pi)
        mu = mu - away / slope if slope else None
    return 1 / mu if mu else None


def _excess(mu_squared: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    return evaluate(lambda: normal_curve(mu_squared, epsilon) - ball(delta))


def approximate_mu(epsilon: float, delta: float) -> float | None:
    """Estimate the largest μ of (ε, δ) to about 2^-30 of itself; None for numbers at which doubles
    are poor.
    """
    if not _LEAST_DELTA < delta <= 0.5 or epsilon > 500:
        return None

    def is_enough(s: float) -> bool:
        above, below = (math.erfc((epsilon * s + side / s) / math.sqrt(2)) for side in (-0.5, 0.5))
        return (above - math.exp(epsilon) * below) / 2 <= delta

    low = high = 1.0
    while not is_enough(high) and high < 2.0**400:
        low, high = high, 2.0 * high
    while low == high or (is_enough(low) and low > 2.0**-400):
        high, low = low, low / 2.0
    while high - low > low * 2.0**-30:
        middle = low + (high - low) / 2.0
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return 1 / high
