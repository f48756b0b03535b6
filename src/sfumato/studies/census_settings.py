"""Run a census with the settings of the US Census of 2020 on invented people of a small state.

*Printed*   The settings are public, in the source code of the Bureau's production system: the cost
            of the tables of persons, ρ = (542/339)², and the shares of six levels, in 4099ths. The
            state and the levels below it are run; the nation's share is left out of the cost.
*Run*       5 levels, 2 × 2 × 63 cells: voting age, hispanic, race. Shares of tables within a level
            are ours: the published ones are about more attributes.
*Caveats*   People and places are invented, and one level of the Bureau's tree was built to fit its
            publications. So errors tell the order of magnitude, not the published errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..censuses.budget_shares import divide_cost
from ..censuses.census_design import CensusDesign
from ..censuses.spine import Indices, Values, level_paths, spine_of
from ..censuses.whole_numbers import round_groups
from ..censuses.whole_tables import TotalLimits, whole_totals
from ..mechanisms import Gaussian
from ..tables.declare.place_hierarchy import PlaceHierarchy, hierarchy
from .band_pictures import bars
from .printed import Printed, shown
from .study import Comparison, Study, StudyResult, StudyRow

RHO = Fraction(542, 339) ** 2
PARTS = {"nation": 104, "state": 1440, "county": 447, "tract": 687, "group": 1256, "block": 165}
WHOLE_COST = 4099
LEVELS = ("state", "county", "tract", "group", "block")
SIZES = (1, 8, 100, 300, 2_500)
SHAPE = (2, 2, 63)
STEPS = 16  # of the noisy integers, for one person
MOST_RUNS = 3


class Runs(NamedTuple):
    """Mean absolute errors of totals by level: linear, whole, rounded naively; and what held."""

    linear: NDArray[np.float64]
    counts: NDArray[np.float64]
    naive: NDArray[np.float64]
    inside: int
    intervals: int
    adds_up: bool


def census_2020(repetitions: int, seed: int) -> StudyResult:
    """Run the settings of 2020 and compare two ways to make numbers whole."""
    runs = run_all(min(repetitions, MOST_RUNS), seed)
    rows = (
        StudyRow.exact("ρ of persons", Printed("2.56"), float(RHO)),
        StudyRow.exact("shares of the six levels", Printed("1"), sum(PARTS.values()) / WHOLE_COST),
        StudyRow.claim(
            "tables of all levels are whole, not negative, and add up",
            "by integer programs",
            "by halving",
            holds=runs.adds_up,
        ),
        StudyRow.frequency("95 % intervals of block totals", 0.95, runs.inside, runs.intervals),
    )
    errors = ", ".join(
        f"{level} {shown(float(error))}" for level, error in zip(LEVELS, runs.counts, strict=True)
    )
    sentence = (
        f"Mean absolute errors of total populations, on invented people: {errors}. The places are "
        f"invented, too, so these are orders of magnitude of what such a budget gives."
    )
    comparisons = tuple(
        Comparison(
            what=f"{level} totals: totals first, then cells",
            measure="mean absolute error",
            faithful=float(naive),
            right=float(error),
            remark="beside each cell rounded from the top by itself",
        )
        for level, naive, error in zip(LEVELS, runs.naive, runs.counts, strict=True)
    )
    picture = bars(
        list(LEVELS),
        {
            "best linear": runs.linear.tolist(),
            "whole, totals first": runs.counts.tolist(),
            "whole, cell by cell": runs.naive.tolist(),
        },
        title="Errors of totals with the ρ of 2020",
        up="mean absolute error",
    )
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"S-164": picture}
    )


@lru_cache(maxsize=2)
def run_all(repetitions: int, seed: int) -> Runs:
    """Take the census of one invented state several times."""
    generator = np.random.Generator(np.random.Philox(key=[seed, 2020]))
    places, exact = invent(generator)
    noise, design = settings(places)
    truth = design.spine.sum_up(exact)
    errors: list[list[list[float]]] = [[], [], []]
    inside, adds_up = 0, True
    for _ in range(repetitions):
        noisy = {
            (level, table): np.asarray(
                gaussian.perturb(design.sum_table(truth[level], table) * STEPS), dtype=np.float64
            )
            / STEPS
            for (level, table), gaussian in noise.items()
        }
        estimates = design.estimate(noisy)
        counts = design.spine.sum_up(design.make_whole(estimates))
        adds_up &= _adds_up(design, estimates, counts)
        naive = design.spine.sum_up(round_from_top(design, estimates))
        errors[0].append(_errors(estimates, truth))
        errors[1].append(_errors(counts, truth))
        errors[2].append(_errors(naive, truth))
        half = 1.959964 * np.sqrt(design.variance(4, ()))
        inside += int((np.abs(estimates[4].sum(axis=1) - exact.sum(axis=1)) <= half).sum())
    linear, counted, rounded = (np.mean(of_way, axis=0) for of_way in errors)
    return Runs(linear, counted, rounded, inside, repetitions * SIZES[-1], adds_up)


def _adds_up(design: CensusDesign, estimates: list[Values], counts: list[Indices]) -> bool:
    """Tell whether tables are not negative, and sum to the totals of the first pass at each
    level.
    """
    totals = whole_totals(
        design.spine,
        [table.sum(axis=1) for table in estimates],
        [design.variance(level, ()) for level in range(len(LEVELS))],
        design.limits,
    )
    return all(
        bool((table >= 0).all()) and np.array_equal(table.sum(axis=1), sums)
        for table, sums in zip(counts, totals, strict=True)
    )


def _errors(tables: Sequence[NDArray[np.generic]], truth: list[Indices]) -> list[float]:
    """Return the mean absolute errors of totals, by level."""
    sums = (
        (table.sum(axis=1), exact.sum(axis=1)) for table, exact in zip(tables, truth, strict=True)
    )
    return [float(np.abs(total - exact).mean()) for total, exact in sums]


def settings(
    places: PlaceHierarchy,
) -> tuple[dict[tuple[int, tuple[int, ...]], Gaussian], CensusDesign]:
    """Return the noise of all tables, and the design of the census."""
    shares = divide_cost(
        {"total": 1, ("adult", "hispanic"): 1, "race": 1, "detail": 1},
        {level: PARTS[level] for level in LEVELS},
        ("adult", "hispanic", "race"),
        LEVELS,
    )
    cost = RHO * (1 - Fraction(PARTS["nation"], WHOLE_COST))
    noise = {
        key: Gaussian(sensitivity=STEPS, rho=cost * share, relation="add-remove", unit="person")
        for key, share in shares.items()
    }
    spine = spine_of(level_paths(places.paths))
    attributes = tuple(
        (name, tuple(range(size)))
        for name, size in zip(("adult", "hispanic", "race"), SHAPE, strict=True)
    )
    variances = {key: gaussian.variance / STEPS**2 for key, gaussian in noise.items()}
    possible = np.ones(np.prod(SHAPE), dtype=bool)
    limits = TotalLimits.none(spine)
    finest = min(float(gaussian.sigma) for gaussian in noise.values())
    return noise, CensusDesign(places, spine, attributes, variances, limits, possible, finest)


def invent(generator: np.random.Generator) -> tuple[PlaceHierarchy, Indices]:
    """Invent a state: places, and the people of each block by cell. Races differ by county."""
    above = [np.zeros(SIZES[1], dtype=np.int64)]
    for parents, size in pairwise(SIZES[1:]):
        drawn = generator.integers(0, parents, size - parents)
        above.append(np.sort(np.concatenate([np.arange(parents), drawn])))
    at = [np.arange(SIZES[-1])]
    for parents_of in above[::-1]:
        at.insert(0, parents_of[at[0]])
    people = generator.negative_binomial(1, 1 / 31, SIZES[-1])
    races = generator.dirichlet(np.concatenate([np.full(6, 2.0), np.full(57, 0.02)]), SIZES[1])
    spread = np.multiply.outer(np.multiply.outer([0.23, 0.77], [0.8, 0.2]), races)
    chances = np.moveaxis(spread, 2, 0).reshape(SIZES[1], -1)[at[1]]
    counts = generator.multinomial(people, chances / chances.sum(axis=1, keepdims=True))
    # numbered from place to place, so that the paths are sorted as they are
    places = hierarchy(
        *LEVELS, places=dict(zip(LEVELS, (level.tolist() for level in at), strict=True))
    )
    return places, counts.astype(np.int64)


def round_from_top(design: CensusDesign, estimates: list[Values]) -> Indices:
    """Make each cell whole from the top by itself, without a pass of totals: for comparison."""
    spine, cells = design.spine, estimates[0].shape[1]
    top = np.rint(np.maximum(estimates[0].sum(axis=1), 0)).astype(np.int64)
    groups = np.repeat(np.arange(len(top)), cells)
    ends = (np.zeros(len(groups), dtype=np.int64), top[groups])
    counts = round_groups(estimates[0].ravel(), np.ones(len(groups)), ends, groups, top)
    counts = counts.reshape(-1, cells)
    for level in range(1, spine.depth):
        above = spine.parents[level - 1]
        # all cells at once: the groups are the cells of each parent
        groups = (np.arange(cells)[:, None] * spine.sizes[level - 1] + above[None, :]).ravel()
        sums = counts.T.ravel()
        ends = (np.zeros(len(groups), dtype=np.int64), sums[groups])
        rounded = round_groups(estimates[level].T.ravel(), np.ones(len(groups)), ends, groups, sums)
        counts = rounded.reshape(cells, -1).T
    return counts


STUDIES = (
    Study(
        name="census-2020",
        title="A census with the settings of 2020",
        source="US Census Bureau, source code of the redistricting data of 2020",
        items=("S-164",),
        run=census_2020,
    ),
)
