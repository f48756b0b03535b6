"""The query methods that every protected table has, in this process or behind a server."""

from __future__ import annotations

from collections.abc import Iterable

from ..declare.declaration import Key
from ..expr.expressions import Expr
from .aggregate import Aggregate
from .calendars import Calendar
from .join_steps import On
from .stages import Groups, Query, Rows


class RowVerbs:
    """A table with the methods of its rows: where, mutate, group_by, aggregate, and the joins."""

    @property
    def rows(self) -> Rows:
        """Return all rows, as one side of a join or a union."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Expr:
        """Return a column, for use in conditions."""
        return self.rows[name]

    def where(self, condition: Expr | str) -> Rows:
        """Keep the rows that meet a condition: an expression, or its text."""
        return self.rows.where(condition)

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

    def group_by(self, /, *keys: str, **public: Iterable[Key] | Calendar) -> Groups:
        """Group rows with the same values of these columns."""
        return self.rows.group_by(*keys, **public)

    def aggregate(self, /, **aggregates: Aggregate | tuple[Aggregate, ...]) -> Query:
        """Aggregate all rows to one row of answers."""
        return self.rows.aggregate(**aggregates)

    @property
    def _whose(self) -> str:
        """Return whose rows they are, in a few words."""
        declared = self.rows.declaration
        return (
            f"unit {declared.unit_name}"
            if declared.unit
            else "each row is taken as a different person"
        )
