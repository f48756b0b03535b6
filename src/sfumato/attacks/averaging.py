"""The same question again and again: the noise averages out, and what stops it is the budget.

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
           (`results.guess_bound`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number, positive
from ..guarantees import Pure
from ..guarantees.meaning.averaging_limits import averaged_after, within
from ..ledger import BudgetExceeded
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..session.protect import protect
from ..tables.query.aggregates import count
from .lib.attack_result import EPSILONS, Played, Success, known_count, known_epsilons
from .lib.attack_text import named, per_cent, spaced
from .lib.owner_table import Columns, columns
from .lib.repeated_releases import TRIALS, answered, coins, noisy, played
from .lib.target import condition, matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 500  # answers that a session is asked for, to see what its ledger says


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ledgered:
    """What a session with a budget said to somebody who asks on and on."""

    budget: Fraction
    epsilon: Fraction  # of each answer
    answers: int  # given before it refused
    same_bytes: bool  # the same question again: the very same answer, for nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Averaging(Played):
    """The mean of the first 1, 2, 3, … answers, how many are needed, and what a ledger says."""

    truth: int
    epsilon: Fraction  # of each answer
    answers: NDArray[np.int64]
    needed: int  # answers whose mean rounds to the truth with 95 %
    sd: float  # of one answer
    ledger: Ledgered

    @property
    def means(self) -> NDArray[np.float64]:
        """After each answer, the mean of all so far."""
        return np.cumsum(self.answers) / np.arange(1, len(self.answers) + 1)

    @property
    def settled(self) -> int | None:
        """From which answer on the mean rounds to the truth and stays there; None where it does
        not.
        """
        off = np.flatnonzero(np.rint(self.means) != self.truth)
        return 1 if not len(off) else int(off[-1]) + 2 if off[-1] + 1 < len(self.answers) else None

    @property
    def numbers(self) -> dict[str, float | int]:
        n = len(self.answers)
        found: dict[str, float | int] = {
            "truth": self.truth,
            "answers": n,
            "mean": float(self.means[-1]),
            "needed": self.needed,
        }
        found |= {
            "sd of one": self.sd,
            "sd of the mean": self.sd / math.sqrt(n),
            "epsilon of all": float(n * self.epsilon),
        }
        return found | {
            "right after all": within((n - 1) // 2, n, float(self.epsilon)),
            "answers for the budget": self.ledger.answers,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        n, one, mean = len(self.answers), spaced(int(self.answers[0])), self.means[-1]
        spread, price, right = (
            self.sd / math.sqrt(n),
            float(n * self.epsilon),
            per_cent(self.numbers["right after all"]),
        )
        begin = (
            f"One answer at {named(self.epsilon)} is {one}, with a standard deviation of "
            f"{self.sd:.3g}; the truth is {spaced(self.truth)}."
        )
        end = (
            f"The mean of {spaced(n)} answers is {mean:.6g}, with a standard deviation of "
            f"{spread:.3g}, and all of them cost ε = {price:g}. "
        )
        end += (
            f"Rounded, it is the truth with a chance of {right}; {spaced(self.needed)} "
            f"answers give 95 %."
        )
        stopped = (
            f"A session with a budget of ε = {float(self.ledger.budget):g} gives "
            f"{self.ledger.answers} such answers and refuses the next one. "
        )
        stopped += (
            f"To the same question it "
            f"{'gives the stored answer again, byte for byte and for nothing' if self.ledger.same_bytes else 'answers anew'}."
        )
        return (begin, end, stopped, *self.verdicts)

    def plot(self) -> Figure:
        from .plots.averaging_plot import draw

        return draw(self)


def averaging(
    table: object,
    n: int = 1000,
    *,
    where: Mapping[str, Any] | None = None,
    epsilon: Number = "0.1",
    budget: Number = 1,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Averaging:
    """Ask n times for the same count at ε each, without a ledger and with one. For owners, on their
    own data: the result is not private.

    `where` says which rows are counted, by values of columns; all of them without it. The game is
    played with budgets of `epsilons`.
    """
    each, total, losses = (
        positive(epsilon, "epsilon"),
        positive(budget, "budget"),
        known_epsilons(epsilons),
    )
    asked, times = known_count(n, "n"), known_count(trials, "trials")
    if not each <= total <= _MOST * each:
        reason = f"the ledger is asked answer by answer, once at least and {_MOST} times at most"
        raise Refused(
            "attacks.budget",
            f"budget={spaced(float(total))}, epsilon={spaced(float(each))}",
            reason,
            "budget=1, epsilon=0.1",
        )
    found = columns(table)
    truth = int(matching(found, where or {}).sum())
    return Averaging(
        truth=truth,
        epsilon=each,
        answers=noisy(np.full(asked, truth), epsilon=each, bits=bits),
        needed=averaged_after(each),
        sd=math.sqrt(Geometric(scale=1 / each).variance),
        ledger=_ledgered(found, where, each, total),
        played=mean_game(losses, times, each, bits=bits),
    )


def standard_deviation(answers: int, epsilon: Number, sensitivity: Number = 1) -> float:
    """√2·Δ/(ε·√m): of the mean of m answers with continuous Laplace noise for a sensitivity of
    Δ.
    """
    scale = positive(sensitivity, "sensitivity") / positive(epsilon, "epsilon")
    return math.sqrt(2.0) * float(scale) / math.sqrt(known_count(answers, "answers"))


def mean_game(
    budgets: Sequence[Fraction], trials: int, epsilon: Fraction, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Is one person in the count? The attacker has every answer that the budget buys at ε each, at
    least one, and says yes if their mean is nearer to yes.
    """

    def game(budget: Fraction | None) -> NDArray[np.bool_]:
        many = 1 if budget is None else max(1, math.floor(budget / epsilon))
        truth = coins(trials, bits)
        total = np.zeros(trials, dtype=np.int64)
        for _ in range(many):
            total += answered(truth, epsilon=None if budget is None else budget / many, bits=bits)
        return np.asarray(
            np.where(2 * total == many, coins(trials, bits), 2 * total > many) == truth
        )

    return played(game, budgets)


def _ledgered(
    table: Columns, where: Mapping[str, Any] | None, epsilon: Fraction, budget: Fraction
) -> Ledgered:
    """Ask a session until it refuses."""
    with protect(table.arrow, name="people", budget=Pure(budget), relation="replace") as people:
        query = (people.where(condition(where)) if where else people.rows).aggregate(n=count())
        first = people.release(query, epsilon=epsilon)
        same = people.release(query, epsilon=epsilon).to_json() == first.to_json()
        given = 1
        try:
            while True:
                people.release(query, epsilon=epsilon, fresh=True)
                given += 1
        except BudgetExceeded:
            return Ledgered(budget=budget, epsilon=epsilon, answers=given, same_bytes=same)
