"""Published numbers about the laws of noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.exact.balls import ball, evaluate
from sfumato.exact.numbers import ceil_sqrt, power_of_two_at_least
from sfumato.mechanisms.shared import error_formulas
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.continuous import ContinuousLaplace
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal

from . import oracles

THEME = oracles.load("laws")


def s006(i: dict[str, Any]) -> dict[str, float]:
    law = ContinuousLaplace(scale=i["b"], location=i["mu"])
    return {
        "pdf": law.pdf(i["x"]),
        "cdf": law.cdf(i["x"]),
        "var": law.variance,
        "q975": law.quantile(0.975),
    }


def s008(i: dict[str, Any]) -> dict[str, float]:
    m = mech.Laplace(sensitivity=i["Delta"], epsilon=i["eps"])
    law = ContinuousLaplace(rate=1 / m.scale)
    return {
        "theta": 1 / m.scale,
        "scale": law.scale,
        "pdf0": law.pdf(0),
        "std": math.sqrt(law.variance),
    }


def s009(i: dict[str, Any]) -> dict[str, float]:
    """Norm, coin, rounding error (uniform over one step: what a rounded normal has beyond σ²), and
    the two sides of Jensen's inequality.
    """
    p, (low, high) = Bernoulli(p=i["p"]).probability(), i["jensen_points"]
    return {
        "norm2": ceil_sqrt(Fraction(sum(v * v for v in i["vector"]))),
        "bern_var": p * (1 - p),
        "unif_var": RoundedNormal(sigma=16).variance - 256,
        "E_ln": evaluate(lambda: (ball(low).log() + ball(high).log()) / 2),
        "ln_E": evaluate(lambda: ball(Fraction(low + high, 2)).log()),
    }


def b02(i: dict[str, Any]) -> dict[str, float]:
    law = Geometric(scale=i["t"])
    return {"pmf0": law.pmf(0), "pmf3": law.pmf(3), "var": law.variance, "tail10": 2 * law.tail(10)}


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-006": s006,
    "S-008": s008,
    "S-009": s009,
    "S-010": lambda i: [
        ContinuousLaplace(scale=i["b"]).delta(e, shift=i["shift"]) for e in i["eps"]
    ],
    "S-051": lambda i: math.sqrt(
        ContinuousLaplace(scale=mech.Laplace(sensitivity=1, epsilon=i["eps"]).scale).variance
    ),
    "B-02": b02,
    "B-04": lambda i: [power_of_two_at_least(Fraction(str(b))) for b in i["b"]],
    "E-60": lambda i: [
        math.sqrt(ContinuousLaplace(scale=i["parameter"]).variance),
        math.sqrt(ContinuousLaplace(rate=i["parameter"]).variance),
    ],
    "laplace_delta": lambda i: ContinuousLaplace(scale=i["scale"]).delta(i["eps"], shift=1),
    "discrete_laplace_pmf": lambda i: Geometric(scale=i["scale"]).pmf(i["z"]),
}


def test_S_009_the_inequalities_hold_for_the_laws_that_use_them() -> None:
    """Chebyshev's and Hoeffding's radii are exceeded no more often than they say, and Chebyshev's
    with a smaller factor would be.
    """
    for law in (ContinuousLaplace(scale=2), ContinuousLaplace(scale="1/3")):
        for times in ("3/2", 2, 5):
            radius = error_formulas.chebyshev_radius(variance=law.variance, times=times)
            assert 2 * law.tail(radius) <= 1 / Fraction(times) ** 2
    coin = Bernoulli(p=Fraction(1, 2))
    p = Fraction(coin.probability()).limit_denominator(10**9)
    sure = error_formulas.chebyshev_radius(variance=p * (1 - p), times=1)
    assert sure == Fraction(1, 2), "a fair coin is always one deviation from its mean"
    n, beta = 30, Fraction(1, 20)
    radius = error_formulas.hoeffding_radius(count=n, beta=beta)
    far = sum(math.comb(n, k) for k in range(n + 1) if abs(Fraction(k, n) - p) >= radius)
    near = sum(math.comb(n, k) for k in range(n + 1) if abs(Fraction(k, n) - p) >= radius * 2 / 3)
    assert Fraction(far, 2**n) <= beta
    assert Fraction(near, 2**n) > beta, "the twin: a third less is too little"


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME} | {oracle.name for oracle in THEME}


@pytest.mark.parametrize(("scale", "peak"), [(1, 0.5), (2, 0.25), (4, 0.125)])
@pytest.mark.parametrize("location", [0, -5, "1/2"])
def test_figure_2_1_densities_and_distribution_functions(
    scale: int, peak: float, location: Any
) -> None:
    """S-007 (thesis, Figure 2.1): both panels are determined by the height 1/(2b) of the peak and
    the median at μ.
    """
    law = ContinuousLaplace(scale=scale, location=location)
    centre = Fraction(location)
    assert law.pdf(location) == peak
    assert law.cdf(location) == 0.5
    for x in (Fraction(1, 10), Fraction(1), Fraction(7)):
        assert law.pdf(centre + x) == law.pdf(centre - x) < peak
        assert law.cdf(centre - x) == pytest.approx(1 - law.cdf(centre + x), abs=1e-15)
        assert law.cdf(centre + x) == pytest.approx(1 - math.exp(-x / scale) / 2, rel=1e-15)


def test_S_010_integers_attain_what_reals_do_not() -> None:
    """(ε, 0)-DP for real and for integer noise. Below ε the integer law at scale 1 loses more,
    0.4621 against 0.3935 at 0: the promise covers both.
    """
    promise = mech.Laplace(sensitivity=1, epsilon=1).promise
    row = next(oracle for oracle in THEME if oracle.id == "S-010")
    for e, real in zip(row.inputs["eps"], row.expected, strict=True):
        assert real <= promise.delta(e)
    assert promise.delta(0) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert promise.delta(1) == 0


def test_E_60_the_parameter_is_named() -> None:
    """A positional number could be the scale or the rate, a hundredfold error: it is not taken; nor
    are both, nor neither.
    """
    wrong, right = ContinuousLaplace(rate=10), ContinuousLaplace(scale=10)
    assert right.variance / wrong.variance == 10**4
    with pytest.raises(TypeError):
        ContinuousLaplace(10)  # type: ignore[misc]  # positional: refused
    with pytest.raises(TypeError):
        mech.Laplace(1, 10)  # type: ignore[misc]  # positional: refused
    for arguments in ({}, {"scale": 1, "rate": 1}):
        with pytest.raises(Refused) as caught:
            ContinuousLaplace(**arguments)
        assert caught.value.code == "noise.laplace"
