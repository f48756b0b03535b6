"""The series behind sums over a stream: roots of the series of ones, and what inverts them.

*Root*      c_j = C(2j, j)/4^j are the coefficients of (1 − u)^(−1/2), whose square is
            1 + u + u² + ….
            A stretch of the stream weighs a period that lies j periods back by an integer near
            2^s·c_j·d_j. The damping d_j = Π_{i≤j} (1 − β/(i + J)) falls like (1 + j/J)^(−β): it
            keeps the sum of squares small where the stretch is far longer than what has passed.
*Inverse*   ℓ(u) = 2^s/((1 − u)·r(u)): ℓ * r = 2^s·(1, 1, …), so ℓ * y are the sums since the
            beginning of the stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, arb_series, ctx, fmpz, fmpz_poly
from numpy.typing import NDArray

from ...exact.balls import ball, floor, precision

FINE = 160
"""Bits of the inverse series."""
_GUARD = 128  # bits beyond the integers in which the root is computed


@dataclass(frozen=True, slots=True)
class Root:
    """The weights of a stretch: `count` integers near 2^bits·c_j·d_j; all after them are 0. The
    damping has the exponent `fall` and the start `after`; none if `fall` is 0.
    """

    count: int
    bits: int
    fall: Fraction = Fraction(0)
    after: int = 0

    @property
    def weights(self) -> tuple[int, ...]:
        """The integers, from the largest to the smallest. None exceeds the one before it."""
        return _weights(self)

    def products(self, periods: int) -> tuple[int, ...]:
        """Σ_j r_j·r_{j+d} for d below `periods`, and below `count`: the products of columns that
        lie d periods apart.
        """
        return _products(self, min(periods, self.count))

    def inverse(self, count: int) -> tuple[int, ...]:
        """ℓ_j·2^FINE for j below `count`, to the nearest integer."""
        return _inverse(self, _padded(count))[:count]

    def gains(self, count: int) -> NDArray[np.float64]:
        """ℓ_j for j below `count`, in doubles."""
        return _gains(self, _padded(count))[:count]


def convolve(
    series: tuple[int, ...], values: list[int], first: int = 0, *, few: int = 16
) -> list[int]:
    """Entries first, first + 1, … of the convolution of a series with n values, up to entry n − 1,
    exactly.
    """
    n = len(values)
    if n - first <= few:
        reverse = values[::-1]
        return [
            sum(map(int.__mul__, series[: t + 1], reverse[n - 1 - t :])) for t in range(first, n)
        ]
    product = fmpz_poly(list(series[:n])) * fmpz_poly(values)
    return [int(product[t]) for t in range(first, n)]


def _padded(count: int) -> int:
    """The next power of two: a stream that grows computes its series anew only then."""
    return 1 << max(count - 1, 15).bit_length()


@lru_cache(maxsize=8)
def _weights(root: Root) -> tuple[int, ...]:
    weights, c = [], 1 << (root.bits + _GUARD)
    top, over = root.fall.numerator, root.fall.denominator
    for j in range(root.count):
        weights.append((c + (1 << (_GUARD - 1))) >> _GUARD)
        c = c * (2 * j + 1) // (2 * j + 2)
        if top:
            place = over * (j + 1 + root.after)
            c = c * (place - top) // place
    return tuple(weights)


@lru_cache(maxsize=16)
def _products(root: Root, periods: int) -> tuple[int, ...]:
    weights = root.weights
    if periods == 1:
        return (sum(r * r for r in weights),)
    product = fmpz_poly(list(weights)) * fmpz_poly(list(weights[::-1]))
    return tuple(int(product[len(weights) - 1 + d]) for d in range(periods))


@lru_cache(maxsize=8)
def _inverse(root: Root, count: int) -> tuple[int, ...]:
    weights = [fmpz(r) for r in root.weights[:count]]
    with precision(FINE + 64 + 4 * count.bit_length()):
        before, ctx.cap = ctx.cap, count
        try:
            series = arb(1 << root.bits) / (arb_series([1, -1]) * arb_series(weights))
            return tuple(
                floor((series[j] * ball(1 << FINE) + ball(Fraction(1, 2))).mid()) or 0
                for j in range(count)
            )
        finally:
            ctx.cap = before


@lru_cache(maxsize=8)
def _gains(root: Root, count: int) -> NDArray[np.float64]:
    gains = np.array([float(gain) for gain in root.inverse(count)]) * 2.0**-FINE
    gains.setflags(write=False)
    return gains
