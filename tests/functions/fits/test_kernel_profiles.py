"""The heaviest record of a kernel on a lattice: never below what a fine search finds, and hardly
above.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sfumato.functions.fits import kernel_profiles


def searched(axis: np.ndarray, width: float, low: float, high: float, power: int) -> np.ndarray:
    centres = np.linspace(low, high, 5001)
    return np.asarray(
        np.exp(-0.5 * power * np.square((axis[None, :] - centres[:, None]) / width)).sum(axis=1)
    )


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("width", [Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("degree", [1, 25])
def test_heaviest(power: int, width: Fraction, degree: int) -> None:
    axis = np.linspace(-1, 2, degree + 1)
    weight = searched(axis, float(width), 0, 1, power)
    bound = float(kernel_profiles.heaviest(axis, width, Fraction(0), Fraction(1), power))
    assert weight.max() <= bound <= weight.max() * 1.004
    beyond = np.maximum.accumulate(weight[::-1])[::-1]
    mean = float((np.sqrt(beyond) if power == 2 else beyond).mean())
    integral = float(kernel_profiles.heaviest_beyond(axis, width, Fraction(0), Fraction(1), power))
    assert mean * 0.9995 <= integral <= mean * 1.004


def test_the_integral_is_an_upper_sum() -> None:
    """Against a lower sum by hand: each cell by the least that lies in it."""
    axis, width = np.linspace(0, 1, 26), Fraction(1, 10)
    weight = searched(axis, 0.1, 0, 1, 1)
    beyond = np.maximum.accumulate(weight[::-1])[::-1]
    lower = sum(min(a, b) for a, b in pairwise(beyond)) / 5000
    assert lower < float(kernel_profiles.heaviest_beyond(axis, width, Fraction(0), Fraction(1)))
