"""Linkage: two tables about the same people, one with names and one without, put together again by
what they share (S-149).

*Match*     Rows of `b` that agree with a row of `a` in every shared column, or differ by no more
            than the column's tolerance (dates in days).
*Linked*    A row of `a` with exactly one match. With several matches that all have the same
            sensitive value this is revealed as well.
*Against*   `b` not published row by row, but as private counts: is this person in it; or, with a
            sensitive column, which value do they have (`games`).

Sweeney 1997 (a governor's hospital record, by date of birth, sex and ZIP code); Culnane, Rubinstein
& Teague 2017 (Australian billing records, by a birth and the dates of a few treatments). For
owners, on their own data: none of this is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number
from .lib import games
from .lib.attack_result import EPSILONS, Result, Success, known_count, known_epsilons
from .lib.attack_text import listed, per_cent
from .lib.look_alikes import joined
from .lib.owner_table import Columns, columns
from .lib.row_matching import Matches, matches, together
from .lib.table_readers import known_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Link(Result):
    """What was found of the people of one table in another."""

    columns: tuple[str, ...]
    people: int  # rows of a
    rows: int  # rows of b
    many: NDArray[np.int64]  # matches of each row of a
    linked: NDArray[np.int64]  # the one match of each row of a, or -1
    right: int | None = None  # links to the same person, where the truth is given
    revealed: float | None = None  # the share of people whose sensitive value is known
    values: int = 0  # different sensitive values

    @property
    def share(self) -> float:
        """The share of people with exactly one match."""
        return float((self.linked >= 0).mean())

    @property
    def correct(self) -> float | None:
        """The share of links that lead to the same person."""
        found = int((self.linked >= 0).sum())
        return None if self.right is None or not found else self.right / found

    @property
    def numbers(self) -> dict[str, float | int]:
        told: dict[str, float | int] = {
            "people": self.people,
            "rows": self.rows,
            "linked": int((self.linked >= 0).sum()),
            "share": self.share,
        }
        return told | {
            name: value
            for name, value in (("correct", self.correct), ("revealed", self.revealed))
            if value is not None
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        linked = int((self.linked >= 0).sum())
        told = [
            (
                f"By {listed(self.columns)}, {linked} of {self.people} people "
                f"({per_cent(self.share)}) have exactly one row of {self.rows} in the other "
                f"table."
            )
        ]
        if self.correct is not None:
            told.append(f"{per_cent(self.correct)} of these links lead to the same person.")
        if self.revealed is not None:
            told.append(
                f"What was to be kept secret is known of {per_cent(self.revealed)} of the people."
            )
        return tuple(told)

    def plot(self) -> Figure:
        """How many matches people have."""
        from ..plots import Column, successes

        kinds = {
            "no match": self.many == 0,
            "one match": self.many == 1,
            "2 to 5": (self.many > 1) & (self.many <= 5),
            "more": self.many > 5,
        }
        return successes(
            [Column(name=name, rate=float(share.mean())) for name, share in kinds.items()],
            title="People found in the other table",
            up="share of people",
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """How often somebody who knows the shared columns learns what `b` would tell: from exact
        counts, and from private ones. Allowed: see `games`.
        """
        wanted, trials = known_epsilons(epsilons), known_count(trials, "trials")
        others = np.sort(self.many[self.many > 0]) - 1 if self.many.any() else np.zeros(1, np.int64)
        return games.of_groups(others, self.values, wanted, trials=trials, seed=seed)


def link(
    a: Any,
    b: Any,
    on: Sequence[str] | None = None,
    *,
    tolerance: Mapping[str, Number] | None = None,
    same: str | None = None,
    sensitive: str | None = None,
) -> Link:
    """The people of table `a` in table `b`, by the columns that both have or those of `on`.

    `tolerance` says by how much a number or a date may differ (dates: days). `same` names a column
    of both that tells who is who, to count right links; `sensitive` a column of `b` that the links
    reveal.
    """
    first, second = columns(a), columns(b)
    aside = {name for name in (same, sensitive) if name is not None}
    shared = (
        known_columns(on)
        if on is not None
        else [name for name in first if name in second and name not in aside]
    )
    if not shared:
        raise Refused(
            "attacks.columns",
            "link(a, b)",
            "the tables have no column in common",
            "columns of the same name, or on=[…]",
        )
    for name, table in ((same, first), (same, second), (sensitive, second)):
        if name is not None:
            columns(table, [name])
    found = matches(columns(first, shared), columns(second, shared), tolerance or {})
    return Link(
        columns=tuple(shared),
        people=first.n,
        rows=second.n,
        many=found.many,
        linked=found.single,
        right=None if same is None else _right(first, second, same, found.single),
        revealed=None if sensitive is None else _revealed(found, second.codes(sensitive)),
        values=0 if sensitive is None else int(second.codes(sensitive).max()) + 1,
    )


def _right(a: Columns, b: Columns, same: str, linked: NDArray[np.int64]) -> int:
    """Links between rows of the same person."""
    one, two = together(a, b, same)
    there = linked >= 0
    return int((one[there] == two[linked[there]]).sum())


def _revealed(found: Matches, codes: NDArray[np.int64]) -> float:
    """The share of people all of whose matches, one or more, have one value."""
    pairs = joined(found.left, codes[found.right]) if len(found.left) else np.zeros(0, np.int64)
    different = np.bincount(
        found.left[np.unique(pairs, return_index=True)[1]], minlength=len(found.many)
    )
    return float((different == 1).mean())
