"""Tails of weighted sums: never below the exact ones, and not far above them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise.geometric import Geometric
from sfumato.noise.law import SummableLaw
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.noise.sum_tails import MARGIN, integral_nodes, tail_bounds

LAWS: list[SummableLaw] = [
    Geometric(scale=3),
    Geometric(scale=Fraction(1, 2)),
    RoundedNormal(sigma=Fraction(1, 3)),
    RoundedNormal(sigma=2),
]
WEIGHTS = [(1,), (3, 3), (1, 2, 5), (2,) * 6, (7, 1, 1, 1)]


def exact_tails(law: SummableLaw, weights: Sequence[int], reach: int) -> np.ndarray:
    """P(S ≥ x) for x = 0 … by convolution of the laws, for whole weights."""
    total = np.ones(1)
    masses = np.array([law.pmf(z) for z in range(-reach, reach + 1)])
    for weight in weights:
        wide = np.zeros(2 * reach * weight + 1)
        wide[::weight] = masses
        total = np.convolve(total, wide)
    middle = len(total) // 2
    return np.cumsum(total[::-1])[::-1][middle:]


def bounds(
    law: SummableLaw, weights: Sequence[int], ends: np.ndarray, panels: int, band: float
) -> np.ndarray:
    spread = np.sqrt(law.variance * sum(w * w for w in weights))
    angles = band / spread * integral_nodes(panels)[0]
    characteristic = np.prod([law.characteristic(w * angles) for w in weights], axis=0)
    rows = np.tile(characteristic, (len(ends), 1))
    return tail_bounds(rows, band / spread, ends)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_a_bound_is_never_below_the_exact_tail(law: SummableLaw, weights: Sequence[int]) -> None:
    reach = 60 if isinstance(law, Geometric) else 12
    exact = exact_tails(law, weights, reach)
    spread = np.sqrt(law.variance * sum(w * w for w in weights))
    ends = np.arange(min(len(exact), int(8 * spread) + 2), dtype=np.float64)
    tails = bounds(law, weights, ends, 64, 128.0)
    assert (tails >= exact[: len(ends)] - 1e-12).all()
    # and hardly wider at 95 %, two-sided
    fine = np.arange(0, 6 * spread, spread / 200)
    width = fine[np.argmax(bounds(law, weights, fine, 64, 128.0) <= 0.025)]
    assert width <= np.argmax(exact <= 0.025) + 0.04 * spread


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_more_panels_change_the_bound_by_far_less_than_the_margin(law: SummableLaw) -> None:
    ends = np.linspace(0, 4, 30) * np.sqrt(law.variance * 12)
    coarse, fine = (bounds(law, (1,) * 12, ends, panels, 64.0) for panels in (24, 96))
    assert np.abs(coarse - fine).max() < MARGIN / 256


def test_half_of_the_kernel_would_not_do() -> None:
    """The twin: without its even part the integral lies below the tail of a lattice law."""
    law = Geometric(scale=3)
    band = 16.0 / np.sqrt(law.variance)
    t, weights = integral_nodes(24)
    odd = weights * ((1 - t) / np.tan(np.pi * t) + 1 / np.pi)
    ends = np.arange(1, 12, dtype=np.float64)
    sines = np.sin(np.multiply.outer(ends, band * t))
    halves = 0.5 - (sines * odd * law.characteristic(band * t)).sum(axis=1)
    exact = exact_tails(law, (1,), 100)[1:12]
    assert (halves < exact).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_characteristic_functions_are_sums_over_the_law(law: SummableLaw) -> None:
    angles = np.linspace(-9, 9, 61)
    z = np.arange(-80, 81)
    masses = np.array([law.pmf(int(k)) for k in z])
    exact = (masses * np.cos(np.multiply.outer(angles, z))).sum(axis=1)
    assert np.abs(law.characteristic(angles) - exact).max() < 1e-10
    assert (law.characteristic(angles) > 0).all()
