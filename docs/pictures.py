"""The pictures of the documentation, from the exact laws: the same files at every run.

`make docs` runs this before the pages are built; `python docs/pictures.py` does it alone.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sfumato as sf
from sfumato import attacks, plots
from sfumato import mechanisms as mech
from sfumato.accounting.choose_study import epsilon_allowed, epsilon_needed
from sfumato.answers import Answer, Column, Noisy, Paid
from sfumato.answers.answer_records import Draw, LinearNoise
from sfumato.attacks.lib.attack_result import guess_bound
from sfumato.auditing.power import best_expected
from sfumato.auditing.survey import SurveyRow
from sfumato.auditing.survey_report import plot_survey as survey_picture
from sfumato.guarantees.loss_closed_forms import renyi_curves
from sfumato.guarantees.meaning.averaging_limits import averaged_after, told_apart_after
from sfumato.guarantees.meaning.bayes import posterior_bounds
from sfumato.ledger import course
from sfumato.mechanisms.hierarchy import average_factor
from sfumato.mechanisms.linear.axis_strategies import RootStrategy
from sfumato.mechanisms.linear.choose_strategy import weighted_tree
from sfumato.mechanisms.linear.query_blocks import PrefixBlock
from sfumato.mechanisms.shared.additive import Additive
from sfumato.mechanisms.shared.error_formulas import chebyshev_radius, laplace_radius
from sfumato.mechanisms.shared.prefix_strategies import tree
from sfumato.mechanisms.smooth import largest_beta
from sfumato.noise.continuous import ContinuousLaplace, Normal
from sfumato.plots.plot_style import COLOURS, FAINT, INK, figure, name_axes, quiet, tint
from sfumato.tables.aggregates.prefix_noise import PrefixStrategies
from sfumato.tables.marginals.choose_shares import choose_shares
from sfumato.tables.marginals.parts import Domain
from sfumato.testing.seeded_bits import SeededBits

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from sfumato.noise.law import SymmetricLaw

IMAGES = Path(__file__).parent / "images"


def neighbours() -> Figure:
    """What may be published if the exact count is 42, over what may be published if it is 43."""
    epsilon, delta = 0.5, 0.001
    laplace = mech.Laplace(sensitivity=1, epsilon=epsilon)
    gaussian = mech.Gaussian(sensitivity=1, epsilon=epsilon, delta=delta)
    excess = _excess(gaussian, epsilon)
    return plots.ratios(
        [
            _neighbours(laplace, f"Laplace, ε = {epsilon}", "no ratio lies outside the band"),
            _neighbours(
                gaussian,
                f"Gaussian, ε = {epsilon}, δ = {delta}",
                f"excess outside the band: {excess:.2g} in all",
            ),
        ],
        epsilon=epsilon,
        title="What a published number says about two neighbouring counts",
        across="published number",
    )


def _neighbours(m: Additive, title: str, remark: str) -> plots.LawPanel:
    published = np.arange(25, 61)
    laws = {
        f"if the exact count is {count}": np.asarray(m.probability(published - count))
        for count in (42, 43)
    }
    return plots.LawPanel(title=title, remark=remark, integers=published, laws=laws)


def _excess(m: Additive, epsilon: float) -> float:
    """Σ (P(Z = z) − e^ε·P(Z + 1 = z))₊: the δ that is left at this ε."""
    z = np.arange(-200, 201)
    p, shifted = m.probability(z), m.probability(z - 1)
    return float(np.maximum(p - math.exp(epsilon) * shifted, 0).sum())


def laplace() -> Figure:
    """Density and distribution function of the continuous Laplace law, for several locations and
    scales.
    """
    x = np.linspace(-10, 10, 801)
    laws = {
        f"location {m}, scale {b}".replace("-", "−"): ContinuousLaplace(location=m, scale=b)
        for m, b in ((0, 1), (0, 2), (0, 4), (-5, 4))
    }
    density = plots.Graph(
        title="density: the peak is 1/(2·scale)",
        x=x,
        curves={name: np.array([law.pdf(v) for v in x]) for name, law in laws.items()},
        across="x",
        up="density",
        heights=(0, 0.125, 0.25, 0.5),
    )
    distribution = plots.Graph(
        title="distribution function: ½ at the location",
        x=x,
        curves={name: np.array([law.cdf(v) for v in x]) for name, law in laws.items()},
        across="x",
        up="P(X ≤ x)",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    return plots.graphs([density, distribution], title="The Laplace law")


def error() -> Figure:
    """The error of one count against ε, and of many counts against their number."""
    delta = 1e-6
    epsilons = np.geomspace(0.01, 2, 800)
    single = plots.Graph(
        title="one count: the error is a whole number",
        x=epsilons,
        curves={
            "Laplace, pure ε": np.array(
                [mech.Laplace(sensitivity=1, epsilon=e).error(0.95) for e in epsilons],
                dtype=np.float64,
            ),
            "Gaussian, (ε, 10⁻⁶)": np.array(
                [
                    mech.Gaussian(sensitivity=1, epsilon=e, delta=delta).error(0.95)
                    for e in epsilons
                ],
                dtype=np.float64,
            ),
        },
        across="ε",
        up="error(0.95)",
        logarithmic=True,
    )
    counts = np.arange(1, 31)
    laplace = np.array(
        [math.sqrt(mech.Laplace(sensitivity=int(k), epsilon=1).variance) for k in counts]
    )
    gaussian = np.array(
        [
            math.sqrt(mech.Gaussian(sensitivity=math.sqrt(k), epsilon=1, delta=delta).variance)
            for k in counts
        ]
    )
    first = int(np.argmax(gaussian < laplace))
    many = plots.Graph(
        title="k counts at once, ε = 1 for all together",
        x=counts.astype(np.float64),
        curves={"Laplace, pure ε": laplace, "Gaussian, (ε, 10⁻⁶)": gaussian},
        across="number of counts k",
        up="standard deviation of each",
        point=(float(counts[first]), float(gaussian[first])),
        remark=f"from k = {counts[first]} on\nthe Gaussian is better",
    )
    return plots.graphs([single, many], title="How far off, and which noise")


def beliefs() -> Figure:
    """Between what a belief stays for three ε."""
    priors = np.linspace(0.002, 0.998, 250)
    bounds = {f"ε = {e}": [posterior_bounds(e, float(p)) for p in priors] for e in (0.1, 1, 3)}
    bands = {
        name: (np.array([b.low for b in band]), np.array([b.high for b in band]))
        for name, band in bounds.items()
    }
    return plots.beliefs(priors, bands, title="How far an answer can move a belief", mark=0.5)


def averaging() -> Figure:
    """How many answers a promise holds out against, and how many average the noise away."""
    epsilons = np.geomspace(0.01, 2, 60)
    pure = [sf.Pure(e) for e in epsilons]
    graph = plots.Graph(
        title="answers at this ε each",
        x=epsilons,
        curves={
            "the promise still holds out": np.array(
                [(told_apart_after(g) or 0) - 1 for g in pure], dtype=np.float64
            ).clip(1),
            "the mean of Laplace answers gives the count": np.array(
                [averaged_after(e) for e in epsilons], dtype=np.float64
            ),
        },
        across="ε",
        up="number of answers",
        logarithmic=True,
    )
    return plots.graphs([graph], title="Asking again and again")


def _tradeoff(title: str, guarantees: dict[str, sf.Guarantee]) -> plots.Tradeoff:
    alphas = np.linspace(0, 1, 201)
    return plots.Tradeoff(
        title=title,
        alphas=alphas,
        curves={
            name: np.array([g.tradeoff(float(a)) for a in alphas]) for name, g in guarantees.items()
        },
    )


def notions() -> Figure:
    """Three promises that are worth about the same to a guesser, and differ elsewhere."""
    return plots.tradeoffs(
        [
            _tradeoff(
                "none of them implies another",
                {
                    "Pure(1)": sf.Pure(1),
                    "Approx(0.8, 0.1)": sf.Approx(0.8, 0.1),
                    "GDP(1.2)": sf.GDP(1.2),
                },
            )
        ],
        title="What the best attacker can do",
    )


def pure() -> Figure:
    return plots.tradeoffs(
        [_tradeoff("two lines and a kink", {f"Pure({e})": sf.Pure(e) for e in (0.2, 1, 2)})],
        title="Pure differential privacy",
    )


def approx() -> Figure:
    curves = {f"Approx(1, {d})": sf.Approx(1, d) for d in (0, 0.05, 0.2)}
    return plots.tradeoffs(
        [_tradeoff("δ is what is betrayed at no risk", curves)],
        title="Approximate differential privacy",
    )


def gdp() -> Figure:
    touching = {"Pure(1)": sf.Pure(1), "what it implies, GDP(1.23)": sf.Pure(1).to(sf.GDP)}
    several = {f"GDP({m})": sf.GDP(m) for m in (0.5, 2)}
    return plots.tradeoffs(
        [_tradeoff("smooth curves", several), _tradeoff("the curves touch in the kink", touching)],
        title="Gaussian differential privacy",
    )


def profiles() -> Figure:
    """One Gaussian release, told in three ways."""
    epsilons = np.linspace(0, 4, 201)
    profiles_by_name = {
        "GDP(0.5), exact": sf.GDP(0.5),
        "ZCDP(0.125)": sf.ZCDP(0.125),
        "Renyi at orders 2, 8, 32": sf.Renyi({2: 0.25, 8: 1, 32: 4}),
    }
    curves = {
        name: np.array([g.delta(float(e)) for e in epsilons])
        for name, g in profiles_by_name.items()
    }
    return plots.profiles(
        epsilons, curves, title="δ(ε) of one release, told in three ways", mark=1e-6
    )


def composition() -> Figure:
    """The ε of many counts with Laplace noise at ε = 0.1, in three currencies."""
    counts, delta = np.arange(1, 201), 1e-6
    zcdp, gdp = mech.Laplace(sensitivity=1, epsilon=0.1).promises[1], sf.Pure(0.1).to(sf.GDP)
    graph = plots.Graph(
        title="k counts at ε = 0.1 each; ε at δ = 10⁻⁶",
        x=counts.astype(np.float64),
        curves={
            "added up as Pure": counts / 10,
            "as ZCDP": np.array([(int(k) * zcdp).epsilon(delta) for k in counts]),
            "as GDP": np.array([(int(k) * gdp).epsilon(delta) for k in counts]),
        },
        across="number of counts k",
        up="ε of all together",
    )
    return plots.graphs([graph], title="Which currency")


def renyi() -> Figure:
    """Figure 3.1 of the thesis, after Mironov 2017: three mechanisms, and no curve that is always
    below 1 but those of a small pure ε.
    """
    alphas = np.geomspace(1.05, 64, 120)
    settings = {
        "randomized response": "randomized response, p = 0.6",
        "Laplace": "Laplace, b = 2",
        "Gaussian": "Gaussian, σ = 2",
    }
    bounds = renyi_curves([float(a) for a in alphas], truth=0.6, scale=2, sigma=2)
    limits = {settings["randomized response"]: math.log(1.5), settings["Laplace"]: 0.5}
    return plots.orders(
        alphas,
        {settings[name]: np.array(curve) for name, curve in bounds.items()},
        title="Rényi curves of three mechanisms",
        limits=limits,
    )


def random() -> Figure:
    """How far replacing one of ten uniform values by another moves their maximum: P(D > t) = 2(1 −
    t)^11/11.
    """
    t, gamma = np.linspace(0, 1, 201), 0.05
    at = 1 - (11 * gamma / 2) ** (1 / 11)
    graph = plots.Graph(
        title="chance that a random replacement moves it by more than t",
        x=t,
        curves={"maximum of ten uniform values": 2 * (1 - t) ** 11 / 11},
        across="t",
        up="chance",
        point=(at, gamma),
        remark=f"5 % of the pairs move it by more than {at:.2f};\nthe worst pair moves it by 1",
        shift=(16.0, 26.0),
    )
    return plots.graphs([graph], title="What random DP leaves out")


def randomized_response() -> Figure:
    """How often the truth is told, and how far an estimate from a million reports is off."""
    epsilons, reports = np.linspace(0.1, 5, 120), 1_000_000
    mechanisms = {
        f"{k} categories": [
            mech.RandomizedResponse(epsilon=round(float(e), 4), categories=range(k))
            for e in epsilons
        ]
        for k in (2, 4, 16)
    }
    truth_graph = plots.Graph(
        title="a report is true with probability",
        x=epsilons,
        curves={
            name: np.array([m.probability(0, 0) for m in each]) for name, each in mechanisms.items()
        },
        across="ε",
        up="probability",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    off = plots.Graph(
        title="a million reports: 95 % error",
        x=epsilons,
        curves={
            name: np.array([m.error(0.95, reports=reports) for m in each])
            for name, each in mechanisms.items()
        },
        across="ε",
        up="error of a frequency",
        logarithmic=True,
    )
    return plots.graphs([truth_graph, off], title="Randomized response")


def mean() -> Figure:
    """The error of a private mean of numbers in [0, 1] beside the sampling error, against the
    number of rows.
    """
    rows = np.unique(np.geomspace(10, 100_000, 90).astype(int))
    fixed = [
        mech.Mean(low=0, high=1, epsilon=1, relation="replace", rows=int(n)).error(0.95)
        for n in rows
    ]
    secret = mech.Mean(low=0, high=1, epsilon=1, relation="add-remove")
    graph = plots.Graph(
        title="95 % error of a mean on [0, 1], ε = 1",
        x=rows.astype(np.float64),
        curves={
            "n public (replace)": np.array(fixed),
            "n secret (add-remove)": np.array([secret.error(0.95, rows=int(n)) for n in rows]),
            "sampling error": 1.96 / np.sqrt(12 * rows),
        },
        across="number of rows n",
        up="error",
        logarithmic=True,
    )
    return plots.graphs([graph], title="The noise soon matters less than the sample")


def histogram() -> Figure:
    """One release of a histogram of a thousand invented ages, with the error that holds for all
    bins at once.
    """
    edges = np.arange(0, 101, 5)
    ages = np.array([Normal(location=42, sigma=17).quantile((i + 0.5) / 1000) for i in range(1000)])
    h = mech.Histogram(edges=edges.tolist(), epsilon=0.5, relation="replace")
    released = h.perturb(ages, bits=SeededBits(6))
    title = "A thousand ages, ε = 0.5: all bins at once, 95 %"
    return plots.cells(
        edges.astype(np.float64),
        h.tally(ages),
        released.counts,
        error=released.error(simultaneous=True),
        title=title,
        across="age",
    )


def hierarchy() -> Figure:
    """1024 cells at ε = 1: what branching does to ranges on average, and to ranges of each
    length.
    """
    cells, tried = 1024, np.array([*range(2, 65), 128, 256, 512, 1024])
    trees = {
        int(b): mech.Hierarchy(
            edges=range(cells + 1), epsilon=1, branching=int(b), relation="add-remove"
        )
        for b in tried
    }
    best = mech.best_branching(cells, epsilon=1)
    spread = np.array(
        [math.sqrt(trees[int(b)].noise.variance * average_factor(cells, int(b))) for b in tried]
    )
    average = plots.Graph(
        title="all ranges, on average",
        x=tried.astype(np.float64),
        curves={"tree of this branching": spread},
        across="branching",
        up="standard deviation",
        logarithmic=True,
        point=(float(best), float(spread[list(tried).index(best)])),
        remark=f"{best}, the best",
        shift=(-38.0, 84.0),
    )
    lengths, flat = (
        np.arange(1, cells + 1, 9),
        mech.Histogram(edges=range(cells + 1), epsilon=1, relation="add-remove").noise.variance,
    )
    curves = {
        f"tree, branching {b}": np.array([math.sqrt(trees[b].variance(0, int(m))) for m in lengths])
        for b in (2, best)
    }
    each = plots.Graph(
        title="the range of the first m cells",
        x=lengths.astype(np.float64),
        curves=curves | {"flat histogram": np.sqrt(flat * lengths)},
        across="m",
        up="standard deviation",
    )
    return plots.graphs([average, each], title="Ranges from a hierarchy of 1024 cells")


def linear_queries() -> Figure:
    """256 prefixes at μ = 1: the deviation of each, by strategy; and how it grows."""
    cells = 256
    best = mech.LinearQueries(mech.prefixes(cells), mu=1, relation="add-remove")
    block, noise = PrefixBlock(cells), mech.Gaussian(sensitivity=1, mu=1).variance
    tree = weighted_tree(((1.0, block),), 2, "L2")
    strategies = {"square root": RootStrategy(cells), "binary tree": tree}
    curves = {
        name: np.sqrt(noise * s.column_l2_squared * block.variances(s.spread))
        for name, s in strategies.items()
    }
    at = np.arange(1, cells + 1, dtype=np.float64)
    assert best.bound is not None
    each = plots.Graph(
        title="the first m of 256 cells, Gaussian noise",
        x=at,
        curves={
            "optimised": np.sqrt(best.variances()),
            **curves,
            "lower bound": np.full(cells, best.bound),
        },
        across="m",
        up="standard deviation",
    )
    sizes = np.array([16, 32, 64, 128, 256, 2048, 4096])  # a matrix of 1,024 cells is slow
    workloads = [mech.prefixes(int(n)) for n in sizes]
    shown = [mech.LinearQueries(w, mu=1, relation="add-remove") for w in workloads]
    growth = plots.Graph(
        title="root mean square of all prefixes",
        x=sizes.astype(np.float64),
        curves={
            "optimised": np.array([m.rmse for m in shown]),
            "square root": np.array(
                [_rms(RootStrategy(int(n)), PrefixBlock(int(n))) for n in sizes]
            ),
            "cells": np.sqrt((sizes + 1) / 2),
        },
        across="cells",
        up="standard deviation",
        logarithmic=True,
    )
    return plots.graphs([each, growth], title="Cumulative counts at μ = 1")


def _rms(strategy: RootStrategy, block: PrefixBlock) -> float:
    return math.sqrt(strategy.column_l2_squared * strategy.total(block) / block.queries)


def cumulative() -> Figure:
    """The curve of ages in two cities, as `CUMULATIVE` releases it."""
    edges = tuple(map(Fraction, range(0, 101, 5)))
    cells = np.array(
        [np.roll(np.hanning(22)[1:-1] * 900, move).astype(np.int64) for move in (-2, 2)]
    )
    strategies = PrefixStrategies(20)
    strategy = strategies.of("L1")
    noise = mech.Laplace(sensitivity=strategy.column_l1, epsilon="0.02", unit="row")
    measured = noise.perturb(strategy.measure(cells), bits=SeededBits(11))
    text = "cumulative(age, edges=[0, 5, …, 100])"
    return Answer(
        keys=("city",),
        rows=(("Bari",), ("Roma",)),
        pieces=(Noisy("c", measured, 1, noise),),
        columns=(Column("below", "cumulative", (0,), text, strategies.numbers("L1"), edges),),
        cost=noise.promise,
        receipts=(Paid(1, "c0ffee", "2026-09-01T12:00:00.000+00:00"),),
    ).plot("below", title="How many visitors are younger")


def accuracy() -> Figure:
    """The error that holds for k cells at once: from the exact law, and from the union bound."""
    sizes = np.unique(np.geomspace(1, 10_000, 60).astype(int))
    m = mech.Laplace(sensitivity=2, epsilon=1)
    graph = plots.Graph(
        title="95 %, all k at once, scale 2",
        x=sizes.astype(np.float64),
        curves={
            "exact law": np.array([m.error(0.95, values=int(k)) for k in sizes], dtype=np.float64),
            "b·ln(k/β), rounded up": np.array(
                [math.ceil(laplace_radius(scale=2, beta="0.05", values=int(k))) for k in sizes],
                dtype=np.float64,
            ),
            "Chebyshev, β/k each": np.array(
                [chebyshev_radius(variance=8, times=math.sqrt(k / 0.05)) for k in sizes]
            ),
        },
        across="number of cells k",
        up="error",
        logarithmic=True,
    )
    return plots.graphs([graph], title="How loose are the theorems?")


def _stairs(law: SymmetricLaw, reach: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probabilities from −reach to reach as a line of flat pieces."""
    z = np.arange(-reach, reach + 1)
    return np.repeat(np.append(z, reach + 1) - 0.5, 2)[1:-1], np.repeat(np.asarray(law.pmf(z)), 2)


