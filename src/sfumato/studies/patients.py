"""Estimate the share of ill people among one million patients (slides of 2020), by randomized
response and by Laplace noise, at ε = 1 and 95 % confidence.

*Printed*   Intervals around the observed share r. Their constants follow from ε, n and β alone, so
            each is checked exactly; a natural logarithm was taken for one to base 10 (E-15), and a
            decimal point slipped (E-16).
*Run*       Invented patients, three in ten of them ill, in repetition: how often each interval
            holds the truth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .. import mechanisms as mech
from .band_pictures import spreads
from .bands import share_band
from .printed import Printed, shown
from .study import Comparison, Study, StudyResult, StudyRow, Verdict

N = 1_000_000
ILL = 0.3
BETA = 0.05
MOST_RUNS = 20
"""Each run tosses a million coins."""


@lru_cache(maxsize=2)
def runs(repetitions: int, seed: int) -> tuple[list[float], list[float], list[float]]:
    """Return exact shares, shares of “yes” after randomized response, and shares with Laplace noise
    on the count.
    """
    generator = np.random.Generator(np.random.Philox(key=[seed, N]))
    response = mech.RandomizedResponse(epsilon=1, categories=[0, 1])
    laplace = mech.Laplace(sensitivity=1, epsilon=1)
    exact, yes, noisy = [], [], []
    for _ in range(min(repetitions, MOST_RUNS)):
        patients = (generator.random(N) < ILL).astype(np.int64)
        exact.append(float(patients.mean()))
        yes.append(float(np.asarray(response.perturb(patients)).mean()))
        noisy.append(int(laplace.perturb(int(patients.sum()))) / N)
    return exact, yes, noisy


def randomized_response(repetitions: int, seed: int) -> StudyResult:
    """Run slide 21: randomized response."""
    exact, yes, _ = runs(repetitions, seed)
    e = math.e
    factor, offset, radius = (1 + e) / (e - 1), 1 / (1 + e), math.sqrt(math.log(2 / BETA) / (2 * N))
    estimates = [factor * (r - offset) for r in yes]
    held = _intervals_hold(
        exact, yes, factor, factor * offset + factor * radius, factor * offset - factor * radius
    )
    printed = _intervals_hold(exact, yes, 2.16, 0.5591, 0.5619)
    rows = (
        StudyRow.exact("(1 + e^ε)/(e^ε − 1)", Printed("2.16"), factor),
        StudyRow.exact("1/(1 + e^ε)", Printed("0.26"), offset),
        StudyRow.exact(
            "√(ln(2/β)/2), over 1000",
            Printed("0.89"),
            radius * 1000,
            errata=("E-15",),
            if_wrong=f"√(log₁₀(2/β)/2) is {shown(math.sqrt(math.log10(2 / BETA) / 2))}: a "
            f"logarithm to base 10 was taken for a natural one.",
        ),
        StudyRow.exact(
            "lower end: 2.16·r − …",
            Printed("0.5591"),
            factor * (offset + radius),
            errata=("E-15",),
            if_wrong="The printed lower end is above the printed upper one.",
        ),
        StudyRow.exact(
            "upper end: 2.16·r − …",
            Printed("0.5619"),
            factor * (offset - radius),
            errata=("E-15",),
            if_wrong="The centre is off by ten times the printed radius.",
        ),
        _coverage("the printed interval holds the truth", printed, ("E-15",)),
        _coverage("the right interval holds the truth", held, ()),
    )
    sentence = (
        f"The slide's interval never holds the truth (E-15). The right one is "
        f"{shown(factor, 7)}·r − "
        f"{shown(factor * (offset + radius), 6)} to {shown(factor, 7)}·r − "
        f"{shown(factor * (offset - radius), 6)}."
    )
    response = mech.RandomizedResponse(epsilon=1, categories=[0, 1])
    central = float(mech.Laplace(sensitivity=1, epsilon=1).error(1 - Fraction(1, 20))) / N
    comparisons = (
        Comparison(
            what="the share with Laplace noise, at a trusted curator",
            measure="95 % radius",
            faithful=response.error(1 - Fraction(1, 20), reports=N),
            right=central,
            remark="what not having to trust anybody costs",
        ),
    )
    errors = {"randomized response": [x - f for x, f in zip(estimates, exact, strict=True)]}
    return StudyResult(
        rows=rows,
        sentence=sentence,
        comparisons=comparisons,
        figures={
            "S-044": spreads(
                errors,
                title="A million patients: error of the estimated share",
                across="estimate − exact share",
                exact=0.0,
            )
        },
    )


def laplace(repetitions: int, seed: int) -> StudyResult:
    """Run slide 26: Laplace noise."""
    exact, _, noisy = runs(repetitions, seed)
    radius = math.log(1 / BETA) / N
    right = float(mech.Laplace(sensitivity=1, epsilon=1).error(1 - Fraction(1, 20))) / N
    errors = [x - f for x, f in zip(noisy, exact, strict=True)]
    held = [abs(error) <= radius for error in errors]
    rows = (
        StudyRow.exact("ln(1/β)", Printed("2.99"), math.log(1 / BETA)),
        StudyRow.exact(
            "radius",
            Printed("0.0000299"),
            radius,
            errata=("E-16",),
            if_wrong="ln(20)·10⁻⁶: the decimal point slipped by one place.",
        ),
        _coverage("r ± ln(20)·10⁻⁶ holds the truth", held, ()),
    )
    sentence = (
        "The printed interval is ten times too wide (E-16). A count moves by whole "
        "numbers, so the discrete law serves it: "
        "within 3 patients of a million, at 95 %."
    )
    comparisons = (
        Comparison(
            what="discrete Laplace on the count",
            measure="95 % radius",
            faithful=2.99e-5,
            right=right,
            remark="beside the printed radius",
        ),
    )
    picture = spreads(
        {"Laplace noise on the count": [N * error for error in errors]},
        title="A million patients: error of the count",
        across="patients",
        exact=0.0,
    )
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"S-049": picture}
    )


def _intervals_hold(
    exact: list[float], yes: list[float], factor: float, below: float, above: float
) -> list[bool]:
    return [factor * r - below <= f <= factor * r - above for r, f in zip(yes, exact, strict=True)]


def _coverage(cell: str, held: list[bool], errata: tuple[str, ...]) -> StudyRow:
    """Judge a claimed coverage of 95 %: a share too low to be chance is a misprint."""
    coverage = sum(held) / len(held)
    least, _ = share_band(1 - BETA, len(held))
    verdict = Verdict.AGREES if coverage >= least else Verdict.MISPRINT
    return StudyRow(
        cell=cell,
        printed="≥ 0.95",
        ours=f"{sum(held)} of {len(held)} runs",
        verdict=verdict,
        printed_value=0.95,
        value=coverage,
        spread=(coverage, coverage),
        band=(least, 1.0),
        errata=errata if verdict is Verdict.MISPRINT else (),
    )


STUDIES = (
    Study(
        name="patients-response",
        title="A million patients, randomized response",
        source="slides 2020, slide 21",
        items=("S-044",),
        run=randomized_response,
    ),
    Study(
        name="patients-laplace",
        title="A million patients, Laplace noise",
        source="slides 2020, slide 26",
        items=("S-049",),
        run=laplace,
    ),
)
