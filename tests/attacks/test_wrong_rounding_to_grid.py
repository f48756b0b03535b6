"""A5, rounding done wrong: the noise is put on a grid but not the answer, or the answer but not the
noise, or the rounding moves neighbours too far apart.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import mechanisms as mech

from .lab import RELEASES, WIDTH, Array, auc, on_grid, perfect, releases, too_fine

GRID = 2**-10
LOW, HIGH = 0.25 + 2**-30, 0.25 + 2**-29
"""Two answers within the same grid step, that differ in their low bits only."""


def low_bits(outputs: Array) -> Array:
    """What is left of a grid step."""
    return outputs % GRID


def test_attack_A5_reads_an_answer_that_was_not_rounded() -> None:
    """Noise on the grid, plus the answer as it is: the low bits pass through, in every output."""
    noise = releases(mech.Laplace, GRID, 1000, 1)(0.0)
    assert (low_bits(LOW + noise) == low_bits(np.array(LOW))).all()
    assert (low_bits(HIGH + noise) == low_bits(np.array(HIGH))).all()
    assert auc(low_bits(HIGH + noise), low_bits(LOW + noise)) == 1.0


def test_attack_A5_reads_noise_that_was_not_rounded() -> None:
    """The answer on the grid, plus noise as it is: the precision attack is back."""
    assert too_fine(0.0 + perfect(20_000)).mean() > 0.2
    assert not too_fine(1.0 + perfect(20_000)).any()


@pytest.mark.parametrize("kind", [mech.Laplace, mech.Gaussian])
def test_attack_A5_no_low_bits_leave_ours(kind: type) -> None:
    """Both answers are rounded first: no output has low bits at all, AUC ½ exactly; nor does the
    whole output tell (false alarm: lab.RELEASES).
    """
    release = releases(kind, GRID)
    high, low = release(HIGH), release(LOW)
    assert on_grid(high, GRID)
    assert on_grid(low, GRID)
    assert auc(low_bits(high), low_bits(low)) == 0.5
    coarse = WIDTH * 2.0**-4
    assert abs(auc(np.floor(high / coarse), np.floor(low / coarse)) - 0.5) <= 0.005
    assert len(high) == RELEASES


def released_steps(value: float) -> int:
    """The answer in steps as it enters the noise: a mechanism whose noise is 0 but with probability
    e^(−1e6).
    """
    return round(mech.Laplace(sensitivity=1, scale=1e-6, grid=1).perturb(value))


@pytest.mark.parametrize(
    ("value", "neighbour"),
    [(2.0**52, 2.0**52 + 1), (2.0**52 + 1, 2.0**52 + 2), (0.5, 1.5), (1.5, 2.5), (-1.5, -0.5)],
)
def test_attack_A5_neighbours_stay_as_near_as_promised(value: float, neighbour: float) -> None:
    """Sensitivity 1 on a grid of 1 is one step, for every pair; not so by `floor(x + 0.5)` above
    2^52, nor by rounding halves to even.
    """
    assert released_steps(neighbour) - released_steps(value) == 1


def test_attack_A5_usual_roundings_move_neighbours_two_steps() -> None:
    assert np.floor(2.0**52 + 1 + 0.5) - np.floor(2.0**52 + 0.5) == 2
    assert np.rint(1.5) - np.rint(0.5) == 2
