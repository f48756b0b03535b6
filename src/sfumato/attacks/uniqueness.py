"""Uniqueness: how many people are the only one with their combination of values, so that anyone who
knows these values recognises them.

*Share*        The share of rows that are alone in their cell (in the survey of the slides of 2023:
               15 of 24 students by sex, age and first semester).
*k*            The size of the smallest cell: a table is k-anonymous for this k and no larger one
               (Sweeney 2002).
*l*            The fewest different sensitive values in a cell (distinct l-diversity;
               Machanavajjhala et al. 2007), and the entropy form: e to the smallest entropy of a
               cell, never more than the first.
*t*            The largest distance of a cell's sensitive values from those of the whole table
               (t-closeness; Li, Li & Venkatasubramanian 2007): total variation for names; for
               numbers the earth mover's distance with ordered values one step apart, the whole
               range being 1.
*Against*      The same knowledge in two games (`games`): is this person in the table; or, with a
               sensitive column, which value do they have.
*Not private*  All of this is about the data as they are: for the owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, probability
from . import attack_refusals as refusals
from .lib import games
from .lib.attack_result import EPSILONS, Result, Success, check_count, check_epsilons
from .lib.attack_text import join_names, per_cent
from .lib.closeness import Diversity, diversity
from .lib.look_alikes import CodedColumns
from .lib.owner_table import read_columns as read
from .lib.table_readers import check_columns, check_sensitive
from .lib.unread_lines import UnreadLines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGEST = 12
"""Columns in one search: with more, even the first levels are too many sets."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uniqueness(Result):
    """How far some columns tell people apart."""

    columns: tuple[str, ...]
    n: int
    sizes: NDArray[np.int64]  # of the cells, ascending
    by_columns: tuple[tuple[str, int], ...]  # a column more at a time, as given: how many are alone
    smallest: tuple[tuple[str, ...], ...]  # the fewest columns by which `target_share` are alone
    target_share: float
    diversity: Diversity | None = None  # where a sensitive column is given
    unread: UnreadLines | None = None  # lines of a CSV file that are not in this

    @property
    def alone(self) -> int:
        """How many people are the only one of their cell."""
        return int(np.searchsorted(self.sizes, 2))

    @property
    def share(self) -> float:
        """The share of people alone in their cell."""
        return self.alone / self.n

    @property
    def k(self) -> int:
        """The size of the smallest cell."""
        return int(self.sizes[0])

    @property
    def l(self) -> int | None:  # noqa: E743  # l-diversity has this name
        """The fewest different sensitive values in a cell."""
        return None if self.diversity is None else self.diversity.distinct

    @property
    def t(self) -> float | None:
        """The largest distance of a cell's sensitive values from those of all."""
        return None if self.diversity is None else self.diversity.distance

    @property
    def choices(self) -> int | None:
        """In the games of `against`, the number of values that the attacker guesses among; None
        where the question is whether the person is in the table.
        """
        return (
            None
            if self.diversity is None or self.diversity.values < 2
            else min(self.diversity.values, games.MOST_VALUES)
        )

    @property
    def profile(self) -> dict[int, float]:
        """k → the share of people in cells smaller than k, who would have to be left out for
        k-anonymity.
        """
        reached = [
            size for size in (2, 3, 5, 10, 20, 50, 100) if size <= 2 * int(self.sizes[-1])
        ] or [2]
        return {k: float(self.sizes[self.sizes < k].sum()) / self.n for k in reached}

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers: dict[str, float | int] = {
            "n": self.n,
            "cells": len(self.sizes),
            "alone": self.alone,
            "share": self.share,
            "k": self.k,
        }
        return numbers | (self.diversity.numbers if self.diversity else {})

    @property
    def sentences(self) -> tuple[str, ...]:
        by = join_names(self.columns)
        sentences = [self.unread.sentence] if self.unread is not None else []
        alone = f"{self.alone} of {self.n} people ({per_cent(self.share)})"
        sentences.append(
            f"By {by}, {alone} are the only one of their kind: anyone who knows these values "
            f"finds their row."
        )
        sentences.append(
            f"The smallest group has {self.k}: the table is {self.k}-anonymous in these columns."
        )
        enough = (
            (
                f"To single out {per_cent(self.target_share)} of the people, "
                f"{join_names(self.smallest[0])} {'is' if len(self.smallest[0]) == 1 else 'are'} "
                f"enough."
            )
            if self.smallest
            else ""
        )
        sentences.append(
            enough
            or (
                f"All of these columns together do not single out {per_cent(self.target_share)} of "
                f"the people."
            )
        )
        return (*sentences, *(self.diversity.sentences if self.diversity else ()))

    def plot(self) -> Figure:
        """Plot the share of people who are alone, adding one column at a time."""
        from ..plots import SuccessRate, successes

        drawn = [
            SuccessRate(name=name if not place else f"+ {name}", rate=alone / self.n)
            for place, (name, alone) in enumerate(self.by_columns)
        ]
        return successes(
            drawn,
            title=f"Who is the only one of their kind, among {self.n}",
            up="share of people alone in their cell",
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """Play: an attacker who knows these values of a person guesses a secret, from exact and
        from private counts.

        The secret is whether the person is in the table; with a sensitive column, which of its
        values the person has. Targets are people of the smallest cells. Allowed: see `games`.
        """
        losses, many = check_epsilons(epsilons), check_count(trials, "trials")
        return games.play_in_groups(
            self.sizes[: max(self.alone, 1)] - 1, self.choices or 0, losses, trials=many, seed=seed
        )


def uniqueness(
    table: object,
    columns: Sequence[str],
    *,
    sensitive: str | None = None,
    target_share: Number = "1/2",
) -> Uniqueness:
    """Count the people who are alone in their cell by these columns, with the k-anonymity profile;
    with `sensitive`, also l-diversity and t-closeness.

    The smallest identifying sets of columns single out at least `target_share` of the people.
    """
    share = probability(target_share, "target_share", zero=False, one=True)
    columns = check_columns(columns)
    if len(columns) > _LARGEST:
        raise refusals.TOO_MANY_COLUMNS(count=len(columns), most=_LARGEST, first=columns[:_LARGEST])
    rows = read(
        table,
        columns if sensitive is None else [*columns, check_sensitive(sensitive, columns)],
        partly=True,
    )
    coded = CodedColumns(rows, columns)
    steps = tuple((name, coded.alone(columns[: place + 1])) for place, name in enumerate(columns))
    return Uniqueness(
        columns=tuple(columns),
        n=rows.n,
        sizes=np.sort(coded.sizes(columns)),
        by_columns=steps,
        smallest=coded.smallest(int(-(-share * rows.n // 1))),
        target_share=float(share),
        diversity=None if sensitive is None else diversity(rows, coded.cells(columns), sensitive),
        unread=rows.unread,
    )
