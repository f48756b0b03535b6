"""A component: one column of exact integers that the engine sums, each in a public range per row.

*Centred*   Means and spreads measure values from the middle of their bounds: that halves what a row
            may add, and quarters its square.
*Products*  of two columns' cells are divided by what the cells of a row sum to, and rounded, too.
*Squares*   are of the distance h from the lower bound, as times·h²/R, with R the range of h: each
            row's is rounded to the nearest integer by itself. It is exact if times = R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...mechanisms.shared.better_law import Norm
from ..expr.expressions import Expr
from ..expr.grids import Grid
from ..query.aggregate import Aggregate
from .count_tree import CountTree
from .prefix_noise import PrefixStrategies, mean_square

_FINEST, _COARSEST = 26, 20  # bits of what the cells of a row sum to


def cell_steps(max_rows: int) -> int:
    """Return what the cells of squares, or of two columns, sum to at most for each row; it is more
    than half of that. Fewer steps if a unit has many rows, so that noise fits its samplers.
    """
    bits = 0 if max_rows == 1 else 2 + (max_rows - 1).bit_length()
    return 1 << max(_COARSEST, _FINEST - bits)


ComponentForm = Literal[
    "one",
    "value",
    "centred",
    "square",
    "product",
    "side",
    "unit",
    "bin",
    "point",
    "tree",
    "distinct",
]

FLAT: tuple[ComponentForm, ...] = ("one", "value", "centred", "square", "product", "side")
"""Forms whose result has one line for each group."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A cell of one column, as an integer of each row. The cells of a row sum to `row`; with a the
    distance from the lower bound in steps of 1/times, they are row − a and a (`degree` 1), or
    (row − a)²/row, 2·a·(row − a)/row and a²/row (`degree` 2), each rounded.
    """

    column: Component
    degree: int
    times: int
    row: int
    place: int
    rest: bool  # whether a row without a value counts as 0; else it is left out


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
    times: int = 1  # of squares: how many steps a step of the grid has
    cells: int = 1
    edges: tuple[Fraction, ...] = ()
    pooled: bool = False  # over all groups together
    filled: bool = False  # a missing value counts as the lower bound
    aggregate: Aggregate | None = None  # the quantile, if the form is "point"
    tree: CountTree | None = None  # how cells are counted, if the form is "tree"
    strategies: PrefixStrategies | None = None  # how the cells of cumulative counts are measured
    factors: tuple[Factor, ...] = ()  # of a product: cells of one or two columns
    pair: tuple[Component, Component] | None = None  # the centred columns of a sum of products
    rule: str = ""  # the sentence of the plan, if it is not that a column is clipped
    missing: str = ""  # the sentence about rows without a value, if it is not about one column

    @property
    def key(self) -> tuple[object, ...]:
        """Return all fields as a tuple that can be compared: expressions by their texts."""
        texts = tuple(
            "" if part is None else part.text for part in (self.of, self.where, self.aggregate)
        )
        numbers = self.low, self.high, self.step, self.times, self.cells, self.edges
        return (
            self.name,
            self.form,
            *texts,
            *numbers,
            self.grid,
            self.pooled,
            self.filled,
            self.tree,
            self.strategies,
        )

    @property
    def largest(self) -> int:
        return max(abs(self.low), abs(self.high))

    def column_l1(self, norm: Norm) -> int:
        """Return how far a row that counts 1 moves what is measured in the L1 norm: the levels of a
        tree, the longest column of a strategy, else 1.
        """
        if self.strategies is not None:
            return self.strategies.of(norm).column_l1
        return 1 if self.tree is None else self.tree.levels

    def column_l2_squared(self, norm: Norm) -> int:
        """Return the square of how far it moves this in the L2 norm."""
        if self.strategies is not None:
            return self.strategies.of(norm).column_l2_squared
        return 1 if self.tree is None else self.tree.levels

    def reading_factor(self, norm: Norm) -> float:
        """Return the deviation of a value of the column, on average, in units of that of one
        draw.
        """
        return 1.0 if self.strategies is None else math.sqrt(mean_square(self.strategies.of(norm)))
