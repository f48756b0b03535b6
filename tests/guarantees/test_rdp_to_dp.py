"""From Rényi divergence to (ε, δ): the two formulas are inverse to each other and bound true
pairs.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.guarantees.rdp_to_dp import delta_at, epsilon_at, pinsker
from sfumato.noise.continuous import ContinuousLaplace, Normal

ORDERS = [Fraction(o) for o in ("1.01", "1.5", "2", "10", "100", "4096")]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("divergence", [Fraction(d) for d in ("1e-6", "0.1", "2")], ids=str)
def test_inverse_to_each_other(order: Fraction, divergence: Fraction) -> None:
    for delta in (Fraction(1, 10**3), Fraction(1, 10**12), Fraction(1, 10**300)):
        epsilon = epsilon_at(order, divergence, delta)
        if epsilon > 0:
            assert delta_at(order, divergence, Fraction(epsilon)) == pytest.approx(
                float(delta), rel=1e-9
            )


@pytest.mark.parametrize(
    "law",
    [Normal(sigma=1), Normal(sigma=5), ContinuousLaplace(scale=1), ContinuousLaplace(scale=20)],
    ids=repr,
)
def test_bounds_true_pairs(law: Normal | ContinuousLaplace) -> None:
    for order in ORDERS:
        divergence = Fraction(law.renyi(order, shift=1))
        for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(4)):
            assert law.delta(epsilon, shift=1) <= min(
                delta_at(order, divergence, epsilon), pinsker(divergence)
            )


def test_the_bound_is_not_vacuous() -> None:
    """Twin: half the divergence would not bound the Gaussian."""
    law, order = Normal(sigma=1), Fraction(10)
    epsilons = [Fraction(k, 4) for k in range(1, 40)]
    assert any(
        law.delta(e, shift=1) > delta_at(order, Fraction(law.renyi(order, shift=1)) / 2, e)
        for e in epsilons
    )
