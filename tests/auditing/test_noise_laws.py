"""Windows of laws on all integers: masses are the law's own, they sum to 1, and the answers of a
threshold are those of its definition.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.canonical_outputs import read_outputs
from sfumato.auditing.noise_laws import DOUBT, above_threshold_law, noise_law_pair
from sfumato.errors import Refused

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


@pytest.mark.parametrize(("answers", "monotone"), [(1, False), (2, False), (1, True)])
def test_the_answers_of_a_threshold(answers: int, monotone: bool) -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, answers=answers, monotone=monotone)
    law = above_threshold_law(m, [0, 1, -1])
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    assert all(sum(sequence) <= answers for sequence in law)
    z = range(-150, 151)
    single = sum(
        float(m.threshold_law.pmf(t)) * float(m.query_law.tail(t)) for t in z
    )  # P(0 + Z₂ ≥ 0 + Z₁)
    assert above_threshold_law(m, [0])[(True,)] == pytest.approx(single, abs=1e-6)


def test_a_sensitivity_twice_too_small_is_refuted_by_the_law() -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1)
    first, second = above_threshold_law(m, [0, 0, 0]), above_threshold_law(m, [3, 3, -3])
    assert max(math.log(first[k] / second[k]) for k in first) > 1.2
    near = above_threshold_law(m, [1, 1, -1])
    assert max(abs(math.log(first[k] / near[k])) for k in first) <= 1


@pytest.mark.parametrize("epsilon", [100, 200, 300])
def test_little_noise_has_a_law(epsilon: int) -> None:
    laws = noise_law_pair(mech.Laplace(sensitivity=1, epsilon=epsilon).law, 0, 1)
    assert laws is not None
    assert laws.epsilon(0)[0] == pytest.approx(epsilon, rel=1e-12)
    assert laws.epsilon(0)[0] <= epsilon


@pytest.mark.parametrize("apart", [1000, 2**63])
def test_inputs_too_far_apart_for_doubles_have_none(apart: int) -> None:
    assert noise_law_pair(MECHANISMS[0].law, 0, apart) is None


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0, 0, 0], [1, 1, -1]),
        ([5] * 6, [4] * 6),
        ([-3, 40, -40], [-2, 39, -41]),
        ([200, 200, -200], [199, 199, -199]),
    ],
)
@pytest.mark.parametrize("epsilon", ["1/10", 1, 5])
def test_ratios_of_answers_are_within_the_doubt(epsilon: Any, x: list[int], y: list[int]) -> None:
    """Against sums of balls of 200 bits, over three times as many thresholds."""
    m = mech.AboveThreshold(sensitivity=1, epsilon=epsilon)
    result, exactly = [above_threshold_law(m, v) for v in (x, y)], [_in_balls(m, v) for v in (x, y)]
    for answers in result[0]:
        if not result[0][answers]:  # doubles end before such answers come
            assert exactly[0][answers] < 1e-300
            continue
        ratio = math.log(result[0][answers]) - math.log(result[1][answers])
        true = float((exactly[0][answers] / exactly[1][answers]).log())
        assert abs(ratio - true) <= DOUBT * max(1.0, abs(true))


@pytest.mark.parametrize("monotone", [False, True])
def test_answers_of_values_far_from_the_threshold_keep_the_promise(monotone: bool) -> None:
    """Rare answers come from levels as far out as the values. A sum that stops before them is
    accused of ε = 1.227 here.
    """
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, monotone=monotone)
    pairs = (
        [([200] * 3 + [-200], [199] * 3 + [-199]), ([400] * 3 + [-400], [399] * 3 + [-399])]
        if not monotone
        else [([-400] * 3, [-399] * 3)]
    )
    for x, y in pairs:
        r = sf.audit(m, x, y, exact=True)
        assert r.verdict == "holds"
        assert 0.49 < r.epsilon_lower <= 1
    with pytest.raises(Refused, match=r"audit\.exact"):
        sf.audit(m, [10**6], [10**6 + 1], exact=True)


def _in_balls(m: Any, values: list[int]) -> dict[Any, Any]:
    remaining = ctx.prec
    ctx.prec = 200
    try:
        line, query = (
            (-1 / (arb(law.scale.numerator) / law.scale.denominator)).exp()
            for law in (m.threshold_law, m.query_law)
        )

        def tail(z: int) -> arb:
            return query**z / (1 + query) if z >= 1 else 1 - query ** (1 - z) / (1 + query)

        far = int(150 * float(m.threshold_law.scale)) + 150 + max(map(abs, values))
        result: dict[Any, Any] = {}
        for t in range(-far, far + 1):
            left = (1 - line) / (1 + line) * line ** abs(t)
            for i, v in enumerate(values):
                yes = (*[False] * i, True)
                result[yes] = result.get(yes, arb(0)) + left * tail(t - v)
                left *= tail(v + 1 - t)
            never = (False,) * len(values)
            result[never] = result.get(never, arb(0)) + left
        return result
    finally:
        ctx.prec = remaining
