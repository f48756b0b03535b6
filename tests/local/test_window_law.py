"""The law of a window: probabilities and moments by arithmetic, and a draw that follows them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.local.lib.dyadic_probability import ONE
from sfumato.local.numeric.window_law import (
    cell_chances,
    draw_cells,
    inside_probability,
    moments,
    sum_of_squares,
    window_odds,
)
from sfumato.testing import SeededBits

from .drawn import agrees, bent


@pytest.mark.parametrize(("steps", "window"), [(1, 1), (4, 2), (3, 7), (10, 1)])
def test_moments(steps: int, window: int) -> None:
    inside = inside_probability(Fraction(1), steps, window)
    a, b = cell_chances(inside, steps, window)
    assert a / b == window_odds(inside, steps, window)
    for place in range(steps + 1):
        law = [a if place <= cell < place + window else b for cell in range(steps + window)]
        assert sum(law) == 1
        mean = sum((p * cell for cell, p in enumerate(law)), Fraction(0))
        assert moments(inside, steps, window, place) == (
            mean,
            sum((p * cell**2 for cell, p in enumerate(law)), Fraction(0)) - mean**2,
        )


def test_sums_of_squares() -> None:
    assert [sum_of_squares(s, c) for s, c in ((0, 0), (0, 1), (0, 4), (3, 2), (5, 1))] == [
        0,
        0,
        14,
        25,
        25,
    ]


def test_draws_follow_the_law() -> None:
    """False alarm 1e-7, seeded; a law wrong by 10 % is caught."""
    from sfumato.local import Reports

    steps, window, place = 4, 3, 2
    inside = inside_probability(Fraction(1), steps, window)
    cells = draw_cells(np.full(200_000, place), inside, steps, window, SeededBits(3))
    a, b = cell_chances(inside, steps, window)
    law = {
        bytes([cell]): a if place <= cell < place + window else b for cell in range(steps + window)
    }
    reports = Reports(b"abc", cells.astype(np.uint8)[:, None])
    assert agrees(reports, law)
    assert not agrees(reports, bent(law))
    assert 0 < inside < ONE
