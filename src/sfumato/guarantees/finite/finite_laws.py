"""Exact laws on finitely many outcomes, and the likelihood ratios of two of them, which decide
every test between the two.

*Law*      Probabilities as exact rationals that sum to 1. Floats are read by their shortest text; a
           list of floats whose sum misses 1 by no more than 1e-9 is divided by its sum, exactly.
           Numbers that claim to be exact have to sum to 1 as they stand.
*Steps*    Outcomes of equal likelihood ratio p/q joined, the largest ratio first. By the lemma of
           Neyman & Pearson (1933) this list decides every test between two laws, and every
           divergence in this package is a sum over it. Where q = 0 the ratio is +∞ and the privacy
           loss ln(p/q) is +∞: that mass is exactly what no ε can bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb

from ...exact.balls import ball, below, precision
from ...exact.numbers import Number, exact, text
from .. import guarantee_refusals as refusals

Outcome = Any  # any hashable type: a mapping is invariant in its keys
Law = Iterable[Number] | Mapping[Outcome, Number]
"""A law as a user writes it: a list of probabilities, or a mapping from outcome to probability."""
Weights = tuple[Fraction, ...]

TOLERANCE = Fraction(1, 10**9)


class RatioStep(NamedTuple):
    """All outcomes of one likelihood ratio: their probability by either law, not both zero."""

    p: Fraction
    q: Fraction

    @property
    def infinite(self) -> bool:
        return self.q == 0

    @property
    def ratio(self) -> Fraction:
        return self.p / self.q


def weights(values: Iterable[Number], name: str = "law") -> Weights:
    """Check the probabilities of a law and return them, exact and of sum 1."""
    written = list(values)
    numbers = [exact(value, name) for value in written]
    if not numbers:
        raise refusals.LAW_EMPTY(law=name)
    negative = next((number for number in numbers if number < 0), None)
    if negative is not None:
        raise refusals.PROBABILITY_NEGATIVE(law=name, probability=text(negative))
    total = sum(numbers, Fraction(0))
    rounded = any(isinstance(value, float) or hasattr(value, "dtype") for value in written)
    if total != 1 and not (rounded and abs(total - 1) <= TOLERANCE):
        if not total:
            raise refusals.LAW_SUM_ZERO(law=name)
        raise refusals.LAW_SUM_NOT_ONE(law=name, total=text(total))
    return tuple(number / total for number in numbers)


def law(values: Law, outcomes: Sequence[Hashable] | None = None, name: str = "law") -> Weights:
    """Return the probabilities of a law; a mapping is read in the order of `outcomes`."""
    if not isinstance(values, Mapping):
        return _of_length(weights(values, name), outcomes, name)
    if outcomes is None:
        return weights(values.values(), name)
    if set(values) != set(outcomes):
        raise refusals.OUTCOMES_DIFFER(law=name)
    return weights((values[outcome] for outcome in outcomes), name)


def pair(P: Law, Q: Law) -> tuple[Weights, Weights]:
    """Return two laws on the same outcomes, in the same order."""
    if isinstance(P, Mapping) != isinstance(Q, Mapping):
        raise refusals.ONE_LAW_WITHOUT_NAMES()
    p = law(P, None, "P")
    return p, law(Q, list(P) if isinstance(P, Mapping) else range(len(p)), "Q")


def steps(p: Weights, q: Weights) -> tuple[RatioStep, ...]:
    """Join the outcomes of two laws by likelihood ratio p/q, +∞ first, 0 last. Outcomes of
    probability 0 under both laws are left out.
    """
    infinite = sum((a for a, b in zip(p, q, strict=True) if not b), Fraction(0))
    joined: dict[Fraction, RatioStep] = {}
    for a, b in zip(p, q, strict=True):
        if b:
            before = joined.get(a / b, RatioStep(Fraction(0), Fraction(0)))
            joined[a / b] = RatioStep(before.p + a, before.q + b)
    finite = tuple(joined[ratio] for ratio in sorted(joined, reverse=True))
    return (RatioStep(infinite, Fraction(0)), *finite) if infinite else finite


def exceeds(ratio: Fraction, exponent: Fraction) -> bool:
    """Whether ratio > e^exponent, decided for certain: no rational but e⁰ is a rational power of e,
    so there is no tie but at 1.
    """
    if exponent == 0 or ratio == 0:
        return ratio > 1
    if exponent > ratio.numerator.bit_length():  # e > 2, so the power is far above the ratio
        return False
    return -exponent > ratio.denominator.bit_length() or below(
        lambda: ball(exponent).exp(), lambda: ball(ratio)
    )


def rational(value: arb) -> Fraction:
    """The exact dyadic rational that a ball without radius is."""
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def exp_down(exponent: Fraction, bits: int) -> Fraction:
    """A rational at most e^exponent, and less than it by a few parts in 2^bits at most."""
    if exponent > 10_000:
        raise refusals.EPSILON_PROMISES_NOTHING(epsilon=text(exponent))
    with precision(bits):
        return rational(ball(exponent).exp().lower())


def _of_length(numbers: Weights, outcomes: Sequence[Hashable] | None, name: str) -> Weights:
    if outcomes is not None and len(numbers) != len(outcomes):
        raise refusals.NUMBERS_OF_OUTCOMES_DIFFER(
            law=name, found=len(numbers), outcomes=len(outcomes)
        )
    return numbers
