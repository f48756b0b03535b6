"""Figure 2.1 of the thesis (the Laplace law), and the Laplace mechanism written as an exponential
mechanism in the slides of 2020.

*Figure*    Density e^(−|x − μ|/b)/(2b) and distribution function for several μ and b. Only the
            picture has their values: (0, 1), (0, 2), (0, 4), (−5, 4) here.
*Slides*    The density ∝ e^(−ε|y − f|/(2Δ)) is printed for the Laplace mechanism. Its scale is
            2Δ/ε: it keeps ε/2, with twice the error (E-40).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import mechanisms as mech
from .. import plots
from ..noise.continuous import ContinuousLaplace
from .bands import mean_size
from .means import GRID
from .printed import Printed, shown
from .study import Comparison, Study, StudyResult, StudyRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = ((0, 1), (0, 2), (0, 4), (-5, 4))
"""μ and b."""


def figure_2_1(repetitions: int, _: int) -> StudyResult:
    """Check the law's formulas, and as many draws of our noise."""
    rows = []
    for location, scale in DRAWN:
        law = ContinuousLaplace(scale=scale, location=location)
        name = f"μ = {location}, b = {scale}".replace("-", "−")
        rows.append(
            StudyRow.exact(
                f"{name}: density at μ is 1/(2b)", Printed(str(1 / (2 * scale))), law.pdf(location)
            ).computed()
        )
        rows.append(StudyRow.exact(f"{name}: D(μ)", Printed("0.5"), law.cdf(location)).computed())
        rows.append(
            StudyRow.exact(
                f"{name}: E W² is 2b²", Printed(str(2 * scale**2)), float(law.variance)
            ).computed()
        )
        rows.append(
            StudyRow.averaged(
                f"{name}: mean |W| is b",
                str(scale),
                scale,
                sizes(scale, repetitions),
                mean_size(scale, repetitions),
            )
        )
    sentence = (
        "The law is as printed. Noise that is published must not be drawn from it in "
        "floating point, where gaps between the doubles give answers away: "
        "ours is its exact discrete form on a grid."
    )
    comparisons = tuple(
        Comparison(
            what=f"b = {scale}: discrete Laplace on integers",
            measure="variance",
            faithful=2.0 * scale**2,
            right=mech.Laplace(sensitivity=1, scale=scale).variance,
            remark="for counts" if scale == 1 else "",
        )
        for _, scale in DRAWN[:3]
    )
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=comparisons,
        figures={"figure 2.1": _picture()},
    )


def sizes(scale: int, repetitions: int) -> list[float]:
    """Draw |W| repeatedly."""
    noise = mech.Laplace(sensitivity=1, scale=scale, grid=GRID)
    return [abs(float(noise.perturb(0.0))) for _ in range(repetitions)]


def _picture() -> Figure:
    x = np.linspace(-12, 12, 385)
    names = {pair: f"μ = {pair[0]}, b = {pair[1]}".replace("-", "−") for pair in DRAWN}
    density = {
        names[pair]: np.array(
            [ContinuousLaplace(location=pair[0], scale=pair[1]).pdf(float(t)) for t in x]
        )
        for pair in DRAWN
    }
    cumulated = {
        names[pair]: np.array(
            [ContinuousLaplace(location=pair[0], scale=pair[1]).cdf(float(t)) for t in x]
        )
        for pair in DRAWN
    }
    return plots.graphs(
        [
            plots.Graph(
                title="density", x=x, curves=density, across="x", up="", heights=(0.125, 0.25, 0.5)
            ),
            plots.Graph(
                title="distribution function",
                x=x,
                curves=cumulated,
                across="x",
                up="",
                heights=(0, 0.5, 1),
            ),
        ],
        title="The Laplace law",
    )


def as_exponential(repetitions: int, _: int) -> StudyResult:
    """Compare the density of the slides with the mechanism's, at sensitivity 1 and ε = 1."""
    printed = mech.Laplace(sensitivity=1, scale=2, grid=GRID)
    right = mech.Laplace(sensitivity=1, epsilon=1, grid=GRID)
    real = float(printed.promise.epsilon())
    rows = (
        StudyRow.claim(
            "the density ∝ e^(−ε|y − f|/(2Δ)) is the Laplace mechanism's",
            "scale Δ/ε = 1, ε = 1",
            f"scale 2Δ/ε = 2, ε = {shown(real)}",
            holds=abs(real - 1) < 1e-9,
            errata=("E-40",),
            sentence="The exponential mechanism pays for a normaliser that changes with the data; "
            "here it does not change, and the factor 2 is lost.",
        ),
        StudyRow.averaged(
            "mean |error| of that density",
            "2Δ/ε = 2",
            2.0,
            sizes(2, repetitions),
            mean_size(2.0, repetitions),
        ),
    )
    x = np.linspace(-8, 8, 321)
    curves = {
        "as printed: scale 2Δ/ε": np.array([ContinuousLaplace(scale=2).pdf(float(t)) for t in x]),
        "Laplace mechanism: scale Δ/ε": np.array(
            [ContinuousLaplace(scale=1).pdf(float(t)) for t in x]
        ),
    }
    figure = plots.graphs(
        [
            plots.Graph(
                title="ε = 1, Δ = 1",
                x=x,
                curves=curves,
                across="y − f",
                up="density",
                heights=(0.25, 0.5),
            )
        ],
        title="Laplace as an exponential mechanism",
    )
    sentence = (
        "Read as an exponential mechanism, the printed Laplace density keeps half the ε "
        "it is said to spend, with twice the error "
        "(E-40); the printed Gaussian density lacks "
        "a square on Δ and has an n too many."
    )
    comparisons = (
        Comparison(
            what="the Laplace mechanism itself",
            measure="mean |error|",
            faithful=2.0,
            right=float(right.scale),
        ),
    )
    return StudyResult(
        rows=rows,
        sentence=sentence,
        comparisons=comparisons,
        figures={"Laplace as exponential": figure},
    )


STUDIES = (
    Study(
        name="figure-2.1",
        title="The Laplace law",
        source="thesis, figure 2.1",
        items=("S-007",),
        run=figure_2_1,
    ),
    Study(
        name="laplace-as-exponential",
        title="Laplace as an exponential mechanism",
        source="slides 2020, exponential mechanism",
        items=("S-062",),
        run=as_exponential,
    ),
)
