"""Groups of a table and the sensitive values in them: what is shared by `skewness` and
`background`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...exact.numbers import Number
from . import games
from .attack_result import Success, known_count, known_epsilons
from .closeness import spread
from .look_alikes import Coded
from .owner_table import Columns, columns
from .table_readers import known_columns, known_sensitive

Whole = NDArray[np.int64]
_MOST = 4_000_000  # counts of groups and values that are looked at together


def counted(table: Any, names: Sequence[str], sensitive: str) -> tuple[Columns, Coded, Whole]:
    """The columns, their cells, and how often each value occurs in each cell."""
    names = known_columns(names)
    found = columns(table, [*names, known_sensitive(sensitive, names)])
    coded = Coded(found, names)
    codes, (cell, value, many) = spread(found, coded.cells(names), sensitive, ordered=False)
    shape = int(cell.max()) + 1, int(codes.max()) + 1
    if shape[0] * shape[1] > _MOST:
        reason = "there are more groups and values than are looked at together"
        raise Refused(
            "attacks.groups",
            f"{sensitive!r:.60}",
            reason,
            "coarser columns, or uniqueness(…, sensitive=…)",
        )
    counts = np.zeros(shape, dtype=np.int64)
    counts[cell, value] = many
    return found, coded, counts


def disclosed(counts: Whole, ruled_out: int = 0) -> NDArray[np.float64]:
    """Of each group, the share of its most frequent value among those left when the most frequent
    others are ruled out.
    """
    ordered = -np.sort(-counts, axis=1)
    left = ordered.sum(axis=1) - ordered[:, 1 : 1 + ruled_out].sum(axis=1)
    shares: NDArray[np.float64] = ordered[:, 0] / left
    return shares


def certain(counts: Whole, ruled_out: int = 0) -> float:
    """The share of people in groups with so few values that one is left."""
    few = (counts > 0).sum(axis=1) <= ruled_out + 1
    return float(counts[few].sum() / counts.sum())


def played(
    counts: Whole, epsilons: Sequence[Number], trials: int, seed: int
) -> tuple[Success, ...]:
    """The value game with a member of each group in turn, smallest groups first; everybody else is
    known.
    """
    wanted, many = known_epsilons(epsilons), known_count(trials, "trials")
    if counts.shape[1] < 2:
        raise Refused(
            "attacks.sensitive",
            "one value",
            "there is nothing to guess where a column has one value only",
            "a column of two values or more",
        )
    others = counts[np.argsort(counts.sum(axis=1), kind="stable")][
        np.resize(np.arange(min(len(counts), many)), many)
    ]
    others[np.arange(many), np.argmax(others, axis=1)] -= 1  # the one whose value is drawn afresh
    return games.value(np.minimum(others, games.KNOWN), wanted, seed=seed)
