"""Sensitivity: how far a statistic can move between neighbouring datasets. Global, local, smooth,
inverse and sampled sensitivities, and closed forms for common statistics.
"""

from .kinds import Global, Inverse, Lipschitz, Local, Sensitivity, Smooth
from .local_sensitivity import local_maximum, local_mean, local_median
from .sampled import Sampled, SampledFunction, sample_sensitivity
from .sampling_plan import SamplingPlan
from .sensitivity_formulas import (
    CLOSED_FORMS,
    count,
    counts,
    covariance,
    histogram,
    linear,
    maximum,
    mean,
    median,
    minimum,
    quantile,
    sum,  # noqa: A004  # read as sf.sensitivity.sum
    variance,
)

__all__ = [
    "CLOSED_FORMS",
    "Global",
    "Inverse",
    "Lipschitz",
    "Local",
    "Sampled",
    "SampledFunction",
    "SamplingPlan",
    "Sensitivity",
    "Smooth",
    "count",
    "counts",
    "covariance",
    "histogram",
    "linear",
    "local_maximum",
    "local_mean",
    "local_median",
    "maximum",
    "mean",
    "median",
    "minimum",
    "quantile",
    "sample_sensitivity",
    "sum",
    "variance",
]
