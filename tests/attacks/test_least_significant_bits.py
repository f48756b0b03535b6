"""A1, the least significant bits (Mironov 2012): a textbook Laplace draw can reach only some
doubles, and which ones depends on the true answer.

The attacker takes an output and a guess, computes the uniform number that would lead there, and
tries its neighbours: if none gives the output bit for bit, the guess is wrong, for certain.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato import mechanisms as mech

from .lab import WIDTH, Array, identified, learns_nothing, on_grid, releases


def textbook(u: Array, scale: float) -> Array:
    """The inverse of the distribution function, in doubles."""
    d = u - 0.5
    return -scale * np.sign(d) * np.log(1 - 2 * np.abs(d))


def explains(outputs: Array, guess: float, scale: float) -> Array:
    """Whether some 53-bit uniform number leads from the guess to the output."""
    x = (outputs - guess) / scale
    near = np.rint(
        np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))
        * 2.0**53
    )
    hit = np.zeros(len(outputs), dtype=bool)
    for offset in range(-8, 9):
        u = np.clip(near + offset, 1, 2.0**53 - 1) * 2.0**-53
        hit |= guess + textbook(u, scale) == outputs
    return hit


@pytest.mark.parametrize("scale", [1, 10, 100])
def test_attack_A1_breaks_the_textbook_sampler(scale: int) -> None:
    """One output identifies the answer for certain four times out of five. Three quarters of 20,000
    is missed with probability below 1e-40.
    """
    generator = np.random.default_rng()

    def release(truth: float) -> Array:
        return truth + textbook(generator.integers(1, 2**53, 20_000) * 2.0**-53, scale)

    outputs = release(1.0)
    assert explains(outputs, 1.0, scale).all()
    assert identified(lambda y, guess: explains(y, guess, scale), release) >= 0.75


@pytest.mark.parametrize("grid", [2**-10, 2**-30])
def test_attack_A1_learns_nothing_from_ours(grid: float) -> None:
    """False alarm: see lab.RELEASES."""
    release = releases(mech.Laplace, grid)
    assert on_grid(release(1.0), grid)
    assert learns_nothing(
        lambda y: explains(y, 1.0, WIDTH).astype(int) - explains(y, 0.0, WIDTH), release
    )


def test_attack_A1_both_answers_explain_every_output() -> None:
    """What no sample can show: each output has a positive probability under both answers, and their
    ratio is at most e^ε.
    """
    m = mech.Laplace(sensitivity=1, epsilon=1, grid=2**-20)
    for truth in (0.0, 1.0):
        for _ in range(300):
            y = Fraction(m.perturb(truth))
            under_zero, under_one = m.probability(y), m.probability(y - 1)
            assert under_zero > 0
            assert under_one > 0
            assert abs(math.log(under_zero / under_one)) <= 1 + 1e-12
