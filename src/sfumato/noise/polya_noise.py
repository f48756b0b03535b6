"""Shares of two-sided geometric noise: enough of them add up to exactly that law.

*Law*     Z = G − H with G, H independent and P(G = k) = C(k + r − 1, k)·(1 − q)^r·q^k for k ≥ 0,
          q = e^(−1/scale), r = 1/parts: negative binomial (Pólya). The sum of `parts` independent
          Z has the law of `Geometric(scale)`, because (1 − q·x)^(−r) to the power of 1/r is
          1/(1 − q·x).
*Draw*    G: a two-sided geometric number K that is not negative is one-sided geometric. It is
          accepted with probability a_K = Π_{j ≤ K} ((j − 1)·parts + 1)/(j·parts), by one exact coin
          for each factor; P(G = k) ∝ q^k·a_k.
*Proof*   docs/proofs/polya.md. Shares of Laplace noise: Goryczka & Xiong 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..exact.numbers import Number, is_whole
from . import noise_refusals as refusals
from .bits import SYSTEM, Bits
from .geometric import Geometric
from .uniform import integer_below

MOST_PARTS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Polya:
    """The law of one of `parts` shares of `Geometric(scale)`."""

    scale: Fraction
    parts: int
    _sum: Geometric = field(init=False, repr=False, compare=False)

    def __init__(self, *, scale: Number, parts: int) -> None:
        if not is_whole(parts, 1, MOST_PARTS):
            raise refusals.PARTS_OUT_OF_RANGE(parts=parts, most=MOST_PARTS)
        law = Geometric(scale=scale)
        put = object.__setattr__
        put(self, "scale", law.scale)
        put(self, "parts", parts)
        put(self, "_sum", law)

    @property
    def variance(self) -> float:
        """The variance of one share: that of the sum over `parts`."""
        return self._sum.variance / self.parts

    def draw(self, bits: Bits = SYSTEM) -> int:
        """Draw one share."""
        return self.draw_half(bits) - self.draw_half(bits)

    def draw_half(self, bits: Bits = SYSTEM) -> int:
        """Draw G."""
        while True:
            number = self._sum.draw(bits)
            if number >= 0 and self._accepts(number, bits):
                return number

    def _accepts(self, number: int, bits: Bits) -> bool:
        return all(
            integer_below(j * self.parts, bits) <= (j - 1) * self.parts
            for j in range(1, number + 1)
        )
