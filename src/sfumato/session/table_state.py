"""The state of tables that are protected together: the owner's declarations, the limits learned
since, and the ledger. A single table is a family of one.

*Shared*   All tables of a family share one state, because an answer about one of them shows the
           declarations of all.
*Rows*     After a lesson the rows of every table of the family are built anew: joins bring in the
           other tables as they are declared now.
*Threads*  may plan at the same time. The state is replaced, never changed in place: lessons first,
           then the declarations that use them. So a thread that planned with a lesson finds it
           among the lessons afterwards, and all rows that it holds belong to one declaration.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ..errors import Refused
from ..guarantees.stored_guarantee import ratio
from ..ledger import Ledger
from ..tables.declare.declaration import Declaration
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.learned_limits import REST, TAILS, read_shares, shares_text
from ..tables.engine.sources import TableSource
from ..tables.plan.missing_limits import Declared, MissingLimit
from ..tables.query.owned_rows import Origin
from ..tables.query.stages import Query, QueryCurator, Rows
from . import session_refusals as refusals
from .checked_limit import CheckedLimit
from .noisy_cells import StoredHistogram

FIELDS = {"learned", "value", "shares"}
"""What every record of a learned limit holds."""


@dataclass(frozen=True, slots=True)
class LearnedLimit:
    """A learned limit, or learned bounds of a column, with the shares that lie beyond, and the
    noisy histogram that it was chosen from. Without it (an older record, or a limit that is to
    stay) the limit is the same for every question.
    """

    limit: MissingLimit
    value: tuple[Fraction, ...]
    shares: tuple[Fraction, ...] | None
    histogram: StoredHistogram | None = None

    @property
    def place(self) -> tuple[str, ...]:
        """Its place among the lessons: table, kind and columns."""
        return (self.limit.table, self.limit.kind, *self.limit.of)

    def to_json(self) -> bytes:
        record: dict[str, object] = {
            "learned": 1,
            "value": [str(number) for number in self.value],
            "shares": shares_text(self.shares),
        }
        if self.histogram is not None:
            record |= {"learned": 2, "histogram": self.histogram.to_record()}
        return json.dumps(record).encode()

    @classmethod
    def from_json(cls, limit: MissingLimit, stored: bytes) -> LearnedLimit:
        try:
            record = json.loads(stored)
            value = tuple(map(ratio, record["value"]))
            shares = read_shares(record["shares"], TAILS if limit.kind == "bounds" else REST)
            right = (
                len(value) == 2 and value[0] <= value[1]
                if limit.kind == "bounds"
                else len(value) == 1 and value[0].denominator == 1 <= value[0]
            )
            entries = {1: FIELDS, 2: {*FIELDS, "histogram"}}[record["learned"]]
            if not right or set(record) != entries:
                raise ValueError(record)
            histogram = (
                StoredHistogram.from_record(record["histogram"]) if "histogram" in record else None
            )
        except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, Refused):
            raise refusals.DAMAGED_LIMIT() from None
        return cls(limit, value, shares, histogram)

    def into(self, declaration: Declaration) -> Declaration:
        """Return the declaration with this limit in it."""
        learned = declaration.learned
        if self.limit.kind == "bounds":
            (column,), (low, high) = self.limit.of, self.value
            ends = {**declaration.ranges, column: (low, high)}
            return replace(
                declaration,
                bounds=tuple((name, ends[name]) for name, _ in declaration.types if name in ends),
                learned=learned.with_bounds(column, self.shares),
            )
        most, learned = int(self.value[0]), learned.with_limit(self.limit.kind, self.shares)
        if self.limit.kind == "max_rows":
            return replace(declaration, max_rows=most, learned=learned)
        learned = replace(learned, keys=self.limit.of)
        return replace(declaration, max_groups=most, learned=learned)


@dataclass(slots=True, eq=False)
class TableState:
    """Declarations by table (`original` from the owner, `declared` as of now), learned limits, and
    the rows of all tables.
    """

    original: Declared
    ledger: Ledger
    database: DatabaseDeclaration | None = None  # the owner's, if there are several tables
    declared: Declared = field(default_factory=dict)
    # by their place in the declarations
    lessons: Mapping[tuple[str, ...], LearnedLimit] = field(default_factory=dict)
    # what was measured of declared limits, by table
    checks: Mapping[str, CheckedLimit] = field(default_factory=dict)
    public: Mapping[str, Rows] = field(default_factory=dict)
    # the rows, with the declarations they were built from
    _rows: tuple[Declared, Mapping[str, Rows]] | None = None
    _applying: threading.Lock = field(default_factory=threading.Lock)
    _members: dict[str, tuple[QueryCurator, TableSource, Mapping[str, str] | None]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.declared = dict(self.original)

    @property
    def rows(self) -> Mapping[str, Rows]:
        """The rows of every table, as declared now."""
        return self.rows_of(self.declared)

    def register(
        self, name: str, table: QueryCurator, source: TableSource, links: Mapping[str, str] | None
    ) -> None:
        """Add a table to the family, with its source and the columns it may be joined on."""
        self._members[name], self._rows = (table, source, links), None

    def add_public(self, public: Mapping[str, Rows]) -> None:
        """Add the public tables."""
        self.public, self._rows = public, None

    @property
    def first(self) -> str:
        """The name of the first table, or of the only one."""
        return next(iter(self.original))

    def table_of(self, limit: MissingLimit) -> str:
        """Name the table that a limit is about."""
        return limit.table or self.first

    def database_with(self, declared: Declared) -> DatabaseDeclaration | None:
        """Return the database declaration with these table declarations; None for one table."""
        return (
            None
            if self.database is None
            else replace(
                self.database, tables=tuple(declared[table.name] for table in self.database.tables)
            )
        )

    def rows_of(self, declared: Declared) -> Mapping[str, Rows]:
        """Build the rows of every table from these declarations. Caches those of now."""
        cached = self._rows
        if cached is not None and cached[0] is declared:
            return cached[1]
        database = self.database_with(declared)
        private = {
            name: Rows.of(declared[name], table, Origin(source, database), links)
            for name, (table, source, links) in self._members.items()
        }
        rows = {**private, **self.public}
        if declared is self.declared:
            self._rows = (declared, rows)
        return rows

    def with_version(self, version: str, table: str, column: str) -> TableState:
        """Return a state of the same tables, as the owner declared them, whose data have another
        version. A column of the table may have no listed keys there ("" for none).
        """
        declared = {name: replace(each, version=version) for name, each in self.original.items()}
        keys = tuple(pair for pair in declared[table].keys if pair[0] != column)
        declared[table] = replace(declared[table], keys=keys)
        state = TableState(declared, self.ledger, self.database_with(declared))
        state._members, state.public = dict(self._members), self.public
        return state

    def apply(self, lessons: Sequence[LearnedLimit], *, groups: bool = False) -> None:
        """Write learned limits into the declarations. A limit of groups that a question learned is
        for its keys alone: it goes into the declarations only with `groups`.
        """
        if not lessons:
            return
        with self._applying:
            self.lessons = {**self.lessons, **{lesson.place: lesson for lesson in lessons}}
            self.declared = self.with_limits(
                [lesson for lesson in lessons if groups or lesson.limit.kind != "max_groups"]
            )

    def with_limits(self, lessons: Iterable[LearnedLimit]) -> Declared:
        """Return the declarations of now with these limits in them."""
        declared = dict(self.declared)
        for lesson in lessons:
            table = self.table_of(lesson.limit)
            declared[table] = lesson.into(declared[table])
        return declared


def state_of(query: Query) -> TableState | None:
    """Return the state of the tables that a query is about; None if no session protects them."""
    state = getattr(query.rows.curator, "state", None)
    return state if isinstance(state, TableState) else None
