"""Published numbers about Bernstein polynomials, their release, and kernel regression; where the
source is wrong, what it says fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.functions.fits import PriestleyChao, kernel_profiles
from sfumato.functions.lattice import Lattice
from sfumato.functions.polynomial import basis, bernstein
from sfumato.mechanisms import Gaussian, Laplace

from . import oracles

THEME = oracles.load("curves")
LATTICE = Lattice(degree=25, bounds=[(0, 1)])


def wave(x: Any) -> Any:
    return x * np.sin(10 * x)


def value(f: Any, k: int, t: float, iterations: int = 1) -> float:
    return float(bernstein(f, k, iterations=iterations)([t])[0])


def pure_noise(k: int, sensitivity: Any, epsilon: Any, grid: Any = 2**-40) -> Laplace:
    noise = sf.Bernstein(lambda data: wave, degree=k, sensitivity=sensitivity, grid=grid).noise(
        epsilon=epsilon
    )
    assert isinstance(noise, Laplace)
    return noise


def printed_scale(k: int, delta: float, epsilon: float) -> float:
    """Theorem 4.4.7 in one dimension, for S = 1."""
    return 2 * math.sqrt(2 * (k + 1) * math.log(1 / delta)) / epsilon


def s070(i: dict[str, Any]) -> dict[str, float]:
    noise = pure_noise(i["k"], str(i["S"]), i["eps"])
    squares = np.square(basis(np.linspace(0, 1, 50), i["k"])).sum(axis=1)
    middle = float(np.square(basis([0.5], i["k"])).sum())
    return {
        "lambda": float(noise.scale),
        "var_at_.5": noise.variance * middle,
        "mean_sumB2": float(squares.mean()),
    }


def s071(i: dict[str, Any]) -> dict[str, float]:
    printed = printed_scale(i["k"], i["delta"], i["eps"])
    really = pure_noise(i["k"], 1, Fraction(i["k"] + 1) / Fraction(printed))
    gaussian = sf.Bernstein(lambda data: wave, degree=i["k"], sensitivity=1, grid=2**-40).noise(
        epsilon=i["eps"], delta=str(i["delta"])
    )
    assert isinstance(gaussian, Gaussian)
    return {
        "lambda_delta": float(really.scale),
        "pure_eps_at_that_scale": float(really.promise.parameters["epsilon"]),
        "exact_delta_at_eps1": really.promise.delta(i["eps"]),
        "lambda_pure": float(pure_noise(i["k"], 1, i["eps"]).scale),
        "crossover_(k+1)^l": 8 * math.log(1 / i["delta"]),
        "gauss_sigma": float(gaussian.sigma),
    }


def s072(i: dict[str, Any]) -> dict[str, float]:
    as_printed, right = (
        float(PriestleyChao("0.1", normalised=n)(i["D"])(i["x"])) for n in (False, True)
    )
    return {"thesis": as_printed, "normalised": right, "bias_factor": as_printed / right}


def s176(i: dict[str, Any]) -> dict[str, float]:
    squares = np.square(basis(np.linspace(0, 1, i["grid"]), i["k"])).sum(axis=1)
    noise = pure_noise(i["k"], 1, 1)
    return {"mean_ratio": noise.variance / float(noise.scale) ** 2 * float(squares.mean())}


def e31(i: dict[str, Any]) -> dict[str, float]:
    right, printed = pure_noise(i["k"], 1, 1), i["N"] + 1
    total = float(np.exp(-np.square((LATTICE.points - 0.5) / i["h"]) / 2).sum())
    return {"ratio_5000": printed / float(right.scale), "sum_K_lattice(h=.1,k=25,centre .5)": total}


def e42(i: dict[str, Any]) -> dict[str, float]:
    return {
        "ratio": printed_scale(i["k"], i["delta"], 1) / float(pure_noise(i["k"], 1, 1).scale),
        "break_even": 8 * math.log(1 / i["delta"]),
    }


def e43(i: dict[str, Any]) -> dict[str, float]:
    data = [(0.1, 1.0), (0.4, 2.0), (0.9, -1.0)]
    curve = float(PriestleyChao(normalised=False)(data)(0.3) / PriestleyChao()(data)(0.3))
    return {"curve": curve, "mse": curve**2}


def b25(i: dict[str, Any]) -> dict[str, float]:
    fit = PriestleyChao(str(i["h"]), normalised=False, values=(-i["B"], i["B"]))
    start = [(0, 0)] * 99
    moved = np.abs(
        fit([*start, (1, i["B"])])(LATTICE.points) - fit([*start, (1, -i["B"])])(LATTICE.points)
    )
    return {"linf": float(moved.max()), "l1": float(moved.sum())}


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-067": lambda i: basis([i["t"]], 2)[0].tolist(),
    "S-068": lambda i: {
        **{t: value(wave, i["k"], float(t)) for t in ("0.2", "0.5", "0.9")},
        "f(0.2)": float(wave(0.2)),
    },
    "S-069": lambda i: {
        "h2": value(wave, i["k"], i["t"], 2),
        "h3": value(wave, i["k"], i["t"], 3),
        "f": float(wave(i["t"])),
    },
    "S-070": s070,
    "S-071": s071,
    "S-072": s072,
    "S-073": lambda i: value(np.square, i["k"], i["t"]) - i["t"] ** 2,
    "S-176": s176,
    "E-31": e31,
    "E-42": e42,
    "E-43": e43,
    "B-25": b25,
    "bernstein_value": lambda i: value(wave, i["k"], i["t"]),
}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME} | {oracle.name for oracle in THEME}


def test_E_31_the_lattice_ratio() -> None:
    """6.27 is the sum of the kernel over the lattice; a record at ½, between two points, moves none
    of them by its full height: the ratio is 6.393.
    """
    kernel = np.exp(-np.square((LATTICE.points - 0.5) / 0.1) / 2)
    assert kernel.sum() / kernel.max() == pytest.approx(6.393, abs=5e-4)
    assert 26 / (kernel.sum() / kernel.max()) == pytest.approx(4.07, abs=5e-3)
    assert float(
        kernel_profiles.heaviest(LATTICE.points, Fraction(1, 10), Fraction(0), Fraction(1))
    ) == pytest.approx(6.27, abs=0.01)


def test_E_42_the_printed_scale_is_noisier_than_the_pure_one() -> None:
    """What the theorem calls relaxed adds 1.68 times the noise of the pure mechanism; the right
    Gaussian has less than half the pure one's deviation.
    """
    printed, pure = printed_scale(25, 1e-4, 1), pure_noise(25, 1, 1)
    gaussian = sf.Bernstein(lambda data: wave, sensitivity=1).noise(epsilon=1, delta="1e-4")
    assert printed > float(pure.scale)
    assert math.sqrt(gaussian.variance) < math.sqrt(pure.variance) / 2 < math.sqrt(2) * printed / 2


def test_B_25_the_pair_is_worst_for_the_largest_move_only() -> None:
    fit = PriestleyChao("0.1", normalised=False, values=(-1, 1))
    sensitivity = fit.sensitivity(LATTICE)
    assert float(sensitivity.moves("inf", 26)) == pytest.approx(20, abs=1e-9)
    assert 72.67 < 108 < float(sensitivity.moves(1, 26)) < 122