def discrete_gaussian() -> Figure:
    """The discrete Gaussian beside the rounded normal: probabilities at σ = 1, and the δ of each at
    σ = 2.
    """
    names = ("discrete Gaussian", "rounded normal")
    narrow = [mech.DiscreteGaussian(sensitivity=1, sigma=1), mech.Gaussian(sensitivity=1, sigma=1)]
    x, first = _stairs(narrow[0].law, 4)
    law = plots.Graph(
        title="σ = 1",
        x=x,
        curves={names[0]: first, names[1]: _stairs(narrow[1].law, 4)[1]},
        across="noise",
        up="probability",
    )
    m, epsilons = mech.DiscreteGaussian(sensitivity=1, sigma=2), np.linspace(0, 1.5, 151)
    gdp = mech.Gaussian(sensitivity=1, sigma=2).promise
    curves = {
        names[0]: np.array([m.delta(round(float(e), 4)) for e in epsilons]),
        names[1]: np.array([gdp.delta(round(float(e), 4)) for e in epsilons]),
        "what follows from ρ": np.array([m.promise.delta(round(float(e), 4)) for e in epsilons]),
    }
    delta = plots.Graph(title="σ = 2, sensitivity 1", x=epsilons, curves=curves, across="ε", up="δ")
    return plots.graphs([law, delta], title="Two Gaussian laws on the integers")


