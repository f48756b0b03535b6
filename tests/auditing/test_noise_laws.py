"""Windows of laws on all integers: masses are the law's own, they sum to 1, and the answers of a threshold are those of its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.auditing.noise_laws import above_threshold_law, noise
from sfumato.auditing.outputs import outputs

MECHANISMS: list[Any] = [
    mech.Laplace(sensitivity=1, epsilon=1),
    mech.Laplace(sensitivity=1, epsilon="1/10"),
    mech.Laplace(sensitivity=10**6, epsilon=1),
    mech.Gaussian(sensitivity=1, mu=1),
    mech.Gaussian(sensitivity=10**6, mu="1/10"),
    mech.DiscreteGaussian(sensitivity=1, rho="1/2"),
    mech.Staircase(sensitivity=50, epsilon=1),
]


@pytest.mark.parametrize("m", MECHANISMS, ids=lambda m: f"{type(m).__name__}-{float(m.variance) ** 0.5:.0f}")
def test_masses_sum_to_one_and_are_the_law_s(m: Any) -> None:
    move = math.floor(m.sensitivity)
    known = noise(m.law, 5, 5 + move)
    p, q = known.masses()
    assert math.fsum(p) == pytest.approx(1, abs=1e-13)
    assert math.fsum(q) == pytest.approx(1, abs=1e-13)
    assert (p > 0).all()
    assert (q > 0).all()
    assert known.cell is not None
    drawn = outputs(np.array([5, 6, 5 + move, 4]))
    for value, place in zip((5, 6, 5 + move, 4), known.cell(drawn).tolist(), strict=True):
        if known.names[place] == str(value):
            assert p[place] == pytest.approx(m.law.pmf(value - 5), rel=1e-12)
            assert q[place] == pytest.approx(m.law.pmf(value - 5 - move), rel=1e-12)


def test_cells_of_what_is_no_number() -> None:
    known = noise(MECHANISMS[0].law, 0, 1)
    assert known.cell is not None
    assert known.cell(outputs(np.array([np.nan]))).tolist() == [len(known.names)]
    assert known.cell(outputs(["text"] * 2)).tolist()[0] in (len(known.names), known.cell(outputs(np.array([4.0]))).tolist()[0])


@pytest.mark.parametrize(("answers", "monotone"), [(1, False), (2, False), (1, True)])
def test_the_answers_of_a_threshold(answers: int, monotone: bool) -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, answers=answers, monotone=monotone)
    law = above_threshold_law(m, [0, 1, -1])
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    assert all(sum(sequence) <= answers for sequence in law)
    z = range(-150, 151)
    single = sum(float(m.threshold_law.pmf(t)) * float(m.query_law.tail(t)) for t in z)  # P(0 + Z₂ ≥ 0 + Z₁)
    assert above_threshold_law(m, [0])[(True,)] == pytest.approx(single, abs=1e-6)


def test_a_sensitivity_twice_too_small_is_refuted_by_the_law() -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1)
    one, other = above_threshold_law(m, [0, 0, 0]), above_threshold_law(m, [3, 3, -3])
    assert max(math.log(one[k] / other[k]) for k in one) > 1.2
    near = above_threshold_law(m, [1, 1, -1])
    assert max(abs(math.log(one[k] / near[k])) for k in one) <= 1
