"""Choose what is measured, and split the promise over it.

*Variance*  A block with the share s of the promise has the variance v/s² for ε, v/s for ρ or μ². A
            column is a sum of cells, or near its value it moves like one (`directions`): its
            variance is the sum of A/s² (or A/s) over the blocks it is read from.
*Ratio*     Every column's variance is divided by the one it has with components apart and equal
            shares. The objective is the sum of these ratios, so no unit of a column matters.
*Shares*    The sum of W/s² is least for s in proportion to W^(1/3), that of W/s for W^(1/2).
            Shares are whole thousandths of what is left for them.
*Never*     worse: a candidate for which some ratio exceeds 1 comes after all others. Components
            apart with equal shares remain, but for squares, which always come from cells: under
            replacement without groups these can cost a column some of its gain.
*Twice*     A count that several blocks contain is their average, weighted by inverse variances in
            sixteenths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ..aggregates import KINDS
from ..aggregates.component import Component, cell_steps
from .bounding import Bounding
from .cell_pairs import ColumnPair, add_pair, pairs_of
from .cells import Builder, Family, Measurement, Reading, Weights, add_family, families_of
from .components import ColumnPlan

PARTS, _SIXTEENTHS = 1000, 16
_LEAST = 1e-3  # of the largest weight of a block: each gets some share
_EQUAL = 1 + 1e-9
_GAIN = 0.99  # cells are taken if they lower the objective to less
_ROUNDS = 6  # of giving more weight to columns that would be worse
_FEW = 6  # columns up to which it is tried to leave some out


@dataclass(frozen=True, slots=True)
class PromiseSplit:
    """What is measured, how components are read from it, the share of each block, and each column's
    variance relative to that of components apart.
    """

    measurement: Measurement
    readings: tuple[Reading, ...]
    shares: tuple[Fraction, ...]
    ratios: tuple[float, ...]
    worst: float
    """The largest ratio, also of quantiles."""


@lru_cache(maxsize=32)
def choose_split(
    components: tuple[Component, ...],
    columns: tuple[ColumnPlan, ...],
    bounding: Bounding,
    *,
    care: Fraction,
    alone: int | None = None,
) -> tuple[PromiseSplit, ...]:
    """Return ways to measure components, the best first; the last one needs the least noise. The
    count at the place `alone` gets noise of its own in all of them.

    Kept for the next promise: which split is best does not depend on it.
    """
    layouts = _layouts_of(components, bounding.rows, alone)
    families, requested, further = layouts.families, layouts.requested, layouts.further
    splitter = _Splitter(layouts, columns, bounding, care=care)
    needed = tuple(family for family in families if family.squares is not None)
    apart = splitter.best_split(needed)
    ways = [
        splitter.best_split(families, pairs)
        for pairs in dict.fromkeys([(), requested, (*requested, *further)])
    ]
    shared = min(ways, key=_objective)
    worst, total = _objective(shared)
    if (worst, total / _GAIN) > _objective(apart):
        return (apart,)
    # leave out one column at a time, as long as that helps
    best, rest = shared, families if len(families) <= _FEW and shared is ways[0] else ()
    while len(rest) > len(needed) + 1:
        smaller = [
            tuple(family for family in rest if family is not left)
            for left in rest
            if left.squares is None
        ]
        tried = [(splitter.best_split(some), some) for some in smaller]
        split, some = min(tried, key=lambda pair: _objective(pair[0]))
        if _objective(split) >= _objective(best):
            break
        best, rest = split, some
    return best, *sorted((way for way in ways if way is not best), key=_objective), apart


def count_blocks(components: Sequence[Component]) -> int:
    """Return into how many parts the promise is split at most: one for each column with cells, and
    one for each other component.
    """
    builder = Builder(components)
    for family in families_of(components):
        add_family(builder, family)
    blocks = builder.finish().blocks
    return sum(not components[block.places[0]].pooled for block in blocks)


def _objective(split: PromiseSplit) -> tuple[float, float]:
    """Return by how much the worst column is worse than before, then the sum of ratios."""
    return _rate([*split.ratios, split.worst])


def _rate(ratios: Sequence[float]) -> tuple[float, float]:
    worst = max(ratios, default=0.0)
    return (worst if worst > _EQUAL else 1.0), sum(ratios)


class _Layouts:
    """The ways to measure the components of one query, each built once: they are the same for every
    norm and every promise.
    """

    def __init__(self, components: tuple[Component, ...], rows: int, alone: int | None) -> None:
        self.components = components
        self._alone, self._most = alone, cell_steps(rows)
        self.families = families_of(components, alone)
        self.requested, self.further = pairs_of(components, self.families, self._most)
        self._built: dict[tuple[tuple[Family, ...], tuple[ColumnPair, ...], bool], Measurement] = {}

    def measure(
        self,
        families: tuple[Family, ...],
        pairs: tuple[ColumnPair, ...] = (),
        *,
        counts: bool = False,
    ) -> Measurement:
        """Return the measurement by cells of some columns and pairs; with `counts`, counts have
        noise of their own.
        """
        key = families, pairs, counts
        if key not in self._built:
            builder = Builder(self.components, self._alone)
            paired = [family for pair in pairs for family in pair.families]
            for pair in pairs:
                add_pair(builder, pair, self._most)
            for family in families:
                if family not in paired:
                    add_family(builder, family)
            self._built[key] = builder.finish(counts=counts)
        return self._built[key]


_layouts_of = lru_cache(maxsize=4)(_Layouts)
"""Kept for the two norms of one plan, and for the promises of a search."""


class _Splitter:
    """Splits the promise of one query over blocks."""

    def __init__(
        self,
        layouts: _Layouts,
        columns: tuple[ColumnPlan, ...],
        bounding: Bounding,
        *,
        care: Fraction,
    ) -> None:
        components = layouts.components
        self._layouts, self._columns, self._bounding = layouts, columns, bounding
        self._pooled = sum(component.pooled for component in components)
        self._care = care if self._pooled else Fraction(0)
        self._power = 2 if bounding.norm == "L1" else 1
        self._equal = float(1 - self._care) / (len(components) - self._pooled)
        apart = Builder(components).finish()
        readings = tuple(ways[0] for ways in apart.readings)
        variances = [
            _unit_variance(components[block.places[0]], bounding) for block in apart.blocks
        ]
        self._before = [
            sum(_variances(column, components, readings, bounding, variances).values())
            / self._equal**self._power
            for column in columns
        ]

    def best_split(
        self, families: tuple[Family, ...], pairs: tuple[ColumnPair, ...] = ()
    ) -> PromiseSplit:
        """Split the promise; if a column were worse than before, try noise on counts by itself."""
        split = self._split(families, pairs)
        if split.worst <= _EQUAL:
            return split
        return min(split, self._split(families, pairs, counts=True), key=_objective)

    def _split(
        self,
        families: tuple[Family, ...],
        pairs: tuple[ColumnPair, ...] = (),
        *,
        counts: bool = False,
    ) -> PromiseSplit:
        """Split the promise over the cells of some columns and the other components; with `counts`,
        these are all counts, too.
        """
        measurement = self._layouts.measure(families, pairs, counts=counts)
        variances = [
            self._bounding.shared_variance(block.row)
            if block.cells
            else _unit_variance(measurement.components[block.places[0]], self._bounding)
            for block in measurement.blocks
        ]
        readings = tuple(_average(ways, variances) for ways in measurement.readings)
        parts = [
            {
                block: variance / before
                for block, variance in _variances(
                    column, measurement.components, readings, self._bounding, variances
                ).items()
            }
            if before
            else {}
            for column, before in zip(self._columns, self._before, strict=True)
        ]
        slots = [
            i
            for i, block in enumerate(measurement.blocks)
            if not measurement.components[block.places[0]].pooled
        ]
        fixed = [
            i
            for i in slots
            if measurement.components[measurement.blocks[i].places[0]].form == "point"
        ]
        parts += [{i: self._equal**self._power} for i in fixed]
        shares, ratios = self._best_shares(parts, slots)
        pooled = self._care / self._pooled if self._pooled else self._care
        return PromiseSplit(
            measurement,
            readings,
            tuple(shares.get(i, pooled) for i in range(len(measurement.blocks))),
            tuple(ratios[: len(self._columns)]),
            max(ratios, default=0.0),
        )

    def _best_shares(
        self, parts: Sequence[Mapping[int, float]], slots: Sequence[int]
    ) -> tuple[dict[int, Fraction], list[float]]:
        """Return the shares with the least sum of ratios; if some column were worse with them than
        before, equal shares or those that give more weight to such columns.
        """

        def ratios(shares: Mapping[int, Fraction]) -> list[float]:
            return [
                sum(each / float(shares[i]) ** self._power for i, each in part.items())
                for part in parts
            ]

        def rate(shares: Mapping[int, Fraction]) -> tuple[float, float]:
            return _rate(ratios(shares))

        factors = [1.0] * len(parts)
        tried = [_shares(slots, [1.0] * len(slots), self._care)]
        for _ in range(_ROUNDS):
            weights = [
                sum(factor * part.get(i, 0.0) for factor, part in zip(factors, parts, strict=True))
                for i in slots
            ]
            least = _LEAST * max(weights, default=1.0)
            sizes = [max(weight, least) ** (1 / (self._power + 1)) for weight in weights]
            tried.append(_shares(slots, sizes, self._care))
            latest = ratios(tried[-1])
            if max(latest, default=0.0) <= _EQUAL:
                break
            factors = [factor * each**2 for factor, each in zip(factors, latest, strict=True)]
        best = min(tried, key=rate)
        return best, ratios(best)


def _shares(slots: Sequence[int], sizes: Sequence[float], care: Fraction) -> dict[int, Fraction]:
    """Return shares in proportion to sizes, in whole parts; equal ones exactly."""
    rest = 1 - care
    if max(sizes, default=1.0) <= _EQUAL * min(sizes, default=1.0):
        return {slot: rest / len(slots) for slot in slots}
    parts = [max(1, round(PARTS * size / sum(sizes))) for size in sizes]
    return {slot: rest * part / sum(parts) for slot, part in zip(slots, parts, strict=True)}


def _unit_variance(component: Component, bounding: Bounding) -> float:
    """Return the variance of a component's noise for a promise of 1, in its integers. Squares by
    themselves would be measured from the centre, which quarters them.
    """
    if component.form == "point":
        return 0.0
    if component.form == "square":
        assert component.grid is not None
        below = component.grid.centre - component.grid.low
        far = max(below, component.grid.high - component.grid.centre)
        component = replace(
            component, low=0, high=max(1, round(far**2 * component.grid.step**2 / component.step))
        )
    return (
        2.0 * float(bounding.l1(component)) ** 2
        if bounding.norm == "L1"
        else float(bounding.l2_squared(component))
    )


def _average(ways: tuple[Reading, ...], variances: Sequence[float]) -> Reading:
    """Average the ways to read one component, weighted by their inverse variances."""
    if len(ways) == 1:
        return ways[0]
    inverse = [
        1
        / (
            float(way.step) ** 2
            * sum(
                variances[block] * sum(weight**2 for weight in weights)
                for block, weights in way.parts
            )
        )
        for way in ways
    ]
    sixteenths = _divide(_SIXTEENTHS, inverse)
    used = [(way, part) for way, part in zip(ways, sixteenths, strict=True) if part > 0]
    if len(used) == 1:
        return used[0][0]
    step = Fraction(
        math.gcd(*(way.step.numerator for way, _ in used)),
        math.lcm(*(way.step.denominator for way, _ in used)),
    )
    parts = [
        (block, tuple(int(way.step / step) * part * weight for weight in weights))
        for way, part in used
        for block, weights in way.parts
    ]
    return Reading(tuple(parts), step / _SIXTEENTHS)


def _divide(parts: int, weights: Sequence[float]) -> list[int]:
    """Divide whole parts in proportion to weights: each gets the whole parts that it is worth, and
    the largest fractions get the rest. They sum to `parts`, so that an average has no bias.
    """
    worth = [parts * weight / sum(weights) for weight in weights]
    shares = [math.floor(each) for each in worth]
    by_fraction = sorted(range(len(worth)), key=lambda i: shares[i] - worth[i])
    for i in by_fraction[: parts - sum(shares)]:
        shares[i] += 1
    return shares


def _variances(
    column: ColumnPlan,
    components: Sequence[Component],
    readings: Sequence[Reading],
    bounding: Bounding,
    variances: Sequence[float],
) -> dict[int, float]:
    """Return what each block adds to the variance of a column near its value."""
    total: dict[int, float] = {}
    if any(components[place].form == "point" for place in column.components):
        return total
    directions = KINDS[column.kind].directions(
        column.numbers, [_largest(components[place]) for place in column.components]
    )
    parts = []
    for place in column.components:
        component, reading = components[place], readings[place]
        unit = float(reading.step) / (1 << bounding.component_bits(component))
        parts.append((unit * component.reading_factor(bounding.norm), reading.parts))
    for direction in directions:
        for block, weights in _combine(parts, direction).items():
            added = variances[block] * sum(weight * weight for weight in weights)
            total[block] = total.get(block, 0.0) + added / len(directions)
    return total


def _combine(
    parts: Sequence[tuple[float, tuple[tuple[int, Weights], ...]]], direction: Sequence[float]
) -> dict[int, list[float]]:
    """Return the weights of all cells in a combination of components, each given by the worth of a
    unit and by its weights in blocks.
    """
    weights: dict[int, list[float]] = {}
    for (unit, blocks), factor in zip(parts, direction, strict=True):
        step = unit * factor
        for block, cells in blocks:
            sums = weights.get(block)
            if sums is None:
                weights[block] = [step * weight for weight in cells]
            else:
                for i, weight in enumerate(cells):
                    sums[i] += step * weight
    return weights


def _largest(component: Component) -> float:
    """Return the most that a row adds to a component, in the unit of its column."""
    if component.form == "square":
        assert component.grid is not None
        return float(((component.grid.high - component.grid.low) * component.grid.step / 2) ** 2)
    return float(component.largest * component.step)


def sum_relative_variances(
    columns: Sequence[ColumnPlan],
    components: Sequence[Component],
    readings: Sequence[Reading],
    bounding: Bounding,
    variances: Sequence[float],
) -> float:
    """Sum the columns' variances, each relative to the square of what a row may add."""
    total = 0.0
    for column in columns:
        largest = [_largest(components[place]) for place in column.components]
        directions = KINDS[column.kind].directions(column.numbers, largest)
        scale = sum(
            (factor * most) ** 2
            for direction in directions
            for factor, most in zip(direction, largest, strict=True)
        ) / len(directions)
        variance = sum(_variances(column, components, readings, bounding, variances).values())
        total += variance / scale if scale else 0.0
    return total
