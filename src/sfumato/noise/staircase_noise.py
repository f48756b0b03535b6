"""Staircase noise on the integers: flat steps, each lower than the one before by the same factor.

*Law*     P(Z = z) = a·b^L(|z|), b = e^(−epsilon), with L = 0 for |z| < width, and L = 1 + ⌊(|z| −
          width)/period⌋ beyond: a middle step of 2·width − 1 integers, then steps of `period`
          integers on either side. a = (1 − b)/((1 − b)(2·width − 1) + 2b·period).
*Draw*    Whether Z lies in the middle step: 64 bits against a threshold computed in ball
          arithmetic, further bits in case of a tie. In the middle, a uniform integer; outside, a
          sign, a geometric number of steps (a two-sided one, drawn again while negative) and a
          uniform place in the step.
*Proof*   docs/proofs/staircase.md. Geng & Viswanath 2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb

from ..exact.balls import ball, decide, evaluate, floor
from ..exact.numbers import Number, positive
from . import noise_refusals as refusals
from .bits import SYSTEM, Bits
from .geometric import Geometric
from .law import Integers, SymmetricLaw, scale_in_range
from .uniform import integers_below, lies_below


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseLaw(SymmetricLaw):
    """The staircase law with steps of `period` integers, a middle step reaching to ±(width − 1),
    and factor e^(−epsilon) from step to step.
    """

    epsilon: Fraction
    period: int
    width: int
    _steps: Geometric = field(init=False, repr=False, compare=False)
    _middle: int = field(init=False, repr=False, compare=False)  # ⌊2^64·P(|Z| < width)⌋

    def __init__(self, *, epsilon: Number, period: int, width: int) -> None:
        put = object.__setattr__
        put(self, "epsilon", positive(epsilon, "epsilon"))
        scale_in_range(period / self.epsilon, "period/epsilon")
        scale_in_range(period, "period")
        if not 1 <= width <= period:
            raise refusals.WIDTH_ABOVE_PERIOD(
                width=width, period=period, widest=max(1, period // 2)
            )
        put(self, "period", period)
        put(self, "width", width)
        put(self, "_steps", Geometric(scale=1 / self.epsilon))
        put(self, "_middle", decide(lambda: floor(self._share() * ball(1 << 64))))

    @property
    def variance(self) -> float:
        """The variance, E Z²."""
        return evaluate(lambda: _moment(self.epsilon, self.period, self.width, 2))

    @property
    def mean_error(self) -> float:
        """The mean error, E|Z|."""
        return evaluate(lambda: _moment(self.epsilon, self.period, self.width, 1))

    def draw(self, bits: Bits = SYSTEM) -> int:
        return int(self._fill(1, bits)[0])

    def _fill(self, count: int, bits: Bits) -> Integers:
        words = bits.words(count)
        inside = words < np.uint64(self._middle)
        for lane in np.flatnonzero(words == np.uint64(self._middle)).tolist():
            inside[lane] = self._settle(bits)
        inner = int(inside.sum())
        z: Integers = np.empty(count, dtype=np.int64)
        z[inside] = integers_below(2 * self.width - 1, inner, bits).view(np.int64) - (
            self.width - 1
        )
        if inner < count:
            outer = self._outside(count - inner, bits)
            z = z.astype(object) if outer.dtype == object else z
            z[~inside] = outer
        return z

    def _outside(self, count: int, bits: Bits) -> Integers:
        """Draw integers beyond the middle step."""
        parts: list[Integers] = []
        missing = count
        while missing:
            drawn = self._steps.sample(2 * missing + 8, bits)
            parts.append(drawn[drawn >= 0][:missing])
            missing -= len(parts[-1])
        steps: Integers = np.concatenate(parts)
        if (int(steps.max()) + 2) * self.period >= 1 << 63:
            steps = steps.astype(object)  # the law is never truncated
        z: Integers = (
            steps * self.period
            + integers_below(self.period, count, bits).view(np.int64)
            + self.width
        )
        return np.where(bits.words(count) >> np.uint64(63) == 0, z, -z)

    def _settle(self, bits: Bits) -> bool:
        """Whether a uniform number whose first 64 bits are those of the threshold lies below it."""
        return lies_below(self._share, self._middle, 64, bits)

    def _height(self) -> arb:
        return _height(self.epsilon, self.period, self.width)

    def _share(self) -> arb:
        """Return P(|Z| < width)."""
        return self._height() * (2 * self.width - 1)

    def _mass(self, z: int) -> arb:
        return self._height() * (-ball(self.epsilon * self._level(z))).exp()

    def _level(self, z: int) -> int:
        return 0 if z < self.width else 1 + (z - self.width) // self.period

    def _upper(self, z: int) -> arb:
        level = self._level(z)
        left = self.width + level * self.period - z  # integers of the same step from z on
        return (
            self._height()
            * (-ball(self.epsilon * level)).exp()
            * (left + self.period / ball(self.epsilon).expm1())
        )


def _height(epsilon: Fraction, period: int, width: int) -> arb:
    b, c = (-ball(epsilon)).exp(), -(-ball(epsilon)).expm1()
    return c / (c * (2 * width - 1) + 2 * b * period)


def _moment(epsilon: Fraction, d: int, w: int, power: int) -> arb:
    """Return E|Z|^power for power 1 or 2, period d and width w: Σ over the middle, then Σ_c
    b^(c+1)·Σ_i (w + c·d + i)^power.
    """
    b, c = (-ball(epsilon)).exp(), -(-ball(epsilon)).expm1()
    ones, firsts, seconds = 1 / c, b / c**2, b * (1 + b) / c**3  # Σ b^c, Σ c·b^c, Σ c²·b^c
    if power == 1:
        middle = w * (w - 1)
        beyond = (d * w + d * (d - 1) // 2) * ones + d * d * firsts
    else:
        middle = w * (w - 1) * (2 * w - 1) // 3
        beyond = (d * w * w + w * d * (d - 1) + (d - 1) * d * (2 * d - 1) // 6) * ones
        beyond += (2 * w * d * d + d * d * (d - 1)) * firsts + d**3 * seconds
    return _height(epsilon, d, w) * (middle + 2 * b * beyond)


def best_width(epsilon: Fraction, period: int) -> int:
    """Find the width with the least E|Z|. E|Z| is a convex quadratic over a positive linear
    function of the width, so it falls and then rises.
    """

    def rises(width: int) -> bool:
        def difference() -> bool | None:
            here, there = (_moment(epsilon, period, w, 1) for w in (width, width + 1))
            return True if there > here else False if there < here else None

        return decide(difference)

    low, high = (
        0,
        min(period, math.ceil(period / (1 + math.exp(min(float(epsilon) / 2, 700.0)))) + 2),
    )  # near the best real width
    while high < period and not rises(high):
        low, high = high, min(period, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high
