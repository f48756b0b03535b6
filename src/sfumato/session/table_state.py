"""What is known of tables that are protected together: what their owner declared, and what was
learned since. One table alone is the same with one name.

*Shared*   Every table of a family has the same record, as whoever sees an answer about one of them
           sees what is declared of all.
*Rows*     of a table are made anew when something was learned, of every table of the family: joins
           bring in the others as they are known now.
*Threads*  may plan at the same time. What is known is replaced, never changed: lessons first, then
           the declarations that have them. So whoever has planned with a lesson finds it among the
           lessons afterwards, and whoever has rows has all of them of one declaration.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.plan.missing_limits import Declared, Lack
from ..tables.query.owned_rows import Origin
from ..tables.query.stages import Rows

if TYPE_CHECKING:
    from .learning import Found
    from .protected_table import Table


@dataclass(slots=True, eq=False)
class Known:
    """Declarations by table, as given and as they are now; what was learned; and the rows of all
    tables.
    """

    given: Declared
    whole: DatabaseDeclaration | None = None  # of several tables: as the owner gave it
    declared: Declared = field(default_factory=dict)
    lessons: Mapping[tuple[str, ...], Found] = field(
        default_factory=dict
    )  # by their place in the declarations
    public: Mapping[str, Rows] = field(default_factory=dict)
    _rows: tuple[Declared, Mapping[str, Rows]] | None = (
        None  # and the declarations that they were made of
    )
    _taking: threading.Lock = field(default_factory=threading.Lock)
    _homes: dict[str, tuple[Table, Any, Mapping[str, str] | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.declared = dict(self.given)

    @property
    def tables(self) -> Mapping[str, Table]:
        return {name: table for name, (table, _, _) in self._homes.items()}

    @property
    def rows(self) -> Mapping[str, Rows]:
        """All rows of every table, as they are declared now."""
        declared, kept = self.declared, self._rows
        if kept is None or kept[0] is not declared:
            kept = self._rows = (declared, self.rows_of(declared))
        return kept[1]

    def has(self, name: str, table: Table, source: Any, links: Mapping[str, str] | None) -> None:
        """A table of the family, where its rows come from, and the columns it may be joined on."""
        self._homes[name], self._rows = (table, source, links), None

    def opens(self, public: Mapping[str, Rows]) -> None:
        """Public tables beside them."""
        self.public, self._rows = public, None

    def home(self, lack: Lack) -> str:
        """The table that something is lacking of."""
        return lack.table or next(iter(self.given))

    def whole_of(self, declared: Declared) -> DatabaseDeclaration | None:
        """The declaration of all of them, with these."""
        return (
            None
            if self.whole is None
            else replace(
                self.whole, tables=tuple(declared[table.name] for table in self.whole.tables)
            )
        )

    def rows_of(self, declared: Declared) -> dict[str, Rows]:
        """All rows of every table, declared as is said here."""
        whole = self.whole_of(declared)
        made = {
            name: Rows.of(declared[name], table, Origin(source, whole), links)
            for name, (table, source, links) in self._homes.items()
        }
        return {**made, **self.public}

    def take(self, found: Sequence[Found]) -> None:
        """Make what was learned part of the declarations."""
        if not found:
            return
        with self._taking:
            declared = dict(self.declared)
            for one in found:
                home = self.home(one.lack)
                declared[home] = one.into(declared[home])
            self.lessons = {**self.lessons, **{one.place: one for one in found}}
            self.declared = declared
