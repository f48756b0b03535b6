"""A query, row by row, in Python's integers and fractions: slow, and written from
docs/proofs/tables.md, not from the expressions for the engine.

*Rows*      dictionaries; None is null. `evaluate` gives the value of an expression on one row.
*Result*    for every group the exact integers of every piece of a plan, by the places of the
            pieces; quantiles as weights of (group, point).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from uuid import UUID

from sfumato.mechanisms.linear.axis_strategies import (
    AxisStrategy,
    CellStrategy,
    RootStrategy,
    TreeStrategy,
)
from sfumato.tables.aggregates.component import Component, Factor
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.per_unit import PerUnit, Total
from sfumato.tables.query.stages import Query, RowStep
from sfumato.testing.exact_checks import Through

from .oracle import evaluate

Row = dict[str, Any]
Group = tuple[Any, ...]
EMPTY: Group = ()
PAIRS = {
    "covariance": "products x y rows",
    "sample_covariance": "products x y rows",
    "correlation": "products x y x² y² rows",
    "regression_slope": "products x y y² rows",
    "regression_intercept": "products x y y² rows",
    "regression_r2": "products x y x² y² rows",
    "regression_count": "rows",
    "regression_mean_x": "y rows",
    "regression_mean_y": "x rows",
}
"""The pieces of an aggregate of two columns; here x is the first column, and y the second."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A row that reaches the aggregates: whose it is, in which group, what it holds, and its two
    weights.
    """

    unit: Group
    group: Group
    row: Row
    weight: int = 1
    pooled: int = 1


@dataclass(slots=True)
class Exact:
    """What is handed to the noise."""

    groups: list[Group]
    ballot: dict[Group, int] | None
    pieces: dict[int, list[list[int]]] = field(default_factory=dict)
    points: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)
    crowded: bool = False
    """Under truncation: some unit has more than may count, and which of its rows do is drawn."""
    at_most: set[int] = field(default_factory=set)
    """Pieces of different values where some unit has more than may count: those that all have are a
    bound.
    """


@dataclass(frozen=True, slots=True)
class Ends:
    """The integers low … high, each worth `step`; and whether values pass through a double on their
    way.
    """

    low: int
    high: int
    step: Fraction
    floating: bool
    digits: int = 0  # that a distance from the origin keeps; 0: all

    @property
    def count(self) -> int:
        """How many points there are."""
        return self.point(self.high) - self.point(self.low) + 1

    def point(self, integer: int) -> int:
        """The integer, or the number of the mark that is nearest to it."""
        return self._rank(integer) - self._rank(self.low) if self.digits else integer

    def _rank(self, integer: int) -> int:
        """How many numbers of so many binary digits lie between the origin and the integer."""
        distance = integer - sorted((self.low, 0, self.high))[1]
        shift = max(0, abs(distance).bit_length() - self.digits)
        rounded = round(Fraction(abs(distance), 1 << shift)) << shift
        octave = max(0, rounded.bit_length() - self.digits)
        rank = (rounded >> octave) + (octave << (self.digits - 1))
        return rank if distance >= 0 else -rank

    @property
    def centre(self) -> int:
        return (self.low + self.high) // 2

    @property
    def largest(self) -> int:
        """Of what is measured from the centre."""
        return max(self.high - self.centre, self.centre - self.low)

    def square(self, integer: int, rows: int) -> int:
        """The square of the distance from the lower bound over the range, in steps of 1/m: exact
        for few steps, else rounded to the nearest. The more rows a unit may have, the fewer steps.
        """
        steps = self.high - self.low
        most = 2**26 if rows == 1 else max(2**20, 2**24 // int(_power(Fraction(rows))))
        times = steps if steps**2 <= most else max(1, most // steps)
        return _nearest(times * (integer - self.low) ** 2, steps)

    def exactly(self, value: Any) -> Fraction | float | None:
        """The number that is clipped; an infinity as it is."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        number = float(value) if self.floating else value
        return number if isinstance(number, float) and math.isinf(number) else Fraction(number)

    def side(self, value: Any) -> int | None:
        number = self.exactly(value)
        return (
            None
            if number is None
            else 0
            if number < self.low * self.step
            else 2
            if number > self.high * self.step
            else 1
        )

    def integer(self, value: Any) -> int | None:
        number, side = self.exactly(value), self.side(value)
        return (
            None
            if number is None
            else self.low
            if side == 0
            else self.high
            if side == 2
            else round(Fraction(number) / self.step)
        )


