"""Find cells that serve two columns at once: the products of the columns' cells.

*Products*  Cells of one column sum to S for every row, and so do those of another. Their products
            over S sum to S again. They give both sums, the sum of products, and with squares all
            that a correlation needs, at the price of one count.
*Margins*   Only inner products are computed and rounded. What remains of a column's cell beside the
            inner products is one more cell, so that all sums of one column are exact.
*S*         is a multiple of both columns' ranges, which are widened a little where that is needed.
*Missing*   Where products are asked for, rows without one of the values are left out. Otherwise a
            column that may have nulls has one more cell for them.
*Rounding*  A cell that is a rest may lie below zero by the roundings of the others: the noise
            covers that (SPARE).
*Proof*     docs/proofs/cells.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..aggregates.component import Component, Factor
from .cells import (
    Builder,
    Family,
    Form,
    Population,
    chain_of,
    column_key,
    combine,
    distance_from_low,
    line,
    parabola,
    square_cells,
    text_of,
)

SPARE = 32
"""Three times what the rest cells of a row can lie below 0 together, and more."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnPair:
    """Two columns that share the products of their cells; `products` is the component that sums
    their products, over the rows that have both values.
    """

    families: tuple[Family, Family]
    products: int | None = None

    @property
    def population(self) -> Population:
        """Return the rows that the cells count: with both values, or that meet the condition."""
        first = self.families[0]
        return first.population if self.products is not None else ("", first.population[1])


def pairs_of(
    components: Sequence[Component], families: Sequence[Family], most: int
) -> tuple[tuple[ColumnPair, ...], tuple[ColumnPair, ...]]:
    """Return the pairs of columns whose products are asked for, and further pairs of the columns
    that are left; of columns whose cells have a common multiple up to `most`.
    """
    by_column = {column_key(family.example): family for family in families if family.sums}
    requested: list[ColumnPair] = []
    paired: list[Family] = []
    for place, component in enumerate(components):
        if component.pair is None:
            continue
        first, second = (by_column.get(column_key(column)) for column in component.pair)
        if first is None or second is None or first is second:
            continue
        if common_row((first.steps, second.steps), most) is None:
            continue
        if first not in paired and second not in paired:
            requested.append(ColumnPair((first, second), place))
            paired += [first, second]
    free = [
        family
        for family in families
        if family.sums
        and family.squares is None
        and family not in paired
        and (family.example.where is None or family.example.filled)
    ]
    further: list[ColumnPair] = []
    while len(free) > 1:
        column = free.pop(0)
        partner = next(
            (
                each
                for each in free
                if _same_condition(column, each) and common_row((column.steps, each.steps), most)
            ),
            None,
        )
        if partner is not None:
            free.remove(partner)
            further.append(ColumnPair((column, partner)))
    return tuple(requested), tuple(further)


