"""A general tracker: compute every count that a minimum-size rule forbids, from four that it
allows.

*Rule*     A count is answered if it is about k people or more, and about n − k or less.
*Attack*   Denning, Denning & Schwartz 1979: let T be any group of 2k to n − 2k people, and C the
           forbidden one. Then C ∪ T and C ∪ not-T are large enough, and |C| = |C ∪ T| + |C ∪ not-T|
           − |T| − |not-T|, since every member of C is counted once more than needed.
*Private*  The same four questions at ε/4 each.
*Bound*    e^ε/(1 + e^ε) for a coin: the four answers together are ε-DP when one person is replaced
           (`attack_result.guess_bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exact.numbers import Number
from ..noise.bits import SYSTEM, Bits
from . import attack_refusals as refusals
from .differencing import count_game
from .lib.attack_result import EPSILONS, GameResult, check_count, check_epsilons, plot_successes
from .lib.attack_text import epsilon_label, format_number
from .lib.owner_table import Columns
from .lib.repeated_releases import TRIALS
from .lib.target import Guess, condition, find_target, negation, rows_matching
from .small_cell import MINIMUM

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tracker(GameResult):
    """Four allowed counts, and the forbidden one that they give."""

    person: str
    secret: str
    value: object
    minimum: int
    group: tuple[str, object]  # the tracker: those who have this value of this column
    counts: tuple[int, int, int, int]  # |C ∪ T|, |C ∪ not-T|, |T|, |not-T|
    guesses: tuple[Guess, ...]

    @property
    def forbidden_count(self) -> int:
        """The forbidden count: 1 if the person has the value."""
        a, b, c, d = self.counts
        return a + b - c - d

    @property
    def numbers(self) -> dict[str, float | int]:
        a, b, c, d = self.counts
        return {"C or T": a, "C or not T": b, "T": c, "not T": d, "found": self.forbidden_count}

    @property
    def sentences(self) -> tuple[str, ...]:
        a, b, c, d = map(format_number, self.counts)
        column, key = self.group
        has = "has" if self.forbidden_count else "does not have"
        c_is = f"are {self.person} with {self.secret} = {self.value}"
        counts = (
            f"A count of {self.person} alone is withheld: it is about fewer than "
            f"{self.minimum} people. These are not: with T for {column} = {key}, "
        )
        counts += (
            f"{a} are in T or {c_is}; {b} are outside of T or {c_is}; {c} are in T; {d} are "
            f"outside of it."
        )
        sum_ = (
            f"{a} + {b} − {c} − {d} = {self.forbidden_count}: {self.person} {has} {self.secret} = "
            f"{self.value}."
        )
        private = tuple(
            (
                f"At {epsilon_label(guess.epsilon)} for all four, a session's answers come to "
                f"{format_number(guess.value)}, with noise of standard deviation {guess.sd:.3g}."
            )
            for guess in self.guesses
        )
        return (counts, sum_, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(
            self.played, title="A tracker: four allowed counts", up="right guesses"
        )


def tracker(
    table: object,
    person: Mapping[str, object] | int,
    secret: str | None = None,
    *,
    value: object = None,
    minimum: int = MINIMUM,
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Tracker:
    """Get around a rule that forbids small counts, and try the same on private answers. For owners,
    on their own data: the result is not private.
    """
    losses = check_epsilons(epsilons)
    times = check_count(trials, "trials")
    least = check_count(minimum, "minimum")
    whom = find_target(table, person, secret, value)
    column, key = group = _group(whom.table, least, whom.secret)
    inside = rows_matching(whom.table, {column: key})
    alone = whom.having & ~whom.others
    c = condition(whom.person) & whom.about
    t, rest = condition({column: key}), negation({column: key})
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


def _group(table: Columns, minimum: int, secret: str) -> tuple[str, object]:
    """Find the column and value whose share is closest to half of the table; the secret's own
    column comes last.
    """
    groups = []
    for name in table:
        rows, value = table.halving(name)
        size = int(rows.sum())
        if 2 * minimum <= size <= table.n - 2 * minimum:
            groups.append((name == secret, abs(size - table.n / 2), name, value))
    if not groups:
        raise refusals.NO_TRACKER(minimum=minimum, people=2 * minimum, smaller=max(1, minimum // 2))
    return min(groups, key=lambda group: group[:3])[2:]
