"""The catalogue that `sfumato audit` runs: everything here that adds noise, with hard pairs of
neighbours.

*Entry*    A name, how it is made for an ε, at least five pairs, and whether one call gives all
           draws.
*Deltas*   Mechanisms with a δ of their own are made for a δ that draws can see (10⁻³), those with a
           Gaussian law are audited in μ.
*Gibbs*    Its (ε, δ) is proved for ε ≤ 1, and it refuses to be made for more. Its μ has no such
           end: so it is here a second time, made for the μ that gives (ε, 10⁻⁸), at every ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import local
from .. import mechanisms as mech
from ..exact.balls import ball, evaluate
from ..guarantees import GDP, Guarantee
from ..guarantees.gdp import largest_mu
from ..mechanisms.shared.mechanism import Mechanism
from .canonical_outputs import Pair
from .example_neighbours import (
    ANSWERS,
    CELLS,
    CHANGED,
    FAR,
    FAR_APART,
    GROWN,
    HISTORIES,
    LETTERS,
    NAMES,
    NUMBERS,
    ONE_WAY,
    PARAMETERS,
    PEOPLE,
    ROWS,
    STREAMS,
    TEXTS,
    VECTORS,
    WEIGHED,
    Pairs,
    fixed,
    queries,
)
from .neighbour_pairs import candidate_pairs

TWO = {"one": "ab", "two": "cd"}
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
DELTA = "1e-3"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One mechanism or oracle to audit, in one setting."""

    name: str
    build: Callable[[float], Mechanism]
    pairs: Pairs
    at_once: bool = False
    most: float = 5.0  # the largest ε that it can be built for
    slow: int = 1  # the survey divides its number of draws by this
    by_law: bool = False  # the survey uses arithmetic, though one call gives all draws
    claim: Callable[[Any], Guarantee] = lambda m: m.promise


def _pairs(m: Mechanism) -> list[Pair]:
    return (
        list(dict.fromkeys(candidate_pairs(m, m.promise)))
        if not _has_lists(m)
        else list(candidate_pairs(m, m.promise))
    )


def _has_lists(m: Mechanism) -> bool:
    return any(isinstance(value, list) for pair in candidate_pairs(m, m.promise) for value in pair)


def _gibbs_in_mu(epsilon: float) -> mech.Gibbs:
    """Build Gibbs for the μ that gives (ε, 10⁻⁸): μ = ε'/√(1 + 2·ln(1/δ')) of its own ε' ≤ 1 and
    δ', rounded down.
    """
    delta = Fraction(99, 100)
    most = evaluate(
        lambda: (
            ball(Fraction(largest_mu(Fraction(epsilon), Fraction(1, 10**8))))
            * (1 - 2 * ball(delta).log()).sqrt()
        ),
        "down",
    )
    return mech.Gibbs(
        epsilon=Fraction(most),
        delta=delta,
        lipschitz=1,
        convexity=1,
        low=-FAR,
        high=FAR,
        cells=CELLS,
    )


def _in_mu(m: mech.Gibbs) -> Guarantee:
    return next(promise for promise in m.promises if isinstance(promise, GDP))


