"""A census that may be published: tables at every level, areas of any shape, and micro-data.

*Count*      a whole number, not negative; the counts of all levels and tables add up.
*Estimate*   the best linear unbiased estimate, with its exact variance.
*Interval*   that of the estimate, from the law of its noise, rounded outward; cut at 0, and widened
             where the count lies outside of it. It holds for each number by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..answers.answer_records import Paid
from ..exact.numbers import Number, probability
from ..guarantees import Guarantee
from ..templates.summary import Summarized, Summary
from . import census_refusals as refusals
from .budget_shares import read_table
from .census_design import CensusDesign
from .census_errors import ErrorRow, errors_by_size
from .census_limits import PathsByLevel, name_places
from .marginal_parts import Subset, cells_of
from .spine import Indices, Values, level_paths

if TYPE_CHECKING:
    import pyarrow as pa


_DOUBLES = 1e-6
"""The assumed relative error of deviations and estimates in doubles, far above the real one."""


@dataclass(frozen=True, eq=False, repr=False)
class Census(Summarized):
    """Published tables of counts."""

    design: CensusDesign
    estimates: tuple[Values, ...]  # by level: places × cells
    counts: Indices  # of the smallest places: places × cells
    cost: Guarantee
    receipt: Paid
    rules: tuple[str, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels, from large places to small ones."""
        return self.design.geography.levels

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return self.design.names

    @cached_property
    def paths(self) -> PathsByLevel:
        """The places of each level."""
        return level_paths(self.design.geography.paths)

    @cached_property
    def counts_by_level(self) -> list[NDArray[np.int64]]:
        """The whole numbers of all cells, by level."""
        return self.design.spine.sum_up(self.counts)

    def table(
        self, level: str, by: str | Sequence[str] = (), *, confidence: Number = 0.95
    ) -> pa.Table:
        """Return a table as Arrow: places, attributes, count, estimate, low, high.

        >>> census.table("state").column("count").to_pylist()
        [...]
        """
        at, subset = self._find(level, by)
        counts = self.design.sum_table(self.counts_by_level[at], subset)
        estimates = self.design.sum_table(self.estimates[at], subset)
        deviation = np.sqrt(self.design.variance(at, subset))[:, None]
        return self._as_arrow(
            _place_columns(self.levels[: at + 1], self.paths[at], counts.shape[1]),
            subset,
            (counts, estimates, deviation),
            confidence,
        )

    def area(
        self,
        places: Iterable[object],
        by: str | Sequence[str] = (),
        *,
        confidence: Number = 0.95,
    ) -> pa.Table:
        """Return the table of an area of any shape: the sum of these smallest places, named by
        their names, or by their paths where names repeat.
        """
        _, subset = self._find(self.levels[-1], by)
        named, listed = name_places(self.paths[-1]), list(places)
        for place in listed:
            if not _is_hashable(place) or place not in named:
                raise refusals.AREA_UNKNOWN(
                    place=place, level=self.levels[-1], example=self.paths[-1][0]
                )
        at = np.array([named[place] for place in listed], dtype=np.int64)
        if not len(at) or len(set(at.tolist())) < len(at):
            raise refusals.AREA_UNKNOWN(
                place=listed, level=self.levels[-1], example=self.paths[-1][0]
            )
        inside = [np.zeros(size) for size in self.design.spine.sizes]
        inside[-1][at] = 1.0
        counts = self.design.sum_table(self.counts[at].sum(axis=0)[None], subset)
        estimates = self.design.sum_table(self.estimates[-1][at].sum(axis=0)[None], subset)
        deviation = math.sqrt(self.design.variance_of_area(inside, subset))
        return self._as_arrow({}, subset, (counts, estimates, np.array([[deviation]])), confidence)

    def people(self) -> pa.Table:
        """Return micro-data: one row for each person counted, with places and attributes. Tables of
        it are the whole numbers of this census.
        """
        import pyarrow as pa

        place, cell = np.nonzero(self.counts)
        often = self.counts[place, cell]
        place, cell = np.repeat(place, often), np.repeat(cell, often)
        columns = {
            level: _dictionary([path[i] for path in self.paths[-1]], place)
            for i, level in enumerate(self.levels)
        }
        codes = np.unravel_index(cell, self.design.shape)
        for (name, keys), code in zip(self.design.attributes, codes, strict=True):
            columns[name] = _dictionary(keys, code)
        return pa.table(columns)

    def compare(
        self, exact: pa.Table | Mapping[str, Sequence[object]], by: str | Sequence[str] = ()
    ) -> tuple[ErrorRow, ...]:
        """Compare with exact counts that the owner passes in: rows of the smallest places with
        their attributes and a column `count`. Errors by level and size of places.

        The result is for the owner's eyes: nothing protects it. For data that nobody has to
        protect, such as generated rows, it may be published.
        """
        exact_counts = self._read_counts(exact)
        _, subset = self._find(self.levels[-1], by)
        rows: list[ErrorRow] = []
        for at, truth in enumerate(self.design.spine.sum_up(exact_counts)):
            rows += errors_by_size(
                self.levels[at],
                self.design.sum_table(truth, subset),
                self.design.sum_table(self.counts_by_level[at], subset),
                self.design.sum_table(self.estimates[at], subset),
                truth.sum(axis=1),
            )
        return tuple(rows)

    def _read_counts(self, exact: object) -> Indices:
        """Read rows of places, attributes and counts into a table of all cells."""
        import pyarrow as pa

        table = pa.table(exact)
        places = {path: i for i, path in enumerate(self.paths[-1])}
        lines = zip(*(table.column(level).to_pylist() for level in self.levels), strict=True)
        place = np.array([places.get(path, -1) for path in lines], dtype=np.int64)
        cell = np.zeros(len(place), dtype=np.int64)
        for name, keys in self.design.attributes:
            at = {key: i for i, key in enumerate(keys)}
            code = np.array([at.get(key, -1) for key in table.column(name).to_pylist()])
            place = np.where(code < 0, -1, place)
            cell = cell * len(keys) + code
        counts = np.zeros_like(self.counts, dtype=np.int64)
        inside = place >= 0
        np.add.at(counts, (place[inside], cell[inside]), table.column("count").to_numpy()[inside])
        return counts

    def _find(self, level: object, by: str | Sequence[str]) -> tuple[int, Subset]:
        names = (by,) if isinstance(by, str) else tuple(by)
        if level not in self.levels or not set(names) <= set(self.attributes):
            raise refusals.TABLE_NOT_PUBLISHED(
                by=by,
                names=", ".join(self.attributes),
                levels=", ".join(self.levels),
                level=self.levels[0],
                first=self.attributes[0],
            )
        return self.levels.index(str(level)), read_table(names, self.attributes)

    def _as_arrow(
        self,
        columns: dict[str, pa.Array],
        subset: Subset,
        numbers: tuple[Indices, Values, Values],
        confidence: Number,
    ) -> pa.Table:
        import pyarrow as pa

        counts, estimates, deviation = numbers
        level = probability(confidence, "confidence", zero=False)
        half = noise_bound(level, self.design.finest) * deviation
        whole_numbers = counts.astype(np.int64)
        low = np.minimum(np.maximum(estimates - half, 0.0), whole_numbers)
        high = np.maximum(estimates + half, whole_numbers)
        shape = [len(self.design.attributes[i][1]) for i in subset]
        codes = np.unravel_index(np.arange(cells_of(self.design.shape, subset)), shape or (1,))
        labels = {
            name: _dictionary(keys, np.tile(code, len(counts)))
            for (name, keys), code in zip(
                (self.design.attributes[i] for i in subset), codes, strict=False
            )
        }
        return pa.table(
            {
                **columns,
                **labels,
                "count": whole_numbers.ravel(),
                "estimate": estimates.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    def _summary(self) -> Summary:
        design = self.design
        bound = noise_bound(Fraction(19, 20), design.finest)
        rows = [
            (
                level,
                f"{design.spine.sizes[at]:,}",
                f"± {bound * math.sqrt(design.variance(at, ()).mean()):,.3g}",
            )
            for at, level in enumerate(self.levels)
        ]
        cells = " × ".join(f"{len(keys)} {name}" for name, keys in design.attributes)
        return Summary(
            title=f"census of {int(self.counts.sum()):,} · {cells} · {self.cost.numbers_text}",
            heads=("level", "places", "total, with probability 0.95"),
            rows=rows,
            numbers=frozenset([1, 2]),
            notes=[*self.rules, f"receipt {self.receipt.number} of {self.receipt.when[:10]}"],
        )


def noise_bound(confidence: Fraction, finest: float) -> float:
    """Return how many deviations the noise of an estimate exceeds with probability at most
    1 − confidence. A draw is a normal variable, rounded to an integer: the sum of the normal
    variables is normal, and Hoeffding's inequality bounds what rounding adds.
    """
    missing = float(1 - confidence)
    of_rounding = missing / 1024
    normal = -NormalDist().inv_cdf((missing - of_rounding) / 2)
    rounding = math.sqrt(2 * math.log(2 / of_rounding)) / (2 * finest)
    return (normal + rounding) * (1 + _DOUBLES)


def _place_columns(
    levels: Sequence[str], paths: Sequence[tuple[object, ...]], often: int
) -> dict[str, pa.Array]:
    """Return a column for each level, every place repeated for its cells."""
    at = np.repeat(np.arange(len(paths)), often)
    return {level: _dictionary([path[i] for path in paths], at) for i, level in enumerate(levels)}


def _dictionary(keys: Sequence[object], codes: NDArray[np.int64]) -> pa.Array:
    """Return a dictionary column: every different key once."""
    import pyarrow as pa

    values = list(dict.fromkeys(keys))
    at = {key: i for i, key in enumerate(values)}
    places = np.array([at[key] for key in keys], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(places[codes]), pa.array(values))


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
