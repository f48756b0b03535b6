"""What a promise means: to somebody who holds a belief, to a detective, to a person who fears
something, to whoever asks again and again.

Every statement is a field of one record. Bounds are rounded outward: upper bounds on what can be
known up, lower bounds and an attacker's errors down. Where a notion does not allow a statement the
field is None, and `missing` says why; a number that only looks like an answer is never given.

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
from ..guarantee import Guarantee, known_epsilon
from ..loss_tail import outside, pure_epsilon
from ..random_dp import RandomDP
from .averaging_limits import averaged_after, told_apart_after
from .bayes import (
    Interval,
    bayes_factor_moment,
    known_prior,
    odds_factor,
    posterior_bounds,
    right_guess,
    semantic_bounds,
)
from .outcomes import outcome_bounds

ETAS = (Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**6))
FALSE_POSITIVES = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))

_RANDOM = (
    "random DP holds for most pairs drawn from a made-up distribution and says nothing about "
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
    """What holds outside an event of probability `eta`: the loss is at most `epsilon`, so the odds
    and the belief stay between these.
    """

    eta: Fraction
    epsilon: float
    odds: Interval
    posterior: Interval


class Detection(NamedTuple):
    """How many are found out at most, by a test that accuses so many of the innocent."""

    false_positive: Fraction
    true_positive: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A guarantee and a prior, and what follows from them."""

    guarantee: Guarantee
    prior: Fraction
    odds: Interval | None = None  # factors on the odds, whatever the answer
    posterior: Interval | None = None  # the belief afterwards, whatever the answer
    semantic: Interval | None = None  # the wider bounds e^±ε·prior
    outside: tuple[
        Outside, ...
    ] = ()  # the same outside rare events; empty where they hold for every answer
    log_bayes_factor: float | None = (
        # the mean of ln(posterior odds/prior odds) of the truth, never more; single answers may
        # exceed it
        None
    )
    advantage: float | None = (
        None  # an attacker's true-positive rate less the false-positive rate, never more
    )
    right_guess: float | None = (
        None  # the best chance to guess right, prior and answer taken together
    )
    total_error: float | None = None  # type-I plus type-II error of any test, never less
    conditional_error: float | None = None  # the same given any event that the attacker waits for
    detection: tuple[Detection, ...] = ()
    told_apart_after: int | None = (
        None  # answers that no longer exclude an attacker wrong 5 % of the time
    )
    averaged_after: int | None = (
        None  # Laplace answers to a count whose mean, rounded, is the count with 95 %
    )
    missing: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # field to the reason why it is empty

    def outcome(self, baseline: Number) -> Interval:
        """The chance of something that would have the chance `baseline` if one unit's data were
        otherwise, or were not there.
        """
        return outcome_bounds(self.guarantee, baseline)

    def bayes_factor_moment(self, order: Number) -> float:
        """The most that the mean of (posterior odds/prior odds)^(α − 1) of the truth can be;
        infinite where nothing of that order follows.
        """
        return bayes_factor_moment(self.guarantee, order)

    def outside_event(self, eta: Number) -> Outside:
        """What holds outside an event of any probability."""
        return _outside(self.guarantee, self.prior, probability(eta, "eta", zero=False))

    def tradeoff(self, alpha: Number) -> float:
        """The least type-II error at type-I error α: above this curve lie all tests there are."""
        return self.guarantee.tradeoff(alpha)

    def sentences(self) -> tuple[str, ...]:
        """The same in words, for whoever's data they are."""
        from .meaning_text import tell

        return tell(self)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def meaning(guarantee: Guarantee, prior: Number = Fraction(1, 2)) -> Meaning:
    """Everything that follows from a guarantee for somebody who gives a statement the chance
    `prior`.
    """
    p = known_prior(prior)
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
    asked = epsilon is None or epsilon >= _LEAST
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
        told_apart_after=told_apart_after(guarantee) if asked else None,
        averaged_after=averaged_after(epsilon) if asked and epsilon is not None else None,
        missing=MappingProxyType(missing),
    )


def conditional_error(epsilon: Number) -> float:
    """2/(1 + e^ε), rounded down: what type-I and type-II error come to at least, given any event of
    positive probability. The same as without the event: within it the likelihood ratios still span
    a factor of e^(2ε) at most, whatever their middle, and no such pair is further apart than
    randomized response.
    """
    e = known_epsilon(epsilon)
    return evaluate(lambda: 2 / (1 + ball(e).exp()), "down")


def _exceptions(guarantee: Guarantee, prior: Fraction) -> tuple[Outside, ...]:
    found = []
    for eta in ETAS:
        try:
            found.append(_outside(guarantee, prior, eta))
        except Refused:
            break
    return tuple(found)


def _outside(guarantee: Guarantee, prior: Fraction, eta: Fraction) -> Outside:
    epsilon = outside(guarantee, eta)
    return Outside(
        eta, epsilon, odds_factor(Fraction(epsilon)), posterior_bounds(Fraction(epsilon), prior)
    )


def _caught(guarantee: Guarantee, false_positive: Fraction) -> float:
    missed = Fraction(guarantee.tradeoff(false_positive))
    return chance(lambda: ball(1 - missed), "up")
