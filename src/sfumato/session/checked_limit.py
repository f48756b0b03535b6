"""What is known of a declared limit of rows after its check: the share of rows beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..guarantees import Guarantee
from ..tables.declare.learned_limits import WORTH_SAYING, percent
from ..tables.plan.explain import cost_text
from ..templates.summary import Summarized, Summary


@dataclass(frozen=True, slots=True, repr=False)
class CheckedLimit(Summarized):
    """The share of rows beyond a limit of rows per unit: about, and at least (95 %)."""

    limit: int
    unit: str
    about: Fraction
    least: Fraction
    cost: Guarantee | None

    @property
    def note(self) -> str:
        """The sentence below an answer; "" where 0 is not excluded."""
        if self.least < WORTH_SAYING:
            return ""
        return (
            f"about {percent(self.about)} of rows, beyond the limit of {self.limit} per "
            f"{self.unit}, are not counted (at least {percent(self.least)})"
        )

    def __str__(self) -> str:
        unknown = (
            f"rows beyond the limit of {self.limit} per {self.unit}: too few to tell from none"
        )
        paid = "cost nothing" if self.cost is None else f"cost {cost_text(self.cost)}"
        return f"{self.note or unknown}\n{paid}"

    def _summary(self) -> Summary:
        return Summary(title=f"limit of rows per {self.unit}", notes=str(self).split("\n"))
