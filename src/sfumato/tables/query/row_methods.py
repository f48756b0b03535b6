"""The query methods that every protected table has, in this process or behind a server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Unpack

from ...errors import trim_methods
from ...templates.summary import Summarized, Summary
from ..declare.declaration import Key
from ..expr.expressions import Expr
from .aggregate import Aggregate
from .calendars import Calendar
from .foreign_names import NamedByOthers
from .groupings import Groupings
from .join_steps import On
from .stages import Groups, Query, Rows
from .synthesis_options import SynthesisRelease, SyntheticRows, synthesizes


@trim_methods
class RowVerbs(NamedByOthers, Summarized):
    """A table with the methods of its rows: where, mutate, group_by, aggregate, and the joins."""

    @property
    def rows(self) -> Rows:
        """Return all rows, as one side of a join or a union."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.rows.columns

    @property
    def schema(self) -> dict[str, str]:
        """The types of the columns, by name, as `types=` of `protect` takes them."""
        return {column: str(kind) for column, kind in self.rows.schema.items()}

    def describe(self) -> Summary:
        """Return what is declared: columns, types, bounds, public keys, unit, limits and budget. It
        reads no data and costs nothing.
        """
        return self._summary()

    def __getitem__(self, name: str) -> Expr:
        """Return a column, for use in conditions."""
        return self.rows[name]

    def where(self, condition: Expr | str) -> Rows:
        """Keep the rows that meet a condition: an expression, or its text."""
        return self.rows.where(condition)

    filter = where

    def mutate(self, /, **columns: Expr) -> Rows:
        """Add columns, each computed from the same row."""
        return self.rows.mutate(**columns)

    def join(
        self,
        right: object,
        /,
        on: On | None = None,
        *,
        how: str = "inner",
        where: Expr | None = None,
    ) -> Rows:
        """Join the rows of another table: of a public one, or of a protected one on the unit or a
        declared link.
        """
        return self.rows.join(right, on, how=how, where=where)

    def semi_join(
        self, right: object, /, on: On | None = None, *, where: Expr | None = None
    ) -> Rows:
        """Keep the rows that match a row of the other table."""
        return self.rows.semi_join(right, on, where=where)

    def anti_join(
        self,
        right: object,
        /,
        on: On | None = None,
        *,
        where: Expr | None = None,
        nulls: bool = False,
    ) -> Rows:
        """Keep the rows that match no row of the other table."""
        return self.rows.anti_join(right, on, where=where, nulls=nulls)

    def union(self, right: object, /, columns: Iterable[str] | None = None) -> Rows:
        """Add the rows of another protected table."""
        return self.rows.union(right, columns)

    def number_rows(
        self,
        column: str,
        by: str | Expr | Iterable[str | Expr],
        *,
        descending: bool = False,
        within: str | Expr | Iterable[str | Expr] = (),
    ) -> Rows:
        """Add a column that numbers the rows of each unit from 1 on, in the order of some columns;
        with `within`, apart for each value of these columns.

        >>> rows = visits.number_rows("k", by="day")
        >>> rows.where(rows["k"] == 1).aggregate(first=sf.mean("spend")).release(epsilon=0.1).names
        ('first',)
        """
        return self.rows.number_rows(column, by, descending=descending, within=within)

    def group_by(
        self, /, *keys: str | Groupings, **public: Iterable[Key] | Calendar | Expr
    ) -> Groups:
        """Group rows with the same values of these columns. `city=["Roma", "Bari"]` lists the
        public keys of a column, and each of them gets an answer; an expression is a new column.
        `sf.cube("city", "vip")` asks for several groupings whose tables agree.

        >>> visits.group_by(city=["Roma", "Bari"]).count().release(epsilon=0.1).rows
        (('Bari',), ('Roma',))
        """
        return self.rows.group_by(*keys, **public)

    def aggregate(
        self, /, *unnamed: Aggregate, **aggregates: Aggregate | tuple[Aggregate, ...]
    ) -> Query:
        """Aggregate all rows to one row of answers: a column for each aggregate, by its name. One
        without a name is called after its column: mean_spend.

        >>> visits.aggregate(n=sf.count(), people=sf.count_units()).release(epsilon=0.1).names
        ('n', 'people')
        """
        return self.rows.aggregate(*unnamed, **aggregates)

    agg = aggregate

    def count(self) -> Query:
        """Count the rows: the query of one column n, to plan and to release."""
        return self.rows.count()

    @synthesizes(SynthesisRelease)
    def synthesize(self, **options: Unpack[SynthesisRelease]) -> SyntheticRows:
        """Make a table of invented rows whose counts are near those of the data, with a certificate
        of their error.

        >>> visits.synthesize(columns=["age", "city"], epsilon=1).to_pandas()
            age  city
        0   ...
        """
        return self.rows.synthesize(**options)

    def _summary(self) -> Summary:
        declared = self.rows.declaration._summary()
        return replace(declared, title=f"table {declared.title}")
