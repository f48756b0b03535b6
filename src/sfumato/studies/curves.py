"""Release a kernel regression as a whole curve: shared by tables 4.8 and 4.9 and figure 4.3 of the
thesis.

*Data*      x uniform on [0, 1], y = x·sin(10x) plus normal noise of 0.2; N = 100, 500, 5000.
            Seeded.
*Target*    Priestley–Chao regression, h = 0.1, with a kernel that lacks its 1/√(2π) (E-43): read on
            the lattice of degree 25, noise of scale 26·S/ε.
*S*         The 439th of 500 sampled moves (γ = 0.2), over datasets from another law than the
            data's, drawn as the package draws them (E-38).
*Right*     The L1 move of all lattice values together instead of 26 times the largest; the
            normalised kernel; and a sensitivity that holds for all data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..functions import Bernstein, SampledNoise
from ..functions.curve import Curve
from ..functions.fits import PriestleyChao
from ..functions.polynomial import bernstein
from ..mechanisms import Laplace
from ..sensitivity.sampled import Sampled, SampledFunction, sample_sensitivity

Floats = NDArray[np.float64]

SIZES = (5000, 500, 100)
EPSILONS = (1, 3)
DEGREE = 25
POINTS = np.linspace(0, 1, 50)
MOST_RUNS = 16
"""Each run samples a thousand datasets of every size."""

FIT, NORMALISED = PriestleyChao(normalised=False), PriestleyChao()
WAYS = ("faithful", "L1", "normalised", "normalised, L1", "all data")
"""The release of the thesis, and better ones."""

DRAWS = {"faithful": 10}
"""The number of releases of one dataset's curve, by way; three for the ways not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRun:
    """The run of one dataset: mean squared distances, by ε and way, of private curves from the
    target and from its Bernstein polynomial.
    """

    sensitivity: float
    l1: float
    bias: float
    target: dict[tuple[int, str], list[float]]
    approximation: dict[tuple[int, str], list[float]]
    scale: dict[int, float]
    drawn: dict[str, Floats]


def data(n: int, seed: int, repetition: int) -> Floats:
    """Draw a dataset by the thesis's own recipe."""
    generator = np.random.Generator(np.random.Philox(key=[seed, 1000 * n + repetition]))
    x = generator.random(n)
    return np.column_stack([x, x * np.sin(10 * x) + generator.normal(0, 0.2, n)])


def plausible(n: int, seed: int, repetition: int) -> Callable[[int], Floats]:
    """Return the thesis's sampler P of “plausible” datasets: it tosses its coins once in every
    call, and does not follow the law of the data.
    """
    generator = np.random.Generator(np.random.Philox(key=[seed, 1000 * n + 500 + repetition]))

    def draw(count: int) -> Floats:
        x, y = generator.random(count), np.zeros(count)
        if generator.random() < 0.95:
            y = y + x
        if generator.random() < 0.5:
            y = y * np.sin(x)
        if generator.random() < 0.5:
            y = y * np.cos(x)
        return np.column_stack([x, y + generator.normal(0, 0.2, count)])

    return draw


def sampled(n: int, seed: int, repetition: int) -> Sampled:
    """Sample the sensitivity with m = 500 and γ = 0.2, by the package's plan and in its way."""
    planned = sample_sensitivity(
        FIT,
        oracle=plausible(n, seed, repetition),
        n=n,
        m=500,
        gamma=Fraction(1, 5),
        plan="diffpriv",
        apart=True,
        over="the thesis's sampler P",
    )
    assert isinstance(planned, SampledFunction)
    return planned.on(Bernstein(FIT, degree=DEGREE, sensitivity=1).lattice.points)


@lru_cache(maxsize=2)
def runs(repetitions: int, seed: int) -> dict[int, tuple[CurveRun, ...]]:
    """Run all repetitions, by N."""
    return {
        n: tuple(_run(n, seed, repetition) for repetition in range(min(repetitions, MOST_RUNS)))
        for n in SIZES
    }


def _run(n: int, seed: int, repetition: int) -> CurveRun:
    records, moves = data(n, seed, repetition), sampled(n, seed, repetition)
    ways = releases(moves, n)
    target, scaled = FIT(records)(POINTS), NORMALISED(records)(POINTS)
    smooth = bernstein(FIT(records), DEGREE)(POINTS)
    scaled_smooth = bernstein(NORMALISED(records), DEGREE)(POINTS)
    to_target: dict[tuple[int, str], list[float]] = {}
    to_smooth: dict[tuple[int, str], list[float]] = {}
    scale: dict[int, float] = {}
    drawn: dict[str, Floats] = {"target": target, "Bernstein": smooth, "target, normalised": scaled}
    for epsilon in EPSILONS:
        for way, release in ways.items():
            curves = [release.release(records, epsilon=epsilon) for _ in range(DRAWS.get(way, 3))]
            values = [curve(POINTS) for curve in curves]
            plain = way in ("faithful", "L1")
            to_target[epsilon, way] = [_squared(v - (target if plain else scaled)) for v in values]
            to_smooth[epsilon, way] = [
                _squared(v - (smooth if plain else scaled_smooth)) for v in values
            ]
            drawn[f"{way}, ε = {epsilon}"] = values[0]
            if way == "faithful":
                scale[epsilon] = _scale(curves[0])
    return CurveRun(
        sensitivity=float(moves.sup),
        l1=float(moves.l1),
        bias=_squared(target - smooth),
        target=to_target,
        approximation=to_smooth,
        scale=scale,
        drawn=drawn,
    )


def releases(moves: Sampled, n: int) -> dict[str, Bernstein]:
    """Return the ways to release the curve. The moves of the normalised fit are those of the
    faithful fit, divided by √(2π).
    """
    part = Fraction(1 / math.sqrt(2 * math.pi))
    less = replace(
        moves, l1=moves.l1 * part, l2_squared=moves.l2_squared * part**2, sup=moves.sup * part
    )
    bounded = PriestleyChao(values=(Fraction(-3, 2), Fraction(3, 2)), spacing=Fraction(10, n))
    return {
        "faithful": Bernstein(FIT, degree=DEGREE, sensitivity=moves, norm="inf"),
        "L1": Bernstein(FIT, degree=DEGREE, sensitivity=moves, norm="1"),
        "normalised": Bernstein(NORMALISED, degree=DEGREE, sensitivity=less, norm="inf"),
        "normalised, L1": Bernstein(NORMALISED, degree=DEGREE, sensitivity=less, norm="1"),
        "all data": Bernstein(bounded, degree=DEGREE),
    }


def errors(
    done: Sequence[CurveRun], epsilon: int, way: str = "faithful", *, to: str = "approximation"
) -> list[float]:
    """Return all mean squared errors of one way at one ε."""
    return [error for run in done for error in getattr(run, to)[epsilon, way]]


def worst_move(n: int) -> tuple[float, float]:
    """Return how far one lattice value, and all together, move when, of n records at x = 0 but for
    one at x = 1, that one turns from y = 1 to y = −1.
    """
    lattice = Bernstein(FIT, degree=DEGREE, sensitivity=1).lattice
    x = np.zeros(n)
    x[-1] = 1.0
    up, down = (
        lattice.values(FIT(np.column_stack([x, np.where(x == 1, y, 0.0)]))) for y in (1.0, -1.0)
    )
    return float(np.abs(up - down).max()), float(np.abs(up - down).sum())


def _scale(curve: Curve) -> float:
    assert isinstance(curve.noise, Laplace | SampledNoise)
    return float(curve.noise.scale)


def _squared(difference: Floats) -> float:
    return float(np.mean(np.square(difference)))
