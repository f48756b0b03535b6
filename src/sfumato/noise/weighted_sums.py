"""Bound a weighted sum of independent noises.

*Few*       The law of the sum itself: every term is rounded up to a multiple of a fine step, so the
            sum of the rounded ones is never below the true one; their laws are convolved.
            Probabilities are doubles, whose errors MARGIN covers. The result is less than one per
            cent above the exact bound; from 16 draws on the step is coarser, and with 128 draws
            the result is up to a quarter above.
*Very many* With few different weights, each of many draws, as in reconciled tables: `many_draws`.
*Many*      Of one law: the law's own bound (`linear_error`). Of several laws or weights: the sum
            of the bounds of each, which miss in equal parts.
*Always*    No worse than the union bound.
*Between*   Weights may be known only to lie between two ends. Then a positive draw counts with the
            larger weight and a negative one with the smaller: the sum is never below the true one.
*Proof*     docs/proofs/answer-intervals.md
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import power_of_two_at_least
from .geometric import Geometric
from .law import SummableLaw
from .many_draws import RoundingError, bound_many
from .rounded_normal import RoundedNormal


class Spread(Protocol):
    """The part of a noise law that intervals need: its variance and half-widths, in steps."""

    @property
    def variance(self) -> float: ...

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int: ...

    def __hash__(self) -> int: ...


Term = tuple[Spread, Fraction, int]
"""A law, the positive weight of its draws, and the number of draws."""

MARGIN = 2.0**-28
"""The assumed error of a tail probability from the convolution: 2^8 times the observed error."""

FEW, SEVERAL = 16, 128
_FINE = 200  # steps in a standard deviation, for each term


@dataclass(frozen=True, slots=True)
class SumLaw:
    """The law of a weighted sum of independent noises, in steps."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, draws: Iterable[tuple[Spread, Fraction]]) -> SumLaw:
        """Return the law of a sum of draws with weights; equal ones are counted together."""
        counts = Counter((law, abs(weight)) for law, weight in draws if weight)
        return cls(tuple((law, weight, count) for (law, weight), count in counts.items()))

    @property
    def variance(self) -> float:
        return sum(count * float(weight) ** 2 * law.variance for law, weight, count in self.terms)

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int:
        """Bound the sum with this confidence; several sums by the union bound."""
        return math.ceil(sum_bound(self.terms, (1 - confidence) / values))


