"""The parts of sums in arrays, each by itself; the whole is held against SQL in test_plain_sums."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato.tables.aggregates.component import Component
from sfumato.tables.expr.grids import Grid
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.fast_path.numpy_sums import (
    PART,
    Buffers,
    UnexpectedRows,
    WeighedRows,
    Weights,
    make_finder,
    numbers_of,
    parts,
)

BOUNDING = Bounding(("u",), 3, 3, "add-remove", True, "L1", False, 10**6)


def test_arrow_and_numpy_hold_the_same() -> None:
    for values in ([], [1, 2], [None, 3, None], [None]):
        for start in range(len(values) + 1):
            numbers, missing = numbers_of(pa.array(values, "int16").slice(start))
            assert [
                None if missing is not None and missing[i] else int(number)
                for i, number in enumerate(numbers)
            ] == values[start:]


def test_parts_are_all_rows() -> None:
    for rows in (0, 1, PART, PART + 1, 3 * PART):
        assert [i for part in parts(rows) for i in (part.start, part.stop)][::2] == list(
            range(0, rows, PART)
        )
        assert sum(part.stop - part.start for part in parts(rows)) == rows


@pytest.mark.parametrize("domain", [(0, 1, 2), (5, 3, 4), (-7, 9), (2**62,), (-(2**63), 2 - 2**63)])
def test_places_of_keys(domain: tuple[int, ...]) -> None:
    keys = np.array([*domain, 0, 8, 2**63 - 1, -(2**63)], np.int64)
    places = make_finder(domain)(keys, None, Buffers())
    assert places.tolist() == [
        domain.index(key) if key in domain else len(domain) for key in keys.tolist()
    ]
    missing = np.ones(len(keys), np.bool_)
    assert make_finder(domain)(keys, missing, Buffers()).tolist() == [len(domain)] * len(keys)


def test_weights_are_those_of_the_limit() -> None:
    rng = random.Random(1)
    units = [rng.randint(-5, 5) for _ in range(100)] + [7] * 1000
    weights, room = Weights(-5, 7, BOUNDING), Buffers()
    weights.count(np.array(units), None, None, room)
    weights.weigh()
    room.begin()
    row_weights = weights.of(np.array([-5, 7, 7, 0]), np.array([False, False, True, False]), room)
    assert row_weights.tolist() == [
        (3 << 20) // max(units.count(-5), 3),
        (3 << 20) // 1000,
        0,
        (3 << 20) // max(units.count(0), 3),
    ]


def test_units_outside_are_noticed() -> None:
    with pytest.raises(UnexpectedRows):
        Weights(0, 5, BOUNDING).count(np.array([1, 6]), None, None, Buffers())


@pytest.mark.parametrize("at", [None, [0, 1, 1, 2, 0]])
def test_sums_are_exact_to_the_last_bit(at: list[int] | None) -> None:
    """The largest numbers and weights that pass: their products have more bits than a double."""
    grid = Grid(-(2**20), 2**20, Fraction(1), True)
    piece = Component("x", "value", grid.low, grid.high, grid=grid)
    numbers, weights = (
        [2**20, -(2**20) + 1, 2**20 - 1, 3, -7],
        [2**20, 2**20 - 1, 2**20 - 3, 5, 2**20 - 1],
    )
    places = None if at is None else np.array(at, np.intp)
    rows = WeighedRows(places, np.array(weights, np.float64), 5, 3)
    expected = [
        sum(n * w for n, w, p in zip(numbers, weights, at or [0] * 5, strict=True) if p == place)
        for place in range(3 if at else 1)
    ]
    assert np.atleast_1d(rows.sum(np.array(numbers, np.float64), piece)).tolist() == expected
    assert np.atleast_1d(rows.all()).tolist() == [
        sum(w for w, p in zip(weights, at or [0] * 5, strict=True) if p == place)
        for place in range(3 if at else 1)
    ]


def test_one_sum_tells_two_things() -> None:
    rng = random.Random(2)
    piece = Component("x", "value", -(2**19), 2**19)
    numbers = [rng.choice([-(2**19), 2**19, 0, 5]) for _ in range(PART)]
    at = [rng.randint(0, 2) for _ in range(PART)]
    rows = WeighedRows(np.array(at, np.intp), None, PART, 3)
    assert rows.sum_and_count(np.array(numbers, np.float64), piece, Buffers()).tolist() == [
        sum(n for n, p in zip(numbers, at, strict=True) if p == place) for place in range(3)
    ]
    assert rows.all().tolist() == [at.count(place) for place in range(3)]
