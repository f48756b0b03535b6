"""A2, the Gaussian by the polar method (Jin et al. 2022): two successive outputs give back the two
uniform numbers they were made of.

The attacker inverts the pair under a guess, rounds to the multiples of 2^-52 that the generator
draws, tries their neighbours and computes forward: a guess that reproduces neither output bit for
bit is wrong.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import mechanisms as mech

from .lab import WIDTH, Array, identified, learns_nothing, on_grid, releases

PAIRS = 400_000
"""Of each truth: an AUC off by 0.0047 by chance has probability below 2·e^(−2·400000·0.0047²) <
5e-8.
"""


def explains(outputs: Array, guess: float, sigma: float) -> Array:
    """Whether the polar method leads from the guess to both outputs of a pair."""
    first, second = outputs.reshape(-1, 2).T
    v, w = (first - guess) / sigma, (second - guess) / sigma
    hit = np.zeros(len(first), dtype=bool)
    with np.errstate(all="ignore"):  # far out a guess has no preimage
        r2 = np.exp(-(v * v + w * w) / 2)
        f = np.sqrt(-2 * np.log(r2) / r2)
        x2, x1 = np.rint(v / f * 2.0**52), np.rint(w / f * 2.0**52)
        for i in range(-3, 4):
            a = (x1 + i) * 2.0**-52
            for j in range(-3, 4):
                b = (x2 + j) * 2.0**-52
                r2 = a * a + b * b
                f = np.sqrt(-2 * np.log(r2) / r2)
                hit |= (guess + sigma * (f * b) == first) & (guess + sigma * (f * a) == second)
    return hit


@pytest.mark.parametrize("sigma", [1.0, 10.0])
def test_attack_A2_breaks_the_polar_method(sigma: float) -> None:
    """A pair identifies the answer for certain nine times out of ten; three quarters of 3,000 pairs
    is missed with probability below 1e-100.
    """
    legacy = np.random.RandomState()

    def release(truth: float) -> Array:
        return legacy.normal(truth, sigma, 6000)

    assert explains(release(1.0), 1.0, sigma).mean() > 0.95
    assert identified(lambda y, guess: explains(y, guess, sigma), release) >= 0.75


def test_attack_A2_learns_nothing_from_ours() -> None:
    """False alarm: see PAIRS."""
    release = releases(mech.Gaussian, 2**-20, 2 * PAIRS)
    assert on_grid(release(1.0), 2**-20)
    assert learns_nothing(
        lambda y: explains(y, 1.0, WIDTH).astype(int) - explains(y, 0.0, WIDTH), release
    )
