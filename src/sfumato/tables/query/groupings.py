"""Several groupings in one question, as SQL's CUBE, ROLLUP and GROUPING SETS.

*Cube*      Every subset of the keys, the largest first.
*Rollup*    Every beginning of the list of keys: from all of them to none.
*Sets*      The groupings that are listed. An empty one is the total.
*Together*  Keys beside a cube or a rollup are in every grouping; two cubes are combined as in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from . import query_refusals as refusals

MOST_GROUPINGS = 64

Names = tuple[str, ...]
GroupingSet = tuple[int, ...]
"""The keys of one grouping, by their places among the keys of the question."""


@dataclass(frozen=True, slots=True)
class Groupings:
    """Sets of keys to group by, each by itself."""

    sets: tuple[Names, ...]

    @property
    def names(self) -> Names:
        """Return the names of all keys, each once."""
        return tuple(dict.fromkeys(name for names in self.sets for name in names))


def cube(*keys: str | Iterable[str]) -> Groupings:
    """Group by every subset of the keys: `group_by(sf.cube("city", "vip"))` answers for each city
    and vip, each city, each vip, and in total. A list of keys counts as one.
    """
    parts = _parts(keys, "cube")
    if len(parts) > MOST_GROUPINGS.bit_length() - 1:
        raise refusals.TOO_MANY_GROUPINGS(most=MOST_GROUPINGS)
    return Groupings(
        tuple(
            _join(chosen)
            for size in range(len(parts), -1, -1)
            for chosen in combinations(parts, size)
        )
    )


def rollup(*keys: str | Iterable[str]) -> Groupings:
    """Group by every beginning of the list of keys: `group_by(sf.rollup("country", "city"))`
    answers for each city of each country, each country, and in total.
    """
    parts = _parts(keys, "rollup")
    return Groupings(tuple(_join(parts[:size]) for size in range(len(parts), -1, -1)))


def grouping_sets(*sets: str | Iterable[str]) -> Groupings:
    """Group by each of these lists of keys: `sf.grouping_sets(["city"], ["vip"], [])`."""
    return Groupings(tuple(dict.fromkeys(_parts(sets, "grouping_sets"))))


def combine_groupings(
    parts: Sequence[str | Groupings], others: Iterable[str], places: Sequence[str]
) -> tuple[GroupingSet, ...]:
    """Return the sets of a GROUP BY, as places among its keys; () for one plain grouping by all of
    them. `others` are keys that are in every grouping.
    """
    several = [part.sets if isinstance(part, Groupings) else ((part,),) for part in parts]
    inside = {name for sets in several for names in sets for name in names}
    plain = [((name,),) for name in others if name not in inside]
    combined = dict.fromkeys(
        tuple(sorted({places.index(name) for names in chosen for name in names}))
        for chosen in product(*several, *plain)
    )
    if len(combined) > MOST_GROUPINGS:
        raise refusals.TOO_MANY_GROUPINGS(most=MOST_GROUPINGS)
    return () if list(combined) == [tuple(range(len(places)))] else tuple(combined)


def _parts(keys: Sequence[str | Iterable[str]], method: str) -> list[Names]:
    if not keys:
        raise refusals.GROUPINGS_WITHOUT_KEYS(method=method)
    parts = [(key,) if isinstance(key, str) else tuple(key) for key in keys]
    if not all(isinstance(name, str) for part in parts for name in part):
        raise refusals.KEY_NOT_A_NAME()
    return parts


def _join(parts: Iterable[Names]) -> Names:
    return tuple(dict.fromkeys(name for part in parts for name in part))
