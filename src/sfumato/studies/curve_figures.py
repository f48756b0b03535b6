"""Figures 4.2 and 4.3 of the thesis: the Bernstein basis of degree 2, and the private curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import plots
from ..functions.polynomial import basis
from ..plots.plot_style import COLOURS, INK, figure, legend, quiet
from .bands import prediction_band
from .curves import DEGREE, EPSILONS, POINTS, SIZES, CurveRun, errors, runs
from .printed import Interval, Printed, grouped, shown
from .study import Comparison, Study, StudyResult, StudyRow

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def figure_4_2(_: int, __: int) -> StudyResult:
    """Check and draw the three polynomials of degree 2."""
    t = np.linspace(0, 1, 201)
    values = basis(t, 2)
    at = basis([0.3], 2)[0]
    rows = (
        *(
            StudyRow.exact(f"B_{i}(0.3) by formula 4.1", Printed(text), float(at[i])).computed()
            for i, text in enumerate(("0.49", "0.42", "0.09"))
        ),
        StudyRow.exact(
            "largest value of B_1", Printed("0.5"), float(values[:, 1].max())
        ).computed(),
        StudyRow.claim(
            "proposition 4.4.2: not negative, sum 1",
            "0 ≤ B, ΣB = 1",
            (
                f"ΣB between {shown(float(values.sum(axis=1).min()))} and "
                f"{shown(float(values.sum(axis=1).max()))}"
            ),
            holds=bool((values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-14)),
        ),
    )
    curves = {f"B_{i}": values[:, i] for i in range(3)}
    picture = plots.graphs(
        [plots.Graph(title="degree 2", x=t, curves=curves, across="t", up="", heights=(0, 0.5, 1))],
        title="The Bernstein basis",
    )
    return StudyResult(
        rows=rows,
        sentence="As printed, but for {0, n} where {0, …, n} is meant (E-67).",
        figures={"figure 4.2": picture},
    )


def figure_4_3(repetitions: int, seed: int) -> StudyResult:
    """Judge how far private curves lie from the Bernstein curve, and draw the first repetition in
    six panels.
    """
    done = runs(repetitions, seed)
    # of λ² in the mean squared noise of a curve
    weight = float(2 * np.square(basis(POINTS, DEGREE)).sum(axis=1).mean())
    rows = []
    for epsilon in EPSILONS:
        for n in SIZES[::-1]:
            expected = weight * float(np.mean([run.scale[epsilon] ** 2 for run in done[n]]))
            draws = errors(done[n], epsilon)
            rows.append(
                StudyRow.averaged(
                    f"N = {grouped(n)}, ε = {epsilon}: mean squared noise of the curve",
                    f"2·λ²·mean ΣB² = {shown(expected)}",
                    expected,
                    draws,
                    _mean_band(expected, draws),
                )
            )
    comparisons = tuple(
        Comparison(
            what=f"N = {grouped(n)}, ε = 1: L1 move, normalised kernel",
            measure="mean squared error to the Bernstein curve",
            faithful=float(np.mean(errors(done[n], 1))),
            right=float(np.mean(errors(done[n], 1, "normalised, L1"))),
        )
        for n in SIZES[::-1]
    )
    worst, best = (float(np.mean(errors(done[n], 1, to="target"))) for n in (100, 5000))
    sentence = (
        f"“Not a great difference” (E-70): from N = 100 to 5000 the error shrinks "
        f"{shown(worst / best, 2)} times, and to the Bernstein "
        "curve far more. Nearly coincident curves at N = 5000 "
        "are the mark of a sensitivity that was sampled, not of cheap privacy (E-38)."
    )
    return StudyResult(
        rows=tuple(rows), sentence=sentence, comparisons=comparisons, figures=_drawn(done)
    )


def _drawn(done: Mapping[int, Sequence[CurveRun]]) -> dict[str, Figure]:
    right = _panels(done, "normalised, L1", "The right way: L1 move, normalised kernel")
    return {"figure 4.3": _panels(done, "faithful", "As in the thesis"), "the right way": right}


def _mean_band(expected: float, draws: Sequence[float]) -> Interval:
    """Return the band of the mean of the repetitions: Student's, for the mean of the logarithm,
    around the exact mean's.
    """
    low, high = prediction_band(draws)
    # and half a unit for the skewness: the logarithm of a mean is not the mean of logarithms
    reach = math.log(high / low) / 2 / math.sqrt(len(draws) + 1) + 0.5
    return expected * math.exp(-reach), expected * math.exp(reach)


def _panels(done: Mapping[int, Sequence[CurveRun]], way: str, title: str) -> Figure:
    canvas = figure(10.4, 6.2, title)
    handles: dict[str, Artist] = {}
    plain = way == "faithful"
    names = (
        {"target": "target", "Bernstein curve": "Bernstein"}
        if plain
        else {"target": "target, normalised"}
    )
    for axes, (epsilon, n) in zip(
        np.ravel(canvas.subplots(2, 3)),
        ((e, n) for e in EPSILONS for n in SIZES[::-1]),
        strict=True,
    ):
        quiet(axes)
        drawn = {name: done[n][0].drawn[key] for name, key in names.items()} | {
            "private curve": done[n][0].drawn[f"{way}, ε = {epsilon}"]
        }
        for name, values in drawn.items():
            (handles[name],) = axes.plot(POINTS, values, color=COLOUR[name], linewidth=1.8)
        axes.set_title(f"N = {grouped(n)}, ε = {epsilon}", fontsize=11, color=INK)
    legend(canvas, handles, 3)
    return canvas


COLOUR = {"target": INK, "Bernstein curve": COLOURS[0], "private curve": COLOURS[1]}

STUDIES = (
    Study(
        name="figure-4.2",
        title="The Bernstein basis",
        source="thesis, figure 4.2",
        items=("S-175",),
        run=figure_4_2,
    ),
    Study(
        name="figure-4.3",
        title="Private curves",
        source="thesis, figure 4.3",
        items=("S-178",),
        run=figure_4_3,
    ),
)
