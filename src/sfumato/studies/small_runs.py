"""Run the small worked examples of the slides: Angie's grade (S-125), the survey's Laplace run
(S-179), and the mean of a private histogram (S-057, S-181).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from .. import mechanisms as mech
from ..samples import grades
from .band_pictures import bars, spreads, strips
from .bands import (
    laplace_below,
    laplace_size,
    mean_of_uniforms,
    prediction_band,
    uniforms_below,
    widen,
)
from .means import GRID, Shape, matrix_means, release
from .printed import Printed, grouped, shown
from .study import Comparison, Study, StudyResult, StudyRow, Verdict

PRIOR = Fraction(2, 5)
NOISE = {0: Fraction(1, 4), 1: Fraction(3, 20), -1: Fraction(3, 20)}
"""The noise probabilities on the slides; the remaining mass lies farther out."""


def angie(repetitions: int, seed: int) -> StudyResult:
    """Compute the posterior that Angie failed, after the answer that 1 of two women passed."""
    women = [student for student in grades() if student.gender == "female"]
    worlds = list(product((True, False), repeat=len(women)))  # who failed, Angie first
    weight = {w: math.prod(PRIOR if failed else 1 - PRIOR for failed in w) for w in worlds}
    answered = {w: NOISE[1 - (len(women) - sum(w))] for w in worlds}
    if_failed = sum(weight[w] * answered[w] for w in worlds if w[0]) / PRIOR
    total = sum(weight[w] * answered[w] for w in worlds)
    posterior = PRIOR * if_failed / total
    simulated, count = _simulate(repetitions, seed)
    rows = (
        StudyRow.exact("P(answer = 1 | Angie failed)", Printed("0.21"), float(if_failed)),
        StudyRow.exact("P(answer = 1)", Printed("0.198"), float(total)),
        StudyRow.exact(
            "P(Angie failed | answer = 1)",
            Printed("0.43"),
            float(posterior),
            errata=("E-36",),
            if_wrong="0.084/0.198 is 0.4242…, which rounds to 0.42.",
        ),
        StudyRow.frequency("the same, by simulation", float(posterior), simulated, count),
    )
    sentence = (
        "The belief moves from 40 % to 42.4 %, not to 43 % (E-36). The signs of the noise "
        "are turned on the slide, which its symmetry forgives."
    )
    laplace = mech.Laplace(sensitivity=1, epsilon=Fraction(1, 2))
    odds = [float(laplace.probability(1 - k)) for k in range(3)]
    weights = [
        float(sum(weight[w] for w in worlds if w[0] and len(women) - sum(w) == k)) for k in range(3)
    ]
    totals = [float(sum(weight[w] for w in worlds if len(women) - sum(w) == k)) for k in range(3)]
    with_laplace = sum(o * w for o, w in zip(odds, weights, strict=True)) / sum(
        o * w for o, w in zip(odds, totals, strict=True)
    )
    comparisons = (
        Comparison(
            what="discrete Laplace noise, ε = ½",
            measure="|posterior − prior|",
            faithful=float(posterior - PRIOR),
            right=abs(with_laplace - float(PRIOR)),
            remark="with a promise, whatever is asked",
        ),
    )
    picture = bars(
        ["before", "after, as printed", "after, exactly", f"after, {count} simulated"],
        {"P(Angie failed)": [0.4, 0.43, float(posterior), simulated / max(count, 1)]},
        title="What the answer 1 tells of Angie",
        up="probability",
    )
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"S-125": picture}
    )


def _simulate(repetitions: int, seed: int) -> tuple[int, int]:
    """Draw worlds from the prior and keep those with the noisy answer 1. Return in how many of them
    Angie failed, and their number.
    """
    generator = np.random.Generator(np.random.Philox(key=[seed, 2]))
    failed = generator.random((200 * repetitions, 2)) < float(PRIOR)
    passed = 2 - failed.sum(axis=1)
    chance = np.array([float(NOISE[1 - k]) for k in range(3)])[passed]
    answered_one = generator.random(len(passed)) < chance
    return int(failed[answered_one, 0].sum()), int(answered_one.sum())


def survey_mean(repetitions: int, seed: int) -> StudyResult:
    """Run the mean of n = 150 uniform numbers, with sensitivity 1/150 and ε = 1."""
    shape, scale = Shape(rows=150, columns=1), 1 / 150
    noise = mech.Laplace(sensitivity=Fraction(1, 150), epsilon=1, grid=GRID, relation="replace")
    done = release(matrix_means(shape, 0.0, repetitions, seed), noise.perturb)
    band = mean_of_uniforms(150, 0.0)
    private, exact = Printed("0.4688349"), Printed("0.4733297")
    error = Printed("0.0044948")
    rows = (
        StudyRow.drawn(
            "private answer", private, done.private, widen(band, laplace_size(scale)[1])
        ),
        StudyRow.drawn("f(D)", exact, done.exact, band, uniforms_below(150, 0.0, exact.value)),
        StudyRow.drawn(
            "|private − f(D)|",
            error,
            done.errors,
            laplace_size(scale),
            laplace_below(scale, error.value),
        ),
    )
    stairs = mech.Staircase(
        sensitivity=Fraction(1, 150), epsilon=1, grid=Fraction(1, 2**20), relation="replace"
    )
    sentence = (
        "An ordinary run: half of all runs err by more. n is public, so the promise is about "
        "replacing a record (E-75)."
    )
    comparisons = (
        Comparison(
            what="staircase noise, the same ε",
            measure="mean |error|",
            faithful=scale,
            right=stairs.mean_error,
        ),
    )
    return StudyResult(
        rows=rows,
        sentence=sentence,
        comparisons=comparisons,
        figures={"S-179": strips(rows, title="The survey's Laplace run, n = 150")},
    )


PEOPLE, BINS, REACH = 1000, 50, 4
"""n and k are only in the slides' pictures; M = 4 is printed."""


