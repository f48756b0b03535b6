"""Differencing: two harmless answers whose difference is about one person.

*Attack*   Ask how many have the secret, and how many of all but Steven have it: the difference is 1
           if he has it and 0 if not. (A source prints it the other way round: E-46.) Of a number
           ask for the sum with him and without: the difference is his number. Both groups are
           large, so no rule about small ones helps.
*Private*  With Laplace noise at ε/2 on each answer, the difference has noise of variance 2·Var:
           16/ε² for the textbook law, so 4 where each answer has ε = 1.
*Game*     A coin says whether he has the secret; or his number is drawn evenly, and the attacker
           names its tenth of the range.
*Bound*    A right guess among k has a chance of at most e^ε/(e^ε + k − 1): both answers together
           are ε-DP when one person is replaced, and so the odds of what he has grow by e^ε at most
           (`attack_result.guess_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, exact, positive
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
from .lib.attack_text import epsilon_label, format_number, people_having
from .lib.repeated_releases import TRIALS, draw_coins, draw_uniform, play_game, release_each
from .lib.target import Guess, Target, find_target, negation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = 10
_STEPS = 1 << 12  # of a tenth of the range, in the game about a number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differencing(GameResult):
    """Two answers, what their difference reveals, and what remains of it in private answers."""

    person: str
    secret: str
    summed: bool  # numbers are added up
    value: object  # else those are counted who have this value
    with_person: float
    without: float
    guesses: tuple[Guess, ...]  # what a session answered, at each ε

    @property
    def difference(self) -> float:
        """The difference of the two exact answers: 1 or 0, or the person's number."""
        return self.with_person - self.without

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers: dict[str, float | int] = {
            "with": self.with_person,
            "without": self.without,
            "difference": self.difference,
        }
        return numbers | {
            f"difference at {epsilon_label(guess.epsilon)}": guess.value for guess in self.guesses
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        w, o, d = (format_number(x) for x in (self.with_person, self.without, self.difference))
        if self.summed:
            exact = (
                f"The sum of {self.secret} is {w}, and without {self.person} {o}. The "
                f"difference is {self.person}'s own {self.secret}: {d}."
            )
        else:
            has = "has" if self.difference else "does not have"
            exact = (
                f"{people_having(self.with_person)} {self.secret} = {self.value}; "
                f"without {self.person} it is {o}. "
                f"The difference is {d}, so {self.person} {has} {self.secret} = {self.value}."
            )
        private = tuple(
            f"Asked at {epsilon_label(guess.epsilon)} for both, a session answered "
            f"{' and '.join(map(format_number, guess.answers))}: a difference of "
            f"{format_number(guess.value)}, "
            f"with noise of standard deviation {guess.sd:.3g}."
            for guess in self.guesses
        )
        return (exact, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(self.played, title="Two answers, one difference", up="right guesses")


def differencing(
    table: object,
    person: Mapping[str, object] | int,
    secret: str | None = None,
    *,
    value: object = None,
    bounds: tuple[Number, Number] | None = None,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Differencing:
    """Ask with and without one person, for exact answers and for private ones at each total ε. For
    owners, on their own data: the result is not private.

    `person` is what the attacker knows of the person. `secret` is a column. The attack sums up a
    column of numbers, clamped to `bounds` (by default the least and the largest number), unless a
    `value` is given. In every other column it counts those who have the `value`, by default the
    person's own.
    """
    losses, times = check_epsilons(epsilons), check_count(trials, "trials")
    whom = find_target(table, person, secret, value)
    if whom.numeric and value is None:
        return _difference_sums(whom, bounds, losses, times, bits)
    having = whom.having
    return Differencing(
        person=whom.name,
        secret=whom.secret,
        summed=False,
        value=whom.value,
        with_person=int(having.sum()),
        without=int((having & whom.others).sum()),
        guesses=whom.guesses([(1, whom.about), (-1, whom.about & negation(whom.person))], losses),
        played=count_game(losses, times, bits=bits),
    )


def textbook_variance(epsilon: Number) -> Fraction:
    """Compute 4/ε², the variance of the difference of two answers with continuous Laplace noise of
    scale 1/ε each.
    """
    return 4 / positive(epsilon, "epsilon") ** 2


def count_game(
    epsilons: Sequence[Fraction], trials: int, *, answers: int = 2, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Play: is the person counted? The attacker adds and subtracts so many answers, one of which
    includes the person, and says yes from 1 on.

    The other people cancel, so the game leaves them out: the person and the noise of every answer
    remain.
    """

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = draw_coins(trials, bits)
        counts = np.zeros((answers, trials), dtype=np.int64)
        counts[0] = truth
        loss = None if epsilon is None else epsilon / answers
        released = release_each(counts, epsilon=loss, bits=bits)
        return np.asarray((released[0] - released[1:].sum(axis=0) >= 1) == truth)

    return play_game(game, epsilons)


def sum_game(
    epsilons: Sequence[Fraction], trials: int, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Play: in which tenth of the range is the person's number? The attacker names the tenth of the
    difference.
    """
    most = BANDS * _STEPS

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = draw_uniform(trials, most, bits)
        released = release_each(
            np.stack([truth, np.zeros_like(truth)]),
            epsilon=None if epsilon is None else epsilon / 2,
            moves=most - 1,
            bits=bits,
        )
        return np.asarray(
            np.clip((released[0] - released[1]) // _STEPS, 0, BANDS - 1) == truth // _STEPS
        )

    return play_game(game, epsilons, choices=BANDS)


def _difference_sums(
    whom: Target,
    bounds: tuple[Number, Number] | None,
    losses: Sequence[Fraction],
    trials: int,
    bits: Bits,
) -> Differencing:
    numbers = whom.table.numbers(whom.secret)
    if np.isnan(numbers[whom.row]):
        raise refusals.SECRET_MISSING(secret=whom.secret)
    there = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        finite = bool(np.isfinite(there).all() and np.isfinite(np.abs(there).sum()))
    if not finite:
        raise refusals.SECRET_INFINITE(secret=whom.secret)
    values = np.where(np.isnan(numbers), 0.0, numbers)  # what is missing adds nothing
    low, high = (
        (float(there.min()), float(there.max())) if bounds is None else _check_bounds(bounds)
    )
    if not low < high:
        raise refusals.LOWER_BOUND_NOT_BELOW_UPPER(low=low, high=high)
    return Differencing(
        person=whom.name,
        secret=whom.secret,
        summed=True,
        value=None,
        with_person=_integer_if_exact(values.sum()),
        without=_integer_if_exact(values[whom.others].sum()),
        guesses=whom.guesses([(1, None), (-1, negation(whom.person))], losses, (low, high)),
        played=sum_game(losses, trials, bits=bits),
    )


def _check_bounds(bounds: object) -> tuple[float, float]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise refusals.BOUNDS_NOT_A_PAIR(bounds=bounds)
    return float(exact(bounds[0], "bounds")), float(exact(bounds[1], "bounds"))


def _integer_if_exact(value: float | np.floating) -> float:
    return int(value) if float(value).is_integer() else float(value)
