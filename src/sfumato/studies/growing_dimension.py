"""Figure 4.1 of the thesis: the error of Gaussian noise as d grows, for sensitivity √d/n.

*Set-up*    The classical σ = √d/n·√(2·ln(1.25/δ))/ε on one mean, n = 5000, 500, 100; the printed
            range of d is only in the picture: 1 to 50 here.
*Reading*   √d/n is how far a mean of d coordinates moves, in L2, when one row is replaced. If d of
            n scalar entries change, one mean moves by d/n (E-05).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import mechanisms as mech
from .. import plots
from ..noise.continuous import Normal
from .bands import FALSE_ALARM
from .gaussian_tables import DELTA, EPSILONS, SHAPES, classical
from .means import GRID
from .printed import grouped, shown
from .study import Comparison, Study, StudyResult, StudyRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIMENSIONS = (1, 10, 50)
REACH = np.arange(1, 51)


def mean_errors(n: int, epsilon: int, dimensions: int, repetitions: int) -> list[float]:
    """Draw |noise| repeatedly."""
    noise = mech.Gaussian(
        sensitivity=Fraction(1, n), sigma=classical(n, epsilon, dimensions), grid=GRID
    )
    return [abs(float(noise.perturb(0.0))) for _ in range(repetitions)]


def run(repetitions: int, _: int) -> StudyResult:
    """Run figure 4.1. It needs no data: the error is the noise."""
    rows = []
    for epsilon in EPSILONS:
        for n in (shape.n for shape in SHAPES):
            rows += [_row(n, epsilon, d, repetitions) for d in DIMENSIONS]
    rows += [_reading(n, 50) for n in (shape.n for shape in SHAPES)]
    sentence = (
        "The thesis explains d as the number of entries in which two datasets differ "
        "(E-05). It is the number of coordinates of a mean; with d entries changed "
        "a single mean moves by d/n, and this noise is too small by √d."
    )
    comparisons = tuple(
        Comparison(
            what=f"ε = {epsilon}, any n and d: analytic σ",
            measure="mean |error|, n = 100, d = 10",
            faithful=math.sqrt(2 / math.pi) * classical(100, epsilon, 10),
            right=math.sqrt(2 / math.pi)
            * float(
                mech.Gaussian(
                    sensitivity=Fraction(1, 100), epsilon=epsilon, delta=DELTA, grid=GRID
                ).sigma
            )
            * math.sqrt(10),
        )
        for epsilon in EPSILONS
    )
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=comparisons,
        figures={"figure 4.1": _picture(repetitions)},
    )


def _row(n: int, epsilon: int, d: int, repetitions: int) -> StudyRow:
    """Judge the curve's height by its formula against the mean of our repetitions. |noise| is a
    1-Lipschitz function of a normal variable, so their mean lies within σ·√(2·ln(2·10⁶)/R) of the
    height with probability 1 − 10⁻⁶.
    """
    sigma = classical(n, epsilon, d)
    draws = mean_errors(n, epsilon, d, repetitions)
    expected = math.sqrt(2 / math.pi) * sigma
    reach = sigma * math.sqrt(2 * math.log(2 / FALSE_ALARM) / repetitions)
    band = max(0.0, expected - reach), expected + reach
    return StudyRow.averaged(
        f"n = {grouped(n)}, ε = {epsilon}, d = {d}",
        f"√(2/π)·σ = {shown(expected)}",
        expected,
        draws,
        band,
    )


def _reading(n: int, d: int) -> StudyRow:
    """Judge the promise as the thesis explains it: to datasets that differ in d entries."""
    real = Normal(sigma=Fraction(classical(n, 1, d))).delta(1, shift=Fraction(d, n))
    return StudyRow.promise(
        f"n = {grouped(n)}, {d} entries changed",
        f"sensitivity √{d}/n = {shown(math.sqrt(d) / n)}",
        f"{d}/n = {shown(d / n)}; δ = {shown(real)} at ε = 1",
        is_kept=real <= DELTA,
        value=d / n,
        errata=("E-05",),
        sentence=f"If {d} of {n} entries change, the mean moves by up to {d}/{n}.",
    )


def _picture(repetitions: int) -> Figure:
    every = max(1, min(repetitions, 40))
    drawn = []
    for epsilon in EPSILONS:
        curves = {}
        for n in (shape.n for shape in SHAPES):
            curves[f"n = {grouped(n)}"] = np.array(
                [np.mean(mean_errors(n, epsilon, int(d), every)) for d in REACH]
            )
        drawn.append(
            plots.Graph(
                title=f"ε = {epsilon}",
                x=REACH.astype(np.float64),
                curves=curves,
                across="d",
                up=f"|private − f(D)|, mean of {every}",
                logarithmic=True,
            )
        )
    return plots.graphs(drawn, title="Gaussian noise for a sensitivity of √d/n")


STUDIES = (
    Study(
        name="figure-4.1",
        title="Error of Gaussian noise as d grows",
        source="thesis, figure 4.1",
        items=("S-174",),
        run=run,
    ),
)
