"""ZCDP: its conversion to (ε, δ) against the Gaussian, for which the truth is known, and against
published numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.noise.continuous import Normal


@pytest.mark.parametrize("rho", [Fraction(r) for r in ("1e-6", "0.01", "0.5", "5")], ids=str)
def test_curve_is_never_below_that_of_the_gaussian(rho: Fraction) -> None:
    gaussian = sf.GDP.from_square(2 * rho)
    for e in ("0", "0.001", "0.1", "1", "5", "20"):
        assert gaussian.delta(e) <= sf.ZCDP(rho).delta(e)
    assert sf.ZCDP(rho).delta(0) <= math.sqrt(rho / 2) * (1 + 1e-14)  # Pinsker


def test_published_conversions() -> None:
    assert sf.ZCDP("0.5").epsilon("1e-6") == pytest.approx(5.221534445, rel=1e-9)
    assert sf.ZCDP(1).epsilon("1e-9") == pytest.approx(9.521463671792233, rel=1e-9)
    standard = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))  # Bun & Steinke's closed form is looser
    assert sf.ZCDP("0.5").epsilon("1e-6") < standard


def test_no_order_does_better_than_the_one_found() -> None:
    rho, e = 0.1, 1.0
    delta = sf.ZCDP("0.1").delta(1)
    orders = [1 + k / 50 for k in range(1, 2000)]
    tried = min(
        math.exp((a - 1) * (a * rho - e) + a * math.log1p(-1 / a)) / (a - 1) for a in orders
    )
    assert delta <= tried * (1 + 1e-12)


def test_added_delta() -> None:
    a = sf.ZCDP("0.1", "1e-6")
    assert math.isinf(a.epsilon("1e-6"))
    assert math.isinf(a.renyi(2))
    assert a.delta(1) == pytest.approx(1e-6 + (1 - 1e-6) * sf.ZCDP("0.1").delta(1), rel=1e-12)
    assert 2 * a == sf.ZCDP("0.2", "2e-6")
    with pytest.raises(Refused, match=r"guarantee\.group"):
        a.group(2)


def test_nothing_beside_delta_is_epsilon_zero_at_it() -> None:
    """0.4 is no double: its curve is rounded up, past it, at every ε."""
    assert sf.ZCDP(0, "0.4").epsilon("0.4") == 0
    assert sf.ZCDP(0, "0.4").epsilon("0.39") == math.inf


def test_relation_and_groups() -> None:
    """B-23: replacing is two steps, so ρ becomes 4ρ."""
    assert sf.ZCDP("0.1", relation="add-remove").under("replace") == sf.ZCDP(
        "0.4", relation="replace"
    )
    assert sf.ZCDP("0.1").group(3) == sf.ZCDP("0.9")


def test_is_not_amplified_by_sampling() -> None:
    with pytest.raises(Refused, match=r"guarantee\.subsample"):
        sf.ZCDP("0.1").subsample("0.01")


def test_renyi_is_that_of_the_gaussian() -> None:
    assert sf.ZCDP("0.125").renyi(8) == Normal(sigma=2).renyi(8, shift=1) == 1.0
