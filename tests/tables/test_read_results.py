"""Reading: integers are put where their group is; total on whatever the engine gives, and of a
dtype that public facts decide.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.component import Component
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.grids import Grid
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.read_results import (
    ResultGroups,
    chosen_groups,
    combine_sums,
    integers,
    public_groups,
    read_component,
    read_points,
    votes_of,
)
from sfumato.tables.plan.statements import EngineStatement
from sfumato.tables.query.stages import Query, Rows

from .worlds import Nobody

BOUNDING = Bounding((), 1, 1, "add-remove", True, "L1", False, 2**20)
WIDE = Bounding((), 1, 1, "add-remove", True, "L1", False, 2**48)
KINDS = {
    "a": "string",
    "b": "int64",
    "c": "float64",
    "d": "date",
    "e": "timestamp with time zone",
    "f": "uuid",
    "g": "decimal(10,2)",
    "h": "bool",
}

ARROW = dict(
    zip(
        KINDS,
        (
            pa.string(),
            pa.int64(),
            pa.float64(),
            pa.date32(),
            pa.timestamp("us"),
            pa.string(),
            pa.decimal128(10, 2),
            pa.bool_(),
        ),
        strict=True,
    )
)


def query(**public: list[Any]) -> Query:
    declared = declare(name="t", schema={name: Type.of(kind) for name, kind in KINDS.items()})
    return (
        Rows.of(declared, Nobody())
        .group_by(
            *(name for name, keys in public.items() if not keys),
            **{n: k for n, k in public.items() if k},
        )
        .aggregate(n=ag.count())
    )


def groups(**public: list[Any]) -> ResultGroups:
    types = {
        "a": pa.string(),
        "b": pa.int64(),
        "c": pa.float64(),
        "d": pa.date32(),
        "e": pa.timestamp("us"),
        "f": pa.string(),
        "g": pa.decimal128(10, 2),
        "h": pa.bool_(),
    }
    return public_groups(query(**public), [types[name] for name in public])


def test_all_combinations_in_order() -> None:
    result = groups(a=["y", "x", None], h=[True, False])
    assert result.rows == [
        ("x", False),
        ("x", True),
        ("y", False),
        ("y", True),
        (None, False),
        (None, True),
    ]
    assert len(result) == 6
    assert groups().rows == [()]


def test_lines_are_found_in_any_order_and_strangers_in_none() -> None:
    result = groups(a=["x", "y", None], b=[1, 2])
    lines = pa.table({"k0": ["y", None, "z", "x", "x", "y"], "k1": [2, 1, 1, 3, 1, None]})
    assert result.places(lines).tolist() == [3, 4, -1, -1, 0, -1]
    assert result.places(lines.slice(0, 0)).tolist() == []
    chunks = pa.concat_tables([lines.slice(i, 1) for i in range(6)])
    assert result.places(chunks).tolist() == [3, 4, -1, -1, 0, -1]


def test_null_is_found_only_where_it_is_a_key() -> None:
    assert groups(a=["x"]).places(pa.table({"k0": pa.array([None, "x"])})).tolist() == [-1, 0]


def test_keys_are_named_as_people_name_them() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert groups(f=[UUID(int=5)], e=[moment]).rows == [(UUID(int=5), moment)]
    ballot = pa.table(
        {
            "k0": [str(UUID(int=5)), None],
            "k1": pa.array([datetime(2026, 3, 1, 12), None], pa.timestamp("us")),
            "votes": [1, 1],
        }
    )
    assert chosen_groups(ballot, np.array([True, True]), query(f=[], e=[])).rows == [
        (UUID(int=5), moment),
        (None, None),
    ]


def test_chosen_groups_are_sorted_and_only_those_that_were_kept() -> None:
    ballot = pa.table({"k0": ["b", None, "a", "Z", "é"], "votes": [1, 2, 3, 4, 5]})
    assert votes_of(ballot).tolist() == [1, 2, 3, 4, 5]
    result = chosen_groups(ballot, np.array([True, True, True, False, True]), query(a=[]))
    assert result.rows == [("a",), ("b",), ("é",), (None,)]
    nobody = chosen_groups(ballot, np.zeros(5, dtype=bool), query(a=[]))
    assert (nobody.rows, len(nobody)) == ([], 0)
    assert nobody.places(ballot).tolist() == [-1] * 5


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("b", [-(2**63), 0, 2**63 - 1]),
        ("c", [-0.5, 0.0, 0.1, 0.30000000000000004]),
        ("d", [date(1, 1, 1), date(9999, 12, 31)]),
        ("g", [Decimal("-0.01"), Decimal("0.00"), Decimal("99999999.99")]),
        ("h", [False, True, None]),
    ],
)
def test_keys_of_every_type_are_found(name: str, keys: list[Any]) -> None:
    result = groups(**{name: keys})
    lines = pa.table({"k0": pa.array(keys[::-1], ARROW[name])})
    assert [result.rows[i] for i in result.places(lines)] == [(key,) for key in keys[::-1]]


NUMBERS = [0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("wide", [True, False])
def test_integers_of_every_form(wide: bool) -> None:
    """64-bit integers and decimals of 38 digits, with nulls, in chunks, in slices."""
    for kind in (pa.int64(), pa.decimal128(38, 0)):
        column = pa.chunked_array(
            [pa.array([None, *NUMBERS[:3]], kind), pa.array(NUMBERS[3:], kind)]
        )
        result = integers(column, wide=wide)
        assert result.tolist() == [0, *NUMBERS]
        assert result.dtype == (object if wide else np.int64)
        assert integers(column.slice(2, 4), wide=wide).tolist() == NUMBERS[1:5]
        assert integers(column.slice(0, 0), wide=wide).tolist() == []
        assert integers(pa.chunked_array([], kind), wide=wide).tolist() == []


def test_wide_integers_are_exact() -> None:
    large = [10**37, -(10**37), 2**64, -(2**64), 2**64 - 1, -(2**64) - 1, 2**126]
    result = integers(pa.chunked_array([pa.array(large, pa.decimal128(38, 0))]), wide=True)
    assert result.tolist() == large
    assert all(type(value) is int for value in result)


def test_sums_are_put_into_their_groups() -> None:
    result = groups(a=["x", "y"])
    lines = pa.table({"k0": ["y", "z"], "s0_0": [5, 7]})
    piece = Component("count", "one")
    values = read_component(
        EngineStatement("rows", None, (0,)), lines, piece, 0, result, BOUNDING, public=True
    )
    assert values.tolist() == [[0], [5]]
    assert values.dtype == np.int64
    wide = read_component(
        EngineStatement("rows", None, (0,)),
        lines,
        Component("sum", "value", 0, 2**20),
        0,
        result,
        WIDE,
        public=True,
    )
    assert wide.tolist() == [[0], [5]]
    assert wide.dtype == object


def test_dtypes_do_not_depend_on_what_is_read() -> None:
    result, piece = groups(a=["x"]), Component("sum", "value", 0, 2**20)
    empty, full = (
        pa.table({"k0": pa.array([], pa.string()), "s0_0": pa.array([], pa.int64())}),
        pa.table({"k0": ["x"], "s0_0": [2**40]}),
    )
    for bounding in (BOUNDING, WIDE):
        kinds = {
            read_component(
                EngineStatement("rows", None, (0,)), lines, piece, 0, result, bounding, public=True
            ).dtype
            for lines in (empty, full)
        }
        assert len(kinds) == 1


def test_what_is_pooled_is_of_the_public_groups_or_of_all() -> None:
    result, piece = groups(a=["x", "y"]), Component("clipped", "side", cells=3, pooled=True)
    lines = pa.table(
        {"k0": ["x", "y", "z"], "s0_0": [1, 2, 4], "s0_1": [8, 16, 32], "s0_2": [None, 1, 1]}
    )
    assert read_component(
        EngineStatement("rows", None, (0,)), lines, piece, 0, result, BOUNDING, public=True
    ).tolist() == [[3, 20, 1]]  # 24 with a value, of which 4 outside
    assert read_component(
        EngineStatement("rows", None, (0,)), lines, piece, 0, result, BOUNDING, public=False
    ).tolist() == [[7, 47, 2]]


def test_bins_and_points() -> None:
    result = groups(a=["x", "y"])
    lines = pa.table(
        {
            "k0": ["x", "x", "y", "z", "y", "y"],
            "v0": [0, 2, 1, 1, None, 9],
            "s0_0": [1, 2, 3, 4, 5, 6],
        }
    )
    piece = Component("histogram", "bin", cells=3)
    assert read_component(
        EngineStatement("long", None, (0,)), lines, piece, 0, result, BOUNDING, public=True
    ).tolist() == [[1, 0, 2], [0, 3, 0]]
    grid = Grid(0, 9, Fraction(1), floating=False)
    at, points, weights = read_points(lines, 0, grid, result, BOUNDING)
    assert (at.tolist(), points.tolist(), weights.tolist()) == (
        [0, 0, 1, 1],
        [0, 2, 1, 9],
        [1, 2, 3, 6],
    )


@pytest.mark.parametrize("count", [3, 2**36, 2**40])
def test_cells_of_more_rows_than_declared_do_not_wrap_around(count: int) -> None:
    sums = [np.array([[count]]), np.array([[count // 2]])]
    cells = combine_sums(sums, ((2**26, -(2**26)), (0, 2**26)), wide=False)
    assert cells.tolist() == [[2**26 * (count - count // 2), 2**26 * (count // 2)]]


def test_sums_on_the_way_may_wrap_around() -> None:
    """The dtype follows from the results, which the declaration bounds."""
    sums = [np.array([[2**45]]), np.array([[2**45 - 1]])]
    cells = combine_sums(sums, ((2**26, -(2**26)),), wide=False)
    assert (cells.dtype, cells.tolist()) == (np.int64, [[2**26]])
