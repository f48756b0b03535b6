"""The law of the loss of one local report among n shuffled ones.

*Pair*      Each of the n − 1 others is, with probability 2/(e^ε₀ + 1), a clone: as if drawn with
            even odds from what the first person would say in either case. With C clones, A ~ Bin(C,
            ½) of them on the one side, and the person's own report on the true side with odds e^ε₀,
            the shuffled reports are a processing of (A + X, C − A + 1 − X), X ~
            Bernoulli(e^ε₀/(e^ε₀ + 1)), against the same with 1 − X (Feldman, McMillan & Talwar
            2021).
*Loss*      With (a, b) the two counts, ln((t·a + (1 − t)·b)/((1 − t)·a + t·b)), t = e^ε₀/(e^ε₀ +
            1). It changes its sign with the sides: computed for a ≥ b, where log1p takes what is
            not negative and nothing cancels, and negated for the mirror image.
*Errors*    A double ε₀ is off by ε₀ units at most, so e^−ε₀ by about ε₀ + 8 of them, relatively:
            each step of a binomial law may err by that much. For ε₀ > 100 powers of e^(2ε₀) leave
            the doubles in composition: refused, as nothing is kept there anyway.
*Groups*    Having fewer clones dominates, as more can be added. Where C takes many values these are
            put into groups, and every value is taken for the least of its group in a law from
            above, for the largest in a law from below. A clone more or less moves ε by about 1/(2C)
            of itself. With groups of widths in proportion to m^(−1/8), m the chance of a value,
            rounding one way moves ε by about 1.9·σ/(C·G), G the number of groups and σ the standard
            deviation of C: G is chosen so that this is 2·10⁻⁵, and where C takes no more values
            than that there is one law.
*Left out*  Counts so far out that all of them together have less than 10⁻³⁶.
*Closed*    ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1)·(8·√(e^ε₀·ln(4/δ)/n) + 8·e^ε₀/n)) at δ, for ε₀ ≤
            ln(n/(16·ln(2/δ))) (the same, Theorem 3.1): several times larger.
*Counts*    n counts honest, delivered reports; the relation is replace.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from ...exact.balls import above, ball, evaluate
from ...exact.numbers import Number, positive, probability, text
from .. import accounting_refusals as refusals
from ..composition import count_of
from .loss_lattice import Integers
from .loss_laws import FUNCTION, UNIT, Atoms, Doubles, PointLaw

FARTHEST = 100
"""The largest ε of one report: losses of ε and −ε share a lattice, whose window multiplies powers
of e^(2ε) that must not overflow a double.
"""
_APART = 2e-5
"""The relative change of ε that rounding the number of clones may cause, roughly."""
_TINY = 1e-40


def clone_laws(epsilon: float, n: int) -> tuple[PointLaw, PointLaw]:
    """Return the laws of the clone pair, from below and above; the same law twice if no number of
    clones is rounded.
    """
    check_report_epsilon(epsilon)
    lie = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    # truth − lie, whose difference would cancel for small ε; so would 1 − 2·lie
    edge = -math.expm1(-epsilon) / (1.0 + math.exp(-epsilon))
    first, masses = binomial(n - 1, 2.0 * lie, odds=2.0 * lie / edge)
    starts = _groups(first, masses)
    chances = np.add.reduceat(masses, starts)
    above = _law(epsilon, (first + starts).tolist(), chances.tolist(), masses.size)
    if starts.size == masses.size:
        return above, above
    last = np.append(starts[1:], masses.size) - 1
    return _law(epsilon, (first + last).tolist(), chances.tolist(), masses.size), above


def _groups(first: int, masses: Doubles) -> Integers:
    """Group the numbers of clones from `first` on, which have these chances; return the starts."""
    numbers = first + np.arange(masses.size)
    mean = float(masses @ numbers)
    deviation = math.sqrt(float(masses @ (numbers - mean) ** 2))
    group_count = 1.9 * deviation / (mean * _APART) if mean > 0 else math.inf
    if group_count >= masses.size:
        return np.arange(masses.size)
    density = np.cumsum(masses**0.125)
    group = np.floor(density * (group_count / density[-1])).astype(np.int64)
    return np.flatnonzero(np.diff(group, prepend=-1))


def _law(epsilon: float, numbers: list[int], chances: list[float], values: int) -> PointLaw:
    """Return the law for these numbers of clones and their chances. Each chance is a sum of some of
    `values` binomial probabilities.
    """
    lie, truth = math.exp(-epsilon) / (1.0 + math.exp(-epsilon)), 1.0 / (1.0 + math.exp(-epsilon))
    edge = -math.expm1(-epsilon) / (1.0 + math.exp(-epsilon))
    loss, p, q = [], [], []
    for clones, chance in zip(numbers, chances, strict=True):
        low, half = binomial(clones, 0.5)
        a = np.arange(low, low + half.size + 1, dtype=np.float64)
        b = clones + 1 - a
        before, here = np.append(0.0, half), np.append(half, 0.0)
        p.append(chance * (truth * before + lie * here))
        q.append(chance * (lie * before + truth * here))
        more, less = np.maximum(a, b), np.minimum(a, b)
        loss.append(
            np.copysign(np.log1p(edge * (more - less) / (lie * more + truth * less)), a - b)
        )
    every = np.concatenate(loss)
    order = np.argsort(every, kind="stable")
    error = (16 + 2 * epsilon) * UNIT * (values + max(half.size for half in loss) + 64) + FUNCTION
    return PointLaw(
        Atoms(every[order], np.concatenate(p)[order], np.concatenate(q)[order]),
        error,
        32 * FUNCTION * (1 + epsilon),
        symmetric=True,
        unseen=1e-36,
    )


def check_report_epsilon(epsilon: float | Fraction) -> None:
    """Refuse an ε whose pair overflows a double."""
    if epsilon > FARTHEST:
        raise refusals.REPORT_EPSILON_TOO_LARGE(epsilon=text(Fraction(epsilon)), most=FARTHEST)


def binomial(n: int, chance: float, *, odds: float | None = None) -> tuple[int, Doubles]:
    """Return the binomial law around its mode: the first number, and the probabilities from there
    on, as long as they are at least 10⁻⁴⁰ of the largest.

    The code multiplies ratios of neighbours outward from the mode and divides by the sum: a few
    roundings per step. Pass `odds`, chance/(1 − chance), if it is known more precisely than the
    chance.
    """
    if n == 0 or chance <= 0.0:
        return 0, np.ones(1)
    mode = min(n, math.floor((n + 1) * chance))
    if odds is None:
        odds = chance / (1.0 - chance) if chance < 1.0 else math.inf
    if math.isinf(odds):
        return n, np.ones(1)
    far = math.ceil(16 * math.sqrt(n * chance * (1 - chance)) + 64)
    up = np.arange(mode, min(n, mode + far), dtype=np.float64)
    down = np.arange(mode, max(0, mode - far), -1, dtype=np.float64)
    above = np.cumprod((n - up) / (up + 1) * odds)
    below = np.cumprod(down / (n - down + 1) / odds)
    above, below = above[above >= _TINY], below[below >= _TINY]
    masses = np.concatenate((below[::-1], [1.0], above))
    return mode - below.size, masses / masses.sum()


def closed_form(epsilon: Number, n: int, delta: Number) -> Fraction:
    """Return the ε of the theorem in closed form, rounded up, for comparison: the pair itself gives
    a value several times smaller.
    """
    e = positive(epsilon, "epsilon")
    count = count_of(n, "n")
    d = probability(delta, "delta", zero=False)
    most = closed_form_limit(n, delta)
    if e > Fraction(most):
        raise refusals.EPSILON_ABOVE_CLOSED_FORM(epsilon=text(e), n=n, most=most)

    def formula() -> arb:
        growth = ball(e).exp()
        return (
            (growth - 1)
            / (growth + 1)
            * (8 * (growth * ball(4 / d).log() / count).sqrt() + 8 * growth / count)
        ).log1p()

    return above(formula)


def closed_form_limit(n: int, delta: Number) -> float:
    """Return the largest ε₀ of the theorem in closed form, rounded down; negative if none."""
    count, d = count_of(n, "n"), probability(delta, "delta", zero=False)
    return evaluate(lambda: (count / (16 * ball(2 / d).log())).log(), "down")
