"""Public facts about counts: totals that are known already, least totals, cells that are empty.

All of them are numbers that the owner declares. Nothing here is read from the protected data, and
no promise of the release depends on it: an invariant that was computed from the data would be
outside the promise.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from . import census_refusals as refusals
from .census_design import Attribute
from .census_options import ByPlace
from .spine import Spine
from .whole_tables import NO_LIMIT, TotalLimits

PathsByLevel = Sequence[Sequence[tuple[object, ...]]]


def read_limits(
    spine: Spine,
    levels: Sequence[str],
    paths: PathsByLevel,
    public: ByPlace | None,
    at_least: ByPlace | None,
) -> TotalLimits:
    """Return the limits of all totals; refuse totals that cannot hold together."""
    least = [np.zeros(size, dtype=np.int64) for size in spine.sizes]
    most = [np.full(size, NO_LIMIT) for size in spine.sizes]
    for level, place, number in _numbers("at_least", at_least, levels, paths):
        least[level][place] = number
    for level, place, number in _numbers("public", public, levels, paths):
        least[level][place] = max(number, least[level][place])
        most[level][place] = number
    limits = TotalLimits.of(spine, least, most)
    for level in range(spine.depth):
        for place in limits.conflicts(level)[:1]:
            raise refusals.TOTALS_DISAGREE(
                level=levels[level],
                place=show_path(paths[level][place]),
                least=int(limits.least[level][place]),
                most=int(limits.most[level][place]),
            )
    return limits


def _numbers(
    argument: str, stated: ByPlace | None, levels: Sequence[str], paths: PathsByLevel
) -> Iterable[tuple[int, int, int]]:
    """Yield level, place and number of every stated total."""
    if stated is None:
        return
    example = paths[0][0][0]
    if not isinstance(stated, Mapping):
        raise refusals.TOTAL_FROM_DATA(
            argument=argument, value=stated, level=levels[0], place=example
        )
    for level, numbers in stated.items():
        if level not in levels:
            raise refusals.LEVEL_UNKNOWN(
                argument=argument, level=level, levels=", ".join(levels), first=levels[0]
            )
        at = levels.index(level)
        if not isinstance(numbers, Mapping):
            raise refusals.TOTAL_FROM_DATA(
                argument=argument, value=numbers, level=level, place=paths[at][0][-1]
            )
        places = name_places(paths[at])
        for place, number in numbers.items():
            if place not in places:
                raise refusals.PLACE_UNKNOWN(
                    argument=argument, place=place, level=level, example=paths[at][0]
                )
            yield at, places[place], _whole_number(argument, number, level, place)


def _whole_number(argument: str, number: object, level: str, place: object) -> int:
    try:
        value = operator.index(number) if isinstance(number, SupportsIndex) else -1
    except TypeError:  # NumPy's arrays have the method, too
        value = -1
    if isinstance(number, bool) or not 0 <= value < NO_LIMIT:
        raise refusals.TOTAL_FROM_DATA(argument=argument, value=number, level=level, place=place)
    return value


def name_places(paths: Sequence[tuple[object, ...]]) -> dict[object, int]:
    """Return the places of a level by path, and by name where no other place has it."""
    names: dict[object, int] = {}
    twice = set()
    for i, path in enumerate(paths):
        twice |= {path[-1]} if path[-1] in names else set()
        names[path[-1]] = i
    by_path: dict[object, int] = {path: i for i, path in enumerate(paths)}
    return {name: i for name, i in names.items() if name not in twice} | by_path


def show_path(path: Sequence[object]) -> str:
    """Return a path as text: the places from large to small."""
    return " › ".join(map(str, path))


def possible_cells(
    attributes: Sequence[Attribute], impossible: Iterable[Mapping[str, object]]
) -> NDArray[np.bool_]:
    """Return which cells of all attributes may hold anybody."""
    possible = np.ones([len(keys) for _, keys in attributes], dtype=bool)
    domains = dict(attributes)
    first, keys = attributes[0]
    if isinstance(impossible, Mapping) or not isinstance(impossible, Iterable):
        raise refusals.IMPOSSIBLE_UNKNOWN(cell=impossible, first=first, key=keys[0])
    for cell in impossible:
        if not isinstance(cell, Mapping) or not cell or not set(cell) <= set(domains):
            raise refusals.IMPOSSIBLE_UNKNOWN(cell=cell, first=first, key=keys[0])
        places: list[Sequence[int]] = []
        for name, domain in attributes:
            stated = cell.get(name, domain)
            values = stated if isinstance(stated, list | tuple | set) else [stated]
            if not values or not all(value in domain for value in values):
                raise refusals.IMPOSSIBLE_UNKNOWN(cell=cell, first=first, key=keys[0])
            places.append([domain.index(value) for value in values])
        for place in product(*places):
            possible[place] = False
    if not possible.any():
        raise refusals.IMPOSSIBLE_UNKNOWN(cell="all cells", first=first, key=keys[0])
    return possible.ravel()