def staircase() -> Figure:
    """The staircase beside the geometric law, and the expected error of both on a fine grid."""
    m, laplace = mech.Staircase(sensitivity=8, epsilon=2), mech.Laplace(sensitivity=8, epsilon=2)
    x, stairs = _stairs(m.law, 24)
    law = plots.Graph(
        title="ε = 2, sensitivity 8",
        x=x,
        curves={"staircase": stairs, "Laplace": _stairs(laplace.law, 24)[1]},
        across="noise",
        up="probability",
    )
    epsilons = np.linspace(0.5, 8, 151)
    curves = {
        "staircase": np.array([mech.staircase_limit(round(float(e), 4))[1] for e in epsilons]),
        "Laplace": 1 / epsilons,
    }
    error = plots.Graph(
        title="fine grid, sensitivity 1",
        x=epsilons,
        curves=curves,
        across="ε",
        up="expected absolute error",
    )
    return plots.graphs([law, error], title="Staircase noise for one number")


def above_threshold() -> Figure:
    """The chance of yes against the value, and α against the number of queries."""
    single, ten = (mech.AboveThreshold(sensitivity=1, epsilon=1, answers=c) for c in (1, 10))
    names = {"one answer of yes": single, "ten": ten}
    values, z = np.arange(0, 201), np.arange(-150, 151)

    def chance(m: mech.AboveThreshold) -> NDArray[np.float64]:
        """P(v + Z₂ ≥ 100 + Z₁)."""
        weight, tail = (
            np.asarray(m.threshold_law.pmf(z)),
            np.asarray(m.query_law.tail(np.arange(-250, 251))),
        )
        return np.array([weight @ tail[250 + 100 + z - v] for v in values])

    answers = plots.Graph(
        title="threshold 100, ε = 1",
        x=values.astype(np.float64),
        curves={k: chance(m) for k, m in names.items()},
        across="value",
        up="chance of yes",
    )
    queries = np.unique(np.geomspace(1, 100_000, 60).astype(int))
    curves = {
        k: np.array([m.accuracy(queries=int(n), beta=0.05) for n in queries], dtype=np.float64)
        for k, m in names.items()
    }
    curves["one, by the textbook"] = np.array(
        [mech.textbook_accuracy(epsilon=1, queries=int(n), beta=0.05) for n in queries]
    )
    error = plots.Graph(
        title="all right within α, but for 5 %",
        x=queries.astype(np.float64),
        curves=curves,
        across="queries",
        up="α",
        logarithmic=True,
    )
    return plots.graphs([answers, error], title="Above threshold")


def prefix_sums() -> Figure:
    """The deviation of each of 365 sums, and the largest deviation of each strategy against the
    length.
    """
    m = mech.PrefixSums(length=365, mu=1)
    days = np.arange(1, 366)
    spread = np.array([m.deviation(int(day)) for day in days])
    each = plots.Graph(
        title="each of 365 sums, μ = 1",
        x=days.astype(np.float64),
        curves={"square root": spread},
        across="day",
        up="standard deviation",
    )
    lengths = [2**k for k in range(1, 17)]
    errors = [{s.name: math.sqrt(s.variance) for s in mech.strategies(n)} for n in lengths]
    curves = {
        name: np.array([f[name] for f in errors]) for name in ("square root", "tree of 2", "flat")
    }
    compared = plots.Graph(
        title="the largest, against the length",
        x=np.array(lengths, dtype=np.float64),
        curves=curves,
        across="length",
        up="standard deviation",
        logarithmic=True,
    )
    return plots.graphs([each, compared], title="Prefix sums")


def streams() -> Figure:
    """The deviation of a total against the number of periods, and of a window against its length,
    for streams of several shapes.
    """
    totals = mech.RunningSums(mu_squared=1)
    periods = np.unique(np.logspace(0.5, 5, 60).astype(np.int64))
    trees = [math.sqrt(tree(int(n), 2).variance) for n in periods]
    over_time = plots.Graph(
        title="a total, μ = 1",
        x=periods.astype(np.float64),
        curves={
            "known end": np.array([mech.square_root_factor(int(n)) for n in periods]),
            "no end": np.array([totals.deviation(int(n)) for n in periods]),
            "binary tree, known end": np.array(trees),
        },
        across="periods",
        up="standard deviation",
        logarithmic=True,
    )
    lengths = np.unique(np.logspace(0, 2, 25).astype(np.int64))
    windows = plots.Graph(
        title="a window, μ = 1",
        x=lengths.astype(np.float64),
        curves={
            "stream of windows": np.array(
                [
                    mech.RunningSums(mu_squared=1, window=int(n)).deviation(2_000, 2_001 - int(n))
                    for n in lengths
                ]
            ),
            "no end": np.array([totals.deviation(2_000, 2_001 - int(n)) for n in lengths]),
            "separate noise": np.sqrt(lengths),
        },
        across="length of the window",
        up="standard deviation",
        logarithmic=True,
    )
    return plots.graphs([over_time, windows], title="Streams")


