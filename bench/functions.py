"""How fast any function of any data is released: sampling a sensitivity, single releases, and
curves, beside what R's diffpriv takes.

*Sampler*   m = 500 pairs of 5000 records, the sources' Priestley–Chao regression on a lattice of 26
            points: 1000 fits. In R, diffpriv's own loop takes 77 s and the same written with
            vectors 2.2 s.
*Releases*  10⁵ calls of `sf.privatize` with a function that costs nothing, so that what is measured
            is the release: checking what is public, calling, noise, record. Beside it the mechanism
            alone, `m.perturb`, and a mean of 150 numbers, most of which is NumPy's. In R: 1.7 s.
*Curves*    10⁴ evaluations of a released curve of degree 25 (R: 1 s), and the mean squared error of
            a release in the sources' experiment (table 4.8, N = 500, ε = 1): noise for the sum of
            the sampled moves beside noise for the largest, both from the same 500 pairs, over 20
            samples of 5 releases each.

Nothing fails for being slow: the last column says what was met. The output is Markdown.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.functions.fits import PriestleyChao
from sfumato.functions.polynomial import bernstein

RECORDS, PAIRS, DEGREE = 5000, 500, 25
RELEASES = 10**5


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured (seconds), the goal if there is one, and R's time."""

    name: str
    measure: Callable[[], float]
    goal: float | None
    theirs: str = ""


def seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """The best of a few rounds, in seconds of this process: other work on the machine does not
    count.
    """
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def records(rng: np.random.Generator) -> Callable[[int], Any]:
    """The thesis's oracle: public, made up."""

    def draw(n: int) -> Any:
        x = rng.random(n)
        y = (
            np.where(rng.random() < 0.95, x, 0.0)
            * (np.sin(x) if rng.random() < 0.5 else 1.0)
            * (np.cos(x) if rng.random() < 0.5 else 1.0)
        )
        return np.column_stack([x, y + 0.2 * rng.standard_normal(n)])

    return draw


def sampler() -> float:
    fit, oracle = PriestleyChao("0.1", normalised=False), records(np.random.default_rng(1))
    points = np.arange(DEGREE + 1) / DEGREE
    planned: Any = sf.sample_sensitivity(fit, oracle=oracle, n=RECORDS, m=PAIRS, gamma=0.2)
    return seconds(lambda: planned.on(points), rounds=2)


def releases(f: Callable[[Any], Any]) -> float:
    data, sensitivity = np.linspace(0, 1, 150), Fraction(1, 150)

    def work() -> None:
        for _ in range(RELEASES):
            sf.privatize(f, data, epsilon=1, sensitivity=sensitivity, relation="replace")

    return seconds(work)


def perturbs(mechanism: Any, value: float) -> float:
    def work() -> None:
        perturb = mechanism.perturb
        for _ in range(RELEASES):
            perturb(value)

    return seconds(work)


def evaluations() -> float:
    curve = sf.Bernstein(PriestleyChao("0.1"), sensitivity="0.01").release(
        records(np.random.default_rng(2))(500), epsilon=1
    )
    points = np.random.default_rng(3).random(10**4)
    return seconds(lambda: [curve(points) for _ in range(100)]) / 100


def squared_errors() -> dict[str, Any]:
    """Mean squared errors over 50 points: against the same polynomial without noise, and against
    the fit.
    """
    rng, fit, xs = (
        np.random.default_rng(4),
        PriestleyChao("0.1", normalised=False),
        np.linspace(0, 1, 50),
    )
    ways = {
        "the largest move, as in the sources": ("inf", 1),
        "the sum of the moves": ("best", 1),
        "the sum of the moves, `iterations=3`": ("best", 3),
    }
    found: dict[str, list[Any]] = {way: [] for way in ways}
    for _ in range(20):
        planned: Any = sf.sample_sensitivity(
            fit, oracle=records(rng), n=500, m=PAIRS, gamma=0.2, plan="diffpriv", apart=True
        )
        x = rng.random(500)
        data, moves = (
            np.column_stack([x, x * np.sin(10 * x) + 0.2 * rng.standard_normal(500)]),
            planned.on(np.arange(DEGREE + 1) / DEGREE),
        )
        exact = fit(data)
        for way, (norm, iterations) in ways.items():
            how, smooth = (
                sf.Bernstein(fit, sensitivity=moves, norm=norm, iterations=iterations),
                bernstein(exact, DEGREE, iterations=iterations)(xs),
            )
            curves = [how.release(data, epsilon=1)(xs) for _ in range(5)]
            found[way] += [
                [np.square(curve - smooth).mean(), np.square(curve - exact(xs)).mean()]
                for curve in curves
            ]
    return {way: np.mean(errors, axis=0) for way, errors in found.items()}


def print_squared_errors() -> None:
    print(
        "\n| noise for | MSE to the curve without noise | ratio | MSE to the fit | ratio "
        "| goal | met |\n|---|---|---|---|---|---|---|"
    )
    errors = squared_errors()
    first = next(iter(errors.values()))
    for way, (noise, whole) in errors.items():
        goal, met = (
            ("", "")
            if noise == first[0]
            else ("ratio ≤ 0.2", "yes" if noise <= first[0] / 5 else "no")
        )
        print(
            f"| {way} | {noise:.3g} | {noise / first[0]:.3g} | {whole:.3g} | "
            f"{whole / first[1]:.3g} | {goal} | {met} |"
        )


def one_half(_: Any) -> float:
    return 0.5


FIGURES = [
    Figure(
        f"sampled sensitivity, m = {PAIRS}, Priestley–Chao at N = {RECORDS}",
        sampler,
        2.0,
        "77 s; 2.2 s vectorised",
    ),
    Figure("10⁴ evaluations of a curve of degree 25", evaluations, 0.01, "1 s"),
    Figure("10⁵ scalar Laplace releases, `sf.privatize`", lambda: releases(one_half), 0.5, "1.7 s"),
    Figure(
        "10⁵ scalar Laplace releases, `m.perturb(0.5)` on a grid",
        lambda: perturbs(mech.Laplace(sensitivity="1/150", epsilon=1, grid=2**-26), 0.5),
        0.5,
    ),
    Figure(
        "10⁵ scalar Laplace releases, `m.perturb(42)`",
        lambda: perturbs(mech.Laplace(sensitivity=1, epsilon=1), 42),
        0.5,
    ),
    Figure(
        "10⁵ private means of 150 numbers, `sf.privatize(np.mean, …)`",
        lambda: releases(np.mean),
        None,
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="figures whose name has this in it")
    asked = parser.parse_args()
    print(
        f"{platform.machine()}, Python {platform.python_version()}, NumPy "
        f"{np.__version__}, one core\n"
    )
    print("| figure | seconds | goal | met | R |\n|---|---|---|---|---|")
    for figure in FIGURES:
        if asked.only and asked.only not in figure.name:
            continue
        took = figure.measure()
        goal, met = (
            ("", "")
            if figure.goal is None
            else (f"{figure.goal:g}", "yes" if took <= figure.goal else "no")
        )
        print(f"| {figure.name} | {took:.3g} | {goal} | {met} | {figure.theirs} |", flush=True)
    if not asked.only or asked.only in "squared errors of curves":
        print_squared_errors()


if __name__ == "__main__":
    main()
