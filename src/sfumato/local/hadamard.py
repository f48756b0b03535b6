"""Hadamard: report a column of the Hadamard matrix in which the value's row has +1, or with a
smaller probability −1. Hadamard response.

*Law*        K is the least power of two above k; category v has row v + 1 of the K × K Hadamard
             matrix H[r, j] = (−1)^(bits of r & j), half of it +1. With probability t = e^ε/(e^ε +
             1), rounded down, the report is uniform among the columns with +1 in the own row, else
             among the others (Acharya, Sun & Zhang 2019).
*Promise*    Every column has probability 2t/K or 2(1 − t)/K: odds = t/(1 − t) ≤ e^ε.
*Error*      A report supports the categories with +1 in its column: p = t, and q = ½ exactly, as
             two rows agree in half of their columns. At small frequencies n·Var = ((e^ε + 1)/(e^ε −
             1))²: a little more than the best for ε ≤ 1, and never below 1 however large ε is.
*Report*     A column: log₂K bits. The collector needs one fast transform for all of them.
*Proof*      docs/proofs/local-hadamard.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..noise.bits import Bits
from ..records import record
from .client import Question
from .direct import keep_probability
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes, below, flags
from .lib.dyadic_probability import ONE, as_fraction
from .oracle import plain_categories
from .wire_reports import pack_integers, unpack_integers, width_for


@record(kw_only=True)
class Hadamard(FrequencyOracle):
    """Hadamard response."""

    kind = "hadamard"
    keep: int = field(init=False)  # of 2^64

    @keep.default
    def _choose_keep(self) -> int:
        return keep_probability(self.epsilon, 2)

    @property
    def size(self) -> int:
        """Columns of the matrix: a power of two above k."""
        return int(1 << self.k.bit_length())

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep, ONE - self.keep)

    @property
    def most(self) -> int:
        return self.k  # column 0 has +1 everywhere

    @property
    def width(self) -> int:
        return width_for(self.size)

    def constants(self) -> Question:
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.keep),
            "size": self.size,
        }

    def arguments(self) -> Question:
        return {"epsilon": str(self.epsilon)}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        rows, columns = codes + 1, below(self.size, codes.size, bits)
        wrong = negative(rows & columns) == flags(self.keep, codes.size, bits)
        return pack_integers(columns ^ np.where(wrong, rows & -rows, 0), self.width)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return unpack_integers(payload) < self.size

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count the support of each category: row r has (n + Σ ±1)/2, and one transform of the
        histogram of columns gives the sums of all rows.
        """
        histogram = np.bincount(unpack_integers(payload), minlength=self.size)
        return (len(payload) + transform(histogram)[1 : self.k + 1]) // 2


def negative(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell whether each number has an odd number of one bits."""
    return (np.bitwise_count(numbers) & 1).astype(np.bool_)


def transform(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute the Walsh–Hadamard transform along the last axis, whose length is a power of two:
    exact in integers.
    """
    out, length, size = values.copy(), 1, values.shape[-1]
    while length < size:
        pairs = out.reshape(*values.shape[:-1], -1, 2, length)
        left, right = pairs[..., 0, :].copy(), pairs[..., 1, :].copy()
        pairs[..., 0, :], pairs[..., 1, :] = left + right, left - right
        length *= 2
    return out
