"""The Gaussian mechanism: the interface as written, every calibration to the safe side, and what it
promises.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, below, precision

from ..refusing import refusal

TRIFLE = Fraction(1, 10**12)


def phi(x: arb) -> arb:
    return (1 + (x / arb(2).sqrt()).erf()) / 2 if x > -1 else (-x / arb(2).sqrt()).erfc() / 2


def curve(mu: arb, epsilon: Fraction) -> arb:
    """δ(ε) between N(0, 1) and N(μ, 1), from P(X ≥ t) − e^ε·P(X + μ ≥ t) at the cut where the
    likelihoods are as 1 to e^ε.
    """
    cut = ball(epsilon) / mu + mu / 2
    return phi(mu - cut) - ball(epsilon).exp() * phi(-cut)


def exceeds(sigma: Fraction, k: int) -> arb:
    """P(|Z| > k) of the rounded normal law: both tails beyond k + ½."""
    return (ball((k + Fraction(1, 2)) / sigma) / arb(2).sqrt()).erfc()


def test_the_interface_as_written() -> None:
    m = mech.Gaussian(sensitivity=1, epsilon=1, delta=1e-6)
    assert isinstance(m.sigma, Fraction)
    assert float(m.sigma) == pytest.approx(4.224678889, abs=1e-9)
    assert isinstance(m.perturb(42), int)
    assert m.perturb(np.arange(10)).dtype == np.int64
    assert (
        mech.Gaussian(sensitivity=0.01, epsilon=1, delta=1e-6, grid=2**-20).perturb(0.37) * 2**20
    ).is_integer()
    assert mech.Gaussian(sensitivity=1, sigma=2).sigma == 2
    assert mech.Gaussian(sensitivity=2, renyi={8: 1}).sigma == 4
    assert mech.Gaussian(sensitivity=1, rho="1/2").sigma == 1
    assert mech.Gaussian(sensitivity=1, mu="1/3").sigma == 3
    assert mech.Gaussian(sensitivity=1, sigma=2).promise == sf.GDP("1/2")
    assert mech.Gaussian(sensitivity=1, sigma=2).promises == (sf.GDP("1/2"),)


@pytest.mark.parametrize(("order", "epsilon", "move"), [(10, "1/2", 1), ("3/2", 3, 5), (2, 1, 7)])
def test_S_014_the_variance_of_a_renyi_promise(
    order: str | int, epsilon: str | int, move: int
) -> None:
    """Example 3.2.1 of the thesis: σ² = αL²/(2ε), and no less keeps (α, ε)."""
    m = mech.Gaussian(sensitivity=move, renyi={order: epsilon})
    square = Fraction(order) * move**2 / (2 * Fraction(epsilon))
    assert square <= m.sigma**2 <= square * (1 + TRIFLE)
    assert m.promise <= sf.Renyi({order: epsilon})
    less = mech.Gaussian(sensitivity=move, sigma=m.sigma * 999 / 1000)
    assert not less.promise <= sf.Renyi({order: epsilon})


def test_the_tightest_order_of_a_curve_sets_the_noise() -> None:
    curve = sf.Renyi({2: 1, 8: 2, 32: 16})
    assert mech.Gaussian(sensitivity=1, renyi=curve).sigma ** 2 == pytest.approx(2)
    with pytest.raises(sf.Refused):
        mech.Gaussian(sensitivity=1, renyi=curve, rho=1)


@settings(max_examples=40)
@given(
    sensitivity=st.sampled_from([1, 2, 3, 7, 1000]),
    epsilon=st.fractions(Fraction(1, 1000), 50, max_denominator=1000),
    exponent=st.integers(1, 300),
)
def test_epsilon_and_delta_are_kept_and_no_noise_is_wasted(
    sensitivity: int, epsilon: Fraction, exponent: int
) -> None:
    delta = Fraction(1, 10**exponent)
    m = mech.Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    assert m.promise.delta(epsilon) <= delta
    assert m.promise.epsilon(delta) <= float(epsilon) * (1 + 2**-40)
    with precision(2000):
        assert not curve(ball(sensitivity / m.sigma), epsilon) > ball(delta)
        assert curve(ball(sensitivity / (m.sigma * (1 - TRIFLE))), epsilon) > ball(delta), (
            "a smaller σ would do"
        )


@pytest.mark.parametrize("rho", [Fraction(1, 2), "0.1", 1e-6, 3, "1/7", 12.5])
@pytest.mark.parametrize("sensitivity", [1, 2, "3/2", math.sqrt(20)])
def test_rho_is_kept_and_no_noise_is_wasted(rho: Any, sensitivity: Any) -> None:
    m = mech.Gaussian(sensitivity=sensitivity, rho=rho)
    requested = Fraction(str(rho))
    assert m.promise.to(sf.ZCDP).rho <= requested
    assert m.moves_squared / (2 * (m.sigma * (1 - TRIFLE)) ** 2) > requested


@pytest.mark.parametrize("mu", [Fraction(1, 3), "0.1", 1e-6, 3, "1.234567891234567891"])
@pytest.mark.parametrize("sensitivity", [1, 2, "3/2", math.sqrt(20)])
def test_mu_is_kept_and_no_noise_is_wasted(mu: Any, sensitivity: Any) -> None:
    m = mech.Gaussian(sensitivity=sensitivity, mu=mu)
    requested = Fraction(str(mu))
    assert m.promise.mu_squared <= requested**2
    assert m.moves_squared / (m.sigma * (1 - TRIFLE)) ** 2 > requested**2


@pytest.mark.parametrize("sigma", [Fraction(1, 3), "0.1", 2, 1000, "12345.678"])
def test_sigma_is_taken_as_it_is(sigma: Any) -> None:
    m = mech.Gaussian(sensitivity=2, sigma=sigma)
    assert m.sigma == Fraction(str(sigma))
    assert m.promise.mu_squared == 4 / m.sigma**2
    assert m.promise.mu == 2 / m.sigma


@pytest.mark.parametrize("grid", [None, Fraction(1, 4), Fraction(1, 2**12)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, "0.999"])
@pytest.mark.parametrize("error", [1, 25, 1000, "10.9"])
def test_a_target_error_is_met_and_not_undercut(
    error: Any, confidence: Any, grid: Fraction | None
) -> None:
    m = mech.Gaussian(sensitivity=1, error=error, confidence=confidence, grid=grid)
    assert m.error(confidence) <= Fraction(error)
    k = int(Fraction(error) if grid is None else Fraction(error) / grid - Fraction(1, 2))
    missing, sigma = 1 - Fraction(str(confidence)), m.law.sigma
    assert below(lambda: exceeds(sigma, k), lambda: ball(missing))
    assert below(lambda: ball(missing), lambda: exceeds(sigma * (1 + TRIFLE), k)), (
        "a wider law would do"
    )
    assert m.promise.mu_squared == m.moves_squared / m.sigma**2


@pytest.mark.parametrize("sigma", ["1/1000", "1/20", "1/2", 1, 10, 1000, 10**9, 10**15])
@pytest.mark.parametrize("confidence", [0, 0.5, 0.95, "0.999999999"])
def test_error_against_the_exact_law(sigma: Any, confidence: Any) -> None:
    m = mech.Gaussian(sensitivity=1, sigma=sigma)
    k, missing = m.error(confidence), 1 - Fraction(str(confidence))
    with precision(400):
        assert exceeds(m.sigma, k) < ball(missing)
        assert k == 0 or not exceeds(m.sigma, k - 1) < ball(missing)


@pytest.mark.parametrize("sigma", ["1/3", 1, 7, 1000])
def test_probability_against_the_exact_law(sigma: Any) -> None:
    m = mech.Gaussian(sensitivity=1, sigma=sigma)
    for z in (-40, -3, -1, 0, 1, 2, 50):
        with precision(6000):
            truth = phi(ball((abs(z) + Fraction(1, 2)) / m.sigma)) - phi(
                ball((abs(z) - Fraction(1, 2)) / m.sigma)
            )
            assert abs(arb(m.probability(z)) - truth) <= truth * arb(2) ** -53 + arb(2) ** -1075


@pytest.mark.parametrize(
    ("sensitivity", "grid", "size", "square"),
    [
        (1, None, None, Fraction(1)),
        (math.sqrt(2), None, None, Fraction(2)),  # above √2: no integers lie between
        (math.sqrt(3), None, None, Fraction(3)),  # below √3: √3 was meant
        ("1.7", None, None, Fraction(2)),  # nor between √2 and 1.7
        ("0.01", Fraction(1, 2**20), None, Fraction(10486, 2**20) ** 2),
        ("0.5", Fraction(1), None, Fraction(1)),
        (1, Fraction(1), 4, Fraction(4)),
        (2, Fraction(1), 4, Fraction(3 + 6 + 4)),
        ("1/2", Fraction(1, 4), 3, Fraction(3 + 6 + 3, 16)),
    ],
)
def test_the_sensitivity_that_is_covered(
    sensitivity: Any, grid: Fraction | None, size: int | None, square: Fraction
) -> None:
    m = mech.Gaussian(sensitivity=sensitivity, mu=1, grid=grid, size=size)
    assert m.moves_squared == square
    assert m.sigma**2 >= square
    assert m.sigma**2 <= square * (1 + Fraction(1, 2**51))
    assert m.promise.mu_squared == square / m.sigma**2
    assert m.law.sigma == m.sigma / (grid or 1)


@pytest.mark.parametrize("square", range(2, 200))
def test_a_root_written_as_a_double_never_covers_less(square: int) -> None:
    m = mech.Gaussian(sensitivity=math.sqrt(square), mu=1)
    assert m.moves_squared >= square
    assert m.moves_squared <= square * (1 + Fraction(1, 2**50))


CALIBRATIONS: list[dict[str, Any]] = [
    {"epsilon": 1, "delta": 1e-6},
    {"rho": 1},
    {"mu": 1},
    {"sigma": 1},
    {"error": 5},
]


@pytest.mark.parametrize(
    "arguments",
    [{}] + [a | b for i, a in enumerate(CALIBRATIONS) for b in CALIBRATIONS[:i]],
    ids=str,
)
def test_exactly_one_calibration(arguments: dict[str, Any], no_entropy: None) -> None:
    refused = refusal(lambda: mech.Gaussian(sensitivity=1, **arguments), "mechanism.calibration")
    assert "epsilon, rho, mu, sigma, error" in refused.reason


@pytest.mark.parametrize(
    "arguments",
    [{"epsilon": 1}, {"delta": 1e-6}] + [c | {"delta": 1e-6} for c in CALIBRATIONS[1:]],
    ids=str,
)
def test_epsilon_and_delta_go_together(arguments: dict[str, Any], no_entropy: None) -> None:
    refusal(lambda: mech.Gaussian(sensitivity=1, **arguments), "mechanism.calibration")


BAD = [
    (0, "number.not-positive"),
    (-1, "number.not-positive"),
    (math.nan, "number.not-finite"),
    (math.inf, "number.not-finite"),
    (1e-320, "number.subnormal"),
    ("1e309", "number.range"),
    (True, "number.type"),
    ("much", "number.text"),
]


@pytest.mark.parametrize("name", ["epsilon", "rho", "mu", "sigma"])
@pytest.mark.parametrize(("value", "code"), BAD, ids=repr)
def test_parameters_are_positive_numbers(
    name: str, value: Any, code: str, no_entropy: None
) -> None:
    arguments = {name: value} | ({"delta": 1e-6} if name == "epsilon" else {})
    refusal(lambda: mech.Gaussian(sensitivity=1, **arguments), code)


@pytest.mark.parametrize(
    ("delta", "code"),
    [
        (0, "number.not-a-probability"),
        (1, "number.not-a-probability"),
        (2, "number.not-a-probability"),
        (-1e-6, "number.not-a-probability"),
        (math.nan, "number.not-finite"),
        (math.inf, "number.not-finite"),
        (True, "number.type"),
        ("small", "number.text"),
    ],
    ids=repr,
)
def test_delta_is_a_probability(delta: Any, code: str, no_entropy: None) -> None:
    refusal(lambda: mech.Gaussian(sensitivity=1, epsilon=1, delta=delta), code)
    refusal(lambda: mech.classical_sigma(sensitivity=1, epsilon="1/2", delta=delta), code)


@pytest.mark.parametrize(
    "arguments",
    [
        {"rho": 1e-40},
        {"mu": 1e-20},
        {"sigma": 1e20},
        {"epsilon": 1e-20, "delta": 1e-30},
        {"error": 1e20},
    ],
    ids=str,
)
def test_more_noise_than_64_bits_hold(arguments: dict[str, Any], no_entropy: None) -> None:
    refusal(lambda: mech.Gaussian(sensitivity=1, **arguments), "noise.scale")


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 1e6, "delta": 1e-6},
        {"epsilon": 1e5, "delta": 0.5},
        {"epsilon": 1, "delta": "1e-300"},
    ],
    ids=str,
)
def test_far_out_on_the_curve_the_promise_is_kept(arguments: dict[str, Any]) -> None:
    m = mech.Gaussian(sensitivity=1, **arguments)
    with precision(8000):
        assert not curve(ball(1 / m.sigma), Fraction(arguments["epsilon"])) > ball(
            Fraction(str(arguments["delta"]))
        )


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 1e308, "delta": 1e-6},
        {"epsilon": 1e10, "delta": 0.5},
        {"epsilon": 1, "delta": "1e-320"},
    ],
    ids=str,
)
def test_beyond_what_anyone_would_call_a_promise(
    arguments: dict[str, Any], no_entropy: None
) -> None:
    with pytest.raises(sf.Refused):
        mech.Gaussian(sensitivity=1, **arguments)


def test_the_classical_formula_is_a_comparison_only() -> None:
    classical = mech.classical_sigma(sensitivity=1, epsilon=0.5, delta=1e-5)
    assert classical == pytest.approx(9.689610525, abs=1e-9)
    assert classical > mech.Gaussian(sensitivity=1, epsilon=0.5, delta=1e-5).sigma
    assert classical >= math.nextafter(math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.5, 0)
    for epsilon in (1, "1.0", 3, 10):
        refused = refusal(
            lambda epsilon=epsilon: mech.classical_sigma(
                sensitivity=1, epsilon=epsilon, delta=1e-5
            ),
            "mechanism.classical",
        )
        assert "Gaussian(" in refused.rewrite
    assert mech.classical_sigma(sensitivity=3, epsilon="0.999", delta=1e-5) == pytest.approx(
        3 / 0.999 * 4.844805262605389, rel=1e-12
    )
