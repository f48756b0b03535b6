"""Sums of losses by transforms, against sums written out: also where the period is far too short
and the tilt far off.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sfumato.accounting.loss.compose_fourier import add, log_sum
from sfumato.accounting.loss.compose_window import Mesh
from sfumato.accounting.loss.loss_lattice import Measure

H = 0.05


def measure(seed: int, size: int, infinite: float = 0.0) -> Measure:
    rng = np.random.default_rng(seed)
    mass = rng.random(size) ** 3
    return Measure(
        np.arange(size) - size // 2, mass / mass.sum() * (1 - infinite), infinite, 0.0, 0.0
    )


def written_out(parts: tuple[tuple[Measure, int], ...], number: int) -> float:
    """δ by convolution, all terms positive."""
    mass, first = np.ones(1), 0
    for one, count in parts:
        dense = np.bincount(one.numbers - one.numbers[0], one.mass)
        for _ in range(count):
            mass, first = np.convolve(mass, dense), first + int(one.numbers[0])
    numbers = first + np.arange(mass.size)
    finite = float((mass * np.maximum(0.0, -np.expm1(H * (number - numbers)))).sum())
    return 1 - math.prod((1 - one.infinite) ** count for one, count in parts) + finite


PARTS = {
    "one": ((measure(1, 12), 1),),
    "many": ((measure(2, 7), 40),),
    "mixed": ((measure(3, 9), 12), (measure(4, 30), 2), (measure(5, 3, 1e-3), 5)),
    "two atoms": ((Measure(np.array([-4, 4]), np.array([0.4, 0.6]), 0.0, 0.0, 0.0), 25),),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(
    ("size", "tilt"), [(1 << 12, 0.5), (1 << 12, 5.0), (256, 2.0), (128, 0.1), (128, 8.0)]
)
def test_the_truth_is_between_whatever_the_mesh(name: str, size: int, tilt: float) -> None:
    parts = PARTS[name]
    found = add(parts, Mesh(h=H, size=size, tilt=tilt))
    numbers = np.arange(-40, 200, 7)
    for number, low, high in zip(
        numbers.tolist(), found.below(numbers), found.above(numbers), strict=True
    ):
        truth = written_out(parts, number)
        assert low <= truth * (1 + 1e-11) + 1e-300
        assert high >= truth * (1 - 1e-11)


def test_with_enough_room_both_meet() -> None:
    found = add(PARTS["mixed"], Mesh(h=H, size=1 << 13, tilt=1.5))
    numbers = np.arange(-20, 60, 9)
    assert np.all(found.above(numbers) - found.below(numbers) < 1e-9 * found.above(numbers) + 1e-12)


def test_the_tilt_makes_tiny_numbers_no_harder() -> None:
    parts = PARTS["two atoms"]
    number = 96  # near the top of 100: δ is about 0.6^25
    for tilt, good in ((60.0, True), (0.2, False)):
        found = add(parts, Mesh(h=H, size=1 << 10, tilt=tilt))
        low, high = (
            float(found.below(np.array([number]))[0]),
            float(found.above(np.array([number]))[0]),
        )
        assert low <= written_out(parts, number) * (1 + 1e-12)
        assert (high - low < 1e-6 * high) == good


def test_the_error_that_is_added_is_needed() -> None:
    """Without the wrapped terms a lower bound from a short period is above the truth."""
    parts, mesh = PARTS["many"], Mesh(h=H, size=128, tilt=0.1)
    found = add(parts, mesh)
    number = np.array([60])
    naive = float((found._heights(number) * np.exp(found._level(number)))[0])
    assert naive > written_out(parts, 60) * 1.01
    assert float(found.below(number)[0]) <= written_out(parts, 60)


def test_a_direct_sum_and_an_inverse_transform_agree() -> None:
    found = add(PARTS["one"], Mesh(h=H, size=1 << 12, tilt=1.0))
    assert found.whole is not None
    numbers = np.arange(-30, 30)
    assert np.allclose(
        replace(found, whole=None)._heights(numbers), found._heights(numbers), atol=1e-13
    )


def test_an_empty_measure_means_that_all_is_lost() -> None:
    empty = Measure(np.array([0, 1]), np.zeros(2), 1.0, 0.0, 0.0)
    found = add(((empty, 1),), Mesh(h=H, size=128, tilt=1.0))
    assert found.above(np.array([5]))[0] == 1.0
    assert found.below(np.array([5]))[0] <= 1.0
    assert log_sum(measure(1, 5), 0.0) == pytest.approx(0.0, abs=1e-12)
