"""Interval ends of a count that decided itself whether its group is shown.

*Given*      that a group of count c is shown, its noise has the law of Z given Z ≥ T − c. So a
             count far below the threshold T, once it is shown, is far too high.
*Lower end*  the least c with P(Z ≥ y − c | Z ≥ T − c) above half of the chance of a miss. For y
             near T there may be none: then it is 0.
*Upper end*  that of the noise alone: given Z ≥ T − c, low noise is rarer, not more frequent.
*Holds*      each interval with its level *given that the group is shown*, for every c.
*Steps*      The lower end depends on y − T alone, and comes nearer to y as y grows. It is computed
             at 25 values of y − T; between two of them the farther end is taken.
*Proof*      docs/proofs/answer-intervals.md, "Given that a count is shown"
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..exact.exact_ratios import Integers
from ..exact.search import first
from ..mechanisms import CountThreshold
from .answer_records import LinearNoise, Noisy

_PLACES, _REACH = 24, 4
"""How many steps of y − T get an end of their own, and how many half-widths they span."""

_ROUNDING = 1 + 1e-12  # more than the errors of a product of two doubles


def decided_itself(piece: Noisy) -> bool:
    """Tell whether a piece's values decided one by one which groups are shown."""
    return isinstance(piece.mechanism, CountThreshold)


def averages_such(piece: Noisy) -> bool:
    """Tell whether a piece averages values that decided themselves: it has no interval."""
    return isinstance(piece.mechanism, LinearNoise) and any(
        isinstance(draw.mechanism, CountThreshold) for draw in piece.mechanism.draws
    )


def lower_widths(piece: Noisy, values: Integers, missing: Fraction) -> Integers:
    """Return how far below each value its lower end lies, with this chance of a miss on both sides
    together.
    """
    mechanism = piece.mechanism
    assert isinstance(mechanism, CountThreshold)
    half = piece.half_width(1 - missing)
    step = max(1, -(-half * _REACH // _PLACES))
    places = np.minimum((values - mechanism.threshold) // step, _PLACES).astype(np.int64)
    widths = values.copy()  # a count is not negative: where no end is found, it is 0
    for place in np.unique(places).tolist():
        width = _lower_width(mechanism, missing, half, place * step)
        here = places == place
        if width is not None:
            widths[here] = np.minimum(values[here], width)
    return widths


@lru_cache(maxsize=4096)
def _lower_width(
    mechanism: CountThreshold, missing: Fraction, half: int, beyond: int
) -> int | None:
    """Return the largest width w for which P(Z ≥ w)/P(Z ≥ w − beyond) exceeds half of `missing`;
    None if that is more than the value itself.
    """
    law, level = mechanism.law, float(missing) / 2

    def is_possible(width: int) -> bool:
        reached, shown = law.tail(width, "up"), law.tail(width - beyond, "down")
        return reached * _ROUNDING >= level * shown

    most = mechanism.threshold + beyond
    if is_possible(most):
        return None
    return first(lambda width: not is_possible(width), near=half, least=half)
