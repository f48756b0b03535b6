"""A refusal is an answer: an auditor that looks at the data before it refuses leaks the data by
refusing.

*Auditor*  Answers exactly, unless the answer would settle somebody's secret. It looks at the answer
           to decide.
*Counts*   Ask how many of Steven and me have it. If both or neither do, the answer would tell, so
           it is refused: and the attacker, who knows his own, knows Steven's. If it is answered, it
           is 1, and he knows that too.
*Maxima*   Ask for the largest of three values, then of the first two. The second is refused exactly
           where the third is the largest: a value, to the last digit, for each refusal, and a ninth
           of all people fall (Kenthapadi, Mishra & Nissim 2005).
*Private*  A ledger refuses by what was asked and what it cost. No refusal depends on the data, so
           none says anything about them; the answers are noisy.
*Bound*    e^ε/(1 + e^ε) for a coin, for all answers and refusals together at ε
           (`attack_result.guess_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees import Pure
from ..ledger import BudgetExceeded
from ..noise.bits import SYSTEM, Bits
from ..session.protect import protect
from ..tables.aggregates import count
from . import attack_refusals as refusal_texts
from .lib.attack_result import (
    EPSILONS,
    GameResult,
    Success,
    check_count,
    check_epsilons,
    plot_successes,
)
from .lib.repeated_releases import TRIALS, add_noise, draw_coins, play_game
from .lib.target import find_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUESTIONS = 5  # questions to a session whose budget is enough for three


@dataclass(slots=True)
class MaxAuditor:
    """Answers the largest of some values, unless an answer would determine one of them. A value is
    determined where it alone can be the largest of a group.
    """

    values: NDArray[np.float64]
    answered: list[tuple[frozenset[int], float]] = field(default_factory=list)

    def ask(self, group: Sequence[int]) -> float | None:
        """Return the largest value of the group, or None for a refusal."""
        largest = float(self.values[list(group)].max())
        history = [*self.answered, (frozenset(group), largest)]
        at_most = np.full(len(self.values), np.inf)
        for members, answer in history:
            chosen = list(members)
            at_most[chosen] = np.minimum(at_most[chosen], answer)
        if any(sum(at_most[i] == answer for i in members) == 1 for members, answer in history):
            return None
        self.answered = history
        return largest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refusals(GameResult):
    """What refusals reveal: of an auditor that looks at the data, and of a ledger that does not."""

    person: str
    secret: str
    value: object
    refused: bool  # the auditor's decision about the attacker and the person
    learned: bool  # what follows from it: the person has the value
    truth: bool
    values_learned: int  # by the questions for maxima
    values_asked: int
    # which questions the ledger refused if the person has the value, and if not
    ledger: tuple[tuple[bool, ...], tuple[bool, ...]]

    @property
    def ledger_is_silent(self) -> bool:
        """Whether the ledger refused the same questions in both worlds."""
        return self.ledger[0] == self.ledger[1]

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "refused": int(self.refused),
            "learned": int(self.learned),
            "values learned": self.values_learned,
            "values asked": self.values_asked,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        what = f"{self.secret} = {self.value}"
        reaction = "refuses" if self.refused else "answers 1"
        has = "has" if self.learned else "does not have"
        reactions = ", ".join("refused" if no else "answered" for no in self.ledger[0])
        return (
            (
                f"Asked how many of the attacker and {self.person} have {what}, the auditor "
                f"{reaction}. The attacker knows his own, so {self.person} {has} it."
            ),
            (
                f"Asked for maxima of three and of two, the auditor gives away "
                f"{self.values_learned} of {self.values_asked} values by refusing."
            ),
            f"A ledger says the same whether {self.person} has it or not: {reactions}.",
            *self.verdicts,
        )

    def plot(self) -> Figure:
        return plot_successes(self.played, title="A refusal is an answer", up="right guesses")


def refusals(
    table: object,
    person: Mapping[str, object] | int,
    secret: str | None = None,
    *,
    value: object = None,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    seed: int = 0,
    bits: Bits = SYSTEM,
) -> Refusals:
    """Ask an auditor and a ledger about a person and the attacker, who is another row of the table.
    For owners, on their own data: the result is not private.
    """
    losses, times = check_epsilons(epsilons), check_count(trials, "trials")
    whom = find_target(table, person, secret, value)
    if whom.table.n < 2:
        raise refusal_texts.TABLE_OF_ONE_PERSON()
    having = whom.having
    attacker_has = bool(having[(whom.row + 1) % whom.table.n])  # the attacker is the next row
    both = int(attacker_has) + int(having[whom.row])
    refused = settles_secrets(both, 2)
    learned = attacker_has if refused else not attacker_has
    learned_values, people = _maxima(whom.table.n, seed)
    return Refusals(
        person=whom.name,
        secret=whom.secret,
        value=whom.value,
        refused=refused,
        learned=learned,
        truth=bool(having[whom.row]),
        values_learned=learned_values,
        values_asked=people,
        ledger=(_ledger(having, whom.row, has=True), _ledger(having, whom.row, has=False)),
        played=refusal_game(losses, times, bits=bits),
    )


def settles_secrets(answer: int, size: int) -> bool:
    """Whether a count of so many people determines their secrets: all of them have it, or none."""
    return answer in (0, size)


def refusal_game(
    epsilons: Sequence[Fraction], trials: int, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Play: does the person have it? The attacker, who has it, asks an auditor to count the two of
    them; or a session, which answers with noise.
    """

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = draw_coins(trials, bits)
        if epsilon is None:
            return np.array([settles_secrets(1 + int(has), 2) == bool(has) for has in truth])
        return np.asarray((add_noise(1 + truth, epsilon=epsilon, bits=bits) >= 2) == truth)

    return play_game(game, epsilons)


def _maxima(people: int, seed: int) -> tuple[int, int]:
    """Count the values learned from refusals, and the people asked about, in threes."""
    size = 3 * min(100, max(1, people // 3))
    auditor = MaxAuditor(np.random.default_rng(seed).random(size))
    learned = 0
    for first in range(0, size, 3):
        largest = auditor.ask((first, first + 1, first + 2))
        if largest is not None and auditor.ask((first, first + 1)) is None:
            # what the attacker concludes, and it is so
            learned += int(auditor.values[first + 2] == largest)
    return learned, size


def _ledger(having: NDArray[np.bool_], row: int, *, has: bool) -> tuple[bool, ...]:
    """List which questions a session refuses, in the world where the person has it or does not."""
    import pyarrow as pa

    world = having.copy()
    world[row] = has
    refused = []
    with protect(
        pa.table({"has": world}), name="people", budget=Pure(3), relation="replace"
    ) as people:
        query = people.where("has").aggregate(n=count())
        for _ in range(QUESTIONS):
            try:
                people.release(query, epsilon=1, fresh=True)
                refused.append(False)
            except BudgetExceeded:
                refused.append(True)
    return tuple(refused)
