"""A protected table: what was declared of it, who may be asked about it, and the budget that is
kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..answers.answer import Answer
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..release import or_failed
from ..tables.declare.declaration import Declaration
from ..tables.expr.expressions import Expr
from ..tables.query.row_methods import RowVerbs
from ..tables.query.stages import Query, Rows
from .accuracy import GROUP_SIZE, Goal, Within
from .batches import Questions
from .budget_mixin import Budgeted
from .choose_limits import part
from .learning import Found, Learning, taught, wanted
from .promises import promise_of
from .questions import Question
from .request import scaled
from .share_payments import affordable, booked, remembered
from .table_state import Known


class Table(Budgeted, RowVerbs):
    """A declared table with its ledger. Its verbs are those of its rows: where, mutate, group_by,
    aggregate.
    """

    def __init__(
        self,
        declaration: Declaration,
        source: Any,
        ledger: Ledger,
        *,
        durable: bool,
        known: Known | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self.name = declaration.name
        self.ledger = ledger
        self.known = known or Known({declaration.name: declaration})
        self.known.has(self.name, self, source, links)
        self._source = source
        self._durable = durable

    @property
    def declaration(self) -> Declaration:
        """As it is known now."""
        return self.known.declared[self.name]

    @property
    def given(self) -> Declaration:
        """By the owner: nothing in it was learned here."""
        return self.known.given[self.name]

    @property
    def lessons(self) -> dict[tuple[str, ...], Found]:
        """What of the declaration was learned here, by its place in it."""
        return {
            place: one
            for place, one in self.known.lessons.items()
            if self.known.home(one.lack) == self.name
        }

    @property
    def others(self) -> Mapping[str, Rows]:
        """The tables that it may be joined with, and itself; none where it stands alone."""
        return {} if self.known.whole is None else self.known.rows

    @property
    def rows(self) -> Rows:
        """All rows, as one side of a join or a union."""
        return self.known.rows[self.name]

    def condition(self, text: str, rows: Rows) -> Expr:
        """A condition on the columns of rows, read from its text."""
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
    ) -> Any:
        """What a release would cost and how exact it would be, of a query or of a SELECT. Reads no
        data, costs nothing.

        With `within=` instead of a promise: the least cost that gives that accuracy. Where limits
        or bounds are missing: what is known before they are learned.
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
        return Question(self, query, parameters).planned(goal, learning=learn)

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
    ) -> Any:
        """The answer to a SELECT about this table, under its name.

        `EXPLAIN PRIVACY SELECT …` gives the plan in sentences, which reads no data and costs
        nothing.
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
        if question.explains:
            return question.planned(goal, learning=learn, share=share).explain()
        made, answer = question.released(
            goal, learning=learn, share=share, fresh=fresh, timeout=timeout
        )
        return or_failed(lambda: made.finish(answer))  # type: ignore[attr-defined]

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
        """Charge, then answer; or the stored answer to the same question. What the query lacks is
        learned first, once, for a sixth of its cost beside it.
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
        return Question(self, self._own(query)).released(
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
    ) -> Any:
        """What releasing several questions together would cost, and how exact each would be. Reads
        no data, costs nothing.
        """
        goal = Goal(
            budget=self.ledger.budget,
            promise=promise_of(self.ledger.budget, epsilon, delta, promise),
            group_size=group_size,
        )
        return Questions.of(self, queries, parameters).planned(goal, learning=learn)

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
        """Several questions for one promise, split in proportion to their noisy numbers, and for
        one charge. The answers are in the order of the questions. What any of them lacks is learned
        first, once, for a sixth of the promise beside it.
        """
        goal = Goal(
            budget=self.ledger.budget,
            promise=promise_of(self.ledger.budget, epsilon, delta, promise),
            group_size=group_size,
        )
        return Questions.of(self, queries, parameters).released(
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
        """Find what the declaration lacks, privately and for this cost: how many rows a unit has,
        and the bounds of numbers, of all or of some `columns`; with `groups=` also in how many
        groups by these columns a unit is. What was learned before is given again, for nothing,
        unless it is to be `fresh`.
        """
        promised, known, ledger = (
            promise_of(self.ledger.budget, epsilon, delta, promise),
            self.known,
            self.ledger,
        )
        lacks = wanted(self.declaration, columns, groups, again=fresh, links=self.rows.links)
        before = [
            lack for lack in lacks if not fresh and remembered(known, ledger, lack) is not None
        ]
        rest = [lack for lack in lacks if lack not in before]
        affordable(known, ledger, rest, promised, None, share, before=before, fresh=fresh)
        old = [
            one for lack in before if (one := remembered(known, ledger, lack, share)) is not None
        ]
        found = (
            *old,
            *(
                taught(
                    known,
                    ledger,
                    rest,
                    promised,
                    scaled(promised),
                    share=share,
                    fresh=fresh,
                    timeout=timeout,
                )
                if rest
                else ()
            ),
        )
        if share is not None:
            booked(
                known, ledger, share, but=lacks
            )  # the declaration that is given back has all that was learned
        known.take(found)
        return Learning(self.declaration, found, part(promised, Fraction(1)) if rest else None)

    def rows_of(self, declaration: Declaration) -> Rows:
        """All rows, of the same table, declared otherwise."""
        return self.known.rows_of({**self.known.declared, self.name: declaration})[self.name]

    def close(self) -> None:
        """Close engine and ledger, and remove what the engine kept on disk."""
        self._source.engine.close()
        self.ledger.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        kept = "" if self._durable else " · the ledger lives in memory, and ends with this process"
        return (
            f"<sfumato table {self.name}: {self._whose}, {self.declaration.relation} · spent "
            f"{self.spent} of {self.budget}{kept}>"
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
        asked: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": delta,
            "promise": promise,
            "within": within,
            "confidence": confidence,
        }
        return Goal.of(
            self.ledger.budget, **asked, simultaneous=simultaneous, group_size=group_size
        )

    def _own(self, query: object) -> Query:
        if (
            not isinstance(query, Query)
            or not isinstance(query.rows.curator, Table)
            or query.rows.curator.ledger is not self.ledger
        ):
            raise Refused(
                "plan.query",
                type(query).__name__,
                "this is no query of this table",
                f"{self.name}.aggregate(n=sf.count())",
            )
        return query

    def _source_of(self, query: Query) -> Any:
        """Where the rows of a question come from: of several tables, the first that it is about."""
        return self._source if query.rows.origin is None else query.rows.origin.source
