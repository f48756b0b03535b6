"""Find cells that serve several components at once: one measurement instead of many.

*Column*    A row with the value x between its bounds adds to two cells: `low` the distance R − h to
            the upper bound, `high` the distance h to the lower bound. Both are not negative and sum
            to R. So all cells of a column, in all groups, move by no more than one count does, and
            each gets noise for the whole cost. The number of rows is (low + high)/R; the sum is
            (L·low + U·high)/R.
*Squares*   Where squares are needed, three cells: m·(R − h)²/R, 2·m·h·(R − h)/R and m·h²/R. They
            sum to m·R and give the number of rows, the sum, and the sum of squares.
*Rest*      Rows that a larger count has and the column has not (nulls, or rows that do not meet a
            condition) are one more cell. It costs no noise on the others.
*Exact*     Cells are integer combinations of the exact sums of components. So every engine computes
            the same sums as before, and the integers of a row sum to exactly S.
*Proof*     docs/proofs/cells.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..aggregates.component import Component
from ..expr.expressions import Expr
from ..expr.grids import Grid

Form = Mapping[int, int]
"""An integer combination of exact sums: the weight of each component, by its place."""

Weights = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Cells that share one noise law, each with its own draw. `cells` holds for each cell the
    integer weights of the exact sums at `places`; the noise is for a row's cells that are not
    negative and sum to `row`. A block without cells is one component by itself. Its integers are
    multiplied by `scale` before noise is added.
    """

    places: tuple[int, ...]
    cells: tuple[Weights, ...] = ()
    row: int = 0
    about: str = ""
    scale: int = 1

    @classmethod
    def of(cls, cells: Sequence[Form], row: int, about: str) -> Block:
        """Return the block of these cells."""
        places = sorted({place for cell in cells for place in cell})
        weights = tuple(tuple(cell.get(place, 0) for place in places) for cell in cells)
        return cls(tuple(places), weights, row, about)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a component follows from noisy cells: the sum of integer weights times the cells of one
    or more blocks; each integer of the sum is worth `step`, before weights of rows.
    """

    parts: tuple[tuple[int, Weights], ...]
    step: Fraction

    @classmethod
    def direct(cls, block: int, component: Component) -> Reading:
        """Read a component that has a block of its own."""
        return cls(((block, (1,)),), component.step)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What gets noise: blocks, and for each component the ways to read it from them. The last
    components are sums that cells need and no column shows: they have no reading.
    """

    components: tuple[Component, ...]
    blocks: tuple[Block, ...]
    readings: tuple[tuple[Reading, ...], ...]


Population = tuple[str, str]
"""Which rows are counted: those with a value of an expression, and that meet a condition; "" for
all rows.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The components of one column: the rows that it counts, its sums and its squares. Without sums
    it is a count alone.
    """

    population: Population
    example: Component  # whose value and condition the counted rows have
    sums: tuple[int, ...] = ()
    squares: int | None = None

    @property
    def grid(self) -> Grid:
        assert self.example.grid is not None
        return self.example.grid

    @property
    def steps(self) -> int:
        return self.grid.high - self.grid.low

    @property
    def name(self) -> str:
        return text_of(self.example.of) if self.sums else self.population[0]


class Builder:
    """Collects the blocks of a measurement, the ways to read components from them, and the sums
    that they need beyond the components of a query.
    """

    def __init__(self, components: Sequence[Component], alone: int | None = None) -> None:
        self.components = list(components)
        self.counts = _counts_beside(components, alone)
        self._blocks: list[Block] = []
        self._readings: list[list[Reading]] = [[] for _ in components]

    def count(self, population: Population, example: Component) -> int:
        """Return the place of the component that counts these rows."""
        if population not in self.counts:
            of, where = population
            about = ([of] if of else []) + ([f"where {where}"] if where else [])
            component = Component(
                " ".join(["count", *about]),
                "one",
                of=example.of if of else None,
                where=example.where if where else None,
            )
            self.counts[population] = self.add(component)
        return self.counts[population]

    def add(self, component: Component) -> int:
        """Add a sum that cells need; return its place."""
        self.components.append(component)
        return len(self.components) - 1

    def add_block(
        self,
        cells: Sequence[Form],
        chain: Sequence[int],
        row: int,
        readings: Mapping[int, tuple[Sequence[Fraction], Fraction]],
        *,
        about: str,
        spare: int = 0,
    ) -> None:
        """Add a block whose cells of a row sum to `row`. The chain lists counts: of the rows of all
        cells, and of more and more rows. A reading has the weight of each cell in a component, in
        units that are worth a number. Noise covers `spare` more than `row`.
        """
        rest = [{larger: row, smaller: -row} for smaller, larger in pairwise(chain)]
        number = len(self._blocks)
        self._blocks.append(
            Block.of(
                [*cells, *rest],
                row + spare,
                ", ".join(
                    [about, *(f"other rows of {self.components[i].name}" for i in chain[1:])]
                ),
            )
        )
        for i, place in enumerate(chain):
            ones = (1,) * (len(cells) + i) + (0,) * (len(rest) - i)
            self._read(place, Reading(((number, ones),), Fraction(1, row)))
        for place, (weights, worth) in readings.items():
            common = math.lcm(*(weight.denominator for weight in weights))
            integers = tuple(int(weight * common) for weight in weights) + (0,) * len(rest)
            self._read(place, Reading(((number, integers),), worth / (row * common)))

    def _read(self, place: int, reading: Reading) -> None:
        if place < len(self._readings):
            self._readings[place].append(reading)

    def finish(self, *, counts: bool = False) -> Measurement:
        """Give every component without a reading a block of its own; with `counts`, every count."""
        for place, readings in enumerate(self._readings):
            if counts and self.components[place].form == "one":
                readings.clear()
            if not readings:
                readings.append(Reading.direct(len(self._blocks), self.components[place]))
                self._blocks.append(Block((place,)))
        return Measurement(
            tuple(self.components),
            tuple(self._blocks),
            tuple(tuple(readings) for readings in self._readings),
        )


