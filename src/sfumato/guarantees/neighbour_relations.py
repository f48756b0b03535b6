"""Neighbour relations as objects: they measure the distance of two datasets and enumerate
neighbours.

*Replace*      Datasets are ordered rows of one fixed length; the distance is the number of rows
               that differ (Hamming).
*Add-remove*   Datasets are multisets of any size; the distance is the size of the symmetric
               difference, which is the l₁ distance of the histograms.
*Neighbours*   Distance at most 1. A dataset is therefore its own neighbour, which promises nothing;
               enumeration leaves it out.
*Beware*       A replacement is one removal and one addition: distance 1 by the first relation, 2 by
               the second. Between multisets of one size every symmetric difference is even, so
               "add-remove at a fixed size" has no neighbours, and promises nothing at all.

Dwork, McSherry, Nissim & Smith 2006; Kifer & Machanavajjhala 2011 for the two relations side by
side.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement, product
from typing import Any, Generic, TypeVar

from ..exact.numbers import is_whole
from . import guarantee_refusals as refusals

Dataset = tuple[Hashable, ...]
Record = Any  # any hashable type: a mapping is invariant in its keys
Records = Sequence[Hashable] | Mapping[Record, int]
"""Rows, one after the other, or a histogram: record to its count."""
D = TypeVar("D", contravariant=True)
K = TypeVar("K", bound=Hashable)


class NeighbourRelation(ABC, Generic[D]):
    """A distance between datasets; neighbours are one step apart, and guarantees are about them."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the relation in guarantees, ledgers and cards."""

    @abstractmethod
    def distance(self, x: D, y: D) -> int | float:
        """The least number of steps from x to y; infinite if no steps lead there."""

    @abstractmethod
    def neighbours(self, x: D, domain: Sequence[Hashable]) -> Iterator[Dataset]:
        """Yield every dataset over the domain that is one step away from x, once each, without x
        itself.
        """

    @abstractmethod
    def pairs(self, domain: Sequence[Hashable], size: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Yield every ordered pair of different neighbours over the domain."""

    def are_neighbours(self, x: D, y: D) -> bool:
        """Whether at most one step leads from x to y."""
        return self.distance(x, y) <= 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Replace(NeighbourRelation[Sequence[Hashable]]):
    """One row is replaced by another; the number of rows is public and fixed, and so is their
    order.
    """

    name = "replace"

    def distance(self, x: Sequence[Hashable], y: Sequence[Hashable]) -> int | float:
        return hamming(x, y) if len(x) == len(y) else math.inf

    def neighbours(self, x: Sequence[Hashable], domain: Sequence[Hashable]) -> Iterator[Dataset]:
        values = _values(domain, x)
        rows = tuple(x)
        return (
            (*rows[:i], value, *rows[i + 1 :])
            for i, row in enumerate(rows)
            for value in values
            if value != row
        )

    def pairs(self, domain: Sequence[Hashable], size: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Over all datasets of exactly `size` rows."""
        values = _values(domain)
        if len(values) < 2 or size < 1:
            raise refusals.NO_PAIR_UNDER_REPLACE(count=len(values), size=size)
        return ((x, y) for x in product(values, repeat=size) for y in self.neighbours(x, values))


@dataclass(frozen=True, slots=True)
class AddRemove(NeighbourRelation[Records]):
    """One record is added or removed; datasets have no order, and their size is as secret as the
    rest.
    """

    name = "add-remove"

    def distance(self, x: Records, y: Records) -> int:
        return symmetric_difference(x, y).total()

    def neighbours(self, x: Records, domain: Sequence[Hashable]) -> Iterator[Dataset]:
        """Each as a tuple of records in the order of the domain."""
        counts = +to_histogram(x)
        values = _values(domain, counts)

        def moved(value: Hashable, step: int) -> Dataset:
            return tuple(
                chain.from_iterable([v] * (counts[v] + (step if v == value else 0)) for v in values)
            )

        return chain((moved(v, -1) for v in values if counts[v]), (moved(v, 1) for v in values))

    def pairs(self, domain: Sequence[Hashable], size: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Over all datasets of at most `size` records."""
        values = _values(domain)
        if not values or size < 1:
            raise refusals.NO_PAIR_UNDER_ADD_REMOVE(count=len(values), size=size)
        everything = chain.from_iterable(
            combinations_with_replacement(values, n) for n in range(size + 1)
        )
        return ((x, y) for x in everything for y in self.neighbours(x, values) if len(y) <= size)


ADD_REMOVE, REPLACE = AddRemove(), Replace()

RELATIONS: dict[str, NeighbourRelation[Dataset]] = {
    relation.name: relation for relation in (ADD_REMOVE, REPLACE)
}
"""Relations by the name that guarantees carry."""


def hamming(x: Sequence[Hashable], y: Sequence[Hashable]) -> int:
    """#{i : xᵢ ≠ yᵢ}, of equally many rows."""
    if len(x) != len(y):
        raise refusals.UNEQUAL_NUMBERS_OF_ROWS(first=len(x), second=len(y))
    return sum(a != b for a, b in zip(x, y, strict=True))


def to_histogram(x: Records, domain: Sequence[Hashable] = ()) -> Counter[Hashable]:
    """Count how often each record occurs; a value of the domain that does not occur counts 0."""
    if not isinstance(x, Mapping):
        counts: Counter[Hashable] = Counter(x)
    else:
        counts = Counter(x)
        wrong = [value for value, count in counts.items() if not is_whole(count, 0)]
        if wrong:
            raise refusals.RECORD_COUNT_NOT_WHOLE(record=wrong[0], count=counts[wrong[0]])
    return (
        Counter({value: counts[value] for value in _values(domain, +counts)}) if domain else counts
    )


def symmetric_difference(x: Records, y: Records) -> Counter[Hashable]:
    """Return the records whose counts differ, each with the absolute difference of its counts."""
    a, b = to_histogram(x), to_histogram(y)
    return (a - b) + (b - a)


def l1_distance(x: Sequence[int] | Mapping[K, int], y: Sequence[int] | Mapping[K, int]) -> int:
    """‖x − y‖₁ of two histograms: counts in one common order, or counts by record."""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return sum(abs(x.get(value, 0) - y.get(value, 0)) for value in {*x, *y})
    if isinstance(x, Mapping) or isinstance(y, Mapping) or len(x) != len(y):
        raise refusals.HISTOGRAM_CELLS_DIFFER()
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def _values(domain: Sequence[Hashable], held: Iterable[Hashable] = ()) -> Dataset:
    """Check that the values of a domain are different and include every record in `held`."""
    values = tuple(domain)
    distinct = set(values)
    if len(distinct) < len(values):
        raise refusals.DOMAIN_REPEATS_A_VALUE(count=len(values))
    strange = [record for record in held if record not in distinct]
    if strange:
        raise refusals.RECORD_OUTSIDE_DOMAIN()
    return values
