"""Laws of integer noise at two inputs, on finitely many cells.

*Window*  One cell for each integer around both inputs, runs of integers farther out where the noise
          is wide, and the two tails, which begin where less than 10⁻¹⁰⁰ is left, or at the inputs
          themselves. Inputs so far apart that doubles forget a tail have no law here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import chance
from ..noise.law import SymmetricLaw
from .canonical_outputs import Outputs
from .law_pair import LawPair

_REACH = 60  # deviations of the noise that a window spans on each side at most
_SMALLEST = 1e-100  # what lies farther out is in the tails
_LEAST = 1e-300  # no cell is less likely: doubles would forget its last bits, and then all of it
EACH = 600
"""Integers with a cell of their own."""


def noise_law_pair(
    law: SymmetricLaw, x: int, y: int, place: str = "", step: float = 1.0
) -> LawPair | None:
    """Build the laws of value + noise for two integers on a grid of this step, cell by cell. None
    where the integers are too far apart for doubles.
    """
    starts, p, q = _window(law, y - x)
    if min(*p, *q) < _LEAST:
        return None
    starts = tuple(x + start for start in starts)
    names = tuple(
        _interval(a, b, step) for a, b in zip([None, *starts], [*starts, None], strict=True)
    )
    edges = np.array([float(s) for s in starts]) * step

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        values = drawn.numbers.get(place)
        if values is None:
            return np.full(len(drawn), len(names))
        return np.where(np.isnan(values), len(names), np.searchsorted(edges, values, side="right"))

    return LawPair(p, q, names, cell)


@lru_cache(maxsize=256)
def _window(
    law: SymmetricLaw, apart: int
) -> tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    """Compute cells and masses for the inputs 0 and `apart`: only the difference matters."""
    starts = tuple(_starts(law, 0, apart))
    return starts, _masses(law, starts, 0), _masses(law, starts, apart)


def _starts(law: SymmetricLaw, x: int, y: int) -> list[int]:
    """Choose the first integer of every cell except the lower tail. No cell lies so far out that
    its mass underflows.
    """
    low, high = min(x, y), max(x, y)
    far = max(2, int(_REACH * float(law.variance) ** 0.5) + 2)
    near = (
        range(low - EACH // 2, high + EACH // 2 + 1)
        if high - low <= EACH
        else [low, low + 1, high, high + 1]
    )
    wide = {int(w) for w in np.geomspace(1, far, 240)} if far > EACH // 2 else set()
    points = {*near, *(low - w for w in wide), *(high + w for w in wide)}
    reach = next((k for k in _shrinking_distances(far) if law.tail(k + high - low) > _SMALLEST), 0)
    return sorted(p for p in points if low - reach <= p <= high + reach)


def _shrinking_distances(far: int) -> Iterator[int]:
    """Yield distances from `far` down to 0, each nine tenths of the one before."""
    while far > 1:
        yield far
        far = far * 9 // 10
    yield from (1, 0)


def _masses(law: SymmetricLaw, starts: tuple[int, ...], value: int) -> tuple[float, ...]:
    """Compute P(value + Z in each cell), each to the nearest double."""

    def between(a: int, b: int) -> float:
        return (
            float(law.pmf(a - value))
            if b - a == 1
            else chance(lambda: _between(law, a - value, b - value))
        )

    inner = [between(a, b) for a, b in pairwise(starts)]
    return float(law.cdf(starts[0] - 1 - value)), *inner, float(law.tail(starts[-1] - value))


def _between(law: SymmetricLaw, a: int, b: int) -> arb:
    """Compute P(a ≤ Z < b) from the smaller tail."""
    return law._tail(a) - law._tail(b) if a > 0 else law._tail(1 - b) - law._tail(1 - a)


def _interval(first: int | None, end: int | None, step: float) -> str:
    if first is None:
        return f"< {(end or 0) * step:g}"
    if end is None:
        return f"≥ {first * step:g}"
    return f"{first * step:g}" if end - first == 1 else f"{first * step:g} … {(end - 1) * step:g}"