def families_of(components: Sequence[Component], alone: int | None = None) -> tuple[Family, ...]:
    """Return the columns whose components can share cells, and counts that no column contains. The
    count at the place `alone` is to have noise of its own.
    """
    columns: dict[tuple[object, ...], list[int]] = {}
    for place, component in enumerate(components):
        if component.form in ("value", "centred", "square") and component.pair is None:
            columns.setdefault(column_key(component), []).append(place)
    families = []
    for places in columns.values():
        example = components[places[0]]
        of = "" if example.filled else text_of(example.of)
        families.append(
            Family(
                (of, text_of(example.where)),
                example,
                tuple(i for i in places if components[i].form != "square"),
                next((i for i in places if components[i].form == "square"), None),
            )
        )
    counts = _counts_beside(components, alone)
    covered = [family.population for family in families]
    for population in sorted(counts, key=_width):
        if not any(_contains(population, smaller) for smaller in covered):
            families.append(Family(population, components[counts[population]]))
            covered.append(population)
    return tuple(families)


def add_family(builder: Builder, family: Family) -> None:
    """Add the block of one column, or of one count."""
    rows = builder.count(family.population, family.example)
    chain = chain_of(family.population, builder.counts)
    where = f" where {family.population[1]}" if family.population[1] else ""
    if not family.sums:
        about = f"rows with {family.name}{where}" if family.name else f"rows{where}"
        builder.add_block([{rows: 1}], chain, 1, {}, about=about)
        return
    grid, steps = family.grid, family.steps
    distance = distance_from_low(builder, family, rows)
    if family.squares is None:
        cells = [combine((steps, {rows: 1}), (-1, distance)), distance]
        row = steps
    else:
        squares = builder.components[family.squares]
        row, top = squares.high, {family.squares: 1}
        cells = square_cells({rows: 1}, combine((squares.times, distance)), top, row)
    readings: dict[int, tuple[Sequence[Fraction], Fraction]] = {
        place: (line(grid, steps, builder.components[place], len(cells)), grid.step)
        for place in family.sums
    }
    if family.squares is not None:
        readings[family.squares] = (parabola(grid, steps), grid.step**2)
    builder.add_block(cells, chain, row, readings, about=f"cells of {family.name}{where}")


def distance_from_low(builder: Builder, family: Family, rows: int) -> Form:
    """Return the sum of the distances h from the lower bound, as a combination of exact sums."""
    place, grid = family.sums[0], family.grid
    origin = 0 if builder.components[place].form == "value" else grid.centre
    return combine((1, {place: 1}), (origin - grid.low, {rows: 1}))


def square_cells(rows: Form, distance: Form, top: Form, row: int) -> list[Form]:
    """Return the three cells of squares, from the number of rows, the distances in steps of which
    `row` lie between the bounds, and the squares of these over `row`.
    """
    return [
        combine((row, rows), (-2, distance), (1, top)),
        combine((2, distance), (-2, top)),
        top,
    ]


def line(grid: Grid, steps: int, component: Component, cells: int) -> list[Fraction]:
    """Return the weights of two or three cells in a sum of values, or of values from the centre;
    `steps` lie between the ends of the cells.
    """
    low = grid.low - (0 if component.form == "value" else grid.centre)
    return [low + Fraction(steps * i, cells - 1) for i in range(cells)]


def parabola(grid: Grid, steps: int) -> list[Fraction]:
    """Return the weights of three cells in a sum of squares from the centre."""
    below = grid.centre - grid.low
    return [Fraction(w) for w in (below**2, below**2 - below * steps, (steps - below) ** 2)]


def combine(*terms: tuple[int, Form]) -> Form:
    """Add multiples of combinations."""
    total: dict[int, int] = {}
    for factor, form in terms:
        for place, weight in form.items():
            total[place] = total.get(place, 0) + factor * weight
    return {place: weight for place, weight in total.items() if weight}


def chain_of(population: Population, counts: Mapping[Population, int]) -> list[int]:
    """Return the places of a count and of larger counts, each containing the one before."""
    chain = [population]
    for larger in sorted(counts, key=_width):
        if larger != chain[-1] and _contains(larger, chain[-1]):
            chain.append(larger)
    return [counts[each] for each in chain]


def counts_of(components: Sequence[Component]) -> dict[Population, int]:
    """Return the places of the components that count rows, by the rows that they count."""
    return {
        (text_of(component.of), text_of(component.where)): place
        for place, component in enumerate(components)
        if component.form == "one" and not component.pooled
    }


def _counts_beside(components: Sequence[Component], alone: int | None) -> dict[Population, int]:
    counts = counts_of(components)
    return {population: place for population, place in counts.items() if place != alone}


def column_key(component: Component) -> tuple[object, ...]:
    """Return what the components of one column have in common."""
    return text_of(component.of), text_of(component.where), component.filled, component.grid


def text_of(expression: Expr | None) -> str:
    """Return the text of an expression; "" for none."""
    return "" if expression is None else expression.text


def _contains(larger: Population, smaller: Population) -> bool:
    return all(a in ("", b) for a, b in zip(larger, smaller, strict=True))


def _width(population: Population) -> int:
    return population.count("")
