"""Name and shame: publish each record with probability δ, nothing of the rest, and call it private.

*Attack*   None is needed: the mechanism is (0, δ)-DP and keeps that promise. Of n people n·δ are
           published whole, at least one with 1 − (1 − δ)^n: 63 % for δ = 1/n. "Just a few" are
           sacrificed, and δ is what allows it; so it has to be far below 1/n.
*Exact*    A count by name publishes everybody whose name is their own.
*Private*  A session at (ε, δ) finds the names itself, and shows one that a single person has with
           probability δ at most.
*Bound*    δ for each person: without the person the name cannot come out, and with them it comes
           out at most δ more often, e^ε·0 + δ. Names get noise of their own, so the n names of one
           answer are n trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..exact.numbers import Number, probability, text
from ..guarantees import Approx
from ..guarantees.meaning.literature import Judgement, judge_delta
from ..noise.bits import SYSTEM, Bits
from ..session.protect import protect_trial
from ..tables.aggregates import count
from . import attack_refusals as refusals
from .lib.attack_result import (
    EPSILONS,
    GameResult,
    Success,
    check_count,
    check_epsilons,
    event_bound,
)
from .lib.attack_text import epsilon_label, format_number, per_cent
from .lib.owner_table import read_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameAndShame(GameResult):
    """How many people each mechanism publishes, and the δ that allows it."""

    people: int
    delta: Fraction
    judgement: Judgement
    published: int  # by name and shame, in one run
    leaked: float  # the share of runs that published somebody

    @property
    def expected(self) -> Fraction:
        """The number of people published on average: n·δ."""
        return self.people * self.delta

    @property
    def at_least_one(self) -> float:
        """The chance that at least one person is published: 1 − (1 − δ)^n, rounded up."""
        return self.judgement.at_least_one

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers: dict[str, float | int] = {
            "people": self.people,
            "delta": float(self.delta),
            "expected": float(self.expected),
        }
        return numbers | {
            "at least one": self.at_least_one,
            "published": self.published,
            "runs that published somebody": self.leaked,
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        rule = (
            f"Each of {format_number(self.people)} records is published whole with probability "
            f"{text(self.delta)}: that is (0, δ)-DP, and keeps its promise."
        )
        run = (
            f"In the first run {self.published} were; somebody was in "
            f"{per_cent(self.leaked)} of the runs, beside {per_cent(self.at_least_one)} "
            f"expected."
        )
        return (rule, run, self.judgement.sentence, *self.verdicts)

    def plot(self) -> Figure:
        from .plots.name_and_shame_plot import draw

        return draw(self)


def name_and_shame(
    table: object | None = None,
    column: str | None = None,
    *,
    n: int = 1000,
    delta: Number | None = None,
    epsilons: Sequence[Number] = EPSILONS,
    runs: int = 20,
    bits: Bits = SYSTEM,
) -> NameAndShame:
    """Publish each person with a unique value of a column (or each of n invented people) with
    probability δ, by default 1/n; and ask a session to count by that value.

    For owners, on their own data: the result is not private.
    """
    losses, many = check_epsilons(epsilons), check_count(runs, "runs")
    names = _unique_values(table, column) if table is not None else np.arange(check_count(n, "n"))
    size = len(names)
    d = Fraction(1, size) if delta is None else probability(delta, "delta", zero=False)
    each = [_count_below(size, d, bits) for _ in range(many)]
    exact = Success(against="exact counts by name", hits=size, trials=size, chance=0.0)
    promise = Approx(0, d)
    shame = Success(
        against="name and shame",
        hits=sum(each),
        trials=many * size,
        chance=0.0,
        promise=promise,
        bound=event_bound(promise, 0),
    )
    private = tuple(_session(names, epsilon, d, many) for epsilon in losses)
    return NameAndShame(
        people=size,
        delta=d,
        judgement=judge_delta(d, size),
        published=each[0],
        leaked=sum(map(bool, each)) / many,
        played=(exact, shame, *private),
    )


def _unique_values(table: object, column: str | None) -> np.ndarray:
    """Find codes of the values that only one row has."""
    rows = read_columns(table, None if column is None else [column])
    codes = rows.codes(next(iter(rows)))
    single = np.flatnonzero(np.bincount(codes) == 1)
    if len(single) < 2:
        raise refusals.TOO_FEW_UNIQUE_VALUES(column=column)
    return single


def _count_below(size: int, delta: Fraction, bits: Bits) -> int:
    """Draw so many uniform words and count those below δ·2⁶⁴."""
    return int((bits.words(size) < np.uint64(min(int(delta * 2**64), 2**64 - 1))).sum())


def _session(names: np.ndarray, epsilon: Fraction, delta: Fraction, runs: int) -> Success:
    """Count by name at (ε, δ) in each run, and count the names that come out."""
    import pyarrow as pa

    promise = Approx(epsilon, delta)
    hits = 0
    with protect_trial(
        pa.table({"name": pa.array(names.astype(np.int64))}), name="people", budget=runs * promise
    ) as people:
        query = people.group_by("name").aggregate(n=count())
        for _ in range(runs):
            hits += len(people.release(query, epsilon=epsilon, delta=delta, fresh=True).rows)
    return Success(
        against=epsilon_label(epsilon),
        hits=hits,
        trials=runs * len(names),
        chance=0.0,
        promise=promise,
        bound=event_bound(promise, 0),
    )