def ends_of(column_type: Type, low: Fraction, high: Fraction, bits: int) -> Ends:
    """Integers and decimals as they are where few of them lie between the bounds; other numbers on
    2^bits steps, a power of two wide.
    """
    if column_type.kind in ("bool", "integer", "decimal"):
        unit = Fraction(1, 10**column_type.scale) if column_type.kind == "decimal" else Fraction(1)
        first, last = math.ceil(low / unit), math.floor(high / unit)
        if max(abs(first), abs(last), last - first) <= 2**26:
            return Ends(first, last, unit, False)
    step = max(_power(high - low) / 2**bits, _power(max(abs(low), abs(high))) / 2**51)
    if column_type.kind == "integer":
        step = max(step, Fraction(1))
    return Ends(round(low / step), round(high / step), step, True)


def exact(rows: Iterable[Row], plan: Plan) -> Exact:
    """The integers of every piece."""
    query, bounding = plan.query, plan.calibration.bounding
    arrived, schema = _arriving(rows, query)
    weighted = _weighted(arrived, bounding)
    result = Exact(_groups(arrived, query), None, crowded=_crowded(arrived, bounding))
    if not query.public:
        result.ballot = dict(
            _votes(arrived, bounding, "L1", 20 if bounding.unit and not bounding.truncation else 0)
        )
    for (_, single), column in zip(query.aggregates, plan.columns, strict=True):
        # the planner may read a quantile from a tree of counts
        is_read = single.kind == "quantile" and column.kind == "percentile"
        aggregate = replace(single, kind="percentile") if is_read else single
        if aggregate.kind == "count_distinct":
            (place,) = column.components
            result.pieces[place], over = _different(
                aggregate, schema, arrived, bounding, result.groups
            )
            result.at_most |= {place} if over else set()
            continue
        if aggregate.kind == "weighted_mean":
            result.pieces |= dict(
                zip(
                    column.components,
                    _weighted_mean(
                        aggregate,
                        query,
                        schema,
                        weighted,
                        result,
                        plan.components[column.components[0]].of,
                    ),
                    strict=True,
                )
            )
            continue
        if aggregate.kind in PAIRS:
            product = plan.components[column.components[0]].of
            result.pieces |= dict(
                zip(
                    column.components,
                    _pair(aggregate, product, query, schema, weighted, arrived, bounding, result),
                    strict=True,
                )
            )
            continue
        if aggregate.kind == "ratio":
            both = (
                replace(aggregate, kind="sum", by=None),
                replace(aggregate, kind="sum", of=aggregate.by, by=None, low=None, high=None),
            )
            result.pieces |= {
                place: _cells(item, query, schema, weighted, arrived, bounding, result)[0]
                for place, item in zip(column.components, both, strict=True)
            }
            continue
        for place, cells in zip(
            column.components,
            _cells(aggregate, query, schema, weighted, arrived, bounding, result),
            strict=True,
        ):
            if isinstance(cells, Counter):
                result.points[place] = dict(cells)
            elif aggregate.kind == "cumulative":
                strategies = plan.components[place].strategies
                assert strategies is not None
                result.pieces[place] = [
                    _measured(line, strategies.of(bounding.norm)) for line in cells
                ]
            else:
                result.pieces[place] = cells
    for place, piece in enumerate(plan.components):
        if piece.form == "side":
            assert piece.of is not None
            assert piece.grid is not None
            ends = Ends(piece.grid.low, piece.grid.high, piece.grid.step, piece.grid.floating)
            total = [0, 0, 0]
            for item in _among(weighted, Aggregate("count", where=piece.where), schema):
                side = ends.side(evaluate(piece.of, item.row, schema))
                if side is not None:
                    total[side] += item.pooled
            result.pieces[place] = [total]
        elif piece.name == "total":
            result.pieces[place] = [[sum(item.pooled for item in weighted)]]
        elif place not in result.pieces and place not in result.points:
            result.pieces[place] = _for_cells(piece, query, schema, weighted, result.groups)
    return result


