"""Linkage: join a table with names to a table without names, by the columns that both have
(S-149).

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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from . import attack_refusals as refusals
from .lib import games
from .lib.attack_result import EPSILONS, Result, Success, check_count, check_epsilons
from .lib.attack_text import join_names, per_cent
from .lib.look_alikes import pair_codes
from .lib.owner_table import Columns, read_columns
from .lib.row_matching import Matches, match_rows, shared_codes
from .lib.table_readers import check_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Link(Result):
    """How many people of one table were found in another."""

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
        linked = int((self.linked >= 0).sum())
        return None if self.right is None or not linked else self.right / linked

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers: dict[str, float | int] = {
            "people": self.people,
            "rows": self.rows,
            "linked": int((self.linked >= 0).sum()),
            "share": self.share,
        }
        return numbers | {
            name: value
            for name, value in (("correct", self.correct), ("revealed", self.revealed))
            if value is not None
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        linked = int((self.linked >= 0).sum())
        sentences = [
            (
                f"By {join_names(self.columns)}, {linked} of {self.people} people "
                f"({per_cent(self.share)}) have exactly one row of {self.rows} in the other "
                f"table."
            )
        ]
        if self.correct is not None:
            sentences.append(f"{per_cent(self.correct)} of these links lead to the same person.")
        if self.revealed is not None:
            sentences.append(
                f"The links reveal the sensitive value of {per_cent(self.revealed)} of the people."
            )
        return tuple(sentences)

    def plot(self) -> Figure:
        """Plot how many matches people have."""
        from ..plots import SuccessRate, successes

        kinds = {
            "no match": self.many == 0,
            "one match": self.many == 1,
            "2 to 5": (self.many > 1) & (self.many <= 5),
            "more": self.many > 5,
        }
        return successes(
            [SuccessRate(name=name, rate=float(share.mean())) for name, share in kinds.items()],
            title="People found in the other table",
            up="share of people",
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """Play: an attacker who knows the shared columns guesses what `b` would reveal, from exact
        and from private counts. Allowed: see `games`.
        """
        losses, trials = check_epsilons(epsilons), check_count(trials, "trials")
        others = np.sort(self.many[self.many > 0]) - 1 if self.many.any() else np.zeros(1, np.int64)
        return games.play_in_groups(others, self.values, losses, trials=trials, seed=seed)


def link(
    a: object,
    b: object,
    on: Sequence[str] | None = None,
    *,
    tolerance: Mapping[str, Number] | None = None,
    same: str | None = None,
    sensitive: str | None = None,
) -> Link:
    """Find the people of table `a` in table `b`, by the columns that both have or those of `on`.

    `tolerance` is the difference allowed in a number or a date (dates: days). `same` names a column
    of both tables that identifies people, to count right links; `sensitive` names a column of `b`
    that the links reveal.
    """
    first, second = read_columns(a), read_columns(b)
    aside = {name for name in (same, sensitive) if name is not None}
    shared = (
        check_columns(on)
        if on is not None
        else [name for name in first if name in second and name not in aside]
    )
    if not shared:
        raise refusals.NO_COMMON_COLUMN()
    for name, table in ((same, first), (same, second), (sensitive, second)):
        if name is not None:
            read_columns(table, [name])
    matched = match_rows(read_columns(first, shared), read_columns(second, shared), tolerance or {})
    return Link(
        columns=tuple(shared),
        people=first.n,
        rows=second.n,
        many=matched.many,
        linked=matched.single,
        right=None if same is None else _right(first, second, same, matched.single),
        revealed=None if sensitive is None else _revealed(matched, second.codes(sensitive)),
        values=0 if sensitive is None else int(second.codes(sensitive).max()) + 1,
    )


def _right(a: Columns, b: Columns, same: str, linked: NDArray[np.int64]) -> int:
    """Count links between rows of the same person."""
    codes_a, codes_b = shared_codes(a, b, same)
    there = linked >= 0
    return int((codes_a[there] == codes_b[linked[there]]).sum())


def _revealed(matched: Matches, codes: NDArray[np.int64]) -> float:
    """Compute the share of people whose matches, one or more, all have the same value."""
    pairs = (
        pair_codes(matched.left, codes[matched.right])
        if len(matched.left)
        else np.zeros(0, np.int64)
    )
    different = np.bincount(
        matched.left[np.unique(pairs, return_index=True)[1]], minlength=len(matched.many)
    )
    return float((different == 1).mean())
