"""Dominating pairs that are made of others: of sampled releases, of rounded normal noise, of one
report among many shuffled ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from flint import arb

from ...errors import Refused
from ...exact.balls import ball, evaluate, normal_cdf
from ...exact.numbers import positive, probability, text
from ...guarantees import GDP, Guarantee, Pure, Renyi
from ...guarantees.renyi import subsampled_gaussian
from ..subsampling import FixedLaw, PoissonLaw
from .loss_families import GaussianLaw
from .loss_laws import FUNCTION, NOTHING, UNIT, Atoms, Law, Points
from .loss_pairs import Between, GaussianPair, Outcomes, Pair, whole
from .pairs_finite import ResponsePair
from .shuffle_pair import clone_laws, reachable

How = Literal["poisson", "fixed"]
ROUGHEST = 64
"""Above so many grid steps a rounded normal variable is not told from a real one."""


@dataclass(frozen=True, slots=True, repr=False)
class SampledPair(Pair):
    """A base pair behind sampling at a rate: Poisson, for add-remove, or of a fixed size, for
    replace.
    """

    base: Pair
    rate: Fraction
    how: How = "poisson"
    kind = "sampled"

    def __post_init__(self) -> None:
        if self.how not in ("poisson", "fixed"):
            raise Refused(
                "loss.sampled",
                f"how={self.how!r}",
                "samples are drawn by Poisson sampling or have a fixed size",
                "how='poisson'",
            )
        if not isinstance(self.base, Pair):
            raise Refused(
                "loss.sampled",
                f"base={type(self.base).__name__}",
                "a pair is what is sampled",
                "GaussianPair(Fraction(1))",
            )
        if isinstance(self.base, SampledPair):
            raise Refused(
                "loss.sampled",
                f"{self.base!r}",
                "what is sampled twice is sampled once, at the product of the rates",
                "one subsample(q)",
            )
        if self.how == "fixed" and not self.base.symmetric:
            raise Refused(
                "loss.direction",
                f"{self.base!r}",
                "under replace a pair has to be symmetric",
                "a mechanism whose pair is",
            )
        positive(probability(self.rate, "rate", zero=False), "rate")

    @property
    def guarantee(self) -> Guarantee | None:
        whole = self.base.guarantee
        if isinstance(
            whole,
            GDP,
            # of a fixed size: sampling does no harm, and how much it helps is not a statement of
            # this
            # notion
        ):
            return whole if self.how == "fixed" else _renyi(self.rate, whole.mu_squared)
        try:
            return (
                None if whole is None else Guarantee._bind(whole.subsample(self.rate), None, None)
            )
        except Refused:
            return None

    @property
    def largest(self) -> tuple[Between | None, Between | None]:
        """Of removal ln(1 − q + q·e^l), l the base's; of addition −ln(1 − q + q·e^(−l)), and −ln(1
        − q) where the base has no largest or an infinite loss.
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

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """The base's, with the unit in the sample; without it nothing more is known."""
        loss, chance = self.base.top(0 if self.how == "fixed" else side)
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
        """Without the unit nothing is said that could not be said with it."""
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
        found = self.base.outcomes() if self.finite else None
        return (
            None
            if found is None
            else [((1 - ball(self.rate)) * q + ball(self.rate) * p, q) for p, q in found]
        )

    def numbers(self) -> dict[str, Any]:
        return {
            "base": {"kind": self.base.kind, **self.base.numbers()},
            "rate": str(self.rate),
            "how": self.how,
        }

    def within(self, other: Pair) -> bool:
        """More of the data, or of a stronger pair; or all of it, as sampling is processing."""
        more = (
            isinstance(other, SampledPair)
            and self.how == other.how
            and self.rate <= other.rate
            and self.base.within(other.base)
        )
        return more or self.base.within(other)

    def __repr__(self) -> str:
        return (
            f"{self.base!r} of {text(self.rate)} "
            f"{'by Poisson sampling' if self.how == 'poisson' else 'in samples of a fixed size'}"
        )


@lru_cache(maxsize=64)
def _renyi(rate: Fraction, mu_squared: Fraction) -> Renyi | None:
    """The Rényi curve of sampled Gaussian noise, kept: it is asked for at every order. None where
    it leaves the doubles.
    """
    try:
        return subsampled_gaussian(rate, mu_squared)
    except Refused:
        return None


def sampled(base: Pair, rate: Fraction, how: How) -> Pair:
    """The pair behind sampling; the base itself where everything is sampled."""
    if rate == 1:
        return base
    if rate == 0:
        return ResponsePair(Fraction(0))
    return SampledPair(base, rate, how)


@dataclass(frozen=True, slots=True, repr=False)
class RoundedPair(Pair):
    """A normal variable of standard deviation σ grid steps, rounded to a step, and the same `steps`
    steps further.
    """

    steps: int
    sigma: Fraction
    kind = "rounded"

    def __post_init__(self) -> None:
        whole(self.steps, "steps")
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
        seen = (p > NOTHING) & (q > NOTHING)
        loss = np.log(p[seen]) - np.log(q[seen])
        error = real.error + 256 * UNIT * (1 + reach / sigma)
        slack = 2 * error + FUNCTION * 1500
        apart = float(max(p[~seen].sum(), q[~seen].sum())) * (
            1 + 1e-9
        )  # where one of the two is nothing to a double
        return Points(
            Atoms(loss, p[seen], q[seen]), error, slack, symmetric=True, unseen=apart + 2.0**-980
        )

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """Noise that is not positive: Φ(1/(2σ)) against Φ((½ − steps)/σ)."""
        here, there = ball(1 / (2 * self.sigma)), ball((Fraction(1, 2) - self.steps) / self.sigma)
        loss = evaluate(lambda: (normal_cdf(here) / normal_cdf(there)).log(), "down")
        return Fraction(loss), Fraction(evaluate(lambda: normal_cdf(here), "down"))

    def nearer(self, most: int) -> None:
        """Wider noise is not processed rounded noise."""

    def numbers(self) -> dict[str, str]:
        return {"steps": str(self.steps), "sigma": str(self.sigma)}

    def within(self, other: Pair) -> bool:
        """Rounding is processing."""
        return self == other or (
            isinstance(other, GaussianPair) and self.guarantee.mu_squared <= other.mu_squared
        )

    def group(self, size: int) -> RoundedPair:
        return RoundedPair(size * self.steps, self.sigma)


@dataclass(frozen=True, slots=True, repr=False)
class ClonePair(Pair):
    """One report of a local ε₀-DP randomizer among n shuffled ones (Feldman, McMillan & Talwar
    2021, 2023), replace.
    """

    epsilon: Fraction
    n: int
    kind = "clone"

    def __post_init__(self) -> None:
        reachable(positive(self.epsilon, "epsilon"))
        whole(self.n, "n")

    @property
    def guarantee(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def largest(self) -> tuple[Between, Between]:
        return (self.epsilon, self.epsilon), (self.epsilon, self.epsilon)

    def law(self) -> Law:
        return self.laws()[1]

    def laws(self) -> tuple[Law, Law]:
        return clone_laws(float(self.epsilon), self.n)

    def numbers(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "n": str(self.n)}

    def within(self, other: Pair) -> bool:
        return isinstance(other, ClonePair) and self.epsilon == other.epsilon and self.n >= other.n
