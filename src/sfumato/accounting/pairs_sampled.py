"""Dominating pairs that are made of others: of sampled releases, of rounded normal noise, of one report among many shuffled ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..errors import Refused
from ..exact.balls import ball
from ..exact.numbers import text
from ..guarantees import GDP, Guarantee, Pure, Renyi
from ..guarantees.pure import amplified
from ..guarantees.renyi import subsampled_gaussian
from .loss_families import GaussianLaw
from .loss_laws import FUNCTION, NOTHING, UNIT, Atoms, Law, Points
from .pairs import GaussianPair, Outcomes, Pair
from .pairs_finite import ResponsePair
from .shuffle_pair import clone_law
from .subsampling import FixedLaw, PoissonLaw

How = Literal["poisson", "fixed"]
ROUGHEST = 64
"""Above so many grid steps a rounded normal variable is not told from a real one."""


@dataclass(frozen=True, slots=True, repr=False)
class SampledPair(Pair):
    """A base pair behind sampling at a rate: Poisson, for add-remove, or of a fixed size, for replace."""

    base: Pair
    rate: Fraction
    how: How = "poisson"
    kind = "sampled"

    @property
    def guarantee(self) -> Guarantee | None:
        whole = self.base.guarantee
        if isinstance(whole, GDP):  # of a fixed size: sampling does no harm, and how much it helps is not a statement of this notion
            return whole if self.how == "fixed" else _renyi(self.rate, whole.mu_squared)
        try:
            return None if whole is None else Guarantee._bind(whole.subsample(self.rate), None, None)
        except Refused:
            return None

    @property
    def largest(self) -> Fraction | None:
        most = self.base.largest
        return None if most is None or (self.base.lost[1] and self.how == "poisson") else amplified(most, self.rate)

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        """Without the unit nothing is said that could not be said with it."""
        lost = self.rate * self.base.lost[0]
        return lost, lost if self.how == "fixed" else Fraction(0)

    @property
    def symmetric(self) -> bool:
        return self.how == "fixed"

    def law(self) -> Law:
        sampled = PoissonLaw(self.base.law(), float(self.rate))
        return sampled if self.how == "poisson" else FixedLaw(sampled)

    @property
    def finite(self) -> bool:
        return self.how == "poisson" and self.base.finite

    def outcomes(self) -> Outcomes | None:
        found = self.base.outcomes() if self.finite else None
        return None if found is None else [((1 - ball(self.rate)) * q + ball(self.rate) * p, q) for p, q in found]

    def numbers(self) -> dict[str, Any]:
        return {"base": {"kind": self.base.kind, **self.base.numbers()}, "rate": str(self.rate), "how": self.how}

    def within(self, other: Pair) -> bool:
        """More of the data, or of a stronger pair; or all of it, as sampling is processing."""
        more = isinstance(other, SampledPair) and self.how == other.how and self.rate <= other.rate and self.base.within(other.base)
        return more or self.base.within(other)

    def __repr__(self) -> str:
        return f"{self.base!r} of {text(self.rate)} {'by Poisson sampling' if self.how == 'poisson' else 'in samples of a fixed size'}"


@lru_cache(maxsize=64)
def _renyi(rate: Fraction, mu_squared: Fraction) -> Renyi | None:
    """The Rényi curve of sampled Gaussian noise, kept: it is asked for at every order. None where it leaves the doubles."""
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
    if isinstance(base, SampledPair):
        raise Refused("loss.sampled", f"{base!r}", "what is sampled twice is sampled once, at the product of the rates", "one subsample(q)")
    if how == "fixed" and not base.symmetric:
        raise Refused("loss.direction", f"{base!r}", "under replace a pair has to be symmetric", "a mechanism whose pair is")
    return SampledPair(base, rate, how)


@dataclass(frozen=True, slots=True, repr=False)
class RoundedPair(Pair):
    """A normal variable of standard deviation σ grid steps, rounded to a step, and the same `steps` steps further."""

    steps: int
    sigma: Fraction
    kind = "rounded"

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
        apart = float(max(p[~seen].sum(), q[~seen].sum())) * (1 + 1e-9)  # where one of the two is nothing to a double
        return Points(Atoms(loss, p[seen], q[seen]), error, slack, symmetric=True, unseen=apart + 2.0**-980)

    def numbers(self) -> dict[str, str]:
        return {"steps": str(self.steps), "sigma": str(self.sigma)}

    def within(self, other: Pair) -> bool:
        """Rounding is processing."""
        return self == other or (isinstance(other, GaussianPair) and self.guarantee.mu_squared <= other.mu_squared)

    def group(self, size: int) -> RoundedPair:
        return RoundedPair(size * self.steps, self.sigma)


@dataclass(frozen=True, slots=True, repr=False)
class ClonePair(Pair):
    """One report of a local ε₀-DP randomizer among n shuffled ones (Feldman, McMillan & Talwar 2021, 2023), replace."""

    epsilon: Fraction
    n: int
    kind = "clone"

    @property
    def guarantee(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def largest(self) -> Fraction:
        return self.epsilon

    def law(self) -> Law:
        return clone_law(float(self.epsilon), self.n)

    def numbers(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "n": str(self.n)}

    def within(self, other: Pair) -> bool:
        return isinstance(other, ClonePair) and self.epsilon == other.epsilon and self.n >= other.n
