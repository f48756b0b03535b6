"""Sizes of float expressions: never smaller than what they can be, and known for the grid's own
arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ibis
import pytest

from sfumato.tables.engine.dialects.exponent_bounds import (
    ANY,
    NO_SIZE,
    fits,
    product,
    quotient,
    size,
    total,
)
from sfumato.tables.expr.engine_values import number
from sfumato.tables.expr.grids import grid_of
from sfumato.tables.expr.types import FLOAT

TABLE: Any = ibis.table(
    {"x": "float64", "y": "float32", "i": "int64", "d": "decimal(12, 2)", "b": "boolean"},
    name="rows",
)


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (TABLE.x, -1074, 1024),
        (TABLE.y.cast("float64"), -149, 128),
        (TABLE.i.cast("float64"), 0, 64),
        (TABLE.d.cast("float64"), -7, 34),
        (number(8.0), 3, 3),
        (number(-0.25), -2, -2),
        (TABLE.i.cast("float64") * number(0.5), -1, 63),
        (TABLE.i.cast("float64") / number(4.0), -2, 62),
        (-TABLE.i.cast("float64"), 0, 64),
        (ibis.coalesce(TABLE.i.cast("float64"), number(0.5)), -1, 64),
        (
            ibis.cases(
                (TABLE.x.between(ibis.literal(-4.0), ibis.literal(2.0)), TABLE.x),
                else_=ibis.literal(1.0),
            ),
            -1074,
            2,
        ),
        (TABLE.x.sqrt(), -1074, 1024),
    ],
    ids=range(12),
)
def test_sizes(value: Any, least: float, most: float) -> None:
    bounds = size(value.op())
    assert bounds[0] <= least + 1e-6
    assert bounds[1] >= most - 1e-6
    assert bounds[0] >= least - 2
    assert bounds[1] <= most + 2


def test_a_literal_that_is_no_finite_number_has_no_size() -> None:
    assert size(number(0).op()) == NO_SIZE
    assert size(number("inf").op()) == NO_SIZE
    assert size(ibis.literal("x").cast("float64").op()) == ANY


@pytest.mark.parametrize(
    "ends", [(0, 1), (-5, 5), (0, 10**9), (-(10**100), 10**100), (0, Fraction(1, 10**50))]
)
def test_the_grids_own_arithmetic_is_known_to_fit(ends: tuple[Any, Any]) -> None:
    grid = grid_of("x", FLOAT, Fraction(ends[0]), Fraction(ends[1]))
    rounded = size(grid.doubles(TABLE.x).op())
    shifted = grid.doubles(TABLE.x).op()
    assert fits(total(size(shifted.left), size(shifted.right)))
    assert fits(total(size(shifted.left.left), size(shifted.left.right)))
    assert rounded[0] > -1000
    assert fits(product(rounded, size(number(float(1 / grid.step)).op())))


def test_what_an_analyst_multiplies_is_not() -> None:
    assert not fits(product(size(TABLE.x.op()), size(TABLE.x.op())))
    assert not fits(total(size(TABLE.x.op()), size(TABLE.x.op())))
    assert not fits(quotient(size(number(1.0).op()), size(TABLE.x.op())))
    assert fits(total(size(TABLE.y.cast("float64").op()), size(TABLE.i.cast("float64").op())))


def test_a_column_is_what_it_was_made_of() -> None:
    derived = TABLE.select(v=TABLE.i.cast("float64") * number(0.5))
    assert size(derived.v.op())[1] < 65
    assert math.isclose(size(derived.select(w=derived.v).w.op())[1], size(derived.v.op())[1])
