"""Background knowledge: what a k-anonymous table reveals to an attacker who can rule out some
values of a person ("not the flu: they were vaccinated").

*Certain*     With v of v + 1 different values of a group ruled out, one is left: everybody in the
              group is known to have it.
*Disclosure*  With v ruled out: the largest n_value/(N − the v most frequent others) of a group of
              N.
*Against*     The value game of `games`. No promise is about what else is known: it holds for an
              adversary who knows everybody but one.

Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007. For owners, on their own data: none of
this is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exact.numbers import Number
from .lib.attack_result import EPSILONS, Result, Success, check_count
from .lib.attack_text import per_cent
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
class Background(Result):
    """How many people's values an attacker knows who can rule out some values."""

    columns: tuple[str, ...]
    sensitive: str
    counts: Integers  # groups × values
    knows: int  # how many values can be ruled out

    @property
    def disclosure(self) -> tuple[float, ...]:
        """The largest certainty about somebody's value, with no value ruled out, with one, …"""
        return tuple(
            float(disclosure_by_group(self.counts, many).max()) for many in range(self.knows + 1)
        )

    @property
    def certain(self) -> tuple[float, ...]:
        """The share of people with only one value left, with no value ruled out, with one, …"""
        return tuple(certain_share(self.counts, many) for many in range(self.knows + 1))

    @property
    def numbers(self) -> dict[str, float | int]:
        surely = {
            f"disclosure, {many} ruled out": value for many, value in enumerate(self.disclosure)
        }
        return surely | {
            f"certain, {many} ruled out": value for many, value in enumerate(self.certain)
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        spelled = (
            "no value",
            "one value",
            *(f"{many} values" for many in range(2, self.knows + 1)),
        )
        return tuple(
            (
                f"An attacker who rules out {many} of {self.sensitive} knows it for "
                f"{per_cent(sure)} of the people."
            )
            for many, sure in zip(spelled, self.certain, strict=False)
        )

    def plot(self) -> Figure:
        """Plot the share of people whose value is certain, by the number of values ruled out."""
        from ..plots import SuccessRate, successes

        columns = [
            SuccessRate(name=f"{many} ruled out", rate=share)
            for many, share in enumerate(self.certain)
        ]
        return successes(
            columns, title=f"Of whom {self.sensitive} is certain", up="share of people"
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """Play the game of `Skewness.against`: the guarantee already covers an attacker who knows
        everybody else, whatever they can rule out.
        """
        return play_value_game(self.counts, epsilons, trials, seed)


def background(
    table: object, columns: Sequence[str], sensitive: str, *, knows: int = 1
) -> Background:
    """Measure what groups by these columns reveal to an attacker who can rule out `knows` values of
    a person's sensitive column.
    """
    many = check_count(knows, "knows", 0)
    return Background(
        columns=tuple(columns),
        sensitive=sensitive,
        counts=count_values(table, columns, sensitive)[2],
        knows=many,
    )
