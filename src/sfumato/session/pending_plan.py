"""The plan of a question that needs learned limits first. Its cost is known, its accuracy not yet.

*Known*   The question is planned with limits of 1 and with limits of 2. An error that is equal in
          both does not depend on the limits to be learned. Any other error is stated per row that a
          unit will count for, and per unit of the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import MissingLimit
from ..tables.plan.query_plan import Plan, summarize_plan
from ..templates.summary import ShownText, Summarized, Summary
from .batches import summarize_batch

AFTER = "after learning"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PendingPlan(Summarized):
    """The missing limits of a question, the cost of learning them, and three plans: `base` with
    limits of 1, `more_rows` with twice the rows per unit, `wider` with bounds twice as wide.
    """

    missing: tuple[MissingLimit, ...]
    learning: Guarantee
    cost: Guarantee
    base: Plan
    more_rows: Plan
    wider: Plan

    @property
    def promise(self) -> Guarantee:
        return self.base.promise

    @property
    def text(self) -> str:
        """The question, as text."""
        return self.base.text

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float | str]:
        """Return the expected ± of each column, or "after learning" if it depends on the limits."""
        base, *larger = (
            plan.error(confidence, group_size=group_size)
            for plan in (self.base, self.more_rows, self.wider)
        )
        return {
            name: width if all(errors[name] == width for errors in larger) else AFTER
            for name, width in base.items()
        }

    def explain(self) -> str:
        """Describe the release in sentences."""
        query = self.base.query
        lines = [
            self.what,
            f"cost    {cost_text(self.cost)}, of which {cost_text(self.learning)} is for learning",
        ]
        lines.append(
            f"unit    {query.rows.declaration.unit_name}, neighbours by "
            f"{query.rows.declaration.relation}"
        )
        lines += [f"learn   {limit.words}" for limit in self.missing]
        return ShownText("\n".join([*lines, *self.errors]))

    def __str__(self) -> str:
        return self.explain()

    def _summary(self) -> Summary:
        learned = " and ".join(limit.words for limit in self.missing)
        return summarize_plan(
            self.cost,
            [
                (name, AFTER if isinstance(error, str) else self.base.about(name, error))
                for name, error in self.error().items()
            ],
            self.text,
            [f"of this {self.learning.numbers_text} to learn {learned}"],
        )

    @property
    def what(self) -> str:
        return "what    " + self.text.replace("\n", "\n        ")

    @property
    def errors(self) -> list[str]:
        """Describe the error of each column."""
        return [
            (
                f"error   {name} "
                f"{self._later(name) if isinstance(error, str) else self.base.about(name, error)}"
            )
            for name, error in self.error().items()
        ]

    def _later(self, name: str) -> str:
        base, more_rows, wider = (
            plan.error()[name] for plan in (self.base, self.more_rows, self.wider)
        )
        each = [
            words
            for words, width in (
                ("row that a unit counts for", more_rows),
                ("unit of the bounds", wider),
            )
            if width != base
        ]
        return f"{AFTER}: about ± {base:.4g} for each {' and each '.join(each)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PendingBatch(Summarized):
    """A batch of questions that needs learned limits first."""

    missing: tuple[MissingLimit, ...]
    learning: Guarantee
    cost: Guarantee
    promise: Guarantee
    shares: tuple[Fraction, ...]
    plans: tuple[PendingPlan, ...]

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> tuple[dict[str, float | str], ...]:
        """Return for each question the expected ± of each column, or "after learning"."""
        return tuple(plan.error(confidence, group_size=group_size) for plan in self.plans)

    def explain(self) -> str:
        """Describe the release in sentences."""
        lines = [
            (
                f"batch   {len(self.plans)} questions, together {cost_text(self.cost)}, of "
                f"which {cost_text(self.learning)} is for learning"
            )
        ]
        lines += [f"learn   {limit.words}" for limit in self.missing]
        for share, plan in zip(self.shares, self.plans, strict=True):
            lines += ["", f"share   {share} of {cost_text(self.promise)}", plan.what, *plan.errors]
        return ShownText("\n".join(lines))

    def __str__(self) -> str:
        return self.explain()

    def _summary(self) -> Summary:
        learned = " and ".join(limit.words for limit in self.missing)
        return summarize_batch(
            self.cost,
            self.shares,
            self.plans,
            [f"of this {self.learning.numbers_text} to learn {learned}"],
        )
