"""Build the statements of a plan: engine expressions that sum integers over bounded rows.

Nothing here runs a statement. The results are secret until the release adds noise.

*Statements*   rows: one line for each group, with the sums of all row components. units: the votes,
               or the different values, of every group. long: for histograms and quantiles, one
               line for each group and bin or point. All start from the same bounded rows.
*Exact*        Sums are of integers, so they are the same in every row order, on every number of
               threads. If the declared number of rows could carry a sum beyond 62 bits, the sum
               leaves the engine as a decimal of 38 digits: the declaration alone decides.
*Doubles*      Without weights, sums of fewer than 2^53 grid steps are added as doubles: those sums
               are exact, too, and quicker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..aggregates.component import FLAT, Component, Factor
from ..engine.stored_columns import StoredColumns
from ..expr.engine_values import cast, number
from ..expr.expressions import Expr
from ..expr.grids import Grid
from ..expr.nodes import Columns
from ..expr.relational import group, select
from ..expr.types import INT64, Type
from ..query.owned_rows import apply_steps, columns_of
from ..query.stages import Query
from .bounding import EXACT, NARROW, Bounding, row_weight, row_weights, truncate_rows, votes
from .count_distinct import distinct_counts
from .engine_keys import (
    comparable,
    engine_key_column,
    is_inline,
    is_public_key,
    join_keys,
    join_paths,
)
from .fast_path.parquet_sums import PlainSums, plan_plain_sums

if TYPE_CHECKING:
    import ibis.expr.types as ir

IntegersKey = tuple[str, str, bool, Grid | None, bool]
"""What two integer columns have in common if they are equal: value, condition, filled, grid, and
whether they are doubles.
"""

Shape = Literal["rows", "units", "long", "ballot"]


@dataclass(frozen=True, slots=True, eq=False)
class EngineStatement:
    """One expression for the engine, and the components (by their place) that it computes. A ballot
    computes none: it counts the votes for each group.
    """

    shape: Shape
    expression: ir.Table
    components: tuple[int, ...] = ()
    plain: PlainSums | None = None  # the fast path, if all are plain sums over columns of files


def build_statements(
    table: ir.Table,
    query: Query,
    components: tuple[Component, ...],
    bounding: Bounding,
    secret: str,
    stored: StoredColumns | None = None,
    *,
    ballot: bool,
) -> tuple[EngineStatement, ...]:
    """Build all that the engine has to compute for a query; with `ballot`, also the votes by which
    groups are selected.
    """
    units, keys = (
        [f"u{i}" for i in range(len(bounding.unit))],
        [f"k{i}" for i in range(len(query.keys))],
    )
    rows = base_rows(table, query, components, bounding, units)
    flat = tuple(i for i, component in enumerate(components) if component.form in FLAT)
    at_once = can_weigh_per_unit(components, bounding, keys)
    if bounding.truncation:
        rows = truncate_rows(rows, bounding.rows, units, secret)
    elif units and not at_once:
        # a view, so that no part of the two is the same: engines would keep that part, with all its
        # rows, in memory
        owners = base_rows(table.view(), query, (), bounding, units, keyed=bounding.rule == "root")
        rows = row_weights(rows, bounding, units, keys, owners=owners)
    statements = []
    voters = (
        base_rows(table, query, (), bounding, units)
        if ballot or any(component.form == "unit" for component in components)
        else None
    )
    if ballot:
        assert voters is not None
        in_all = replace(
            bounding, norm="L1"
        )  # what a unit's votes weigh together is what counts here
        statements.append(
            EngineStatement(
                "ballot",
                votes(voters, in_all, units, keys, secret)
                if units
                else group(voters, keys, {"votes": voters.count()}),
            )
        )
    if flat:
        sums = {
            name: sum_
            for i in flat
            for name, sum_ in _sums(rows, i, components, bounding, weighed=not at_once).items()
        }
        added = (
            _weigh_units(group(rows, units, {"n": rows.count(), **sums}), bounding)
            if at_once
            else group(rows, keys, sums)
        )
        statements.append(
            EngineStatement(
                "rows", added, flat, plan_plain_sums(stored, query, components, bounding)
            )
        )
    statements += [
        EngineStatement("units", votes(voters, bounding, units, keys, secret), (i,))
        for i, component in enumerate(components)
        if component.form == "unit"
    ]
    statements += [
        EngineStatement("long", _histogram_counts(rows, keys, i, component, bounding), (i,))
        for i, component in enumerate(components)
        if component.form in ("bin", "point", "tree")
    ]
    for i, component in enumerate(components):
        if component.form == "distinct":
            valued = base_rows(table, query, (component,), bounding, units)
            statements.append(
                EngineStatement(
                    "units", distinct_counts(valued, bounding.rows, units, keys, secret), (i,)
                )
            )
    return tuple(statements)


def needs_decimal(component: Component, bounding: Bounding) -> bool:
    """Tell whether a sum may need more than 62 bits, by public facts alone."""
    return bounding.sum_bits(component) > NARROW


def can_weigh_per_unit(
    components: tuple[Component, ...], bounding: Bounding, keys: list[str]
) -> bool:
    """Tell whether the engine may sum each unit's rows first and weigh the sums: without groups
    that is the same sum, in one pass and without a join.
    """
    if (
        keys
        or not bounding.unit
        or bounding.truncation
        or not all(component.form in (*FLAT, "unit", "distinct") for component in components)
    ):
        return False
    return not any(
        needs_decimal(component, bounding) for component in components if component.form in FLAT
    )


def _weigh_units(units: ir.Table, bounding: Bounding) -> ir.Table:
    """Sum over all units: the sums of each unit times its weight, which follows from its number of
    rows `n`.
    """
    weight = cast(row_weight(units.n, bounding), INT64)
    return group(
        units,
        (),
        {
            name: cast((weight * units[name]).sum(), INT64)
            for name in units.columns
            if name.startswith("s")
        },
    )


def base_rows(
    table: ir.Table,
    query: Query,
    components: tuple[Component, ...],
    bounding: Bounding,
    units: list[str],
    *,
    keyed: bool = True,
) -> ir.Table:
    """Return the rows that meet the conditions, with the columns that sums need: units, keys, and
    the integer or the side of each component.
    """
    import ibis

    table, schema, conditions = apply_steps(table, query.rows.declaration.schema, query.rows.steps)
    # Without a unit, and with all keys public, other keys are left out when the sums are read: that
    # is cheaper, and changes no sum.
    among = {
        name: domain
        for name, domain in zip(query.keys, query.domains, strict=True)
        if domain and (units or not query.public)
    }
    allowed = query.combinations if units or not query.public else ()
    combined = {f"k{i}" for each in allowed for i in each.places}
    by = {
        name: engine_key_column(name, table, schema)
        for name in query.keys
        if keyed or name in among
    }
    listed = {
        f"k{i}": among[name]
        for i, name in enumerate(query.keys)
        if name in among and not is_inline(among[name])
    }
    columns = {
        name: table[column] for name, column in zip(units, query.rows.declaration.unit, strict=True)
    }
    conditions += [owner.notnull() for owner in columns.values()]
    conditions += [
        is_public_key(by[name], schema[name], domain)
        for name, domain in among.items()
        if is_inline(domain)
    ]
    columns |= {
        f"k{i}": by[name]
        for i, name in enumerate(query.keys)
        if keyed or f"k{i}" in listed or f"k{i}" in combined
    }
    for i, component in enumerate(components):
        if first_with_same_integers(i, components, bounding) == i:
            columns |= {
                f"v{i}{which}": value
                for which, value in _values(
                    component,
                    shared_null_column(component, components, bounding),
                    table,
                    schema,
                    bounding,
                ).items()
            }
    base = select(
        table, columns or {"row": ibis.literal(1, "int8")}, conditions
    )  # nothing else: a column of the table's own may be called v0
    for name, domain in listed.items():
        base = join_keys(base, name, domain, schema[query.keys[int(name[1:])]])
    for each in allowed:
        types = [schema[query.keys[i]] for i in each.places]
        base = join_paths(base, [f"k{i}" for i in each.places], each.paths, types)
    return base


def _values(
    component: Component,
    null_column: int | None,
    columns: Columns,
    schema: Mapping[str, Type],
    bounding: Bounding,
) -> dict[str, ir.Value]:
    """Return the columns of a component: what a row adds, or its bin or point; null if the row is
    left out. No column if every row counts one, or if another column has the same nulls. A side has
    a column for each rare case: engines that know a column's range then need not read it.
    """
    import ibis

    where = None if component.where is None else component.where.build(columns, schema)
    if component.of is None:
        return {} if where is None else {"": ibis.cases((where, ibis.literal(1, "int64")))}
    if component.form == "one" and null_column is not None:
        return {}
    if component.form == "distinct":
        value = comparable(component.of.build(columns, schema), component.of.type(schema))
        return {"": value if where is None else ibis.cases((where, value))}
    value = (
        component.of.build(columns, schema)
        if component.form == "bin"
        else component.of.raw(columns, schema)
    )
    absent = value.isnull() | value.isnan() if value.type().is_floating() else value.isnull()
    if component.form == "side":
        assert component.grid is not None
        below, above = component.grid.outside(value)
        if where is not None:
            below, above, absent = below & where, above & where, absent | ~where.fill_null(False)
        return {"_below": below, "_above": above} | (
            {"_absent": absent} if null_column is None else {}
        )
    if component.form == "one":
        added = ibis.cases((~absent, ibis.literal(1, "int64")))
    elif component.form == "bin":
        added = _bin(value, component)
    else:
        added = _integer(component, value, doubles=as_doubles(component, bounding))
    return {"": added if where is None else ibis.cases((where, added))}


def first_with_same_integers(
    place: int, components: tuple[Component, ...], bounding: Bounding
) -> int:
    """Return the place of the first component with the same integer column: a sum, a mean and a
    spread share one.
    """
    key = _integers_key(components[place], bounding)
    return (
        place
        if key is None
        else next(
            i for i, component in enumerate(components) if _integers_key(component, bounding) == key
        )
    )


def _integers_key(component: Component, bounding: Bounding) -> IntegersKey | None:
    if component.form not in ("value", "centred", "square"):
        return None
    assert component.of is not None
    return (
        component.of.text,
        _text(component.where),
        component.filled,
        component.grid,
        as_doubles(component, bounding),
    )


def _text(condition: Expr | None) -> str:
    return "" if condition is None else condition.text


def _integer(component: Component, value: ir.Value, *, doubles: bool) -> ir.Value:
    """Return the integer of a row; or, in doubles, its multiple of the grid's step."""
    grid = component.grid
    assert grid is not None
    if component.form in ("point", "tree"):
        places = grid.places(value)
        return places.fill_null(grid.low - grid.origin) if component.filled else places
    integer, low = (
        (grid.doubles(value), float(grid.low * grid.step))
        if doubles
        else (grid.integers(value), grid.low)
    )
    return integer.fill_null(low) if component.filled else integer


