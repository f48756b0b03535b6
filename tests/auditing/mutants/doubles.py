"""Noise in doubles, of which only outputs are seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato import Pure
from sfumato import mechanisms as mech

from .audited import Array, Precise, Release, audited, generator
from .case import Case, case


def textbook(x: float, n: int) -> Array:
    """The inverse of the distribution function at a uniform number of 53 bits."""
    d = generator().random(n) - 0.5
    outputs: Array = x - np.sign(d) * np.log1p(-2 * np.abs(np.clip(d, -0.5 + 2**-53, 0.5 - 2**-53)))
    return outputs


def polar(x: float, n: int) -> Array:
    return np.random.RandomState(int(generator().integers(2**32))).normal(x, 1.0, n)


def correct_to_the_last_bit(x: float, n: int) -> Array:
    """As good as noise in doubles can be: each draw correct to the last bit, however near to 0."""
    uniform = np.ldexp(
        generator().integers(2**52, 2**53, n).astype(float), -52 - generator().geometric(0.5, n)
    )
    outputs: Array = x + np.log1p(-uniform) * generator().choice([-1.0, 1.0], n)
    return outputs


def four_uniforms(x: float, n: int) -> Array:
    """Four uniform numbers for one draw."""
    u = generator().random((4, n))
    outputs: Array = x + (
        np.log1p(-u[0]) * np.cos(np.pi * u[1]) + np.log1p(-u[2]) * np.cos(np.pi * u[3])
    )
    return outputs


def on_the_grid(kind: Any, **about: Any) -> Release:
    """The product's own noise on a grid of 2^-20."""

    def release(x: float, n: int) -> Any:
        return kind(sensitivity=1, grid=2**-20, size=n, **about).perturb(np.full(n, x))

    return release


def noise_rounded_only(x: float, n: int) -> Array:
    return x + np.rint(generator().laplace(0, 1, n) * 2**10) * 2.0**-10


def answer_rounded_only(x: float, n: int) -> Array:
    outputs: Array = np.rint(x * 2**10) * 2.0**-10 + correct_to_the_last_bit(0.0, n)
    return outputs


def both_rounded(x: float, n: int) -> Any:
    return mech.Laplace(sensitivity=1, scale=1, grid=2**-10, size=n).perturb(np.full(n, x))


LOW_BITS = (0.25 + 2**-30, 0.25 + 2**-29)

_LAPLACE, _GAUSSIAN = on_the_grid(mech.Laplace, scale=1), on_the_grid(mech.Gaussian, sigma=1)


CASES: dict[str, Case] = {
    "textbook-laplace": case(
        "−ln(u) in doubles",
        "exact integers on a grid",
        "A1, presto#23002, wfa#1357",
        Precise(release=textbook),
        Precise(release=_LAPLACE),
    ),
    "polar-gaussian": case(
        "the polar method in doubles",
        "exact integers on a grid",
        "A2",
        Precise(release=polar),
        Precise(release=_GAUSSIAN),
    ),
    "perfect-doubles": case(
        "perfect noise, added in doubles",
        "exact integers on a grid",
        "A3",
        Precise(release=correct_to_the_last_bit),
        Precise(release=_LAPLACE),
    ),
    "four-uniforms": case(
        "four uniform numbers a draw, in doubles",
        "exact integers on a grid",
        "A4, diffprivlib#94, Opacus#616",
        Precise(release=four_uniforms),
        Precise(release=_LAPLACE),
    ),
    "answer-not-rounded": case(
        "noise on a grid, the answer not",
        "both on the grid",
        "A5",
        Precise(release=noise_rounded_only, pair=LOW_BITS),
        Precise(release=both_rounded, pair=LOW_BITS),
    ),
    "noise-not-rounded": case(
        "the answer on a grid, noise not",
        "both on the grid",
        "A5",
        Precise(release=answer_rounded_only),
        Precise(release=both_rounded),
    ),
    "doubles-audited": case(
        "noise in doubles, seen by the audit itself",
        "exact integers on a grid",
        "A3",
        audited(correct_to_the_last_bit, (0.0, 1.0), Pure(1)),
        audited(_LAPLACE, (0.0, 1.0), Pure(1)),
    ),
}
