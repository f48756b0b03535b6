"""Skewness: what a k-anonymous table reveals about people without singling them out (S-152).

*Homogeneous*  All k members of a group have the same value: whoever is known to be in the group has
               it, with probability 1.
*Skewed*       A value is more frequent in a group than among all: to be in the group is news, even
               where values differ.
*Against*      One member's value is drawn afresh, everybody else in the group is known: which value
               is it? (`games`, *Value*.)

Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007; Li, Li & Venkatasubramanian 2007. For
owners, on their own data: none of this is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..exact.numbers import Number
from .lib.attack_result import EPSILONS, Result, Success
from .lib.attack_text import join_names, per_cent
from .lib.sensitive_groups import (
    Integers,
    certain_share,
    count_values,
    disclosure_by_group,
    play_value_game,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Skewness(Result):
    """How much more an attacker knows about a person after learning the person's group."""

    columns: tuple[str, ...]
    sensitive: str
    counts: Integers  # groups × values
    group: tuple[object, ...]  # the values of the group that tells most
    value: object  # and what it tells

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        return int(self.counts.sum(axis=1).min())

    @property
    def disclosure(self) -> float:
        """The largest share of one value in a group: the certainty about a member's value."""
        return float(disclosure_by_group(self.counts).max())

    @property
    def certain(self) -> float:
        """The share of people in groups with one value only."""
        return certain_share(self.counts)

    @property
    def lift(self) -> float:
        """The largest ratio of a value's share in a group to its share among all."""
        overall = self.counts.sum(axis=0) / self.n
        return float((self.counts / self.counts.sum(axis=1, keepdims=True) / overall).max())

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "n": self.n,
            "k": self.k,
            "disclosure": self.disclosure,
            "certain": self.certain,
            "lift": self.lift,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        group = join_names(
            [f"{name} {value}" for name, value in zip(self.columns, self.group, strict=True)]
        )
        return (
            (
                f"The table is {self.k}-anonymous in {join_names(self.columns)}: nobody's row "
                f"can be told from {self.k - 1} others."
            ),
            (
                f"Even so, somebody with {group} has {self.sensitive} = {self.value} "
                f"with probability {per_cent(self.disclosure)}."
            ),
            f"{per_cent(self.certain)} of the people are in a group where all have the same value.",
            f"Some value is {self.lift:.3g} times as frequent in a group as among all.",
        )

    def plot(self) -> Figure:
        """Plot the share of each group's most frequent value, and its share among all."""
        from ..plots import SuccessRate, successes

        sure, overall = disclosure_by_group(self.counts), self.counts.sum(axis=0) / self.n
        columns = [
            SuccessRate(
                name=f"group of {self.counts[at].sum()}",
                rate=float(sure[at]),
                chance=float(overall[np.argmax(self.counts[at])]),
            )
            for at in np.argsort(-sure, kind="stable")[:8]
        ]
        title = f"How sure one can be of {self.sensitive}, once the group is known"
        return successes(
            columns,
            title=title,
            up="share of its most frequent value",
            rate="in the group",
            chance="the same value among all",
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """Play: an attacker who knows all others in a group guesses the last member's value, from
        exact and from private counts. Allowed: see `games`.
        """
        return play_value_game(self.counts, epsilons, trials, seed)


def skewness(table: object, columns: Sequence[str], sensitive: str) -> Skewness:
    """Measure what groups by these columns reveal about a sensitive column."""
    rows, coded, counts = count_values(table, columns, sensitive)
    shares = counts / counts.sum(axis=1, keepdims=True)
    group, value = np.unravel_index(int(np.argmax(shares)), shares.shape)
    row = int(np.argmax((coded.cells(columns) == group) & (rows.codes(sensitive) == value)))
    first = rows.arrow.slice(row, 1)
    values = {name: first.column(name)[0].as_py() for name in (*columns, sensitive)}
    return Skewness(
        columns=tuple(columns),
        sensitive=sensitive,
        counts=counts,
        group=tuple(values[name] for name in columns),
        value=values[sensitive],
    )
