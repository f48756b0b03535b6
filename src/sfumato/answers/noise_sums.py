"""Bound a weighted sum of independent noises.

*Few*       The law of the sum itself: every term is rounded up to a multiple of a fine step, so the
            sum of the rounded ones is never below the true one; their laws are convolved.
            Probabilities are doubles, whose errors MARGIN covers. The result is less than one per
            cent above the exact bound.
*Many*      Of one law: the law's own bound (`linear_error`).
*Always*    No worse than the union bound.
*Proof*     docs/proofs/answer-intervals.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import power_of_two_at_least
from ..noise.law import SummableLaw
from .answer_records import Spread

Term = tuple[Spread, Fraction, int]
"""A law, the positive weight of its draws, and the number of draws."""

MARGIN = 2.0**-28
"""The assumed error of a tail probability from the convolution: 2^8 times the observed error."""

FEW = 16
_FINE = 200  # steps in a standard deviation, for each term


@lru_cache(maxsize=1024)
def sum_bound(terms: tuple[Term, ...], missing: Fraction) -> Fraction:
    """Return a bound that |Σ weight·Z| exceeds with probability at most `missing`."""
    draws = sum(count for *_, count in terms)
    bounds = (
        [
            sum(
                (
                    weight * count * law.half_width(1 - missing / draws)
                    for law, weight, count in terms
                ),
                Fraction(0),
            )
        ]
        if draws
        else [Fraction(0)]
    )
    if (
        1 < draws <= FEW
        and all(isinstance(law, SummableLaw) for law, *_ in terms)
        and missing / 2 > 8 * MARGIN
    ):
        bounds.append(_convolution_bound(terms, draws, missing / 2))
    elif draws > 1 and len(terms) == 1 and isinstance(law := terms[0][0], SummableLaw):
        _, weight, count = terms[0]
        bounds.append(weight * Fraction(law.linear_error(np.ones(count), missing)))
    return min(bounds)


def _convolution_bound(terms: tuple[Term, ...], draws: int, missing: Fraction) -> Fraction:
    """Return the least multiple of the step that the sum of the rounded draws exceeds, on one side,
    with a probability below `missing`.
    """
    spread = math.sqrt(
        sum(count * float(weight) ** 2 * law.variance for law, weight, count in terms)
    )
    step = power_of_two_at_least(Fraction(spread) / (_FINE * draws))
    rare = missing / (draws << 20)
    laws: list[tuple[NDArray[np.float64], int]] = []
    last = 0
    for law, weight, count in terms:
        cells = (
            math.ceil(weight * law.half_width(1 - 2 * rare) / step) + 1
        )  # beyond them lies less than `rare` on each side
        laws.append((_law_rounded_up(law, weight / step, cells), count))
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


def _law_rounded_up(law: Spread, weight: Fraction, cells: int) -> NDArray[np.float64]:
    """Return the law of ⌈weight·Z⌉ on −cells … cells. The mass below moves up to −cells; the mass
    above is left out.
    """
    k = np.arange(-cells, cells + 1, dtype=np.float64)
    quotient = k / float(weight)
    z = (
        np.floor(quotient - np.abs(quotient) * 2.0**-40) + 1.0
    )  # ⌈weight·Z⌉ ≤ k if and only if Z < z; rounding z down moves the law up
    assert isinstance(law, SummableLaw)
    upper, lower = (law.rough_tails(np.maximum(end, 1.0)) for end in (z, 1.0 - z))
    below = np.where(z >= 1.0, 1.0 - upper, lower)  # P(Z < z)
    return np.diff(below, prepend=0.0)
