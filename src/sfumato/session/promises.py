"""Turn user arguments into promises: `epsilon=` alone, with `delta=`, or any Guarantee as
`promise=`; a number as a budget; and shares of a promise.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.numbers import Number, positive, probability
from ..guarantees import Approx, Guarantee, Pure
from ..guarantees.guarantee import noise_notions
from ..tables.query.question_options import QuestionSettings
from . import session_refusals as refusals

BUDGET_DELTA = Fraction(1, 10**6)
"""The δ of a budget given as a number."""
DELTA_PARTS = 1000
"""Without delta=, an answer may use one part in so many of the budget's δ."""


def budget_of(value: Number | Guarantee) -> Guarantee:
    """Return a Guarantee unchanged; a number means Approx(ε, 10⁻⁶), with ε and δ added up."""
    return (
        value if isinstance(value, Guarantee) else Approx(positive(value, "budget"), BUDGET_DELTA)
    )


def promise_of(budget: Guarantee, settings: QuestionSettings) -> Guarantee:
    """Return the promise to keep. Without `delta=`, an answer that needs a δ, or is better with
    one, may use a thousandth of the budget's δ.
    """
    epsilon, delta, promise = settings.epsilon, settings.delta, settings.promise
    if promise is not None:
        if epsilon is not None or delta is not None:
            raise refusals.TWO_PROMISES()
        if not isinstance(promise, Guarantee):
            raise refusals.PROMISE_TYPE(type=type(promise).__name__)
        return promise
    if epsilon is None:
        raise refusals.NO_PROMISE()
    e = positive(epsilon, "epsilon")
    if delta is not None:
        d = probability(delta, "delta")
        return Approx(e, d) if d else Pure(e)
    spare = budget.parameters.get("delta", Fraction(0))
    return Approx(e, spare / DELTA_PARTS) if isinstance(spare, Fraction) and spare else Pure(e)


def share_of(promise: Guarantee, share: Fraction) -> Guarantee:
    """Return a share of a promise: of ε and δ, of ρ, or of μ²."""
    if promise.noise_target is None:
        kinds = ", ".join(f"sf.{kind.__name__}" for kind in noise_notions())
        raise refusals.PROMISE_NOT_DIVISIBLE(promise=promise, kinds=kinds)
    return promise.scaled(share)
