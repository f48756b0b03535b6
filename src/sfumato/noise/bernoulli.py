"""An exact coin: it shows true with probability p, for any p whose binary digits can be computed.

*Law*     P(B = 1) = p, p rational or e^(−γ) with rational γ ≥ 0.
*Draw*    B = (U < p). Eight bits of U decide all but one draw in 256; the rest compare the next 64
          bits, and so on: only as many digits of p are ever computed as the comparison needs.
*Proof*   docs/proofs/bernoulli.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import Rounding, ball, chance, decide, floor
from ..exact.numbers import Number, non_negative, probability
from . import noise_refusals as refusals
from .bits import SYSTEM, Bits
from .law import Shape, count_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Bernoulli:
    """A coin with P(true) = p, or = e^(−exponent)."""

    p: Fraction | None
    exponent: Fraction | None
    _byte: int = field(init=False, repr=False, compare=False)
    _next: int = field(init=False, repr=False, compare=False)

    def __init__(self, *, p: Number | None = None, exponent: Number | None = None) -> None:
        if (p is None) == (exponent is None):
            raise refusals.PROBABILITY_AND_EXPONENT()
        put = object.__setattr__
        put(self, "p", None if p is None else probability(p, "p", one=True))
        put(self, "exponent", None if exponent is None else non_negative(exponent, "exponent"))
        put(self, "_byte", self.digits(8))
        put(self, "_next", self.digits(72) & ((1 << 64) - 1))

    def digits(self, bits: int) -> int:
        """Return ⌊p · 2^bits⌋."""
        if self.p is not None:
            return (self.p.numerator << bits) // self.p.denominator
        gamma = self.exponent or Fraction(0)
        if gamma == 0:
            return 1 << bits
        if gamma > bits:  # e^(−γ) < 2^(−γ): no digit yet, and none computed
            return 0
        return decide(lambda: floor((-ball(gamma)).exp() * ball(1 << bits)), bits + 32)

    def probability(self, rounding: Rounding = "nearest") -> float:
        """Return p as a double."""
        exponent = self.exponent
        return chance(
            lambda: ball(self.p or Fraction(0)) if exponent is None else (-ball(exponent)).exp(),
            rounding,
        )

    def draw(self, bits: Bits = SYSTEM) -> bool:
        return self._compare(bits.integer(8), 8, bits)

    def sample(self, shape: Shape, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
        """Draw an array of independent exact values."""
        count = count_of(shape)
        first = bits.words(-(-count // 8)).view(np.uint8)[:count]
        if self._byte > 255:
            return np.ones(shape, dtype=np.bool_)
        out = first < np.uint8(self._byte)
        ties = np.flatnonzero(first == np.uint8(self._byte))
        more = bits.words(len(ties))
        out[ties] = more < np.uint64(self._next)
        for lane in ties[more == np.uint64(self._next)]:
            out[lane] = self._compare(self.digits(72), 72, bits)
        return out.reshape(shape)

    def _compare(self, u: int, known_bits: int, bits: Bits) -> bool:
        """Decide U < p for a uniform U whose first `known_bits` bits are u."""
        while True:
            p = self.digits(known_bits)
            if u != p:
                return u < p
            if self.p is not None and p * self.p.denominator == self.p.numerator << known_bits:
                return False  # every further digit of p is 0: U ≥ p
            u = u << 64 | bits.integer(64)
            known_bits += 64
