"""The answers of a threshold: their law is that of the definition."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.mechanisms.stated.threshold_laws import DOUBT, answer_law


@pytest.mark.parametrize(("answers", "monotone"), [(1, False), (2, False), (1, True)])
def test_the_answers_of_a_threshold(answers: int, monotone: bool) -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, answers=answers, monotone=monotone)
    law = answer_law(m, [0, 1, -1])
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    assert all(sum(sequence) <= answers for sequence in law)
    z = range(-150, 151)
    single = sum(
        float(m.threshold_law.pmf(t)) * float(m.query_law.tail(t)) for t in z
    )  # P(0 + Z₂ ≥ 0 + Z₁)
    assert answer_law(m, [0])[(True,)] == pytest.approx(single, abs=1e-6)


def test_a_sensitivity_twice_too_small_is_refuted_by_the_law() -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1)
    first, second = answer_law(m, [0, 0, 0]), answer_law(m, [3, 3, -3])
    assert max(math.log(first[k] / second[k]) for k in first) > 1.2
    near = answer_law(m, [1, 1, -1])
    assert max(abs(math.log(first[k] / near[k])) for k in first) <= 1


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
    result, exactly = [answer_law(m, v) for v in (x, y)], [_in_balls(m, v) for v in (x, y)]
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
