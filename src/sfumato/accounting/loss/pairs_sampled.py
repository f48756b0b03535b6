"""Dominating pairs of sampled releases, of rounded normal noise, and of one report among many
shuffled ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from flint import arb

from ...errors import Refused
from ...exact.balls import ball, evaluate, normal_cdf, up
from ...exact.numbers import positive, probability, text
from ...guarantees import GDP, ZCDP, Guarantee, Pure, Renyi
from ...guarantees.guarantee import reach
from ...guarantees.renyi import subsampled_gaussian
from .. import accounting_refusals as refusals
from ..subsampling import FixedLaw, PoissonLaw
from .clone_divergence import divergence, divergence_curve, line_above
from .loss_families import GaussianLaw
from .loss_laws import FUNCTION, NOTHING, UNIT, Atoms, Law, PointLaw
from .loss_pairs import Between, DominatingPair, GaussianPair, Outcomes, check_whole
from .pairs_finite import ResponsePair
from .shuffle_pair import check_report_epsilon, clone_laws

How = Literal["poisson", "fixed"]
ROUGHEST = 64
"""Above so many grid steps of σ, a rounded normal variable counts as a real one."""


@dataclass(frozen=True, slots=True, repr=False)
class SampledPair(DominatingPair):
    """A base pair behind sampling at a rate: Poisson, for add-remove, or of a fixed size, for
    replace.
    """

    base: DominatingPair
    rate: Fraction
    how: How = "poisson"
    kind = "sampled"

    def __post_init__(self) -> None:
        if self.how not in ("poisson", "fixed"):
            raise refusals.UNKNOWN_SAMPLING(how=self.how)
        if not isinstance(self.base, DominatingPair):
            raise refusals.BASE_IS_NO_PAIR(kind=type(self.base).__name__)
        if isinstance(self.base, SampledPair):
            raise refusals.SAMPLED_TWICE(base=self.base)
        if self.how == "fixed" and not self.base.symmetric:
            raise refusals.FIXED_SAMPLE_NEEDS_SYMMETRIC_PAIR(base=self.base)
        positive(probability(self.rate, "rate", zero=False), "rate")

    @property
    def guarantee(self) -> Guarantee | None:
        promise = self.base.guarantee
        if isinstance(promise, GDP):
            # fixed size: sampling does no harm, but GDP cannot state how much it helps
            return promise if self.how == "fixed" else _renyi(self.rate, promise.mu_squared)
        try:
            return (
                None
                if promise is None
                else Guarantee._bind(promise.subsample(self.rate), None, None)
            )
        except Refused:
            return None

    @property
    def largest(self) -> tuple[Between | None, Between | None]:
        """For removal ln(1 − q + q·e^l), l the base's largest loss; for addition −ln(1 − q +
        q·e^(−l)), or −ln(1 − q) if the base's losses are unbounded or infinite.
        """
        there, back = self.base.largest
        removed = (
            None
            if there is None
            else (self._outside(there[0], "down"), self._outside(there[1], "up"))
        )
        if self.how == "fixed":
            return removed, removed
        if back is None or self.base.lost[1]:
            return removed, (self._added(None, "down"), self._added(None, "up"))
        return removed, (self._added(back[0], "down"), self._added(back[1], "up"))

    def top(self, side: int) -> tuple[Fraction, Fraction] | None:
        """The base's largest loss, with the unit in the sample."""
        top = self.base.top(0 if self.how == "fixed" else side)
        if top is None:
            return None
        loss, chance = top
        if side == 0 or self.how == "fixed":
            return self._outside(loss, "down"), self.rate * chance
        return self._added(loss, "down"), chance

    def nearer(self, most: int) -> SampledPair | None:
        base = self.base.nearer(most)
        return None if base is None else SampledPair(base, self.rate, self.how)

    def _outside(self, loss: Fraction, rounding: Literal["up", "down"]) -> Fraction:
        return (
            Fraction(evaluate(lambda: (ball(self.rate) * ball(loss).expm1()).log1p(), rounding))
            if loss
            else loss
        )

    def _added(self, loss: Fraction | None, rounding: Literal["up", "down"]) -> Fraction:
        def formula() -> arb:
            return -(ball(self.rate) * (arb(-1) if loss is None else ball(-loss).expm1())).log1p()

        return Fraction(evaluate(formula, rounding)) if loss != 0 else Fraction(0)

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        """Addition has no infinite loss: every answer without the unit is possible with it."""
        lost = self.rate * self.base.lost[0]
        return lost, lost if self.how == "fixed" else Fraction(0)

    @property
    def symmetric(self) -> bool:
        return self.how == "fixed"

    def law(self) -> Law:
        return self._law(self.base.law())

    def laws(self) -> tuple[Law, Law]:
        low, high = self.base.laws()
        above = self._law(high)
        return above if low is high else self._law(low), above

    def _law(self, base: Law) -> Law:
        sampled = PoissonLaw(base, float(self.rate))
        return sampled if self.how == "poisson" else FixedLaw(sampled)

    @property
    def finite(self) -> bool:
        return self.how == "poisson" and self.base.finite

    def outcomes(self) -> Outcomes | None:
        base_outcomes = self.base.outcomes() if self.finite else None
        return (
            None
            if base_outcomes is None
            else [((1 - ball(self.rate)) * q + ball(self.rate) * p, q) for p, q in base_outcomes]
        )

    def numbers(self) -> Mapping[str, object]:
        return {
            "base": {"kind": self.base.kind, **self.base.numbers()},
            "rate": str(self.rate),
            "how": self.how,
        }

    def within(self, outer: DominatingPair) -> bool:
        """A higher rate or a stronger base dominates; so does the base itself, as sampling is
        post-processing.
        """
        more = (
            isinstance(outer, SampledPair)
            and self.how == outer.how
            and self.rate <= outer.rate
            and self.base.within(outer.base)
        )
        return more or self.base.within(outer)

    def __repr__(self) -> str:
        return (
            f"{self.base!r} of {text(self.rate)} "
            f"{'by Poisson sampling' if self.how == 'poisson' else 'in samples of a fixed size'}"
        )


