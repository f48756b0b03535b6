"""A component: one column of exact integers that the engine sums, each in a public range per row.

*Centred*   Means and spreads measure values from the middle of their bounds: that halves what a row
            may add, and quarters its square.
*Squares*   are divided by a power of two, each row's by itself and rounded to the nearest, so that
            they have about as many steps as the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..expr.expressions import Expr
from ..expr.grids import Grid
from ..query.aggregate import Aggregate
from .count_tree import CountTree

ComponentForm = Literal[
    "one", "value", "centred", "square", "side", "unit", "bin", "point", "tree", "distinct"
]

FLAT: tuple[ComponentForm, ...] = ("one", "value", "centred", "square", "side")
"""Forms whose result has one line for each group."""


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """One column of exact sums: in each cell, integers between `low` and `high`, one per row, times
    the row's weight.
    """

    name: str
    form: ComponentForm
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    of: Expr | None = None
    where: Expr | None = None
    grid: Grid | None = None
    shift: int = 0
    cells: int = 1
    edges: tuple[Fraction, ...] = ()
    pooled: bool = False  # over all groups together
    filled: bool = False  # a missing value counts as the lower bound
    aggregate: Aggregate | None = None  # the quantile, if the form is "point"
    tree: CountTree | None = None  # how cells are counted, if the form is "tree"
    rule: str = ""  # the sentence of the plan, if it is not that a column is clipped
    missing: str = ""  # the sentence about rows without a value, if it is not about one column

    @property
    def key(self) -> tuple[object, ...]:
        """Return all fields as a tuple that can be compared: expressions by their texts."""
        texts = tuple(
            "" if part is None else part.text for part in (self.of, self.where, self.aggregate)
        )
        numbers = self.low, self.high, self.step, self.shift, self.cells, self.edges
        return (
            self.name,
            self.form,
            *texts,
            *numbers,
            self.grid,
            self.pooled,
            self.filled,
            self.tree,
        )

    @property
    def largest(self) -> int:
        return max(abs(self.low), abs(self.high))

    @property
    def levels(self) -> int:
        """Return how many cells count the same row: the levels of a tree, else 1."""
        return 1 if self.tree is None else self.tree.levels
