"""Pairs of neighbours for the catalogue, by type of input, chosen to be hard.

*Grown*    Datasets of which one has a record more: empty ones, ones that sit in one cell, and
           records far outside the range.
*Changed*  Datasets of one size that differ in one record, at the ends of the range and where a
           median turns.
*Once*     An audit looks for events in both directions, so a pair turned round is the same pair:
           five pairs are five without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..mechanisms.above_threshold import AboveThreshold
from .canonical_outputs import Pair

Pairs = Callable[[Any], list[Pair]]


def fixed(*pairs: Pair) -> Pairs:
    return lambda _: list(pairs)


NAMES = ["a", "b", "c", "d", "e", "f"]
LETTERS: Pairs = fixed(("a", "b"), ("e", "f"), ("a", "f"), ("c", "d"), ("none of them", "a"))
ANSWERS: Pairs = fixed(
    ("yes", "no"),
    (["yes", "yes", "yes"], ["yes", "no", "yes"]),
    (["no"] * 4, ["no"] * 3 + ["yes"]),
    (["yes", "no"], ["no", "no"]),
    (["no", "yes", "yes", "no", "yes"], ["no", "yes", "yes", "no", "no"]),
)
"""With two categories one person has one pair only; in the other pairs several people answer at
once, and one of them changes.
"""
GROWN: Pairs = fixed(
    ([], [0.5]),
    ([0.5, 3.5], [0.5, 0.5, 3.5]),
    ([0.5, 1.5, 2.5], [0.5, 1.5, 2.5, 3.5]),
    ([3.5] * 9, [3.5] * 10),
    ([1.5] * 4, [1.5] * 4 + [-1e9]),
)
CHANGED: Pairs = fixed(
    ([0] * 5, [0] * 4 + [10]),
    ([10] * 5, [0] + [10] * 4),
    ([0, 0, 10, 10, 5], [0, 0, 10, 10, 0]),
    ([0, 0, 0, 10, 10], [0, 0, 10, 10, 10]),
    ([1, 2, 3, 4, 5], [1, 2, 9, 4, 5]),
)
STREAMS: Pairs = fixed(
    ([0] * 4, [1, 0, 0, 0]),
    ([0] * 4, [0, 1, 0, 0]),
    ([0] * 4, [0, 0, 0, 1]),
    ([5, 5, 5, 5], [5, 6, 5, 5]),
    ([0, 0, 0, 0], [0, 0, -1, 0]),
)
VECTORS: Pairs = fixed(
    ([0, 0, 0], [1, 0, 0]),
    ([0, 0, 0], [0, 0, -1]),
    ([0, 0, 0], [0, 1, 0]),
    ([5, 5, 5], [5, 6, 5]),
    ([9, 0, -9], [9, 0, -8]),
)
QUERIES: Pairs = fixed(
    ([0, 0, 0], [1, 1, -1]),
    ([0] * 6, [-1] * 5 + [1]),
    ([0, 0, 0, 0], [-1, -1, -1, 1]),
    ([1], [0]),
    ([-1, -1, 1], [0, 0, 0]),
)
ROWS: Pairs = fixed(
    ([], [1]), ([1], [1, 1]), ([0, 1], [0, 1, 1]), ([1] * 4, [1] * 5), ([0] * 3, [0] * 3 + [-1])
)
WEIGHED: Pairs = fixed(
    (([], []), ([3], [1])),
    (([3], [1]), ([3, 3], [1, 1])),
    (([0, 10], [1, 1]), ([0, 10, 10], [1, 1, 1])),
    (([0] * 4, [1] * 4), ([0] * 4 + [10], [1] * 5)),
    (([5], [1]), ([5, 0], [1, 1])),
)
CELLS = 8
# deviations of the prior: a range in which two records at its ends are told apart as well as any
FAR = 4


def losses(*points: Fraction, low: int = 0, high: int = 1) -> list[list[Fraction]]:
    """Compute |θ − x| for each record x, at the ends of the cells of the range."""
    return [
        [abs(low + Fraction(i * (high - low), CELLS) - x) for i in range(CELLS + 1)] for x in points
    ]


def far(*points: int) -> list[list[Fraction]]:
    return losses(*map(Fraction, points), low=-FAR, high=FAR)


H = Fraction(1, 2)
PARAMETERS: Pairs = fixed(
    (losses(Fraction(0)), losses(Fraction(1))),
    (losses(Fraction(0), Fraction(0)), losses(Fraction(0), Fraction(1))),
    (losses(H), losses(Fraction(0))),
    (losses(H, H), losses(H, Fraction(1))),
    (losses(Fraction(0), Fraction(1)), losses(Fraction(1), Fraction(1))),
)
FAR_APART: Pairs = fixed(
    (far(-FAR), far(FAR)),
    (far(0), far(FAR)),
    (far(0, FAR), far(0, -FAR)),
    (far(1, 1), far(1, -1)),
    (far(-FAR, 0, FAR), far(-FAR, FAR, FAR)),
)
NUMBERS: Pairs = fixed((0.0, 1.0), (0.5, 1.0), (0.0, 0.5), (0.25, 0.75), (float("nan"), 1.0))
TEXTS: Pairs = fixed(("aa", "bb"), ("bb", "ab"), ("", "ab"), ("ab", "ba"), ("zz", "aa"))
PEOPLE: Pairs = fixed(
    ({"one": "a", "two": "c"}, {"one": "b", "two": "d"}),
    ({"one": "b", "two": "c"}, {"one": "b", "two": "d"}),
    ({"one": "a", "two": "c"}, {"one": "a", "two": "d"}),
    ({"one": "a", "two": "d"}, {"one": "b", "two": "d"}),
    ({"one": "b", "two": "c"}, {"one": "a", "two": "d"}),
)
HISTORIES: Pairs = fixed(
    (("a", "a", "a"), ("b", "b", "b")),
    (("a", "a", "b"), ("a", "b", "b")),  # another moment of change
    (("a", "b", "a"), ("a", "b", "c")),  # a return
    (("c", "c", "c"), ("a", "b", "a")),
    (("none of them", "a", "b"), ("b", "none of them", "c")),
)
"""Values of one person in three waves of a panel."""


def queries(m: AboveThreshold) -> list[Pair]:
    """Add a pair that loses nearly all of the promised ε, by rare answers: no far above the
    threshold, then yes far below it.
    """
    far = math.ceil(40 / m.epsilon)
    return [*QUERIES(m), ([far] * 3 + [-far], [far - 1] * 3 + [1 - far])]


ONE_WAY: Pairs = fixed(
    ([0], [1]),
    ([0, 0], [0, 1]),
    ([0, 0, 0], [1, 1, 1]),
    ([1, 1, 0], [0, 0, 0]),
    ([0] * 5, [0, 0, 0, 0, 1]),
)
