"""A protected table: its declaration, its questions, and its budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack, cast

from ..answers.answer import Answer
from ..ledger import Ledger
from ..sql import find_inner_values, find_synthetic, read_synthetic
from ..tables.declare.declaration import Declaration
from ..tables.engine.sources import TableSource
from ..tables.expr.expressions import Expr
from ..tables.plan.query_plan import Plan
from ..tables.query.question_options import (
    BatchPlanOptions,
    BatchReleaseOptions,
    CostOptions,
    LearnOptions,
    ParameterValues,
    PlanOptions,
    QuestionSettings,
    ReleaseOptions,
    asks,
)
from ..tables.query.row_methods import RowVerbs
from ..tables.query.stages import Query, Rows
from ..tables.query.synthesis_options import SynthesisRelease
from ..templates.summary import Summary
from .batches import Batch
from .budget_mixin import Budgeted
from .catalog import describe_tables
from .check_limits import check_limit
from .checked_limit import CheckedLimit
from .choose_limits import histogram_share
from .learning import (
    Learning,
    aim_of,
    missing_for,
    recall_lesson,
    release_promise_of,
    run_lessons,
)
from .parts.partition import Partition, PartState, partition_table
from .pending_plan import PendingBatch, PendingPlan
from .promises import promise_of
from .questions import check_query
from .request import Request
from .share_payments import charge_share, check_fits
from .steps import answer_in_steps
from .table_state import LearnedLimit, TableState

if TYPE_CHECKING:
    from ..tables.expr.constants import Constant


class Table(Budgeted, RowVerbs):
    """A declared table with its ledger. It has the methods of its rows: where, mutate, group_by,
    aggregate.
    """

    def __init__(
        self,
        declaration: Declaration,
        source: TableSource,
        ledger: Ledger,
        *,
        durable: bool,
        state: TableState | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self.name = declaration.name
        self.ledger = ledger
        self.state = state or TableState({declaration.name: declaration}, ledger)
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

    @asks(PlanOptions)
    def plan(
        self,
        query: Query | str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan | PendingPlan:
        """Return the cost and the accuracy of releasing a query or a SELECT. Reads no data, costs
        nothing.

        With `within=` instead of a promise: the least cost that gives that accuracy. If limits or
        bounds are missing: a pending plan, which says what will be learned first.

        >>> visits.plan("SELECT COUNT(*) AS n FROM visits", within=25).cost
        Pure(...)
        """
        return (
            Request.of_question(self.state, self.name, query, parameters, **options).plan().plans[0]
        )

    @asks(ReleaseOptions)
    def sql(
        self,
        text: str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Answer:
        """Answer a SELECT about this table, under its name.

        Three kinds of texts are free, and give no answer: `EXPLAIN SELECT …` returns the text of
        `explain_sql`; `DESCRIBE visits` and `SHOW TABLES` return what is declared. `CREATE
        SYNTHETIC TABLE name AS SELECT …` returns what `synthesize` does.

        >>> answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        >>> print(answer)
        n
        1... ± 25
        ...
        """
        if (select := find_synthetic(text)) is not None:
            rows, columns = read_synthetic(select, self.rows)
            chosen = cast("SynthesisRelease", {**options, "columns": columns})
            return cast("Answer", rows.synthesize(**chosen))
        public = {name: rows.declaration for name, rows in self.state.public.items()}
        described = describe_tables(text, self.state.declared, public)
        if described is not None:
            return cast("Answer", described)
        if parameters is None and (inner := find_inner_values(text)) is not None:
            return answer_in_steps(self.state, self.name, inner, **options)
        request = Request.of_question(self.state, self.name, text, parameters, **options)
        if request.explains:
            return cast("Answer", request.plan().plans[0].explain())
        return request.release()[0]

    @asks(PlanOptions)
    def explain_sql(
        self,
        text: str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[PlanOptions],
    ) -> str:
        """Describe what a SELECT would release, in sentences. Reads no data, costs nothing."""
        return self.plan(text, parameters=parameters, **options).explain()

    @asks(ReleaseOptions)
    def release(self, query: Query, **options: Unpack[ReleaseOptions]) -> Answer:
        """Charge, then answer; or return the stored answer to the same question. Limits that the
        query lacks are learned first, once, for an extra sixth of its cost.

        >>> answer = visits.release(visits.count(), epsilon=0.1)
        >>> len(answer["n"])
        1
        """
        request = Request.of_question(self.state, self.name, query, **options)
        check_query(query, self.state, self.name)  # a text is none
        return request.release()[0]

    @asks(BatchPlanOptions)
    def plan_all(
        self,
        queries: Sequence[Query | str],
        *,
        parameters: Sequence[ParameterValues | None] | None = None,
        **options: Unpack[BatchPlanOptions],
    ) -> Batch | PendingBatch:
        """Return the cost of releasing several questions together, and the accuracy of each. Reads
        no data, costs nothing. `parameters` lists those of each question, or None.
        """
        return Request.of_batch(self.state, self.name, queries, parameters, **options).plan()

    @asks(BatchReleaseOptions)
    def release_all(
        self,
        queries: Sequence[Query | str],
        *,
        parameters: Sequence[ParameterValues | None] | None = None,
        **options: Unpack[BatchReleaseOptions],
    ) -> tuple[Answer, ...]:
        """Answer several questions for one promise, split in proportion to their measurements, and
        one charge. The answers are in the order of the questions. Limits that any question lacks
        are learned first, once, for an extra sixth of the promise. `parameters` lists those of each
        question, or None.
        """
        return Request.of_batch(self.state, self.name, queries, parameters, **options).release()

    @asks(LearnOptions)
    def learn(
        self,
        *,
        columns: str | Iterable[str] | None = None,
        groups: str | Iterable[str] | None = None,
        **options: Unpack[LearnOptions],
    ) -> Learning:
        """Learn missing limits privately, for this cost: the rows per unit, and the bounds of
        numbers, of all or of some `columns`; with `groups=` also the number of groups by these
        columns per unit. They are best for totals of the whole table. Limits learned before are
        returned free of charge, unless `fresh` is true.
        """
        settings = QuestionSettings(**options)
        share, fresh = settings.share, settings.fresh
        promised = promise_of(self.budget, settings)
        aim = aim_of(settings.learn_for, release_promise_of(promised))
        state = self.state
        missing = missing_for(self.declaration, columns, groups, again=fresh, links=self.rows.links)
        before = [
            limit for limit in missing if not fresh and recall_lesson(state, limit) is not None
        ]
        rest = [limit for limit in missing if limit not in before]
        check_fits(state, rest, promised, None, share, before=before, fresh=fresh)
        recalled = [
            lesson for limit in before if (lesson := recall_lesson(state, limit, share)) is not None
        ]
        lessons = (
            *recalled,
            *(
                run_lessons(
                    state,
                    rest,
                    promised,
                    aim,
                    share=share,
                    fresh=fresh,
                    timeout=settings.timeout,
                    is_fixed=settings.learn_for == "groups",
                )
                if rest
                else ()
            ),
        )
        if share is not None:
            # the returned declaration shows everything that was learned
            charge_share(state, share, but=missing)
        state.apply(lessons, groups=True)
        return Learning(
            self.declaration, lessons, histogram_share(promised, Fraction(1)) if rest else None
        )

    @asks(ReleaseOptions)
    def check_limits(self, **options: Unpack[ReleaseOptions]) -> CheckedLimit:
        """Measure once, for this cost, how many rows lie beyond the declared `max_rows`. Answers
        about all rows of the table then say it beside their numbers, free of charge. The same call
        again, also from another process with the same ledger, costs nothing.

        >>> print(visits.check_limits(epsilon=0.1))
        about ... of rows, beyond the limit of 4 per user_id, are not counted (at least ...)
        cost ε = 0.1...
        """
        settings = QuestionSettings(**options)
        promised = promise_of(self.budget, settings)
        return check_limit(
            self.state,
            self.name,
            promised,
            share=settings.share,
            fresh=settings.fresh,
            timeout=settings.timeout,
        )

    @asks(CostOptions)
    def partition(
        self,
        by: Expr | str,
        values: Iterable[Constant] | None = None,
        **options: Unpack[CostOptions],
    ) -> Partition[TablePart]:
        """Divide the table into parts of disjoint units, by the values of an expression, each with
        this budget of its own: all parts together cost what one does. Without `values` the parts
        are those of the public keys.

        >>> halves = visits.partition(sf.col("user_id") % 2, [0, 1], epsilon=0.5)
        >>> answer = halves[0].sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        """
        promise = promise_of(self.budget, QuestionSettings(**options))
        return partition_table(self, by, values, promise, self._open_part)

    def _open_part(self, state: PartState) -> TablePart:
        return TablePart(
            self.original, self._source, state.ledger, durable=self._durable, state=state
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

    def _summary(self) -> Summary:
        declared = super()._summary()
        return replace(declared, notes=[*declared.notes, *self._budget_text])


class TablePart(Table):
    """A part of a table: the same questions, about its rows, charged to its own account."""

    def close(self) -> None:
        """Do nothing: engine and ledger are those of the whole table."""