def _summand(component: Component, value: ir.Value, *, doubles: bool) -> ir.Value:
    """Return what the sum adds: an integer as it is, centred, or the square of its distance from
    the lower bound.
    """
    grid = component.grid
    assert grid is not None
    if component.form == "value":
        return value
    if component.form == "centred":
        return value - (float(grid.centre * grid.step) if doubles else grid.centre)
    distance, steps = cast(value, INT64) - grid.low, grid.high - grid.low
    square = distance * distance
    if component.times == steps:
        return square
    return _over(square * component.times, steps)


def _bin(value: ir.Value, component: Component) -> ir.Value:
    """Return the place of the bin that holds a value, by binary search. Compares integers with
    integers, and skips edges beyond all of them.
    """
    import ibis

    least, most = (-(2**63), 2**63 - 1) if value.type().is_integer() else (-math.inf, math.inf)
    is_integer = value.type().is_integer()
    x = value if is_integer else value.cast("float64")
    ends = [math.ceil(edge) if is_integer else float(edge) for edge in component.edges]
    first, last = (
        max(ends[0], least),
        min(math.floor(component.edges[-1]) if is_integer else ends[-1], most),
    )
    if first > last:
        return ibis.null("int64")

    def number_of(end: float) -> ir.Scalar:
        return ibis.literal(end, "int64") if is_integer else number(end)

    def within(low: int, high: int) -> ir.Value:
        if high - low == 1:
            return ibis.literal(low, "int64")
        middle = (low + high) // 2
        if not least < ends[middle] <= most:
            return within(low, middle) if ends[middle] > most else within(middle, high)
        return ibis.cases(
            (x < number_of(ends[middle]), within(low, middle)), else_=within(middle, high)
        )

    return ibis.cases((x.between(number_of(first), number_of(last)), within(0, component.cells)))


