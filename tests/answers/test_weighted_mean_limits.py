"""Rounding may put the exact quotient of a weighted mean beyond the bounds of the values. The
interval then still holds the bound, whenever the noise stays within its own bound.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.answers import Column
from sfumato.answers.intervals import interval
from sfumato.noise.weighted_sums import sum_bound

from .examples import counted, laplace, noisy

HIGH, CENTRE = 100, 50
EXACT, WEIGHTS = 100, 8  # the exact quotient from the centre, beyond 50; the sum of the weights
SCALE = 20


def test_the_interval_holds_the_bound() -> None:
    """If the set is cut to the bounds before its ends are taken, this fails."""
    noises = [(s, n) for s in range(0, 8000, 250) for n in range(-80, 81, 8)]
    values = np.array(noises, dtype=np.int64) + np.array([EXACT * WEIGHTS, WEIGHTS])
    top, bottom = laplace(SCALE * CENTRE), laplace(SCALE)
    answer = counted(
        values[:, 1].tolist(),
        mechanism=bottom,
        extra=(noisy("weighted", values[:, :1], Fraction(1), top),),
    )
    numbers = {"low": Fraction(0), "high": Fraction(HIGH), "centre": Fraction(CENTRE)}
    column = Column("m", "weighted_mean", (1, 0), "weighted", numbers)
    low, high = interval(answer, column)
    terms = ((top.law, Fraction(1), 1), (bottom.law, Fraction(EXACT), 1))
    most = sum_bound(terms, Fraction(1, 20))
    held = [abs(s - EXACT * n) <= most for s, n in noises]
    assert sum(held) > 100
    assert all(
        least <= HIGH <= largest
        for least, largest, holds in zip(low, high, held, strict=True)
        if holds
    )
