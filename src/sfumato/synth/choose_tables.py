"""Choose which tables of two columns are measured, and with which share of the noise budget.

*Score*    of a pair: the noisy distance Σ|count − independent count| of its table from that of
           independent columns, in rows.
*Noise*    A table with the share s of μ² has the deviation √(Δ²/(s·μ²)) in each cell. The sum of
           the expected distances is least for shares ∝ cells^⅔.
*Chosen*   are pairs whose score is clear, as long as independence would describe them worse than
           their noise does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from .merge_cells import CLEAR

Pair = tuple[int, ...]

MILLION = 1_000_000
_MEAN = math.sqrt(2 / math.pi)  # of |noise|, in deviations


def choose_tables(
    scores: Mapping[Pair, float],
    score_deviation: float,
    sizes: Sequence[int],
    deviation: float,
) -> dict[Pair, Fraction]:
    """Return the chosen pairs with their shares, which sum to 1. `deviation` is that of a cell with
    all of the budget.
    """
    chosen = [pair for pair, score in scores.items() if score > CLEAR * score_deviation]
    while chosen:
        cells = np.array([math.prod(sizes[i] for i in pair) for pair in chosen], dtype=np.float64)
        shares = cells ** (2 / 3)
        shares /= shares.sum()
        errors = _MEAN * cells * deviation / np.sqrt(shares)
        gains = np.array([scores[pair] for pair in chosen]) - errors
        worst = int(gains.argmin())
        if gains[worst] >= 0:
            return _as_millionths(chosen, shares.tolist())
        chosen.pop(worst)
    return {}


def _as_millionths(chosen: Sequence[Pair], shares: Sequence[float]) -> dict[Pair, Fraction]:
    millionths = [max(1, int(MILLION * share)) for share in shares]
    largest = millionths.index(max(millionths))
    millionths[largest] += MILLION - sum(millionths)
    return {pair: Fraction(share, MILLION) for pair, share in zip(chosen, millionths, strict=True)}
