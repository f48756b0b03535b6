"""One question to protected tables, as SQL text or as a query. It can be planned again whenever a
limit was learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..answers.answer import Answer
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded
from ..release import release
from ..tables.plan.components import components_of
from ..tables.plan.missing_limits import (
    Declared,
    MissingLimit,
    find_missing_limits,
    redeclare_query,
)
from ..tables.plan.query_plan import Plan, plan
from ..tables.query.question_options import ParameterValues, QuestionSettings
from ..tables.query.stages import Query
from .accuracy import Goal, Make
from .pending_plan import PendingPlan
from .request import Request, explain_refusal

if TYPE_CHECKING:
    from ..sql import ParsedQuery
    from .protected_table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Question(Request[Plan, PendingPlan]):
    """A query or a SELECT about a table, with its parameters."""

    table: Table
    of: Query | str
    parameters: ParameterValues | None = None

    def parse(self, declared: Declared | None = None) -> ParsedQuery:
        """Parse the SQL text against these declarations, or the current ones."""
        from ..sql import read

        assert isinstance(self.of, str)
        state = self.table.state
        rows = state.rows if declared is None else state.rows_of(declared)
        return read(
            self.of, rows[self.table.name], self.parameters, {} if state.database is None else rows
        )

    @property
    def explains(self) -> bool:
        """Whether the text is an EXPLAIN PRIVACY."""
        from ..sql import explains

        return isinstance(self.of, str) and explains(self.of)

    def query(self, declared: Declared | None = None) -> Query:
        """Return the query on these declarations, or on the current ones."""
        if isinstance(self.of, str):
            return self.parse(declared).query
        query, state = self.table._check_query(self.of), self.table.state
        if getattr(query.rows.curator, "state", None) is not state or (
            declared is None and not state.lessons
        ):
            return query
        return redeclare_query(query, state.rows if declared is None else state.rows_of(declared))

    def plan(self, promise: Guarantee, group_size: int, declared: Declared | None = None) -> Plan:
        """Plan for a promise; refuse where a limit is missing."""
        return self._planner(declared)(promise, group_size)

    def make(self, goal: Goal, declared: Declared | None = None) -> Plan:
        """Return the plan that keeps the promise, or the cheapest that is accurate enough."""
        return goal.plan(self._planner(declared))

    def _planner(self, declared: Declared | None) -> Make:
        """Return a function that plans this question for any promise. The text is parsed once,
        however many promises a search tries.
        """
        parsed = self.parse(declared) if isinstance(self.of, str) else None
        query = self.query(declared) if parsed is None else self.table._check_query(parsed.query)
        source, needed = self.table._source_of(query), components_of(query)

        def make(promise: Guarantee, group_size: int) -> Plan:
            planned = plan(query, promise, source, group_size, needed)
            return planned if parsed is None else parsed.planned(planned)

        return make

    def plans(self, plan: Plan) -> tuple[Plan, ...]:
        """Return the single plan."""
        return (plan,)

    def missing_limits(self, declared: Declared) -> tuple[MissingLimit, ...]:
        """List the limits that have to be learned for the question."""
        return find_missing_limits(self.query, declared)

    def pending(
        self,
        missing: tuple[MissingLimit, ...],
        learning: Guarantee,
        cost: Guarantee,
        tried: tuple[Plan, Plan, Plan],
    ) -> PendingPlan:
        """Describe the question before learning."""
        return PendingPlan(missing, learning, cost, *tried)

    def release(self, goal: Goal, settings: QuestionSettings) -> tuple[Plan, Answer]:
        """Learn missing limits, charge and answer; return the plan with the answer."""
        plan, notes = self.prepare(goal, settings)
        try:
            answer = release(
                plan,
                self.table.ledger,
                share=settings.share,
                fresh=settings.fresh,
                timeout=settings.timeout,
            )
        except BudgetExceeded as refusal:
            raise explain_refusal(refusal, plan, goal, notes) from None
        return plan, replace(answer, rules=(*answer.rules, *notes)) if notes else answer
