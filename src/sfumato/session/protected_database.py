"""Several protected tables under one budget, with public tables to join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

from ..answers.answer import Answer
from ..ledger import Ledger
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.engine.sources import TableSource
from ..tables.plan.query_plan import Plan
from ..tables.query.owned_rows import Origin
from ..tables.query.question_options import (
    BatchPlanOptions,
    BatchReleaseOptions,
    ParameterValues,
    PlanOptions,
    ReleaseOptions,
    asks,
)
from ..tables.query.stages import Query, Rows
from ..templates.summary import Summarized, Summary
from . import session_refusals as refusals
from .batches import Batch
from .budget_mixin import Budgeted
from .pending_plan import PendingBatch, PendingPlan
from .protected_table import Table
from .table_state import TableState


class Database(Budgeted, Summarized):
    """Protected tables by name, public tables in `public`, one ledger for all. A question may join
    any of them.
    """

    def __init__(
        self,
        declaration: DatabaseDeclaration,
        sources: Mapping[str, TableSource],
        ledger: Ledger,
        *,
        durable: bool,
    ) -> None:
        self.original = declaration
        self.state = TableState(
            {declared.name: declared for declared in declaration.tables}, ledger, declaration
        )
        self.ledger = ledger
        self._durable = durable
        self._engine = next(iter(sources.values())).engine
        tables = {}
        for declared in declaration.tables:
            links = declaration.join_columns(declared.name)
            tables[declared.name] = Table(
                declared,
                sources[declared.name],
                ledger,
                durable=durable,
                state=self.state,
                links=links,
            )
        first = next(iter(tables.values()))
        public = {
            declared.name: Rows.of(
                declared, first, Origin(sources[declared.name], declaration, public=True)
            )
            for declared in declaration.public
        }
        self.tables: Mapping[str, Table] = MappingProxyType(tables)
        self.public: Mapping[str, Rows] = MappingProxyType(public)
        self.state.add_public(self.public)

    @property
    def name(self) -> str:
        return self.original.name

    @property
    def declaration(self) -> DatabaseDeclaration:
        """The declaration of all tables, with learned limits."""
        return self.state.database_with(self.state.declared) or self.original

    def __getitem__(self, name: str) -> Table:
        """Return a protected table by its name."""
        if name not in self.tables:
            if name in self.public:
                raise refusals.TABLE_IS_PUBLIC(name=name)
            raise refusals.UNKNOWN_TABLE(
                name=name, tables=", ".join(self.tables), near=next(iter(self.tables))
            )
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

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
        """
        return self._any.plan(query, parameters=parameters, **options)

    @asks(ReleaseOptions)
    def sql(
        self,
        text: str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Answer:
        """Answer a SELECT about these tables, under their names."""
        return self._any.sql(text, parameters=parameters, **options)

    @asks(PlanOptions)
    def explain_sql(
        self,
        text: str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[PlanOptions],
    ) -> str:
        """Describe what a SELECT would release, in sentences. Reads no data, costs nothing."""
        return self._any.explain_sql(text, parameters=parameters, **options)

    @asks(ReleaseOptions)
    def release(self, query: Query, **options: Unpack[ReleaseOptions]) -> Answer:
        """Charge, then answer; or return the stored answer to the same question."""
        return self._any.release(query, **options)

    @asks(BatchPlanOptions)
    def plan_all(
        self,
        queries: Sequence[Query | str],
        *,
        parameters: Sequence[ParameterValues | None] | None = None,
        **options: Unpack[BatchPlanOptions],
    ) -> Batch | PendingBatch:
        """Return the cost of releasing several questions together, and the accuracy of each.
        `parameters` lists those of each question, or None.
        """
        return self._any.plan_all(queries, parameters=parameters, **options)

    @asks(BatchReleaseOptions)
    def release_all(
        self,
        queries: Sequence[Query | str],
        *,
        parameters: Sequence[ParameterValues | None] | None = None,
        **options: Unpack[BatchReleaseOptions],
    ) -> tuple[Answer, ...]:
        """Answer several questions for one promise and one charge. `parameters` lists those of each
        question, or None.
        """
        return self._any.release_all(queries, parameters=parameters, **options)

    def close(self) -> None:
        """Close engine and ledger, and remove the engine's files from disk."""
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe(self) -> Summary:
        """Return what is declared: tables, columns, types, bounds, public keys, unit and budget. It
        reads no data and costs nothing.
        """
        return self._summary()

    def _summary(self) -> Summary:
        declared = self.declaration._summary()
        return replace(declared, notes=[*declared.notes, *self._budget_text])

    @property
    def _any(self) -> Table:
        """Any table: all of them share one state, so each can answer for all."""
        return next(iter(self.tables.values()))
