"""The noise of a cell in a reconciled table: few different weights, each of many draws of the
measured tables.

*Law*     A weighted sum of independent draws, and a rounding to the grid of the estimates.
*Promise* That of all measured tables together: reconciling is post-processing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add

from ...guarantees import Guarantee, Relation
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.mechanism import Mechanism
from ...noise.many_draws import RoundingError
from ...noise.weighted_sums import Spread, SumLaw, Term
from ...records import record
from .parts import Keys


@record
class MeasuredDraws:
    """The draws of one measured table in a cell: their mechanism, and weights with the number of
    draws that have each. The keys of the measured table, and its weight in least squares, let
    others weigh it anew; None where nobody recorded them.
    """

    mechanism: Additive
    weights: tuple[tuple[Fraction, int], ...]
    keys: Keys | None = None
    precision: Fraction | None = None


@record
class ReconciledNoise(Mechanism):
    """The noise of a reconciled cell, in steps of its grid; `rounding` is the most that rounding to
    the grid moves it.
    """

    draws: tuple[MeasuredDraws, ...]
    rounding: Fraction

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]  # derived, not a field
        return self.draws[0].mechanism.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]  # derived, not a field
        return self.draws[0].mechanism.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """The sum of the promises of the measured tables."""
        return (reduce(add, (each.mechanism.promise for each in self.draws)),)

    @property
    def law(self) -> SumLaw:
        """The law of the noise."""
        terms: list[Term] = []
        for each in self.draws:
            law: Spread = each.mechanism.law
            terms += [(law, abs(weight), count) for weight, count in each.weights]
        return SumLaw((*terms, (RoundingError(self.rounding), Fraction(1), 1)))

    @property
    def variance(self) -> float:
        """The variance of the noise of a cell."""
        return self.law.variance

    def __repr__(self) -> str:
        measured = ", ".join(dict.fromkeys(repr(each.mechanism) for each in self.draws))
        return f"ReconciledNoise({measured})"

    @property
    def exact_variance(self) -> Fraction:
        """The variance as a fraction, without the rounding to the grid; of Laplace noise, to the
        nearest double of the variance of a draw.
        """
        return sum(
            (
                Fraction(each.mechanism.law.variance) * weight**2 * count
                for each in self.draws
                for weight, count in each.weights
            ),
            Fraction(0),
        )