def key_selection() -> Figure:
    """How often a group is named, by the three rules; and the size at which it is named half the
    time.
    """
    rules = {
        "best for one vote": mech.OptimalSelection,
        "Laplace threshold": mech.LaplaceThreshold,
        "Gaussian threshold": mech.GaussianThreshold,
    }
    sizes = np.arange(0, 41)
    named = {
        name: np.array([m.keep_probability(int(n)) for n in sizes])
        for name, rule in rules.items()
        for m in [rule(epsilon=1, delta=1e-5)]
    }
    left = plots.Graph(
        title="one group per unit",
        x=sizes.astype(np.float64),
        curves=named,
        across="units in the group",
        up="chance to be named",
    )
    groups = np.arange(1, 31)

    def half(m: mech.OptimalSelection | mech.LaplaceThreshold | mech.GaussianThreshold) -> float:
        n = next(k for k in range(1, 10_000) if m.keep_probability(k) >= 0.5)
        return float(n)

    curves = {
        name: np.array([half(rule(epsilon=1, delta=1e-5, groups=int(g))) for g in groups])
        for name, rule in rules.items()
    }
    right = plots.Graph(
        title="the size that is named half the time",
        x=groups.astype(np.float64),
        curves=curves,
        across="groups per unit",
        up="units in the group",
    )
    return plots.graphs([left, right], title="Which groups may be named, ε = 1, δ = 10⁻⁵")


def exponential() -> Figure:
    """How likely each of ten candidates is, and how far behind the chosen one may lie."""
    behind, epsilons = np.arange(10), (0.5, 1, 2)
    law = plots.Graph(
        title="ten candidates, scores 9, 8, …, 0",
        x=behind.astype(np.float64),
        curves={
            f"ε = {e}": mech.Exponential(sensitivity=1, epsilon=e).probabilities(-behind)
            for e in epsilons
        },
        across="score behind the best",
        up="probability",
    )
    counts = np.unique(np.geomspace(2, 10**6, 60).astype(int))
    off = plots.Graph(
        title="regret(0.95)",
        x=counts.astype(np.float64),
        curves={
            f"ε = {e}": np.array(
                [
                    mech.Exponential(sensitivity=1, epsilon=e).regret(0.95, count=int(n))
                    for n in counts
                ]
            )
            for e in epsilons
        },
        across="number of candidates",
        up="score behind the best, at 95 %",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="The exponential mechanism")


CHOOSERS: dict[str, Any] = {
    "exponential": mech.Exponential,
    "permute and flip": mech.PermuteAndFlip,
    "noisy max": mech.NoisyMax,
}


def _chances(name: str, epsilon: float, scores: NDArray[np.int64]) -> NDArray[np.float64]:
    """The law of a choice, averaged over the scores in order and in reverse: noisy max gives ties
    to the first.
    """
    m = CHOOSERS[name](sensitivity=1, epsilon=epsilon)
    return np.asarray((m.probabilities(scores) + m.probabilities(scores[::-1])[::-1]) / 2)


def permute_and_flip() -> Figure:
    """Three ways to choose among ten, and their expected regret."""
    behind, epsilons = np.arange(10), np.geomspace(0.1, 8, 25)
    law = plots.Graph(
        title="ten candidates, scores 9, 8, …, 0, ε = 1",
        x=behind.astype(np.float64),
        curves={name: _chances(name, 1, -behind) for name in CHOOSERS},
        across="score behind the best",
        up="probability",
    )
    regrets = {
        name: np.array(
            [float(_chances(name, round(float(e), 4), -behind) @ behind) for e in epsilons]
        )
        for name in CHOOSERS
    }
    off = plots.Graph(
        title="the same ten",
        x=epsilons,
        curves=regrets,
        across="ε",
        up="expected score behind the best",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="Three ways to choose")


def noisy_max() -> Figure:
    """How likely the worse of two is, and how far behind the chosen one may lie."""
    behind = np.arange(0, 31)
    law = plots.Graph(
        title="two candidates, ε = 1",
        x=behind.astype(np.float64),
        curves={
            name: np.array([_chances(name, 1, np.array([0, -int(r)]))[1] for r in behind])
            for name in CHOOSERS
        },
        across="score behind the other",
        up="probability to be chosen",
        heights=(0, 0.1, 0.2, 0.3, 0.4, 0.5),
    )
    counts = np.unique(np.geomspace(2, 10**6, 60).astype(int))
    off = plots.Graph(
        title="regret(0.95), ε = 1",
        x=counts.astype(np.float64),
        curves={
            name: np.array(
                [
                    CHOOSERS[name](sensitivity=1, epsilon=1).regret(0.95, count=int(n))
                    for n in counts
                ]
            )
            for name in ("exponential", "noisy max")
        },
        across="number of candidates",
        up="score behind the best, at 95 %",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="Report noisy max")


