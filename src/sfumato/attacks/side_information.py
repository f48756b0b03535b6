"""The height of Terry Gross: what an average reveals about somebody who is not in it.

*Attack*   The attacker knows that she is two inches shorter than the average woman of a country.
           Whoever publishes that average publishes her height, and she was never asked. Dalenius'
           wish of 1977, that nothing be learned about anybody, cannot be had by anyone who
           publishes anything (Dwork 2006).
*Private*  The average still comes out: that is what it was published for, and her height with it.
           What is promised is another thing: that it comes out the same whether or not she took
           part.
*Game*     A coin says whether she is in the survey; the attacker knows everybody else.
*Bound*    e^ε/(1 + e^ε): the surveys with her and without are neighbours. Nothing bounds what is
           true of the population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, exact, positive
from ..exact.numbers import text as exact_text
from ..noise.bits import SYSTEM, Bits
from . import attack_refusals as refusals
from .lib.attack_result import (
    EPSILONS,
    GameResult,
    Success,
    check_count,
    check_epsilons,
    plot_successes,
)
from .lib.attack_text import epsilon_label, per_cent
from .lib.repeated_releases import TRIALS, Integers, draw_coins, play_game, release_each

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = 100  # heights are taken to a hundredth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideInformation(GameResult):
    """How often the attacker finds her height from a survey without her, and how often whether she
    took part.
    """

    people: int
    height: float
    within: float
    # her height, from a survey without her: nothing is promised about it
    height_games: tuple[Success, ...]

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            f"height found, {success.against}": success.rate for success in self.height_games
        } | {f"taking part found, {success.against}": success.rate for success in self.played}

    @property
    def sentences(self) -> tuple[str, ...]:
        heights = (
            f"{per_cent(success.rate)} of the surveys against {success.against}"
            for success in self.height_games
        )
        found_heights = (
            f"Her height comes out to {self.within:g}, though she is in no survey, in "
            f"{', '.join(heights)}."
        )
        return (
            (
                f"A survey of {self.people} people, and one who is not among them: "
                f"{self.height:g} tall."
            ),
            found_heights,
            *self.verdicts,
        )

    def plot(self) -> Figure:
        return plot_successes(
            self.played, title="Whether she took part", up="right about taking part"
        )


def side_information(
    heights: NDArray[np.generic] | Sequence[float],
    offset: Number = -2,
    *,
    most: Number = 100,
    within: Number = 1,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> SideInformation:
    """Publish the average of heights, each between 0 and `most`, to an attacker who knows how far a
    person is from it.
    """
    losses, times = check_epsilons(epsilons), check_count(trials, "trials")
    try:
        values = np.asarray(heights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    top, near = positive(most, "most"), positive(within, "within")
    if values.ndim != 1 or not len(values) or not ((values >= 0) & (values <= float(top))).all():
        raise refusals.HEIGHTS_OUT_OF_RANGE(most=float(top))
    steps = np.rint(values * GRID).astype(np.int64)
    hers = int(np.rint(steps.mean())) + round(exact(offset, "offset") * GRID)
    if not 0 <= hers <= top * GRID:
        raise refusals.OFFSET_OUT_OF_RANGE(
            offset=exact_text(exact(offset, "offset")), most=float(top)
        )
    moves, n, close = math.ceil(top * GRID), len(steps), float(near * GRID)

    def height(epsilon: Fraction | None) -> NDArray[np.bool_]:
        sums = release_each(np.full(times, steps.sum()), epsilon=epsilon, moves=moves, bits=bits)
        return np.asarray(np.abs(sums / n + float(offset) * GRID - hers) <= close)

    def part(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth: Integers = draw_coins(times, bits)
        # the others' heights are known to him
        sums = release_each(truth * hers, epsilon=epsilon, moves=moves, bits=bits)
        return np.asarray((2 * sums > hers) == truth)

    guess = min(1.0, 2 * float(near) / float(top))
    height_games = tuple(
        Success(
            against="exact answers" if e is None else epsilon_label(e),
            hits=int(height(e).sum()),
            trials=times,
            chance=guess,
        )
        for e in (None, *losses)
    )
    return SideInformation(
        people=n,
        height=hers / GRID,
        within=float(near),
        height_games=height_games,
        played=play_game(part, losses, relation="add-remove"),
    )
