"""A refusal is an answer: an auditor that looks at the data before it refuses gives them away by
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
           (`results.guess_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Pure
from ..ledger import BudgetExceeded
from ..noise.bits import SYSTEM, Bits
from ..session.protect import protect
from ..tables.query.aggregates import count
from .lib.attack_result import (
    EPSILONS,
    Played,
    Success,
    known_count,
    known_epsilons,
    plot_successes,
)
from .lib.repeated_releases import TRIALS, coins, noisy, played
from .lib.target import target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASKED = 5  # questions to a session whose budget is enough for three


@dataclass(slots=True)
class MaxAuditor:
    """Answers for the largest of some values, unless an answer would settle one of them. A value is
    settled where it alone can be the largest of a group.
    """

    values: NDArray[np.float64]
    answered: list[tuple[frozenset[int], float]] = field(default_factory=list)

    def ask(self, group: Sequence[int]) -> float | None:
        """The largest value of the group, or None: refused."""
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
class Refusals(Played):
    """What refusals say: an auditor's, which looks at the data, and a ledger's, which does not."""

    person: str
    secret: str
    value: Any
    refused: bool  # the auditor's decision about the attacker and the person
    learned: bool  # what follows from it: the person has the value
    truth: bool
    values_learned: int  # by the questions for maxima
    values_asked: int
    ledger: tuple[
        tuple[bool, ...], tuple[bool, ...]
    ]  # which questions were refused if the person has the value, and if not

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
        said = "refuses" if self.refused else "answers 1"
        has = "has" if self.learned else "does not have"
        given = ", ".join("refused" if no else "answered" for no in self.ledger[0])
        return (
            (
                f"Asked how many of the attacker and {self.person} have {what}, the auditor "
                f"{said}. The attacker knows his own, so {self.person} {has} it."
            ),
            (
                f"Asked for maxima of three and of two, the auditor gives away "
                f"{self.values_learned} of {self.values_asked} values by refusing."
            ),
            f"A ledger says the same whether {self.person} has it or not: {given}.",
            *self.verdicts,
        )

    def plot(self) -> Figure:
        return plot_successes(self.played, title="A refusal is an answer", up="right guesses")


def refusals(
    table: object,
    person: Mapping[str, Any] | int,
    secret: str | None = None,
    *,
    value: Any = None,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    seed: int = 0,
    bits: Bits = SYSTEM,
) -> Refusals:
    """Ask an auditor about a person and oneself (another row of the table), and a ledger. For
    owners, on their own data: the result is not private.
    """
    losses, times = known_epsilons(epsilons), known_count(trials, "trials")
    whom = target(table, person, secret, value)
    if whom.table.n < 2:
        raise Refused(
            "attacks.person",
            "a table of one row",
            "the attacker is a row of the table, too",
            "a table of two rows or more",
        )
    having = whom.having
    own = bool(having[(whom.row + 1) % whom.table.n])  # the attacker is the next row
    both = int(own) + int(having[whom.row])
    refused = telling(both, 2)
    learned = own if refused else not own
    found, people = _maxima(whom.table.n, seed)
    return Refusals(
        person=whom.name,
        secret=whom.secret,
        value=whom.value,
        refused=refused,
        learned=learned,
        truth=bool(having[whom.row]),
        values_learned=found,
        values_asked=people,
        ledger=(_ledger(having, whom.row, has=True), _ledger(having, whom.row, has=False)),
        played=refusal_game(losses, times, bits=bits),
    )


def telling(answer: int, size: int) -> bool:
    """Whether a count of so many people settles their secrets: all of them have it, or none."""
    return answer in (0, size)


def refusal_game(
    epsilons: Sequence[Fraction], trials: int, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Does the person have it? The attacker, who has it, asks an auditor for the two of them; or a
    session, which answers with noise.
    """

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = coins(trials, bits)
        if epsilon is None:
            return np.array([telling(1 + int(one), 2) == bool(one) for one in truth])
        return np.asarray((noisy(1 + truth, epsilon=epsilon, bits=bits) >= 2) == truth)

    return played(game, epsilons)


def _maxima(people: int, seed: int) -> tuple[int, int]:
    """Values learned from refusals, and how many people were asked about, in threes."""
    size = 3 * min(100, max(1, people // 3))
    auditor = MaxAuditor(np.random.default_rng(seed).random(size))
    learned = 0
    for first in range(0, size, 3):
        largest = auditor.ask((first, first + 1, first + 2))
        if largest is not None and auditor.ask((first, first + 1)) is None:
            learned += int(
                auditor.values[first + 2] == largest
            )  # what the attacker concludes, and it is so
    return learned, size


def _ledger(having: NDArray[np.bool_], row: int, *, has: bool) -> tuple[bool, ...]:
    """Which of some questions a session refuses, in the world where the person has it or has it
    not.
    """
    import pyarrow as pa

    world = having.copy()
    world[row] = has
    said = []
    with protect(
        pa.table({"has": world}), name="people", budget=Pure(3), relation="replace"
    ) as people:
        query = people.where("has").aggregate(n=count())
        for _ in range(ASKED):
            try:
                people.release(query, epsilon=1, fresh=True)
                said.append(False)
            except BudgetExceeded:
                said.append(True)
    return tuple(said)
