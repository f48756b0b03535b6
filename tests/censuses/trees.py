"""Small uneven trees, designs on them, and dense least squares to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.censuses.census_design import CensusDesign
from sfumato.censuses.spine import Spine, level_paths, spine_of
from sfumato.censuses.whole_tables import TotalLimits
from sfumato.tables.declare.place_hierarchy import PlaceHierarchy
from sfumato.tables.plan.place_counts import TableKey

Doubles = NDArray[np.float64]

PLACES = PlaceHierarchy(
    ("state", "county", "block"),
    (
        *(("A", "A1", "a"), ("A", "A1", "b"), ("A", "A1", "c"), ("A", "A2", "d")),
        *(("B", "B1", "e"), ("B", "B1", "f"), ("B", "B2", None)),
    ),
)
"""Two states: a county of three blocks, of one, of two, and one that is not divided."""

VARIANCES: dict[TableKey, float] = {
    (0, ()): 4.0,
    (0, (0, 1)): 2.5,
    (1, (0,)): 3.0,
    (1, (0, 1)): 5.0,
    (2, ()): 1.5,
    (2, (1,)): 6.0,
    (2, (0, 1)): 7.0,
}
"""Different tables at every level; the first attribute alone is measured at one of them."""


def design(
    limits: TotalLimits | None = None,
    variances: Mapping[TableKey, float] = VARIANCES,
    places: PlaceHierarchy = PLACES,
) -> CensusDesign:
    """Return a design of 2 × 3 cells on the tree."""
    spine = spine_of(level_paths(places.paths))
    return CensusDesign(
        places,
        spine,
        (("sex", ("f", "m")), ("age", (0, 1, 2))),
        variances,
        TotalLimits.none(spine) if limits is None else limits,
        np.ones(6, dtype=bool),
        1024.0,
    )


def rows_of(at: CensusDesign, level: int, table: tuple[int, ...]) -> Doubles:
    """Return the matrix from the cells of the smallest places to a table of a level."""
    ancestors, shape = at.spine.ancestors()[level], at.shape
    places, cells = at.spine.sizes[-1], prod(shape)
    marginal = at.sum_table(np.eye(cells), table).T
    held = (ancestors[None, :] == np.arange(at.spine.sizes[level])[:, None]).astype(float)
    return np.kron(held, marginal).reshape(-1, places * cells)


def dense(
    at: CensusDesign, noisy: Mapping[TableKey, Doubles], fixed: Mapping[int, Mapping[int, float]]
) -> tuple[Doubles, Doubles]:
    """Return the least-squares estimate of all smallest cells under public totals, and its
    covariance, by one system of equations.
    """
    blocks = [(rows_of(at, *key), noisy[key].ravel(), at.variances[key]) for key in noisy]
    matrix = np.concatenate([rows / variance**0.5 for rows, _, variance in blocks])
    values = np.concatenate([value / variance**0.5 for _, value, variance in blocks])
    totals = [(level, place, total) for level in fixed for place, total in fixed[level].items()]
    bound = np.array([rows_of(at, level, ())[place] for level, place, _ in totals])
    bound = bound.reshape(len(totals), matrix.shape[1])
    system = np.block([[matrix.T @ matrix, bound.T], [bound, np.zeros((len(totals),) * 2)]])
    inverse = np.linalg.inv(system)
    goals = np.r_[matrix.T @ values, [total for _, _, total in totals]]
    cells = matrix.shape[1]
    return (inverse @ goals)[:cells], inverse[:cells, :cells]


def random_tables(at: CensusDesign, seed: int) -> dict[TableKey, Doubles]:
    """Return counts of invented people with noise, for every measured table."""
    random = np.random.default_rng(seed)
    cells = random.poisson(3.0, (at.spine.sizes[-1], prod(at.shape))).astype(float)
    levels = at.spine.sum_up(cells)
    return {
        (level, table): at.sum_table(levels[level], table)
        + random.normal(0, variance**0.5, (at.spine.sizes[level], prod(at.shape[i] for i in table)))
        for (level, table), variance in at.variances.items()
    }


def chain(seed: int, places: int) -> Spine:
    """Return a random tree of four levels."""
    random = np.random.default_rng(seed)
    sizes = [2, 5, 17, places]
    parents = [
        np.sort(np.r_[np.arange(above), random.integers(0, above, below - above)])
        for above, below in pairwise(sizes)
    ]
    return Spine.of(2, parents)
