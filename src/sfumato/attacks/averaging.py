"""Averaging: ask the same question again and again until the noise averages out. Only the budget
stops this.

*Attack*   The mean of m answers at ε each has a standard deviation of √(Var/m), and rounds to the
           count itself once that is well below ½. The attacker who gets as many answers as he likes
           needs `needed` of them to be right with 95 %, computed from the exact law of a sum of
           geometric variables.
*Price*    m answers at ε each cost m·ε. That is what he pays for certainty, and what a ledger does
           not sell: it refuses once the budget is spent, and gives the stored answer, byte for
           byte, to whoever asks the same again.
*Game*     A coin says whether one person is in the count; the attacker averages all the answers
           that a budget buys.
*Bound*    e^B/(1 + e^B) for a budget of B: the answers together are B-DP however many they are
           (`attack_result.guess_bound`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, positive
from ..guarantees import Pure
from ..guarantees.meaning.averaging_limits import averaged_after, within
from ..ledger import BudgetExceeded
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..session.protect import protect
from ..tables.aggregates import count
from . import attack_refusals as refusals
from .lib.attack_result import EPSILONS, GameResult, Success, check_count, check_epsilons
from .lib.attack_text import epsilon_label, format_number, per_cent
from .lib.owner_table import Columns, read_columns
from .lib.repeated_releases import TRIALS, add_noise, draw_coins, play_game, release_each
from .lib.target import condition, rows_matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 500  # answers that a session is asked for, to see what its ledger says


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LedgerRun:
    """What a session with a budget answered to an attacker who keeps asking."""

    budget: Fraction
    epsilon: Fraction  # of each answer
    answers: int  # given before it refused
    same_bytes: bool  # the same question again: the very same answer, for nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Averaging(GameResult):
    """The mean of the first 1, 2, 3, … answers, how many are needed, and what a ledger allows."""

    truth: int
    epsilon: Fraction  # of each answer
    answers: NDArray[np.int64]
    needed: int  # answers whose mean rounds to the truth with 95 %
    sd: float  # of one answer
    ledger: LedgerRun

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean of all answers so far, after each answer."""
        return np.cumsum(self.answers) / np.arange(1, len(self.answers) + 1)

    @property
    def settled(self) -> int | None:
        """The first answer from which the mean always rounds to the truth; None where it never
        does.
        """
        off = np.flatnonzero(np.rint(self.means) != self.truth)
        return 1 if not len(off) else int(off[-1]) + 2 if off[-1] + 1 < len(self.answers) else None

    @property
    def numbers(self) -> dict[str, float | int]:
        n = len(self.answers)
        numbers: dict[str, float | int] = {
            "truth": self.truth,
            "answers": n,
            "mean": float(self.means[-1]),
            "needed": self.needed,
        }
        numbers |= {
            "sd of one": self.sd,
            "sd of the mean": self.sd / math.sqrt(n),
            "epsilon of all": float(n * self.epsilon),
        }
        return numbers | {
            "right after all": within((n - 1) // 2, n, float(self.epsilon)),
            "answers for the budget": self.ledger.answers,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        n = len(self.answers)
        first_answer = format_number(int(self.answers[0]))
        mean = self.means[-1]
        spread = self.sd / math.sqrt(n)
        price = float(n * self.epsilon)
        right = per_cent(self.numbers["right after all"])
        begin = (
            f"One answer at {epsilon_label(self.epsilon)} is {first_answer}, with a standard "
            f"deviation of {self.sd:.3g}; the truth is {format_number(self.truth)}."
        )
        end = (
            f"The mean of {format_number(n)} answers is {mean:.6g}, with a standard deviation of "
            f"{spread:.3g}, and all of them cost ε = {price:g}. "
        )
        end += (
            f"Rounded, it is the truth with a chance of {right}; {format_number(self.needed)} "
            f"answers give 95 %."
        )
        stopped = (
            f"A session with a budget of ε = {float(self.ledger.budget):g} gives "
            f"{self.ledger.answers} such answers and refuses the next one. "
        )
        again = (
            "gives the stored answer again, byte for byte and at no cost"
            if self.ledger.same_bytes
            else "gives a new answer"
        )
        stopped += f"To the same question it {again}."
        return (begin, end, stopped, *self.verdicts)

    def plot(self) -> Figure:
        from .plots.averaging_plot import draw

        return draw(self)


def averaging(
    table: object,
    n: int = 1000,
    *,
    where: Mapping[str, object] | None = None,
    epsilon: Number = "0.1",
    budget: Number = 1,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Averaging:
    """Ask n times for the same count at ε each, without a ledger and with one. For owners, on their
    own data: the result is not private.

    `where` selects the rows to count, by values of columns; without it all rows count. The game
    uses budgets of `epsilons`.
    """
    each = positive(epsilon, "epsilon")
    total = positive(budget, "budget")
    losses = check_epsilons(epsilons)
    answers, times = check_count(n, "n"), check_count(trials, "trials")
    if not each <= total <= _MOST * each:
        raise refusals.TOO_MANY_ANSWERS(
            budget=format_number(float(total)), epsilon=format_number(float(each)), most=_MOST
        )
    rows = read_columns(table)
    truth = int(rows_matching(rows, where or {}).sum())
    return Averaging(
        truth=truth,
        epsilon=each,
        answers=add_noise(np.full(answers, truth), epsilon=each, bits=bits),
        needed=averaged_after(each),
        sd=math.sqrt(Geometric(scale=1 / each).variance),
        ledger=_ask_ledger(rows, where, each, total),
        played=mean_game(losses, times, each, bits=bits),
    )


def standard_deviation(answers: int, epsilon: Number, sensitivity: Number = 1) -> float:
    """Compute √2·Δ/(ε·√m), for the mean of m answers with continuous Laplace noise and sensitivity
    Δ.
    """
    scale = positive(sensitivity, "sensitivity") / positive(epsilon, "epsilon")
    return math.sqrt(2.0) * float(scale) / math.sqrt(check_count(answers, "answers"))


def mean_game(
    budgets: Sequence[Fraction], trials: int, epsilon: Fraction, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Play: is one person in the count? The attacker gets every answer that the budget buys at ε
    each, at least one, and says yes if the mean is nearer to yes.
    """

    def game(budget: Fraction | None) -> NDArray[np.bool_]:
        many = 1 if budget is None else max(1, math.floor(budget / epsilon))
        truth = draw_coins(trials, bits)
        total = np.zeros(trials, dtype=np.int64)
        for _ in range(many):
            total += release_each(
                truth, epsilon=None if budget is None else budget / many, bits=bits
            )
        return np.asarray(
            np.where(2 * total == many, draw_coins(trials, bits), 2 * total > many) == truth
        )

    return play_game(game, budgets)


def _ask_ledger(
    table: Columns, where: Mapping[str, object] | None, epsilon: Fraction, budget: Fraction
) -> LedgerRun:
    """Ask a session until it refuses."""
    with protect(
        table.arrow,
        name="people",
        budget=Pure(budget),
        relation="replace",
        each_row_a_person=True,
    ) as people:
        query = (people.where(condition(where)) if where else people.rows).aggregate(n=count())
        first = people.release(query, epsilon=epsilon)
        same = people.release(query, epsilon=epsilon).to_json() == first.to_json()
        answers = 1
        try:
            while True:
                people.release(query, epsilon=epsilon, fresh=True)
                answers += 1
        except BudgetExceeded:
            return LedgerRun(budget=budget, epsilon=epsilon, answers=answers, same_bytes=same)