def histogram_mean(repetitions: int, seed: int) -> StudyResult:
    """Compare the mean from a private histogram with a directly released mean, ε = 1, replace."""
    generator = np.random.Generator(np.random.Philox(key=[seed, 50]))
    data = np.clip(generator.standard_normal(PEOPLE), -REACH, REACH)
    edges = np.linspace(-REACH, REACH, BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    counts = np.histogram(data, edges)[0]
    cells = mech.Laplace(sensitivity=2, epsilon=1)
    direct = mech.Mean(low=-REACH, high=REACH, epsilon=1, relation="replace", rows=PEOPLE)
    binned, mean = float(counts @ centres) / PEOPLE, float(data.mean())
    first = [
        float(np.asarray(cells.perturb(counts)) @ centres) / PEOPLE - binned
        for _ in range(repetitions)
    ]
    second = [direct.perturb(data).value - mean for _ in range(repetitions)]
    scale = 2 * REACH / PEOPLE
    faithful = 8 / PEOPLE**2 * float((centres**2).sum())
    step = (edges[1] - edges[0]) / 2
    rows = (
        StudyRow.claim(
            "binning moves the mean by at most h/2",
            "|−0.0075 + 0.0095| = 0.002",
            f"h/2 = {shown(float(step))}",
            holds=step >= 0.002,
        ),
        StudyRow.drawn(
            "noise in the histogram's mean: −0.0845 + 0.0095",
            Printed("-0.0750"),
            first,
            prediction_band(first, logarithm=False),
        ),
        StudyRow.drawn(
            "noise in the direct mean: −0.03176 + 0.0075",
            Printed("-0.02426"),
            second,
            (-laplace_size(scale)[1], laplace_size(scale)[1]),
        ),
        _ratio(first, second, faithful / (2 * scale**2)),
    )
    sentence = (
        f"n and k are only in the slides' pictures; with n = {grouped(PEOPLE)} and k = "
        f"{BINS} both printed draws are ordinary. The "
        "histogram's mean has (k² − 1)/(3k) = "
        f"{shown((BINS**2 - 1) / (3 * BINS))} times the noise variance of the direct "
        f"one: a histogram is for its cells."
    )
    comparisons = (
        Comparison(
            what="the mean with noise of its own",
            measure="noise variance",
            faithful=faithful,
            right=2 * scale**2,
        ),
        Comparison(
            what="discrete Laplace on the counts, as ours is",
            measure="noise variance",
            faithful=faithful,
            right=cells.variance / 8 * faithful,
        ),
    )
    picture = spreads(
        {"from the histogram": first, "direct": second},
        title="Two private means, ε = 1",
        across="noise in the mean",
        exact=0.0,
    )
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"S-057": picture}
    )


def _ratio(first: list[float], second: list[float], expected: float) -> StudyRow:
    """Judge the ratio of the two variances over repetitions, with the band of the logarithm of a
    ratio of variances, each 5/R for Laplace noise (kurtosis 6).
    """
    ratio = float(np.var(first) / np.var(second))
    reach = 5.0 * math.sqrt(2 * 5 / len(first))
    band = expected * math.exp(-reach), expected * math.exp(reach)
    verdict = Verdict.AGREES if band[0] <= ratio <= band[1] else Verdict.DIFFERS
    return StudyRow(
        cell="ratio of the noise variances",
        printed=f"(k² − 1)/(3k) = {shown(expected)}",
        ours=shown(ratio),
        verdict=verdict,
        printed_value=expected,
        value=ratio,
        spread=(ratio, ratio),
        band=band,
    )


STUDIES = (
    Study(
        name="angie",
        title="Angie's grade",
        source="slides 2020, database query",
        items=("S-125",),
        run=angie,
    ),
    Study(
        name="survey-laplace",
        title="A mean of 150 numbers",
        source="survey, R run of the Laplace mechanism",
        items=("S-179",),
        run=survey_mean,
    ),
    Study(
        name="histogram-mean",
        title="The mean of a private histogram",
        source="slides 2023, simulation",
        items=("S-057", "S-181"),
        run=histogram_mean,
    ),
)
