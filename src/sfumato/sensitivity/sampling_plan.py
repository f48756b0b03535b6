"""Sampling plans: how many random pairs of neighbours to try, and which of their sorted moves to
take, so that a new pair moves further with probability at most γ.

*Order*      the moves of m sampled pairs and of one new pair are exchangeable, so the new one
             exceeds the k-th smallest of the m with probability at most 1 − k/(m + 1): exactly that
             where no two moves are equal. Hence k = ⌈(1 − γ)(m + 1)⌉, and γ ≥ 1/(m + 1). No smaller
             k holds for every law.
*Diffpriv*   the plan of R's diffpriv, by the Dvoretzky–Kiefer–Wolfowitz inequality at confidence 1
             − ρ: γ' = ρ + √(ln(1/ρ)/(2m)), k = ⌈m(1 − γ + γ')⌉, with ρ = exp(W₋₁(−1/(4m))/2) for a
             given m, and for a given γ alone ρ = exp(W₋₁(−γ/(2√e)) + ½), m = ⌈ln(1/ρ)/(2(γ − ρ)²)⌉
             (Rubinstein & Aldà 2017). Its k is never below the first plan's.
*Given γ*    alone, both use diffpriv's m: the first plan would do with ⌈1/γ⌉ − 1 pairs, but the
             largest of so few is a poor estimate.
*Proof*      docs/proofs/sampled-sensitivity.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict, Unpack, cast

from ..exact.numbers import Number, exact, probability, text
from ..keywords import spell_out
from . import sensitivity_refusals as refusals

KINDS = ("order", "diffpriv")
MOST = 10**7


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """m pairs, the k-th smallest of their moves, and γ. `rho` is the confidence that diffpriv's
    plan spends inside γ.
    """

    m: int
    k: int
    gamma: Fraction
    kind: str = "order"
    rho: float | None = None

    @property
    def least_gamma(self) -> float:
        """The smallest γ that m pairs allow."""
        return 1 / (self.m + 1) if self.rho is None else _least(self.m, self.rho)

    def __repr__(self) -> str:
        return f"SamplingPlan(m={self.m}, k={self.k}, gamma={text(self.gamma)}, {self.kind})"


class PlanSizes(TypedDict, total=False):
    """The keywords of a plan: its γ, its number of pairs m, the rank k. One or two of them."""

    gamma: Number | None
    m: int | None
    k: int | None


@spell_out(PlanSizes)
def plan(*, kind: str = "order", **sizes: Unpack[PlanSizes]) -> SamplingPlan:
    """Make a plan from m, from γ, from both, or from k (with m, with γ, or alone: the largest of
    k).
    """
    if kind not in KINDS:
        raise refusals.UNKNOWN_PLAN(plan=kind)
    m, gamma, k = sizes.get("m"), sizes.get("gamma"), sizes.get("k")
    if (m is None and gamma is None and k is None) or None not in (m, gamma, k):
        raise refusals.PLAN_OF_NONE_OR_ALL()
    level = None if gamma is None else probability(gamma, "gamma", zero=False)
    pairs, rank = _count(m, "m"), _count(k, "k")
    return _order(pairs, level, rank) if kind == "order" else _diffpriv(pairs, level, rank)


def _order(m: int | None, gamma: Fraction | None, k: int | None) -> SamplingPlan:
    if k is not None:
        pairs = m if m is not None else k if gamma is None else math.floor(k / (1 - gamma)) - 1
        if not k <= pairs <= MOST:
            raise refusals.K_ABOVE_M(k=k, m=pairs, most=MOST)
        return SamplingPlan(pairs, k, 1 - Fraction(k, pairs + 1))
    pairs = m or (_pairs(float(gamma)) if gamma is not None else 0)
    if gamma is None:
        return SamplingPlan(pairs, pairs, Fraction(1, pairs + 1))
    rank = max(1, math.ceil((1 - gamma) * (pairs + 1)))
    if rank > pairs:
        raise refusals.TOO_FEW_PAIRS(m=pairs, gamma=text(gamma), enough=math.ceil(1 / gamma) - 1)
    return SamplingPlan(pairs, rank, gamma)


def _diffpriv(m: int | None, gamma: Fraction | None, k: int | None) -> SamplingPlan:
    if m is None and k is not None:
        raise refusals.K_WITHOUT_M(k=k)
    level = None if gamma is None else float(gamma)
    rho = _rho_of_gamma(cast(float, level)) if m is None else _rho(m)
    pairs = m if m is not None else _pairs(cast(float, level))
    least = _least(pairs, rho)
    if gamma is None:
        stated = Fraction(
            math.nextafter(least + (0.0 if k is None else (pairs - k) / pairs), math.inf)
        )
        if (k or 1) > pairs or stated >= 1:
            raise refusals.NO_GAMMA_FITS(m=pairs, k=k)
        return SamplingPlan(pairs, pairs if k is None else k, stated, "diffpriv", rho)
    rank = math.ceil(pairs * (1.0 - float(gamma) + least))
    if rank > pairs:
        raise refusals.GAMMA_BELOW_DIFFPRIV(
            m=pairs, gamma=text(gamma), least=least, enough=_pairs(float(gamma))
        )
    return SamplingPlan(pairs, rank, gamma, "diffpriv", rho)


def _pairs(gamma: float) -> int:
    """Return diffpriv's m for a γ."""
    rho = _rho_of_gamma(gamma)
    m = math.ceil(math.log(1.0 / rho) / (2.0 * (gamma - rho) ** 2))
    if m > MOST:
        raise refusals.TOO_MANY_PAIRS(gamma=gamma, most=MOST)
    return m


def _rho(m: int) -> float:
    """Return exp(W₋₁(−1/(4m))/2); for m = 1 as well, as 1/4 < 1/e."""
    return math.exp(lower_lambert(-1.0 / (4 * m)) / 2.0)


def _rho_of_gamma(gamma: float) -> float:
    return math.exp(lower_lambert(-gamma / (2.0 * math.exp(0.5))) + 0.5)


def _least(m: int, rho: float) -> float:
    return rho + math.sqrt(math.log(1.0 / rho) / (2 * m))


def lower_lambert(x: float) -> float:
    """Return W₋₁(x), the lower of the two w with w·e^w = x, for −1/e < x < 0, by Newton's method on
    ln(−w) + w = ln(−x), which is concave there.
    """
    target = math.log(-x)
    w = target - math.log(-target) if target < -2.0 else -1.0 - math.sqrt(-2.0 * (target + 1.0))
    for _ in range(100):
        step = (math.log(-w) + w - target) / (1.0 / w + 1.0)
        w -= step
        if abs(step) <= 1e-15 * abs(w):
            break
    return w


def _count(value: Number | None, name: str) -> int | None:
    """Check that m or k is a whole number in range."""
    if value is None:
        return None
    number = exact(value, name)
    if number.denominator != 1 or not 1 <= number <= MOST:
        raise refusals.NOT_A_PAIR_COUNT(name=name, value=text(number), most=MOST)
    return int(number)
