"""Renyi: curves on a grid, what holds between its orders, conversion, groups."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees.renyi import ORDERS, subsampled_gaussian
from sfumato.noise.continuous import ContinuousLaplace, Normal


def test_between_the_orders_the_bound_still_holds() -> None:
    """For a true pair of laws: the chord of (α − 1)·D_α lies above it, and so does the next
    order.
    """
    law = ContinuousLaplace(scale=1)
    curve = sf.Renyi({a: Fraction(law.renyi(a, shift=1)) for a in (Fraction(3, 2), 4, 16)})
    for order in ("1", "1.2", "1.5", "2", "3", "5", "10", "15.9", "16"):
        assert law.renyi(order, shift=1) <= curve.renyi(order) <= law.renyi(16, shift=1)
    assert curve.renyi(10) < law.renyi(16, shift=1)
    assert math.isinf(curve.renyi(17))


def test_conversion_against_the_gaussian() -> None:
    """S-116: σ = 4, δ = 1e-5: never below the exact 0.9263, equal to the optimum over orders."""
    curve = sf.Renyi(lambda a: a / 32)
    assert sf.GDP("0.25").epsilon("1e-5") == pytest.approx(0.926341504, rel=1e-9)
    assert curve.epsilon("1e-5") == pytest.approx(
        1.012286638, rel=5e-4
    )  # the best order lies between two of the grid
    assert curve.epsilon("1e-5") >= 1.012286638
    assert sf.Renyi({16: "0.5"}).epsilon("1e-5") == pytest.approx(1.018150595, rel=1e-9)


def test_improved_conversion() -> None:
    """B-19."""
    assert sf.Renyi({20: "0.5"}).epsilon("1e-6") == pytest.approx(1.018168721, rel=1e-9)
    assert sf.Renyi({20: "0.5"}).epsilon("1e-6") < 0.5 + math.log(1e6) / 19


def test_group_order_shrinks() -> None:
    """S-110 and E-06: (α/2^c, 3^c·ε); the printed (α/2, 3^c·ε) fails for the Gaussian."""
    gaussian = sf.Renyi({16: 8})  # σ = 1, α = 16
    family = gaussian.group(8)
    assert family == sf.Renyi({2: 216})
    law = Normal(sigma=1)
    assert law.renyi(2, shift=8) <= family.renyi(2)
    assert law.renyi(8, shift=8) > 216  # what was printed
    assert gaussian.group(5) == family  # the next power of two
    with pytest.raises(Refused, match=r"guarantee\.group"):
        sf.Renyi({4: 1}).group(8)


def test_sums_need_a_common_order() -> None:
    assert sf.Renyi({2: 1, 3: 1}) + sf.Renyi({3: 1, 4: 1}) == sf.Renyi({3: 2})
    with pytest.raises(Refused, match=r"guarantee\.order"):
        sf.Renyi({2: 1}) + sf.Renyi({3: 1})


def test_composition_of_laplace_and_gaussian() -> None:
    """S-104: ten Gaussians with σ = 5 and five Laplace with b = 4, at order 8."""
    gaussian = sf.Renyi({8: Fraction(Normal(sigma=5).renyi(8, shift=1))})
    laplace = sf.Renyi({8: Fraction(ContinuousLaplace(scale=4).renyi(8, shift=1))})
    assert (10 * gaussian + 5 * laplace).renyi(8) == pytest.approx(2.415543215, rel=1e-9)


def test_a_zero_divergence_means_equal_laws() -> None:
    assert sf.Renyi({2: 0, 4: 1}).to(sf.Pure) == sf.Pure(0)
    assert sf.Renyi({2: 0}, "1e-6").to(sf.Approx) == sf.Approx(0, "1e-6")
    with pytest.raises(Refused):
        sf.Renyi({2: 1}).to(sf.ZCDP)


def test_grid_is_public_and_sorted() -> None:
    assert list(ORDERS) == sorted(set(ORDERS))
    assert min(ORDERS) > 1
    assert sf.Pure(1).to(sf.Renyi).orders == ORDERS


def test_of_two_curves_the_one_with_the_smaller_delta_is_kept() -> None:
    """Their better parts cannot be joined: each excludes an event of its own."""
    rare, often = sf.Renyi({2: 1}, "1e-9"), sf.Renyi({2: "0.5"}, "1e-6")
    assert rare._meet(often) == often._meet(rare) == rare


@pytest.mark.parametrize(("rate", "mu_squared"), [(0, 1), ("0.1", 0)])
def test_sampling_nobody_or_moving_nothing_costs_nothing_at_any_order(
    rate: str | int, mu_squared: int
) -> None:
    curve = subsampled_gaussian(Fraction(rate), Fraction(mu_squared)).curve
    assert set(curve.values()) == {0}
    assert set(curve) == set(subsampled_gaussian(Fraction(1, 10), Fraction(1)).curve)