def _for_cells(
    piece: Component,
    query: Query,
    schema: Mapping[str, Type],
    weighted: Sequence[Arrived],
    groups: list[Group],
) -> list[list[int]]:
    """A sum that only cells need: of rows, or of products of cells."""
    at, out = {group: i for i, group in enumerate(groups)}, [[0] for _ in groups]
    for item in weighted:
        if piece.form == "one":
            number = int(
                (piece.where is None or evaluate(piece.where, item.row, schema) is True)
                and (piece.of is None or evaluate(piece.of, item.row, schema) is not None)
            )
        else:
            assert piece.form == "product"
            cells = [_cell(factor, item.row, schema) for factor in piece.factors]
            number = (
                0
                if any(cell is None for cell in cells)
                else cells[0]
                if len(cells) == 1
                else _nearest(math.prod(cells), piece.factors[0].row)
            )
        out[at[item.group]][0] += number * item.weight
    return out


def _cell(factor: Factor, row: Row, schema: Mapping[str, Type]) -> Any:
    """One cell of a column; None for a row that is left out."""
    column = factor.column
    assert column.of is not None
    assert column.grid is not None
    grid = Ends(column.grid.low, column.grid.high, column.grid.step, column.grid.floating)
    number = (
        grid.integer(evaluate(column.of, row, schema))
        if column.where is None or evaluate(column.where, row, schema) is True
        else None
    )
    if number is None and column.filled:
        number = grid.low
    if number is None:
        return 0 if factor.rest else None
    distance = factor.times * (number - grid.low)
    if factor.degree == 1:
        return (factor.row - distance, distance)[factor.place]
    top = _nearest(distance**2, factor.row)
    return (factor.row - 2 * distance + top, 2 * (distance - top), top)[factor.place]


def _nearest(top: int, bottom: int) -> int:
    """The integer nearest to a quotient, the larger one of two."""
    return math.floor(Fraction(top, bottom) + Fraction(1, 2))


