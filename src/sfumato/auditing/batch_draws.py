"""Draw all outputs of a mechanism in one call, where its `perturb` takes arrays or its exact
integers can be tallied once.

*Independent*  The noise of every cell is drawn by itself, so an array of equal inputs gives
               independent outputs of the mechanism for one number; the sensitivity of the whole
               array is not claimed of them.
*Its own*      Only of kinds of the library. A kind that derives from one may draw otherwise for an
               array than for a number, so it is run call by call; who knows better says so with
               `many`.
*Quantiles*    The data are cut into runs once; a run and a point in it are drawn for all draws, by
               the same records. For weights that is one call for as many groups of the same rows.
*Hierarchies*  What is drawn are the noisy blocks. `perturb` makes them consistent before it gives
               them: that is processing, so what is proven of the published blocks is at most what
               is proven here, and a mistake in that step is not seen by these draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from ..exact.numbers import Number
from ..local.oracle import Oracle
from ..mechanisms.exponential import Exponential
from ..mechanisms.gibbs import Gibbs
from ..mechanisms.hierarchy import Hierarchy, blocks
from ..mechanisms.histogram import Histogram
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.mean import Mean
from ..mechanisms.optimal_selection import OptimalSelection
from ..mechanisms.quantile import Quantile
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.additive import Additive
from ..mechanisms.weighted_quantile import WeightedQuantile
from ..noise.bits import SYSTEM
from ..noise.choice import Choice
from ..noise.uniform import integer_below_each, part_holding
from .canonical_outputs import Draws, Input
from .local_reports import reports_at


def _additive(m: Additive, x: Input, n: int) -> Draws | None:
    if m.grid is not None or m.size is not None:
        return None  # such a record says for how many numbers it is
    values = np.asarray(x)
    if values.dtype.kind not in "iu" or values.ndim > 1 or isinstance(x, bool):
        return None
    return np.asarray(
        m.perturb(
            np.full(n, x, dtype=np.int64)
            if values.ndim == 0
            else np.tile(values.astype(np.int64), (n, 1))
        )
    )


def _response(m: RandomizedResponse, x: Input, n: int) -> Draws | None:
    if not m.labels.is_single_value(x):  # the answers of several people
        codes = m.labels.codes(cast("Iterable[object]", x))
        return (
            m.labels.codes(m.perturb(np.tile(m.labels.array[codes], (n, 1))))
            if codes.ndim == 1
            else None
        )
    m.labels.index(
        x
    )  # what is no category is refused here, before an array of texts cuts it to their length
    reports = np.empty(n, dtype=m.labels.array.dtype)
    reports[:] = x
    return m.labels.codes(m.perturb(reports))


def _exponential(m: Exponential, x: Sequence[Number], n: int) -> Draws | None:
    if type(m) is not Exponential or m.candidates is not None:  # another kind may choose otherwise
        return None
    return m.law(x).sample(n)


def _keeps(m: OptimalSelection, x: ArrayLike, n: int) -> Draws | None:
    return (
        np.asarray(m.keep(np.full(n, x) if np.ndim(x) == 0 else np.tile(x, n)))
        .reshape(n, *np.shape(x))
        .astype(np.int64)
    )


def _histogram(m: Histogram, x: Iterable[object], n: int) -> Draws | None:
    if type(m) is not Histogram or m.noise.grid is not None or m.noise.size is not None:
        return None
    return np.asarray(m.noise.perturb(np.tile(m.tally(x).ravel(), (n, 1))))


def _hierarchy(m: Hierarchy, x: Iterable[object], n: int) -> Draws | None:
    """Draw all noisy blocks, before `perturb` would make them consistent."""
    if type(m) is not Hierarchy:
        return None
    cells = Histogram(axes=[m.axis], epsilon=1, outside=m.outside, relation=m.relation).tally(x)
    tree = np.concatenate(blocks(cells, m.branching, m.levels))
    return np.asarray(m.noise.perturb(np.tile(tree, (n, 1))))


def _mean(m: Mean, x: Iterable[object], n: int) -> Draws | None:
    if type(m) is not Mean:
        return None
    parts = [
        noise.perturb(np.full(n, exact, dtype=np.int64))
        for noise, exact in zip((m.noise, m.counting), m.tally(x), strict=True)
        if noise is not None
    ]
    return np.stack(parts, axis=1)


def _quantile(m: Quantile, x: ArrayLike, n: int) -> Draws | None:
    return (
        _points(m.grid, m._intervals(m._range.sorted_steps(x)), n) if type(m) is Quantile else None
    )


def _inverse(m: InverseSensitivity, x: Iterable[object], n: int) -> Draws | None:
    return (
        _points(m.grid, m._pieces(x), n)
        if type(m) is InverseSensitivity and m._range is not None and m.grid is not None
        else None
    )


def _points(
    grid: Fraction, runs: tuple[NDArray[np.int64], NDArray[np.int64], Choice], n: int
) -> Draws:
    starts, sizes, law = runs
    chosen = law.sample(n)
    steps = starts[chosen] + integer_below_each(sizes[chosen], SYSTEM)
    return steps * (int(grid) if grid.denominator == 1 else float(grid))  # a power of two: exact


def _weighted(m: WeightedQuantile, x: tuple[ArrayLike, ArrayLike], n: int) -> Draws | None:
    if type(m) is not WeightedQuantile:
        return None
    points, weights = (np.asarray(part, dtype=np.int64) for part in x)
    return m._each(
        np.repeat(np.arange(n), len(points)), np.tile(points, n), np.tile(weights, n), n, SYSTEM
    )


def _gibbs(m: Gibbs, x: Sequence[Sequence[Number]], n: int) -> Draws | None:
    """Check the losses, add them up and turn them into masses once for each precision."""
    if type(m) is not Gibbs:
        return None
    total, points = m._total(x), m.points
    laws: dict[int, tuple[arb, list[arb]]] = {}

    def law(_: int) -> tuple[arb, list[arb]]:
        if ctx.prec not in laws:
            masses = m._masses(total)
            laws[ctx.prec] = sum(masses, arb(0)), masses
        return laws[ctx.prec]

    middles = np.array([float((a + b) / 2) for a, b in pairwise(points)])
    return middles[[part_holding(law, SYSTEM.integer(64), SYSTEM) for _ in range(n)]]


AT_ONCE: dict[type, Callable[[Any, Any, int], Draws | None]] = {
    Additive: _additive,
    RandomizedResponse: _response,
    Oracle: reports_at,
    Exponential: _exponential,
    Gibbs: _gibbs,
    Hierarchy: _hierarchy,
    Histogram: _histogram,
    InverseSensitivity: _inverse,
    Mean: _mean,
    OptimalSelection: _keeps,
    Quantile: _quantile,
    WeightedQuantile: _weighted,
}
"""Mechanisms that give all draws in one call, where the input allows it."""
