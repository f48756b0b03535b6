"""A general tracker: every count that a minimum-size rule forbids, from four that it allows.

*Rule*     A count is answered if it is about k people or more, and about n − k or less.
*Attack*   Denning, Denning & Schwartz 1979: let T be any group of 2k to n − 2k people, and C the
           forbidden one. Then C ∪ T and C ∪ not-T are large enough, and |C| = |C ∪ T| + |C ∪ not-T|
           − |T| − |not-T|, since every member of C is counted once more than needed.
*Private*  The same four questions at ε/4 each.
*Bound*    e^ε/(1 + e^ε) for a coin: the four answers together are ε-DP when one person is replaced
           (`results.guess_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import Refused
from ..exact.numbers import Number
from ..noise.bits import SYSTEM, Bits
from .differencing import count_game
from .lib.attack_result import EPSILONS, Played, known_count, known_epsilons, plot_successes
from .lib.attack_text import named, spaced
from .lib.owner_table import Columns
from .lib.repeated_releases import TRIALS
from .lib.target import Guess, condition, matching, opposite, target
from .small_cell import MINIMUM

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tracker(Played):
    """Four allowed counts, and the forbidden one that they give."""

    person: str
    secret: str
    value: Any
    minimum: int
    group: tuple[str, Any]  # the tracker: those who have this value of this column
    counts: tuple[int, int, int, int]  # |C ∪ T|, |C ∪ not-T|, |T|, |not-T|
    guesses: tuple[Guess, ...]

    @property
    def found(self) -> int:
        """The forbidden count: 1 if the person has the value."""
        a, b, c, d = self.counts
        return a + b - c - d

    @property
    def numbers(self) -> dict[str, float | int]:
        a, b, c, d = self.counts
        return {"C or T": a, "C or not T": b, "T": c, "not T": d, "found": self.found}

    @property
    def sentences(self) -> tuple[str, ...]:
        a, b, c, d = map(spaced, self.counts)
        column, key = self.group
        has = "has" if self.found else "does not have"
        c_is = f"are {self.person} with {self.secret} = {self.value}"
        told = (
            f"A count of {self.person} alone is withheld: it is about fewer than "
            f"{self.minimum} people. These are not: with T for {column} = {key}, "
        )
        told += (
            f"{a} are in T or {c_is}; {b} are outside of T or {c_is}; {c} are in T; {d} are "
            f"outside of it."
        )
        sum_ = (
            f"{a} + {b} − {c} − {d} = {self.found}: {self.person} {has} {self.secret} = "
            f"{self.value}."
        )
        private = tuple(
            (
                f"At {named(guess.epsilon)} for all four, a session's answers come to "
                f"{spaced(guess.value)}, with noise of standard deviation {guess.sd:.3g}."
            )
            for guess in self.guesses
        )
        return (told, sum_, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(
            self.played, title="A tracker: four allowed counts", up="right guesses"
        )


def tracker(
    table: object,
    person: Mapping[str, Any] | int,
    secret: str | None = None,
    *,
    value: Any = None,
    minimum: int = MINIMUM,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Tracker:
    """Get around a rule that forbids small counts, and meet private answers. For owners, on their
    own data: the result is not private.
    """
    losses, times, least = (
        known_epsilons(epsilons),
        known_count(trials, "trials"),
        known_count(minimum, "minimum"),
    )
    whom = target(table, person, secret, value)
    column, key = group = _group(whom.table, least, whom.secret)
    inside = matching(whom.table, {column: key})
    alone = whom.having & ~whom.others
    c = condition(whom.person) & whom.about
    t, rest = condition({column: key}), opposite({column: key})
    return Tracker(
        person=whom.name,
        secret=whom.secret,
        value=whom.value,
        minimum=least,
        group=group,
        counts=(
            int((alone | inside).sum()),
            int((alone | ~inside).sum()),
            int(inside.sum()),
            int((~inside).sum()),
        ),
        guesses=whom.guesses([(1, c | t), (1, c | rest), (-1, t), (-1, rest)], losses),
        played=count_game(losses, times, answers=4, bits=bits),
    )


def _group(table: Columns, minimum: int, secret: str) -> tuple[str, Any]:
    """The values of a column that come closest to half of the table; the secret's own column last
    of all.
    """
    found = []
    for name in table:
        rows, value = table.halving(name)
        size = int(rows.sum())
        if 2 * minimum <= size <= table.n - 2 * minimum:
            found.append((name == secret, abs(size - table.n / 2), name, value))
    if not found:
        reason = (
            "no value of any column is shared by at least twice, and by all but at least "
            "twice, as many people as the rule asks for"
        )
        raise Refused(
            "attacks.tracker",
            f"minimum={minimum}",
            reason,
            "a smaller minimum=, or a table with a column of two common values",
        )
    return min(found, key=lambda one: one[:3])[2:]
