"""B8, the wrong end of the bounds: a sensitivity from the lower bound alone is 0 for (0, 100), and
nothing is added to the answer.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf

from .tables import distance, table, tally

BOUNDS = [(0, 100), (-100, 0), (-100, 1), (-1, 100), (2, 100), (-100, -2), (-50, 50)]


def test_attack_B8_takes_no_noise_from_the_lower_end() -> None:
    low, _ = BOUNDS[0]
    assert low == 0


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_attack_B8_ours_is_the_farther_end(low: int, high: int, relation: str) -> None:
    declared = max(abs(low), abs(high)) if relation == "add-remove" else max(high, 0) - min(low, 0)
    with table({"x": [1.0]}, relation=relation) as protected:
        (noise,) = (
            protected.aggregate(s=sf.sum("x", low=low, high=high))
            .plan(epsilon=1)
            .calibration.noise[0]
        )
    assert noise.sensitivity >= declared
    assert noise.law.variance > 0
    for far in (low, high):
        first, second = (
            tally({"x": [1.0, float(far)]}, _ask(low, high), relation=relation),
            tally({"x": [1.0]}, _ask(low, high), relation=relation),
        )
        moved, made_for = distance(first, second)
        assert moved == abs(far)
        assert moved <= made_for == Fraction(declared)


def _ask(low: int, high: int) -> object:
    return lambda t: t.aggregate(s=sf.sum("x", low=low, high=high))