def _cells(
    aggregate: Aggregate,
    query: Query,
    schema: Mapping[str, Type],
    weighted: Sequence[Arrived],
    arrived: Sequence[Arrived],
    bounding: Bounding,
    expected_cells: Exact,
) -> list[Any]:
    """The pieces of an aggregate, in the order in which finishing takes them."""
    at = {group: i for i, group in enumerate(expected_cells.groups)}
    remaining = list(_among(weighted, aggregate, schema))
    of = aggregate.of
    nullable = of is None or of.type(schema).nullable

    def summed(value: Any) -> list[list[int]]:
        out = [[0] for _ in expected_cells.groups]
        for item in remaining:
            number = value(item.row)
            if number is not None:
                out[at[item.group]][0] += number * item.weight
        return out

    if aggregate.kind == "count_units" and bounding.unit:
        votes = (
            _votes(
                arrived,
                bounding,
                "L2" if bounding.rule == "root" else "L1",
                bounding.vote_bits,
            )
            if bounding.grouped
            else {EMPTY: len({entry.unit for entry in arrived})}
        )
        return [[[votes.get(group, 0)] for group in expected_cells.groups]]
    if aggregate.kind in ("count", "count_units"):
        return [
            summed(
                lambda row: (
                    1
                    if of is None or not nullable or evaluate(of, row, schema) is not None
                    else None
                )
            )
        ]
    assert of is not None
    facts = of.type(schema)
    if aggregate.kind in ("histogram", "cumulative"):
        out = [[0] * (len(aggregate.edges) - 1) for _ in expected_cells.groups]
        for entry in remaining:
            cell = _bin(evaluate(of, entry.row, schema), aggregate.edges, facts)
            if cell is not None:
                out[at[entry.group]][cell] += entry.weight
        return [out]
    low, high = (
        (Fraction(0), Fraction(1))
        if facts.kind == "bool"
        else of.range(query.rows.ranges) or (None, None)
    )
    low, high = (aggregate.low, aggregate.high) if aggregate.low is not None else (low, high)
    assert low is not None
    assert high is not None
    ends = ends_of(facts, low, high, {"quantile": 40, "percentile": 22}.get(aggregate.kind, 20))
    if aggregate.kind == "quantile" and ends.floating:
        ends = replace(ends, digits=14)
    if aggregate.kind == "percentile" and ends.count > 4096:
        fitting = (replace(ends, digits=digits) for digits in range(12, 6, -1))
        ends = next((each for each in fitting if each.count <= 4096), replace(ends, digits=6))

    def integer(row: Row) -> int | None:
        number = ends.integer(evaluate(of, row, schema))
        return ends.low if number is None and not nullable else number

    if aggregate.kind == "quantile":
        points: Counter[tuple[int, int]] = Counter()
        for entry in remaining:
            number = integer(entry.row)
            if number is not None:
                points[at[entry.group], ends.point(number)] += entry.pooled
        return [points]
    if aggregate.kind == "sum":
        return [summed(integer)]
    if aggregate.kind == "percentile":
        return [
            _tree(
                ((at[entry.group], integer(entry.row), entry.weight) for entry in remaining),
                ends,
                len(expected_cells.groups),
            )
        ]
    counted = summed(
        lambda row: 1 if not nullable or evaluate(of, row, schema) is not None else None
    )

    def centred(row: Row) -> int | None:
        number = integer(row)
        return None if number is None else number - ends.centre

    def squared(row: Row) -> int | None:
        number = integer(row)
        return None if number is None else ends.square(number, bounding.rows)

    return (
        [summed(centred), counted]
        if aggregate.kind == "mean"
        else [summed(squared), summed(centred), counted]
    )


def _different(
    aggregate: Aggregate,
    schema: Mapping[str, Type],
    arrived: Sequence[Arrived],
    bounding: Bounding,
    groups: list[Group],
) -> tuple[Any, bool]:
    """How many different values a group has, and whether a unit has more of them, in all groups,
    than may count.
    """
    assert aggregate.of is not None
    owned: dict[Group, set[tuple[Group, Any]]] = defaultdict(set)
    for item in _among(arrived, aggregate, schema):
        value = plain(evaluate(aggregate.of, item.row, schema))
        if value is not None:
            owned[item.unit].add((item.group, value))
    everything = set().union(*owned.values()) if owned else set()
    over = bool(bounding.unit) and any(len(pairs) > bounding.rows for pairs in owned.values())
    return [[sum(group == part for part, _ in everything)] for group in groups], over


def _weighted_mean(
    aggregate: Aggregate,
    query: Query,
    schema: Mapping[str, Type],
    weighted: Sequence[Arrived],
    expected_cells: Exact,
    product: Any,
) -> list[Any]:
    """The products as the expression has them, within the largest weight times half of the bounds;
    and the weights of rows with a value.
    """
    of, by = aggregate.of, aggregate.by
    assert of is not None
    assert by is not None
    low, high = (
        (aggregate.low, aggregate.high)
        if aggregate.low is not None
        else of.range(query.rows.ranges) or (None, None)
    )
    assert low is not None
    assert high is not None
    ends = ends_of(of.type(schema), low, high, 20)
    weights = ends_of(
        by.type(schema), *(by.range(query.rows.ranges) or (Fraction(0), Fraction(1))), 20
    )
    far = ends.largest * ends.step * weights.high * weights.step
    products = ends_of(product.type(schema), -far, far, 20)
    at = {group: i for i, group in enumerate(expected_cells.groups)}
    out: list[list[list[int]]] = [[[0] for _ in expected_cells.groups] for _ in range(2)]
    for item in _among(weighted, aggregate, schema):
        value, weight = (
            products.integer(evaluate(product, item.row, schema)),
            weights.integer(evaluate(by, item.row, schema)),
        )
        value = products.low if value is None and not product.type(schema).nullable else value
        weight = weights.low if weight is None and not by.type(schema).nullable else weight
        out[0][at[item.group]][0] += 0 if value is None else value * item.weight
        out[1][at[item.group]][0] += (
            0 if weight is None or evaluate(of, item.row, schema) is None else weight * item.weight
        )
    return out


