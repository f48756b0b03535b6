"""Results of attacks, and how often an attack succeeds compared with what a guarantee allows.

*Measured*   `hits` of `trials`; `lower` is the limit of Clopper & Pearson that the true rate is
             above, save for an error of probability α.
*Allowed*    `bound` is a consequence of the guarantee, rounded up: no attack whatever, also none
             that was not thought of, succeeds more often.
*Holds*      lower ≤ bound. With α = 10⁻⁶ a promise that is kept is called broken once in a million
             comparisons.
*Guess*      One of k values of one unit, all held for equally likely, is guessed with a chance of
             at most (e^ε + (k − 1)·δ)/(e^ε + k − 1). Let A_i be the answers on which the attacker
             says i, and p_i their law under i. Then p_i(A_i) ≤ e^ε·p_j(A_i) + δ for all j ≠ i;
             summed over j and i, s = Σ p_i(A_i) has (k − 1)·s ≤ e^ε·(k − s) + k·(k − 1)·δ, and s/k
             is the chance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING

from ...exact.balls import ball, chance
from ...exact.numbers import Number, positive, probability, shown
from ...guarantees import Guarantee, Pure
from ...mechanisms.shared.response_estimate import limit
from ...templates.fill_template import fill_template
from .. import attack_refusals as refusals
from .attack_text import at_least, at_most, epsilon_label, per_cent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHA = Fraction(1, 10**6)
EPSILONS: tuple[Number, ...] = ("0.1", "0.5", 1, 2, 5)
"""The ε that attacks run against by default."""

_GRID = tuple(Fraction(step, 16) for step in range(16 * 12 + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """How often an attack succeeded against one kind of answers, and how often the guarantee
    allows.
    """

    against: str  # "exact answers", "ε = 1"
    hits: int
    trials: int
    chance: float  # what guessing alone gives
    promise: Guarantee | None = None  # none: exact answers
    # the highest rate that the promise allows, rounded up; none where nothing is promised, or the
    # secret was not drawn by chance
    bound: float | None = None

    def __post_init__(self) -> None:
        if self.trials < 1 or not 0 <= self.hits <= self.trials:
            raise refusals.TOO_MANY_HITS(hits=self.hits, trials=self.trials)

    @property
    def rate(self) -> float:
        return self.hits / self.trials

    def lower(self, alpha: Number = ALPHA) -> float:
        """Compute a lower limit of the true rate, rounded down: wrong with probability at most
        `alpha`.
        """
        end = limit(self.hits, self.trials, probability(alpha, "alpha", zero=False), upper=False)
        return chance(lambda: ball(end), "down")

    def upper(self, alpha: Number = ALPHA) -> float:
        """Compute an upper limit of the true rate, rounded up."""
        end = limit(self.hits, self.trials, probability(alpha, "alpha", zero=False), upper=True)
        return chance(lambda: ball(end), "up")

    @property
    def holds(self) -> bool | None:
        """Whether the trials are consistent with the promise; None where nothing was promised."""
        return None if self.bound is None else self.lower() <= self.bound

    @property
    def sentence(self) -> str:
        rate = (
            f"Against {self.against}: {self.hits} of {self.trials} attempts succeed "
            f"({per_cent(self.rate)}; guessing alone gives {per_cent(self.chance)})."
        )
        if self.bound is None and self.promise is None:
            return f"{rate} Nothing is promised."
        if self.bound is None:
            return (
                f"{rate} No limit follows from the guarantee: it is about how far odds move, "
                f"and this secret was not drawn with known odds."
            )
        verdict = (
            "is kept"
            if self.holds
            else f"is BROKEN: the true rate is above {at_least(self.lower())}"
        )
        return (
            f"{rate} The guarantee allows {at_most(self.bound)} at most, and as far as "
            f"{self.trials} attempts can tell it {verdict}."
        )


class Result(ABC):
    """The result of an attack. It is for the owner of the data: it is not private."""

    __slots__ = ()

    @property
    @abstractmethod
    def numbers(self) -> dict[str, float | int]:
        """The findings by name."""

    @property
    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """The findings as sentences."""

    @property
    def successes(self) -> tuple[Success, ...]:
        """How often the attack succeeded, against exact answers first."""
        return ()

    @property
    def holds(self) -> bool:
        """Whether every promise that was attacked is kept."""
        return all(success.holds is not False for success in self.successes)

    @abstractmethod
    def plot(self) -> Figure:
        """Plot the findings."""

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        heads = ("against", "succeeds", "of", "rate", "at least", "allowed", "guessing")
        rows = [
            (
                success.against,
                success.hits,
                success.trials,
                per_cent(success.rate),
                at_least(success.lower()),
                "–" if success.bound is None else at_most(success.bound),
                per_cent(success.chance),
            )
            for success in self.successes
        ]
        return fill_template("attack.html", sentences=self.sentences, heads=heads, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GameResult(Result):
    """The result of an attack that has already played its game."""

    played: tuple[Success, ...]

    @property
    def successes(self) -> tuple[Success, ...]:
        return self.played

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One sentence for each success rate."""
        return tuple(success.sentence for success in self.played)


