"""Choose ε and δ together, from the number of units, a tolerated error and a tolerated risk.

*Delta*    n·δ units may be expected to be published in full: δ = `leaks`/n.
*Needed*   The least ε at this δ at which each of `counts` counts is within ± error: that of Laplace
           noise, or of Gaussian noise by its exact curve, whichever is less.
*Allowed*  The largest ε at this δ at which no attacker's true-positive rate exceeds the
           false-positive rate by more than `advantage`: (e^ε − 1 + 2δ)/(e^ε + 1) = advantage.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, is_whole, positive, probability, rounded
from ..guarantees import GDP
from ..mechanisms import Gaussian, Laplace
from . import accounting_refusals as refusals

_DIGITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChoice:
    """δ, the least ε that the error asks for, the noise that reaches it, and the largest ε that the
    risk allows.
    """

    delta: float
    epsilon: float
    epsilon_allowed: float
    noise: str

    @property
    def is_possible(self) -> bool:
        """Whether the risk allows what the error asks for."""
        return self.epsilon <= self.epsilon_allowed


def choose_epsilon_delta(
    *,
    units: int,
    error: Number,
    advantage: Number,
    counts: int = 1,
    confidence: Number = 0.95,
    leaks: Number = Fraction(1, 1000),
) -> BudgetChoice:
    """Choose ε and δ for so many units and counts: `units` is a public number, `leaks` the number
    of units that may be expected to be published in full.
    """
    if not is_whole(units, 1) or not is_whole(counts, 1):
        raise refusals.UNITS_OR_COUNTS_BELOW_ONE(units=units, counts=counts)
    delta = probability(leaks, "leaks", zero=False) / units
    risk = probability(advantage, "advantage", zero=False)
    if risk <= delta:
        raise refusals.ADVANTAGE_BELOW_DELTA(advantage=float(risk), delta=float(delta))
    width = positive(error, "error")
    laplace = Laplace(sensitivity=1, error=width, confidence=confidence)
    gaussian = Gaussian(sensitivity=1, error=width, confidence=confidence)
    mu = evaluate(lambda: ball(Fraction(counts)).sqrt() / ball(gaussian.sigma), "up")
    needed = {
        "Laplace": rounded(counts / laplace.scale, "up", _DIGITS),
        "Gaussian": rounded(Fraction(GDP(Fraction(mu)).epsilon(delta)), "up", _DIGITS),
    }
    best = min(needed, key=lambda noise: needed[noise])
    allowed = evaluate(
        lambda: ((1 + ball(risk) - 2 * ball(delta)) / (1 - ball(risk))).log(), "down"
    )
    return BudgetChoice(
        delta=float(rounded(delta, "down", _DIGITS)),
        epsilon=float(needed[best]),
        epsilon_allowed=float(rounded(Fraction(allowed), "down", _DIGITS)),
        noise=best,
    )