def top_k() -> Figure:
    """Three of eight: who is among them, and whether they are the best three."""
    scores, k = [14, 12, 10, 8, 6, 4, 2, 0], 3

    def sets(epsilon: float) -> dict[frozenset[int], float]:
        """Every set of three, with its probability, over all orders."""
        once, out = (
            mech.TopK(k=k, sensitivity=1, epsilon=epsilon).round,
            dict[frozenset[int], float](),
        )
        weights = np.exp([float(once.rate) * s for s in scores])
        for order in itertools.permutations(range(len(scores)), k):
            left, chance = weights.sum(), 1.0
            for i in order:
                chance, left = chance * weights[i] / left, left - weights[i]
            out[frozenset(order)] = out.get(frozenset(order), 0.0) + float(chance)
        return out

    among = {
        f"ε = {e}": np.array(
            [sum(p for chosen, p in sets(e).items() if i in chosen) for i in range(len(scores))]
        )
        for e in (1, 3, 9)
    }
    law = plots.Graph(
        title="scores 14, 12, …, 0; k = 3",
        x=np.arange(1.0, 9.0),
        curves=among,
        across="rank of the candidate",
        up="chance to be among the three",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    epsilons = np.linspace(0.2, 20, 60)
    best = {
        "all three right": np.array(
            [sets(round(float(e), 3))[frozenset(range(k))] for e in epsilons]
        )
    }
    off = plots.Graph(
        title="the three best, all of them",
        x=epsilons,
        curves=best,
        across="ε",
        up="probability",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    return plots.graphs([law, off], title="The three best of eight")


VALUES = (8, 15, 21, 24, 27, 30, 31, 33, 34, 36, 38, 39, 41, 42, 44, 47, 52, 58, 66, 90)


def _points(runs: list[tuple[Any, Any, float]]) -> NDArray[np.float64]:
    """Runs of whole numbers that share a probability, one by one."""
    return np.concatenate(
        [np.full(int(last - first) + 1, p / (int(last - first) + 1)) for first, last, p in runs]
    )


def quantile() -> Figure:
    """Where a private median falls, and by how many ranks it is off."""
    x = np.arange(0.0, 101.0)
    law = plots.Graph(
        title="median of twenty values, replace",
        x=x,
        curves={
            f"ε = {e}": _points(
                mech.Quantile(low=0, high=100, epsilon=e, relation="replace", grid=1).law(VALUES)
            )
            for e in (0.2, 1, 3)
        },
        across="published median (exact: 36 to 38)",
        up="probability",
    )
    epsilons = np.geomspace(0.05, 5, 60)
    relations = {"replace": "replace", "add-remove": "add-remove"}
    off = plots.Graph(
        title="a million grid points",
        x=epsilons,
        curves={
            name: np.array(
                [
                    mech.Quantile(
                        low=0, high=1, epsilon=float(e), relation=relation, grid=2**-20
                    ).rank_error(0.95)
                    for e in epsilons
                ]
            )
            for name, relation in relations.items()
        },
        across="ε",
        up="ranks off, at 95 %",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="A private median")


def inverse_sensitivity() -> Figure:
    """Where the median falls, and three laws for a count."""
    law = plots.Graph(
        title="median of twenty values",
        x=np.arange(0.0, 101.0),
        curves={
            f"ε = {e}": _points(
                mech.InverseSensitivity("median", low=0, high=100, grid=1, epsilon=e).law(VALUES)
            )
            for e in (0.5, 1, 3)
        },
        across="published median (exact: 36)",
        up="probability",
    )
    epsilons, bits, z = np.geomspace(0.2, 5, 25), [1] * 50 + [0] * 50, np.arange(101)

    def deviation(law: NDArray[np.float64]) -> float:
        return math.sqrt(float(law @ (z - 50) ** 2))

    counts: dict[str, list[float]] = {
        "rate ε/2": [],
        "largest rate that keeps ε": [],
        "geometric at ε": [],
    }
    for e in (round(float(v), 3) for v in epsilons):
        counts["rate ε/2"].append(
            deviation(mech.Exponential(sensitivity=1, epsilon=e).probabilities(-np.abs(z - 50)))
        )
        counts["largest rate that keeps ε"].append(
            deviation(_points(mech.InverseSensitivity("count", epsilon=e).law(bits)))
        )
        counts["geometric at ε"].append(math.sqrt(mech.Laplace(sensitivity=1, epsilon=e).variance))
    off = plots.Graph(
        title="50 of 100, counted",
        x=epsilons,
        curves={name: np.array(values) for name, values in counts.items()},
        across="ε",
        up="standard deviation",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="Inverse sensitivity")


def propose_test_release() -> Figure:
    """How likely there is an answer; and what the printed calibration is worth."""
    distances, public = np.arange(0, 61), {"low": 0, "high": 1, "bound": 0.5, "delta": 1e-6}
    passing = {
        f"ε = {e}": np.array(
            [
                mech.ProposeTestRelease("median", epsilon=e, **public).passes(int(d))
                for d in distances
            ]
        )
        for e in (0.5, 1, 2)
    }
    law = plots.Graph(
        title="δ = 10⁻⁶, half of ε for the test",
        x=distances.astype(np.float64),
        curves=passing,
        across="changes until unstable",
        up="chance of an answer",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    claimed = np.geomspace(1e-9, 1e-1, 60)
    printed = plots.Graph(
        title="the printed calibration, ε = 1",
        x=claimed,
        curves={
            "claimed": claimed,
            "passes where unstable": np.sqrt(claimed / 2) / 2,
            "in truth": np.array([_printed(float(d)) for d in claimed]),
        },
        across="δ as claimed",
        up="δ",
        logarithmic=True,
    )
    return plots.graphs([law, printed], title="Propose, test, release")


def _printed(delta: float) -> float:
    """The δ at ε = 1 of threshold ln(2/δ)/2 and scale 1 for test and release, largest over all
    distances, in closed form.
    """
    threshold = math.log(2 / delta) / 2

    def passes(distance: int) -> float:
        t = threshold - distance
        return math.exp(-t) / 2 if t >= 0 else 1 - math.exp(t) / 2

    def excess(ours: float, theirs: float) -> float:
        ends = math.sqrt(theirs / ours)
        return (ours - theirs) / 2 + ours * (1 - ends) / 2 - theirs * (1 / ends - 1) / 2

    return max(excess(passes(d), passes(d - 1)) for d in range(1, 60))


def smooth() -> Figure:
    """The smooth sensitivity beside the local and the global one; and β, exactly and by the
    textbook.
    """
    sizes = np.unique(np.geomspace(101, 10_000, 30).astype(int)) | 1
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6)
    sensitivities = np.array([float(m.sensitivity(np.linspace(0, 1, n))) for n in sizes])
    law = plots.Graph(
        title="median of n values spread over [0, 1]",
        x=sizes.astype(np.float64),
        curves={
            "global": np.ones(len(sizes)),
            "smooth, ε = 1, δ = 10⁻⁶": sensitivities,
            "local: not private": 1 / (sizes - 1),
        },
        across="n",
        up="sensitivity",
        logarithmic=True,
    )
    deltas = np.geomspace(1e-10, 1e-1, 60)
    exact = np.array([float(largest_beta(Fraction(1), Fraction(float(d)))) for d in deltas])
    off = plots.Graph(
        title="smoothness at ε = 1",
        x=deltas,
        curves={"β, exactly": exact, "β = ε/(2·ln(2/δ))": 1 / (2 * np.log(2 / deltas))},
        across="δ",
        up="β",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="Smooth sensitivity")


def gibbs() -> Figure:
    """A hundred values pull the law away from the prior; and the linear extreme case."""
    m = mech.Gibbs(epsilon=1, delta=1e-6, lipschitz=1, convexity=1, low=-4, high=4, cells=80)
    losses = [
        [abs(point - v) for point in m.points] for v in [Fraction(3, 2)] * 40 + [Fraction(2)] * 60
    ]
    middle = np.array([float(p) for p in m.points[:-1]]) + 0.05
    law = plots.Graph(
        title="40 values at 1.5, 60 at 2",
        x=middle,
        curves={"prior": m.probabilities([]), "Gibbs law": m.probabilities(losses)},
        across="θ",
        up="probability of a cell",
    )
    epsilons, gdp = np.linspace(0.2, 1, 60), m.promises[1]
    off = plots.Graph(
        title="linear losses: δ at ε",
        x=epsilons,
        curves={
            "in truth, and by GDP": np.array([gdp.delta(round(float(e), 4)) for e in epsilons]),
            "promised at ε = 1": np.full(len(epsilons), 1e-6),
        },
        across="ε",
        up="δ",
        logarithmic=True,
    )
    return plots.graphs([law, off], title="Gibbs sampling, ε = 1, δ = 10⁻⁶")


def ledger() -> Figure:
    """Five months of a budget: two analysts, a reservation that was given back, and a budget that
    was raised.
    """
    book = sf.Ledger.open(
        budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove"
    )
    book.allow("alice", sf.Pure("1/2"))
    book.allow("bob", sf.Pure("1/2"))
    for month, (share, cost) in enumerate(
        [("alice", 0.1), (None, 0.15), ("bob", 0.2), ("alice", 0.1), ("bob", 0.1)]
    ):
        book.charge(sf.Pure(cost), memo=f"month {month}", share=share)
    book.release(book.reserve(sf.Pure(0.3), memo="not needed"))
    book.amend(sf.Pure(1.5), "for the rest of the year")
    book.charge(sf.Pure(0.3), memo="the census", share="alice")
    days = (0, 0, 0, 12, 31, 55, 80, 104, 118, 124, 140, 152)  # as if it had taken that long
    start = datetime.datetime(2026, 1, 8, 9, tzinfo=datetime.UTC)
    moments = [
        replace(m, when=(start + datetime.timedelta(days=d)).isoformat())
        for m, d in zip(course(book), days, strict=True)
    ]
    return plots.spending(moments, title="The budget of visits")


def accounting_noise() -> Figure:
    """How much noise k counts need for the same promise, by an even split and by the tight
    total.
    """
    counts, delta = np.array([1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 140, 200]), 1e-6

    def scale(k: int) -> float:
        start = mech.Laplace(sensitivity=1, scale=max(1.0, 4.5 * k**0.5), grid=2**-10)
        return float(
            sf.calibrate([(start, k)], sf.Approx(1, delta), precision=1e-3).schedule[0][0].scale
        )  # type: ignore[attr-defined]

    tight = np.array([scale(int(k)) for k in counts])
    graph = plots.Graph(
        title="scale of Laplace noise for k counts, (1, 10⁻⁶) in all",
        x=counts.astype(np.float64),
        curves={"ε split evenly": counts.astype(np.float64), "by the certified total": tight},
        across="number of counts k",
        up="scale of the noise of each",
        point=(float(counts[-2]), float(tight[-2])),
        remark=f"{counts[-2] / tight[-2]:.1f} times less noise",
        shift=(-20.0, -12.0),
    )
    return plots.graphs([graph], title="What tight accounting buys")


def accounting_sampled() -> Figure:
    """ε of many steps of a sampled Gaussian, through Rényi divergence and certified."""
    counts, delta = np.array([200, 500, 1000, 2000, 3500, 5000, 7500, 10_000]), 1e-6
    step = mech.Gaussian(sensitivity=1, sigma=1).subsample("0.001")
    totals = [sf.compose([(step, int(k))]) for k in counts]
    high, low = (
        np.array([bound(total) for total in totals])
        for bound in (lambda t: t.epsilon(delta), lambda t: t.epsilon_lower(delta))
    )
    both = plots.Graph(
        title="ε of all together at δ = 10⁻⁶",
        x=counts.astype(np.float64),
        curves={
            "through Rényi divergence": np.array(
                [(int(k) * step.promise).epsilon(delta) for k in counts]
            ),
            "certified, both bounds": high,
        },
        across="number of steps k",
        up="ε",
    )
    width = plots.Graph(
        title="how far apart the two bounds are",
        x=counts.astype(np.float64),
        curves={"certified, both bounds": 1e6 * (high - low) / high},
        across="number of steps k",
        up="millionths of ε",
    )
    return plots.graphs([both, width], title="Steps with σ = 1 on samples of one in a thousand")


def tables() -> Figure:
    """Counts of visits by city, as they were released: six cities of eight, each with its
    interval.
    """
    about = {"relation": "add-remove", "unit": "user_id"}
    cell = mech.Laplace(sensitivity=3, epsilon="0.3076125", **about)
    counted = LinearNoise(tuple(Draw(cell, Fraction(1), f"0.{i}") for i in range(3)))
    numbers = {
        "Bari": 648,
        "Milano": 3361,
        "Napoli": 2025,
        "Palermo": 918,
        "Roma": 4323,
        "Torino": 1537,
    }
    pieces = (Noisy("count", [[number] for number in numbers.values()], 1, counted),)
    columns = (Column("n", "count", (0,), "visits by city, a customer counts for at most three"),)
    receipt = Paid(1, "c0ffee", "2026-09-01T12:00:00.000+00:00")
    return Answer(
        keys=("city",),
        rows=tuple((city,) for city in numbers),
        pieces=pieces,
        columns=columns,
        cost=cell.promise,
        receipts=(receipt,),
    ).plot("n")


def cells() -> Figure:
    """How a row with the value 70 adds to the two cells of a column with the bounds [0, 100], and
    the noise of three numbers: each measured apart, or all read from cells.
    """
    canvas = figure(9.4, 3.7)
    left, right = canvas.subplots(1, 2, width_ratios=(1.25, 1))
    value, low, high = 70, COLOURS[0], COLOURS[1]
    part = value / 100
    quiet(left)
    left.set_title("one row, spend = 70 of [0, 100]", fontsize=10, color=INK, pad=10)
    left.plot([0, 100], [1, 0], color=low, linewidth=2)
    left.plot([0, 100], [0, 1], color=high, linewidth=2)
    left.plot([value, value], [0, 1.03], color=INK, linewidth=1, linestyle=(0, (3, 3)))
    for height, colour, name, at in (
        (1 - part, low, "0.3 into low", (value + 3, 1 - part + 0.03)),
        (part, high, "0.7 into high", (value - 3, part + 0.03)),
    ):
        left.plot([value], [height], "o", color=colour, markersize=8)
        across = "left" if at[0] > value else "right"
        left.text(*at, name, color=colour, fontsize=10, fontweight="bold", ha=across, va="bottom")
    left.text(13, 0.93, "low = 1 − spend/100", color=low, fontsize=9, va="center")
    left.text(15, 0.06, "high = spend/100", color=high, fontsize=9, va="center")
    left.text(value, 1.05, "0.3 + 0.7 = 1", color=INK, fontsize=9, ha="center", va="bottom")
    left.set_xlim(0, 100)
    left.set_ylim(0, 1.18)
    left.set_xticks([0, 25, 50, 70, 100])
    left.set_yticks([0, 0.25, 0.5, 0.75, 1])
    name_axes(left, "spend", "what the row adds")
    quiet(right)
    right.set_title("noise, if all three are asked", fontsize=10, color=INK, pad=10)
    names = ("COUNT(*)", "COUNT(spend)", "SUM of\nspend − 50, in 50s")
    apart, shared = (3.0, 3.0, 3.0), (math.sqrt(3), math.sqrt(2), math.sqrt(2))
    for shift, numbers, colour, label in (
        (-0.19, apart, FAINT, "each with a third of ε"),
        (0.19, shared, COLOURS[2], "from cells with all of ε"),
    ):
        places = [i + shift for i in range(3)]
        right.bar(places, numbers, width=0.34, color=colour, label=label)
        for x, number in zip(places, numbers, strict=True):
            right.text(x, number + 0.05, f"{number:.2f}", ha="center", fontsize=9, color=INK)
    right.set_xticks(range(3), names)
    right.set_yticks([0, 1, 2, 3])
    right.set_ylim(0, 4.2)
    right.legend(frameon=False, fontsize=9, loc="upper right", labelcolor=INK)
    name_axes(right, "", "standard deviations of one count")
    return canvas


def reports() -> Figure:
    """The deviation of a cell in each table of a CUBE by a city (of 20), a month and a VIP, with
    the whole budget μ = 1: every table by itself, as a CUBE, and as a report.
    """
    names = ("city", "month", "vip")
    tables = [keys for size in (3, 2, 1, 0) for keys in itertools.combinations(range(3), size)]
    domain = Domain((20, 12, 2))
    cube, fair = (choose_shares(domain, tables, fair=each) for each in (False, True))
    canvas = figure(9.4, 4.2)
    axes = canvas.subplots()
    quiet(axes)
    for shift, numbers, colour, label in (
        (-0.27, dict.fromkeys(tables, cube.apart), FAINT, "each table by itself"),
        (0.0, cube.deviations, COLOURS[0], "CUBE: least error over all cells"),
        (0.27, fair.deviations, COLOURS[2], "report: no table worse than by itself"),
    ):
        heights = [numbers[keys] for keys in tables]
        places = [i + shift for i in range(len(tables))]
        axes.bar(places, heights, width=0.25, color=colour, label=label)
        if colour != FAINT:
            for x, height in zip(places, heights, strict=True):
                axes.text(x, height + 0.08, f"{height:.1f}", ha="center", fontsize=8, color=INK)
    cells = [", ".join(names[key] for key in keys) or "total" for keys in tables]
    labels = [
        f"{name}\n{domain.cells(keys)} cell{'s' if domain.cells(keys) > 1 else ''}"
        for name, keys in zip(cells, tables, strict=True)
    ]
    axes.set_xticks(range(len(tables)), labels, fontsize=8.5)
    axes.legend(frameon=False, fontsize=9, loc="upper left", labelcolor=INK)
    name_axes(axes, "", "standard deviation of a cell")
    return canvas


def bernstein() -> Figure:
    """Whole curves: a density with its own sensitivity, and the sources' kernel regression with a
    sampled one, noise by two norms.
    """
    public, t = SeededBits(3), np.linspace(0, 1, 301)
    x = np.concatenate([0.3 + 0.08 * _normals(public, 1200), 0.7 + 0.1 * _normals(public, 800)])
    density = sf.fits.KernelDensity("0.08", records=2000)
    curves = {
        "exact fit": density(x)(t),
        "private curve": _median_curve(sf.Bernstein(density, iterations=3), x, t),
    }
    left = plots.Graph(
        title="density of 2000 values, ε = 1", x=t, curves=curves, across="value", up="density"
    )
    fit, z = sf.fits.PriestleyChao("0.1", normalised=False), _uniforms(public, 500)
    rows = np.column_stack([z, z * np.sin(10 * z) + 0.2 * _normals(public, 500)])
    moves = sf.sensitivity.Global(
        l1="0.1215", sup="0.01896", relation="replace"
    )  # as 500 pairs of the thesis's sampler give them, at γ = 0.2
    by_sum, by_sup = (
        sf.Bernstein(fit, sensitivity=moves, iterations=3),
        sf.Bernstein(fit, sensitivity=moves, norm="inf"),
    )
    shown = {"private curve": by_sum, "with noise for the largest move, as in diffpriv": by_sup}
    curves = {
        "exact fit": fit(rows)(t),
        **{name: _median_curve(how, rows, t) for name, how in shown.items()},
    }
    right = plots.Graph(
        title="regression of 500 records, sampled, ε = 1", x=t, curves=curves, across="x", up="y"
    )
    drawn = plots.graphs([left, right], title="A whole function, released once")
    drawn.axes[1].set_ylim(
        min(y.min() for y in curves.values()) - 0.1, max(y.max() for y in curves.values()) + 0.1
    )
    return drawn


def _median_curve(how: Any, data: Any, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of 25 releases the one whose error is the median: neither a lucky nor an unlucky one."""
    exact = how.fit(data)(t)
    releases = [how.release(data, epsilon=1, bits=SeededBits(seed))(t) for seed in range(25)]
    return sorted(releases, key=lambda y: float(np.square(y - exact).mean()))[12]


def _uniforms(bits: SeededBits, n: int) -> NDArray[np.float64]:
    return (bits.words(n) >> np.uint64(12)).astype(np.float64) / 2.0**52 + 2.0**-53


def _normals(bits: SeededBits, n: int) -> NDArray[np.float64]:
    from scipy.special import ndtri

    return np.asarray(ndtri(_uniforms(bits, n)))


def coin_toss() -> Figure:
    """Which coins lead to which answer; and what surveys of growing size estimate."""
    from matplotlib.ticker import MultipleLocator, NullLocator, PercentFormatter

    yes, no = plots.plot_style.COLOURS[0], plots.plot_style.COLOURS[1]
    drawn = plots.plot_style.figure(9.6, 3.7)
    drawn.suptitle(
        "The coin toss: nobody's answer means much, everybody's answers do",
        fontsize=12,
        color=plots.plot_style.INK,
        x=0.02,
        ha="left",
    )
    left, right = drawn.subplots(1, 2, width_ratios=[5, 4])
    left.set_title(
        "heads: the truth · tails: what a second coin says",
        fontsize=10,
        color=plots.plot_style.INK,
        loc="left",
    )
    rows = (
        (
            "you smoke",
            1.0,
            (("the truth", 0.5, yes, 1.0), ("coin", 0.25, yes, 0.45), ("coin", 0.25, no, 0.45)),
            75,
        ),
        (
            "you do not\nsmoke",
            0.0,
            (("coin", 0.25, yes, 0.45), ("coin", 0.25, no, 0.45), ("the truth", 0.5, no, 1.0)),
            25,
        ),
    )
    for _, height, parts, says_yes in rows:
        start = 0.0
        for name, width, colour, strength in parts:
            left.barh(
                height,
                width,
                left=start,
                height=0.5,
                color=plots.plot_style.tint(colour, strength),
                edgecolor="white",
                linewidth=1.5,
            )
            left.text(
                start + width / 2,
                height,
                name,
                ha="center",
                va="center",
                fontsize=9,
                color="white" if strength == 1 else plots.plot_style.INK,
            )
            start += width
        for says, middle in (("yes", says_yes / 200), ("no", (100 + says_yes) / 200)):
            share = says_yes if says == "yes" else 100 - says_yes
            left.text(
                middle,
                height + 0.36,
                f"says {says}: {share} %",
                ha="center",
                fontsize=9,
                color=plots.plot_style.INK,
            )
    left.set_yticks([1.0, 0.0], [row[0] for row in rows], fontsize=9, color=plots.plot_style.INK)
    left.set_xticks([])
    left.set_ylim(-0.45, 1.6)
    left.tick_params(length=0)
    for side in left.spines.values():
        side.set_visible(False)
    plots.plot_style.quiet(right)
    right.set_title(
        "estimated share, if 20 % smoke", fontsize=10, color=plots.plot_style.INK, loc="left"
    )
    oracle, sizes, share = (
        sf.local.Direct.coin_toss(["yes", "no"]),
        np.geomspace(100, 10**6, 60),
        0.2,
    )
    spread = np.array([1.96 * math.sqrt(oracle.variance(round(n), share)) for n in sizes])
    right.fill_between(
        sizes,
        share - spread,
        share + spread,
        color=plots.plot_style.tint(yes, 0.25),
        linewidth=0,
        label="95 % of surveys",
    )
    right.axhline(share, color=plots.plot_style.INK, linewidth=1.1)
    people = [10**power for power in range(2, 7)]
    estimates = [
        oracle.estimate(
            oracle.perturb(["yes"] * (n // 5) + ["no"] * (n - n // 5), bits=SeededBits(n + 1))
        )["yes"]
        for n in people
    ]
    right.plot(people, estimates, "o", color=yes, markersize=5.5, label="a survey")
    right.set_xscale("log")
    right.xaxis.set_minor_locator(NullLocator())
    right.set_ylim(0, 0.4)
    right.yaxis.set_major_locator(MultipleLocator(0.1))
    right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    right.set_xlabel("people asked", fontsize=9, color=plots.plot_style.INK)
    right.legend(loc="lower right", frameon=False, fontsize=9)
    return drawn


def local_oracles() -> Figure:
    """The standard error of a frequency of 1/k from a million reports, for each oracle: exact."""
    n = 10**6
    kinds: dict[str, Any] = {
        "Direct": sf.local.Direct,
        "Unary": sf.local.Unary,
        "Hashing": sf.local.Hashing,
        "Hadamard": sf.local.Hadamard,
        "Subset": sf.local.Subset,
    }

    def errors(kind: Any, pairs: list[tuple[float, int]]) -> NDArray[np.float64]:
        return np.array(
            [
                math.sqrt(kind(epsilon=epsilon, categories=range(k)).variance(n, Fraction(1, k)))
                for epsilon, k in pairs
            ]
        )

    ks = sorted({round(k) for k in np.geomspace(2, 1000, 40)})
    epsilons = [float(f"{e:.4g}") for e in np.geomspace(0.3, 5, 40)]
    by_k = {name: errors(kind, [(1.0, k) for k in ks]) for name, kind in kinds.items()}
    by_epsilon = {name: errors(kind, [(e, 100) for e in epsilons]) for name, kind in kinds.items()}
    return plots.graphs(
        [
            plots.Graph(
                title="ε = 1",
                x=np.array(ks, dtype=float),
                curves=by_k,
                across="categories",
                up="standard error",
                logarithmic=True,
            ),
            plots.Graph(
                title="100 categories",
                x=np.array(epsilons),
                curves=by_epsilon,
                across="ε",
                up="standard error",
                logarithmic=True,
            ),
        ],
        title="A frequency of 1/k from a million reports",
    )


def architecture() -> Figure:
    """From a table to an answer, in two rows: what is public, what is durable, what is secret."""
    from matplotlib.patches import FancyBboxPatch

    zones = (
        ("public: no row is read", 0, 5, 1, COLOURS[0]),
        ("durable", 0, 1, 0, COLOURS[4]),
        ("secret: one file", 1, 2, 0, COLOURS[1]),
        ("public again", 3, 2, 0, COLOURS[2]),
    )
    steps = (
        ("table", "what is declared,\nwho is protected"),
        ("bounds", "what a unit\nmay change"),
        ("query", "which integers\nare needed"),
        ("plan", "cost and error,\nbefore paying"),
        ("mechanism", "a law for each\nnoisy number"),
        ("charge", "on disk first,\nor refused"),
        ("tally", "exact integers,\nby the engine"),
        ("perturb", "exact noise\nis added"),
        ("finish", "scale, interval,\nsort, round"),
        ("answer", "number, interval,\ncost, card"),
    )
    canvas = figure(8.2, 4)
    axes = canvas.add_subplot()
    axes.set_xlim(-0.02, 5.02)
    axes.set_ylim(-0.25, 2.45)
    axes.axis("off")
    for title, first, width, row, colour in zones:
        low = 1.3 * row
        shape = {
            "boxstyle": "round,pad=0,rounding_size=0.05",
            "facecolor": tint(colour, 0.14),
            "edgecolor": colour,
            "linewidth": 1,
        }
        axes.add_patch(FancyBboxPatch((first + 0.03, low), width - 0.06, 0.92, **shape))
        axes.text(
            first + width / 2,
            2.34 if row else -0.12,
            title,
            ha="center",
            va="center",
            fontsize=10,
            color=colour,
            fontweight="bold",
        )
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
    for place, (name, what) in enumerate(steps):
        x, low = place % 5, 1.3 * (place < 5)
        axes.add_patch(
            FancyBboxPatch(
                (x + 0.13, low + 0.52),
                0.74,
                0.3,
                boxstyle="round,pad=0,rounding_size=0.05",
                facecolor="white",
                edgecolor=INK,
            )
        )
        axes.text(x + 0.5, low + 0.665, name, ha="center", va="center", fontsize=10.5, color=INK)
        axes.text(
            x + 0.5,
            low + 0.25,
            what,
            ha="center",
            va="center",
            fontsize=8.5,
            color=INK,
            linespacing=1.4,
        )
        if x:
            axes.annotate(
                "", xy=(x + 0.13, low + 0.67), xytext=(x - 0.13, low + 0.67), arrowprops=arrow
            )
    axes.plot([4.5, 4.5, 0.5], [1.3, 1.11, 1.11], color=INK, linewidth=1.1)  # on to the second row
    axes.annotate("", xy=(0.5, 0.82), xytext=(0.5, 1.11), arrowprops=arrow)
    return canvas


def attack_bounds() -> Figure:
    """The most that any attack can be right about one of several equally likely values."""
    x = np.linspace(0, 6, 121)
    curves = {
        f"one of {k} values": np.array(
            [guess_bound(sf.Pure(Fraction(e).limit_denominator(1000)), k) for e in x]
        )
        for k in (2, 4, 10)
    }
    curves["exact answers"] = np.ones_like(x)
    graph = plots.Graph(
        title="a promise about one unit",
        x=x,
        curves=curves,
        across="ε",
        up="chance of a right guess, at most",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    return plots.graphs([graph], title="What no attack exceeds")


def attack_uniqueness() -> Figure:
    """Who is alone among 24 students, a column more at a time."""
    return sf.attacks.uniqueness(
        sf.attacks.survey(), ["sex", "age", "start", "worst", "siblings"]
    ).plot()


def attack_p_percent() -> Figure:
    """What the second largest knows of the largest."""
    return sf.attacks.p_percent([100, 60, 5, 3, 2], 11).plot()


def attack_skewness() -> Figure:
    """How sure one can be of a disease in a 5-anonymous table."""
    return sf.attacks.skewness(sf.attacks.patients(), ["age", "area"], "disease").plot()


def attack_link() -> Figure:
    """People found by a few ratings, with dates that are roughly known."""
    films, counts = sf.attacks.ratings(), (1, 2, 3, 4, 6, 8)
    rates = {
        f"dates within {days} days": sf.attacks.scoreboard(
            films, known_ratings=counts, days=days, trials=200
        )
        for days in (3, 14)
    }
    curves = {name: np.array(board.identified) for name, board in rates.items()}
    title = f"{films.people:,} generated people, {films.items:,} films"
    graph = plots.Graph(
        title=title,
        x=np.array(counts, float),
        curves=curves,
        across="ratings known",
        up="share found",
        heights=(0, 0.25, 0.5, 0.75, 1),
    )
    return plots.graphs([graph], title="A few ratings find one of ten thousand")


def attack_membership() -> Figure:
    """Members found against false alarms, for more and more exact means, and what private means
    allow.
    """
    people, at = sf.attacks.genomes(2000, 10_000), np.linspace(0, 1, 201)
    curves = {}
    for positions in (1000, 3000, 10_000):
        part = sf.attacks.Genomes(
            people.bits[:, :positions],
            None if people.frequencies is None else people.frequencies[:positions],
        )
        curves[f"{positions:,} means"] = sf.attacks.membership(part, pool=1000).roc.at(at)
    curves["allowed at ε = 1"] = np.array(
        [1 - sf.Pure(1).tradeoff(str(round(alpha, 3))) for alpha in at]
    )
    graph = plots.Graph(
        title="exact means of 1000 people",
        x=at,
        curves=curves,
        across="false alarms",
        up="members found",
    )
    return plots.graphs([graph], title="Was this person among them?")


def attack_differencing() -> Figure:
    """How often the difference of two answers tells somebody's secret."""
    ward = {
        "name": ["Steven", *(f"person {i}" for i in range(100))],
        "sick": [True, *(i % 3 == 0 for i in range(100))],
    }
    return attacks.differencing(ward, {"name": "Steven"}, trials=20_000, bits=SeededBits(1)).plot()


def attack_averaging() -> Figure:
    """The mean of more and more answers to one question."""
    return attacks.averaging(
        {"city": ["Roma", "Bari", "Bari"] * 20},
        n=4000,
        where={"city": "Bari"},
        trials=1,
        epsilons=(),
        bits=SeededBits(2),
    ).plot()


def attack_reconstruct() -> Figure:
    """Secrets that come out of counts, against noise."""
    return attacks.threshold(epsilons=(), people=2, bits=SeededBits(3)).plot()


def attack_infer() -> Figure:
    """How often somebody who knows all but one is right."""
    students = {
        "name": [student.name for student in sf.samples.grades()],
        "grade": [student.grade for student in sf.samples.grades()],
    }
    return attacks.infer(
        students, {"name": "Angie"}, value="fail", trials=20_000, bits=SeededBits(4)
    ).plot()


def attack_name_and_shame() -> Figure:
    """How likely it is that somebody is published."""
    return attacks.name_and_shame(n=1000, epsilons=(), runs=1, bits=SeededBits(5)).plot()


def attack_refusals() -> Figure:
    """How often a refusal, or a noisy answer, tells somebody's secret."""
    ward = {
        "name": ["Steven", "me", *(f"patient {i}" for i in range(30))],
        "sick": [True, True, *(i % 3 == 0 for i in range(30))],
    }
    return attacks.refusals(
        ward, {"name": "Steven"}, value=True, trials=20_000, bits=SeededBits(6)
    ).plot()


def attack_risk() -> Figure:
    """Who is alone, in the example of the risk report."""
    customers = sf.samples.visits().to_pandas().drop_duplicates("user_id")
    return attacks.uniqueness(customers, ["city", "age", "day"]).plot()


def audit_power() -> Figure:
    """The share of ε that the best event is expected to prove of the Laplace mechanism, against the
    number of draws.
    """
    draws = np.geomspace(1e3, 1e7, 33)
    curves = {
        f"ε = {e:g}": np.array(
            [
                best_expected(mech.Laplace(sensitivity=1, epsilon=e), 0, 1, samples=round(n)) / e
                for n in draws
            ]
        )
        for e in (0.1, 0.5, 1, 2, 5)
    }
    return plots.graphs(
        [
            plots.Graph(
                title="the best event, α = 10⁻⁶",
                x=np.log10(draws),
                curves=curves,
                across="draws at each input, power of ten",
                up="proven part of ε",
            )
        ],
        title="How much of a claim an audit can prove",
    )


def audit_survey() -> Figure:
    """What a survey has proven, from the table on the page."""
    page = (Path(__file__).parent / "why" / "auditing.md").read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in page.splitlines()
        if line.endswith("| holds |")
    ]
    rows = [
        SurveyRow(
            name=name,
            epsilon=float(e),
            measure=claimed[0],
            claimed=float(claimed[2:]),
            proven=float(proven),
            expected=None,
            sure=None,
            pairs=5,
            samples=0,
            exact=how == "arithmetic",
            verdict="holds",
            audits=(),
        )
        for name, e, claimed, proven, _, how, _ in cells
    ]
    return survey_picture(rows)


def census() -> Figure:
    """The errors of totals at each level of a census, from the table on the page."""
    page = Path(__file__).parent / "guides" / "tables" / "census.md"
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in page.read_text(encoding="utf-8").splitlines()
        if " | total | " in line
    ]
    names = {2: "measured alone", 4: "best linear", 5: "whole, totals first", 7: "whole, naive"}
    picture = figure(7.2, 3.4, "A census of two million invented people: errors of totals")
    axes = picture.add_subplot()
    for i, (column, name) in enumerate(names.items()):
        heights = [float(row[column]) for row in cells]
        at = np.arange(len(cells)) + (i - 1.5) * 0.2
        bars = axes.bar(at, heights, 0.18, label=name, color=(FAINT, *COLOURS)[i])
        axes.bar_label(bars, [f"{height:.1f}" for height in heights], fontsize=7, color=INK)
    quiet(axes)
    axes.set_xticks(range(len(cells)), [row[0] for row in cells])
    name_axes(axes, up="root mean square error, people")
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK)
    return picture