def plot_successes(successes: Sequence[Success], *, title: str, up: str) -> Figure:
    """Plot measured and allowed success, one column for each kind of answers."""
    from ...plots.successes import SuccessRate
    from ...plots.successes import successes as drawn

    columns = [
        SuccessRate(
            name=success.against,
            rate=success.rate,
            low=success.lower(),
            high=success.upper(),
            bound=success.bound,
            chance=success.chance,
        )
        for success in successes
    ]
    return drawn(columns, title=title, up=up)


def guess_bound(promise: Guarantee, choices: int = 2) -> float:
    """Bound the chance to guess which of so many equally likely values a unit has, rounded up. The
    promise is about changing that value.
    """
    if isinstance(choices, bool) or not isinstance(choices, int) or choices < 2:
        raise refusals.FEWER_THAN_TWO_CHOICES(choices=shown(choices))
    pairs = (
        [(Fraction(promise.epsilon()), Fraction(0))]
        if isinstance(promise, Pure)
        else [(e, Fraction(promise.delta(e))) for e in _GRID]
    )
    others = choices - 1

    def bound(e: Fraction, d: Fraction) -> float:
        return chance(lambda: (ball(e).exp() + ball(others * d)) / (ball(e).exp() + others), "up")

    return min(bound(e, d) for e, d in pairs)


def guess_success(
    epsilon: Fraction | None, hits: int, trials: int, promise: Guarantee | None, choices: int = 2
) -> Success:
    """Build the success of guessing one of several equally likely values: against exact answers, or
    at an ε with the bound of its promise.
    """
    against = "exact answers" if epsilon is None else epsilon_label(epsilon)
    bound = None if promise is None else guess_bound(promise, choices)
    return Success(
        against=against, hits=hits, trials=trials, chance=1 / choices, promise=promise, bound=bound
    )


def event_bound(promise: Guarantee, baseline: Number) -> float:
    """Bound the chance of an event that would have the chance `baseline` with other data of one
    unit, rounded up.
    """
    from ...guarantees.meaning.outcomes import outcome_bounds

    return outcome_bounds(promise, baseline).high


def check_epsilons(epsilons: Sequence[Number]) -> tuple[Fraction, ...]:
    """Check the ε to attack: numbers above zero."""
    if isinstance(epsilons, str) or not isinstance(epsilons, Sequence):
        raise refusals.EPSILONS_NOT_A_LIST(epsilons=shown(epsilons))
    return tuple(positive(epsilon, "epsilon") for epsilon in epsilons)


def check_count(value: object, name: str, least: int = 1) -> int:
    """Check a count, such as a number of trials."""
    count = as_integer(value)
    if count is None or count < least:
        raise refusals.COUNT_TOO_SMALL(
            name=name, value=shown(value), least=least, example=max(least, 100)
        )
    return count


def as_integer(value: object) -> int | None:
    """Convert an integer of Python or NumPy; return None for everything else, also for booleans."""
    return None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
