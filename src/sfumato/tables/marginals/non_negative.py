"""Make tables of counts non-negative and whole by constrained least squares, so that they add up.

*Steps*   The table by all keys with no negative cell whose sums are nearest to the estimates of all
          tables, in weighted squares (SciPy's L-BFGS-B). Then whole numbers: a
          rounding of running totals, cut at 0, and moves of cells by 1 as long as these bring the
          sums nearer.
*Weights* Inverse variances, times the root of how many cells of the table by all keys a cell sums.
          Without that factor, cells that are cut at 0 would push the totals up.
*Biased*  A cell that cannot be negative is above its exact value on average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...exact.exact_ratios import Integers
from .parts import Keys, closure
from .reconcile import Doubles, round_together

_MOST_MOVES = 300  # rounds of moves
_ROUNDS, _CLOSE = 200, 1e-12


def nearest_whole(estimates: Mapping[Keys, Doubles], weights: Mapping[Keys, float]) -> Integers:
    """Return the table by all keys: whole numbers from 0 on, whose sums are near the estimates of
    all tables. The table by all keys is among them.
    """
    from scipy.optimize import minimize

    full = max(estimates, key=len)
    shape = estimates[full].shape
    weights = {
        keys: weights[keys] * math.sqrt(estimates[full].size / estimate.size)
        for keys, estimate in estimates.items()
    }

    scale = sum(weights[keys] * estimates[full].size / estimates[keys].size for keys in estimates)

    def measure_distance(cells: Doubles) -> tuple[float, Doubles]:
        """Return the weighted squares of the sums' distances, and their gradient, scaled."""
        total, gradient = 0.0, np.zeros(shape)
        for keys, estimate in estimates.items():
            gap = _sum_to(cells.reshape(shape), keys) - estimate
            total += weights[keys] * float((gap**2).sum())
            gradient += 2 * weights[keys] * _spread(gap, keys, len(shape))
        return total / scale, gradient.ravel() / scale

    start = np.maximum(estimates[full], 0.0).ravel()
    solved = minimize(
        measure_distance,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * start.size,
        options={"maxiter": _ROUNDS, "ftol": _CLOSE},
    )
    best = np.asarray(solved.x, dtype=np.float64).reshape(shape)
    tables = {keys: _sum_to(best, keys) for keys in closure([full])}
    cells = np.maximum(round_together(tables)[full], 0)
    return _move_cells(cells, {keys: tables[keys] for keys in estimates}, weights)


def _move_cells(
    cells: Integers, goals: Mapping[Keys, Doubles], weights: Mapping[Keys, float]
) -> Integers:
    """Move cells by 1 as long as the sums come nearer to their goals: the best moves of each round
    together, fewer of them where they hinder each other.
    """
    every = cells.ndim

    def distance(moved: Integers) -> tuple[float, Doubles]:
        total, slope = 0.0, np.zeros(moved.shape)
        for keys, goal in goals.items():
            gap = _sum_to(moved, keys) - goal
            total += weights[keys] * float((gap**2).sum())
            slope += 2 * weights[keys] * _spread(gap, keys, every)
        return total, slope

    together, (best, slope) = max(1, cells.size // 16), distance(cells)
    for _ in range(_MOST_MOVES):
        step = np.where((slope > 0) & (cells > 0), -1, np.where(slope < 0, 1, 0))
        promise = (-slope * step).ravel()
        chosen = np.argpartition(-promise, min(together, promise.size) - 1)[:together]
        moved = cells.copy()
        moved.ravel()[chosen] += step.ravel()[chosen]
        total, after = distance(moved)
        if total < best * (1 - _CLOSE):
            cells, best, slope = moved, total, after
        elif together == 1:
            break
        else:
            together //= 2
    return cells


def _sum_to(cells: Doubles | Integers, keys: Keys) -> Doubles:
    return np.asarray(cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in keys)))


def _spread(table: Doubles, keys: Keys, every: int) -> Doubles:
    """Return a table with an axis of length 1 for each key that it lacks."""
    return np.expand_dims(table, tuple(axis for axis in range(every) if axis not in keys))
