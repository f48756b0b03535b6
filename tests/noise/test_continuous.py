"""The continuous laws: their functions against rational arithmetic, their divergences against the
definition, and the integer laws on a fine grid.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from sfumato.errors import Refused
from sfumato.noise.continuous import ContinuousLaplace, Normal
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal

from . import rational
from .rational import Interval

BITS = 200
LAWS = {
    "laplace 1": ContinuousLaplace(scale=1),
    "laplace 22/7 at 5": ContinuousLaplace(scale="22/7", location=5),
    "laplace 1e-6": ContinuousLaplace(scale="1e-6"),
    "laplace 1e15": ContinuousLaplace(scale=1e15, location=-3),
    "normal 1": Normal(sigma=1),
    "normal 1/3 at 2": Normal(sigma="1/3", location=2),
    "normal 1e-6": Normal(sigma="1e-6"),
    "normal 1e15": Normal(sigma=1e15, location=-3),
}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
AT = [
    Fraction(text)
    for text in ["-30", "-5", "-1", "-1/7", "0", "1/1000", "2/3", "1", "3", "12", "37"]
]


def unit(law: ContinuousLaplace | Normal) -> Fraction:
    return law.scale if isinstance(law, ContinuousLaplace) else law.sigma


def tail(law: ContinuousLaplace | Normal, t: Fraction) -> Interval:
    """P((X − location)/unit ≥ t)."""
    if t < 0:
        mirrored = tail(law, -t)
        return 1 - mirrored[1], 1 - mirrored[0]
    return (
        rational.normal_tail(t, BITS)
        if isinstance(law, Normal)
        else tuple(end / 2 for end in rational.exp(-t, BITS))
    )


def density(law: ContinuousLaplace | Normal, t: Fraction) -> Interval:
    if isinstance(law, ContinuousLaplace):
        return tuple(end / 2 / law.scale for end in rational.exp(-abs(t), BITS))
    height, circle = rational.exp(-t * t / 2, BITS), rational.pi(BITS)
    return height[0] / rational.sqrt(2 * circle[1], BITS)[1] / law.sigma, height[1] / rational.sqrt(
        2 * circle[0], BITS
    )[0] / law.sigma


def assert_enclosed(value: Interval, ask: Any, *at: Any, **named: Any) -> None:
    down, nearest, up = (ask(*at, rounding=side, **named) for side in ("down", "nearest", "up"))
    assert Fraction(down) <= value[0]
    assert value[1] <= Fraction(up)
    assert down <= nearest <= up <= math.nextafter(math.nextafter(down, math.inf), math.inf), (
        "one step apart, or two around a double"
    )


@each_law
@pytest.mark.parametrize("t", AT, ids=str)
def test_functions(law: ContinuousLaplace | Normal, t: Fraction) -> None:
    x = law.location + t * unit(law)
    assert_enclosed(density(law, t), law.pdf, x)
    assert_enclosed(tail(law, t), law.tail, x)
    assert_enclosed(tail(law, -t), law.cdf, x)


@each_law
@pytest.mark.parametrize(
    "p",
    ["1e-300", "1e-9", "0.01", "0.3", "1/2", "2/3", "0.99", Fraction(1) - Fraction(1, 10**9)],
    ids=str,
)
def test_quantile(law: ContinuousLaplace | Normal, p: Any) -> None:
    """P(X ≤ x) = p lies between the two roundings of x."""
    level = Fraction(p)
    low, nearest, high = (law.quantile(p, rounding) for rounding in ("down", "nearest", "up"))
    assert low <= nearest <= high
    assert (
        tail(law, -(Fraction(low) - law.location) / unit(law))[0]
        <= level
        <= tail(law, -(Fraction(high) - law.location) / unit(law))[1]
    )
    assert high - low <= 4 * math.ulp(low)  # one step each way, and one more for their texts


@each_law
def test_variance(law: ContinuousLaplace | Normal) -> None:
    assert law.variance == {ContinuousLaplace: 2, Normal: 1}[type(law)] * unit(law) ** 2


def test_far_tails_stay_in_their_range() -> None:
    for law in (ContinuousLaplace(scale=1), Normal(sigma=1)):
        assert law.cdf(2000, "up") == 1.0
        assert law.cdf(2000, "down") == math.nextafter(1.0, 0.0)
        assert law.tail(2000, "down") == 0.0 < law.tail(2000, "up")


PAIRS = [
    (law, epsilon, shift)
    for law in (ContinuousLaplace(scale="3/2"), Normal(sigma="3/2"))
    for epsilon in ("0", "0.3", "1")
    for shift in ("0.7", "3", "-3")
]


@pytest.mark.parametrize(("law", "epsilon", "shift"), PAIRS, ids=str)
def test_delta_is_the_greatest_advantage(
    law: ContinuousLaplace | Normal, epsilon: str, shift: str
) -> None:
    """sup over t of P(X ≤ t) − e^ε·P(X + |shift| ≤ t): both losses fall with t, so that half-lines
    are the best events.
    """
    t = np.linspace(-9, 9, 1001)
    gain = [
        law.cdf(float(x)) - math.exp(float(epsilon)) * law.cdf(float(x) - abs(float(shift)))
        for x in t
    ]
    delta = law.delta(epsilon, shift=shift)
    assert max(gain) <= delta + 1e-15
    assert delta <= max(*gain, 0) + 1e-4
    assert law.delta(epsilon, shift=shift, rounding="down") <= delta


@pytest.mark.parametrize("law", [ContinuousLaplace(scale=2), Normal(sigma=2)], ids=str)
def test_delta_at_the_ends(law: ContinuousLaplace | Normal) -> None:
    assert law.delta(1, shift=0) == 0.0
    assert law.delta(0, shift="1e-300") > 0
    assert 0 < law.delta(0, shift=1000) <= 1


def test_delta_of_laplace_ends_at_the_loss() -> None:
    law = ContinuousLaplace(scale=2)
    assert law.delta("1/2", shift=1) == law.delta(3, shift=1) == 0.0
    assert law.delta(Fraction(1, 2) - Fraction(1, 10**30), shift=1) > 0


@pytest.mark.parametrize("law", [ContinuousLaplace(scale="3/2"), Normal(sigma="3/2")], ids=str)
@pytest.mark.parametrize("shift", ["0.7", "-3"])
@pytest.mark.parametrize("order", ["1/3", "1/2", "1", "1.5", "2", "7"])
def test_renyi_is_its_integral(law: ContinuousLaplace | Normal, shift: str, order: str) -> None:
    a, d = float(Fraction(order)), float(shift)

    def integrand(x: float) -> float:
        here, there = math.log(law.pdf(x)), math.log(law.pdf(x - d))
        return math.exp(here) * (here - there) if a == 1 else math.exp(a * here + (1 - a) * there)

    cuts = sorted([-45, 0, d, 45])  # where the densities have their corners
    total = sum(
        integrate.quad(integrand, *ends, epsabs=1e-12, epsrel=1e-10, limit=200)[0]
        for ends in itertools.pairwise(cuts)
    )
    expected = total if a == 1 else math.log(total) / (a - 1)
    assert law.renyi(order, shift=shift) == pytest.approx(expected, rel=1e-7)
    assert law.renyi(order, shift=shift, rounding="down") <= law.renyi(order, shift=shift)


@pytest.mark.parametrize("sigma", ["1/3", "2", "1000"])
@pytest.mark.parametrize("z", [-3, 0, 1, 700])
def test_rounded_normal_is_the_normal_at_half_integers(sigma: str, z: int) -> None:
    for rounding in ("down", "nearest", "up"):
        assert RoundedNormal(sigma=sigma).tail(z, rounding) == Normal(sigma=sigma).tail(
            z - Fraction(1, 2), rounding
        )


@pytest.mark.parametrize("x", ["0", "0.1", "1", "7", "-2"])
def test_geometric_tends_to_laplace(x: str) -> None:
    """On a grid of 2^-k the tails at the middle of a step differ by a relative (2^-k)²/8·(…): a
    quarter of it for each further bit.
    """
    law = ContinuousLaplace(scale=1)
    errors = []
    for k in (8, 9, 10):
        z = math.floor(Fraction(x) * (1 << k))
        at = Fraction(2 * z - 1, 2 << k)
        errors.append(abs(Geometric(scale=1 << k).tail(z) - law.tail(at)) / law.tail(at))
    assert errors[0] < 2.0**-16
    assert errors[1] == pytest.approx(errors[0] / 4, rel=0.1)
    assert errors[2] == pytest.approx(errors[1] / 4, rel=0.1)


def test_scale_or_rate() -> None:
    assert ContinuousLaplace(rate="1/3") == ContinuousLaplace(scale=3)
    for arguments in ({}, {"scale": 1, "rate": 1}):
        with pytest.raises(Refused) as caught:
            ContinuousLaplace(**arguments)
        assert caught.value.code == "noise.laplace"


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContinuousLaplace(scale=0),
        lambda: ContinuousLaplace(rate=0),
        lambda: ContinuousLaplace(rate=-1),
        lambda: Normal(sigma=-1),
        lambda: Normal(sigma=0),
    ],
)
def test_refused(make: Any) -> None:
    with pytest.raises(Refused) as caught:
        make()
    assert caught.value.code == "number.not-positive"


@pytest.mark.parametrize("law", [ContinuousLaplace, Normal])
def test_there_is_no_sampler(law: type) -> None:
    """Noise that leaves the package is an integer."""
    assert not {"draw", "sample", "rvs"} & set(dir(law))
