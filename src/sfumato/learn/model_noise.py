"""The noise of a model: one cost, divided among steps whose scales are all fixed beforehand.

*Cost*     μ² of Gaussian differential privacy: of ε and δ the largest, of ρ 2ρ.
*Steps*    A step that moves by Δ in the Euclidean norm, with the share s of the cost, has σ² =
           Δ²/(s·μ²). What a step measures may depend on the noisy numbers of earlier ones; σ does
           not, so the costs add up (docs/proofs/models.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..exact.balls import root_up
from ..exact.numbers import Number, positive, probability
from ..guarantees import GDP, ZCDP, Approx, Guarantee
from ..guarantees.gdp import largest_mu
from ..mechanisms import Combined, Gaussian
from ..session.promises import DELTA_PARTS
from ..tables.plan.bounding import Bounding
from . import learn_refusals as refusals


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What a model may cost: μ², and the ε and δ to state, if the cost is asked for so."""

    mu_squared: Fraction
    stated: tuple[Fraction, Fraction] | None

    @classmethod
    def of(
        cls, epsilon: Number | None, delta: Number | None, promise: object, spare: Number
    ) -> ModelCost:
        """Read `epsilon` with `delta`, or with `spare` in place of a δ, or a promise."""
        if promise is None:
            if epsilon is None:
                raise refusals.COST_MISSING()
            e = positive(epsilon, "epsilon")
            d = probability(spare if delta is None else delta, "delta")
            if not d:
                raise refusals.DELTA_MISSING(cost=f"epsilon={epsilon}")
            return cls(largest_mu(e, d) ** 2, (e, d))
        if epsilon is not None or not isinstance(promise, Guarantee):
            raise refusals.COST_MISSING()
        if isinstance(promise, GDP):
            return cls(promise.mu_squared, None)
        if isinstance(promise, ZCDP):
            return cls(2 * promise.rho, None)
        if isinstance(promise, Approx) and promise.parameters["delta"]:
            e, d = promise.parameters["epsilon"], promise.parameters["delta"]
            return cls(largest_mu(e, d) ** 2, (e, d))
        raise refusals.DELTA_MISSING(cost=promise)

    @property
    def guarantee(self) -> Guarantee:
        """The cost as a promise."""
        return Approx(*self.stated) if self.stated else GDP.from_square(self.mu_squared)

    def divide(
        self, moves_squared: Sequence[int], shares: Sequence[Fraction], bounding: Bounding
    ) -> tuple[tuple[Gaussian, ...], Combined]:
        """Return the noise of each step, and all of it as one mechanism."""
        unit = bounding.called or ", ".join(bounding.unit) or "row"
        noise = tuple(
            Gaussian(
                sensitivity=root_up(Fraction(moved)),
                rho=self.mu_squared * share / 2,
                relation=bounding.relation,
                unit=unit,
            )
            for moved, share in zip(moves_squared, shares, strict=True)
        )
        e, d = self.stated or (None, None)
        return noise, Combined(noise, epsilon=e, delta=d)


ARRAY_DELTA = Fraction(1, 10**6)
"""The δ of a model of arrays without a stated one."""


def spare_delta(budget: Guarantee) -> Fraction:
    """Return the δ that a release may use without asking: a thousandth of the budget's."""
    spare = budget.parameters.get("delta", Fraction(0))
    return spare / DELTA_PARTS if isinstance(spare, Fraction) else Fraction(0)


def counts_move(bounding: Bounding, columns: int) -> int:
    """Return the square of how far a unit moves the counts of the codes of all columns: a row's
    one-hot vector has norm √columns and no negative entry.
    """
    return columns * bounding.weight**2 * (2 if bounding.relation == "replace" else 1)


def sums_move(bounding: Bounding, row_squared: int) -> int:
    """Return the square of how far a unit moves a sum of vectors, where that of a row has at most
    this squared norm and any sign.
    """
    return row_squared * bounding.weight**2 * (4 if bounding.relation == "replace" else 1)
