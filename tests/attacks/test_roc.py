"""The curve of a score, against comparing every pair."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attacks.lib.roc import roc


@pytest.mark.parametrize("seed", range(3))
def test_the_area_is_that_of_all_pairs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    inside, outside = (
        generator.integers(2, 9, 40).astype(float),
        generator.integers(0, 7, 50).astype(float),
    )
    pairs = [(success > two) + (success == two) / 2 for success in inside for two in outside]
    curve = roc(inside, outside)
    assert curve.area == pytest.approx(np.mean(pairs))
    assert curve.area == pytest.approx(np.trapezoid(curve.detected, curve.false_alarms))
    for threshold in range(10):
        alarms, result = (outside >= threshold).mean(), (inside >= threshold).mean()
        assert any(
            abs(a - alarms) < 1e-12 and abs(f - result) < 1e-12
            for a, f in zip(curve.false_alarms, curve.detected, strict=True)
        )


def test_the_ends() -> None:
    curve = roc(np.array([3.0, 4.0]), np.array([1.0, 2.0]))
    assert curve.area == 1
    assert (
        curve.false_alarms[0],
        curve.detected[0],
        curve.false_alarms[-1],
        curve.detected[-1],
    ) == (
        0,
        0,
        1,
        pytest.approx(1),
    )
    assert curve.at(np.array([0.0, 0.5, 1.0])).tolist() == [1, 1, 1]
