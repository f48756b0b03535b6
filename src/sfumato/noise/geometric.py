"""Two-sided geometric noise: Laplace noise on the integers.

*Law*     P(Z = z) = (1 − q)/(1 + q) · q^|z|, with q = e^(−1/scale).
*Draw*    One word gives a sign and 63 bits of a uniform V; |Z| = ⌊−scale·ln V + c⌋ with c =
          scale·ln(2/(1 + q)), because then P(|Z| ≥ k) = P(V ≤ 2q^k/(1 + q)) = 2q^k/(1 + q). The
          floor is taken in double precision where the whole interval of V, widened by MARGIN, gives
          one integer; else that lane alone is settled in ball arithmetic with as many further bits
          as it takes.
*Split*   From scale 2^21 on, a one-sided geometric variable is drawn as quotient and remainder by
          2^k, which are independent: the quotient as above at a scale below 2^21, the remainder
          uniform and accepted with probability e^(−r/scale). A negative zero is drawn again.
*Proof*   docs/proofs/geometric.md. Ghosh, Roughgarden & Sundararajan 2009; lazy refinement after
          Haney et al. 2022.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, between, evaluate, floor, precision
from ..exact.numbers import Number
from ..exact.search import lowest
from .bits import SYSTEM, Bits, Words
from .law import Integers, SummableLaw, place, scale_in_range
from .uniform import lies_below

MARGIN = 2.0**-38
"""Assumed: log of a double in [1, 2^63] errs by less than 2^-39 (2^9 times what is seen); proved:
all other errors stay below 2^-39. In scales.
"""

_SPLIT = 1 << 21
_FEW = 1 << 43  # V below 2^-20 has an interval too wide for the margin: settled exactly
# a remainder's word at or above it may be rejected: e^(−r/scale) ≥ 1 − 2^-20
_DOUBT = (1 << 64) - (1 << 44)
_ONES = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometric(SummableLaw):
    """The two-sided geometric law with q = e^(−1/scale)."""

    scale: Fraction
    # the remainder's bits, 0 for no split
    _shift: int = field(init=False, repr=False, compare=False)
    # |Z| or its quotient is ⌊_top − _slope·ln(word)⌋
    _slope: float = field(init=False, repr=False, compare=False)
    _top: float = field(init=False, repr=False, compare=False)
    _margin: float = field(init=False, repr=False, compare=False)

    def __init__(self, *, scale: Number) -> None:
        b = scale_in_range(scale, "scale")
        shift = max(0, (b.numerator // b.denominator).bit_length() - 21) if b >= _SPLIT else 0
        slope = float(b / (1 << shift))
        put = object.__setattr__
        put(self, "scale", b)
        put(self, "_shift", shift)
        put(self, "_slope", slope)
        put(
            self,
            "_top",
            evaluate(lambda: self._coarse() * 63 * arb(2).log() + (0 if shift else self._offset())),
        )
        put(self, "_margin", slope * MARGIN + 2.0**-50)  # the last for the subtraction of ½

    @property
    def variance(self) -> float:
        return _variance(self.scale)

    def draw(self, bits: Bits = SYSTEM) -> int:
        word = bits.integer(64)
        magnitude = word ^ _ONES if word >> 63 else word
        if self._shift:
            return self._draw_split(word, magnitude, bits)
        x = self._top - self._slope * math.log(magnitude or 1)
        integer = int(x)
        if magnitude >= _FEW and self._margin < x - integer < 1.0 - self._margin:
            return -integer if word >> 63 else integer
        return self._settle(word, bits)

    def _draw_split(self, word: int, magnitude: int, bits: Bits) -> int:
        rest = bits.integer(64)
        x = self._top - self._slope * math.log(magnitude or 1)
        quotient = int(x)
        if rest < _DOUBT and magnitude >= _FEW and self._margin < x - quotient < 1.0 - self._margin:
            z = quotient << self._shift | rest & ((1 << self._shift) - 1)
            if z:
                return -z if word >> 63 else z
        return self._settle_split(word, rest, bits)

    def _fill(self, count: int, bits: Bits) -> Integers:
        split = self._shift > 0
        words = bits.words(2 * count if split else count)
        first = words[:count]
        signed = first.view(np.int64).astype(np.float64)
        magnitude = np.abs(signed)
        np.maximum(magnitude, 1.0, out=magnitude)
        doubt = magnitude < float(_FEW)
        x = np.log(magnitude, out=magnitude)
        x *= -self._slope
        x += self._top
        integers = np.floor(x)
        x -= integers
        x -= 0.5
        np.abs(x, out=x)
        doubt |= x > 0.5 - self._margin
        if split:
            return self._fill_split(first, words[count:], integers, doubt, bits)
        z: Integers = np.copysign(integers, signed, out=integers).astype(np.int64)
        for lane in np.flatnonzero(doubt).tolist():
            z = place(z, lane, self._settle(int(first[lane]), bits))
        return z

    def _fill_split(
        self,
        first: Words,
        rest: Words,
        quotients: NDArray[np.float64],
        doubt: NDArray[np.bool_],
        bits: Bits,
    ) -> Integers:
        doubt |= rest >= np.uint64(_DOUBT)
        z: Integers = quotients.astype(np.int64)
        z <<= self._shift
        z |= rest.view(np.int64) & ((1 << self._shift) - 1)
        doubt |= z == 0
        negative = first.view(np.int64) >> 63  # −1 or 0: (z ^ −1) − (−1) = −z
        z ^= negative
        z -= negative
        for lane in np.flatnonzero(doubt).tolist():
            z = place(z, lane, self._settle_split(int(first[lane]), int(rest[lane]), bits))
        return z

    def _settle(self, word: int, bits: Bits) -> int:
        """Compute the integer of this word and further bits by ball arithmetic alone."""
        magnitude = word ^ _ONES if word >> 63 else word
        known_bits = 63
        while True:
            if magnitude:
                with precision(known_bits + 128):
                    x = -self._coarse() * between(magnitude, magnitude + 1, known_bits).log()
                    integer = floor(x if self._shift else x + self._offset())
                if integer is not None:
                    return -integer if word >> 63 else integer
            magnitude = magnitude << 64 | bits.integer(64)
            known_bits += 64

    def _settle_split(self, word: int, rest: int, bits: Bits) -> int:
        while True:
            quotient = abs(self._settle(word, bits))
            remainder = self._settle_remainder(rest, bits)
            z = quotient << self._shift | remainder
            if z or not word >> 63:
                return -z if word >> 63 else z
            word, rest = bits.integer(64), bits.integer(64)

    def _settle_remainder(self, rest: int, bits: Bits) -> int:
        """Draw r uniform below 2^shift until a uniform A (the upper 28 bits of the word, then fresh
        bits) falls below e^(−r/scale).
        """
        while True:
            r = rest & ((1 << self._shift) - 1)
            if self._accepts(r, rest >> 36, bits):
                return r
            rest = bits.integer(64)

    def _accepts(self, r: int, level: int, bits: Bits) -> bool:
        """Whether the uniform number that begins with these 28 bits lies below e^(−r/scale)."""
        return lies_below(lambda: (-ball(r / self.scale)).exp(), level, 28, bits)

    def _coarse(self) -> arb:
        return ball(self.scale / (1 << self._shift))

    def _q(self) -> arb:
        return (-ball(1 / self.scale)).exp()

    def _offset(self) -> arb:
        return ball(self.scale) * (2 / (1 + self._q())).log()

    def _upper(self, z: int) -> arb:
        return (-ball(z / self.scale)).exp() / (1 + self._q())

    def _near(self, missing: arb) -> int:
        """Solve e^(−(k + 1)/scale)/(1 + q) = missing in doubles."""
        chance, b = float(missing), float(self.scale)
        if not 1e-300 < chance < 1.0:
            return SummableLaw._near(self, missing)
        return max(0, math.ceil(-b * (math.log(chance) + math.log1p(math.exp(-1.0 / b))) - 1.0))

    def _mass(self, z: int) -> arb:
        q = self._q()
        return -(-ball(1 / self.scale)).expm1() / (1 + q) * (-ball(z / self.scale)).exp()

    def rough_tails(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        b = float(self.scale)
        return np.exp(-z / b) / (1.0 + math.exp(-1.0 / b))

    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """E cos(a·Z) = 1/(1 + Var·(1 − cos a))."""
        sines: NDArray[np.float64] = np.sin(angles * 0.5)
        return 1.0 / (1.0 + 2.0 * self.variance * sines**2)

    def _linear_error(
        self, sizes: NDArray[np.float64], often: NDArray[np.int64], missing: Fraction
    ) -> float:
        """By Chernoff: E e^(tZ) = 1/(1 − Var·(cosh t − 1)), so P(Σ ≥ x) ≤ e^(−tx)·Π 1/(1 −
        Var·(cosh(t·w_j) − 1)) for every t below 1/(scale·max w). Any t is valid; a good one is
        looked for.
        """
        largest = float(sizes[-1])
        relative, limit, variance = sizes / largest, float(1 / self.scale), self.variance

        log = math.log(2 / float(missing))

        def rough(t: float) -> float:
            inside = 1.0 - variance * (np.cosh(t * relative) - 1.0)
            if inside.min() <= 0:
                return math.inf
            return (log - float((often * np.log(inside)).sum())) / t

        with np.errstate(over="ignore"):
            t = Fraction(lowest(rough, 0.0, limit, steps=60))

        def bound() -> arb:
            q = self._q()
            variance = 2 * q / (1 - q) ** 2
            logs = sum(
                (
                    int(k)
                    * (1 - variance * (ball(t * Fraction(s) / Fraction(largest)).cosh() - 1)).log()
                    for s, k in zip(sizes, often, strict=True)
                ),
                arb(0),
            )
            return ball(Fraction(largest)) * (ball(2 / missing).log() - logs) / ball(t)

        return evaluate(bound, "up")


@lru_cache(maxsize=4096)
def _variance(scale: Fraction) -> float:
    """Return 2q/(1 − q)², to the nearest double."""

    def formula() -> arb:
        q = (-ball(1 / scale)).exp()
        return 2 * q / (1 - q) ** 2

    return evaluate(formula)
