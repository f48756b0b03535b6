"""Reconstruction in the risk report: how many secrets of the table's people come out of counts of
random groups.

*Secret*   Of names, whether a person has the value that comes closest to a half of all; of numbers,
           whether theirs is above the middle.
*Exact*    By linear programming, once. *Private*: by least squares, on average over some runs, all
           counts of a run for ε together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...noise.bits import SYSTEM, Bits
from ..lib.attack_text import format_number
from ..lib.owner_table import Columns
from ..reconstruct import reconstruct, subset_counts
from ..threshold import PER_PERSON

PEOPLE = 100  # whose secrets are reconstructed: enough to see, and solved in a moment
_RUNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconstructedColumn:
    """How many secrets of the table's people come out of counts of random groups."""

    people: int
    answers: int
    what: str  # the secret: "disease = flu"
    commoner: int  # right by always saying what is more common
    exact: int
    private: tuple[tuple[Fraction, int], ...]  # on average


def reconstruct_column(
    rows: Columns, sensitive: str, losses: Sequence[Fraction], seed: int = 0, bits: Bits = SYSTEM
) -> ReconstructedColumn | None:
    """Reconstruct for some people whether they have the value whose share is closest to one half,
    or a number above the median.
    """
    if rows.n < 2 or not has_two_values(rows, sensitive):
        return None
    chosen = np.sort(np.random.default_rng(seed).permutation(rows.n)[:PEOPLE])
    some = rows.select_rows(chosen)
    secret, what = _bits(some, sensitive)
    ones = int(secret.sum())
    return ReconstructedColumn(
        people=some.n,
        answers=PER_PERSON * some.n,
        what=what,
        commoner=max(ones, some.n - ones),
        exact=some.n - (reconstruct(subset_counts(secret, seed=seed)).wrong or 0),
        private=tuple((epsilon, _right(secret, epsilon, seed, bits)) for epsilon in losses),
    )


def _bits(some: Columns, sensitive: str) -> tuple[NDArray[np.int64], str]:
    """Compute a bit for each person, and describe it."""
    if some.numeric(sensitive):
        numbers = some.numbers(sensitive)
        middle = float(np.median(np.nan_to_num(numbers)))
        return (numbers > middle).astype(np.int64), f"{sensitive} above {format_number(middle)}"
    rows, value = some.halving(sensitive)
    return rows.astype(np.int64), f"{sensitive} = {'missing' if value is None else value}"


def _right(secret: NDArray[np.int64], epsilon: Fraction, seed: int, bits: Bits) -> int:
    """Compute how many secrets come out right from private counts, on average."""
    runs = [
        subset_counts(secret, epsilon=epsilon, seed=seed + run, bits=bits) for run in range(_RUNS)
    ]
    return round(
        len(secret)
        - sum(reconstruct(answers, method="least squares").wrong or 0 for answers in runs) / _RUNS
    )


def has_two_values(rows: Columns, sensitive: str) -> bool:
    """Whether the column has two values or more: a single value is no secret."""
    return int(rows.codes(sensitive).max()) > 0