def _sums(
    rows: ir.Table,
    place: int,
    components: tuple[Component, ...],
    bounding: Bounding,
    *,
    weighed: bool = True,
) -> dict[str, ir.Value]:
    """Return the sums of a component's cells, by name."""
    import ibis

    component = components[place]
    weight = _weight(rows, bounding, pooled=component.pooled) if weighed else None
    null_column, name = (
        shared_null_column(component, components, bounding),
        f"v{first_with_same_integers(place, components, bounding)}",
    )

    def where(condition: ir.BooleanValue) -> ir.Value:
        """Sum the weight of the rows that meet a condition."""
        return condition.sum() if weight is None else ibis.cases((condition, weight)).sum()

    def there(value: ir.Value) -> ir.Value:
        """Sum the weight of the rows whose value is not null."""
        return value.count() if weight is None else where(value.notnull())

    total = (
        there(rows[f"v{null_column}"])
        if null_column is not None
        else rows.count()
        if weight is None
        else weight.sum()
    )
    if component.form == "side":
        total = (
            total
            if null_column is not None
            else total - ibis.coalesce(where(rows[f"{name}_absent"]), 0)
        )
        cells = [
            where(rows[f"{name}_below"]),
            total,
            where(rows[f"{name}_above"]),
        ]  # what of the second lies inside is found when it is read
    elif component.form == "product":
        product_ = _product(rows, component, components, bounding)
        cells = [product_.sum() if weight is None else (cast(weight, INT64) * product_).sum()]
    elif name not in rows.columns:
        cells = [total]
    elif component.form == "one":
        cells = [there(rows[name])]
    elif as_doubles(component, bounding):
        cells = [_summand(component, rows[name], doubles=True).sum() * float(1 / component.step)]
    else:
        number_ = _summand(component, rows[name], doubles=False)
        cells = [number_.sum() if weight is None else (cast(weight, INT64) * number_).sum()]
    return {
        f"s{place}_{cell}": _cast_sum(sum_, component, bounding) for cell, sum_ in enumerate(cells)
    }


