"""What a user asks for, as a promise: `epsilon=` alone, with `delta=`, or any Guarantee as
`promise=`; a budget given as a number; and shares of a promise.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..errors import Refused
from ..exact.numbers import Number, positive, probability
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure

BUDGET_DELTA = Fraction(1, 10**6)
"""The δ of a budget that is given as a number."""
PART = 1000
"""Of a budget's δ, an answer may use one part in so many, unless it is told otherwise."""

SHARED: dict[type[Guarantee], Callable[[Guarantee, Fraction], Guarantee]] = {
    Pure: lambda promise, share: Pure(promise.parameters["epsilon"] * share),
    Approx: lambda promise, share: Approx(
        promise.parameters["epsilon"] * share, promise.parameters["delta"] * share
    ),
    ZCDP: lambda promise, share: ZCDP(
        promise.parameters["rho"] * share, promise.parameters.get("delta", Fraction(0)) * share
    ),
    GDP: lambda promise, share: GDP.from_square(promise.mu_squared * share),  # type: ignore[attr-defined]
}
"""A share of a promise, by its notion."""


def budget_of(value: Number | Guarantee) -> Guarantee:
    """A Guarantee as it is; a number means Approx(ε, 10⁻⁶), with ε and δ added up."""
    return (
        value if isinstance(value, Guarantee) else Approx(positive(value, "budget"), BUDGET_DELTA)
    )


def promise_of(
    budget: Guarantee, epsilon: Number | None, delta: Number | None, promise: Guarantee | None
) -> Guarantee:
    """The promise to be kept. Without `delta=`, an answer that needs one, or is better with one,
    may use a thousandth of the budget's.
    """
    if promise is not None:
        if epsilon is not None or delta is not None:
            raise Refused(
                "plan.promise",
                "epsilon=…, promise=…",
                "a promise is said in one way",
                "promise=sf.Pure(0.5)",
            )
        if not isinstance(promise, Guarantee):
            raise Refused(
                "plan.promise",
                f"promise={type(promise).__name__}",
                "a promise is a Guarantee",
                "promise=sf.Pure(0.5), or epsilon=0.5",
            )
        return promise
    if epsilon is None:
        raise Refused(
            "plan.promise",
            "no promise",
            "how much of the budget may this cost?",
            "epsilon=0.1, or promise=sf.ZCDP(0.01)",
        )
    e = positive(epsilon, "epsilon")
    if delta is not None:
        d = probability(delta, "delta")
        return Approx(e, d) if d else Pure(e)
    spare = budget.parameters.get("delta", Fraction(0))
    return Approx(e, spare / PART) if isinstance(spare, Fraction) and spare else Pure(e)


def shared(promise: Guarantee, share: Fraction) -> Guarantee:
    """A share of a promise: of ε and δ, of ρ, of μ²."""
    if type(promise) not in SHARED:
        kinds = ", ".join(f"sf.{notion.__name__}" for notion in SHARED)
        raise Refused(
            "plan.promise",
            f"{promise}",
            "a promise of one number, or of one and a δ, can be shared out",
            f"promise= one of {kinds}",
        )
    return SHARED[type(promise)](promise, share)


def without_delta(promise: Guarantee) -> Guarantee:
    """The same ε or ρ, for what needs no δ."""
    if isinstance(promise, Approx):
        return Pure(promise.parameters["epsilon"])
    return ZCDP(promise.parameters["rho"]) if isinstance(promise, ZCDP) else promise
