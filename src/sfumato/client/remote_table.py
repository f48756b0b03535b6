"""A protected table behind a server, with the verbs of one in this process: a notebook does not
change when the data move behind the wall.

*Here*     Only what is public: the declaration, which the server publishes. Queries are built from
           it as everywhere, and sent as SQL.
*There*    Plans, charges, noise. What comes back is an `Answer`, with intervals, cost, card and
           picture.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self, Unpack

from ..answers.answer import Answer
from ..errors import Refused
from ..guarantees import Guarantee
from ..sql import condition as read_condition
from ..sql import explains
from ..tables.declare.declaration import Declaration
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.expr.expressions import Expr
from ..tables.query.owned_rows import Origin
from ..tables.query.row_methods import RowVerbs
from ..tables.query.stages import Query, Rows
from .payload import How, question
from .remote_ledger import RemoteLedger
from .remote_plan import RemotePlan
from .to_sql import spelled
from .transport import Wire, unreadable


@dataclass(frozen=True, slots=True)
class Behind:
    """In a source's place: tables behind one connection may be asked about together."""

    engine: Wire


class Remote:
    """A dataset behind a server: what can be asked in SQL, and what its book says."""

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

    def plan(self, query: Query | str, **how: Unpack[How]) -> RemotePlan:
        """What a release would cost and how exact it would be, of a query or of a SELECT. Reads no
        data, costs nothing. Takes what `sql` takes.
        """
        return self._planned(question(self._text(query), **how))

    def sql(
        self, text: str, *, key: str | None = None, timeout: float | None = None, **how: Unpack[How]
    ) -> Any:
        """The answer to a SELECT, for `epsilon=`, `promise=` or `within=`; with `delta=`,
        `confidence=`, `group_size=`, `parameters=` as everywhere.

        A call that was cut off may be made again with the `key` that its refusal names: it is
        charged once. `timeout` is how long one attempt may take.
        """
        asked = question(text, **how)
        if explains(text):
            return self._planned(asked).explain()
        reply = self._wire.post(
            f"/api/datasets/{self.dataset}/release",
            asked,
            key=key or secrets.token_urlsafe(24),
            timeout=timeout,
        )
        try:
            answer = Answer.from_json(json.dumps(reply["answer"]))
            return replace(answer, recalled=str(reply["recalled"]))
        except (KeyError, TypeError):
            raise unreadable("the answer") from None

    def card(self, number: int) -> dict[str, Any]:
        """The card of an answer, by the number of the entry that paid for it."""
        found: dict[str, Any] = self._wire.get(f"/api/datasets/{self.dataset}/cards/{number}")
        return found

    def close(self) -> None:
        """Close the connection, which all tables of it share."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _planned(self, asked: Mapping[str, Any]) -> RemotePlan:
        return RemotePlan.of(
            self._wire.post(f"/api/datasets/{self.dataset}/plan", asked), asked, self._planned
        )

    def _text(self, query: Query | str) -> str:
        return query if isinstance(query, str) else self._own(query)

    def _own(self, query: object) -> str:
        raise NotImplementedError


class RemoteTable(Remote, RowVerbs):
    """A table behind a server. Its verbs are those of its rows: where, mutate, group_by,
    aggregate.
    """

    def __init__(
        self,
        wire: Wire,
        dataset: str,
        declaration: Declaration,
        whole: DatabaseDeclaration | None = None,
    ) -> None:
        super().__init__(wire, dataset)
        self.declaration = declaration
        self._rows = Rows.of(
            declaration,
            self,
            Origin(Behind(wire), whole),
            None if whole is None else whole.words(declaration.name),
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
        """A condition on the columns of rows, read from its text."""
        return read_condition(text, rows)

    def release(
        self,
        query: Query,
        *,
        key: str | None = None,
        timeout: float | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Charge, then answer; or the stored answer to the same question. Takes what `sql` takes,
        but for parameters.
        """
        answer: Answer = self.sql(self._own(query), key=key, timeout=timeout, **how)
        return answer

    def learn(self, **_: Any) -> NoReturn:
        """With the first release."""
        reason = "what a question lacks is learned with its first release, at the server"
        raise Refused(
            "client.option",
            "learn(…)",
            reason,
            "sql(…) or release(…); plan(…) says what learning will cost",
        )

    def release_all(self, *_: Any, **__: Any) -> NoReturn:
        """One by one."""
        raise Refused(
            "client.option",
            "release_all(…)",
            "a server takes one question at a time",
            "release(…) for each; or one question with several columns",
        )

    plan_all = release_all

    def __repr__(self) -> str:
        return (
            f"<sfumato table {self.name}: {self._whose}, {self.declaration.relation} · at "
            f"{self._wire.url}>"
        )

    def _own(self, query: object) -> str:
        if not isinstance(query, Query) or query.rows.curator is not self:
            raise Refused(
                "plan.query",
                type(query).__name__,
                "this is no query of this table",
                f"{self.name}.aggregate(n=sf.count())",
            )
        return spelled(query)


class RemoteDatabase(Remote):
    """Several tables behind a server, with one unit and one budget, and public ones beside them."""

    def __init__(self, wire: Wire, dataset: str, declaration: DatabaseDeclaration) -> None:
        super().__init__(wire, dataset)
        self.declaration = declaration
        self.tables = {
            declared.name: RemoteTable(wire, dataset, declared, declaration)
            for declared in declaration.tables
        }
        first = next(iter(self.tables.values()))
        self.public = {
            declared.name: Rows.of(declared, first, Origin(Behind(wire), declaration, public=True))
            for declared in declaration.public
        }
        for table in self.tables.values():
            table.others = {**{name: one.rows for name, one in self.tables.items()}, **self.public}

    def release(self, query: Query, **how: Any) -> Answer:
        """Charge, then answer; or the stored answer to the same question."""
        answer: Answer = self.sql(self._own(query), **how)
        return answer

    def __getitem__(self, name: str) -> RemoteTable:
        if name not in self.tables:
            raise Refused(
                "table.name",
                f"{name!r:.60}",
                f"the tables are {', '.join(self.tables)}",
                f"db[{next(iter(self.tables))!r:.60}]",
            )
        return self.tables[name]

    def __repr__(self) -> str:
        return f"<sfumato tables {', '.join(self.tables)} · at {self._wire.url}>"

    def _own(self, query: object) -> str:
        if not isinstance(query, Query) or query.rows.curator not in self.tables.values():
            raise Refused(
                "plan.query",
                type(query).__name__,
                "this is no query of these tables",
                f"db[{next(iter(self.tables))!r}].aggregate(n=sf.count())",
            )
        return spelled(query)
