"""Angie and Eva: a world of so few people that Bayes' rule can be done by hand.

*World*    Each of some people failed with a prior probability, independently. How many of them
           passed is answered with noise whose law is known.
*Answer*   P(answer | Angie failed), P(answer), and their quotient times the prior: the belief that
           Angie failed, exactly.
*Source*   With two women, a prior of 0.4 and noise of 0.25 at 0 and 0.15 at ±1, the answer 1 takes
           0.4 to 0.084/0.198 = 0.4242…, printed as 0.43 (E-36).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from ..exact.numbers import Number, exact, probability
from ..guarantees.meaning.bayes import check_prior
from . import attack_refusals as refusals
from .lib.attack_result import Result, as_integer, check_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOISE: Mapping[int, Number] = {0: "0.25", 1: "0.15", -1: "0.15"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmallWorld(Result):
    """What one answer says about one of few people; every number is exact."""

    prior: Fraction
    people: int
    answer: int
    likelihood: Fraction  # of the answer, if she failed
    evidence: Fraction  # of the answer
    noise: Mapping[int, Fraction]

    @property
    def posterior(self) -> Fraction:
        """The probability that she failed, given the answer."""
        return self.prior * self.likelihood / self.evidence

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            "P(answer | failed)": float(self.likelihood),
            "P(answer)": float(self.evidence),
            "posterior": float(self.posterior),
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        return (
            f"Before, she has failed with a probability of {float(self.prior):g}.",
            (
                f"An answer of {self.answer} has a probability of "
                f"{float(self.likelihood):.6g} if she failed, and of "
                f"{float(self.evidence):.6g} in all."
            ),
            f"So after it she has failed with a probability of {float(self.posterior):.6g}.",
        )

    def plot(self) -> Figure:
        from ..plots.bars import Bars, bars
        from .plots.small_world_plot import beliefs_after

        answers, beliefs = beliefs_after(self)
        drawn = Bars(answers, beliefs, beliefs, beliefs)
        return bars(
            drawn,
            title="What each answer would make of a belief",
            across="belief that she failed",
            up="answer",
            note=f"before: {float(self.prior):g}",
        )


def small_world(
    prior: Number = "0.4", noise: Mapping[int, Number] = NOISE, answer: int = 1, *, people: int = 2
) -> SmallWorld:
    """Compute the belief that one person failed, after a noisy count of passes."""
    p, n = check_prior(prior), check_count(people, "people")
    observed = as_integer(answer)
    if (
        observed is None
        or not isinstance(noise, Mapping)
        or any(as_integer(shift) is None for shift in noise)
    ):
        raise refusals.ANSWER_OR_NOISE_NOT_WHOLE(answer=answer)
    law = {
        int(shift): probability(exact(weight, "noise"), "noise", one=True)
        for shift, weight in noise.items()
    }
    if (total := sum(law.values())) > 1:
        raise refusals.NOISE_ABOVE_ONE(total=float(total))
    failed = {bit: _chance(p, n, observed, law, failed=bit) for bit in (True, False)}
    evidence = p * failed[True] + (1 - p) * failed[False]
    if not evidence:
        raise refusals.ANSWER_IMPOSSIBLE(answer=observed)
    return SmallWorld(
        prior=p, people=n, answer=observed, likelihood=failed[True], evidence=evidence, noise=law
    )


def _chance(
    prior: Fraction, people: int, answer: int, noise: Mapping[int, Fraction], *, failed: bool
) -> Fraction:
    """Compute the chance of the answer, given the first person's grade and random others."""
    total = Fraction(0)
    for grades in product((False, True), repeat=people - 1):  # whether each of the others passed
        weight = prod((1 - prior if passed else prior for passed in grades), start=Fraction(1))
        total += weight * noise.get(answer - sum(grades) - (not failed), Fraction(0))
    return total