def synthetic() -> Figure:
    """The certificate of the synthetic table on its page, from one release of invented visits."""
    cities = ["Alberobello", "Bari", "Matera", "Milano", "Napoli", "Palermo", "Roma", "Torino"]
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=4,
        keys={"city": cities},
        bounds={"age": (0, 99), "spend": (0, 50)},
        budget=3,
    ) as visits:
        plan = sf.plan_synthesis(
            visits,
            columns=["city", "age", "spend", "vip"],
            bins={"age": 20, "spend": 10},
            epsilon=1,
            delta=1e-9,
        )
        return plan.release(bits=SeededBits(1)).plot()


def model_shape() -> Figure:
    """A shape of an additive model of the example table, fitted with seeded noise."""
    visits = sf.protect(
        sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=sf.Approx(10, 1e-6)
    )
    edges = {"age": (0, 100), "spend": [0, 25, 50, 75, 100, 125, 150, 200, 300]}
    model = sf.learn.AdditiveClassifier(epsilon=4, bounds=edges)
    model.fit_plan(model.plan(visits, target="vip", features=["age", "spend"]), bits=SeededBits(4))
    return model.plot("spend")


def choose_study() -> Figure:
    """The ε that accuracy asks for and the ε that payments allow, against the number of people."""
    people = np.unique(np.geomspace(800, 20_000, 80).astype(int))
    error, missing = Fraction(1, 20), Fraction(1, 20)
    choice = sf.choose_study(error=0.05, loss=10, budget=30_000)
    needed = [epsilon_needed(int(n), error, missing) for n in people]
    curves = {
        "asked for by ± 5 points": np.array([float(e) if e else np.nan for e in needed]),
        "allowed by a budget of 30,000": np.array(
            [float(epsilon_allowed(int(n), Fraction(10), Fraction(30_000))) for n in people]
        ),
    }
    graph = plots.Graph(
        title="each person would bear an expected loss of 10",
        x=people.astype(float),
        curves=curves,
        across="people",
        up="ε",
        logarithmic=True,
        point=(float(choice.people), choice.epsilon),
        remark=f"{choice.people} people, ε = {choice.epsilon:.2f}",
        shift=(14.0, 8.0),
    )
    return plots.graphs([graph], title="How many people, and which ε")


