"""Pieces: each once, with a range that holds whatever a row contains; what lacks bounds, or has no
number, is refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.component import Component
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.components import QueryComponents, components_of
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows

from ..refusing import refusal
from .worlds import Nobody

SCHEMA = {
    name: Type.of(kind)
    for name, kind in {
        "user": "int64",
        "age": "int32",
        "spend": "float64",
        "paid": "decimal(12,2)",
        "sure": "float64 not null",
        "city": "string",
        "day": "date",
        "member": "bool",
    }.items()
}
BOUNDS = {"age": (0, 120), "spend": (-10, 50), "paid": (0, 100), "sure": (0, 1)}


def components(
    unit: str | None = "user", bounds: Any = BOUNDS, max_rows: int = 3, **aggregates: Aggregate
) -> QueryComponents:
    declared = declare(
        name="visits",
        unit=unit,
        bounds=bounds,
        schema=SCHEMA,
        max_rows=max_rows if unit else None,
    )
    return components_of(Rows.of(declared, Nobody()).aggregate(**aggregates))


def forms(query_components: QueryComponents) -> list[str]:
    return [component.form for component in query_components.components]


def test_what_is_needed_twice_is_computed_once() -> None:
    result = components(n=ag.count(), m=ag.mean("sure"), v=ag.var("sure"), s=ag.std("sure"))
    assert forms(result) == ["one", "centred", "square", "side"]
    assert [column.components for column in result.columns] == [(0,), (1, 0), (2, 1, 0), (2, 1, 0)]


def test_conditions_and_bounds_tell_components_apart() -> None:
    """A component shared by mistake would give one column the integers and noise of another."""
    query = {
        "a": ag.sum("spend"),
        "b": ag.sum("spend", low=0, high=1),
        "c": ag.sum("spend").filter(col("member")),
        "d": ag.sum("spend", low=0, high=1).filter(col("member")),
        "e": ag.sum("spend").filter(~col("member")),
        "f": ag.mean("spend"),
        "g": ag.sum("age"),
        "h": ag.sum(col("spend") + 0),
    }
    result = components(**query)
    main = [component for component in result.components if component.form in ("value", "centred")]
    assert len(main) == len(query)
    assert len({component.name for component in result.components}) == len(result.components)
    assert (
        sum(component.form == "side" for component in result.components) == 7
    )  # the sum and the mean of one column share theirs


def test_the_range_of_a_piece_is_that_of_its_rows() -> None:
    result = components(
        a=ag.sum("age"), b=ag.sum("paid"), c=ag.mean("age"), d=ag.count(), e=ag.sum("member")
    )
    by_name = {component.name: component for component in result.components}
    assert (
        by_name["sum age [0, 120]"].low,
        by_name["sum age [0, 120]"].high,
        by_name["sum age [0, 120]"].step,
    ) == (0, 120, 1)
    assert (by_name["sum paid [0, 100]"].high, by_name["sum paid [0, 100]"].step) == (
        10_000,
        Fraction(1, 100),
    )
    assert (by_name["centred sum age [0, 120]"].low, by_name["centred sum age [0, 120]"].high) == (
        -60,
        60,
    )
    assert by_name["sum member [0, 1]"].largest == 1
    assert by_name["count"].largest == 1


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-5, 5), (-10, -2), (-3, 100), (0, 10**9), ("1/7", "3/7")]
)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_squares_stay_within_what_is_said(low: Any, high: Any, rows: int) -> None:
    """The more rows a unit may have, the fewer steps: so that the noise fits its samplers."""
    result = components(max_rows=rows, v=ag.var("spend", low=low, high=high))
    square, centred = result.components[0], result.components[1]
    grid = square.grid
    assert grid is not None
    assert grid == centred.grid
    steps, times = grid.high - grid.low, square.times
    distances = {*range(min(steps, 99)), steps // 2, steps // 3, steps - 1, steps}
    squares = [(h * h * times + steps // 2) // steps for h in distances]
    assert (min(squares), max(squares)) == (square.low, square.high) == (0, times * steps)
    assert steps * square.high < 2**53  # before it is divided, by engines that do so in doubles
    most = 2**26 if rows == 1 else 2**22 if rows == 3 else 2**20
    assert most / 2 < square.high <= most or times == steps  # fine enough, or exact
    assert steps**2 > most or times == steps
    assert square.high * square.step == (steps * grid.step) ** 2
    # the cells of a row are not negative and sum to the largest square
    for h, top in zip(distances, squares, strict=True):
        cells = square.high - 2 * times * h + top, 2 * times * h - 2 * top, top
        assert min(cells) >= 0
        assert sum(cells) == square.high


def test_units_are_counted_by_unit_and_rows_without_one_by_row() -> None:
    assert forms(components(n=ag.count_units())) == ["unit"]
    assert [
        component.name
        for component in components(unit=None, n=ag.count_units(), m=ag.count()).components
    ] == ["count"]


def test_a_column_that_is_never_null_counts_every_row() -> None:
    assert [
        component.name for component in components(n=ag.count("sure"), m=ag.count()).components
    ] == ["count"]
    assert next(
        component
        for component in components(s=ag.sum("sure")).components
        if component.form == "value"
    ).filled
    assert not next(
        component
        for component in components(s=ag.sum("spend")).components
        if component.form == "value"
    ).filled
    assert not next(
        component
        for component in components(s=ag.sum(col("sure") / col("sure"), low=0, high=1)).components
        if component.form == "value"
    ).filled


def test_a_quantile_has_points_of_its_own() -> None:
    result = components(
        q=ag.median("spend"), p=ag.quantile("paid", "0.9"), again=ag.median("spend")
    )
    assert forms(result) == ["point", "point"]
    component = result.components[0]
    assert component.high - component.low < 2**19
    assert component.aggregate is not None


def test_a_histogram_has_a_cell_for_each_bin() -> None:
    (component,) = components(h=ag.histogram("age", edges=[0, 18, 65, 120])).components
    assert (component.form, component.cells, component.largest) == ("bin", 3, 1)


def test_bounds_follow_from_those_of_columns() -> None:
    assert components(s=ag.sum(col("age") * 2)).components[0].high == 240
    assert components(s=ag.sum(col("age").clip(0, 10))).components[0].high == 10


@pytest.mark.parametrize(
    ("aggregate", "code"),
    [
        (ag.sum("user"), "aggregate.bounds"),
        (ag.mean(col("age") / col("spend")), "aggregate.bounds"),
        (ag.median("user"), "aggregate.bounds"),
        (ag.sum("city"), "aggregate.type"),
        (ag.sum("day"), "aggregate.type"),
        (ag.sum("city", low=0, high=1), "aggregate.type"),
        (ag.sum("age", low="1/3", high="2/3"), "aggregate.bounds"),
        (ag.histogram("city", edges=[0, 1]), "aggregate.type"),
        (ag.histogram("member", edges=[0, 1]), "aggregate.type"),
        (ag.count_units().filter(col("member")), "aggregate.units"),
        (ag.count_if(col("age")), "aggregate.where"),
        (ag.sum("age").filter(col("age")), "aggregate.where"),
        (ag.histogram("age", edges=[0, 1]).filter(col("age")), "aggregate.where"),
        (ag.count("nothing"), "expression.column"),
        (ag.sum("nothing", low=0, high=1), "expression.column"),
        (ag.count_if(col("nothing") > 1), "expression.column"),
    ],
)
def test_what_has_no_bounded_number_is_refused(aggregate: Aggregate, code: str) -> None:
    refusal(lambda: components(x=aggregate), code)


@pytest.mark.parametrize(
    ("aggregate", "rewrite"),
    [
        (ag.sum("city"), "types={'city': 'float'}"),
        (ag.sum(col("city").lower()), "sf.col('city').lower().cast('float').clip(0, 100)"),
        (ag.sum("day"), "sf.count(sf.col('day'))"),
        (ag.histogram("member", edges=[0, 1]), "group_by('member').aggregate(n=sf.count())"),
        (
            ag.histogram(col("age") > 1, edges=[0, 1]),
            "mutate(value=(sf.col('age') > 1)).group_by('value').aggregate(n=sf.count())",
        ),
        (
            ag.mean("age", weight=col("age") - 10),
            "weight=(sf.col('age') - 10).clip(0, 5)",
        ),
        (ag.sum("age", low="1/3", high="2/3"), "low=0.0, high=1.0"),
    ],
)
def test_rewrites_can_be_pasted(aggregate: Aggregate, rewrite: str) -> None:
    with pytest.raises(Refused) as refused:
        components(n=aggregate)
    assert refused.value.rewrite == rewrite


def test_the_largest_integer_of_a_piece() -> None:
    assert Component("x", "value", -7, 3).largest == 7
    assert Component("x", "value", 2, 5).largest == 5
