"""What is assumed about this machine's log and exp, measured against ball arithmetic.

The fast paths rest on one assumption each: that `log` and `exp` of NumPy (arrays) and of Python
(scalars) err by less than a stated share of MARGIN. No standard promises that, so it is measured
here, with the functions as they are called there: at a million points (ten million in the slow
run), most of them doubles next to those at which an integer changes. The worst error must be a
hundred times smaller than what is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from sfumato.exact.balls import precision
from sfumato.noise import choice, geometric, rounded_normal
from sfumato.noise.bits import CHUNK

from .cases import SCALES
from .reference import shift

Doubles = NDArray[np.float64]
POINTS = 1_100_000
SAFETY = 100


def worst(function: str, points: Doubles, unit: Callable[[Doubles], Doubles]) -> float:
    """The greatest error of both forms of a function, in the units given."""
    scalar = getattr(math, function)
    greatest = 0.0
    for at in range(0, len(points), CHUNK):
        part = points[at : at + CHUNK]
        listed = part.tolist()
        with precision(80):
            truth = [getattr(arb(x), function)() for x in listed]
            errors = [
                [float(t - y) for t, y in zip(truth, form, strict=True)]
                for form in (getattr(np, function)(part).tolist(), map(scalar, listed))
            ]
        greatest = max(greatest, float(np.max(np.abs(errors) / unit(part))))
    return greatest


def neighbours(points: Doubles, reach: int = 4) -> Doubles:
    """The doubles next to some."""
    return np.concatenate(
        [(points.view(np.int64) + d).view(np.float64) for d in range(-reach, reach + 1)]
    )


def absolute_unit(points: Doubles) -> Doubles:
    return np.ones_like(points)


def words_at_boundaries(count: int) -> Iterator[Doubles]:
    """The doubles V·2^63 at which ⌊−scale·ln V + c⌋ changes, for random changes of every scale;
    then powers of two, few, many and random words.
    """
    generator = np.random.default_rng(20)
    for scale in SCALES:
        split = shift(scale)
        coarse = float(scale / (1 << split))
        k = generator.integers(1, max(2, int(20 * coarse)), size=count // (9 * len(SCALES))).astype(
            np.longdouble
        )  # 64 bits, where there are any
        centre = 0.0 if split else math.log(2 / (1 + math.exp(-1 / coarse)))
        yield neighbours((2.0**63 * np.exp(centre - k / coarse)).astype(np.float64))
    yield neighbours(2.0 ** np.arange(64))
    yield np.arange(1.0, 10_000.0)
    yield 2.0**63 - np.arange(0, 10_000) * 1024.0
    yield 2.0 ** generator.uniform(0, 63, size=count // 10)


def levels_at_walls(count: int) -> Iterator[Doubles]:
    """Exponents in [−½, 0] whose e^x is a multiple of 2^-48; then the smallest, and random ones."""
    generator = np.random.default_rng(21)
    level = generator.integers(int(2**48 * math.exp(-0.5)) + 1, 1 << 48, size=count // 9)
    yield neighbours(np.log(level * 2.0**-48))
    yield -(2.0 ** -np.arange(1, 1000))
    yield -generator.uniform(0, 0.5, size=count // 10)


@pytest.mark.parametrize("points", [POINTS, pytest.param(10 * POINTS, marks=pytest.mark.slow)])
def test_log_of_words(points: int) -> None:
    """Absolute, for words in [1, 2^63]: half of MARGIN is assumed."""
    words = np.concatenate(list(words_at_boundaries(points)))
    words = words[(words >= 1.0) & (words <= 2.0**63)]
    assert len(words) >= points * 10 // 11
    assert worst("log", words, absolute_unit) * SAFETY <= geometric.MARGIN / 2


@pytest.mark.parametrize("points", [POINTS, pytest.param(10 * POINTS, marks=pytest.mark.slow)])
def test_exp_of_small_falls(points: int) -> None:
    """Absolute, for exponents in [−½, 0]: half of MARGIN is assumed."""
    levels = np.concatenate(list(levels_at_walls(points)))
    levels = levels[(levels >= -0.5) & (levels <= 0.0)]
    assert len(levels) >= points * 10 // 11
    assert worst("exp", levels, absolute_unit) * SAFETY <= rounded_normal.MARGIN / 2


def test_exp_of_scores() -> None:
    """Relative, for exponents in [−800, 0]: 2^-42 is assumed, a sixteenth of MARGIN; below the
    smallest normal double, relative to that.
    """
    exponents = -np.random.default_rng(22).uniform(0, 800, size=POINTS // 10)
    assert (
        worst("exp", exponents, lambda x: np.maximum(np.exp(x), 2.0**-1022)) * SAFETY
        <= choice.MARGIN / 16
    )


def test_a_bad_log_is_seen() -> None:
    """The measure itself: single precision is caught."""
    points = 2.0 ** np.random.default_rng(23).uniform(1, 63, size=1000)
    with precision(80):
        error = max(
            abs(float(arb(x).log() - float(np.log(np.float32(x))))) for x in points.tolist()
        )
    assert error * SAFETY > geometric.MARGIN / 2
