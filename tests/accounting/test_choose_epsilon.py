"""An ε from an error or from a risk: on the right side, and no further than ten digits."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused


def one_digit_less(epsilon: float) -> Fraction:
    shown = Decimal(repr(epsilon))
    return Fraction(shown) - Fraction(10) ** (shown.adjusted() - 9)


@pytest.mark.parametrize("error", [1, 3, 25, 1000, "0.5", "12.7"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_the_error_is_kept_and_no_smaller_epsilon_keeps_it(error: Any, confidence: str) -> None:
    epsilon = sf.choose_epsilon(error=error, confidence=confidence)
    assert mech.Laplace(sensitivity=1, epsilon=epsilon).error(confidence) <= Fraction(error)
    assert mech.Laplace(
        sensitivity=1, epsilon=one_digit_less(epsilon) * (1 - Fraction(1, 10**9))
    ).error(confidence) > Fraction(error)


def test_the_example_of_the_documentation() -> None:
    assert sf.choose_epsilon(error=25, confidence=0.95) == 0.1174121593


@pytest.mark.parametrize("advantage", ["0.001", "0.05", "0.5", "0.99"])
def test_the_advantage_is_kept(advantage: str) -> None:
    epsilon = sf.choose_epsilon(advantage=advantage)
    assert sf.Pure(epsilon).delta(0) <= float(advantage)
    assert epsilon == pytest.approx(2 * math.atanh(float(advantage)), rel=1e-8)


@pytest.mark.parametrize(
    ("prior", "posterior"),
    [("0.5", "0.75"), ("0.01", "0.02"), ("0.9", "0.99"), ("0.5", "0.500001")],
)
def test_the_posterior_is_kept(prior: str, posterior: str) -> None:
    epsilon = sf.choose_epsilon(posterior=posterior, prior=prior)
    assert sf.Pure(epsilon).meaning(prior=prior).posterior.high <= float(posterior)
    assert sf.Pure(Fraction(epsilon) * Fraction(1_000_001, 1_000_000)).meaning(
        prior=prior
    ).posterior.high > float(posterior)


def test_the_text_of_the_float_is_what_is_promised() -> None:
    """A float enters as its shortest text, which has ten digits: nothing is lost on the way."""
    for epsilon in (
        sf.choose_epsilon(error=25),
        sf.choose_epsilon(advantage="0.1"),
        sf.choose_epsilon(posterior="0.6"),
    ):
        assert len(Decimal(repr(epsilon)).as_tuple().digits) <= 10


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "choose.one"),
        ({"error": 25, "advantage": 0.1}, "choose.one"),
        ({"posterior": 0.5}, "choose.posterior"),
        ({"posterior": 0.1, "prior": 0.2}, "choose.posterior"),
        ({"posterior": 0}, "number.not-a-probability"),
        ({"advantage": 0}, "number.not-a-probability"),
        ({"advantage": 1}, "number.not-a-probability"),
        ({"error": 0}, "number.not-positive"),
    ],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        sf.choose_epsilon(**arguments)
    assert caught.value.code == code
    if code == "choose.posterior":
        name, value = caught.value.rewrite.split("=")
        assert sf.choose_epsilon(**(arguments | {name: value})) > 0
