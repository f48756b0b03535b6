"""How far a guarantee lets an answer move a belief that is updated by Bayes' rule.

*Odds*        ε-DP: posterior odds ≤ e^ε · prior odds between neighbours, for every answer, and ≥
              e^−ε of them. (A bound without the prior odds, as it is sometimes printed, would
              forbid every belief.)
*Posterior*   so p/(p + (1 − p)·e^ε) ≤ P(φ | answer) ≤ p·e^ε/(1 − p + p·e^ε) for a statement φ about
              one unit that was given the chance p.
*Semantic*    e^−ε·p ≤ P(φ | answer) ≤ e^ε·p, which follows: two-sided, for a belief that falls from
              1 to 0.1 is as telling as one that rises.
*Provided*    that the believer holds the unit for independent of all others, or knows them all.
              Where rows hang together the bound fails: n copies of one bit move the odds by e^(nε),
              which is the promise about a group of n.
*Guess*       somebody who has to say whether φ is true is right with a chance of at most 1 − p +
              p·δ(ln((1 − p)/p)) for p ≤ ½, by any notion with a curve δ(ε).
*Factor*      E[B^(α − 1)] = e^((α − 1)·D_α) for the factor B = p(answer | truth)/p(answer | other)
              by which the odds on the truth grow, and E[ln B] = D₁: means over answers under the
              truth. No single answer need keep to them.

Dwork, McSherry, Nissim & Smith 2006; Kasiviswanathan & Smith 2014; Mironov 2017.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from ...exact.balls import Rounding, ball, chance, evaluate
from ...exact.numbers import Number, is_whole, probability
from .. import guarantee_refusals as refusals
from ..guarantee import Guarantee, check_epsilon, check_order


class Interval(NamedTuple):
    """An interval with ends rounded outward."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float | Fraction) and self.low <= value <= self.high


def check_prior(prior: Number) -> Fraction:
    """Check a prior belief that an answer can move: neither 0 nor 1."""
    return probability(prior, "prior", zero=False)


def odds_factor(epsilon: Number) -> Interval:
    """The factors between which every answer changes the odds: e^−ε and e^ε."""
    e = check_epsilon(epsilon)
    return Interval(evaluate(lambda: ball(-e).exp(), "down"), evaluate(lambda: ball(e).exp(), "up"))


def posterior_bounds(epsilon: Number, prior: Number) -> Interval:
    """The interval in which the posterior belief lies, whatever the answer."""
    e, p = check_epsilon(epsilon), check_prior(prior)
    return Interval(_posterior(-e, p, "down"), _posterior(e, p, "up"))


def semantic_bounds(epsilon: Number, prior: Number) -> Interval:
    """The simpler and wider bounds e^−ε·p and e^ε·p."""
    factor, p = check_epsilon(epsilon), check_prior(prior)
    return Interval(
        chance(lambda: ball(p) * ball(-factor).exp(), "down"),
        chance(lambda: ball(p) * ball(factor).exp(), "up"),
    )


def correlated_posterior(
    epsilon: Number, copies: int, prior: Number, *, rounding: Rounding = "nearest"
) -> float:
    """The posterior belief in a bit that `copies` people share, after their count with Laplace
    noise of scale 1/ε comes out at `copies` or more.

    To somebody who knows that they share the bit, this answer is e^(ε·copies) times as likely if
    all have it as if none has.
    """
    if not is_whole(copies):
        raise refusals.COPIES_BELOW_ONE(copies=copies)
    return _posterior(copies * check_epsilon(epsilon), check_prior(prior), rounding)


def right_guess(guarantee: Guarantee, prior: Number) -> float:
    """The best chance of a right guess, after the answer, about a statement whose prior chance is
    `prior`; rounded up.
    """
    p = min(check_prior(prior), 1 - check_prior(prior))
    away = (
        Fraction(max(0.0, evaluate(lambda: ball((1 - p) / p).log(), "down")))
        if p < Fraction(1, 2)
        else Fraction(0)
    )
    left = Fraction(guarantee.delta(away))
    return chance(lambda: ball(1 - p + p * left), "up")


def bayes_factor_moment(guarantee: Guarantee, order: Number) -> float:
    """An upper bound on the mean of B^(α − 1), rounded up; infinite if no Rényi bound of that order
    follows.
    """
    a = check_order(order)
    bound = guarantee.renyi(a)
    return (
        math.inf
        if math.isinf(bound)
        else evaluate(lambda: ball((a - 1) * Fraction(bound)).exp(), "up")
    )


def epsilon_of_posterior(prior: Number, posterior: Number, *, rounding: Rounding = "down") -> float:
    """The ε at which a belief of `prior` can just become `posterior`: the logarithm of the ratio of
    the odds.
    """
    p, q = check_prior(prior), probability(posterior, "posterior", zero=False)
    ratio = q * (1 - p) / (p * (1 - q))
    return evaluate(lambda: ball(ratio).log(), rounding)


def _posterior(loss: Fraction, prior: Fraction, rounding: Rounding) -> float:
    return chance(lambda: 1 / (1 + ball((1 - prior) / prior) * ball(-loss).exp()), rounding)
