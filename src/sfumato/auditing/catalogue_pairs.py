"""Pairs of neighbours for the catalogue: by what a mechanism takes, and hard on it.

*Grown*    Datasets of which one has a record more: empty ones, ones that sit in one cell, and records far outside the range.
*Changed*  Datasets of one size that differ in one record, at the ends of the range and where a median turns.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

Pair = tuple[Any, Any]


Pairs = Callable[[Any], list[Pair]]


def fixed(*pairs: Pair) -> Pairs:
    return lambda _: list(pairs)


NAMES = ["a", "b", "c", "d", "e", "f"]
LETTERS: Pairs = fixed(("a", "b"), ("b", "a"), ("a", "f"), ("c", "d"), ("none of them", "a"))
GROWN: Pairs = fixed(([], [0.5]), ([0.5], []), ([0.5, 1.5, 2.5], [0.5, 1.5, 2.5, 3.5]), ([3.5] * 9, [3.5] * 10), ([1.5] * 4, [1.5] * 4 + [-1e9]))
CHANGED: Pairs = fixed(
    ([0] * 5, [0] * 4 + [10]),
    ([10] * 5, [0] + [10] * 4),
    ([0, 0, 10, 10, 5], [0, 0, 10, 10, 0]),
    ([0, 0, 0, 10, 10], [0, 0, 10, 10, 10]),
    ([1, 2, 3, 4, 5], [1, 2, 9, 4, 5]),
)
STREAMS: Pairs = fixed(([0] * 4, [1, 0, 0, 0]), ([1, 0, 0, 0], [0] * 4), ([0] * 4, [0, 0, 0, 1]), ([5, 5, 5, 5], [5, 6, 5, 5]), ([0, 0, 0, 0], [0, 0, -1, 0]))
VECTORS: Pairs = fixed(([0, 0, 0], [1, 0, 0]), ([0, 0, 0], [0, 0, -1]), ([1, 0, 0], [0, 0, 0]), ([5, 5, 5], [5, 6, 5]), ([9, 0, -9], [9, 0, -8]))
QUERIES: Pairs = fixed(([0, 0, 0], [1, 1, -1]), ([1, 1, -1], [0, 0, 0]), ([0, 0, 0, 0], [-1, -1, -1, 1]), ([1], [0]), ([-1, -1, 1], [0, 0, 0]))
ROWS: Pairs = fixed(([], [1]), ([1], []), ([0, 1], [0, 1, 1]), ([1] * 4, [1] * 5), ([0] * 3, [0] * 3 + [-1]))
WEIGHED: Pairs = fixed(
    (([], []), ([3], [1])),
    (([3], [1]), ([], [])),
    (([0, 10], [1, 1]), ([0, 10, 10], [1, 1, 1])),
    (([0] * 4, [1] * 4), ([0] * 4 + [10], [1] * 5)),
    (([5], [1]), ([5, 0], [1, 1])),
)
CELLS = 8


def losses(*points: Fraction) -> list[list[Fraction]]:
    """|θ − x| for each record x, at the ends of the cells of [0, 1]."""
    return [[abs(Fraction(i, CELLS) - x) for i in range(CELLS + 1)] for x in points]


H = Fraction(1, 2)
PARAMETERS: Pairs = fixed(
    (losses(Fraction(0)), losses(Fraction(1))),
    (losses(Fraction(1)), losses(Fraction(0))),
    (losses(H), losses(Fraction(0))),
    (losses(H, H), losses(H, Fraction(1))),
    (losses(Fraction(0), Fraction(1)), losses(Fraction(1), Fraction(1))),
)
NUMBERS: Pairs = fixed((0.0, 1.0), (1.0, 0.0), (0.0, 0.5), (0.25, 0.75), (float("nan"), 1.0))
TEXTS: Pairs = fixed(("aa", "bb"), ("bb", "aa"), ("", "ab"), ("ab", "ba"), ("zz", "aa"))
PEOPLE: Pairs = fixed(
    ({"one": "a", "two": "c"}, {"one": "b", "two": "d"}),
    ({"one": "b", "two": "d"}, {"one": "a", "two": "c"}),
    ({"one": "a", "two": "c"}, {"one": "a", "two": "d"}),
    ({"one": "a", "two": "d"}, {"one": "b", "two": "d"}),
    ({"one": "b", "two": "c"}, {"one": "a", "two": "d"}),
)

ONE_WAY: Pairs = fixed(([0], [1]), ([1], [0]), ([0, 0, 0], [1, 1, 1]), ([1, 1, 0], [0, 0, 0]), ([0] * 5, [0, 0, 0, 0, 1]))