def flatten(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Replace the law of a sum by its terms."""
    flat: list[Term] = []
    for law, weight, count in terms:
        inner = law.terms if isinstance(law, SumLaw) else ((law, Fraction(1), 1),)
        flat += [(each, weight * factor, count * often) for each, factor, often in inner]
    return tuple(flat)


def sum_bound(terms: tuple[Term, ...], missing: Fraction) -> Fraction:
    """Return a bound that |Σ weight·Z| exceeds with probability at most `missing`."""
    return _sum_bound(
        tuple((law, weight, weight, count) for law, weight, count in flatten(terms)), missing
    )


Between = tuple[Spread, Fraction, Fraction, int]
"""A law, the least and the largest weight of its draws, not negative, and the number of draws."""


@lru_cache(maxsize=4096)
def _sum_bound(terms: tuple[Between, ...], missing: Fraction) -> Fraction:
    noises = tuple(term for term in terms if not isinstance(term[0], RoundingError))
    if len(noises) < len(terms):
        roundings = (
            law.most * weight * count
            for law, _, weight, count in terms
            if isinstance(law, RoundingError)
        )
        return _sum_bound(noises, missing) + sum(roundings, Fraction(0))
    draws = sum(count for *_, count in terms)
    if not draws:
        return Fraction(0)
    bounds = [
        sum(
            (
                weight * count * law.half_width(1 - missing / draws)
                for law, _, weight, count in terms
            ),
            Fraction(0),
        )
    ]
    is_one = len(terms) == 1 and terms[0][1] == terms[0][2]
    if (
        (draws > 1 or not is_one)
        and draws <= (FEW if len(terms) == 1 else SEVERAL)
        and all(isinstance(law, SummableLaw) for law, *_ in terms)
        and missing / 2 > 8 * MARGIN
    ):
        bounds.append(_convolution_bound(terms, draws, missing / 2))
    elif draws > 1 and len(terms) == 1 and isinstance(law := terms[0][0], SummableLaw):
        _, _, weight, count = terms[0]
        bounds.append(weight * Fraction(law.linear_error(np.ones(count), missing)))
    if draws > FEW:
        smooth = [
            (law, weight, count)
            for law, _, weight, count in terms
            if isinstance(law, Geometric | RoundedNormal)
        ]
        if len(smooth) == len(terms) and (bound := bound_many(smooth, missing)) is not None:
            bounds.append(bound)
    if draws > FEW and len(terms) > 1:
        bounds.append(
            sum((_sum_bound((term,), missing / len(terms)) for term in terms), Fraction(0))
        )
    return min(bounds)


def bound_between(terms: Iterable[Between], missing: Fraction) -> Fraction:
    """Return a bound that |Σ weight·Z| exceeds with probability at most `missing`, for any one
    choice of weights between their ends.
    """
    counts: Counter[tuple[Spread, Fraction, Fraction]] = Counter()
    for law, least, most, count in terms:
        if most:
            counts[law, least, most] += count
    return _sum_bound(tuple((*term, count) for term, count in counts.items()), missing)


def _convolution_bound(terms: tuple[Between, ...], draws: int, missing: Fraction) -> Fraction:
    """Return the least multiple of the step that the sum of the rounded draws exceeds, on one side,
    with a probability below `missing`.
    """
    spread = math.sqrt(
        sum(count * float(weight) ** 2 * law.variance for law, _, weight, count in terms)
    )
    fine = _FINE * min(1.0, FEW / draws) ** 1.5
    step = power_of_two_at_least(Fraction(spread / fine) / draws)
    rare = missing / (draws << 20)
    laws: list[tuple[NDArray[np.float64], int]] = []
    last = 0
    for law, least, weight, count in terms:
        cells = (
            math.ceil(weight * law.half_width(1 - 2 * rare) / step) + 1
        )  # beyond them lies less than `rare` on each side
        laws.append((_law_rounded_up(law, least / step, weight / step, cells), count))
        last += count * cells
    size = 1 << (2 * last + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for rounded, count in laws:
        product *= np.fft.rfft(rounded, size) ** count
    tail = np.cumsum(np.fft.irfft(product, size)[2 * last :: -1])[
        ::-1
    ]  # tail[i] = P(sum ≥ i − last)
    enough = np.flatnonzero(tail < float(missing - draws * rare) - MARGIN)
    return step * max(int(enough[0]) - 1 - last, 0) if enough.size else step * last


def _law_rounded_up(
    law: Spread, least: Fraction, weight: Fraction, cells: int
) -> NDArray[np.float64]:
    """Return the law of ⌈weight·Z⌉ on −cells … cells, of negative draws with the weight `least`.
    The mass below moves up to −cells; the mass above is left out.
    """
    k = np.arange(-cells, cells + 1, dtype=np.float64)
    quotient = k / float(weight)
    if least < weight:
        quotient[:cells] = k[:cells] / float(least) if least else -np.inf
    z = (
        np.floor(quotient - np.abs(quotient) * 2.0**-40) + 1.0
    )  # ⌈weight·Z⌉ ≤ k if and only if Z < z; rounding z down moves the law up
    assert isinstance(law, SummableLaw)
    upper, lower = (law.rough_tails(np.maximum(end, 1.0)) for end in (z, 1.0 - z))
    below = np.where(z >= 1.0, 1.0 - upper, lower)  # P(Z < z)
    return np.diff(below, prepend=0.0)
