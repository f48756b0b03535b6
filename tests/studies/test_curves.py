"""The released regression curve: its data, its sampled sensitivity, and the worst that can
happen.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.studies import curves


def test_data_are_seeded() -> None:
    assert np.array_equal(curves.data(100, 1, 0), curves.data(100, 1, 0))
    assert not np.array_equal(curves.data(100, 1, 0), curves.data(100, 1, 1))
    assert not np.array_equal(curves.plausible(100, 1, 0)(5), curves.plausible(100, 2, 0)(5))


def test_S_087_the_plan_is_the_packages_and_the_sensitivity_the_audits() -> None:
    """Sampled S around 0.095 for N = 100 (S-177, 10 %): the mean of six seeded samplers, the same
    at every run.
    """
    result = [curves.sampled(100, 1, repetition) for repetition in range(6)]
    assert {(s.m, s.k) for s in result} == {(500, 439)}
    assert np.mean([float(s.sup) for s in result]) == pytest.approx(0.095, rel=0.1)
    assert all(s.l1 < 8 * s.sup for s in result)  # instead of 26


def test_B_25_the_worst_move() -> None:
    assert curves.worst_move(100) == (
        pytest.approx(20.0),
        pytest.approx(72.66570686577501, abs=1e-5),
    )
    assert curves.worst_move(5000) == curves.worst_move(100)


def test_E_38_the_real_epsilon_of_the_audits_sensitivities() -> None:
    _, together = curves.worst_move(100)
    assert together / (26 * 0.0949359) == pytest.approx(29.439178218702143, rel=1e-4)
    assert together / (26 * 0.0019208) == pytest.approx(1455.0369010062916, rel=1e-4)


def test_one_run_has_every_way_and_its_scale() -> None:
    run = curves._run(100, 1, 0)
    assert set(run.target) == {(e, way) for e in (1, 3) for way in curves.WAYS}
    assert run.scale[1] == pytest.approx(
        26 * run.sensitivity, rel=1e-3
    )  # and the rounding to the grid
    assert run.scale[1] == pytest.approx(3 * run.scale[3], rel=1e-3)
    assert {len(run.target[e, way]) for e in (1, 3) for way in curves.WAYS} == {10, 3}
