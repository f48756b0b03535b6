"""Sums, means and counts: arithmetic that moves farther than stated."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .case import Case
from .replay import Door, Noise, Program
from .worlds import BIG, GRID, INTEGERS, LARGE, NUMBERS, REPLACED, largest, steps

Numbers = list[Any]


def total(low: float, high: float, fill: float = 0) -> Any:
    """The right way: fill, clip, grid, integers; noise for the largest row."""

    def run(data: Numbers, door: Door) -> Any:
        return (
            door.perturb(sum(steps(v, low, high, fill) for v in data), Noise(largest(low, high), 1))
            * GRID
        )

    return run


def above(low: float) -> Any:
    """The right way where a value lies between low and low + 1, and the number of rows is public:
    how far above.
    """
    return lambda data, door: door.perturb(
        sum(steps(Fraction(v) - Fraction(low), 0, 1) for v in data), Noise(steps(1, 0, 1), 1)
    )


def in_doubles(low: float) -> Any:
    def run(data: Numbers, door: Door) -> Any:
        added = 0.0
        for v in data:
            added += min(max(v, low), low + 1)
        return door.perturb(added, Noise(1, 1))

    return run


def squared_deviations(data: Numbers, door: Door) -> Any:
    x = np.clip(np.array(data, dtype=float), BIG, BIG + 1)
    return door.perturb(float(((x - x.mean()) ** 2).sum()), Noise(1, 1))


def exact_moments(data: Numbers, door: Door) -> Any:
    result = [steps(Fraction(v) - Fraction(BIG), 0, 1) for v in data]
    most = steps(1, 0, 1)
    return door.perturb([sum(result), sum(s * s for s in result)], Noise(most + most**2, 1))


def wrapping(bits: int, bound: int) -> Any:
    """Added in a register of so many bits."""

    def run(data: Numbers, door: Door) -> Any:
        added = sum(min(max(v, -bound), bound) for v in data)
        return door.perturb((added + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1), Noise(bound, 1))

    return run


def saturating(data: Numbers, door: Door) -> Any:
    added = 0
    for v in data:
        added = min(max(added + min(max(v, -100), 100), -128), 127)
    return door.perturb(added, Noise(100, 1))


def raising(data: Numbers, door: Door) -> Any:
    added = sum(min(max(v, -(2**62)), 2**62) for v in data)
    if abs(added) >= 2**63:
        raise OverflowError("out of range")
    return door.perturb(added, Noise(2**62, 1))


def integers(bound: int) -> Any:
    return lambda data, door: door.perturb(
        sum(min(max(v, -bound), bound) for v in data), Noise(bound, 1)
    )


def lower_end_twice(data: Numbers, door: Door) -> Any:
    low, high = 0, 100
    return door.perturb(sum(steps(v, low, high) for v in data), Noise(max(abs(low), abs(low)), 1))


def no_bounds(data: Numbers, door: Door) -> Any:
    bounds = None  # nobody declared any
    added = sum(v for v in data if v is not None)
    sensitivity = None if bounds is None else max(map(abs, bounds))
    return added if sensitivity is None else door.perturb(added, Noise(sensitivity, 1))


def copy_not_used(data: Numbers, door: Door) -> Any:
    clipped = [steps(v, 0, 1) for v in data]
    values = [v for v in data if v is not None and math.isfinite(v)]
    assert len(clipped) >= len(values)
    return door.perturb(sum(values), Noise(1, 1))


def clip_the_sum(data: Numbers, door: Door) -> Any:
    """A batch is clipped, not its rows."""
    batch_total = sum(steps(v, -(10**6), 10**6) for v in data)
    return door.perturb(
        min(max(batch_total, 0), steps(1, 0, 1) * max(len(data), 1)), Noise(steps(1, 0, 1), 1)
    )


def mean_by_own_size(data: Numbers, door: Door) -> Any:
    n = max(len(data), 1)
    return door.perturb(
        Fraction(sum(steps(v, 0, 1) for v in data), n) * GRID, Noise(Fraction(1, n), 1)
    )


def mean_of_two(data: Numbers, door: Door) -> Any:
    most = steps(1, 0, 1)
    added = door.perturb(sum(steps(v, 0, 1) for v in data), Noise(most, Fraction(1, 2)))
    count = door.perturb(len(data), Noise(1, Fraction(1, 2)))
    return Fraction(added, max(count, 1)) * GRID


def equal_ends(data: Numbers, door: Door) -> Any:
    low = high = 5
    return door.perturb(sum(steps(v, low, high) for v in data), Noise((high - low) / GRID, 1))


def scale_of_the_mean(data: Numbers, door: Door) -> Any:
    n = max(len(data), 1)  # public: rows are exchanged, not added
    return door.perturb(sum(steps(v, 0, 1) for v in data), Noise(Fraction(steps(1, 0, 1), n), 1))


def scale_of_the_sum(data: Numbers, door: Door) -> Any:
    return door.perturb(sum(steps(v, 0, 1) for v in data), Noise(steps(1, 0, 1), 1))


def _program(run: Any, pairs: Any = NUMBERS, claim: Any = 1) -> Program:
    return Program(run=run, pairs=pairs, claim=claim)


CASES: dict[str, Case] = {
    "float-sum": Case(
        wrong="adds doubles, whose rounding errors add up to more than a row",
        right="adds integers on a grid",
        known_from=("B1", "google#126"),
        broken=_program(in_doubles(BIG), LARGE),
        correct=_program(above(BIG), LARGE),
    ),
    "float-sum-order": Case(
        wrong="adds doubles in the order of the rows",
        right="adds integers, which have no order",
        known_from=("B2", "google#127"),
        broken=_program(in_doubles(2.0**52), LARGE),
        correct=_program(above(2.0**52), LARGE),
    ),
    "variance-mean-rounding": Case(
        wrong="squares deviations from a rounded mean",
        right="exact moments in integers",
        known_from=("B3",),
        broken=_program(squared_deviations, LARGE),
        correct=_program(exact_moments, LARGE),
    ),
    "wrap-32": Case(
        wrong="a sum in 32 bits, which wraps",
        right="a sum that has room",
        known_from=("B4",),
        broken=_program(wrapping(32, 2**31 - 1), INTEGERS),
        correct=_program(integers(2**31 - 1), INTEGERS),
    ),
    "wrap-64": Case(
        wrong="a sum in 64 bits, which wraps",
        right="a sum that has room",
        known_from=("B4",),
        broken=_program(wrapping(64, 2**62), INTEGERS),
        correct=_program(integers(2**62), INTEGERS),
    ),
    "saturating": Case(
        wrong="a sum that saturates on the way, so that the order counts",
        right="a sum that has room",
        known_from=("B5",),
        broken=_program(saturating, INTEGERS),
        correct=_program(integers(100), INTEGERS),
    ),
    "overflow-error": Case(
        wrong="an error where the sum overflows",
        right="a sum that has room",
        known_from=("B6",),
        broken=_program(raising, INTEGERS),
        correct=_program(integers(2**62 + 1), INTEGERS),
    ),
    "lower-end-twice": Case(
        wrong="sensitivity from the lower end twice, which is 0",
        right="the larger of both ends",
        known_from=("B8", "diffprivlib#104", "diffprivlib#105"),
        broken=_program(lower_end_twice),
        correct=_program(total(0, 100)),
    ),
    "no-bounds": Case(
        wrong="no bounds, hence no noise",
        right="bounds, and noise for them",
        known_from=("B9", "smartnoise-sdk#317"),
        broken=_program(no_bounds),
        correct=_program(total(-3, 7)),
    ),
    "clipped-copy": Case(
        wrong="clips a copy and adds up the original",
        right="adds up what it clipped",
        known_from=("B10", "smartnoise-sdk#622"),
        broken=_program(copy_not_used),
        correct=_program(total(0, 1)),
    ),
    "clipped-batch": Case(
        wrong="clips the sum of a batch, not its rows",
        right="clips the rows",
        known_from=("Opacus#571", "Opacus#819"),
        broken=_program(clip_the_sum, REPLACED),
        correct=_program(total(0, 1), REPLACED),
    ),
    "mean-by-own-size": Case(
        wrong="a mean with noise for 1/n, n from the data, where rows come and go",
        right="a noisy sum over a noisy count",
        known_from=("B11", "smartnoise-core#356"),
        broken=_program(mean_by_own_size),
        correct=_program(mean_of_two),
    ),
    "equal-ends": Case(
        wrong="sensitivity high − low for rows that come and go: 0 where the ends are equal",
        right="the larger of both ends",
        known_from=("smartnoise-core#318",),
        broken=_program(equal_ends),
        correct=_program(total(5, 5)),
    ),
    "scale-of-the-mean": Case(
        wrong="the sum, with the noise of the mean",
        right="the sum, with its own",
        known_from=("jax_privacy#383",),
        broken=_program(scale_of_the_mean, REPLACED),
        correct=_program(scale_of_the_sum, REPLACED),
    ),
}
