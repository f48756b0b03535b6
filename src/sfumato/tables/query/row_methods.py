"""The verbs of a protected table: those of its rows, whether they are in this process or behind a
server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..declare.declaration import Key
from ..expr.expressions import Expr
from .aggregates import Aggregate
from .calendars import Calendar
from .join_steps import On
from .stages import Groups, Query, Rows


class RowVerbs:
    """Something that is asked about by its rows: where, mutate, group_by, aggregate, and the
    joins.
    """

    @property
    def rows(self) -> Rows:
        """All rows, as one side of a join or a union."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Expr:
        """A column, for use in conditions."""
        return self.rows[name]

    def where(self, condition: Expr | str) -> Rows:
        """Only the rows for which a condition holds: an expression, or its text."""
        return self.rows.where(condition)

    def mutate(self, /, **columns: Expr) -> Rows:
        """New columns, each computed from the same row."""
        return self.rows.mutate(**columns)

    def join(
        self, other: Any, /, on: On | None = None, *, how: str = "inner", where: Expr | None = None
    ) -> Rows:
        """The rows of another table beside these: of a public one, or of a protected one on the
        unit or a declared link.
        """
        return self.rows.join(other, on, how=how, where=where)

    def semi_join(self, other: Any, /, on: On | None = None, *, where: Expr | None = None) -> Rows:
        """Rows for which the other table has one that fits."""
        return self.rows.semi_join(other, on, where=where)

    def anti_join(
        self, other: Any, /, on: On | None = None, *, where: Expr | None = None, nulls: bool = False
    ) -> Rows:
        """Rows for which the other table has none that fits."""
        return self.rows.anti_join(other, on, where=where, nulls=nulls)

    def union(self, other: Any, /, columns: Iterable[str] | None = None) -> Rows:
        """These rows and those of another protected table."""
        return self.rows.union(other, columns)

    def group_by(self, /, *keys: str, **public: Iterable[Key] | Calendar) -> Groups:
        """Rows with the same values of these columns together."""
        return self.rows.group_by(*keys, **public)

    def aggregate(self, /, **aggregates: Aggregate | tuple[Aggregate, ...]) -> Query:
        """One row of answers about all rows."""
        return self.rows.aggregate(**aggregates)

    @property
    def _whose(self) -> str:
        """Whose rows they are, in a few words."""
        declared = self.rows.declaration
        return (
            f"unit {declared.unit_name}"
            if declared.unit
            else "each row is taken as a different person"
        )
