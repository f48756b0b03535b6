"""One question to protected tables, as SQL text or as a query.

*Parsed once*    A question keeps its SQL text, parsed at first use, or the steps of its query. It
                 knows no limits.
*Resolved late*  `resolve` reads it against declarations, those of the owner or those with learned
                 limits. A resolved question is planned for any number of promises.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..guarantees import Guarantee
from ..sql import UnresolvedQuery, explains
from ..sql.postprocess import PostProcessing
from ..sql.sql_plan import SqlPlan
from ..tables.plan.components import QueryComponents, components_of
from ..tables.plan.missing_limits import (
    Declared,
    MissingLimit,
    find_missing_limits,
    redeclare_query,
)
from ..tables.plan.query_plan import Plan, plan
from ..tables.query.owned_rows import table_source
from ..tables.query.question_options import ParameterValues
from ..tables.query.stages import Query
from . import session_refusals as refusals
from .table_state import TableState, state_of


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedQuestion:
    """A question read against declarations: its query, the components of that query, and the
    post-processing of a SELECT.
    """

    query: Query
    components: QueryComponents
    finish: PostProcessing | None

    def plan(self, promise: Guarantee, group_size: int) -> Plan:
        """Plan for a promise."""
        planned = plan(
            self.query, promise, table_source(self.query.rows), group_size, self.components
        )
        return planned if self.finish is None else SqlPlan.of(planned, self.finish)


@dataclass(frozen=True, slots=True, eq=False)
class TableQuestion:
    """A query or a SELECT about a table, and the state of the tables that it may name."""

    state: TableState
    table: str
    of: Query | UnresolvedQuery

    @classmethod
    def ask(
        cls, state: TableState, table: str, query: Query | str, parameters: ParameterValues | None
    ) -> TableQuestion:
        """Make a question of a query, or of a text with its parameters."""
        return cls(
            state, table, UnresolvedQuery(query, parameters) if isinstance(query, str) else query
        )

    @property
    def explains(self) -> bool:
        """Whether the text is an EXPLAIN PRIVACY."""
        return isinstance(self.of, UnresolvedQuery) and explains(self.of.text)

    def resolve(self, declared: Declared) -> ResolvedQuestion:
        """Read the question against these declarations; refuse where bounds are missing."""
        query, finish = self._read(declared)
        return ResolvedQuestion(query, components_of(query), finish)

    def missing_limits(self, declared: Declared) -> tuple[MissingLimit, ...]:
        """List the limits that have to be learned for the question."""
        return find_missing_limits(lambda declared: self._read(declared)[0], declared)

    def _read(self, declared: Declared) -> tuple[Query, PostProcessing | None]:
        if isinstance(self.of, UnresolvedQuery):
            rows = self.state.rows_of(declared)
            parsed = self.of.resolve(rows[self.table], {} if self.state.database is None else rows)
            return parsed.query, parsed.finish
        query = check_query(self.of, self.state, self.table)
        if state_of(query) is not self.state or (
            declared is self.state.declared and not self.state.lessons
        ):
            return query, None  # it was built from these declarations
        return redeclare_query(query, self.state.rows_of(declared)), None


def check_query(query: object, state: TableState, table: str) -> Query:
    """Return the query; refuse anything that is no query of tables with this ledger."""
    about = state_of(query) if isinstance(query, Query) else None
    if not isinstance(query, Query) or about is None or about.ledger is not state.ledger:
        raise refusals.NOT_A_QUERY(type=type(query).__name__, table=table)
    return query
