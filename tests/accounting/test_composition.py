"""Composition theorems in closed form: as stated, in the right order, and never below what composed
channels lose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.composition import advanced, advanced_renyi, advanced_renyi_loose, basic
from sfumato.accounting.optimal_composition import optimal, optimal_curve

from ..refusing import refusing
from .trees import product, response

Theorem = Callable[..., sf.Approx]
THEOREMS: tuple[Theorem, ...] = (advanced, advanced_renyi, advanced_renyi_loose)
GRID = [
    (e, k, d)
    for e in ("1e-6", "0.01", "0.3", "1", "50")
    for k in (1, 2, 100, 10_000)
    for d in ("1e-300", "1e-6", "0.3")
]


def epsilon(guarantee: sf.Guarantee) -> Fraction:
    value: Fraction = guarantee.parameters["epsilon"]
    return value


def test_basic_is_the_sum() -> None:
    assert basic([sf.Pure("0.1")] * 20) == sf.Pure(2)
    assert basic([sf.Approx("0.1", "1e-6")] * 20) == sf.Approx(2, "2e-5")
    assert basic(sf.GDP(1) for _ in range(4)) == sf.GDP(2)
    assert basic([sf.Pure(1, relation="replace"), sf.ZCDP("0.1")]) == sf.Pure(
        1, relation="replace"
    ) + sf.ZCDP("0.1")
    with refusing("composition.empty"):
        basic([])
    with refusing("guarantee.relation"):
        basic([sf.Pure(1, relation="replace"), sf.Pure(1, relation="add-remove")])


@pytest.mark.parametrize(("e", "k", "d"), GRID)
def test_formulas_are_rounded_up_and_no_further(e: str, k: int, d: str) -> None:
    x, log = float(e), math.log(1 / float(d))
    expected = {
        advanced: x * math.sqrt(2 * k * log) + k * x * math.expm1(x),
        advanced_renyi: k * x * x / 2 + x * math.sqrt(2 * k * log),
        advanced_renyi_loose: 1.5 * k * x * x + x * math.sqrt(6 * k * log),
    }
    for theorem, value in expected.items():
        total = theorem(e, k, d)
        assert float(epsilon(total)) == pytest.approx(value, rel=1e-13)
        assert total.parameters["delta"] == Fraction(d)


@pytest.mark.parametrize(("e", "k", "d"), GRID)
def test_none_undercuts_the_optimum(e: str, k: int, d: str) -> None:
    best = epsilon(optimal(e, k, delta=d))
    assert best <= Fraction(math.nextafter(float(k * Fraction(e)), math.inf))
    for theorem in THEOREMS:
        assert best <= epsilon(theorem(e, k, d))


@pytest.mark.parametrize("theorem", THEOREMS)
def test_composed_channels_keep_each_theorem(theorem: Theorem) -> None:
    for e in ("0.05", "0.5", "2"):
        for k in (1, 2, 5):
            joint = product([response(e)] * k)
            for d in ("0.001", "0.05", "0.3"):
                assert joint.delta(epsilon(theorem(e, k, d))) <= float(d)


def test_advanced_with_a_delta_in_each_step() -> None:
    total = advanced("0.1", 4, "0.05", step_delta="0.01")
    assert total.parameters["delta"] == Fraction("0.09")
    assert epsilon(total) == epsilon(advanced("0.1", 4, "0.05"))
    assert product([response("0.1", "0.01")] * 4).delta(epsilon(total)) <= 0.09
    assert optimal_curve([(sf.Approx("0.1", "0.01"), 4)]).delta(epsilon(total)) <= 0.09
    with refusing("guarantee.no-promise"):
        advanced("0.1", 100, "0.05", step_delta="0.01")


@pytest.mark.parametrize("theorem", THEOREMS)
def test_no_loss_composes_to_no_loss_and_nonsense_is_refused(theorem: Theorem) -> None:
    assert theorem(0, 10, "1e-6") == sf.Approx(0, "1e-6")
    for k in (0, -1, 2.0, True, "3"):
        with refusing("guarantee.count"):
            theorem("0.1", k, "1e-6")
    with refusing("number.not-a-probability"):
        theorem("0.1", 3, 0)
    with refusing("number.not-positive"):
        theorem("-0.1", 3, "1e-6")


@pytest.mark.parametrize("e", ["0.001", "0.01", "0.1", "0.5"])
def test_E_22_the_root_without_epsilon_says_nothing(e: str) -> None:
    """Printed as 3kε²/2 + √(6k·ln(1/δ)) it is, for small ε, above the k·ε that holds anyway; the
    right one undercuts that for ε = 0.01, k = 100, δ = 10⁻⁶.
    """
    k, d, x = 100, 1e-6, float(e)
    printed = 1.5 * k * x * x + math.sqrt(6 * k * math.log(1 / d))
    assert printed > k * x
    right = float(epsilon(advanced_renyi_loose(e, k, "1e-6")))
    assert printed - right == pytest.approx((1 - x) * math.sqrt(6 * k * math.log(1 / d)))
    assert e != "0.01" or right < k * x
