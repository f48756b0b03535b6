"""The attacker's bench: how well a score tells two truths apart, and many releases of one truth."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RELEASES = 500_000
"""Releases of each truth in a comparison. An attack that learns nothing strays from AUC ½ by 0.005
with probability below 2·e^(−2·500000·0.005²) < 3e-11 (Hoeffding's inequality for two-sample
U-statistics); with the 0.0003 that honest noise of scale 1000 lets through, below 2e-9.
"""

WIDTH = 1000
"""The scale of the noise under attack, in sensitivities: whatever differential privacy itself
allows is then too small to be seen.
"""


def auc(ones: Array, zeros: Array) -> float:
    """P(score under truth 1 > score under truth 0) + ½·P(equal), for scores that take few
    values.
    """
    values, which = np.unique(np.concatenate([ones, zeros]), return_inverse=True)
    p = np.bincount(which[: len(ones)], minlength=len(values)) / len(ones)
    q = np.bincount(which[len(ones) :], minlength=len(values)) / len(zeros)
    return float(p @ (np.cumsum(q) - q / 2))


def learns_nothing(score: Callable[[Array], Array], release: Callable[[float], Array]) -> bool:
    """Whether the attack's AUC between the truths 1 and 0 is 0.500 ± 0.005."""
    return abs(auc(score(release(1.0)), score(release(0.0))) - 0.5) <= 0.005


def identified(
    explains: Callable[[Array, float], Array], release: Callable[[float], Array]
) -> float:
    """The share of releases that the true answer explains and the other does not, the smaller of
    both truths: proof in one output.
    """
    shares = []
    for truth in (0.0, 1.0):
        outputs = release(truth)
        shares.append(float((explains(outputs, truth) & ~explains(outputs, 1.0 - truth)).mean()))
    return min(shares)


def releases(
    kind: Any, grid: Fraction | float, count: int = RELEASES, width: float = WIDTH
) -> Callable[[float], Array]:
    """Independent releases of one number by a mechanism with this grid. (`size=` says how many
    there are; the noise of each is that of a single release.)
    """
    m = kind(
        sensitivity=1,
        grid=grid,
        size=count,
        **{"scale" if kind.__name__ == "Laplace" else "sigma": width},
    )

    def release(truth: float) -> Array:
        released: Array = m.perturb(np.full(count, truth))
        return released

    return release


def on_grid(outputs: Array, grid: float) -> bool:
    """Whether all are multiples of a power of two, exactly."""
    steps = outputs / grid
    return bool(np.isfinite(steps).all() and (steps == np.floor(steps)).all())


def perfect(count: int) -> Array:
    """Laplace noise of scale 1, each draw correct to the last bit of its double, however near to 0:
    as good as doubles get.
    """
    generator = np.random.default_rng()
    uniform = np.ldexp(
        generator.integers(2**52, 2**53, count).astype(float), -52 - generator.geometric(0.5, count)
    )
    noise: Array = np.log1p(-uniform) * generator.choice([-1.0, 1.0], count)
    return noise


def too_fine(outputs: Array) -> Array:
    """Which outputs are no multiples of 2^-53."""
    fine: Array = outputs * 2.0**53 % 1 != 0
    return fine
