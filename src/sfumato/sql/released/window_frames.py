"""Turn a window over released groups into ranges of groups.

*Order*     Groups are sorted by partition, then by the window's ORDER BY. Peers are groups that the
            ORDER BY does not tell apart.
*Frame*     As in SQL: with ORDER BY all groups up to the last peer, without it the partition; or
            what ROWS BETWEEN names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, cast

import numpy as np

from ...answers.group_frames import Frames, Places

Unit = Literal["rows", "range"]
Values = Sequence[object]
"""A value for each group; None for null."""


@dataclass(frozen=True, slots=True)
class SortOrder:
    """How a window sorts by one of its expressions."""

    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function: its operation across groups, how many of its operands are values and how
    many are keys of PARTITION BY, and its frame. Offsets are relative to the row; None is without
    limit.
    """

    op: str
    operands: int
    partition: int
    order: tuple[SortOrder, ...]
    unit: Unit = "range"
    first: int | None = None
    last: int | None = 0
    step: int = 0  # of LAG (negative) and LEAD
    nth: int = 0  # of NTH_VALUE, from 1 on; −1 is the last value
    parts: int = 0  # of NTILE
    empty: Fraction | None = None  # what LAG and LEAD give where there is no row


def frames_of(
    call: WindowCall,
    size: int,
    partition: Sequence[Values],
    order: Sequence[Values],
    *,
    chosen: bool,
) -> Frames:
    """Return the range of groups of every row. `chosen` tells that the order is a noisy one."""
    labels = _labels(partition, size)
    places = list(range(size))
    for values, how in reversed(list(zip(order, call.order, strict=True))):
        places = sort_places(places, values, how)
    places.sort(key=lambda i: labels[i])
    peers = _labels([labels, *order], size)
    sorted_rows = np.array(places, dtype=np.int64)
    begin, end = _runs([labels[i] for i in places])
    first_peer, last_peer = _runs([peers[i] for i in places])
    position = np.arange(size)
    ranks = at = None
    if call.op in ("row_number", "rank", "dense_rank", "ntile"):
        start, stop = begin, end
        ranks = _ranks(call, begin, end, first_peer)
    elif call.step:
        start = position + call.step
        inside = (start >= begin) & (start < end)
        start = np.where(inside, start, position)
        stop = start + inside
    else:
        start, stop = _frame(call, position, begin, end, first_peer, last_peer)
        if call.nth:
            there = stop - 1 if call.nth < 0 else start + call.nth - 1
            inside = (start < stop) & (there < stop)
            start = np.where(inside, there, 0)
            stop = start + inside
    back = np.argsort(sorted_rows)  # of each group, its place in the order
    if ranks is not None:
        at, ranks = np.arange(size), ranks[back]
    return Frames(sorted_rows, start[back], stop[back], chosen, ranks, at)


def sort_places(places: list[int], values: Values, how: SortOrder) -> list[int]:
    """Sort groups by a value each; equal ones keep their order."""
    valued = [i for i in places if values[i] is not None]
    columns: Sequence[float] = cast("Sequence[float]", values)  # of one type, which compare
    valued.sort(key=lambda i: columns[i], reverse=how.descending)
    nulls = [i for i in places if values[i] is None]
    return [*nulls, *valued] if how.nulls_first else [*valued, *nulls]


def _labels(columns: Sequence[Values], size: int) -> list[int]:
    """Number the different rows of several columns, from 0 on."""
    numbers: dict[tuple[object, ...], int] = {}
    rows = zip(*columns, strict=True) if columns else [()] * size
    return [numbers.setdefault(tuple(row), len(numbers)) for row in rows]


def _runs(labels: list[int]) -> tuple[Places, Places]:
    """Return for each place where the run of equal labels around it begins and ends."""
    edges = [i for i in range(len(labels)) if not i or labels[i] != labels[i - 1]]
    start, end = (np.zeros(len(labels), dtype=np.int64) for _ in range(2))
    for first, last in pairwise([*edges, len(labels)]):
        start[first:last], end[first:last] = first, last
    return start, end


def _frame(
    call: WindowCall,
    position: Places,
    begin: Places,
    end: Places,
    first_peer: Places,
    last_peer: Places,
) -> tuple[Places, Places]:
    if call.unit == "range":
        start = begin if call.first is None else first_peer
        stop = end if call.last is None or not call.order else last_peer
        return (begin, end) if not call.order else (start, stop)
    start = begin if call.first is None else np.clip(position + call.first, begin, end)
    stop = end if call.last is None else np.clip(position + call.last + 1, begin, end)
    return start, np.maximum(start, stop)


def _ranks(call: WindowCall, begin: Places, end: Places, first_peer: Places) -> Places:
    position = np.arange(len(begin))
    if call.op == "rank":
        return np.asarray(first_peer - begin + 1)
    if call.op == "dense_rank":
        starts = np.cumsum(first_peer == position)
        return np.asarray(starts - starts[begin] + 1) if len(begin) else begin
    place = position - begin
    if call.op == "row_number":
        return np.asarray(place + 1)
    each, more = np.divmod(end - begin, call.parts)
    inside = more * (each + 1)
    late = more + (place - inside) // np.maximum(each, 1)
    return np.asarray(np.where(place < inside, place // (each + 1), late) + 1)
