"""A question to a table, or to several, as text or as a query, that can be asked again when more is
known of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..answers.answer import Answer
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded
from ..release import release
from ..tables.plan.components import wanted
from ..tables.plan.missing_limits import Declared, Lack, lacking, redeclared
from ..tables.plan.query_plan import Plan, plan
from ..tables.query.stages import Query
from .accuracy import Goal, Make
from .pending_plan import Awaiting
from .request import Asking, refused

if TYPE_CHECKING:
    from .protected_table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Question(Asking[Plan, Awaiting]):
    """What is asked of a table."""

    table: Table
    of: Query | str
    parameters: Sequence[Any] | Mapping[str, Any] | None = None

    def asked(self, declared: Declared | None = None) -> Any:
        """Of a text: what it asks, of the tables as they are declared now, or otherwise."""
        from ..sql import read

        assert isinstance(self.of, str)
        known = self.table.known
        rows = known.rows if declared is None else known.rows_of(declared)
        return read(
            self.of, rows[self.table.name], self.parameters, {} if known.whole is None else rows
        )

    @property
    def explains(self) -> bool:
        """Whether a text asks only to be explained."""
        from ..sql import explains

        return isinstance(self.of, str) and explains(self.of)

    def query(self, declared: Declared | None = None) -> Query:
        """The query, of the tables as they are declared now, or otherwise."""
        if isinstance(self.of, str):
            found: Query = self.asked(declared).query
            return found
        own, known = self.table._own(self.of), self.table.known
        if getattr(own.rows.curator, "known", None) is not known or (
            declared is None and not known.lessons
        ):
            return own
        return redeclared(own, known.rows if declared is None else known.rows_of(declared))

    def plan(self, promise: Guarantee, group_size: int, declared: Declared | None = None) -> Plan:
        """The plan for a promise; refused where something is missing."""
        return self._planner(declared)(promise, group_size)

    def make(self, goal: Goal, declared: Declared | None = None) -> Plan:
        """The plan that keeps the promise, or the cheapest that is accurate enough."""
        return goal.plan(self._planner(declared))

    def _planner(self, declared: Declared | None) -> Make:
        """Plan this question for any promise. The text is read once, however many promises a search
        tries.
        """
        asked = self.asked(declared) if isinstance(self.of, str) else None
        query = self.query(declared) if asked is None else self.table._own(asked.query)
        source, needed = self.table._source_of(query), wanted(query)

        def make(promise: Guarantee, group_size: int) -> Plan:
            made = plan(query, promise, source, group_size, needed)
            finished: Plan = made if asked is None else asked.planned(made)
            return finished

        return make

    def plans(self, made: Plan) -> tuple[Plan, ...]:
        """This one."""
        return (made,)

    def lacking(self, declared: Declared) -> tuple[Lack, ...]:
        """What has to be learned for it."""
        return lacking(self.query, declared)

    def waiting(
        self,
        lacks: tuple[Lack, ...],
        learning: Guarantee,
        cost: Guarantee,
        tried: tuple[Plan, Plan, Plan],
    ) -> Awaiting:
        """What is known before learning."""
        return Awaiting(lacks, learning, cost, *tried)

    def released(
        self, goal: Goal, *, learning: bool, share: str | None, fresh: bool, timeout: float | None
    ) -> tuple[Plan, Answer]:
        """The answer, after learning what it lacks, and the plan that it was made by."""
        made, said = self.ready(goal, learning=learning, share=share, fresh=fresh, timeout=timeout)
        try:
            answer = release(made, self.table.ledger, share=share, fresh=fresh, timeout=timeout)
        except BudgetExceeded as refusal:
            raise refused(refusal, made, goal, said) from None
        return made, replace(answer, rules=(*answer.rules, *said)) if said else answer
