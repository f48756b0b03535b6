"""Generated film ratings, as sparse as those of a film rental: each person rates few of many films,
and a few films have many ratings.

*Popular*   The chance of film i is ∝ 1/(i + 10): a long tail, as in every such data set.
*Each*      People draw 2 + geometric many films, `each` on average, and rate the different ones
            among them.
*When*      In the months after the film came out, an exponential time with a mean of 120 days,
            within six years: dates of one film lie together.
*How*       One to five stars around a quality of the film.
*Nobody*    in it exists. The same seed makes the same data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..lib.attack_result import check_count
from ..lib.owner_table import read_columns

DAYS = 2190


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Who rated what, when, with how many stars: one row for each rating, ordered by person."""

    person: NDArray[np.int64]
    item: NDArray[np.int64]
    stars: NDArray[np.float64]
    day: NDArray[np.float64]

    @property
    def people(self) -> int:
        return int(self.person.max()) + 1

    @property
    def items(self) -> int:
        return int(self.item.max()) + 1

    def of(self, person: int) -> NDArray[np.int64]:
        """Return the rows of one person."""
        return np.arange(*np.searchsorted(self.person, (person, person + 1)))


def ratings(people: int = 10_000, items: int = 1000, *, each: int = 40, seed: int = 0) -> Ratings:
    """Generate ratings of so many people, about `each` ratings per person."""
    people = check_count(people, "people", 2)
    items = check_count(items, "items", 10)
    each = check_count(each, "each", 3)
    generator = np.random.default_rng(seed)
    many = 2 + generator.geometric(1 / (each - 2), people)
    rising = np.cumsum(1 / (np.arange(items) + 10.0))
    drawn = np.searchsorted(rising, generator.random(int(many.sum())) * rising[-1])
    person, item = np.divmod(
        np.unique(np.repeat(np.arange(people), many) * items + np.minimum(drawn, items - 1)), items
    )
    stars = np.clip(np.round(generator.normal(generator.normal(3.6, 0.5, items)[item], 1.0)), 1, 5)
    day = np.floor(generator.uniform(0, DAYS, items)[item] + generator.exponential(120, len(item)))
    return Ratings(person, item, stars, np.minimum(day, DAYS))


def ratings_of(table: object, *, person: str, item: str, stars: str, day: str) -> Ratings:
    """Read ratings from the owner's table, by the names of its columns."""
    rows = read_columns(table, [person, item, stars, day])
    codes = rows.codes(person)
    order = np.argsort(codes, kind="stable")
    return Ratings(
        codes[order], rows.codes(item)[order], rows.numbers(stars)[order], rows.numbers(day)[order]
    )
