"""A protected table: its declaration, its questions, and its budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from ..answers.answer import Answer
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..release import or_failed
from ..tables.declare.declaration import Declaration
from ..tables.expr.expressions import Expr
from ..tables.plan.query_plan import Plan
from ..tables.query.row_methods import RowVerbs
from ..tables.query.stages import Query, Rows
from . import session_refusals as refusals
from .accuracy import GROUP_SIZE, Goal, Within
from .batches import Batch, Questions
from .budget_mixin import Budgeted
from .choose_limits import histogram_share
from .learning import LearnedLimit, Learning, missing_for, run_lessons
from .pending_plan import PendingBatch, PendingPlan
from .promises import promise_of
from .questions import Question
from .request import release_promise_of
from .share_payments import charge_share, check_fits, recall_lesson
from .table_state import TableState

if TYPE_CHECKING:
    from ..sql.sql_plan import SqlPlan


class Table(Budgeted, RowVerbs):
    """A declared table with its ledger. It has the methods of its rows: where, mutate, group_by,
    aggregate.
    """

    def __init__(
        self,
        declaration: Declaration,
        source: Any,
        ledger: Ledger,
        *,
        durable: bool,
        state: TableState | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self.name = declaration.name
        self.ledger = ledger
        self.state = state or TableState({declaration.name: declaration})
        self.state.register(self.name, self, source, links)
        self._source = source
        self._durable = durable

    @property
    def declaration(self) -> Declaration:
        """The current declaration, with learned limits."""
        return self.state.declared[self.name]

    @property
    def original(self) -> Declaration:
        """The owner's declaration, without limits learned here."""
        return self.state.original[self.name]

    @property
    def lessons(self) -> dict[tuple[str, ...], LearnedLimit]:
        """The limits learned here, by their place in the declaration."""
        return {
            place: lesson
            for place, lesson in self.state.lessons.items()
            if self.state.table_of(lesson.limit) == self.name
        }

    @property
    def others(self) -> Mapping[str, Rows]:
        """The tables of the database, this one included; empty for a single table."""
        return {} if self.state.database is None else self.state.rows

    @property
    def rows(self) -> Rows:
        """All rows, as one side of a join or a union."""
        return self.state.rows[self.name]

    def condition(self, text: str, rows: Rows) -> Expr:
        """Parse a condition on the columns of rows from its text."""
        from ..sql import condition

        return condition(text, rows)

    def plan(
        self,
        query: Query | str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Within | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        learn: bool = True,
    ) -> Plan | PendingPlan:
        """Return the cost and the accuracy of releasing a query or a SELECT. Reads no data, costs
        nothing.

        With `within=` instead of a promise: the least cost that gives that accuracy. If limits or
        bounds are missing: a pending plan, which says what will be learned first.
        """
        goal = self._goal(
            epsilon,
            delta,
            promise,
            within,
            confidence,
            simultaneous=simultaneous,
            group_size=group_size,
        )
        return Question(self, query, parameters).plan_or_pending(goal, learning=learn)

    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Within | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        learn: bool = True,
    ) -> Answer:
        """Answer a SELECT about this table, under its name.

        `EXPLAIN PRIVACY SELECT …` returns the text of `explain_sql` instead of an answer.
        """
        question = Question(self, text, parameters)
        goal = self._goal(
            epsilon,
            delta,
            promise,
            within,
            confidence,
            simultaneous=simultaneous,
            group_size=group_size,
        )
        if question.explains:  # the one text that gives no answer: see explain_sql
            explained = question.plan_or_pending(goal, learning=learn, share=share).explain()
            return cast("Answer", explained)
        plan, answer = question.release(
            goal, learning=learn, share=share, fresh=fresh, timeout=timeout
        )
        return or_failed(lambda: cast("SqlPlan", plan).finish(answer))

    def explain_sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Within | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        learn: bool = True,
    ) -> str:
        """Describe what a SELECT would release, in sentences. Reads no data, costs nothing."""
        return self.plan(
            text,
            epsilon=epsilon,
            delta=delta,
            promise=promise,
            within=within,
            confidence=confidence,
            simultaneous=simultaneous,
            group_size=group_size,
            parameters=parameters,
            learn=learn,
        ).explain()

    def release(
        self,
        query: Query,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Within | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        learn: bool = True,
    ) -> Answer:
        """Charge, then answer; or return the stored answer to the same question. Limits that the
        query lacks are learned first, once, for an extra sixth of its cost.
        """
        goal = self._goal(
            epsilon,
            delta,
            promise,
            within,
            confidence,
            simultaneous=simultaneous,
            group_size=group_size,
        )
        return Question(self, self._check_query(query)).release(
            goal, learning=learn, share=share, fresh=fresh, timeout=timeout
        )[1]

    def plan_all(
        self,
        queries: Sequence[Query | str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        group_size: int = GROUP_SIZE,
        parameters: Sequence[Any] | None = None,
        learn: bool = True,
    ) -> Batch | PendingBatch:
        """Return the cost of releasing several questions together, and the accuracy of each. Reads
        no data, costs nothing.
        """
        goal = Goal(
            budget=self.ledger.budget,
            promise=promise_of(self.ledger.budget, epsilon, delta, promise),
            group_size=group_size,
        )
        return Questions.of(self, queries, parameters).plan_or_pending(goal, learning=learn)

    def release_all(
        self,
        queries: Sequence[Query | str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        group_size: int = GROUP_SIZE,
        parameters: Sequence[Any] | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        learn: bool = True,
    ) -> tuple[Answer, ...]:
        """Answer several questions for one promise, split in proportion to their noisy numbers, and
        one charge. The answers are in the order of the questions. Limits that any question lacks
        are learned first, once, for an extra sixth of the promise.
        """
        goal = Goal(
            budget=self.ledger.budget,
            promise=promise_of(self.ledger.budget, epsilon, delta, promise),
            group_size=group_size,
        )
        return Questions.of(self, queries, parameters).release(
            goal, learning=learn, share=share, fresh=fresh, timeout=timeout
        )

    def learn(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        columns: str | Iterable[str] | None = None,
        groups: str | Iterable[str] | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
    ) -> Learning:
        """Learn missing limits privately, for this cost: the rows per unit, and the bounds of
        numbers, of all or of some `columns`; with `groups=` also the number of groups by these
        columns per unit. Limits learned before are returned free of charge, unless `fresh` is
        true.
        """
        promised = promise_of(self.ledger.budget, epsilon, delta, promise)
        state, ledger = self.state, self.ledger
        missing = missing_for(self.declaration, columns, groups, again=fresh, links=self.rows.links)
        before = [
            limit
            for limit in missing
            if not fresh and recall_lesson(state, ledger, limit) is not None
        ]
        rest = [limit for limit in missing if limit not in before]
        check_fits(state, ledger, rest, promised, None, share, before=before, fresh=fresh)
        recalled = [
            lesson
            for limit in before
            if (lesson := recall_lesson(state, ledger, limit, share)) is not None
        ]
        lessons = (
            *recalled,
            *(
                run_lessons(
                    state,
                    ledger,
                    rest,
                    promised,
                    release_promise_of(promised),
                    share=share,
                    fresh=fresh,
                    timeout=timeout,
                )
                if rest
                else ()
            ),
        )
        if share is not None:
            # the returned declaration shows everything that was learned
            charge_share(state, ledger, share, but=missing)
        state.apply(lessons)
        return Learning(
            self.declaration, lessons, histogram_share(promised, Fraction(1)) if rest else None
        )

    def rows_of(self, declaration: Declaration) -> Rows:
        """Return all rows of this table under another declaration."""
        return self.state.rows_of({**self.state.declared, self.name: declaration})[self.name]

    def close(self) -> None:
        """Close engine and ledger, and remove the engine's files from disk."""
        self._source.engine.close()
        self.ledger.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        memory = (
            "" if self._durable else " · the ledger lives in memory, and ends with this process"
        )
        return (
            f"<sfumato table {self.name}: {self._whose}, {self.declaration.relation} · spent "
            f"{self.spent} of {self.budget}{memory}>"
        )

    def _goal(
        self,
        epsilon: Number | None,
        delta: Number | None,
        promise: Guarantee | None,
        within: Within | None,
        confidence: Number,
        *,
        simultaneous: bool,
        group_size: int | None,
    ) -> Goal:
        about: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": delta,
            "promise": promise,
            "within": within,
            "confidence": confidence,
        }
        return Goal.of(
            self.ledger.budget, **about, simultaneous=simultaneous, group_size=group_size
        )

    def _check_query(self, query: object) -> Query:
        """Return the query; refuse anything that is no query of this table."""
        if (
            not isinstance(query, Query)
            or not isinstance(query.rows.curator, Table)
            or query.rows.curator.ledger is not self.ledger
        ):
            raise refusals.PLAN_QUERY_1(type=type(query).__name__, name=self.name)
        return query

    def _source_of(self, query: Query) -> Any:
        """Return the source of a query's rows: of several tables, the first that it is about."""
        return self._source if query.rows.origin is None else query.rows.origin.source
