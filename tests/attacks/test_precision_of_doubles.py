"""A3, the precision of doubles (Haney et al. 2022): perfect noise does not help if the sum is a
double, for doubles near 0 are finer than near 1.

The attacker asks whether the output is a multiple of 2^-53. From the answer 1 it always is; from 0
often not.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import mechanisms as mech

from .lab import auc, on_grid, perfect, releases, too_fine

COUNT = 1_000_000


def test_attack_A3_breaks_perfect_noise_in_doubles() -> None:
    """A quarter of the outputs proves the answer 0, and none of a million contradicts. Below 0.26
    of 10^6: probability under 1e-100.
    """
    zero, first = too_fine(perfect(COUNT)), too_fine(1.0 + perfect(COUNT))
    assert zero.mean() > 0.26
    assert not first.any()
    assert auc(zero, first) > 0.62


@pytest.mark.parametrize("kind", [mech.Laplace, mech.Gaussian])
@pytest.mark.parametrize("grid", [2**-10, 2**-40])
def test_attack_A3_every_release_is_on_the_grid(kind: type, grid: float) -> None:
    """All of a million, at scale 1: so none is finer than 2^-53, and the attack has one score, AUC
    ½ exactly.
    """
    for truth in (0.0, 1.0, 0.3):
        outputs = releases(kind, grid, COUNT, 1)(truth)
        assert on_grid(outputs, grid)
        assert not too_fine(outputs).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [mech.Laplace, mech.Gaussian])
@pytest.mark.parametrize("grid", [2**-20, 2**-50, 4])
@pytest.mark.parametrize("width", [0.01, 1, 30])
def test_attack_A3_ten_million_releases_are_on_the_grid(
    kind: type, grid: float, width: float
) -> None:
    for truth in (0.1, 1e9):
        assert on_grid(releases(kind, grid, 10 * COUNT, width)(truth), grid)


def test_attack_A3_the_grid_is_public() -> None:
    """It comes from the record alone: answers of any size leave on the same grid."""
    m = mech.Laplace(sensitivity=1, scale=1, grid=2**-20)
    for truth in (0.0, 1e-300, 2.0**-21, 1.0, 1e6, -1e6):
        assert on_grid(np.array([m.perturb(truth) for _ in range(100)]), 2**-20)