PICTURES: tuple[Callable[[], Figure], ...] = (
    architecture,
    census,
    synthetic,
    neighbours,
    laplace,
    error,
    beliefs,
    choose_study,
    averaging,
    notions,
    pure,
    approx,
    gdp,
    profiles,
    composition,
    renyi,
    random,
    randomized_response,
    coin_toss,
    local_oracles,
    mean,
    histogram,
    hierarchy,
    linear_queries,
    cumulative,
    accuracy,
    discrete_gaussian,
    staircase,
    above_threshold,
    prefix_sums,
    streams,
    key_selection,
    exponential,
    permute_and_flip,
    noisy_max,
    top_k,
    quantile,
    inverse_sensitivity,
    propose_test_release,
    smooth,
    gibbs,
    ledger,
    tables,
    model_shape,
    cells,
    reports,
    accounting_noise,
    accounting_sampled,
    bernstein,
    attack_bounds,
    attack_uniqueness,
    attack_p_percent,
    attack_skewness,
    attack_link,
    attack_membership,
    attack_differencing,
    attack_averaging,
    attack_reconstruct,
    attack_infer,
    attack_name_and_shame,
    attack_refusals,
    attack_risk,
    audit_power,
    audit_survey,
)


def write(folder: Path) -> list[Path]:
    """Draw every picture into a folder, under the name of its function."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for picture in PICTURES:
        files.append(folder / f"{picture.__name__}.png")
        picture().savefig(files[-1], metadata={"Software": None})
    return files


if __name__ == "__main__":
    write(IMAGES)
