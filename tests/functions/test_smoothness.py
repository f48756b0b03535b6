"""Bounds on the error of the approximation: never below it for functions of the class, attained
where the proof says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.lattice import Lattice
from sfumato.functions.polynomial import corrected, evaluate
from sfumato.functions.smoothness import hoelder_error, smooth_error


def farthest(f: Callable[[Any], Any], lattice: Lattice, iterations: int) -> float:
    """The largest distance between f and its polynomial over many points of the box."""
    axes = [
        np.linspace(float(low), float(high), 2001 if lattice.dimensions == 1 else 61)
        for low, high in lattice.bounds
    ]
    points = (
        axes[0]
        if lattice.dimensions == 1
        else np.stack(np.meshgrid(*axes), -1).reshape(-1, lattice.dimensions)
    )
    values = evaluate(corrected(lattice.values(f), iterations), lattice.unit(points))
    return float(np.abs(values - f(points)).max())


LINE = Lattice(degree=25, bounds=[(0, 1)])
WIDE = Lattice(degree=25, bounds=[(-1, 2)])
PLANE = Lattice(degree=12, bounds=[(0, 1), (0, 1)])


def test_a_square_attains_the_bound() -> None:
    assert smooth_error(LINE, 1, order=2, bound=2) == pytest.approx(0.01, abs=1e-15)
    assert farthest(lambda t: t * t, LINE, 1) == pytest.approx(0.01, abs=1e-12)
    assert farthest(lambda t: t * t, LINE, 1) > 0.999 * smooth_error(LINE, 1, order=2, bound=2)


@pytest.mark.parametrize("lattice", [LINE, WIDE, PLANE], ids=["line", "wide", "plane"])
@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_smooth_functions_stay_below(lattice: Lattice, iterations: int, order: int) -> None:
    """sin(3x), and the product of sines in the plane: derivatives up to order s are at most 3^s."""

    def f(p: Any) -> Any:
        return (
            np.sin(3 * p) if lattice.dimensions == 1 else np.sin(3 * p[:, 0]) * np.cos(3 * p[:, 1])
        )

    bound = smooth_error(lattice, iterations, order=order, bound=3**order)
    assert farthest(f, lattice, iterations) <= bound


def test_the_second_iteration_gains_an_order() -> None:
    """The bound falls like 1/k², and so does the error: over 4 times the degree, about 16 times."""
    fine = Lattice(degree=100, bounds=[(0, 1)])
    ratio = smooth_error(LINE, 2, order=4, bound=1) / smooth_error(fine, 2, order=4, bound=1)
    assert 15.9 < ratio < 16.2
    assert farthest(np.sin, LINE, 2) / farthest(np.sin, fine, 2) > 10
    assert smooth_error(LINE, 2, order=4, bound=81) < smooth_error(LINE, 2, order=2, bound=81)


@pytest.mark.parametrize("lattice", [LINE, WIDE, PLANE], ids=["line", "wide", "plane"])
@pytest.mark.parametrize(("exponent", "constant"), [(1, 1), ("1/2", 1)])
def test_rough_functions_stay_below(lattice: Lattice, exponent: Any, constant: int) -> None:
    """|x − 1/3|^γ in the largest coordinate is (γ, 1)-Hölder."""
    power = 1.0 if exponent == 1 else 0.5

    def f(p: Any) -> Any:
        return np.abs(np.reshape(p, (len(p), -1)) - 1 / 3).max(axis=1) ** power

    distance = farthest(f, lattice, 1)
    assert distance <= hoelder_error(lattice, 1, exponent=exponent, constant=constant)
    assert distance > 0.2 * hoelder_error(lattice, 1, exponent=exponent, constant=constant)
    assert hoelder_error(lattice, 3, exponent=exponent, constant=constant) == pytest.approx(
        4 * hoelder_error(lattice, 1, exponent=exponent, constant=constant)
    )


def test_refused() -> None:
    for exponent in (0, 1.5):
        with pytest.raises(Refused, match=r"bernstein\.smoothness"):
            hoelder_error(LINE, 1, exponent=exponent, constant=1)
    for order in (0, 1.5, True):
        with pytest.raises(Refused, match=r"bernstein\.smoothness"):
            smooth_error(LINE, 1, order=order, bound=1)  # type: ignore[arg-type]  # refused
