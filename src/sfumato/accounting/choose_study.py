"""Choose how many people to ask, and ε, by what taking part costs them: the economic method.

*Cost*      A person who would bear an expected loss E from the study even without taking part bears
            at most e^ε·E with taking part: every bad event is at most e^ε times as likely (Hsu et
            al. 2014). So a payment of (e^ε − 1)·E makes up for it.
*Payments*  n·(e^ε − 1)·E ≤ budget, hence ε ≤ ln(1 + budget/(n·E)).
*Accuracy*  A share of n people drawn at random is off by at most √(ln(2/β)/(2n)) from that of the
            population (Hoeffding), with β half of what is missing to the confidence. The rest of
            the tolerated error, x people, is left for Laplace noise on the count, with the other
            half: P(|Z| > x) ≤ 2e^(−εx) = β, hence ε ≥ ln(2/β)/x.
*Choice*    The least n at which accuracy asks for no more ε than payments allow. Every larger n
            will do, too: n·ln(1 + c/n) rises with n, and n·ln(2/β)/x falls.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, positive, probability, rounded
from . import accounting_refusals as refusals

MOST_PEOPLE = 1 << 36
_DIGITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChoice:
    """The least number of people, the ε that the error asks for, the largest ε that the budget
    allows, and the payment to each person at the former.
    """

    people: int
    epsilon: float
    epsilon_allowed: float
    payment: float

    @property
    def total(self) -> float:
        """What all payments cost."""
        return self.people * self.payment


def choose_study(
    *, error: Number, loss: Number, budget: Number, confidence: Number = 0.95
) -> StudyChoice:
    """Choose the number of people and ε for a share that is within ± error of the population's.
    `loss` is the expected loss of a person from the study without taking part, `budget` what all
    payments may cost, in the same currency.
    """
    tolerated = probability(error, "error", zero=False)
    missing = 1 - probability(confidence, "confidence", zero=False)
    stake, money = positive(loss, "loss"), positive(budget, "budget")

    def fits(people: int) -> bool:
        needed = epsilon_needed(people, tolerated, missing)
        return needed is not None and needed <= epsilon_allowed(people, stake, money)

    most = 1
    while not fits(most):
        most *= 2
        if most > MOST_PEOPLE:
            raise refusals.STUDY_UNAFFORDABLE(error=error, loss=loss, budget=budget)
    people = bisect_left(range(most), True, lo=most // 2, key=fits)
    needed = epsilon_needed(people, tolerated, missing)
    assert needed is not None
    return StudyChoice(
        people=people,
        epsilon=float(needed),
        epsilon_allowed=float(epsilon_allowed(people, stake, money)),
        payment=evaluate(lambda: ball(needed).expm1() * ball(stake), "up"),
    )


def epsilon_needed(people: int, error: Fraction, missing: Fraction) -> Fraction | None:
    """Return the least ε that leaves the share of so many people within the error, rounded up; None
    if chance alone takes more.
    """
    sampling = math.sqrt(math.log(4 / float(missing)) / (2 * people)) * (1 + 2**-40)
    left = people * (error - Fraction(sampling))
    if left <= 0:
        return None
    least = evaluate(lambda: (4 / ball(missing)).log() / ball(left), "up")
    return Fraction(rounded(Fraction(least), "up", _DIGITS))


def epsilon_allowed(people: int, loss: Fraction, budget: Fraction) -> Fraction:
    """Return the largest ε whose payments to so many people the budget covers, rounded down."""
    ratio = budget / (people * loss)
    largest = Fraction(evaluate(lambda: ball(ratio).log1p(), "down"))
    return Fraction(rounded(largest, "down", _DIGITS))
