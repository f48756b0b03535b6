"""Piecewise: report a number as a cell of a grid, most likely a cell near its place.

*Law*        The law of a window (`window_law`) over the steps of the grid, with w the whole
             number nearest steps·e^(−ε/2): the piecewise mechanism (Wang et al. 2019) on a public
             grid, every cell with a rational probability, where the source has densities.
*Promise*    odds = p·steps/((1 − p)·w) ≤ e^ε.
*Error*      The mean of a report is a straight line in the step, exactly: unbiased. The variance is
             largest at the ends, about (high − low)²·e^(ε/2)/(3·(e^(ε/2) − 1)²)/n, and falls
             towards 0 as ε grows.
*Report*     The number of a cell.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import ball, decide, floor
from ...noise.bits import Bits
from ...records import record
from ..client import Question
from ..lib.biased_coins import Bytes
from ..wire_reports import pack_integers, unpack_integers, width_for
from .number_oracle import NumberOracle
from .window_law import cell_chances, draw_cells, inside_probability, moments, window_odds

MOST_STEPS = 1 << 15


@record(kw_only=True, init=False)
class Piecewise(NumberOracle):
    """An oracle for the mean of a number, with a cell of a grid from each person."""

    kind = "piecewise"
    most_steps = 1 << 15
    window: int = field(init=False)
    own: int = field(init=False)  # of 2^64

    @window.default
    def _choose_window(self) -> int:
        return best_window(self.epsilon, self.steps)

    @own.default
    def _choose_own(self) -> int:
        return inside_probability(self.epsilon, self.steps, self.window)

    @property
    def base(self) -> Fraction:
        return moments(self.own, self.steps, self.window, 0)[0]

    @property
    def slope(self) -> Fraction:
        a, b = cell_chances(self.own, self.steps, self.window)
        return (a - b) * self.window

    @property
    def top(self) -> int:
        return self.steps + self.window - 1

    @property
    def odds(self) -> Fraction:
        return window_odds(self.own, self.steps, self.window)

    def _score_variance(self, step: int) -> Fraction:
        return moments(self.own, self.steps, self.window, step)[1]

    @property
    def _worst(self) -> Fraction:
        # slope·(1 − slope)·i² plus a straight line is convex: largest at an end
        return max(self._score_variance(i) for i in (0, self.steps))

    @property
    def width(self) -> int:
        return width_for(self.top + 1)

    def constants(self) -> Question:
        return {**self._shape(), "own": str(self.own), "window": self.window}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return pack_integers(draw_cells(codes, self.own, self.steps, self.window, bits), self.width)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return unpack_integers(payload) <= self.top

    def _scores(self, payload: Bytes) -> NDArray[np.int64]:
        return unpack_integers(payload)


def best_window(epsilon: Fraction, steps: int) -> int:
    """Return the whole number nearest steps·e^(−ε/2), at least 1."""
    return (
        1
        if epsilon > 64
        else max(
            1, decide(lambda: floor(steps * (-ball(epsilon) / 2).exp() + ball(Fraction(1, 2))))
        )
    )