def add_pair(builder: Builder, pair: ColumnPair, most: int) -> None:
    """Add the block of a pair of columns, whose cells sum to at most `most` for each row."""
    rows = builder.count(pair.population, pair.families[0].example)
    common = common_row([family.steps for family in pair.families], most)
    assert common is not None  # pairs_of left out others
    ranges, row = common
    first, second = (
        _side(builder, pair, family, steps, row)
        for family, steps in zip(pair.families, ranges, strict=True)
    )
    inner = [
        [{builder.add(_product((x, y), row)): 1} for y in second.factors] for x in first.factors
    ]
    all_inner = [(1, cell) for products in inner for cell in products]
    margins = [(-1, cell) for cell in (*first.cells, *second.cells)]
    cells = [combine((row, {rows: 1}), *margins, *all_inner)]
    for j, column in enumerate(second.cells):
        cells.append(combine((1, column), *((-1, products[j]) for products in inner)))
    for column, products in zip(first.cells, inner, strict=True):
        cells += [combine((1, column), *((-1, cell) for cell in products)), *products]
    readings: dict[int, tuple[Sequence[Fraction], Fraction]] = {}
    for weights_x, weights_y, place, worth in _readings(builder, pair, first, second):
        if place != rows:  # that is read as the first of the chain
            readings[place] = [x * y for x in weights_x for y in weights_y], worth
    names = " and ".join(family.name for family in pair.families)
    where = f" where {pair.population[1]}" if pair.population[1] else ""
    builder.add_block(
        cells,
        chain_of(pair.population, builder.counts),
        row,
        readings,
        about=f"cells of {names}{where}",
        spare=SPARE,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One column of a pair: its cells but the first, as factors of products and as combinations of
    exact sums. The first cell of a column with missing values (`rest`) is for those.
    """

    family: Family
    rows: int
    steps: int  # between the ends of the cells
    factors: tuple[Factor, ...]
    cells: tuple[Form, ...]
    rest: bool

    @property
    def ones(self) -> list[Fraction]:
        return [Fraction(1)] * (len(self.cells) + 1)

    def values(self, component: Component) -> list[Fraction]:
        """Return the weights of the cells in a sum of values, or of values from the centre."""
        cells = len(self.cells) + 1 - self.rest
        return [Fraction(0)] * self.rest + line(self.family.grid, self.steps, component, cells)


def _side(builder: Builder, pair: ColumnPair, family: Family, steps: int, row: int) -> _Side:
    rest = pair.products is None and not family.example.filled
    rows, times = builder.count(family.population, family.example), row // steps
    degree = 1 if family.squares is None else 2
    factors = tuple(
        Factor(builder.components[family.sums[0]], degree, times, row, place, rest)
        for place in range(0 if rest else 1, degree + 1)
    )
    distance = combine((times, distance_from_low(builder, family, rows)))
    if degree == 1:
        cells = [combine((row, {rows: 1}), (-1, distance)), distance]
    else:
        top = {builder.add(_product((factors[-1],), row)): 1}
        cells = square_cells({rows: 1}, distance, top, row)
    return _Side(family, rows, steps, factors, tuple(cells[0 if rest else 1 :]), rest)


def _readings(
    builder: Builder, pair: ColumnPair, first: _Side, second: _Side
) -> list[tuple[list[Fraction], list[Fraction], int, Fraction]]:
    """Return what can be read: weights of both columns' cells, a place, and the worth of a unit."""
    readings = []
    for side in (first, second):
        grid = side.family.grid
        of_side = [
            (side.values(builder.components[place]), place, grid.step) for place in side.family.sums
        ]
        of_side.append(([Fraction(int(not side.rest)), *side.ones[1:]], side.rows, Fraction(1)))
        if side.family.squares is not None:
            of_side.append((parabola(grid, side.steps), side.family.squares, grid.step**2))
        for weights, place, worth in of_side:
            x, y = (weights, second.ones) if side is first else (first.ones, weights)
            readings.append((x, y, place, worth))
    if pair.products is not None:
        centred = builder.components[pair.products].pair
        assert centred is not None
        x, y = first.values(centred[0]), second.values(centred[1])
        worth = first.family.grid.step * second.family.grid.step
        readings.append((x, y, pair.products, worth))
    return readings


def common_row(steps: Sequence[int], most: int) -> tuple[list[int], int] | None:
    """Widen ranges to fewer leading bits, as little as needed for a common multiple of at most
    `most`; return them and a multiple that is more than half of it. Where it can be a multiple of
    the product of the ranges, or of its square, products (or squares, too) need no rounding. None
    if a range is larger.
    """
    for leading in range(most.bit_length(), 0, -1):
        bits = [max(0, each.bit_length() - leading) for each in steps]
        wide = [-(-each >> bit) << bit for each, bit in zip(steps, bits, strict=True)]
        product = math.prod(wide)
        for common in (product**2, product, math.lcm(*wide)):
            if common <= most:
                return wide, common * (most // common)
    return None


def _product(factors: tuple[Factor, ...], row: int) -> Component:
    names = [
        f"{factor.place} of {factor.degree} of {factor.column.name}, {factor.times} of {factor.row}"
        + (" or none" if factor.rest else "")
        for factor in factors
    ]
    return Component(f"cell {' times '.join(names)}", "product", 0, row, factors=factors)


def _same_condition(first: Family, second: Family) -> bool:
    return text_of(first.example.where) == text_of(second.example.where)
