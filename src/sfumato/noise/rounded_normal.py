"""Gaussian noise on the integers: a real normal variable, rounded to the nearest integer.

*Law*     Z = ⌊σX + ½⌋ with X standard normal: P(Z ≥ z) = Φ(−(z − ½)/σ).
*Draw*    A cell of the half-normal from a certified table, a uniform point in it, an accept test
          (normal_cells.py), a sign. The test needs only exp of a number in [−½, 0], decided
          in double precision where MARGIN allows, else in ball arithmetic; the product σ·x and its
          rounding need only IEEE arithmetic, with a proved error. So doubt is rare at every σ.
*Split*   From σ = 2^21 on only the leading part ⌊(σx + ½)/2^k⌋ is taken from x; the k low bits are
          drawn anew, uniform and accepted with the ratio of densities, which is above 1 − 2^-15.
*Proof*   docs/proofs/rounded-normal.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, between, evaluate, floor, normal_cdf, precision
from ..exact.numbers import Number
from .bits import CHUNK, SYSTEM, Bits, Words
from .continuous import Normal
from .law import Integers, SummableLaw, place, scale_in_range
from .normal_cells import FAR, GUIDE_BITS, UNSURE, WIDTH, settle_cell, table

MARGIN = 2.0**-40
"""Assumed: exp of a double in [−½, 0] errs by less than 2^-41 (2^11 times what is seen); proved:
all other errors of the accept test stay below 2^-41.
"""

_SPLIT = 1 << 21
_HALF_SQUARE = float(WIDTH * WIDTH / 2)
# the word of a proposal: 15 bits of the cell, a sign, 48 bits of the accept test
_LEVEL = (1 << 48) - 1
# low bits whose word is at or above it may be rejected: the density ratio is above 1 − 2^-15
_DOUBT = (1 << 64) - (1 << 49)
_NEAR = 1 << 24  # leading parts below it lie within 16 standard deviations, where _DOUBT holds
_LOW = np.uint64((1 << (64 - GUIDE_BITS)) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedNormal(SummableLaw):
    """A normal variable with mean 0 and standard deviation sigma, rounded to the nearest
    integer.
    """

    sigma: Fraction
    # low bits drawn anew, 0 for no split
    _shift: int = field(init=False, repr=False, compare=False)
    # the leading part is ⌊_slope·(j + u) + _half⌋
    _slope: float = field(init=False, repr=False, compare=False)
    _half: float = field(init=False, repr=False, compare=False)
    _margin: float = field(init=False, repr=False, compare=False)

    def __init__(self, *, sigma: Number) -> None:
        s = scale_in_range(sigma, "sigma")
        shift = max(0, (s.numerator // s.denominator).bit_length() - 21) if s >= _SPLIT else 0
        put = object.__setattr__
        put(self, "sigma", s)
        put(self, "_shift", shift)
        put(self, "_slope", float(s * WIDTH / (1 << shift)))
        put(self, "_half", 2.0 ** -(shift + 1))
        put(self, "_margin", float(s / (1 << shift)) * 2.0**-46 + 2.0**-50)

    @property
    def variance(self) -> float:
        """The variance: σ² + 1/12 up to a relative e^(−2π²σ²), which is summed where it matters."""
        if self.sigma >= 4:
            return float(self.sigma**2 + Fraction(1, 12))
        last = math.ceil(40 * self.sigma) + 2
        return evaluate(
            lambda: sum((2 * (2 * k - 1) * self._upper(k) for k in range(1, last)), arb(0))
        )

    def draw(self, bits: Bits = SYSTEM) -> int:
        guide = table().cell_of
        while True:
            word, point = bits.integer(64), bits.integer(64)
            j = guide[word >> 49]
            if j == UNSURE:
                j = _find(word, bits.integer(64), bits)
            u = point * 2.0**-64
            excess = math.exp(-_HALF_SQUARE * u * (2 * j + u)) - (word & _LEVEL) * 2.0**-48
            if excess < -MARGIN and j < FAR:
                continue
            x = self._slope * (j + u) + self._half
            leading = int(x)
            if excess < MARGIN or j >= FAR or not self._margin < x - leading < 1.0 - self._margin:
                settled = self._settle(word & _LEVEL, j, point, bits)
                if settled is None:
                    continue
                leading = settled
            if self._shift:
                leading = self._append(leading, bits.integer(64), bits)
            return -leading if word >> 48 & 1 else leading

    def _fill(self, count: int, bits: Bits) -> Integers:
        tried = min(CHUNK, count + count // 64 + 2)  # one proposal in 80 is rejected
        words = bits.words((3 if self._shift else 2) * tried)
        word, point = words[:tried], words[tried : 2 * tried]
        cell = table().guide.take((word >> np.uint64(64 - GUIDE_BITS)).view(np.int64))
        unsure = np.flatnonzero(cell == UNSURE)
        cell[unsure], ties = _find_each(word[unsure], bits)
        j = cell.astype(np.float64)
        u = _unit(point)
        test = j + u
        x = test * self._slope
        x += self._half
        test += j
        test *= u
        test *= -_HALF_SQUARE
        np.exp(test, out=test)
        level = (word & np.uint64(_LEVEL)).view(np.int64).astype(np.float64)
        level *= 2.0**-48
        test -= level
        accepted = test > 0.0
        doubt = np.abs(test, out=test) < MARGIN
        leading = np.floor(x)
        x -= leading
        x -= 0.5
        np.abs(x, out=x)
        doubt |= x > 0.5 - self._margin
        rest = words[2 * tried :]
        z: Integers = leading.astype(np.int64)
        if self._shift:
            z <<= self._shift
            z |= rest.view(np.int64) & ((1 << self._shift) - 1)
            doubt |= rest >= np.uint64(_DOUBT)
            doubt |= z == 0
        negative = (word << np.uint64(GUIDE_BITS)).view(
            np.int64
        ) >> 63  # −1 or 0: (z ^ −1) − (−1) = −z
        z ^= negative
        z -= negative
        far = {int(unsure[tie]): settled for tie, settled in ties.items()}
        doubt[list(far)] = True
        for lane in np.flatnonzero(doubt).tolist():
            settled = self._settle(
                int(word[lane]) & _LEVEL, far.get(lane, int(cell[lane])), int(point[lane]), bits
            )
            accepted[lane] = settled is not None
            if settled is not None:
                magnitude = self._append(settled, int(rest[lane]), bits) if self._shift else settled
                z = place(z, lane, -magnitude if negative[lane] else magnitude)
        return z[accepted][:count]

    def _settle(self, level: int, j: int, point: int, bits: Bits) -> int | None:
        """Compute the leading part of |Z| from these bits and further ones by ball arithmetic; None
        if the proposal is rejected.
        """
        # known bits of the point; bits of the accept test beyond its first 48
        known_bits, more_bits = 64, 0
        accepted = False
        while True:
            with precision(known_bits + 128):
                u = between(point, point + 1, known_bits)
                if not accepted:
                    wall = (-ball(WIDTH * WIDTH) * u * (j + u / 2)).exp()
                    here = between(level, level + 1, 48 + more_bits)
                    if here >= wall:
                        return None
                    accepted = bool(here <= wall)
                if accepted:
                    x = ball(self.sigma * WIDTH / (1 << self._shift)) * (j + u) + ball(
                        Fraction(1, 2 << self._shift)
                    )
                    leading = floor(x)
                    if leading is not None:
                        return leading
            point = point << 64 | bits.integer(64)
            known_bits += 64
            if not accepted:
                level = level << 64 | bits.integer(64)
                more_bits += 64

    def _append(self, leading: int, rest: int, bits: Bits) -> int:
        """Complete |Z| from its leading part: the low bits r are uniform, with a real v in
        [r, r + 1) accepted by the density at leading·2^k + v − ½.
        """
        while True:
            r = rest & ((1 << self._shift) - 1)
            if rest < _DOUBT and leading < _NEAR and (leading or r):
                return leading << self._shift | r
            if self._accepts(leading << self._shift, r, rest >> 36, bits):
                return leading << self._shift | r
            rest = bits.integer(64)

    def _accepts(self, base: int, r: int, level: int, bits: Bits) -> bool:
        known_bits, fine_bits, v = 28, 64, r << 64 | bits.integer(64)
        if base == 0 and v < 1 << 63:
            return False  # |σX| + ½ is at least ½
        start = max(Fraction(2 * base - 1, 2), Fraction(0)) ** 2
        while True:
            with precision(fine_bits + 192):
                here = between(level, level + 1, known_bits)
                wall = (
                    (
                        ball(start)
                        - (between(v, v + 1, fine_bits) + ball(Fraction(2 * base - 1, 2))) ** 2
                    )
                    / (2 * ball(self.sigma**2))
                ).exp()
                if here <= wall:
                    return True
                if here >= wall:
                    return False
            level, v = level << 64 | bits.integer(64), v << 64 | bits.integer(64)
            known_bits, fine_bits = known_bits + 64, fine_bits + 64

    def _upper(self, z: int) -> arb:
        return normal_cdf(-ball(Fraction(2 * z - 1, 2) / self.sigma))

    def _near(self, missing: arb) -> int:
        """Solve Φ(−(k + ½)/σ) = missing in doubles."""
        chance = float(missing)
        if not 1e-300 < chance < 1.0:
            return SummableLaw._near(self, missing)
        return max(0, math.ceil(-float(self.sigma) * NormalDist().inv_cdf(chance) - 0.5))

    def _mass(self, z: int) -> arb:
        return self._upper(z) - self._upper(z + 1) if z else 1 - 2 * self._upper(1)

    def rough_tails(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtr

        return np.asarray(ndtr(-(z - 0.5) / float(self.sigma)), dtype=np.float64)

    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By Poisson's sum: E cos(a·Z) = Σ_k e^(−σ²b²/2)·sin(b/2)/(b/2), b = a + 2πk. Terms below
        e^−29 are left out.
        """
        sigma = float(self.sigma)
        near = angles - 2 * math.pi * np.round(angles / (2 * math.pi))
        last = math.floor((7.7 / (math.pi * sigma) + 1) / 2)
        total = np.zeros_like(near)
        for k in range(-last, last + 1):
            shifted = near + 2 * math.pi * k
            total += np.exp(-0.5 * (sigma * shifted) ** 2) * np.sinc(shifted / (2 * math.pi))
        return total

    def _linear_error(
        self, sizes: NDArray[np.float64], often: NDArray[np.int64], missing: Fraction
    ) -> float:
        """By the normal quantile, and Σ|w_j|/2 for the rounding."""
        each = [(Fraction(s), int(k)) for s, k in zip(sizes, often, strict=True)]
        norm = sum((s**2 * k for s, k in each), Fraction(0))
        half = sum((s * k for s, k in each), Fraction(0)) / 2
        z = Fraction(Normal(sigma=1).quantile(1 - missing / 2, "up"))
        return evaluate(lambda: ball(z * self.sigma) * ball(norm).sqrt() + ball(half), "up")