def _product(
    rows: ir.Table, component: Component, components: tuple[Component, ...], bounding: Bounding
) -> ir.Value:
    """Return the cell of one column, or the product of two columns' cells over what the cells of a
    row sum to, rounded.
    """
    cells = [_cell(rows, factor, components, bounding) for factor in component.factors]
    return cells[0] if len(cells) == 1 else _over(cells[0] * cells[1], component.factors[0].row)


def _cell(
    rows: ir.Table, factor: Factor, components: tuple[Component, ...], bounding: Bounding
) -> ir.Value:
    """Return one cell of a column, from the integers of its rows."""
    import ibis

    grid, key = factor.column.grid, _integers_key(factor.column, bounding)
    assert grid is not None
    place = next(i for i, each in enumerate(components) if _integers_key(each, bounding) == key)
    value = rows[f"v{place}"]
    if as_doubles(factor.column, bounding):
        value = value * float(1 / grid.step)
    distance = (cast(value, INT64) - grid.low) * factor.times
    if factor.degree == 1:
        cell = (factor.row - distance, distance)[factor.place]
    else:
        top = _over(distance * distance, factor.row)
        cell = (factor.row - distance * 2 + top, (distance - top) * 2, top)[factor.place]
    return ibis.coalesce(cell, ibis.literal(0, "int64")) if factor.rest else cell


def _over(product: ir.Value, divisor: int) -> ir.Value:
    """Divide a number that is not negative, and round to the nearest integer. The number is below
    2^53, so that engines that divide in doubles divide exactly.
    """
    return cast((product + divisor // 2) // divisor, INT64)


def shared_null_column(
    component: Component, components: tuple[Component, ...], bounding: Bounding
) -> int | None:
    """Return the place of a column that is null exactly where a count or a side has no value: the
    column of the same values, clipped.
    """
    if component.form not in ("one", "side") or component.of is None:
        return None
    key = component.of.text, _text(component.where), False
    places = (
        first_with_same_integers(i, components, bounding)
        for i, candidate in enumerate(components)
        if (source := _integers_key(candidate, bounding)) is not None and source[:3] == key
    )
    return next(places, None)


def _histogram_counts(
    rows: ir.Table, keys: list[str], place: int, component: Component, bounding: Bounding
) -> ir.Table:
    """Sum the weight of every bin or point. Rows without one get a line that nobody reads."""
    weight = _weight(rows, bounding, pooled=component.form == "point")
    total = rows.count() if weight is None else weight.sum()
    name = f"v{place}"
    counts = group(
        rows, [*keys, name], {f"s{place}_0": _cast_sum(total, Component("", "one"), bounding)}
    )
    return (
        counts
        if component.grid is None
        else select(
            counts, columns_of(counts) | {name: counts[name].cast("int64") + component.grid.origin}
        )
    )


def as_doubles(component: Component, bounding: Bounding) -> bool:
    """Tell whether sums of doubles are exact, by public facts alone."""
    return (
        component.grid is not None
        and component.grid.floating
        and component.form in ("value", "centred")
        and not bounding.unit
        and bounding.sum_bits(component) <= EXACT
    )


def _cast_sum(total: ir.Value, component: Component, bounding: Bounding) -> ir.Value:
    return total.cast("decimal(38, 0)" if needs_decimal(component, bounding) else "int64")


def _weight(rows: ir.Table, bounding: Bounding, *, pooled: bool) -> ir.Value | None:
    """Return the weight of a row; None if it is 1."""
    if not bounding.unit or bounding.truncation:
        return None
    return rows.w1 if pooled and "w1" in rows.columns else rows.w
