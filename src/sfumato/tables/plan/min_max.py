"""Release MIN and MAX as quantiles: the extreme value is one person's, so the release publishes a
point that some rows lie beyond.

*Point*      Of the largest value: the lower end of an interval for the 1-quantile, chosen by the
             exponential mechanism with the whole cost. With probability c it is not above the
             largest value; about as many rows lie above it as the plan says, a number that the
             noise asks for and no data.
*Interval*   From the point to the public bound beyond it. It holds the largest of the clipped
             values with probability c.
*Proof*      docs/proofs/weighted-quantile.md, of `ends`
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import text
from ...mechanisms import WeightedQuantile
from ...mechanisms.shared.mechanism import Mechanism
from ..aggregates.component import Component
from ..aggregates.date_quantiles import value_text


def with_end(component: Component, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add to the chosen points of MIN or MAX the ends of their intervals; return other quantiles as
    they are.
    """
    if component.aggregate is None or not component.aggregate.beyond:
        return values
    point = values[:, 0]
    ends = (
        (np.full_like(point, component.low), point)
        if component.aggregate.beyond == "min"
        else (point, np.full_like(point, component.high))
    )
    return np.stack([point, *ends], axis=1)


def integers_of_points(component: Component, points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of the grid for chosen points: a value, then ends in pairs. An end covers
    all integers that are rounded to its mark.
    """
    grid = component.grid
    assert grid is not None
    if not grid.digits:
        return points
    values, low, high = grid.at_marks(points)
    values[:, 1::2], values[:, 2::2] = low[:, 1::2], high[:, 2::2]
    return values


def explain_min_max(component: Component, noise: Mechanism, bits: int) -> str:
    """Return the sentence about MIN or MAX; "" for other quantiles."""
    if component.aggregate is None or not component.aggregate.beyond:
        return ""
    assert isinstance(noise, WeightedQuantile)
    word, side = ("least", "below") if component.aggregate.beyond == "min" else ("largest", "above")
    rows = Fraction(abs(noise.shift), 1 << bits)
    sure = text(component.aggregate.confidence)
    return (
        f"the {word} {value_text(component.aggregate)} is a quantile: about {float(rows):.3g} "
        f"rows lie {side} it, and at least one with probability {sure}"
    )