def _unit(words: Words) -> NDArray[np.float64]:
    """Return words·2^-64 to the nearest double. It converts halves, because converting a full
    unsigned word branches on its first bit, which is a fair coin.
    """
    u = (words >> np.uint64(32)).view(np.int64).astype(np.float64)
    u *= 2.0**32
    u += (words & np.uint64((1 << 32) - 1)).view(np.int64)  # the only rounding
    u *= 2.0**-64
    return u


def _find(word: int, more: int, bits: Bits) -> int:
    """Find the cell of the uniform number that begins with the word's first 15 bits, then the bits
    of `more`.
    """
    ends = table().ends
    full_word = (word >> 49) << 49 | more >> GUIDE_BITS
    j = bisect_right(ends, full_word)
    return (
        settle_cell(full_word, bits)
        if j == len(ends) or (j and int(ends[j - 1]) == full_word)
        else j
    )


def _find_each(words: Words, bits: Bits) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Find the cells of many words. Also return, by index, the few cells that needed more bits, as
    they may be any integers.
    """
    ends = table().ends
    full_words = words & ~_LOW | bits.words(len(words)) >> np.uint64(GUIDE_BITS)
    cells = ends.searchsorted(full_words, side="right")
    unsettled = (cells == len(ends)) | (ends[np.maximum(cells, 1) - 1] == full_words)
    return cells, {
        int(lane): settle_cell(int(full_words[lane]), bits) for lane in np.flatnonzero(unsettled)
    }
