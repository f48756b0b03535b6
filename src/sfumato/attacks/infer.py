"""The attacker who knows everything but one thing, and reasons by Bayes' rule.

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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees.meaning.bayes import Interval, known_prior, posterior_bounds
from ..mechanisms.laplace import Laplace
from ..noise.bits import SYSTEM, Bits
from .lib.attack_result import (
    EPSILONS,
    Played,
    Success,
    known_count,
    known_epsilons,
    plot_successes,
)
from .lib.attack_text import at_least, at_most, named, per_cent, spaced
from .lib.repeated_releases import TRIALS, answered, coins, played
from .lib.target import target

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What one answer of a session does to a belief."""

    epsilon: Fraction
    answer: float
    posterior: float
    possible: Interval  # where it stays whatever the answer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inference(Played):
    """A belief before and after exact and private answers."""

    person: str
    secret: str
    value: Any
    others: int  # who have the value, as the attacker knows
    exact: int
    prior: Fraction
    beliefs: tuple[Belief, ...]

    @property
    def numbers(self) -> dict[str, float | int]:
        found: dict[str, float | int] = {
            "others": self.others,
            "exact": self.exact,
            "prior": float(self.prior),
            "posterior": self.exact - self.others,
        }
        return found | {
            f"posterior at {named(belief.epsilon)}": belief.posterior for belief in self.beliefs
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        what, left = f"{self.secret} = {self.value}", self.exact - self.others
        has = "has" if left else "does not have"
        others = (
            f"{spaced(self.others)} {'person' if self.others == 1 else 'people'} other than "
            f"{self.person} {'has' if self.others == 1 else 'have'}"
        )
        told = (
            f"The attacker knows that {others} {what}. The exact count is {spaced(self.exact)}, so "
        )
        told += (
            f"{self.person} {has} it: his belief goes from {per_cent(float(self.prior))} to "
            f"{100 * left} %."
        )
        private = tuple(
            f"At {named(b.epsilon)} a session answered {spaced(b.answer)}: his belief "
            f"becomes {per_cent(b.posterior)}, and no answer could take it "
            f"below {at_least(b.possible.low)} or above {at_most(b.possible.high)}."
            for b in self.beliefs
        )
        return (told, *private, *self.verdicts)

    def plot(self) -> Figure:
        return plot_successes(
            self.played, title="The attacker who knows all but one", up="right guesses"
        )


def infer(
    table: object,
    person: Mapping[str, Any] | int,
    secret: str | None = None,
    *,
    value: Any = None,
    prior: Number = Fraction(1, 2),
    epsilons: Sequence[Number] = EPSILONS,
    trials: int = TRIALS,
    bits: Bits = SYSTEM,
) -> Inference:
    """What somebody who knows all but one person's secret makes of exact and of private counts. For
    owners, on their own data: the result is not private.
    """
    losses, times, p = known_epsilons(epsilons), known_count(trials, "trials"), known_prior(prior)
    whom = target(table, person, secret, value)
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
        played=known_rest_game(losses, times, bits=bits),
    )


def posterior(prior: Fraction, excess: int, epsilon: Number) -> float:
    """The belief after an answer that exceeds the others' count by so much."""
    law = Laplace(sensitivity=1, epsilon=epsilon)
    yes, no = (
        float(weight) * float(law.probability(excess - moved))
        for weight, moved in ((prior, 1), (1 - prior, 0))
    )
    return yes / (yes + no) if yes + no else float(prior)


def known_rest_game(
    epsilons: Sequence[Fraction], trials: int, *, bits: Bits = SYSTEM
) -> tuple[Success, ...]:
    """Does the person have it? The attacker knows the others, so of the answer only the person and
    the noise are left to him.
    """

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        truth = coins(trials, bits)
        return np.asarray((answered(truth, epsilon=epsilon, bits=bits) >= 1) == truth)

    return played(game, epsilons)
