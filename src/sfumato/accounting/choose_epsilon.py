"""Choose ε from a tolerated error or from a tolerated risk.

*Error*       The least ε at which a count with Laplace noise is within ± error with this
              confidence, by the exact law of the noise.
*Advantage*   The largest ε at which no attacker's true-positive rate exceeds the false-positive
              rate by more than this: tanh(ε/2) = advantage.
*Posterior*   The largest ε at which a belief of `prior` never becomes more than `posterior`: the
              logarithm of the ratio of the odds.

An error demands at least so much ε; a risk allows at most so much. The result has ten digits,
rounded to the safe side, so that its text, which is what `sf.Pure(…)` reads, keeps the bound.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, Side, probability, rounded, text
from ..guarantees.meaning.bayes import check_prior, epsilon_of_posterior
from ..mechanisms import Laplace
from . import accounting_refusals as refusals

_DIGITS = 10


def choose_epsilon(
    *,
    error: Number | None = None,
    confidence: Number = 0.95,
    advantage: Number | None = None,
    posterior: Number | None = None,
    prior: Number = 0.5,
) -> float:
    """Return ε for exactly one of: a tolerated error of a count, a tolerated advantage of an
    attacker, or a tolerated belief `posterior` of an attacker who believed `prior` before.
    """
    demands = [
        name
        for name, value in (("error", error), ("advantage", advantage), ("posterior", posterior))
        if value is not None
    ]
    if len(demands) != 1:
        raise refusals.NOT_ONE_DEMAND(demands=", ".join(f"{name}=…" for name in demands))
    if error is not None:
        needed = Laplace(sensitivity=1, error=error, confidence=confidence)
        return _round_to_float(needed.sensitivity / needed.scale, "up")
    if advantage is not None:
        a = probability(advantage, "advantage", zero=False)
        return _round_to_float(Fraction(evaluate(lambda: 2 * ball(a).atanh(), "down")), "down")
    p, q = check_prior(prior), probability(posterior or 0, "posterior", zero=False)
    if q <= p:
        raise refusals.POSTERIOR_NOT_ABOVE_PRIOR(
            posterior=text(q), prior=text(p), larger=text((1 + p) / 2)
        )
    return _round_to_float(Fraction(epsilon_of_posterior(p, q)), "down")


def _round_to_float(value: Fraction, side: Side) -> float:
    """Return a float whose shortest text is the number with ten digits."""
    return float(rounded(value, side, _DIGITS))
