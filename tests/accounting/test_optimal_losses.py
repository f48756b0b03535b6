"""The law of the loss, against enumeration of all signs; and which plan is made when."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product as signs_of
from math import exp

import pytest

from sfumato.accounting import optimal_losses as module
from sfumato.accounting.optimal_losses import losses
from sfumato.exact.balls import precision

F = Fraction


def enumerated(groups: tuple[tuple[Fraction, int], ...]) -> dict[Fraction, float]:
    steps = [e for e, n in groups for _ in range(n)]
    masses: Counter[Fraction] = Counter()
    for signs in signs_of((1, -1), repeat=len(steps)):
        mass = 1.0
        for s, e in zip(signs, steps, strict=True):
            mass *= 1 / (1 + exp(-s * e))
        masses[sum(s * e for s, e in zip(signs, steps, strict=True))] += mass
    return {loss: masses[loss] for loss in sorted(masses, reverse=True) if loss > 0}


@pytest.mark.parametrize(
    ("groups", "dense"),
    [
        (((F(1, 10), 5),), None),
        (((F(1, 10), 3), (F(1, 5), 3), (F(3, 10), 2)), True),
        (((F(1, 10007), 1), (F(1, 9973), 2), (F(2), 1)), False),
        (((F(1, 3), 2), (F(50), 2)), None),
    ],
)
def test_the_law_is_that_of_all_signs(
    groups: tuple[tuple[Fraction, int], ...], dense: bool | None
) -> None:
    plan = losses(groups)
    assert plan.exact
    assert dense is None or plan.dense is dense
    with precision(128):
        masses = {loss: float(mass) for loss, mass in plan.positive() if float(mass) > 0}
    expected = enumerated(groups)
    assert list(masses) == list(expected)
    for loss, mass in expected.items():
        assert masses[loss] == pytest.approx(mass, rel=1e-12)


def test_the_split_keeps_the_chance_of_a_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """All four masses add up to 1, and those of the two lies to 1/(1 + e^ε): forgetting the split
    gives the response at ε.
    """
    with precision(128):
        for e, unit in ((F(1, 3), F(1, 4)), (F(1, 100), F(1, 4)), (F("49.9"), F(1, 2))):
            poly = module._split(e, int(e / unit), unit).coeffs()
            assert abs(sum(poly) - 1) < 1e-30
            lies = poly[-1] + poly[-2] if e > unit else poly[2] + poly[1] / 2
            assert abs(lies - module._lie(e)) < 1e-30
            assert all(mass >= 0 for mass in poly)


def test_plans() -> None:
    assert losses(()).exact
    assert losses(((F(1, 3), 10**5),)).exact  # equal steps, always
    assert losses(tuple((F(n, 100), 50) for n in range(1, 6))).dense
    many = tuple((F(1, 10) + F(1, 1000 + n) ** 3, 1) for n in range(30))
    plan = losses(many)
    assert not plan.exact
    assert plan.top / plan.unit <= module.POINTS + 30
    assert plan.top >= sum(e for e, _ in many)
