"""The plan of a question for which something has to be learned first: what that will cost is known,
how exact the answer will be is not yet.

*Known*   The question is planned with limits of 1, and with limits of 2. An error that is the same
          in both does not depend on what is to be learned; of the others it can be said how large
          they are for each row that a unit will count for, and each unit of the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import Lack
from ..tables.plan.query_plan import Plan

AFTER = "after learning"


@dataclass(frozen=True, slots=True, eq=False)
class Awaiting:
    """A question, what it lacks, what learning that costs, and its plans with limits of 1, with
    twice the rows of a unit, and with bounds twice as wide.
    """

    lacks: tuple[Lack, ...]
    learning: Guarantee
    cost: Guarantee
    one: Plan
    rows: Plan
    wide: Plan

    @property
    def promise(self) -> Guarantee:
        return self.one.promise

    @property
    def text(self) -> str:
        """The question, as text."""
        return self.one.text

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float | str]:
        """Expected ± of each column, or that it is known after learning."""
        small, *others = (
            plan.error(confidence, group_size=group_size)
            for plan in (self.one, self.rows, self.wide)
        )
        return {
            name: width if all(other[name] == width for other in others) else AFTER
            for name, width in small.items()
        }

    def explain(self) -> str:
        """What would happen, in sentences."""
        query = self.one.query
        lines = [
            self.what,
            f"cost    {cost_text(self.cost)}, of which {cost_text(self.learning)} is for learning",
        ]
        lines.append(
            f"unit    {query.rows.declaration.unit_name}, neighbours by "
            f"{query.rows.declaration.relation}"
        )
        lines += [f"learn   {lack.words}" for lack in self.lacks]
        return "\n".join([*lines, *self.errors])

    def __str__(self) -> str:
        return self.explain()

    @property
    def what(self) -> str:
        return "what    " + self.text.replace("\n", "\n        ")

    @property
    def errors(self) -> list[str]:
        """What is said of the error of each column."""
        return [
            (
                f"error   {name} "
                f"{self._later(name) if isinstance(error, str) else self.one.about(name, error)}"
            )
            for name, error in self.error().items()
        ]

    def _later(self, name: str) -> str:
        one, rows, wide = (plan.error()[name] for plan in (self.one, self.rows, self.wide))
        each = [
            words
            for words, other in (("row that a unit counts for", rows), ("unit of the bounds", wide))
            if other != one
        ]
        return f"{AFTER}: about ± {one:.4g} for each {' and each '.join(each)}"


@dataclass(frozen=True, slots=True, eq=False)
class AwaitingBatch:
    """Several questions that are released together, and for which something has to be learned
    first.
    """

    lacks: tuple[Lack, ...]
    learning: Guarantee
    cost: Guarantee
    promise: Guarantee
    shares: tuple[Fraction, ...]
    parts: tuple[Awaiting, ...]

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> tuple[dict[str, float | str], ...]:
        """Expected ± of each column of each question, or that it is known after learning."""
        return tuple(part.error(confidence, group_size=group_size) for part in self.parts)

    def explain(self) -> str:
        """What would happen, in sentences."""
        lines = [
            (
                f"batch   {len(self.parts)} questions, together {cost_text(self.cost)}, of "
                f"which {cost_text(self.learning)} is for learning"
            )
        ]
        lines += [f"learn   {lack.words}" for lack in self.lacks]
        for share, part in zip(self.shares, self.parts, strict=True):
            lines += ["", f"share   {share} of {cost_text(self.promise)}", part.what, *part.errors]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.explain()
