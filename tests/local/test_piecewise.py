"""The piecewise mechanism on a grid: its window, and how near it comes to the one of the source."""

from __future__ import annotations

import math

import pytest

from sfumato.local import Piecewise
from sfumato.local.numeric.piecewise import best_window


@pytest.mark.parametrize(
    ("epsilon", "steps"), [(0.1, 1000), (1.0, 1000), (1.0, 7), (4.0, 1000), (10.0, 1000)]
)
def test_the_window_is_the_nearest(epsilon: float, steps: int) -> None:
    from fractions import Fraction

    assert best_window(Fraction(str(epsilon)), steps) == max(
        1, round(steps * math.exp(-epsilon / 2))
    )


def test_the_error_of_the_source() -> None:
    """On a fine grid the worst n·Var on [−1, 1] is 4e^(ε/2)/(3(e^(ε/2) − 1)²) (Wang et al. 2019,
    Lemma 1), within half a per cent.

    Var(t) = t²/(e^(ε/2) − 1) + (e^(ε/2) + 3)/(3(e^(ε/2) − 1)²).
    """
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        oracle, root = (
            Piecewise(epsilon=epsilon, low=-1, high=1, grid=2.0**-13),
            math.exp(epsilon / 2),
        )
        assert oracle.variance(1) == pytest.approx(4 * root / (3 * (root - 1) ** 2), rel=5e-3)
        assert oracle.variance(1, 0) == pytest.approx((root + 3) / (3 * (root - 1) ** 2), rel=5e-3)


def test_it_falls_to_nothing_as_epsilon_grows() -> None:
    variances = [Piecewise(epsilon=e, low=0, high=1).variance(1) for e in (1, 2, 4, 8, 16)]
    assert variances == sorted(variances, reverse=True)
    assert variances[-1] < 1e-3


def test_large_epsilon() -> None:
    oracle = Piecewise(epsilon=100, low=0, high=1)
    assert oracle.window == 1
    assert oracle.estimate(oracle.perturb([0.25] * 10)).mean == pytest.approx(0.25, abs=1e-9)
