"""OneBit: report a number as one bit, more likely 1 the larger the number is.

*Law*        P(1 | step i) = a + b·i, whole numbers of 2^-64: a = 1/(e^ε + 1) rounded up, b = (1 −
             2a)/steps rounded down (Duchi, Jordan & Wainwright 2013, in one dimension; as 1BitMean
             in Ding, Kulkarni & Yekhanin 2017).
*Promise*    P(1) lies in [a, 1 − a] at every step, so the odds are at most (1 − a)/a ≤ e^ε.
*Error*      A straight line, exactly: unbiased. n·Var = P(1 − P)/b² steps², at most about ((e^ε +
             1)/(e^ε − 1))²·(high − low)²/4, and never below (high − low)²/4 at the middle however
             large ε is. From ε = 1.3 on `Piecewise` has the smaller worst case.
*Report*     One byte: 0 or 1.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import ball
from ...noise.bits import Bits
from ...records import record
from ..client import Question
from ..lib.biased_coins import Bytes
from ..lib.dyadic_probability import ONE, as_fraction, up
from .number_oracle import NumberOracle

MOST_STEPS = 1 << 30


@record(kw_only=True, init=False)
class OneBit(NumberOracle):
    """An oracle for the mean of a number, with one bit from each person."""

    kind = "one-bit"
    most_steps = 1 << 30
    least: int = field(init=False)  # of 2^64
    step: int = field(init=False)

    @least.default
    def _choose_least(self) -> int:
        return up(lambda: 1 / (1 + ball(self.epsilon).exp()))

    @step.default
    def _choose_step(self) -> int:
        return max(0, (ONE - 2 * self.least) // self.steps)

    @property
    def base(self) -> Fraction:
        return as_fraction(self.least)

    @property
    def slope(self) -> Fraction:
        return as_fraction(self.step)

    top = 1

    @property
    def odds(self) -> Fraction:
        most = self.least + self.steps * self.step
        return max(Fraction(most, self.least), Fraction(ONE - self.least, ONE - most))

    def _score_variance(self, step: int) -> Fraction:
        p = self.base + self.slope * step
        return p * (1 - p)

    @property
    def _worst(self) -> Fraction:
        middle = (ONE // 2 - self.least) // self.step
        return max(self._score_variance(i) for i in (middle, middle + 1) if 0 <= i <= self.steps)

    width = 1

    def constants(self) -> Question:
        return {**self._shape(), "least": str(self.least), "step": str(self.step)}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        # below 2^64, as a is above 0
        limits = np.uint64(self.least) + codes.astype(np.uint64) * np.uint64(self.step)
        return (bits.words(codes.size) < limits).astype(np.uint8)[:, None]

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return payload[:, 0] <= 1

    def _scores(self, payload: Bytes) -> NDArray[np.int64]:
        return payload[:, 0].astype(np.int64)
