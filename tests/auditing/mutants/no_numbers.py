"""What is no number: NaN, infinity, null, nothing at all, and bounds that come from the data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .case import Case
from .replay import Door, Noise
from .sums import Numbers, _program, mean_of_two, total
from .worlds import INF, largest, steps


def clip_by_comparison(data: Numbers, door: Door) -> Any:
    return door.perturb(
        float(np.clip(np.array([0.0 if v is None else v for v in data]), 0, 1).sum()), Noise(1, 1)
    )


def not_a_number_is_zero(data: Numbers, door: Door) -> Any:
    added = float(np.clip(np.array([0.0 if v is None else v for v in data]), 0, 1).sum())
    return door.perturb(0 if math.isnan(added) else steps(added, 0, INF), Noise(steps(1, 0, 1), 1))


def filled_with_nan(data: Numbers, door: Door) -> Any:
    filled = [
        math.nan if v is None else 0.0 if math.isnan(v) else v for v in data
    ]  # NaN is dealt with, and made again
    return door.perturb(sum(max(min(v, 1), 0) for v in filled), Noise(1, 1))


def count_of_never_null(data: Numbers, door: Door) -> Any:
    """The column was declared to have no null; then a cast made some, and the count is still taken
    for public.
    """
    return sum(1 for v in data if v is not None and math.isfinite(v))


def noisy_count(data: Numbers, door: Door) -> Any:
    return door.perturb(sum(1 for v in data if v is not None and math.isfinite(v)), Noise(1, 1))


def infinite_bounds(data: Numbers, door: Door) -> Any:
    sensitivity = max(abs(0), INF)
    scale = sensitivity / 1
    return door.perturb(
        sum(steps(v, 0, 10**6) for v in data), Noise(0 if math.isinf(scale) else sensitivity, 1)
    )


def range_by_powers(data: Numbers, door: Door) -> Any:
    """A histogram of magnitudes, from which bounds are learned."""
    bins = [0] * 33
    for v in data:
        bins[min(max(math.floor(math.log2(abs(v))), -16), 16) + 16] += 1
    return door.perturb(bins, Noise(1, 1))


def total_range(data: Numbers, door: Door) -> Any:
    bins = [0] * 33
    for v in data:
        magnitude = 0.0 if v is None or math.isnan(v) else min(max(abs(v), 2.0**-16), 2.0**16)
        bins[math.frexp(max(magnitude, 2.0**-16))[1] + 15] += 1
    return door.perturb(bins, Noise(1, 1))


def mean_of_nothing(data: Numbers, door: Door) -> Any:
    values = [steps(v, 0, 1) for v in data]
    mean = Fraction(sum(values), len(values))
    return door.perturb(mean, Noise(steps(1, 0, 1), 1))


def bounds_of_the_data(data: Numbers, door: Door) -> Any:
    values = [v for v in data if v is not None and math.isfinite(v)] or [0]
    low, high = min(values), max(values)
    return (low, high), door.perturb(
        sum(steps(v, low, high) for v in data), Noise(max(largest(low, high), 1), 1)
    )


CASES: dict[str, Case] = {
    "nan-through-clip": Case(
        wrong="a clip by comparisons, which lets NaN through",
        right="what is no number is filled before the clip",
        known_from=("C1",),
        broken=_program(clip_by_comparison),
        correct=_program(total(0, 1)),
    ),
    "nan-sum-is-zero": Case(
        wrong="a sum that is NaN becomes 0, far from where it was",
        right="the value is filled, not the sum",
        known_from=("C1",),
        broken=_program(not_a_number_is_zero),
        correct=_program(total(0, 1, fill=1)),
    ),
    "fill-with-nan": Case(
        wrong="fills nulls with NaN",
        right="fills them with a number in range",
        known_from=("C2",),
        broken=_program(filled_with_nan),
        correct=_program(total(0, 1, fill=0.5)),
    ),
    "free-count": Case(
        wrong="the count of a column that is never null, taken for public after a cast",
        right="a count is a count, with noise",
        known_from=("C3", "D13"),
        broken=_program(count_of_never_null),
        correct=_program(noisy_count),
    ),
    "infinite-bounds": Case(
        wrong="bounds up to infinity, a scale that is none, and then no noise",
        right="finite bounds",
        known_from=("C4",),
        broken=_program(infinite_bounds),
        correct=_program(total(0, 10**6)),
    ),
    "range-raises": Case(
        wrong="learns a range by magnitude, and raises for zero and infinity",
        right="a bin for every value",
        known_from=("C5", "smartnoise-sdk 1.0.2"),
        broken=_program(range_by_powers),
        correct=_program(total_range),
    ),
    "mean-of-nothing": Case(
        wrong="a mean that raises on an empty table",
        right="a noisy sum over a noisy count, at least 1",
        known_from=("C6",),
        broken=_program(mean_of_nothing),
        correct=_program(mean_of_two),
    ),
    "bounds-from-data": Case(
        wrong="takes least and largest value of the data for bounds, and prints them",
        right="bounds that were declared",
        known_from=("C7", "diffprivlib#88"),
        broken=_program(bounds_of_the_data),
        correct=_program(total(-100, 100)),
    ),
}
