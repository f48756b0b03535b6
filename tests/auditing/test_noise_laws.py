"""Windows of laws on all integers: masses are the law's own, and they sum to 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.auditing.canonical_outputs import read_outputs
from sfumato.auditing.noise_laws import noise_law_pair

MECHANISMS: list[Any] = [
    mech.Laplace(sensitivity=1, epsilon=1),
    mech.Laplace(sensitivity=1, epsilon="1/10"),
    mech.Laplace(sensitivity=10**6, epsilon=1),
    mech.Gaussian(sensitivity=1, mu=1),
    mech.Gaussian(sensitivity=10**6, mu="1/10"),
    mech.DiscreteGaussian(sensitivity=1, rho="1/2"),
    mech.Staircase(sensitivity=50, epsilon=1),
]


@pytest.mark.parametrize(
    "m", MECHANISMS, ids=lambda m: f"{type(m).__name__}-{float(m.variance) ** 0.5:.0f}"
)
def test_masses_sum_to_one_and_are_the_law_s(m: Any) -> None:
    move = math.floor(m.sensitivity)
    laws = noise_law_pair(m.law, 5, 5 + move)
    assert laws is not None
    p, q = laws.masses()
    assert math.fsum(p) == pytest.approx(1, abs=1e-13)
    assert math.fsum(q) == pytest.approx(1, abs=1e-13)
    assert (p > 0).all()
    assert (q > 0).all()
    assert laws.cell is not None
    drawn = read_outputs(np.array([5, 6, 5 + move, 4]))
    for value, place in zip((5, 6, 5 + move, 4), laws.cell(drawn).tolist(), strict=True):
        if laws.names[place] == str(value):
            assert p[place] == pytest.approx(m.law.pmf(value - 5), rel=1e-12)
            assert q[place] == pytest.approx(m.law.pmf(value - 5 - move), rel=1e-12)


def test_cells_of_what_is_no_number() -> None:
    laws = noise_law_pair(MECHANISMS[0].law, 0, 1)
    assert laws is not None
    assert laws.cell is not None
    assert laws.cell(read_outputs(np.array([np.nan]))).tolist() == [len(laws.names)]
    assert laws.cell(read_outputs(["text"] * 2)).tolist()[0] in (
        len(laws.names),
        laws.cell(read_outputs(np.array([4.0]))).tolist()[0],
    )


@pytest.mark.parametrize("epsilon", [100, 200, 300])
def test_little_noise_has_a_law(epsilon: int) -> None:
    laws = noise_law_pair(mech.Laplace(sensitivity=1, epsilon=epsilon).law, 0, 1)
    assert laws is not None
    assert laws.epsilon(0)[0] == pytest.approx(epsilon, rel=1e-12)
    assert laws.epsilon(0)[0] <= epsilon


@pytest.mark.parametrize("apart", [1000, 2**63])
def test_inputs_too_far_apart_for_doubles_have_none(apart: int) -> None:
    assert noise_law_pair(MECHANISMS[0].law, 0, apart) is None
