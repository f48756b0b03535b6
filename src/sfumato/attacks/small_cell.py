"""Small cells: any count of a group of one is about a person, and a rule against small groups does
not help.

*Attack*   One person is a man of 21; one man of 21 takes drugs. Two counts, and the answer is known
           with certainty.
*Rule*     "No answer about fewer than k people" withholds both counts, and leaves the two that do
           the same: how many take drugs, and how many of all others do.
*Private*  The same two questions at ε/2 each. A group of one is answered like every other, and its
           count says as little.
*Bound*    As for two answers and their difference: e^ε/(1 + e^ε) for a coin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exact.numbers import Number
from ..noise.bits import SYSTEM, Bits
from .differencing import count_game
from .lib.attack_result import EPSILONS, GameResult, check_count, check_epsilons, plot_successes
from .lib.attack_text import epsilon_label, format_number, people_having
from .lib.repeated_releases import TRIALS
from .lib.target import Guess, describe_values, find_target, negation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINIMUM = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallCell(GameResult):
    """Two counts of a group of one, and two counts that a rule against small groups allows
    instead.
    """

    cell: str
    secret: str
    value: object
    size: int  # of the group
    having: int  # of the group, with the value
    minimum: int  # people that an answer has to be about
    everybody: int  # with the value
    others: int  # with the value, outside of the group
    guesses: tuple[Guess, ...]

    @property
    def withheld(self) -> bool:
        """Whether the rule withholds the counts of the group."""
        return self.size < self.minimum

    @property
    def rule_helps(self) -> bool:
        """Whether the rule withholds the two large counts as well."""
        return min(self.everybody, self.others) < self.minimum

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "size": self.size,
            "having": self.having,
            "everybody": self.everybody,
            "others": self.others,
            "difference": self.everybody - self.others,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        what = f"{self.secret} = {self.value}"
        exact = (
            f"{self.size} person has {self.cell}; {self.having} has {self.cell} and {what}. "
            f"Two counts, and the answer is certain."
        )
        if self.rule_helps:
            rule = (
                f"A rule that withholds counts below {self.minimum} withholds the other two "
                f"counts here as well; a tracker gets around it."
            )
        else:
            rule = (
                f"A rule that withholds counts below {self.minimum} does not help: "
                f"{people_having(self.everybody)} {what}, and "
                f"{format_number(self.others)} of all others "
                f"{'has' if self.others == 1 else 'have'} it. The difference is the same "
                f"{self.everybody - self.others}."
            )
        private = tuple(
            (
                f"At {epsilon_label(guess.epsilon)} for both, a session answered "
                f"{' and '.join(map(format_number, guess.answers))}: a difference of "
                f"{format_number(guess.value)}."
            )
            for guess in self.guesses
        )
        return (exact, rule, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(self.played, title="A group of one", up="right guesses")


def small_cell(
    table: object,
    cell: Mapping[str, object] | int,
    secret: str | None = None,
    *,
    value: object = None,
    minimum: int = MINIMUM,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> SmallCell:
    """Ask about a group of one person, for exact answers and for private ones. For owners, on their
    own data: the result is not private.
    """
    losses = check_epsilons(epsilons)
    times = check_count(trials, "trials")
    least = check_count(minimum, "minimum")
    whom = find_target(table, cell, secret, value)
    having, alone = whom.having, ~whom.others
    return SmallCell(
        cell=describe_values(whom.person),
        secret=whom.secret,
        value=whom.value,
        size=int(alone.sum()),
        having=int((having & alone).sum()),
        minimum=least,
        everybody=int(having.sum()),
        others=int((having & whom.others).sum()),
        guesses=whom.guesses([(1, whom.about), (-1, whom.about & negation(whom.person))], losses),
        played=count_game(losses, times, bits=bits),
    )
