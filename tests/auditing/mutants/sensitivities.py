"""Sensitivities that are stated, beside every pair of neighbours of a small world."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from .arithmetic import Moves, removed, replaced, tuples
from .case import Case, case

_VALUES = (0, 1, 2, 3)

_ROWS = tuple(product((0, 1), repeat=2))


def centred(data: tuple[int, ...]) -> Fraction:
    """The sum of numbers from 0 to 3, each counted from the middle."""
    return sum((Fraction(v) - Fraction(3, 2) for v in data), Fraction(0))


def histogram(data: tuple[int, ...]) -> list[int]:
    return [data.count(k) for k in _VALUES]


def cells(data: tuple[Any, ...]) -> Fraction:
    return Fraction(sum(map(sum, data)), sum(map(len, data)))


def without_neighbours() -> int:
    """How far the count of ones moves between datasets of one size whose symmetric difference is at
    most 1: there are none but equal ones.
    """
    world = tuples((0, 1), 3)
    return max(
        (
            abs(sum(a) - sum(b))
            for a in world
            for b in world
            if a != b and 2 * sum(p != q for p, q in zip(sorted(a), sorted(b), strict=True)) <= 1
        ),
        default=0,
    )


def sampled_reach(domain: Sequence[int]) -> int:
    """The largest move seen among random neighbours whose records come from a guess at the data."""
    generator = np.random.default_rng(7)
    drawn = generator.choice(domain, (500, 4))
    return int(max(abs(max(row[:3]) - max([*row[:2], row[3]])) for row in drawn))


def _moves(statistic: Any, stated: Any, world: Any, neighbours: Any) -> Moves:
    return Moves(statistic=statistic, stated=stated, world=world, neighbours=neighbours)


CASES: dict[str, Case] = {
    "integer-division": case(
        "half of an odd range by integer division",
        "half of it, exactly",
        "B7",
        _moves(centred, lambda: (3 - 0) // 2, tuples(_VALUES, 1, 2), removed),
        _moves(centred, lambda: Fraction(3 - 0, 2), tuples(_VALUES, 1, 2), removed),
    ),
    "histogram-one": case(
        "a histogram with sensitivity 1 where a row is exchanged",
        "sensitivity 2: it leaves one bin and enters another",
        "E-13, D17",
        _moves(histogram, lambda: 1, tuples(_VALUES, 1, 2, 3), replaced(_VALUES)),
        _moves(histogram, lambda: 2, tuples(_VALUES, 1, 2, 3), replaced(_VALUES)),
    ),
    "cells-for-people": case(
        "the mean of a table's cells, with noise for one cell",
        "for one row",
        "E-04",
        _moves(cells, lambda: Fraction(1, 2 * 2), tuples(_ROWS, 2), replaced(_ROWS)),
        _moves(cells, lambda: Fraction(1, 2), tuples(_ROWS, 2), replaced(_ROWS)),
    ),
    "no-neighbours": case(
        "neighbours at distance 1 among datasets of one size: there are none, and nothing moves",
        "at distance 2",
        "E-35",
        _moves(sum, without_neighbours, tuples((0, 1), 3), replaced((0, 1))),
        _moves(sum, lambda: 1, tuples((0, 1), 3), replaced((0, 1))),
    ),
    "sampled-sensitivity": case(
        "the largest move among random pairs, taken for the largest move",
        "the largest move",
        "E-38",
        _moves(
            max, lambda: sampled_reach(range(4)), tuples(range(0, 11, 5), 3), replaced(range(11))
        ),
        _moves(max, lambda: 10, tuples(range(0, 11, 5), 3), replaced(range(11))),
    ),
    "count-in-people": case(
        "a sum of numbers up to 3, with the sensitivity of a count",
        "with 3",
        "D17",
        _moves(sum, lambda: 1, tuples(range(4), 1, 2), removed),
        _moves(sum, lambda: 3, tuples(range(4), 1, 2), removed),
    ),
}
