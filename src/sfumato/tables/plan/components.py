"""Split every aggregate into components: columns of exact integers, each in a public range per row.

A mean needs two components, a centred sum and a count. The engine sums each component exactly; the
release adds noise to the sums; finishing computes the aggregate from the noisy sums.

*Shared*    Aggregates that need the same component share it: a count and a mean of the same rows
            are two components, not three.
*Care*      Every column that may be clipped gets three counts, below, inside and above the bounds,
            so that the answer can say how much was clipped. Learned bounds get none: learning said
            it already. Neither do values that lie within their bounds by their type or expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from weakref import WeakKeyDictionary

from ...exact import effort
from ...exact.numbers import text
from ..aggregates import KINDS
from ..aggregates.component import Component
from ..aggregates.shared_trees import read_from_trees
from ..expr.expressions import ColumnRef
from ..query.stages import Query, Rows, RowStep


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
    components = _COMPONENTS.get(query)
    if components is None:
        components = _COMPONENTS[query] = _split_aggregates(query)
    return components


_COMPONENTS: WeakKeyDictionary[Query, QueryComponents] = WeakKeyDictionary()
"""Kept while a query lives: it may be planned for several promises."""


def _split_aggregates(query: Query) -> QueryComponents:
    by_name: dict[str, Component] = {}
    columns = []
    read = read_from_trees(query)  # quantiles that share one noisy count of all values
    for name, aggregate in query.aggregates:
        effort.check()
        kind = read.get(name, aggregate.kind)
        components, numbers = KINDS[kind].components(aggregate, query.rows)
        for component in components:
            by_name.setdefault(component.name, component)
        places = list(by_name)
        columns.append(
            ColumnPlan(
                name,
                kind,
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
            and _may_be_clipped(component, query.rows)
        ):
            side = _clip_counts(component)
            by_name.setdefault(side.name, side)
    return QueryComponents(tuple(by_name.values()), tuple(columns))


def _may_be_clipped(component: Component, rows: Rows) -> bool:
    """Tell whether a value can lie outside its bounds, by its type and expression."""
    assert component.of is not None
    assert component.grid is not None
    if component.of.type(rows.schema).kind == "bool":
        return False
    ends, grid = component.of.range({}), component.grid
    return ends is None or ends[0] < grid.low * grid.step or ends[1] > grid.high * grid.step


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
