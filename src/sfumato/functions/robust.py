"""Medians, quantiles, modes and counts of data in memory, by mechanisms whose noise follows the
data.

One call builds the mechanism from public facts, reads the data once, and returns the value with its
promise. The relation is replace: the number of values is public. Records are read one by one: one
that is no number counts as the lower end, and no exception reveals data.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Required, TypedDict, Unpack

from numpy.typing import ArrayLike

from ..exact.numbers import Number
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.propose_test_release import ProposeTestRelease
from ..mechanisms.smooth import SmoothLaplace
from ..noise.bits import SYSTEM
from .record_loop import check_one_column, perturb_guarded
from .released_value import Released


class SharedOptions(TypedDict, total=False):
    """The public facts that all three mechanisms need."""

    epsilon: Required[Number]
    grid: Number | None
    q: Number
    unit: str | None


class SmoothOptions(SharedOptions, total=False):
    """The public facts of mechanisms.SmoothLaplace."""

    delta: Required[Number]
    low: Required[Number]
    high: Required[Number]
    k: int


class InverseOptions(SharedOptions, total=False):
    """The public facts of mechanisms.InverseSensitivity."""

    low: Number | None
    high: Number | None
    categories: Sequence[Hashable]


class ProposeOptions(InverseOptions, total=False):
    """The public facts of mechanisms.ProposeTestRelease."""

    delta: Required[Number]
    bound: Number | None
    test_share: Number


def propose_test_release(
    statistic: str, data: ArrayLike, **public: Unpack[ProposeOptions]
) -> Released:
    """Release a "median", "quantile", "iqr" or "mode" with a proposed `bound`, or give no answer:
    see mechanisms.ProposeTestRelease.
    """
    mechanism = ProposeTestRelease(statistic, **public)
    return _released(mechanism, data)


def inverse_sensitivity(
    statistic: str, data: ArrayLike, **public: Unpack[InverseOptions]
) -> Released:
    """Release a "count", "median", "quantile" or "mode": see mechanisms.InverseSensitivity."""
    mechanism = InverseSensitivity(statistic, **public)
    return _released(mechanism, data)


def smooth_sensitivity(
    statistic: str, data: ArrayLike, **public: Unpack[SmoothOptions]
) -> Released:
    """Release a "median", "quantile" or "kth-largest" with noise scaled to the smooth sensitivity:
    see mechanisms.SmoothLaplace.
    """
    mechanism = SmoothLaplace(statistic, **public)
    return _released(mechanism, data)


def _released(
    mechanism: SmoothLaplace | InverseSensitivity | ProposeTestRelease, data: ArrayLike
) -> Released:
    check_one_column(data)
    return Released(perturb_guarded(mechanism, data, SYSTEM, mechanism.low), mechanism)
