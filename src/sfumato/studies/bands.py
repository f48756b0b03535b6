"""Compute bands: where one more faithful run falls with probability 1 − 10⁻⁶. A printed number is
such a run, and agrees if it meets its band.

*Law*       Where the law is known (noise of a stated scale, the mean of uniform numbers) the band
            comes from it.
*Percentile* The part of faithful runs that fall below the printed number, by the same laws. Beyond
            99 % (below ½ % or above 99½ %) it is unlikely that the number is such a run.
*Draws*     Elsewhere it is Student's prediction interval from the repetitions, of the logarithm for
            errors: m ± t·s·√(1 + 1/R) with R − 1 degrees of freedom. Few repetitions give a wide
            band, never a wrong one, as far as the logarithm is normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from . import study_refusals as refusals
from .printed import Interval

FALSE_ALARM = 1e-6
"""The probability that a faithful number gets the verdict "differs", per cell."""


def laplace_size(scale: float) -> Interval:
    """Return the band of |W| for Laplace noise, half of the false alarms at either end."""
    return -scale * math.log1p(-FALSE_ALARM / 2), -scale * math.log(FALSE_ALARM / 2)


def normal_size(sigma: float) -> Interval:
    """Return the band of |W| for normal noise, half of the false alarms at either end."""
    from scipy.special import ndtri

    return sigma * float(ndtri(0.5 + FALSE_ALARM / 4)), -sigma * float(ndtri(FALSE_ALARM / 4))


def mean_of_uniforms(n: int, low: float) -> Interval:
    """Return the band of the mean of n uniform numbers from [low, low + 1]; the normal law's tail
    is above that of the mean.
    """
    centre, reach = low + 0.5, normal_size(1.0)[1] / math.sqrt(12 * n)
    return centre - reach, centre + reach


def laplace_below(scale: float, size: float) -> float:
    """Return the probability of a smaller |W|, for Laplace noise."""
    return -math.expm1(-size / scale)


def normal_below(sigma: float, size: float) -> float:
    """Return the probability of a smaller |W|, for normal noise."""
    return math.erf(size / (sigma * math.sqrt(2)))


def uniforms_below(n: int, low: float, mean: float) -> float:
    """Return the probability of a smaller mean of n uniform numbers from [low, low + 1], by its
    normal limit.
    """
    return 0.5 + 0.5 * math.erf((mean - low - 0.5) * math.sqrt(6 * n))


def prediction_below(draws: Sequence[float], value: float, *, logarithm: bool = True) -> float:
    """Return the probability that the next draw is smaller, predicted from earlier draws."""
    from scipy.special import stdtr

    values = np.asarray(draws, dtype=np.float64)
    place = value
    if logarithm:
        values, place = np.log(values), math.log(value)
    spread = float(values.std(ddof=1)) * math.sqrt(1 + 1 / len(values))
    if not spread:
        return 0.5
    return float(stdtr(len(values) - 1, (place - float(values.mean())) / spread))


def mean_size(scale: float, repetitions: int) -> Interval:
    """Return the band of the mean of |W| over repetitions of Laplace noise; their sum is gamma."""
    from scipy.special import gammaincinv

    low, high = (
        scale / repetitions * float(gammaincinv(repetitions, p))
        for p in (FALSE_ALARM / 2, 1 - FALSE_ALARM / 2)
    )
    return low, high


def share_band(probability: float, repetitions: int) -> Interval:
    """Return the band of the share of repetitions in which an event of this probability happens."""
    from scipy.stats import binom

    low, high = (
        float(binom.ppf(p, repetitions, probability)) / repetitions
        for p in (FALSE_ALARM / 2, 1 - FALSE_ALARM / 2)
    )
    return low, high


def widen(band: Interval, by: float) -> Interval:
    """Widen a band for a number that is off by at most `by`."""
    return band[0] - by, band[1] + by


def prediction_band(draws: Sequence[float], *, logarithm: bool = True) -> Interval:
    """Return the band of the next draw, predicted from earlier draws."""
    from scipy.special import stdtrit

    values = np.asarray(draws, dtype=np.float64)
    if len(values) < 2:
        raise refusals.TOO_FEW_REPETITIONS(repetitions=len(values), least=2)
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


def middle_90(draws: Sequence[float]) -> tuple[float, float, float]:
    """Return the 5 % quantile, the median and the 95 % quantile of the repetitions: for reading,
    not for the verdict.
    """
    low, centre, high = np.quantile(np.asarray(draws, dtype=np.float64), [0.05, 0.5, 0.95])
    return float(low), float(centre), float(high)
