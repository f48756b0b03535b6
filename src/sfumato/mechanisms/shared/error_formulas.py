"""Textbook tail bounds for noise, in both directions; each rounded to the safe side, and none as
sharp as the exact law.

*Laplace*      P(|Y| ≥ t·b) = e^(−t); for k coordinates at once P(max|Y_i| ≥ b·ln(k/β)) ≤ β (union
               bound).
*Gaussian*     P(max|N_i| ≥ σ·√(2·ln(k/β))) ≤ β for k coordinates, as 2Φ(−x) ≤ e^(−x²/2).
*Chebyshev*    P(|Y| ≥ k·s) ≤ 1/k² for any law of standard deviation s: √2·k·b for Laplace, whose
               variance is 2b² and not b².
*Hoeffding*    P(|mean − expectation| ≥ √(ln(2/β)/(2n))) ≤ β for n independent numbers in [0, 1];
               randomized response takes it times its factor.
*Exponential*  P(best − chosen ≥ (2Δ/ε)·ln(m/(o·β))) ≤ β for m candidates, o of which are best
               (McSherry & Talwar 2007).
*Integers*     These are about real noise. The integer laws of this package satisfy them once the
               radius is rounded up to a whole number of steps, and not before:
               docs/proofs/accuracy.md. A mechanism's own `error(confidence, values=k)` is read off
               its exact law.
"""

from __future__ import annotations

from fractions import Fraction

from ...exact.balls import above, ball, chance, evaluate
from ...exact.numbers import Number, is_whole, non_negative, positive, probability
from . import mechanism_refusals as refusals


def for_each(confidence: Number, values: int) -> Fraction:
    """The confidence that each of k independent intervals needs for all of them to hold at once:
    confidence^(1/k), rounded up.
    """
    level, k = probability(confidence, "confidence", zero=False), _count(values, "values")
    return above(lambda: (ball(level).log() / k).exp())


def laplace_tail(t: Number) -> float:
    """P(|Y| ≥ t·b) = e^(−t), rounded up."""
    exponent = non_negative(t, "t")
    return chance(lambda: (-ball(exponent)).exp(), "up")


def laplace_radius(*, scale: Number, beta: Number, values: int = 1) -> float:
    """b·ln(k/β), rounded up: k coordinates of Laplace noise stay within it but for a chance of
    β.
    """
    b, missing, k = positive(scale, "scale"), _beta(beta), _count(values, "values")
    return evaluate(lambda: ball(b) * (ball(k / missing)).log(), "up")


def laplace_epsilon(*, sensitivity: Number, radius: Number, beta: Number, values: int = 1) -> float:
    """(Δ/α)·ln(k/β), rounded up: the ε at which the radius above is α."""
    delta = positive(sensitivity, "sensitivity")
    alpha = positive(radius, "radius")
    missing = _beta(beta)
    k = _count(values, "values")
    return evaluate(lambda: ball(delta / alpha) * ball(k / missing).log(), "up")


def gaussian_radius(*, sigma: Number, beta: Number, values: int = 1) -> float:
    """σ·√(2·ln(k/β)), rounded up: k coordinates of normal noise stay within it but for a chance of
    β.
    """
    s, missing, k = positive(sigma, "sigma"), _beta(beta), _count(values, "values")
    return evaluate(lambda: ball(s) * (2 * ball(k / missing).log()).sqrt(), "up")


def chebyshev_radius(*, variance: Number, times: Number) -> float:
    """k standard deviations, rounded up: exceeded with probability 1/k² at most, by any law of this
    variance.
    """
    v, k = positive(variance, "variance"), positive(times, "times")
    return evaluate(lambda: ball(k) * ball(v).sqrt(), "up")


def laplace_mean_variance(*, count: int, epsilon: Number) -> Fraction:
    """2/(n·ε)²: the variance of Laplace noise on the mean of n numbers in [0, 1], of which one is
    replaced.
    """
    return 2 / (_count(count, "count") * positive(epsilon, "epsilon")) ** 2


def squared_error(*, sensitivity: Number, epsilon: Number, values: int = 1) -> Fraction:
    """2·k·Δ²/ε² = E‖W‖²: the expected squared length of Laplace noise on k coordinates, for real
    noise; integers have a little less.
    """
    return (
        2
        * _count(values, "values")
        * (positive(sensitivity, "sensitivity") / positive(epsilon, "epsilon")) ** 2
    )


def hoeffding_radius(*, count: int, beta: Number) -> float:
    """√(ln(2/β)/(2n)), rounded up: how far the mean of n independent numbers in [0, 1] strays from
    its expectation, but for a chance of β.
    """
    n, missing = _count(count, "count"), _beta(beta)
    return evaluate(lambda: (ball(2 / missing).log() / (2 * n)).sqrt(), "up")


def exponential_tail(
    *, candidates: int, epsilon: Number, sensitivity: Number, regret: Number, best: int = 1
) -> float:
    """(m/o)·e^(−ε·t/(2Δ)), rounded up and at most 1: the chance that the exponential mechanism ends
    t or more below the best score.
    """
    share = _share(candidates, best)
    rate = positive(epsilon, "epsilon") / (2 * positive(sensitivity, "sensitivity"))
    t = non_negative(regret, "regret")
    return chance(lambda: ball(share) * (-ball(rate * t)).exp(), "up")


def exponential_radius(
    *, candidates: int, epsilon: Number, sensitivity: Number, beta: Number, best: int = 1
) -> float:
    """(2Δ/ε)·ln(m/(o·β)), rounded up: the regret that the exponential mechanism reaches with a
    chance of β at most.
    """
    share = _share(candidates, best)
    rate = positive(epsilon, "epsilon") / (2 * positive(sensitivity, "sensitivity"))
    missing = _beta(beta)
    return evaluate(lambda: ball(share / missing).log() / ball(rate), "up")


def _beta(beta: Number) -> Fraction:
    return probability(beta, "beta", zero=False)


def _share(candidates: int, best: int) -> Fraction:
    m, o = _count(candidates, "candidates"), _count(best, "best")
    if o > m:
        raise refusals.MORE_BEST_THAN_CANDIDATES(best=best, candidates=candidates)
    return Fraction(m, o)


def _count(value: int, name: str) -> int:
    if not is_whole(value, 1, 2**40):
        raise refusals.NOT_A_COUNT(name=name, value=value)
    return value
