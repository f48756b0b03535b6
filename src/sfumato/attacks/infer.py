"""Inference by Bayes' rule: the attacker knows every secret but one.

*Attack*   He knows everybody's secret but one person's: so many others have it. The exact count
           leaves 0 or 1 for the person.
*Private*  Of an answer y with noise of the law p, the odds that the person has it grow by p(y −
           others − 1)/p(y − others): a factor between e^−ε and e^ε.
*Game*     A coin says whether the person has it; he says what is likelier.
*Bound*    e^ε/(1 + e^ε): posterior odds are at most e^ε times the prior odds for whoever knows
           everybody else's data, as he does, or thinks that they say nothing about the person. (Who
           thinks that the person has what the relatives have learns of the person from the
           relatives, too.) For a count this attacker attains it exactly: Σ max(p(z), p(z − 1))/2 =
           e^ε/(1 + e^ε) for the two-sided geometric law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees.meaning.bayes import Interval, check_prior, posterior_bounds
from ..mechanisms.laplace import Laplace
from ..noise.bits import SYSTEM, Bits
from .lib.attack_result import (
    EPSILONS,
    GameResult,
    Success,
    check_count,
    check_epsilons,
    plot_successes,
)
from .lib.attack_text import at_least, at_most, epsilon_label, format_number, per_cent
from .lib.repeated_releases import TRIALS, draw_coins, play_game, release_each
from .lib.target import find_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A belief after one answer of a session."""

    epsilon: Fraction
    answer: float
    posterior: float
    possible: Interval  # where it stays whatever the answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inference(GameResult):
    """A belief before and after exact and private answers."""

    person: str
    secret: str
    value: object
    others: int  # who have the value, as the attacker knows
    exact: int
    prior: Fraction
    beliefs: tuple[Belief, ...]

    @property
    def numbers(self) -> dict[str, float | int]:
        numbers: dict[str, float | int] = {
            "others": self.others,
            "exact": self.exact,
            "prior": float(self.prior),
            "posterior": self.exact - self.others,
        }
        return numbers | {
            f"posterior at {epsilon_label(belief.epsilon)}": belief.posterior
            for belief in self.beliefs
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        what, left = f"{self.secret} = {self.value}", self.exact - self.others
        has = "has" if left else "does not have"
        others = (
            f"{format_number(self.others)} {'person' if self.others == 1 else 'people'} other than "
            f"{self.person} {'has' if self.others == 1 else 'have'}"
        )
        count = format_number(self.exact)
        exact = f"The attacker knows that {others} {what}. The exact count is {count}, so "
        exact += (
            f"{self.person} {has} it: his belief goes from {per_cent(float(self.prior))} to "
            f"{100 * left} %."
        )
        private = tuple(
            f"At {epsilon_label(b.epsilon)} a session answered {format_number(b.answer)}: "
            f"his belief becomes {per_cent(b.posterior)}, and no answer could take it "
            f"below {at_least(b.possible.low)} or above {at_most(b.possible.high)}."
            for b in self.beliefs
        )
        return (exact, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(
            self.played, title="The attacker who knows all but one", up="right guesses"
        )


def infer(
    table: object,
    person: Mapping[str, object] | int,
    secret: str | None = None,
    *,
    value: object = None,
    prior: Number = Fraction(1, 2),
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Inference:
    """Compute the belief of an attacker who knows all secrets but one, after exact and private
    counts. For owners, on their own data: the result is not private.
    """
    losses, times, p = check_epsilons(epsilons), check_count(trials, "trials"), check_prior(prior)
    whom = find_target(table, person, secret, value)
    having = whom.having
    others = int((having & whom.others).sum())
    guesses = whom.guesses([(1, whom.about)], losses)
    return Inference(
        person=whom.name,
        secret=whom.secret,
        value=whom.value,
        others=others,
        exact=int(having.sum()),
        prior=p,
        beliefs=tuple(
            Belief(
                epsilon=guess.epsilon,
                answer=guess.value,
                posterior=posterior(p, int(guess.value) - others, guess.epsilon),
                possible=posterior_bounds(guess.epsilon, p),
            )
            for guess in guesses
        ),
        played=one_unknown_game(losses, times, bits=bits),
    )


def posterior(prior: Fraction, excess: int, epsilon: Number) -> float:
    """Compute the belief after an answer that exceeds the others' count by so much."""
    law = Laplace(sensitivity=1, epsilon=epsilon)
    yes, no = (
        float(weight) * float(law.probability(excess - moved))
        for weight, moved in ((prior, 1), (1 - prior, 0))
    )
    return yes / (yes + no) if yes + no else float(prior)


def one_unknown_game(
    epsilons: Sequence[Fraction], trials: int, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Play: does the person have it? The attacker knows the others and subtracts them, so only the
    person and the noise remain.
    """

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = draw_coins(trials, bits)
        return np.asarray((release_each(truth, epsilon=epsilon, bits=bits) >= 1) == truth)

    return play_game(game, epsilons)
