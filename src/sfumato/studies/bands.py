"""Bands: where one more faithful run falls with probability 1 − 10⁻⁶. A printed number, which is
such a run, agrees when it meets its band.

*Law*       Where the law is known (noise of a stated scale, the mean of uniform numbers) the band
            comes from it.
*Draws*     Elsewhere it is Student's prediction interval from the repetitions, of the logarithm for
            errors: m ± t·s·√(1 + 1/R) with R − 1 degrees of freedom. Few repetitions give a wide
            band, never a wrong one, as far as the logarithm is normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Refused
from .printed import Interval

FALSE_ALARM = 1e-6
"""The chance that a faithful number is called different, per cell."""


def laplace_size(scale: float) -> Interval:
    """|W| for Laplace noise, half of the false alarms at either end."""
    return -scale * math.log1p(-FALSE_ALARM / 2), -scale * math.log(FALSE_ALARM / 2)


def normal_size(sigma: float) -> Interval:
    """|W| for normal noise, likewise."""
    from scipy.special import ndtri

    return sigma * float(ndtri(0.5 + FALSE_ALARM / 4)), -sigma * float(ndtri(FALSE_ALARM / 4))


def mean_of_uniforms(n: int, low: float) -> Interval:
    """The mean of n uniform numbers from [low, low + 1]; the normal law's tail is above that of the
    mean.
    """
    centre, reach = low + 0.5, normal_size(1.0)[1] / math.sqrt(12 * n)
    return centre - reach, centre + reach


def mean_size(scale: float, repetitions: int) -> Interval:
    """The mean of |W| over repetitions of Laplace noise: their sum is a gamma variable."""
    from scipy.special import gammaincinv

    low, high = (
        scale / repetitions * float(gammaincinv(repetitions, p))
        for p in (FALSE_ALARM / 2, 1 - FALSE_ALARM / 2)
    )
    return low, high


def share(probability: float, repetitions: int) -> Interval:
    """How often something of this probability happens: a share of the repetitions."""
    from scipy.stats import binom

    low, high = (
        float(binom.ppf(p, repetitions, probability)) / repetitions
        for p in (FALSE_ALARM / 2, 1 - FALSE_ALARM / 2)
    )
    return low, high


def widened(band: Interval, by: float) -> Interval:
    """A band for a number from it plus something of at most this size."""
    return band[0] - by, band[1] + by


def predicted(draws: Sequence[float], *, logarithm: bool = True) -> Interval:
    """Where the next draw falls, from those seen."""
    from scipy.special import stdtrit

    values = np.asarray(draws, dtype=np.float64)
    if len(values) < 2:
        raise Refused(
            "studies.repetitions",
            f"{len(values)} repetitions",
            "a band needs two or more",
            "repetitions=20",
        )
    if logarithm:
        values = np.log(values)
    reach = (
        -float(stdtrit(len(values) - 1, FALSE_ALARM / 2))
        * float(values.std(ddof=1))
        * math.sqrt(1 + 1 / len(values))
    )
    centre = float(values.mean())
    ends = (centre - reach, centre + reach)
    return (math.exp(max(ends[0], -700.0)), math.exp(min(ends[1], 700.0))) if logarithm else ends


def middle(draws: Sequence[float]) -> tuple[float, float, float]:
    """The median of the repetitions between the ends of their middle 90 %: for reading, not for
    judging.
    """
    low, centre, high = np.quantile(np.asarray(draws, dtype=np.float64), [0.05, 0.5, 0.95])
    return float(low), float(centre), float(high)
