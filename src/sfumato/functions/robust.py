"""Medians, quantiles, modes and counts of data in memory, by mechanisms whose noise follows the
data.

One call builds the mechanism from public facts, reads the data once, and returns the value with its
promise. The relation is replace: the number of values is public. Records are read one by one: one
that is no number counts as the lower end, and no exception reveals data.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.propose_test_release import ProposeTestRelease
from ..mechanisms.smooth import SmoothLaplace
from ..noise.bits import SYSTEM
from .record_loop import check_one_column, perturb_guarded
from .released_value import Released


def propose_test_release(statistic: str, data: ArrayLike, **public: Any) -> Released:
    """Release a "median", "quantile", "iqr" or "mode" with a proposed `bound`, or give no answer:
    see mechanisms.ProposeTestRelease.
    """
    mechanism = ProposeTestRelease(statistic, **public)
    return _released(mechanism, data)


def inverse_sensitivity(statistic: str, data: ArrayLike, **public: Any) -> Released:
    """Release a "count", "median", "quantile" or "mode": see mechanisms.InverseSensitivity."""
    mechanism = InverseSensitivity(statistic, **public)
    return _released(mechanism, data)


def smooth_sensitivity(statistic: str, data: ArrayLike, **public: Any) -> Released:
    """Release a "median", "quantile" or "kth-largest" with noise scaled to the smooth sensitivity:
    see mechanisms.SmoothLaplace.
    """
    mechanism = SmoothLaplace(statistic, **public)
    return _released(mechanism, data)


def _released(mechanism: Any, data: Any) -> Released:
    check_one_column(data)
    return Released(perturb_guarded(mechanism, data, SYSTEM, mechanism.low), mechanism)
