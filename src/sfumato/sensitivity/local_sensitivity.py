"""Local sensitivities of values in [low, high], one of which may be replaced: how far a statistic
can move from the dataset at hand.

*Mean*       max_i max(x_i − low, high − x_i)/n
*Maximum*    max(high − x_(n), x_(n) − x_(n−1)), with x_(0) = low
*Median*     max(x_(m+1) − x_(m), x_(m) − x_(m−1)), m the lower middle, low and high beyond the ends
All of them are secret. Noise scaled to them is not private (S-065): at a dataset where the local
sensitivity is 0 the exact answer comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ..exact.numbers import Number, exact
from .kinds import Local
from .order_statistics import rank_of


def local_mean(x: Sequence[Number], *, low: Number, high: Number) -> Local:
    """Return the local sensitivity of the mean."""
    values, a, b = _sorted(x, low, high)
    return Local(max(values[-1] - a, b - values[0]) / len(values), "replace")


def local_maximum(x: Sequence[Number], *, low: Number, high: Number) -> Local:
    """Return the local sensitivity of the largest value."""
    values, a, b = _sorted(x, low, high)
    return Local(
        max(b - values[-1], values[-1] - (values[-2] if len(values) > 1 else a)), "replace"
    )


def local_median(x: Sequence[Number], *, low: Number, high: Number) -> Local:
    """Return the local sensitivity of the (lower) median."""
    values, a, b = _sorted(x, low, high)
    around = [a, *values, b]
    m = rank_of(Fraction(1, 2), len(values))
    return Local(max(around[m + 1] - around[m], around[m] - around[m - 1]), "replace")


LOCAL: dict[str, Callable[..., Local]] = {
    "mean": local_mean,
    "maximum": local_maximum,
    "median": local_median,
}
"""The functions by the name of the statistic."""


def _sorted(
    x: Sequence[Number], low: Number, high: Number
) -> tuple[list[Fraction], Fraction, Fraction]:
    """Clip and sort the values; return a single value at the lower end if there are none."""
    a, b = exact(low, "low"), exact(high, "high")
    return sorted(min(b, max(a, exact(v, "value"))) for v in x) or [a], a, b