@lru_cache(maxsize=64)
def _renyi(rate: Fraction, mu_squared: Fraction) -> Renyi | None:
    """Return the Rényi curve of sampled Gaussian noise, cached because it is needed at every order;
    None if it overflows a double.
    """
    try:
        return subsampled_gaussian(rate, mu_squared)
    except Refused:
        return None


def sampled(base: DominatingPair, rate: Fraction, how: How) -> DominatingPair:
    """Return the pair behind sampling; the base itself if the rate is 1."""
    if rate == 1:
        return base
    if rate == 0:
        return ResponsePair(Fraction(0))
    return SampledPair(base, rate, how)


@dataclass(frozen=True, slots=True, repr=False)
class RoundedPair(DominatingPair):
    """A normal variable of standard deviation σ grid steps, rounded to a step, and the same `steps`
    steps further. It has no nearer pair: wider rounded noise is not a post-processing of it.
    """

    steps: int
    sigma: Fraction
    kind = "rounded"

    def __post_init__(self) -> None:
        check_whole(self.steps, "steps")
        positive(self.sigma, "sigma")

    @property
    def guarantee(self) -> GDP:
        return GDP.from_square(self.steps**2 / self.sigma**2)

    def law(self) -> Law:
        sigma, reach = float(self.sigma), math.ceil(39 * float(self.sigma)) + self.steps
        z = np.arange(-reach, reach + self.steps + 1)
        real = GaussianLaw(1.0)  # as a table of the normal law: with μ = 1 the loss is x − ½
        mass = real.cells((np.append(z, z[-1] + 1) - 0.5) / sigma - 0.5).q[1:-1]
        p, q = mass[: z.size - self.steps], mass[self.steps :]
        shared = (p > NOTHING) & (q > NOTHING)
        loss = np.log(p[shared]) - np.log(q[shared])
        error = real.error + 256 * UNIT * (1 + reach / sigma)
        slack = 2 * error + FUNCTION * 1500
        # mass where one of the two underflows a double
        apart = float(max(p[~shared].sum(), q[~shared].sum())) * (1 + 1e-9)
        return PointLaw(
            Atoms(loss, p[shared], q[shared]),
            error,
            slack,
            symmetric=True,
            unseen=apart + 2.0**-980,
        )

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """The event of noise ≤ 0: Φ(1/(2σ)) against Φ((½ − steps)/σ)."""
        here, there = ball(1 / (2 * self.sigma)), ball((Fraction(1, 2) - self.steps) / self.sigma)
        loss = evaluate(lambda: (normal_cdf(here) / normal_cdf(there)).log(), "down")
        return Fraction(loss), Fraction(evaluate(lambda: normal_cdf(here), "down"))

    def numbers(self) -> dict[str, str]:
        return {"steps": str(self.steps), "sigma": str(self.sigma)}

    def within(self, outer: DominatingPair) -> bool:
        """The unrounded pair dominates, as rounding is post-processing."""
        return self == outer or (
            isinstance(outer, GaussianPair) and self.guarantee.mu_squared <= outer.mu_squared
        )

    def group(self, size: int) -> RoundedPair:
        return RoundedPair(size * self.steps, self.sigma)


@dataclass(frozen=True, slots=True, repr=False)
class ClonePair(DominatingPair):
    """One report of a local ε₀-DP randomizer among n shuffled ones (Feldman, McMillan & Talwar
    2021, 2023), replace.
    """

    epsilon: Fraction
    n: int
    kind = "clone"

    def __post_init__(self) -> None:
        check_report_epsilon(positive(self.epsilon, "epsilon"))
        check_whole(self.n, "n")

    @property
    def guarantee(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def largest(self) -> tuple[Between, Between]:
        return (self.epsilon, self.epsilon), (self.epsilon, self.epsilon)

    def states(self, notion: type[Guarantee]) -> Guarantee | None:
        """Return the amplified curve and its line; in other notions the report's own promise."""
        if notion is Renyi:
            return Renyi(divergence_curve(self.epsilon, self.n))
        if notion is ZCDP:
            return ZCDP(line_above(self.epsilon, self.n))
        return reach(self.guarantee, notion)

    def renyi(self, order: Fraction) -> float:
        return up(divergence(self.epsilon, self.n, order))

    def law(self) -> Law:
        return self.laws()[1]

    def laws(self) -> tuple[Law, Law]:
        return clone_laws(float(self.epsilon), self.n)

    def numbers(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "n": str(self.n)}

    def within(self, outer: DominatingPair) -> bool:
        return isinstance(outer, ClonePair) and self.epsilon == outer.epsilon and self.n >= outer.n
