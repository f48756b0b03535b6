"""Keep the rows of a unit's first periods: the step of a stream in which a unit counts in at most so
many periods.

*Ownership*  The periods in which a row is kept follow from the rows of its unit alone.
*Added*      While rows are only added, the first periods of a unit move back in time at most. That
             a unit then counts in no more than so many periods of the noise: docs/proofs/streams.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..expr.types import Type

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True, slots=True, eq=False)
class FirstPeriods:
    """Keep the rows of each unit in its first `most` values of the column `period`."""

    unit: tuple[str, ...]
    period: str
    most: int

    @property
    def text(self) -> str:
        return f"first {self.most} of {self.period} per {', '.join(self.unit)}"

    def schema(self, before: Mapping[str, Type]) -> dict[str, Type]:
        """Return the columns after the step: the same."""
        return dict(before)

    def build(self, table: ir.Table, before: Mapping[str, Type], again: object = None) -> ir.Table:
        """Build the step for an engine."""
        import ibis

        if self.most == 1:
            first = table[self.period].min().over(group_by=[table[name] for name in self.unit])
            marked = table.mutate(first_period=first)
            kept = marked.filter(marked[self.period] == marked.first_period)
            return kept.drop("first_period")
        place = ibis.dense_rank().over(
            group_by=[table[name] for name in self.unit], order_by=[table[self.period]]
        )
        marked = table.mutate(place_of_period=place)
        return marked.filter(marked.place_of_period < self.most).drop("place_of_period")
