"""A protected table behind a server, with the same methods as a local one: a notebook stays the
same when the data move to a server.

*Here*     Only public things: the declaration, which the server publishes. The client builds
           queries from it and sends them as SQL.
*There*    The server plans, charges and adds noise. It returns an `Answer`, with intervals, cost,
           card and picture.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn, Self, Unpack, cast

from ..answers.answer import Answer
from ..guarantees import Guarantee
from ..sql import condition as read_condition
from ..sql import described_table, explains
from ..tables.declare.declaration import Declaration
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.expr.expressions import Expr
from ..tables.query.owned_rows import Origin
from ..tables.query.question_options import ParameterValues, asks
from ..tables.query.row_methods import RowVerbs
from ..tables.query.stages import Query, Rows
from ..templates.summary import Summarized, Summary
from . import client_refusals as refusals
from .payload import QuestionOptions, build_payload
from .remote_ledger import RemoteLedger
from .remote_plan import RemotePlan
from .to_sql import query_to_sql
from .transport import Wire


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """Stands for a data source: tables behind the same connection may be joined."""

    engine: Wire


class RemoteDataset:
    """A dataset behind a server: SQL questions, plans, and its ledger."""

    def __init__(self, wire: Wire, dataset: str) -> None:
        self._wire = wire
        self.dataset = dataset
        self.ledger = RemoteLedger(wire, dataset)

    @property
    def name(self) -> str:
        return self.dataset

    @property
    def budget(self) -> Guarantee:
        return self.ledger.budget

    @property
    def spent(self) -> Guarantee:
        return self.ledger.spent

    @property
    def remaining(self) -> Guarantee:
        return self.ledger.remaining

    @asks(QuestionOptions)
    def plan(
        self,
        query: Query | str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[QuestionOptions],
    ) -> RemotePlan:
        """Plan the release of a query or of a SELECT: its cost and expected error. Reads no data
        and costs nothing.
        """
        return self._send_plan(build_payload(self._text(query), parameters=parameters, **options))

    @asks(QuestionOptions)
    def sql(
        self,
        text: str,
        *,
        key: str | None = None,
        timeout: float | None = None,
        parameters: ParameterValues | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Answer:
        """Answer a SELECT, for `epsilon=`, `promise=` or `within=`.

        After an interrupted call, repeat it with the `key` that its refusal names: the server
        charges it once. `timeout` is the number of seconds for one attempt.
        """
        if described_table(text) is not None:
            return cast("Answer", self.describe())
        payload = build_payload(text, parameters=parameters, **options)
        if explains(text):
            return cast("Answer", self._send_plan(payload).explain())  # text: see explain_sql
        reply = self._wire.post(
            f"/api/datasets/{self.dataset}/release",
            payload,
            key=key or secrets.token_urlsafe(24),
            timeout=timeout,
        )
        try:
            answer = Answer.from_json(json.dumps(reply["answer"]))
            return replace(answer, recalled=str(reply["recalled"]))
        except (KeyError, TypeError):
            raise refusals.REPLY_UNREADABLE(what="answer") from None

    @asks(QuestionOptions)
    def explain_sql(
        self,
        text: str,
        *,
        parameters: ParameterValues | None = None,
        **options: Unpack[QuestionOptions],
    ) -> str:
        """Describe what a SELECT would release, in sentences. Reads no data, costs nothing."""
        return self.plan(text, parameters=parameters, **options).explain()

    @asks(QuestionOptions)
    def release(
        self,
        query: Query,
        *,
        key: str | None = None,
        timeout: float | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Answer:
        """Charge and answer a query, or return the stored answer to the same question."""
        return self.sql(self._query_sql(query), key=key, timeout=timeout, **options)

    def describe(self) -> Summary:
        """Return what is declared: tables, columns, types, bounds, public keys and unit."""
        return self._summary()

    def _summary(self) -> Summary:
        raise NotImplementedError

    def card(self, number: int) -> dict[str, object]:
        """Read the card of an answer, by the number of the ledger entry that paid for it."""
        card: dict[str, object] = self._wire.get(f"/api/datasets/{self.dataset}/cards/{number}")
        return card

    def close(self) -> None:
        """Close the connection, which all its tables share."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send_plan(self, payload: Mapping[str, object]) -> RemotePlan:
        reply = self._wire.post(f"/api/datasets/{self.dataset}/plan", payload)
        return RemotePlan.of(reply, payload, self._send_plan)

    def _text(self, query: Query | str) -> str:
        return query if isinstance(query, str) else self._query_sql(query)

    def _query_sql(self, query: object) -> str:
        raise NotImplementedError


class RemoteTable(RemoteDataset, RowVerbs):
    """A table behind a server, with the methods of its rows: where, mutate, group_by, aggregate."""

    def __init__(
        self,
        wire: Wire,
        dataset: str,
        declaration: Declaration,
        database: DatabaseDeclaration | None = None,
    ) -> None:
        super().__init__(wire, dataset)
        self.declaration = declaration
        self._rows = Rows.of(
            declaration,
            self,
            Origin(RemoteSource(wire), database),
            None if database is None else database.join_columns(declaration.name),
        )
        self.others: Mapping[str, Rows] = {}

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def rows(self) -> Rows:
        """All rows, as one side of a join or a union."""
        return self._rows

    def condition(self, text: str, rows: Rows) -> Expr:
        """Read a condition on the columns of rows from SQL text."""
        return read_condition(text, rows)

    def learn(self, **_: object) -> NoReturn:
        """Refused: the server learns limits with the first release."""
        raise refusals.LEARN_ALONE()

    def release_all(self, *_: object, **__: object) -> NoReturn:
        """Refused: a server takes one question at a time."""
        raise refusals.SEVERAL_AT_ONCE()

    plan_all = release_all

    def _summary(self) -> Summary:
        declared = RowVerbs._summary(self)
        return replace(declared, notes=[*declared.notes, f"at {self._wire.url}"])

    def _query_sql(self, query: object) -> str:
        if not isinstance(query, Query) or query.rows.curator is not self:
            raise refusals.NOT_A_QUERY_OF_TABLE(type=type(query).__name__, table=self.name)
        return query_to_sql(query)


class RemoteDatabase(RemoteDataset, Summarized):
    """Several tables behind a server with one unit and one budget, and public tables."""

    def __init__(self, wire: Wire, dataset: str, declaration: DatabaseDeclaration) -> None:
        super().__init__(wire, dataset)
        self.declaration = declaration
        self.tables = {
            declared.name: RemoteTable(wire, dataset, declared, declaration)
            for declared in declaration.tables
        }
        first = next(iter(self.tables.values()))
        self.public = {
            declared.name: Rows.of(
                declared, first, Origin(RemoteSource(wire), declaration, public=True)
            )
            for declared in declaration.public
        }
        for table in self.tables.values():
            protected = {name: sibling.rows for name, sibling in self.tables.items()}
            table.others = {**protected, **self.public}

    def __getitem__(self, name: str) -> RemoteTable:
        if name not in self.tables:
            raise refusals.UNKNOWN_TABLE(
                name=name, tables=", ".join(self.tables), first=next(iter(self.tables))
            )
        return self.tables[name]

    def _summary(self) -> Summary:
        declared = self.declaration._summary()
        return replace(declared, notes=[*declared.notes, f"at {self._wire.url}"])

    def _query_sql(self, query: object) -> str:
        if not isinstance(query, Query) or query.rows.curator not in self.tables.values():
            raise refusals.NOT_A_QUERY_OF_TABLES(
                type=type(query).__name__, first=next(iter(self.tables))
            )
        return query_to_sql(query)
