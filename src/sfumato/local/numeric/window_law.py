"""The window law: cells in a row, where those in a window at the value's place are more likely than
the rest. `Piecewise` and `Ordinal` report by it.

*Law*        `steps` + 1 places and a window of w cells: there are steps + w cells, and place i has
             the window [i, i + w). With probability p the report is uniform in the window, else
             uniform among the `steps` cells beside it: every cell has a rational probability, a =
             p/w inside and b = (1 − p)/steps outside.
*Promise*    Every cell is inside some windows and outside others: odds = a/b = p·steps/((1 − p)·w)
             ≤ e^ε, as p = w·e^ε/(w·e^ε + steps) is rounded down.
*Mean*       E[cell | i] is a straight line: slope (a − b)·w, base a·w(w − 1)/2 + b·(the sum of all
             other cells).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...exact.balls import ball
from ...noise.bits import Bits
from ..lib.biased_coins import below, flags
from ..lib.dyadic_probability import ONE, as_fraction, down


def inside_probability(epsilon: Fraction, steps: int, window: int) -> int:
    """Return p as a multiple of 2^-64."""
    return down(lambda: 1 / (1 + ball(Fraction(steps, window)) * (-ball(epsilon)).exp()))


def window_odds(inside: int, steps: int, window: int) -> Fraction:
    return Fraction(inside * steps, (ONE - inside) * window)


def cell_chances(inside: int, steps: int, window: int) -> tuple[Fraction, Fraction]:
    """Return the probability of a cell inside the window, and of one outside."""
    return as_fraction(inside) / window, (1 - as_fraction(inside)) / steps


def moments(inside: int, steps: int, window: int, place: int) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance of the cell reported at a place."""
    a, b = cell_chances(inside, steps, window)
    cells = steps + window
    first, second = window * place + window * (window - 1) // 2, sum_of_squares(place, window)
    mean = a * first + b * (cells * (cells - 1) // 2 - first)
    return mean, a * second + b * (sum_of_squares(0, cells) - second) - mean * mean


def sum_of_squares(start: int, count: int) -> int:
    """Return start² + (start + 1)² + … with `count` terms."""
    last = start + count
    return ((last - 1) * last * (2 * last - 1) - (start - 1) * start * (2 * start - 1)) // 6


def draw_cells(
    places: NDArray[np.int64], inside: int, steps: int, window: int, bits: Bits
) -> NDArray[np.int64]:
    """Draw a cell for each place."""
    near, far = places + below(window, places.size, bits), below(steps, places.size, bits)
    return np.where(flags(inside, places.size, bits), near, far + window * (far >= places))
