"""Privacy filters: budgets under which costs may be chosen after earlier answers were seen.

A composition theorem with parameters fixed beforehand says nothing about someone who looks at an
answer and then decides how much to spend next. In some currencies the plain sum may be stopped
anywhere and still counts; only these are admitted, each by its theorem.

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

from ..errors import Refused
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ..guarantees.guarantee import settle
from .budget_vector import at_orders, make, read

FILTERS: dict[type[Guarantee], str] = {
    Pure: "Σε ≤ ε (Rogers, Roth, Ullman & Vadhan 2016)",
    Approx: "Σε ≤ ε and Σδ ≤ δ (Rogers, Roth, Ullman & Vadhan 2016)",
    ZCDP: (
        "Σρ ≤ ρ and Σδ ≤ δ (Feldman & Zrnic 2021 at every order; Whitehouse, Ramdas, Rogers "
        "& Wu 2023 with δ)"
    ),
    Renyi: "Σ curve(α) ≤ curve(α) at every order α of the budget, and Σδ ≤ δ (Feldman & Zrnic 2021)",
    GDP: "Σμ² ≤ μ² (Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2023)",
}
"""The currencies that admit costs chosen along the way, and the theorem that says so."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A budget, and what has been spent of it; charging gives a new one."""

    budget: Guarantee
    spent: Guarantee

    def __init__(self, budget: Guarantee, spent: Guarantee | None = None) -> None:
        if type(budget) not in FILTERS:
            currencies = ", ".join(notion.__name__ for notion in FILTERS)
            reason = (
                "a currency without a proven filter: costs that depend on earlier answers "
                "could not be added up in it"
            )
            raise Refused(
                "filter.currency", f"Filter({budget})", reason, f"a budget in one of {currencies}"
            )
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "spent", 0 * budget)
        if spent is not None:
            object.__setattr__(self, "spent", self.spend(spent).spent)

    @property
    def theorem(self) -> str:
        """Why the sum may be stopped anywhere."""
        return FILTERS[type(self.budget)]

    @property
    def remaining(self) -> Guarantee:
        """What can still be spent."""
        left = make(
            self.budget, (b - s for b, s in zip(read(self.budget), read(self.spent), strict=True))
        )
        return Guarantee._bind(left, *settle(self.budget, self.spent))

    def price(self, cost: Guarantee) -> Guarantee:
        """A cost in the currency of the budget."""
        settle(self.budget, cost)
        settle(self.spent, cost)
        if not isinstance(self.budget, Renyi):
            return cost if type(cost) is type(self.budget) else cost.to(type(self.budget))
        priced = at_orders(cost, self.budget.orders)
        if priced.orders != self.budget.orders:
            raise Refused(
                "guarantee.order",
                f"{cost}",
                "it says nothing at some orders of the budget",
                "a cost with bounds at all of them",
            )
        return priced

    def admits(self, cost: Guarantee) -> bool:
        """Whether a charge fits: the one check, total ≤ budget."""
        return self._fits(self.price(cost))

    def spend(self, cost: Guarantee) -> Filter:
        """The filter after a charge, or a refusal."""
        priced = self.price(cost)
        if not self._fits(priced):
            raise Refused(
                "filter.exhausted",
                f"{cost} of {self.budget}",
                f"it does not fit: {self.remaining} is left",
                "a smaller cost",
            )
        after = object.__new__(Filter)
        object.__setattr__(after, "budget", self.budget)
        object.__setattr__(after, "spent", self.spent + priced)
        return after

    def _fits(self, priced: Guarantee) -> bool:
        return all(
            s + c <= b
            for s, c, b in zip(read(self.spent), read(priced), read(self.budget), strict=True)
        )