def _pair(
    aggregate: Aggregate,
    product: Any,
    query: Query,
    schema: Mapping[str, Type],
    weighted: Sequence[Arrived],
    arrived: Sequence[Arrived],
    bounding: Bounding,
    expected_cells: Exact,
) -> list[Any]:
    """The products as the expression has them, within half of both bounds; and the sums, squares
    and numbers of rows with both values.
    """
    of, by = aggregate.of, aggregate.by
    assert of is not None
    assert by is not None
    far = Fraction(1)
    columns: list[Any] = []
    for value, other_value, ends in (
        (of, by, (aggregate.low, aggregate.high)),
        (by, of, (None, None)),
    ):
        low, high = ends if ends[0] is not None else value.range(query.rows.ranges) or ends
        if ("x", "y")[len(columns)] not in PAIRS[aggregate.kind].split():
            low, high = Fraction(0), Fraction(1)  # only its missing values matter
        assert low is not None
        assert high is not None
        grid = ends_of(value.type(schema), low, high, 20)
        far *= grid.largest * grid.step
        alone = replace(aggregate, kind="variance", of=value, by=None, low=low, high=high)
        if other_value.type(schema).nullable:
            alone = alone.filter(other_value.not_null())
        columns.append(_cells(alone, query, schema, weighted, arrived, bounding, expected_cells))
    products = replace(aggregate, kind="sum", of=product, by=None, low=-far, high=far)
    (first,) = (
        _cells(products, query, schema, weighted, arrived, bounding, expected_cells)
        if "products" in PAIRS[aggregate.kind]
        else [[]]
    )
    (x_squares, x_sums, rows), (y_squares, y_sums, _) = columns
    parts = {
        "products": first,
        "x": x_sums,
        "y": y_sums,
        "x²": x_squares,
        "y²": y_squares,
        "rows": rows,
    }
    return [parts[name] for name in PAIRS[aggregate.kind].split()]


