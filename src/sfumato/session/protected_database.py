"""Several protected tables under one budget, with public tables beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..answers.answer import Answer
from ..errors import Refused
from ..ledger import Ledger
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.query.owned_rows import Origin
from ..tables.query.stages import Query, Rows
from .budget_mixin import Budgeted
from .protected_table import Table
from .table_state import Known


class Database(Budgeted):
    """Protected tables by name, public ones in `public`, one ledger for all. Questions may be about
    any of them, and about several joined.
    """

    def __init__(
        self,
        declaration: DatabaseDeclaration,
        sources: Mapping[str, Any],
        ledger: Ledger,
        *,
        durable: bool,
    ) -> None:
        self.given = declaration
        self.known = Known(
            {declared.name: declared for declared in declaration.tables}, declaration
        )
        self.ledger = ledger
        self._durable = durable
        self._engine = next(iter(sources.values())).engine
        made = {}
        for declared in declaration.tables:
            links = declaration.words(declared.name)
            made[declared.name] = Table(
                declared,
                sources[declared.name],
                ledger,
                durable=durable,
                known=self.known,
                links=links,
            )
        first = next(iter(made.values()))
        open_ = {
            declared.name: Rows.of(
                declared, first, Origin(sources[declared.name], declaration, public=True)
            )
            for declared in declaration.public
        }
        self.tables: Mapping[str, Table] = MappingProxyType(made)
        self.public: Mapping[str, Rows] = MappingProxyType(open_)
        self.known.opens(self.public)

    @property
    def name(self) -> str:
        return self.given.name

    @property
    def declaration(self) -> DatabaseDeclaration:
        """Of all tables, with what was learned."""
        return self.known.whole_of(self.known.declared) or self.given

    def __getitem__(self, name: str) -> Table:
        """A protected table."""
        if name not in self.tables:
            rewrite = (
                f"db.public[{name!r:.60}]"
                if name in self.public
                else " or ".join(f"db[{known!r:.60}]" for known in list(self.tables)[:3])
            )
            raise Refused(
                "table.name",
                f"db[{name!r:.60}]",
                "there is no protected table of that name",
                rewrite,
            )
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def plan(self, query: Query | str, **how: Any) -> Any:
        """What a release would cost and how exact it would be; `how` as for one table: epsilon=,
        delta=, promise=, within=, … Reads no data, costs nothing.
        """
        return self._any.plan(query, **how)

    def sql(self, text: str, **how: Any) -> Any:
        """The answer to a SELECT about these tables, under their names; `how` as for one table:
        epsilon=, parameters=, …
        """
        return self._any.sql(text, **how)

    def release(self, query: Query, **how: Any) -> Answer:
        """Charge, then answer; or the stored answer to the same question."""
        return self._any.release(query, **how)

    def plan_all(self, queries: Sequence[Query | str], **how: Any) -> Any:
        """What releasing several questions together would cost, and how exact each would be."""
        return self._any.plan_all(queries, **how)

    def release_all(self, queries: Sequence[Query | str], **how: Any) -> tuple[Answer, ...]:
        """Several questions for one promise and one charge."""
        return self._any.release_all(queries, **how)

    def close(self) -> None:
        """Close engine and ledger, and remove what the engine kept on disk."""
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        public = f" · public: {', '.join(self.public)}" if self.public else ""
        kept = "" if self._durable else " · the ledger lives in memory, and ends with this process"
        listed = ", ".join(self.tables)
        return (
            f"<sfumato tables {listed}: unit {self.declaration.unit_name}, "
            f"{self.declaration.relation}{public} · spent {self.spent} of "
            f"{self.budget}{kept}>"
        )

    @property
    def _any(self) -> Table:
        """A table to ask by: every one knows the others."""
        return next(iter(self.tables.values()))
