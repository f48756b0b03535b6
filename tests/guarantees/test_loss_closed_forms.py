"""Closed forms: against integrals, against fine quantisations, and against each other."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from sfumato.errors import Refused
from sfumato.guarantees.loss_closed_forms import (
    gaussian_loss,
    gaussian_renyi,
    gaussian_variance,
    laplace_loss,
    laplace_renyi,
    randomized_response_renyi,
    renyi_curves,
    renyi_table,
)

positives = st.fractions(F(1, 10), 5, max_denominator=20)


def integral(f: object, t: float) -> float:
    pieces = [(-60.0, 0.0), (0.0, t), (t, t + 60.0)]
    return sum(integrate.quad(f, a, b, epsabs=1e-13, epsrel=1e-12)[0] for a, b in pieces)


@pytest.mark.parametrize("order", ["0.3", "0.5", "0.7", "1.5", 2, 5, 20])
@pytest.mark.parametrize("t", [0.25, 1.0, 3.0])
def test_laplace_renyi_is_the_integral(order: str | int, t: float) -> None:
    a = float(order)
    value = integral(lambda x: 0.5 * math.exp(-a * abs(x) - (1 - a) * abs(x - t)), t)
    assert laplace_renyi(order, 1, t) == pytest.approx(math.log(value) / (a - 1), rel=1e-8)


@given(positives)
def test_laplace_renyi_is_continuous_in_the_order(t: F) -> None:
    tiny = F(1, 10**9)
    for order in (F(1, 2), F(1)):
        assert laplace_renyi(order - tiny, 1, t) == pytest.approx(
            laplace_renyi(order, 1, t), rel=1e-6
        )
        assert laplace_renyi(order + tiny, 1, t) == pytest.approx(
            laplace_renyi(order, 1, t), rel=1e-6
        )
    assert laplace_renyi(10**12, 1, t) == pytest.approx(laplace_renyi(math.inf, 1, t), rel=1e-6)


@given(positives, positives)
def test_laplace_loss(scale: F, sensitivity: F) -> None:
    loss = laplace_loss(scale, sensitivity)
    assert loss.largest == float(sensitivity / scale)
    assert loss.mean == pytest.approx(laplace_renyi(1, scale, sensitivity))
    assert loss.at_smallest == pytest.approx(0.5 * math.exp(-loss.largest))


@given(positives, positives)
def test_gaussian_loss(sigma: F, sensitivity: F) -> None:
    loss = gaussian_loss(sigma, sensitivity)
    assert loss.mean == (sensitivity / sigma) ** 2 / 2 == loss.variance / 2
    assert loss.tail(loss.mean) == 0.5
    assert loss.tail(1) == pytest.approx(
        stats.norm.sf(1, float(loss.mean), math.sqrt(loss.variance)), rel=1e-9
    )


def test_the_tail_of_the_gaussian_loss_is_not_its_delta() -> None:
    loss = gaussian_loss(1)
    delta = stats.norm.cdf(-0.5) - math.e * stats.norm.cdf(-1.5)
    assert delta < 0.13 < 0.3 < loss.tail(1)
    assert loss.tail(2) <= delta / -math.expm1(-1)


@given(
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
    st.lists(st.integers(-2, 2), min_size=6, max_size=6),
)
def test_gaussian_renyi_is_that_of_the_whitened_vector(d: list[int], entries: list[int]) -> None:
    """Σ = L·Lᵀ and d = L·w give |w|²·α/2."""
    a, b, c, x, y, z = entries
    L = [[abs(a) + 1, 0, 0], [x, abs(b) + 1, 0], [y, z, abs(c) + 1]]
    sigma = [[sum(L[i][k] * L[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    shift = [sum(L[i][k] * d[k] for k in range(3)) for i in range(3)]
    assert gaussian_renyi(3, shift, sigma) == 1.5 * sum(v * v for v in d)


@given(positives, positives, positives)
def test_the_variance_is_the_least(order: F, epsilon: F, sensitivity: F) -> None:
    variance = gaussian_variance(order, epsilon, sensitivity)
    assert gaussian_renyi(order, [sensitivity], [[variance]], rounding="nearest") == float(epsilon)


def test_no_curve_need_stay_below_one() -> None:
    """Said of the figure: always below 1. The Gaussian's line leaves every bound, and Laplace's
    limit is Δ/b.
    """
    orders = [2**k for k in range(1, 11)]
    curves = renyi_curves(orders, truth="0.6", scale="0.5", sigma=2)
    assert max(curves["Gaussian"]) == 128.0
    assert max(curves["Laplace"]) > 1.9
    assert all(a < b for curve in curves.values() for a, b in itertools.pairwise(curve))
    assert all(
        value <= randomized_response_renyi(math.inf, "0.6")
        for value in curves["randomized response"]
    )


def test_the_table_has_both_columns() -> None:
    response, laplace, gaussian = renyi_table(2, truth="3/4", scale=2, sigma=3)
    assert response.pure == pytest.approx(math.log(3))
    assert (laplace.pure, gaussian.pure) == (0.5, math.inf)
    assert gaussian_renyi(math.inf, [1], [[1]]) == math.inf
    assert gaussian_renyi(math.inf, [0], [[1]]) == 0.0
    assert response.renyi < response.pure
    assert laplace.renyi < laplace.pure


@pytest.mark.parametrize(
    "covariance",
    [[[1, 0]], [[1, 0], [0, 0]], [[1, 2], [2, 1]], [[1, 1], [0, 1]], [[-1, 0], [0, -1]], []],
)
def test_what_is_no_covariance(covariance: list[list[int]]) -> None:
    with pytest.raises(Refused) as caught:
        gaussian_renyi(2, [1, 1], covariance)
    assert caught.value.code == "divergence.covariance"