CATALOGUE: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        "Laplace", lambda e: mech.Laplace(sensitivity=1, epsilon=e), _pairs, at_once=True
    ),
    CatalogueEntry(
        "Laplace, wide", lambda e: mech.Laplace(sensitivity=1000, epsilon=e), _pairs, at_once=True
    ),
    CatalogueEntry(
        "Laplace, on a grid", lambda e: mech.Laplace(sensitivity=1, epsilon=e, grid=2**-20), _pairs
    ),
    CatalogueEntry(
        "Laplace, vector", lambda e: mech.Laplace(sensitivity=1, epsilon=e), VECTORS, at_once=True
    ),
    CatalogueEntry("Staircase", lambda e: mech.Staircase(sensitivity=1000, epsilon=e), _pairs),
    CatalogueEntry(
        "Gaussian",
        lambda e: mech.Gaussian(sensitivity=1000, epsilon=e, delta="1e-6"),
        _pairs,
        at_once=True,
    ),
    CatalogueEntry(
        "Gaussian, vector",
        lambda e: mech.Gaussian(sensitivity=1, epsilon=e, delta="1e-6"),
        VECTORS,
        at_once=True,
    ),
    CatalogueEntry(
        "DiscreteGaussian",
        lambda e: mech.DiscreteGaussian(sensitivity=1, rho=Fraction(e) ** 2 / 2),
        _pairs,
        at_once=True,
    ),
    CatalogueEntry(
        "RandomizedResponse", lambda e: mech.RandomizedResponse(epsilon=e), ANSWERS, at_once=True
    ),
    CatalogueEntry(
        "RandomizedResponse, six categories",
        lambda e: mech.RandomizedResponse(epsilon=e, categories=NAMES),
        _pairs,
        at_once=True,
    ),
    CatalogueEntry(
        "Exponential", lambda e: mech.Exponential(sensitivity=1, epsilon=e), _pairs, at_once=True
    ),
    CatalogueEntry(
        "Exponential, monotone",
        lambda e: mech.Exponential(sensitivity=1, epsilon=e, monotone=True),
        _pairs,
        at_once=True,
    ),
    CatalogueEntry(
        "PermuteAndFlip", lambda e: mech.PermuteAndFlip(sensitivity=1, epsilon=e), _pairs
    ),
    CatalogueEntry("NoisyMax", lambda e: mech.NoisyMax(sensitivity=1, epsilon=e), _pairs),
    CatalogueEntry("TopK", lambda e: mech.TopK(k=2, sensitivity=1, epsilon=e), _pairs),
    CatalogueEntry(
        "AboveThreshold", lambda e: mech.AboveThreshold(sensitivity=1, epsilon=e), queries
    ),
    CatalogueEntry(
        "AboveThreshold, monotone",
        lambda e: mech.AboveThreshold(sensitivity=1, epsilon=e, monotone=True),
        ONE_WAY,
    ),
    CatalogueEntry(
        "LaplaceThreshold", lambda e: mech.LaplaceThreshold(epsilon=e, delta=DELTA), _pairs
    ),
    CatalogueEntry(
        "GaussianThreshold", lambda e: mech.GaussianThreshold(epsilon=e, delta=DELTA), _pairs
    ),
    CatalogueEntry(
        "OptimalSelection",
        lambda e: mech.OptimalSelection(epsilon=e, delta=DELTA),
        _pairs,
        at_once=True,
    ),
    CatalogueEntry(
        "Histogram",
        lambda e: mech.Histogram(edges=[0, 1, 2, 3, 4], epsilon=e, relation="add-remove"),
        GROWN,
        at_once=True,
    ),
    CatalogueEntry(
        "Histogram, replace",
        lambda e: mech.Histogram(edges=[0, 5, 11], epsilon=e, relation="replace"),
        CHANGED,
        at_once=True,
    ),
    CatalogueEntry(
        "Hierarchy",
        lambda e: mech.Hierarchy(
            edges=[0, 1, 2, 3, 4], epsilon=e, branching=2, relation="add-remove"
        ),
        GROWN,
        at_once=True,
    ),
    CatalogueEntry(
        "Mean",
        lambda e: mech.Mean(low=0, high=4, epsilon=e, relation="add-remove"),
        GROWN,
        at_once=True,
    ),
    CatalogueEntry(
        "Mean, replace",
        lambda e: mech.Mean(low=0, high=10, epsilon=e, relation="replace", rows=5),
        CHANGED,
        at_once=True,
    ),
    CatalogueEntry(
        "Quantile",
        lambda e: mech.Quantile(low=0, high=4, epsilon=e, relation="add-remove"),
        GROWN,
        at_once=True,
        by_law=True,
    ),
    CatalogueEntry(
        "Quantile, replace",
        lambda e: mech.Quantile(low=0, high=10, epsilon=e, relation="replace"),
        CHANGED,
        at_once=True,
        by_law=True,
    ),
    CatalogueEntry(
        "WeightedQuantile",
        lambda e: mech.WeightedQuantile(low=0, high=10, weight=1, epsilon=e, relation="add-remove"),
        WEIGHED,
        at_once=True,
        by_law=True,
    ),
    CatalogueEntry(
        "InverseSensitivity",
        lambda e: mech.InverseSensitivity("median", epsilon=e, low=0, high=10, grid=1),
        CHANGED,
        at_once=True,
        by_law=True,
    ),
    CatalogueEntry(
        "ProposeTestRelease",
        lambda e: mech.ProposeTestRelease(
            "median", epsilon=e, delta=DELTA, bound=1, low=0, high=10, grid=1
        ),
        CHANGED,
        slow=4,
    ),
    CatalogueEntry(
        "SmoothLaplace",
        lambda e: mech.SmoothLaplace("median", epsilon=e, delta=DELTA, low=0, high=10, grid=1),
        CHANGED,
        slow=4,
    ),
    CatalogueEntry(
        "Gibbs",
        lambda e: mech.Gibbs(
            epsilon=e, delta="1e-6", lipschitz=1, convexity=1, low=0, high=1, cells=CELLS
        ),
        PARAMETERS,
        most=1.0,
    ),
    CatalogueEntry("Gibbs, in μ", _gibbs_in_mu, FAR_APART, claim=_in_mu),
    CatalogueEntry(
        "PrefixSums", lambda e: mech.PrefixSums(length=4, epsilon=e, delta="1e-6"), STREAMS, slow=4
    ),
    CatalogueEntry(
        "Combined",
        lambda e: mech.Combined([mech.Laplace(sensitivity=1, epsilon=Fraction(e) / 2)] * 2),
        fixed((0, 1), (1, 2), (-1, 0), (1000, 1001), (5, 4)),
    ),
    CatalogueEntry(
        "Subsampled", lambda e: mech.Laplace(sensitivity=1, epsilon=e).subsample("1/2"), ROWS
    ),
    CatalogueEntry(
        "local.Direct", lambda e: local.Direct(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.Unary", lambda e: local.Unary(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.Unary, symmetric",
        lambda e: local.Unary(epsilon=e, categories=NAMES, symmetric=True),
        LETTERS,
        at_once=True,
    ),
    CatalogueEntry(
        "local.Subset", lambda e: local.Subset(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.Hashing", lambda e: local.Hashing(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.Hadamard",
        lambda e: local.Hadamard(epsilon=e, categories=NAMES),
        LETTERS,
        at_once=True,
    ),
    CatalogueEntry(
        "local.Sketch",
        lambda e: local.Sketch(epsilon=e, categories=NAMES, rows=4, size=8),
        LETTERS,
        at_once=True,
    ),
    CatalogueEntry(
        "local.Rappor", lambda e: local.Rappor(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.Ordinal", lambda e: local.Ordinal(epsilon=e, categories=NAMES), LETTERS, at_once=True
    ),
    CatalogueEntry(
        "local.OneBit", lambda e: local.OneBit(epsilon=e, low=0, high=1), NUMBERS, at_once=True
    ),
    CatalogueEntry(
        "local.Piecewise",
        lambda e: local.Piecewise(epsilon=e, low=0, high=1),
        NUMBERS,
        at_once=True,
    ),
    CatalogueEntry(
        "local.PrefixTree",
        lambda e: local.PrefixTree(epsilon=e, length=2, alphabet="ab"),
        TEXTS,
        at_once=True,
    ),
    CatalogueEntry(
        "local.Questionnaire",
        lambda e: local.Questionnaire(
            {n: local.Direct(epsilon=e, categories=c) for n, c in TWO.items()}
        ),
        PEOPLE,
        at_once=True,
    ),
    CatalogueEntry(
        "local.Panel",
        lambda e: local.Panel(
            local.Direct(epsilon=Fraction(e) / 2, categories="abc"), waves=3, reports=2
        ),
        HISTORIES,
        at_once=True,
    ),
)
"""All entries, by mechanism; a comma in the name marks another setting of the same mechanism."""
