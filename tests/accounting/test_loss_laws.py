"""What is assumed of doubles, against Arb: if a platform breaks it, this fails before a certificate
does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from sfumato.accounting.loss.loss_families import response_law
from sfumato.accounting.loss.loss_laws import FUNCTION, UNIT, Atoms, PointLaw, Reversed, reverse
from sfumato.exact.balls import ball, precision

FUNCTIONS: dict[
    str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[arb], arb], tuple[float, float]]
] = {
    "exp": (np.exp, arb.exp, (-700.0, 700.0)),
    "expm1": (np.expm1, arb.expm1, (-40.0, 40.0)),
    "log": (np.log, arb.log, (1e-300, 1e300)),
    "log1p": (np.log1p, arb.log1p, (-0.999, 1e6)),
    "sin": (np.sin, arb.sin, (0.0, 1.5708)),
    "cos": (np.cos, arb.cos, (0.0, 1.5707)),
}


def points(low: float, high: float, count: int = 1500) -> np.ndarray:
    rng = np.random.default_rng(7)
    spread = rng.uniform(low, high, count)
    near = np.concatenate([s * 10.0 ** rng.uniform(-15, 0, count // 4) for s in (-1, 1)])
    return np.concatenate((spread, near[(near > low) & (near < high)]))


def errors(name: str, function: Callable[[np.ndarray], np.ndarray] | None = None) -> float:
    """The largest relative error, in units of what is assumed."""
    ours, true, (low, high) = FUNCTIONS[name]
    x = points(low, high)
    x = x[x != 0]
    values = (function or ours)(x)
    with precision(200):
        return (
            max(
                float(
                    abs(
                        (ball(Fraction(float(v))) - true(ball(Fraction(float(a)))))
                        / true(ball(Fraction(float(a))))
                    ).mid()
                )
                for a, v in zip(x, values, strict=True)
            )
            / FUNCTION
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementary_functions_are_as_good_as_assumed(name: str) -> None:
    assert errors(name) < 0.5


def test_worse_functions_would_be_seen() -> None:
    assert errors("exp", lambda x: np.exp(x) * (1 + 2 * FUNCTION)) > 1
    assert errors("expm1", lambda x: np.exp(x) - 1) > 1


@pytest.mark.parametrize("size", [128, 1024, 1 << 13])
def test_transforms_are_as_good_as_assumed(size: int) -> None:
    """‖f̂ − f‖₂ ≤ 16·2⁻⁵³·log₂N·‖f‖₂, for spread-out and for lumpy weights."""
    rng = np.random.default_rng(size)
    for weights in (rng.random(size), rng.random(size) ** 20, np.eye(1, size, 3)[0]):
        transform = np.fft.rfft(weights)
        chosen = range(size // 2 + 1) if size <= 1024 else rng.integers(0, size // 2 + 1, 40)
        with precision(100):
            turns = [acb(0, arb(-2 * j) * arb.pi() / size).exp() for j in range(size)]
            exact = [
                sum(
                    (
                        acb(ball(Fraction(float(w)))) * turns[int(n) * j % size]
                        for j, w in enumerate(weights)
                        if w
                    ),
                    acb(0),
                )
                for n in chosen
            ]
            off = [
                abs(acb(float(transform[n].real), float(transform[n].imag)) - e)
                for n, e in zip(chosen, exact, strict=True)
            ]
        scale = np.sqrt(size * (weights**2).sum()) / np.sqrt(size)  # of one entry, on average
        assert max(float(o.mid()) for o in off) < 0.5 * 16 * UNIT * np.log2(size) * scale * np.sqrt(
            size
        )


def test_a_reversed_law_is_the_law_with_its_sides_exchanged() -> None:
    law = PointLaw(
        Atoms(np.array([-1.0, 2.0]), np.array([0.25, 0.75]), np.array([0.8, 0.2])),
        0.0,
        0.0,
        0.1,
        0.2,
    )
    back = reverse(law)
    assert isinstance(back, Reversed)
    assert back.atoms.loss.tolist() == [-2.0, 1.0]
    assert back.atoms.p.tolist() == [0.2, 0.8]
    assert (back.only_p, back.only_q) == (0.2, 0.1)
    assert reverse(back) is law
    symmetric = response_law(1.0, 2)
    assert reverse(symmetric) is symmetric
