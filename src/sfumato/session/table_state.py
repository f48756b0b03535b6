"""The state of tables that are protected together: the owner's declarations and the limits learned
since. A single table is a family of one.

*Shared*   All tables of a family share one state, because an answer about one of them shows the
           declarations of all.
*Rows*     After a lesson the rows of every table of the family are built anew: joins bring in the
           other tables as they are declared now.
*Threads*  may plan at the same time. The state is replaced, never changed in place: lessons first,
           then the declarations that use them. So a thread that planned with a lesson finds it
           among the lessons afterwards, and all rows that it holds belong to one declaration.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.engine.sources import TableSource
from ..tables.plan.missing_limits import Declared, MissingLimit
from ..tables.query.owned_rows import Origin
from ..tables.query.stages import Rows

if TYPE_CHECKING:
    from .learning import LearnedLimit
    from .protected_table import Table


@dataclass(slots=True, eq=False)
class TableState:
    """Declarations by table (`original` from the owner, `declared` as of now), learned limits, and
    the rows of all tables.
    """

    original: Declared
    database: DatabaseDeclaration | None = None  # the owner's, if there are several tables
    declared: Declared = field(default_factory=dict)
    # by their place in the declarations
    lessons: Mapping[tuple[str, ...], LearnedLimit] = field(default_factory=dict)
    public: Mapping[str, Rows] = field(default_factory=dict)
    # the rows, with the declarations they were built from
    _rows: tuple[Declared, Mapping[str, Rows]] | None = None
    _applying: threading.Lock = field(default_factory=threading.Lock)
    _members: dict[str, tuple[Table, TableSource, Mapping[str, str] | None]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.declared = dict(self.original)

    @property
    def tables(self) -> Mapping[str, Table]:
        return {name: table for name, (table, _, _) in self._members.items()}

    @property
    def rows(self) -> Mapping[str, Rows]:
        """The rows of every table, as declared now."""
        declared, cached = self.declared, self._rows
        if cached is None or cached[0] is not declared:
            cached = self._rows = (declared, self.rows_of(declared))
        return cached[1]

    def register(
        self, name: str, table: Table, source: TableSource, links: Mapping[str, str] | None
    ) -> None:
        """Add a table to the family, with its source and the columns it may be joined on."""
        self._members[name], self._rows = (table, source, links), None

    def add_public(self, public: Mapping[str, Rows]) -> None:
        """Add the public tables."""
        self.public, self._rows = public, None

    def table_of(self, limit: MissingLimit) -> str:
        """Name the table that a limit is about."""
        return limit.table or next(iter(self.original))

    def database_with(self, declared: Declared) -> DatabaseDeclaration | None:
        """Return the database declaration with these table declarations; None for one table."""
        return (
            None
            if self.database is None
            else replace(
                self.database, tables=tuple(declared[table.name] for table in self.database.tables)
            )
        )

    def rows_of(self, declared: Declared) -> dict[str, Rows]:
        """Build the rows of every table from these declarations."""
        database = self.database_with(declared)
        private = {
            name: Rows.of(declared[name], table, Origin(source, database), links)
            for name, (table, source, links) in self._members.items()
        }
        return {**private, **self.public}

    def apply(self, lessons: Sequence[LearnedLimit]) -> None:
        """Write learned limits into the declarations."""
        if not lessons:
            return
        with self._applying:
            declared = dict(self.declared)
            for lesson in lessons:
                table = self.table_of(lesson.limit)
                declared[table] = lesson.into(declared[table])
            self.lessons = {**self.lessons, **{lesson.place: lesson for lesson in lessons}}
            self.declared = declared
