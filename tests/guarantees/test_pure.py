"""Pure: its curve, divergences and composition against randomized response, which attains them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf

from .laws import delta_of_responses, renyi_of_responses

EPSILONS = [Fraction(e) for e in ("1e-6", "0.1", "1/3", "1", "5", "50")]


@pytest.mark.parametrize("e", EPSILONS, ids=str)
def test_curve_is_attained_by_randomized_response(e: Fraction) -> None:
    for at in (Fraction(0), e / 3, e * 9 / 10, e, 2 * e):
        true = delta_of_responses(e, 1, Fraction(0), at)
        claimed = sf.Pure(e).delta(at)
        assert true <= claimed <= true * (1 + 1e-14) + 1e-320


@pytest.mark.parametrize("e", EPSILONS, ids=str)
@pytest.mark.parametrize("order", [Fraction(o) for o in ("1", "1.01", "2", "10", "1000")], ids=str)
def test_renyi_is_attained_by_randomized_response(e: Fraction, order: Fraction) -> None:
    true = renyi_of_responses(e, 1, order)
    assert true <= sf.Pure(e).renyi(order) <= true * (1 + 1e-14)
    assert sf.Pure(e).renyi(order) <= float(min(e, order * e * e / 2)) * (
        1 + 1e-14
    )  # the textbook bounds (E-23) are looser


@pytest.mark.parametrize("notion", [sf.ZCDP, sf.GDP, sf.Renyi], ids=lambda n: n.__name__)
@pytest.mark.parametrize(
    ("e", "k"),
    [(Fraction(1, 100), 500), (Fraction(1, 10), 30), (Fraction(1), 10), (Fraction(3), 3)],
    ids=str,
)
def test_k_fold_randomized_response_keeps_every_converted_promise(
    e: Fraction, k: int, notion: type
) -> None:
    """Conversion happens before adding: the composed pair never beats k times the converted
    guarantee.
    """
    total = k * sf.Pure(e).to(notion)
    for at in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3), k * e / 2):
        assert delta_of_responses(e, k, Fraction(0), at) <= total.delta(at)


def test_a_promise_5_percent_too_strong_is_caught() -> None:
    """The twin: 0.95·ε does not hold for randomized response, nor does 0.95² of its ρ."""
    e = Fraction(1)
    assert delta_of_responses(e, 1, Fraction(0), Fraction(1, 2)) > sf.Pure(e * 95 / 100).delta(
        Fraction(1, 2)
    )
    rho = sf.Pure(e).to(sf.ZCDP).rho * Fraction(9, 10)
    assert renyi_of_responses(e, 1, Fraction(1)) > sf.ZCDP(rho).renyi(1)


def test_epsilon_at_delta_by_the_curve() -> None:
    assert sf.Pure(1).epsilon(0) == 1.0
    assert sf.Pure(1).epsilon("0.1") == pytest.approx(
        math.log(math.e - 0.1 * (1 + math.e)), rel=1e-14
    )
    assert sf.Pure(1).epsilon("0.4622") == 0.0


def test_poisson_sampling_by_arithmetic() -> None:
    """Sampling at rate q before randomized response: the mixture pair has exactly the amplified
    ε.
    """
    e, q = 1.0, 0.01
    p, r = 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))
    assert float(sf.Pure(1).subsample("0.01").parameters["epsilon"]) == pytest.approx(
        math.log((q * p + (1 - q) * r) / r), rel=1e-14
    )
    assert sf.Pure(1).subsample("0.01").relation == "add-remove"
    assert sf.Pure(1).subsample(0) == sf.Pure(0, relation="add-remove")
    assert sf.Pure(1).subsample(1).parameters["epsilon"] >= 1


@pytest.mark.parametrize("k", [1, 2, 7])
def test_groups(k: int) -> None:
    assert sf.Pure("0.3").group(k) == sf.Pure(Fraction(3, 10) * k)


def test_of_two_promises_the_smaller_epsilon_is_kept() -> None:
    assert sf.Pure(1)._meet(sf.Pure(2)) == sf.Pure(2)._meet(sf.Pure(1)) == sf.Pure(1)
