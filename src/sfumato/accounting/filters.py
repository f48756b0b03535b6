"""Privacy filters: budgets whose costs may be chosen after seeing earlier answers.

A composition theorem with parameters fixed beforehand does not cover an analyst who looks at an
answer and then decides how much to spend next. In some currencies the plain sum may be stopped
at any time and still holds; only these currencies have a filter, each by its own theorem.

*Rule*      Every cost is converted to the currency when it arrives, then added, number by number. A
            charge is admitted if no sum exceeds the budget.
*Rényi*     The sum has to hold at *every* order of the budget, fixed beforehand. "Go on while some
            order still converts to ≤ ε" is false: which order is good may depend on the answers.
            (Two bits chosen by a first one break (1, 10⁻³): their δ(1) is 1.34·10⁻³.)
*Approx*    The sums of ε and of δ are compared, not what they imply together: (1.01, 0) may imply
            (1, 0.01), but that an unused δ pays for ε along one branch and not along another has no
            theorem here.
*None*      Privacy-loss distributions and f-DP have no such filter, random differential privacy is
            no differential privacy, and a sum of different notions is no currency.
*Proof*     docs/proofs/filters.md
"""

from __future__ import annotations

from dataclasses import dataclass

from ..guarantees import Guarantee
from ..guarantees.guarantee import common_relation_and_unit, currencies
from . import accounting_refusals as refusals

FILTERS: dict[type[Guarantee], str | None] = {kind: kind.theorem for kind in currencies()}
"""The currencies with a filter, and the theorem that proves it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A budget and its spent part. Spending returns a new filter."""

    budget: Guarantee
    spent: Guarantee

    def __init__(self, budget: Guarantee, spent: Guarantee | None = None) -> None:
        if budget.theorem is None:
            notions = ", ".join(kind.__name__ for kind in currencies())
            raise refusals.NO_FILTER_FOR_NOTION(budget=budget, notions=notions)
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "spent", 0 * budget)
        if spent is not None:
            object.__setattr__(self, "spent", self.spend(spent).spent)

    @property
    def theorem(self) -> str:
        """The theorem that lets the sum be stopped at any time."""
        return self.budget.theorem or ""

    @property
    def remaining(self) -> Guarantee:
        """The part of the budget that is left."""
        left = self.budget.from_vector(
            b - s for b, s in zip(self.budget.vector, self.spent.vector, strict=True)
        )
        return Guarantee._bind(left, *common_relation_and_unit(self.budget, self.spent))

    def price(self, cost: Guarantee) -> Guarantee:
        """Convert a cost to the currency of the budget."""
        common_relation_and_unit(self.budget, cost)
        common_relation_and_unit(self.spent, cost)
        return self.budget.price(cost)

    def admits(self, cost: Guarantee) -> bool:
        """Whether a charge fits: total ≤ budget."""
        return self._fits(self.price(cost))

    def spend(self, cost: Guarantee) -> Filter:
        """Return the filter after a charge, or refuse the charge."""
        priced = self.price(cost)
        if not self._fits(priced):
            raise refusals.COST_DOES_NOT_FIT(
                cost=cost, budget=self.budget, remaining=self.remaining
            )
        after = object.__new__(Filter)
        object.__setattr__(after, "budget", self.budget)
        object.__setattr__(after, "spent", self.spent + priced)
        return after

    def _fits(self, priced: Guarantee) -> bool:
        return all(
            s + c <= b
            for s, c, b in zip(self.spent.vector, priced.vector, self.budget.vector, strict=True)
        )
