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
    for measure, count in parts:
        dense = np.bincount(measure.numbers - measure.numbers[0], measure.mass)
        for _ in range(count):
            mass, first = np.convolve(mass, dense), first + int(measure.numbers[0])
    numbers = first + np.arange(mass.size)
    finite = float((mass * np.maximum(0.0, -np.expm1(H * (number - numbers)))).sum())
    return 1 - math.prod((1 - measure.infinite) ** count for measure, count in parts) + finite


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
    total = add(parts, Mesh(h=H, size=size, tilt=tilt))
    numbers = np.arange(-40, 200, 7)
    for number, low, high in zip(
        numbers.tolist(), total.below(numbers), total.above(numbers), strict=True
    ):
        truth = written_out(parts, number)
        assert low <= truth * (1 + 1e-11) + 1e-300
        assert high >= truth * (1 - 1e-11)


def test_with_enough_room_both_meet() -> None:
    total = add(PARTS["mixed"], Mesh(h=H, size=1 << 13, tilt=1.5))
    numbers = np.arange(-20, 60, 9)
    assert np.all(total.above(numbers) - total.below(numbers) < 1e-9 * total.above(numbers) + 1e-12)


def test_the_tilt_makes_tiny_numbers_no_harder() -> None:
    parts = PARTS["two atoms"]
    number = 96  # near the top of 100: δ is about 0.6^25
    for tilt, good in ((60.0, True), (0.2, False)):
        total = add(parts, Mesh(h=H, size=1 << 10, tilt=tilt))
        low, high = (
            float(total.below(np.array([number]))[0]),
            float(total.above(np.array([number]))[0]),
        )
        assert low <= written_out(parts, number) * (1 + 1e-12)
        assert (high - low < 1e-6 * high) == good


def test_the_error_that_is_added_is_needed() -> None:
    """Without the wrapped terms a lower bound from a short period is above the truth."""
    parts, mesh = PARTS["many"], Mesh(h=H, size=128, tilt=0.1)
    total = add(parts, mesh)
    number = np.array([60])
    naive = float((total._heights(number) * np.exp(total._level(number)))[0])
    assert naive > written_out(parts, 60) * 1.01
    assert float(total.below(number)[0]) <= written_out(parts, 60)


def test_a_direct_sum_and_an_inverse_transform_agree() -> None:
    total = add(PARTS["one"], Mesh(h=H, size=1 << 12, tilt=1.0))
    assert total.dense is not None
    numbers = np.arange(-30, 30)
    assert np.allclose(
        replace(total, dense=None)._heights(numbers), total._heights(numbers), atol=1e-13
    )


def test_an_empty_measure_means_that_all_is_lost() -> None:
    empty = Measure(np.array([0, 1]), np.zeros(2), 1.0, 0.0, 0.0)
    total = add(((empty, 1),), Mesh(h=H, size=128, tilt=1.0))
    assert total.above(np.array([5]))[0] == 1.0
    assert total.below(np.array([5]))[0] <= 1.0
    assert log_sum(measure(1, 5), 0.0) == pytest.approx(0.0, abs=1e-12)
