"""Groups of a table and their sensitive values, shared by `skewness` and `background`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number
from .. import attack_refusals as refusals
from . import games
from .attack_result import Success, check_count, check_epsilons
from .closeness import count_by_cell
from .look_alikes import CodedColumns
from .owner_table import Columns, read_columns
from .table_readers import check_columns, check_sensitive

Integers = NDArray[np.int64]
_MOST = 4_000_000  # counts of groups and values that are looked at together


def count_values(
    table: object, names: Sequence[str], sensitive: str
) -> tuple[Columns, CodedColumns, Integers]:
    """Read the columns, their cells, and how often each value occurs in each cell."""
    names = check_columns(names)
    rows = read_columns(table, [*names, check_sensitive(sensitive, names)])
    coded = CodedColumns(rows, names)
    codes, (cell, value, many) = count_by_cell(rows, coded.cells(names), sensitive, ordered=False)
    shape = int(cell.max()) + 1, int(codes.max()) + 1
    if shape[0] * shape[1] > _MOST:
        raise refusals.TOO_MANY_GROUPS(sensitive=sensitive, most=_MOST, columns=names)
    counts = np.zeros(shape, dtype=np.int64)
    counts[cell, value] = many
    return rows, coded, counts


def disclosure_by_group(counts: Integers, ruled_out: int = 0) -> NDArray[np.float64]:
    """Compute for each group the share of its most frequent value, once the next most frequent
    values are ruled out.
    """
    ordered = -np.sort(-counts, axis=1)
    left = ordered.sum(axis=1) - ordered[:, 1 : 1 + ruled_out].sum(axis=1)
    shares: NDArray[np.float64] = ordered[:, 0] / left
    return shares


def certain_share(counts: Integers, ruled_out: int = 0) -> float:
    """Compute the share of people in groups where ruling out values leaves only one."""
    few = (counts > 0).sum(axis=1) <= ruled_out + 1
    return float(counts[few].sum() / counts.sum())


def play_value_game(
    counts: Integers, epsilons: Sequence[Number], trials: int, seed: int
) -> tuple[Success, ...]:
    """Play the value game with a member of each group in turn, smallest groups first. The attacker
    knows everybody else.
    """
    losses, many = check_epsilons(epsilons), check_count(trials, "trials")
    if counts.shape[1] < 2:
        raise refusals.SENSITIVE_COLUMN_CONSTANT()
    others = counts[np.argsort(counts.sum(axis=1), kind="stable")][
        np.resize(np.arange(min(len(counts), many)), many)
    ]
    others[np.arange(many), np.argmax(others, axis=1)] -= 1  # the one whose value is drawn afresh
    return games.play_value(np.minimum(others, games.MOST_OTHERS), losses, seed=seed)
