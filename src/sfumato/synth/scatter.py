"""Scatter rows and values evenly, the same way each time: SplitMix64 (Steele, Lea & Flood 2014).

It is no source of noise and no secret: it turns published noisy counts into rows, so that equal
counts always give equal rows. All noise is drawn in `sfumato.noise`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Scatter:
    """A sequence of mixed words, from a public number."""

    def __init__(self, start: int) -> None:
        self._next = start

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words of 64 bits."""
        z = np.arange(self._next + 1, self._next + 1 + count, dtype=np.uint64) * _STEP
        self._next += count
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
        return mixed

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Return numbers spread over [0, 1)."""
        return (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def order(self, count: int) -> Places:
        """Return the places 0 … count − 1 in a mixed order."""
        return np.argsort(self.words(count), kind="stable")

    def apportion(self, weights: NDArray[np.float64], total: int) -> Places:
        """Divide a whole number in proportion to weights: down, then up for the largest rests."""
        shares = np.maximum(weights, 0.0) + 1e-12
        shares = shares * (total / shares.sum())
        parts: Places = np.floor(shares).astype(np.int64)
        rest = total - int(parts.sum())
        if rest > 0:
            ahead = np.argsort(-(shares - parts) - 1e-9 * self.uniform(len(shares)))
            parts[ahead[:rest]] += 1
        return parts
