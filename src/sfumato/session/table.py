"""A protected table: what was declared of it, who may be asked about it, and the budget that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..answers.answer import Answer
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..release import release
from ..tables.aggregates import Aggregate
from ..tables.declaration import Declaration, Key
from ..tables.expressions import Expr
from ..tables.plan import Plan, plan
from ..tables.stages import Groups, Query, Rows
from .promises import promise_of


class Table:
    """A declared table with its ledger. Its verbs are those of its rows: where, mutate, group_by, aggregate."""

    def __init__(self, declaration: Declaration, source: Any, ledger: Ledger, *, durable: bool) -> None:
        self.declaration = declaration
        self.ledger = ledger
        self._source = source
        self._durable = durable
        self._rows = Rows.of(declaration, self)

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def budget(self) -> Guarantee:
        return self.ledger.budget

    @property
    def spent(self) -> Guarantee:
        return self.ledger.spent

    @property
    def remaining(self) -> Guarantee:
        return self.ledger.remaining

    def __getitem__(self, name: str) -> Expr:
        """A column, for use in conditions."""
        return self._rows[name]

    def where(self, condition: Expr | str) -> Rows:
        """Only the rows for which a condition holds: an expression, or its text."""
        return self._rows.where(condition)

    def condition(self, text: str, rows: Rows) -> Expr:
        """A condition on the columns of rows, read from its text."""
        from ..sql import condition

        return condition(text, rows)

    def mutate(self, /, **columns: Expr) -> Rows:
        """New columns, each computed from the same row."""
        return self._rows.mutate(**columns)

    def group_by(self, /, *keys: str, **public: Iterable[Key]) -> Groups:
        """Rows with the same values of these columns together."""
        return self._rows.group_by(*keys, **public)

    def aggregate(self, /, **aggregates: Aggregate) -> Query:
        """One row of answers about all rows."""
        return self._rows.aggregate(**aggregates)

    def plan(
        self,
        query: Query | str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        group_size: int = 1000,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> Plan:
        """What a release would cost and how exact it would be, of a query or of a SELECT. Reads no data, costs nothing."""
        wanted = promise_of(self.ledger.budget, epsilon, delta, promise)
        asked = self._asked(query, parameters).query if isinstance(query, str) else query
        return plan(self._own(asked), wanted, self._source, group_size)

    def sql(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """The answer to a SELECT about this table, under its name.

        `EXPLAIN PRIVACY SELECT …` gives the plan in sentences, which reads no data and costs nothing.
        """
        asked = self._asked(text, parameters)
        if asked.explain:
            return self.plan(asked.query, epsilon=epsilon, delta=delta, promise=promise).explain()
        return asked.finish(self.release(asked.query, epsilon=epsilon, delta=delta, promise=promise, share=share, fresh=fresh, timeout=timeout))

    def release(
        self,
        query: Query,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
    ) -> Answer:
        """Charge, then answer; or the stored answer to the same question."""
        made = self.plan(query, epsilon=epsilon, delta=delta, promise=promise)
        return release(made, self.ledger, share=share, fresh=fresh, timeout=timeout)

    def close(self) -> None:
        """Close engine and ledger, and remove what the engine kept on disk."""
        self._source.engine.close()
        self.ledger.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        who = f"unit {self.declaration.unit_name}" if self.declaration.unit else "each row is taken as a different person"
        kept = "" if self._durable else " · the ledger lives in memory, and ends with this process"
        return f"<sfumato table {self.name}: {who}, {self.declaration.relation} · spent {self.spent} of {self.budget}{kept}>"

    def _asked(self, text: str, parameters: Sequence[Any] | Mapping[str, Any] | None) -> Any:
        from ..sql import read

        return read(text, self._rows, parameters)

    def _own(self, query: object) -> Query:
        if not isinstance(query, Query) or query.rows.curator is not self:
            raise Refused("plan.query", type(query).__name__, "this is no query of this table", f"{self.name}.aggregate(n=sf.count())")
        return query
