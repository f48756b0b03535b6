"""Split every aggregate into components: columns of exact integers, each in a public range per row.

A mean needs two components, a centred sum and a count. The engine sums each component exactly; the
release adds noise to the sums; finishing computes the aggregate from the noisy sums.

*Shared*    Aggregates that need the same component share it: a count and a mean of the same rows
            are two components, not three.
*Centred*   Means and spreads measure values from the middle of their bounds: that halves what a row
            may add, and quarters its square.
*Squares*   are divided by a power of two, each row's by itself and rounded to the nearest, so that
            they have about as many steps as the values.
*Care*      Every clipped column gets three counts, below, inside and above the bounds, so that the
            answer can say how much was clipped. Learned bounds get none: learning said it already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ...errors import Refused
from ...exact import effort
from ...exact.balls import sqrt_up
from ...exact.numbers import text
from ..expr.expressions import ColumnRef, Expr, python_text
from ..expr.grids import BITS, Grid, grid_of
from ..expr.types import Type
from ..query.aggregates import Aggregate
from ..query.stages import Query, Rows, RowStep
from . import plan_refusals as refusals
from .count_tree import TREE_BITS, CountTree

ComponentForm = Literal[
    "one", "value", "centred", "square", "side", "unit", "bin", "point", "tree", "distinct"
]

FLAT: tuple[ComponentForm, ...] = ("one", "value", "centred", "square", "side")
"""Forms whose result has one line for each group."""

QUANTILE_BITS = 16  # a histogram of so many points is all that a quantile needs
NOTHING: Mapping[str, Fraction] = {}


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


@dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """A column of the answer: the components it is computed from, and the public numbers that
    finishing needs.
    """

    name: str
    kind: str
    components: tuple[int, ...]
    text: str
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    edges: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryComponents:
    """The components of a query, each once, and the columns computed from them."""

    components: tuple[Component, ...]
    columns: tuple[ColumnPlan, ...]


def components_of(query: Query) -> QueryComponents:
    """Return the components of a query. Refuses aggregates without bounds or without a number."""
    by_name: dict[str, Component] = {}
    columns = []
    for name, aggregate in query.aggregates:
        effort.check()
        components, numbers = COMPONENT_BUILDERS[aggregate.kind](aggregate, query.rows)
        for component in components:
            by_name.setdefault(component.name, component)
        places = list(by_name)
        columns.append(
            ColumnPlan(
                name,
                aggregate.kind,
                tuple(places.index(component.name) for component in components),
                aggregate.text,
                numbers,
                aggregate.edges,
            )
        )
    for component in [*by_name.values()]:
        if (
            component.form in ("value", "centred")
            and not component.rule
            and learned_column(component, query.rows) is None
        ):
            side = _clip_counts(component)
            by_name.setdefault(side.name, side)
    return QueryComponents(tuple(by_name.values()), tuple(columns))


def _count(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    _check_where(aggregate, rows)
    return [_count_component(aggregate, rows)], NOTHING


def _count_units(
    aggregate: Aggregate, rows: Rows
) -> tuple[list[Component], Mapping[str, Fraction]]:
    if aggregate.where is not None:
        raise refusals.UNITS_WITH_CONDITION(
            aggregate=aggregate.text, condition=aggregate.where.text
        )
    return [
        Component("units", "unit") if rows.declaration.unit else Component("count", "one")
    ], NOTHING


def _sum(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows)
    name = _component_name("sum", aggregate, grid)
    component = Component(
        name,
        "value",
        grid.low,
        grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
    )
    return [component], _ends(grid)


def _mean(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows)
    low, high = grid.low - grid.centre, grid.high - grid.centre
    name = _component_name("centred sum", aggregate, grid)
    centred = Component(
        name, "centred", low, high, grid.step, aggregate.of, aggregate.where, grid, filled=filled
    )
    return [centred, _count_component(aggregate, rows)], {
        **_ends(grid),
        "centre": grid.centre * grid.step,
        **_slack(_half(grid)),
    }


def _spread(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    (centred, ones), numbers = _mean(aggregate, rows)
    assert centred.grid is not None
    shift = max(0, 2 * centred.largest.bit_length() - BITS)
    largest = (centred.largest**2 + (1 << shift >> 1)) >> shift
    name = _component_name("squares", aggregate, centred.grid)
    step = centred.grid.step**2 * 2**shift
    squares = Component(
        name,
        "square",
        0,
        largest,
        step,
        aggregate.of,
        aggregate.where,
        centred.grid,
        shift,
        filled=centred.filled,
    )
    half, lost = _half(centred.grid), step / 2 if shift else Fraction(0)
    far = centred.largest * centred.grid.step
    slack = (
        4 * far * half + lost
        if aggregate.kind == "variance"
        else half + (sqrt_up(lost) if lost else 0)
    )
    return [squares, centred, ones], {**numbers, **_slack(slack)}


def _quantile(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows, QUANTILE_BITS)
    component = Component(
        aggregate.text,
        "point",
        grid.low,
        grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
        aggregate=aggregate,
    )
    return [component], {**_ends(grid), "confidence": aggregate.confidence, **_slack(_half(grid))}


def _histogram(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    assert aggregate.of is not None
    column_type = aggregate.of.type(rows.schema)
    _check_where(aggregate, rows)
    if not column_type.numeric:
        raise _refuse_histogram(aggregate.of, column_type)
    return [
        Component(
            aggregate.text,
            "bin",
            of=aggregate.of,
            where=aggregate.where,
            cells=len(aggregate.edges) - 1,
            edges=aggregate.edges,
        )
    ], NOTHING


def _distinct(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    assert aggregate.of is not None
    _check_where(aggregate, rows)
    if aggregate.of.columns & set(rows.declaration.unit):
        raise refusals.DISTINCT_UNITS(aggregate=aggregate.text)
    about = "" if aggregate.where is None else f" where {aggregate.where.text}"
    return [
        Component(
            f"different {aggregate.of.text}{about}",
            "distinct",
            of=aggregate.of,
            where=aggregate.where,
        )
    ], NOTHING


def _ratio(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    """Return two sums, each over the rows that have a value."""
    (top,), ends = _sum(aggregate, rows)
    (bottom,), others = _sum(replace(aggregate, of=aggregate.by, low=None, high=None), rows)
    return [top, bottom], {**ends, "by_low": others["low"], "by_high": others["high"]}


def _weighted_mean(
    aggregate: Aggregate, rows: Rows
) -> tuple[list[Component], Mapping[str, Fraction]]:
    """Return the sum of weight times centred value, and the sum of the weights of rows that have a
    value.
    """
    assert aggregate.of is not None
    assert aggregate.by is not None
    grid, _ = _grid(aggregate, rows)
    (weights,), ends = _sum(
        replace(aggregate, of=aggregate.by, low=None, high=None).filter(~aggregate.of.is_null()),
        rows,
    )
    assert weights.grid is not None
    if weights.grid.low < 0:
        raise refusals.WEIGHT_BELOW_ZERO(
            aggregate=aggregate.text,
            weight=aggregate.by.text,
            python=python_text(aggregate.by),
        )
    value, weight = (
        of.clip(*(grid.constant(end) for end in (grid.low, grid.high)))
        for of, grid in ((aggregate.of, grid), (aggregate.by, weights.grid))
    )
    product = weight * (value - grid.constant(grid.centre))
    far = max(grid.high - grid.centre, grid.centre - grid.low) * grid.step * ends["high"]
    product_aggregate = replace(aggregate, of=product, low=-far, high=far)
    (products,), _ = _sum(product_aggregate, rows)
    rule = (
        f"{aggregate.of.text} clipped to [{text(grid.low * grid.step)}, "
        f"{text(grid.high * grid.step)}] before it is weighted"
    )
    weighted = replace(
        products,
        name=_component_name("weighted sum", aggregate, grid) + f" by {aggregate.by.text}",
        rule=rule,
    )
    return [weighted, weights], {
        **_ends(grid),
        "centre": grid.centre * grid.step,
        "by_low": ends["low"],
        "by_high": ends["high"],
    }


def _percentile(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows, TREE_BITS)
    assert aggregate.q is not None
    tree = CountTree.over(grid.high - grid.low + 1)
    name = _component_name("tree", aggregate, grid)
    component = Component(
        name,
        "tree",
        step=Fraction(1),
        of=aggregate.of,
        where=aggregate.where,
        grid=grid,
        cells=tree.cells,
        filled=filled,
        tree=tree,
    )
    shape = {
        "step": grid.step,
        **{
            name: Fraction(getattr(tree, name))
            for name in ("leaves", "branching", "levels", "shift")
        },
    }
    return [component], {**_ends(grid), "q": aggregate.q, **shape, **_slack(_half(grid))}


COMPONENT_BUILDERS: dict[
    str, Callable[[Aggregate, Rows], tuple[list[Component], Mapping[str, Fraction]]]
] = {
    "count": _count,
    "count_units": _count_units,
    "count_distinct": _distinct,
    "sum": _sum,
    "ratio": _ratio,
    "mean": _mean,
    "weighted_mean": _weighted_mean,
    "variance": _spread,
    "std": _spread,
    "quantile": _quantile,
    "percentile": _percentile,
    "histogram": _histogram,
}
"""The components of every kind of aggregate, in the order in which finishing reads them."""


def _count_component(aggregate: Aggregate, rows: Rows) -> Component:
    """Return the component that counts rows, or rows with a value."""
    of = aggregate.of
    if of is not None and not of.type(rows.schema).nullable:
        of = None
    about = ([] if of is None else [of.text]) + (
        [] if aggregate.where is None else [f"where {aggregate.where.text}"]
    )
    return Component(" ".join(["count", *about]), "one", of=of, where=aggregate.where)


def _clip_counts(component: Component) -> Component:
    """Return the component that counts values below, inside and above the bounds."""
    assert component.of is not None
    assert component.grid is not None
    grid = component.grid
    ends = f"[{text(grid.low * grid.step)}, {text(grid.high * grid.step)}]"
    about = "" if component.where is None else f" where {component.where.text}"
    return Component(
        f"clipped:{component.of.text} {ends}{about}",
        "side",
        of=component.of,
        where=component.where,
        grid=grid,
        cells=3,
        pooled=True,
    )


def learned_column(component: Component, rows: Rows) -> str | None:
    """Return the name of the component's column if its bounds were learned, else None: learning
    said already how much they clip.
    """
    name = component.of.name if isinstance(component.of, ColumnRef) else None
    if name is None or component.grid is None or name not in dict(rows.declaration.learned.bounds):
        return None
    if not all(isinstance(step, RowStep) and step.column != name for step in rows.steps):
        return None  # a step may have overwritten the column
    low, high = rows.declaration.ranges[name]
    near = (
        low - component.grid.low * component.grid.step,
        high - component.grid.high * component.grid.step,
    )
    return (
        name if max(map(abs, near)) < component.grid.step else None
    )  # other ends may have been given with the aggregate


def _grid(aggregate: Aggregate, rows: Rows, bits: int = BITS) -> tuple[Grid, bool]:
    """Return the grid of the aggregated values between their bounds, and whether a missing value
    counts as the lower bound.
    """
    assert aggregate.of is not None
    of, column_type = aggregate.of.text, aggregate.of.type(rows.schema)
    _check_where(aggregate, rows)
    if not column_type.numeric and column_type.kind != "bool":
        raise _refuse_sum(aggregate.of, column_type)
    low, high = aggregate.low, aggregate.high
    if low is None or high is None:
        ends = (
            (Fraction(0), Fraction(1))
            if column_type.kind == "bool"
            else aggregate.of.range(rows.ranges)
        )
        if ends is None:
            raise refusals.BOUNDS_UNKNOWN(aggregate=aggregate.text, of=of)
        low, high = ends
    return grid_of(of, column_type, low, high, bits), not column_type.nullable


def _refuse_sum(of: Expr, column_type: Type) -> Refused:
    """Build the refusal to sum values that are no numbers."""
    if column_type.kind != "string":
        return refusals.VALUE_NOT_SUMMABLE(of=of.text, type=column_type, python=python_text(of))
    if isinstance(of, ColumnRef):
        return refusals.TEXT_NOT_SUMMABLE(of=of.text, column=of.name)
    return refusals.TEXT_EXPRESSION_NOT_SUMMABLE(of=of.text, python=python_text(of))


def _refuse_histogram(of: Expr, column_type: Type) -> Refused:
    """Build the refusal of a histogram of values that are no numbers."""
    if column_type.kind == "string":
        return refusals.HISTOGRAM_OF_TEXT(of=of.text, python=python_text(of))
    grouped = (
        f"group_by({of.name!r})"
        if isinstance(of, ColumnRef)
        else f"mutate(value={python_text(of)}).group_by('value')"
    )
    return refusals.HISTOGRAM_OF_NO_NUMBER(of=of.text, type=column_type, grouped=grouped)


def _check_where(aggregate: Aggregate, rows: Rows) -> None:
    if aggregate.of is not None:
        aggregate.of.type(rows.schema)
    if aggregate.where is not None and aggregate.where.type(rows.schema).kind != "bool":
        raise refusals.CONDITION_NOT_TRUE_OR_FALSE(aggregate=aggregate.text)


def _ends(grid: Grid) -> Mapping[str, Fraction]:
    return {"low": grid.low * grid.step, "high": grid.high * grid.step}


def _half(grid: Grid) -> Fraction:
    """Return how far rounding to the grid may move a value."""
    return grid.step / 2 if grid.floating else Fraction(0)


def _slack(by: Fraction) -> Mapping[str, Fraction]:
    """Return how much finishing widens intervals, so that they cover the rounding to the grid."""
    return {"slack": by} if by else NOTHING


def _component_name(what: str, aggregate: Aggregate, grid: Grid) -> str:
    assert aggregate.of is not None
    ends = f"[{text(grid.low * grid.step)}, {text(grid.high * grid.step)}]"
    return " ".join(
        [
            what,
            aggregate.of.text,
            ends,
            *(["where", aggregate.where.text] if aggregate.where is not None else []),
        ]
    )
