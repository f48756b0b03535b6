"""Lower bounds for the error of any ε-private answer, on the data of bench/accuracy.py.

*One number*  If adding a row moves the answer by Δ, and so does the next row, and so on, then no
              ε-private answer has a smaller worst root mean square error on that chain of tables
              than Δ·√V, V = 2α/(1 − α)², α = e^−ε: the deviation of the two-sided geometric law.
              (In the limit of a long chain: docs/proofs/cells.md, "Optimal".)
*Two*         Of the count N and the sum S from the middle of bounds 2h apart, no ε-private answer
              has a smaller Var(N) + Var(S)/h² than 4·V. Two cells attain it.
*Δ*           is measured on the table: the most that `STEPS` equal rows move an answer, divided by
              their number. Rows at corners of the bounds move these answers most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
STEPS = 10
MIDDLE = 50.0

EXACT: dict[str, Callable[[Doubles, Doubles], float]] = {
    "n": lambda x, y: float(len(x)),
    "sum_x": lambda x, y: float(x.sum()),
    "avg_x": lambda x, y: float(x.mean()),
    "avg_y": lambda x, y: float(y.mean()),
    "var_x": lambda x, y: float(x.var()),
    "median_x": lambda x, y: float(np.median(x)),
    "corr_xy": lambda x, y: float(np.corrcoef(x, y)[0, 1]),
}
"""The exact answer of each column, from the values of a group."""


def geometric_variance(epsilon: float) -> float:
    """Return V: no ε-private count has a smaller mean squared error."""
    alpha = math.exp(-epsilon)
    return 2 * alpha / (1 - alpha) ** 2


def floors(path: Path, groups: int, epsilon: float = 1.0) -> dict[str, float]:
    """Return for each column the root mean square over groups of the bound for one number."""
    squares = dict.fromkeys(EXACT, 0.0)
    table = duckdb.sql(f"SELECT g, x, y FROM read_parquet('{path}') ORDER BY g").fetchnumpy()
    ends = np.searchsorted(table["g"], np.arange(1, groups))
    both = (np.split(np.asarray(table[name]), ends) for name in "xy")
    for x, y in zip(*both, strict=True):
        for name, answer in EXACT.items():
            before = answer(x, y)
            most = max(
                abs(answer(np.append(x, [a] * STEPS), np.append(y, [b] * STEPS)) - before) / STEPS
                for a, b in product((0.0, 100.0), repeat=2)
            )
            squares[name] += most**2
    variance = geometric_variance(epsilon)
    return {name: math.sqrt(square / groups * variance) for name, square in squares.items()}


def of_both_optimum(counts: Doubles, sums: Doubles, epsilon: float = 1.0) -> float:
    """Divide Var(N) + Var(S)/h² of errors of counts and sums by its lower bound 4·V."""
    centred = sums - MIDDLE * counts
    total = float((counts**2).mean() + (centred**2).mean() / MIDDLE**2)
    return total / (4 * geometric_variance(epsilon))
