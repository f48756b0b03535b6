"""Runs of weighted points: sorted, merged and cut as the definition has it, with distances that are
exact up to the last bit of 62.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.mechanisms.shared import weighted_runs
from sfumato.mechanisms.shared.bounded_data import Range
from sfumato.mechanisms.shared.weighted_runs import FAR, PointRuns, blocks, group_points

from ..refusing import refusal

RANGE = Range(0, 9, 1)


def distances(runs: PointRuns) -> list[Fraction]:
    return [
        Fraction(int(h)) + Fraction(int(k), runs._denominator)
        for h, k in zip(runs._hi, runs._lo, strict=True)
    ]


def by_definition(
    points: list[int], weights: list[int], z: int, q: Fraction, shift: int, ends: Range = RANGE
) -> Fraction:
    total = sum(weights)
    less, upto = (
        sum(w for p, w in zip(points, weights, strict=True) if test(p))
        for test in (lambda p: p < z, lambda p: p <= z)
    )
    above = less - q * total + shift if z > ends.first else Fraction(0)
    under = q * total - upto - shift if z < ends.last else Fraction(0)
    return max(above, under, Fraction(0))


@pytest.mark.parametrize(
    "q", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(999, 1000), Fraction(1)]
)
@pytest.mark.parametrize("shift", [0, 3, -3, 1000, FAR, -FAR])
@pytest.mark.parametrize("unit", [1, 1 << 20, (1 << 62) // 250])
def test_every_point_has_its_distance(q: Fraction, shift: int, unit: int) -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        n = int(generator.integers(0, 8))
        points, weights = (
            generator.integers(0, 10, size=n).tolist(),
            [int(w) * unit for w in generator.integers(0, 30, size=n)],
        )
        runs = PointRuns(
            group_points(
                np.zeros(n, dtype=np.int64),
                np.array(points, dtype=np.int64),
                np.array(weights, dtype=np.int64),
                1,
                RANGE,
            ),
            0,
            1,
            q,
            shift,
        )
        by_point = [
            d for d, size in zip(distances(runs), runs.sizes, strict=True) for _ in range(size)
        ]
        assert by_point == [by_definition(points, weights, z, q, shift) for z in range(10)]
        assert min(by_point) == 0
        assert runs.firsts[0] == 0
        assert int(runs.sizes.sum()) == 10


def test_python_integers_take_over() -> None:
    """Beyond 2^62; the same numbers, and the same as 64-bit integers where those would do."""
    points, q = [1, 4, 4, 8], Fraction(1, 3)
    for unit in (1 << 20, 1 << 61, 1 << 90):
        weights = [3 * unit, unit, 2 * unit + 1, 5 * unit]
        runs = PointRuns(
            group_points(
                np.zeros(4, dtype=np.int64), points, np.array(weights, dtype=object), 1, RANGE
            ),
            0,
            1,
            q,
            7,
        )
        assert (runs._hi.dtype == object) == (unit > 1 << 60)
        by_point = [
            d for d, size in zip(distances(runs), runs.sizes, strict=True) for _ in range(size)
        ]
        assert by_point == [by_definition(points, weights, z, q, 7) for z in range(10)]
        rate = Fraction(1, unit)
        assert np.allclose(
            runs.exponents(rate), [-float(rate * d) for d in distances(runs)], rtol=1e-14
        )
    huge = np.array(
        [1 << 61, 1 << 61, 1 << 61], dtype=np.int64
    )  # each fits, and their sum does not
    runs = PointRuns(
        group_points(np.zeros(3, dtype=np.int64), [2, 5, 7], huge, 1, RANGE),
        0,
        1,
        Fraction(1, 2),
        0,
    )
    assert distances(runs)[runs.firsts.tolist().index(5)] == 0


@pytest.mark.parametrize(
    "rate", [Fraction(1), Fraction(10) ** 300, Fraction(1, 10**9), Fraction(2, 3)]
)
def test_exponents_are_right_to_a_few_bits(rate: Fraction) -> None:
    """Each is right to 2^-50 of itself, as `choose_each` assumes, or at most −800 where e^x hardly
    counts.
    """
    generator = np.random.default_rng(2)
    weights = generator.integers(0, 1 << 50, size=200)
    runs = PointRuns(
        group_points(np.zeros(200, dtype=np.int64), np.arange(200), weights, 1, Range(0, 255, 1)),
        0,
        1,
        Fraction(7, 1000003),
        5,
    )
    for exponent, distance in zip(runs.exponents(rate).tolist(), distances(runs), strict=True):
        truth = -rate * distance
        if truth >= -900:
            assert abs(Fraction(exponent) - truth) <= abs(truth) / 2**50
        else:
            assert exponent <= -800


def test_rows_in_any_order() -> None:
    generator = np.random.default_rng(3)
    of, at, weight = (
        generator.integers(0, 50, size=2000),
        generator.integers(-5, 15, size=2000),
        generator.integers(0, 100, size=2000),
    )
    sorted_ = np.lexsort((at, of))
    shuffled, ordered = (
        group_points(of, at, weight, 50, RANGE),
        group_points(of[sorted_], at[sorted_], weight[sorted_], 50, RANGE),
    )
    wide = group_points(
        of, at, weight, 50, Range(0, 9 << 57, 1 << 57)
    )  # too many points for one key
    for a, b, c in zip(shuffled, ordered, wide, strict=True):
        assert a.tolist() == b.tolist()
        assert len(a) >= len(c)
    for g in range(50):
        for z in range(10):
            inside = weight[(of == g) & (np.clip(at, 0, 9) == z)].sum()
            here = slice(shuffled.begins[g], shuffled.begins[g + 1])
            assert shuffled.weights[here][shuffled.points[here] == z].sum() == inside


def test_the_ends_are_in_every_group_and_others_in_none() -> None:
    rows = group_points([7, 1, -1, 3, 1], [5, 5, 5, 5, 99], [1, 2, 4, 8, -16], 3, RANGE)
    assert [
        rows.points[a:b].tolist() for a, b in zip(rows.begins, rows.begins[1:], strict=False)
    ] == [[0, 9], [0, 5, 9], [0, 9]]
    assert [
        rows.weights[a:b].tolist() for a, b in zip(rows.begins, rows.begins[1:], strict=False)
    ] == [[0, 0], [0, 2, 0], [0, 0]]
    point = group_points([0], [3], [1], 2, Range(4, 4.5, 1))
    assert point.points.tolist() == [4, 4]
    assert point.weights.tolist() == [1, 0]


def test_blocks_cover_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = group_points(
        np.repeat(np.arange(30), 8),
        np.tile(np.arange(8), 30),
        np.ones(240, dtype=np.int64),
        30,
        RANGE,
    )
    assert list(blocks(rows, 30)) == [(0, 30)]
    monkeypatch.setattr(weighted_runs, "_BLOCK", 40)
    parts = list(blocks(rows, 30))
    assert [a for a, _ in parts] == [0, *(b for _, b in parts[:-1])]
    assert parts[-1][1] == 30
    assert all(b > a for a, b in parts)
    monkeypatch.setattr(weighted_runs, "_BLOCK", 1)
    assert list(blocks(rows, 30)) == [(g, g + 1) for g in range(30)]


@pytest.mark.parametrize(
    ("groups", "points", "weights"),
    [
        ([0], [0.5], [1]),
        ([0], [1], [0.5]),
        ([0], [1], [True]),
        ([0], ["1"], [1]),
        ([0, 0], [1], [1]),
        ([0], [1], [1, 2]),
        (np.zeros((1, 1), int), [1], [1]),
    ],
    ids=str,
)
def test_what_is_refused(groups: Any, points: Any, weights: Any) -> None:
    refusal(lambda: group_points(groups, points, weights, 1, RANGE), "value.type")


@pytest.mark.parametrize(
    "empty", [[], np.array([]), np.array([], dtype=np.int64), np.array([], dtype=object)], ids=repr
)
def test_nothing_at_all(empty: Any) -> None:
    rows = group_points(empty, empty, empty, 2, RANGE)
    assert rows.points.tolist() == [0, 9, 0, 9]
