"""Datasets on which programs are replayed: the same for all programs of a kind, so that no mutant
has a neighbour made for it alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .replay import Row, added, changed, without_each

NAN, INF = math.nan, math.inf
BIG = 2.0**50

VALUES: list[Any] = [0, 1, 0.25, -1.0, 100, -100, 10**6, NAN, INF, -INF, 1e308, 5e-324, None]
BASES: list[list[Any]] = [
    [],
    [0],
    [1.0, 0.5],
    [0.25] * 5,
    [100, 100, -100, -100],
    [100, -100, 100, -100],
    [2.0, 3.0, 7.0],
    [NAN, 1.0],
    [1e308] * 3,
]

NUMBERS = added(BASES, VALUES)
"""Lists of numbers; a row is added or removed."""
REPLACED = changed(BASES, VALUES)
"""The same; a row is exchanged."""

LARGE = [
    *changed([[BIG] + [BIG + 0.1875] * 1023, [BIG + 0.25] * 1024], [BIG + 1, BIG + 0.5]),
    (
        [2.0**52 + d for d in (1, 1, 1, 0, 0, 0, 1, 0)],
        [2.0**52 + d for d in (1, 1, 0, 1, 0, 0, 0, 1)],
    ),  # the same rows in another order
    ([2.0**53, 1, -(2.0**53)], [2.0**53, -(2.0**53), 1]),
]
"""Numbers so large that a double has no room for small differences: one exchanged, or the order."""

INTEGERS = [
    *added(
        [[], [2**31 - 1], [2**62] * 2, [1, 2, 3], [100, 100, -100, -100]],
        [1, 2**31 - 1, -(2**31), 2**62],
    ),
    ([100, 100, -100, -100], [-100, -100, 100, 100, 100]),
]

TABLES: list[list[Row]] = [
    [],
    [("ada", "Roma", 5)],
    [
        ("ada", "Roma", 5),
        ("bob", "Roma", 3),
        ("cyd", "Bari", 8),
        ("dan", "Bari", 8),
        ("eve", "Pisa", 1),
    ],
    [
        ("ada", "Roma", 5),
        ("bob", "Roma", 3),
        *(("eve", city, 9) for city in ("Roma", "Bari", "Pisa", "Enna") for _ in range(5)),
    ],
    [
        ("ada", "Roma", 5),
        ("bob", "Bari", 5),
        ("cyd", "Pisa", 5),
        *(("eve", city, 5) for city in ("Roma", "Bari", "Pisa")),
    ],
    [
        ("eve", "Bari", 2),
        ("ada", "Roma", 4),
        ("ada", "Bari", 4),
        ("bob", "Roma", 10),
        ("bob", "Roma", 42),
    ],
    [(name, "Roma", i) for i, name in enumerate("abcdefghijkl")],
    [*(("eve", "Roma", i) for i in range(6)), *(("abc"[i // 2], "Roma", i) for i in range(6))],
]
"""Rows of a person, a city and a number."""
PEOPLE = without_each(TABLES)

CITIES = ["Bari", "Enna", "Pisa", "Roma"]

GRID = Fraction(1, 1024)


def steps(value: Any, low: float, high: float, fill: float = 0) -> int:
    """A value on the public grid: what is no number is the fill, then clip, then round. Total: it
    raises for nothing.
    """
    clipped = (
        fill
        if value is None or (isinstance(value, float) and math.isnan(value))
        else min(max(value, low), high)
    )
    return math.floor(Fraction(clipped) / GRID + Fraction(1, 2))


def largest(low: float, high: float) -> int:
    """How far one row of any value moves the sum, in steps."""
    return max(abs(steps(low, low, high)), abs(steps(high, low, high)))