def _tree(rows: Iterable[tuple[int, int | None, int]], ends: Ends, groups: int) -> list[list[int]]:
    """Counts of ever smaller blocks of points; the shape that makes h³·(b − 1) least."""
    points, first = ends.count, ends.point(ends.low)
    shift = 0
    while -(-points // 2**shift) > 4096:
        shift += 1
    leaves = -(-points // 2**shift)
    options = [
        (h**3 * (b - 1), h, b)
        for h in (1, 2, 3, 4)
        for b in [next(b for b in range(2, leaves + 3) if b**h >= leaves)]
    ]
    _, h, b = min(options, key=lambda option: option[0])
    out = [[0] * sum(b**level for level in range(1, h + 1)) for _ in range(groups)]
    for group, integer, weight in rows:
        if integer is not None:
            leaf, start = (ends.point(integer) - first) // 2**shift, 0
            for level in range(1, h + 1):
                out[group][start + leaf // b ** (h - level)] += weight
                start += b**level
    return out


def _measured(cells: list[int], strategy: AxisStrategy) -> list[int]:
    """What is measured of the cells of cumulative counts: themselves, the sums of ever larger
    blocks times the weights of their levels, or sums with integers near 2^20·C(2j, j)/4^j.
    """
    if isinstance(strategy, TreeStrategy):
        b, top = strategy.branching, len(strategy.weights) - 1
        filled = [*cells, *[0] * (b**top - len(cells))]
        return [
            weight * sum(filled[start : start + b**level])
            for level, weight in enumerate(strategy.weights)
            if weight
            for start in range(0, len(filled), b**level)
        ]
    if isinstance(strategy, RootStrategy):
        root = [_nearest(math.comb(2 * j, j) << 20, 4**j) for j in range(len(cells))]
        return [sum(root[i - j] * cells[j] for j in range(i + 1)) for i in range(len(cells))]
    assert isinstance(strategy, CellStrategy)
    return cells


def _bin(value: Any, edges: Sequence[Fraction], column_type: Type) -> int | None:
    """Integers against the edges as they are, other numbers against the nearest doubles."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    number, marks = (
        (value, list(edges))
        if column_type.kind == "integer"
        else (float(value), [float(edge) for edge in edges])
    )
    if number == marks[-1]:
        return len(marks) - 2
    return next((i for i in range(len(marks) - 1) if marks[i] <= number < marks[i + 1]), None)


def _arriving(rows: Iterable[Row], query: Query) -> tuple[list[Arrived], dict[str, Type]]:
    """The rows that meet all conditions, are owned by somebody, and lie in a public group where
    groups are public.
    """
    declared = query.rows.declaration
    schema = dict(declared.schema)
    table = [dict(row) for row in rows]
    for step in query.rows.steps:
        if isinstance(step, PerUnit):
            table, schema = _per_unit(table, step, schema), step.schema(schema)
            continue
        assert isinstance(step, RowStep)
        if step.column is None:
            table = [row for row in table if evaluate(step.expression, row, schema) is True]
        else:
            for row in table:
                row[step.column] = evaluate(step.expression, row, schema)
            schema[step.column] = step.expression.type(schema)
    arrived = []
    for number, row in enumerate(table):
        unit = tuple(row[name] for name in declared.unit) if declared.unit else (number,)
        group = tuple(plain(row[name]) for name in query.keys)
        listed = all(
            not domain or key in [plain(item) for item in domain]
            for key, domain in zip(group, query.domains, strict=True)
        )
        if None not in unit and listed:
            arrived.append(Arrived(unit, group, row))
    return arrived, schema


def _per_unit(table: Sequence[Row], step: PerUnit, schema: Mapping[str, Type]) -> list[Row]:
    """One row for each unit and value of the keys."""
    result: dict[Group, list[Row]] = defaultdict(list)
    for row in table:
        unit = tuple(row[name] for name in step.unit)
        if None not in unit:
            result[unit + tuple(plain(evaluate(key, row, schema)) for _, key in step.keys)].append(
                row
            )
    names = [*step.unit, *(name for name, _ in step.keys)]
    return [
        {
            **dict(zip(names, group, strict=True)),
            **{name: _total(total, rows, schema, step) for name, total in step.totals},
        }
        for group, rows in result.items()
    ]


def _total(total: Total, rows: Sequence[Row], schema: Mapping[str, Type], step: PerUnit) -> Any:
    rows = [
        row for row in rows if total.where is None or evaluate(total.where, row, schema) is True
    ]
    values = [1 if total.of is None else evaluate(total.of, row, schema) for row in rows]
    values = [value for value in values if value is not None]
    if total.kind == "count":
        return len(values)
    if total.kind == "count_distinct":
        return len(set(values))
    if not values:
        return None
    if total.kind in ("min", "max"):
        return min(values) if total.kind == "min" else max(values)
    assert total.of is not None
    facts = total.of.type(schema)
    totals = sum(map(Fraction, values)) if facts.kind != "float" else Fraction(0)
    if facts.kind == "float":
        low, high = total.of.range(step.ranges) or (Fraction(0), Fraction(1))
        ends = ends_of(facts, low, high, 20)
        totals = sum(ends.integer(value) or 0 for value in values) * ends.step
    return float(totals) if total.kind == "sum" else float(totals) / len(values)


def plain(key: Any) -> Any:
    """A key as it is compared: NaN is null, −0 is 0, a uuid its text, a moment in UTC."""
    if isinstance(key, float):
        return None if math.isnan(key) else key + 0.0
    if isinstance(key, datetime):
        return key if key.tzinfo is None else key.astimezone(UTC).replace(tzinfo=None)
    return str(key) if isinstance(key, UUID) else key


def _groups(arrived: Sequence[Arrived], query: Query) -> list[Group]:
    """Every combination of public keys; else those that there are. Sorted, null last."""
    result = {EMPTY} if query.public else {item.group for item in arrived}
    if query.public:
        for domain in query.domains:
            result = {(*group, plain(key)) for group in result for key in domain}
    return sorted(
        result, key=lambda group: [(key is None, 0 if key is None else key) for key in group]
    )


def _weighted(arrived: Sequence[Arrived], bounding: Bounding) -> list[Arrived]:
    """Each row with the weight that its unit's rows have."""
    if not bounding.unit or bounding.truncation:
        return list(arrived)
    k, most = bounding.rows, 2**bounding.bits
    cells: dict[Group, Counter[Group]] = defaultdict(Counter)
    for item in arrived:
        cells[item.unit][item.group] += 1
    weights = {}
    for unit, counts in cells.items():
        light = (k * most) // max(sum(counts.values()), k)
        square = sum(count**2 for count in counts.values())
        euclidean = min(most, math.isqrt((k * most) ** 2 // square))
        weights[unit] = (euclidean if bounding.rule == "root" else light, light)
    return [Arrived(item.unit, item.group, item.row, *weights[item.unit]) for item in arrived]


def _votes(arrived: Sequence[Arrived], bounding: Bounding, norm: str, bits: int) -> Counter[Group]:
    """One vote of each unit for every group that it is in, of a weight that bounds them together;
    of rows, where there are no units.
    """
    votes: Counter[Group] = Counter()
    if not bounding.unit:
        return Counter(item.group for item in arrived)
    groups: dict[Group, set[Group]] = defaultdict(set)
    for item in arrived:
        groups[item.unit].add(item.group)
    m, most = bounding.groups, 2**bits
    for named in groups.values():
        if bounding.truncation:
            weight = 1
        elif norm == "L1":
            weight = m * most // max(len(named), m)
        else:
            weight = min(most, math.isqrt(m * most**2 // len(named)))
        for group in named:
            votes[group] += weight
    return votes


def _crowded(arrived: Sequence[Arrived], bounding: Bounding) -> bool:
    if not bounding.truncation:
        return False
    rows, groups = (
        Counter(item.unit for item in arrived),
        Counter(unit for unit, _ in {(item.unit, item.group) for item in arrived}),
    )
    return any(count > bounding.rows for count in rows.values()) or any(
        count > bounding.groups for count in groups.values()
    )


def _among(
    weighted: Sequence[Arrived], aggregate: Aggregate, schema: Mapping[str, Type]
) -> Iterable[Arrived]:
    """Those for which the aggregate's own condition holds; the others have counted towards what
    their unit may contribute.
    """
    return (
        item
        for item in weighted
        if aggregate.where is None or evaluate(aggregate.where, item.row, schema) is True
    )


def _power(value: Fraction) -> Fraction:
    """The least power of two that is not below."""
    result = Fraction(1)
    while result < value:
        result *= 2
    while result / 2 >= value:
        result /= 2
    return result


def differences(plan: Plan, through: Through, rows: Iterable[Row]) -> list[str]:
    """Where the engine's integers are not those of this module; nothing, if all is well."""
    expected = exact(rows, plan)
    named = [tuple(plain(key) for key in group) for group in through.groups.rows]
    if expected.crowded:
        return []  # which rows of a unit count is drawn; how far that goes is checked by neighbours
    if named != expected.groups:
        return [f"groups: {named} instead of {expected.groups}"]
    text, calls = [], list(through.calls)
    if expected.ballot is not None:
        (votes,) = calls.pop(0).integers
        found_votes = dict(zip(ballot_keys(plan, through), votes.tolist(), strict=True))
        decided = _decided_by_count(plan, expected)
        if found_votes != (expected.ballot if decided is None else decided):
            text.append(f"ballot: {found_votes} instead of {decided or expected.ballot}")
    for number, (block, noise) in enumerate(
        zip(plan.calibration.blocks, plan.calibration.noise, strict=True)
    ):
        if number == deciding_block(plan):
            continue  # the selection got its counts
        place = block.places[0]
        name = block.about or plan.components[place].name
        if plan.components[place].form == "point":
            for _ in noise:
                if not expected.groups:
                    continue
                integers = calls.pop(0).integers
                if len(integers) == 1:  # the weights of bins
                    totals: Counter[int] = Counter()
                    for (group, _), weight in Counter(expected.points[place]).items():
                        totals[group] += weight
                    sums = integers[0].sum(axis=1).tolist()
                    if sums != [totals[group] for group in range(len(sums))]:
                        text.append(f"{name}: bins sum to {sums} instead of {dict(totals)}")
                    continue
                groups, points, weights = integers
                result: Counter[tuple[int, int]] = Counter()
                for group, point, weight in zip(
                    groups.tolist(), points.tolist(), weights.tolist(), strict=True
                ):
                    result[group, point] += weight
                if +result != +Counter(expected.points[place]):
                    text.append(f"{name}: {dict(result)} instead of {expected.points[place]}")
            continue
        integers = calls.pop(0).integers[0].tolist()
        if place in expected.at_most:
            if any(
                result[0] > most[0]
                for result, most in zip(integers, expected.pieces[place], strict=True)
            ):
                text.append(f"{name}: {integers}, above {expected.pieces[place]} in {named}")
            continue
        cells = [
            [
                sum(
                    weight * expected.pieces[i][row][0]
                    for weight, i in zip(weights, block.places, strict=True)
                )
                for weights in block.cells
            ]
            for row in range(len(expected.groups))
        ]
        if integers != (cells if block.cells else expected.pieces[place]):
            text.append(
                f"{name}: {integers} instead of {cells or expected.pieces[place]} in {named}"
            )
    return text + _read_otherwise(plan, through, expected)


def deciding_block(plan: Plan) -> int | None:
    """The number of the block whose count selects the groups."""
    selection = plan.calibration.selection
    if selection is None or selection.place is None:
        return None
    return plan.calibration.readings[selection.place].parts[0][0]


def ballot_keys(plan: Plan, through: Through) -> list[Any]:
    """The groups in the order in which the selection got them, which is the engine's."""
    selection = plan.calibration.selection
    assert selection is not None
    place = selection.place
    at = next(i for i, s in enumerate(plan.statements) if place is None or place in s.components)
    lines = through.tally[at].select([f"k{i}" for i in range(len(plan.query.keys))]).to_pylist()
    return [tuple(plain(key) for key in line.values()) for line in lines]


def _decided_by_count(plan: Plan, expected: Exact) -> dict[Any, int] | None:
    """The counts that select the groups; None if votes do."""
    selection = plan.calibration.selection
    if selection is None or selection.place is None:
        return None
    counts = [cells[0] for cells in expected.pieces[selection.place]]
    return dict(zip(expected.groups, counts, strict=True))


def _read_otherwise(plan: Plan, through: Through, expected: Exact) -> list[str]:
    """Where a piece that is read from cells without noise is not the sum of its component."""
    text = []
    for place, (piece, component) in enumerate(zip(through.pieces, plan.components, strict=False)):
        if component.form not in ("one", "value", "centred") or component.pair is not None:
            continue
        step = plan.calibration.bounding.step(component)
        sums = [value * step for (value,) in expected.pieces[place]]
        values = [value * piece.step for (value,) in piece.values.tolist()]
        if values != sums:
            text.append(f"{piece.name}: read as {values} instead of {sums}")
    return text
