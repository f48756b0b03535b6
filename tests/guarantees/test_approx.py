"""Approx: its curve and composition against randomized response that sometimes leaks, which attains
them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf

from .laws import delta_of_responses

CASES = [
    (Fraction(e), Fraction(d))
    for e, d in (("0.1", "1e-6"), ("1", "0.01"), ("1e-6", "0.3"), ("3", "1e-300"))
]


@pytest.mark.parametrize(("e", "d"), CASES, ids=str)
def test_curve_is_attained_by_the_leaking_response(e: Fraction, d: Fraction) -> None:
    for at in (Fraction(0), e / 2, e, 2 * e):
        true = delta_of_responses(e, 1, d, at)
        claimed = sf.Approx(e, d).delta(at)
        assert true <= claimed <= true * (1 + 1e-14)


@pytest.mark.parametrize(("e", "d"), CASES[:2], ids=str)
@pytest.mark.parametrize("k", [2, 20])
def test_k_fold_leaking_response_keeps_every_converted_promise(
    e: Fraction, d: Fraction, k: int
) -> None:
    for total in (
        k * sf.Approx(e, d),
        k * sf.Approx(e, d).to(sf.ZCDP),
        k * sf.Approx(e, d).to(sf.Renyi),
    ):
        for at in (Fraction(0), Fraction(1, 2), Fraction(2), k * e):
            assert delta_of_responses(e, k, d, at) <= total.delta(at)


def test_without_a_delta_it_is_that_of_the_guarantee() -> None:
    assert sf.Approx("0.5", "1e-6").epsilon() == 0.5 == sf.Approx("0.5", "1e-6").epsilon("1e-6")
    assert sf.Approx("0.5", 0).epsilon() == 0.5
    assert sf.Approx("0.3", "1e-6").epsilon(0) == float("inf")


def test_below_its_delta_nothing_follows() -> None:
    assert math.isinf(sf.Approx(1, "1e-6").epsilon("1e-7"))
    assert sf.Approx(1, "1e-6").epsilon("1e-6") == 1.0
    assert math.isinf(sf.Approx(1, "1e-6").renyi(2))
    assert sf.Approx(1, 0).renyi(2) == sf.Pure(1).renyi(2)


def test_delta_grows_in_groups() -> None:
    """E-63: δ·(e^kε − 1)/(e^ε − 1), not k·δ; and without ε it is k·δ."""
    family = sf.Approx("0.5", "1e-6").group(3)
    assert float(family.parameters["delta"]) == pytest.approx(5.367003099e-06, rel=1e-9)
    assert family.parameters["epsilon"] == Fraction(3, 2)
    assert sf.Approx(0, "1e-6").group(3) == sf.Approx(0, "3e-6")


def test_replace_from_add_remove() -> None:
    """B-23: (2ε, (1 + e^ε)·δ)."""
    replaced = sf.Approx(1, "1e-6", relation="add-remove").under("replace")
    assert replaced.relation == "replace"
    assert float(replaced.parameters["delta"]) == pytest.approx((1 + math.e) * 1e-6, rel=1e-14)


def test_poisson_sampling() -> None:
    sampled = sf.Approx(1, "1e-5").subsample("0.01")
    assert sampled.parameters["delta"] == Fraction(1, 10**7)
    assert float(sampled.parameters["epsilon"]) == pytest.approx(0.01703686324, rel=1e-9)


def test_of_two_promises_the_one_with_the_smaller_delta_and_then_epsilon_is_kept() -> None:
    small, large = sf.Approx(2, "1e-9"), sf.Approx(1, "1e-6")
    assert small._meet(large) == large._meet(small) == small
    assert large._meet(sf.Approx("0.5", "1e-6")) == sf.Approx("0.5", "1e-6")
