"""What a guarantee means in practice: for beliefs, for an attacker's test, for feared outcomes, and
for repeated answers.

`Meaning` is one record with a field for each statement. Bounds are rounded outward: upper bounds
up, lower bounds and an attacker's errors down. If a notion does not imply a statement, its field is
None and `missing` gives the reason.

*Whom*   Neighbours differ in one unit. Under "replace" the statements are about what a unit's data
         are; under "add-remove" about whether the unit is in the data at all, and what its data are
         is two steps away: `guarantee.under("replace").meaning(…)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from ...errors import Refused
from ...exact.balls import ball, chance, evaluate
from ...exact.numbers import Number, probability
from ..guarantee import Guarantee, check_epsilon
from ..loss_tail import epsilon_outside, pure_epsilon
from ..random_dp import RandomDP
from .averaging_limits import averaged_after, told_apart_after
from .bayes import (
    Interval,
    bayes_factor_moment,
    check_prior,
    odds_factor,
    posterior_bounds,
    right_guess,
    semantic_bounds,
)
from .outcomes import outcome_bounds

ETAS = (Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**6))
FALSE_POSITIVES = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))

_RANDOM = (
    "random DP holds for most pairs drawn from an assumed distribution and says nothing about "
    "any particular person"
)
_EVERY = "no bound holds for every answer, only outside rare events"
_INFINITE = "an answer of probability δ may settle the matter, and with it the mean is infinite"
_NOTHING = "the answers do not depend on the data: no number of them says anything"
_TOO_MANY = "more answers than anybody can ask for"
_NOT_PURE = "the textbook count with Laplace noise has a pure ε"
_SMALL_ETA = "events of a probability of δ or less may settle the matter"
_LEAST = Fraction(1, 10**6)


class Outside(NamedTuple):
    """Bounds that hold outside an event of probability `eta`: the loss is at most `epsilon`, and
    the odds and the posterior belief stay in these intervals.
    """

    eta: Fraction
    epsilon: float
    odds: Interval
    posterior: Interval


class Detection(NamedTuple):
    """The largest true-positive rate of a test with this false-positive rate."""

    false_positive: Fraction
    true_positive: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The statements that follow from a guarantee and a prior belief."""

    guarantee: Guarantee
    prior: Fraction
    # factors on the odds, whatever the answer
    odds: Interval | None = None
    # the belief after the answer, whatever the answer
    posterior: Interval | None = None
    # the wider bounds e^±ε·prior
    semantic: Interval | None = None
    # bounds outside rare events; empty if bounds hold for every answer
    outside: tuple[Outside, ...] = ()
    # an upper bound on the mean of ln(posterior odds/prior odds) of the truth; single answers may
    # exceed it
    log_bayes_factor: float | None = None
    # an upper bound on an attacker's true-positive rate minus the false-positive rate
    advantage: float | None = None
    # the best chance to guess right from prior and answer
    right_guess: float | None = None
    # a lower bound on type-I plus type-II error of any test
    total_error: float | None = None
    # a lower bound on the same sum, given any event that the attacker waits for
    conditional_error: float | None = None
    detection: tuple[Detection, ...] = ()
    # the number of answers that no longer exclude an attacker who is wrong 5 % of the time
    told_apart_after: int | None = None
    # the number of Laplace answers to a count whose mean, rounded, is the count with 95 %
    averaged_after: int | None = None
    # for each empty field, the reason
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)

    def outcome(self, baseline: Number) -> Interval:
        """Bounds on the chance of an outcome whose chance is `baseline` if one unit's data are
        changed or removed.
        """
        return outcome_bounds(self.guarantee, baseline)

    def bayes_factor_moment(self, order: Number) -> float:
        """An upper bound on the mean of (posterior odds/prior odds)^(α − 1) of the truth; infinite
        if no bound of that order follows.
        """
        return bayes_factor_moment(self.guarantee, order)

    def outside_event(self, eta: Number) -> Outside:
        """Bounds that hold outside an event of probability `eta`."""
        return _outside(self.guarantee, self.prior, probability(eta, "eta", zero=False))

    def tradeoff(self, alpha: Number) -> float:
        """The least type-II error at type-I error α; no test has a smaller one."""
        return self.guarantee.tradeoff(alpha)

    def sentences(self) -> tuple[str, ...]:
        """The statements in plain words, for the people whose data are protected."""
        from .meaning_text import write_sentences

        return write_sentences(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def meaning(guarantee: Guarantee, prior: Number = Fraction(1, 2)) -> Meaning:
    """Derive all statements from a guarantee, for a belief that has the chance `prior`."""
    p = check_prior(prior)
    if isinstance(guarantee, RandomDP):
        names = [
            name
            for name in Meaning.__dataclass_fields__
            if name not in ("guarantee", "prior", "missing")
        ]
        return Meaning(
            guarantee=guarantee, prior=p, missing=MappingProxyType(dict.fromkeys(names, _RANDOM))
        )
    missing: dict[str, str] = {}
    epsilon = pure_epsilon(guarantee)
    exceptions: tuple[Outside, ...] = ()
    if epsilon is None:
        missing |= dict.fromkeys(("odds", "posterior", "semantic", "conditional_error"), _EVERY) | {
            "averaged_after": _NOT_PURE
        }
        exceptions = _exceptions(guarantee, p)
        if len(exceptions) < len(ETAS):
            missing["outside"] = _SMALL_ETA
    elif epsilon < _LEAST:
        missing |= dict.fromkeys(
            ("averaged_after", "told_apart_after"), _TOO_MANY if epsilon else _NOTHING
        )
    log_bayes_factor = guarantee.renyi(1)
    if math.isinf(log_bayes_factor):
        missing["log_bayes_factor"] = _INFINITE
    advantage = guarantee.delta(0)
    conditional = None if epsilon is None else conditional_error(epsilon)
    is_countable = epsilon is None or epsilon >= _LEAST  # else answers are too many to count
    return Meaning(
        guarantee=guarantee,
        prior=p,
        odds=None if epsilon is None else odds_factor(epsilon),
        posterior=None if epsilon is None else posterior_bounds(epsilon, p),
        semantic=None if epsilon is None else semantic_bounds(epsilon, p),
        outside=exceptions,
        log_bayes_factor=None if math.isinf(log_bayes_factor) else log_bayes_factor,
        advantage=advantage,
        right_guess=right_guess(guarantee, p),
        total_error=max(chance(lambda: 1 - ball(Fraction(advantage)), "down"), conditional or 0.0),
        conditional_error=conditional,
        detection=tuple(Detection(a, _caught(guarantee, a)) for a in FALSE_POSITIVES),
        told_apart_after=told_apart_after(guarantee) if is_countable else None,
        averaged_after=averaged_after(epsilon) if is_countable and epsilon is not None else None,
        missing=MappingProxyType(missing),
    )


def conditional_error(epsilon: Number) -> float:
    """2/(1 + e^ε), rounded down: the least sum of type-I and type-II error given any event of
    positive probability. The event changes nothing: within it the likelihood ratios still span
    a factor of e^(2ε) at most, whatever their middle, and no such pair is further apart than
    randomized response.
    """
    e = check_epsilon(epsilon)
    return evaluate(lambda: 2 / (1 + ball(e).exp()), "down")


def _exceptions(guarantee: Guarantee, prior: Fraction) -> tuple[Outside, ...]:
    exceptions = []
    for eta in ETAS:
        try:
            exceptions.append(_outside(guarantee, prior, eta))
        except Refused:
            break
    return tuple(exceptions)


def _outside(guarantee: Guarantee, prior: Fraction, eta: Fraction) -> Outside:
    epsilon = epsilon_outside(guarantee, eta)
    return Outside(
        eta, epsilon, odds_factor(Fraction(epsilon)), posterior_bounds(Fraction(epsilon), prior)
    )


def _caught(guarantee: Guarantee, false_positive: Fraction) -> float:
    missed = Fraction(guarantee.tradeoff(false_positive))
    return chance(lambda: ball(1 - missed), "up")
