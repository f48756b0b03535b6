"""Prefix sums: the exact sensitivity, sums without bias, the promise by arithmetic, and what
forgetting a factor would cost.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.mechanisms.prefix_sums import inverse_coefficients, root_coefficients
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 256
    yield
    ctx.prec = before


def central(j: int) -> Fraction:
    """C(2j, j)/4^j."""
    return Fraction(math.comb(2 * j, j), 4**j)


def column(m: Any, at: int) -> list[int]:
    """By how much y moves when the value at `at` moves by Δ: from the matrix."""
    r = root_coefficients(m.length, m.scale_bits)
    return [int(m.sensitivity) * r[t - at] if t >= at else 0 for t in range(m.length)]


@pytest.mark.parametrize("length", [1, 2, 3, 16, 100])
def test_coefficients(length: int) -> None:
    r = root_coefficients(length, 40)
    assert list(r) == [math.floor(central(j) * 2**40 + Fraction(1, 2)) for j in range(length)]
    exact = [
        Fraction(sum(central(j) * central(t - j) for j in range(t + 1)))
        for t in range(min(length, 16))
    ]
    assert exact == [1] * min(length, 16), "R·R is the matrix of prefix sums"


@pytest.mark.parametrize("length", [1, 2, 7, 64])
def test_the_post_processing_undoes_the_factor(length: int) -> None:
    """ℓ * r = 1 for each sum, to 2^-190."""
    r, series = root_coefficients(length, 28), inverse_coefficients(length, 28)
    for t in range(length):
        total = sum(series[j] * r[t - j] for j in range(t + 1))
        assert abs(Fraction(total, 1 << 228) - 1) < Fraction(length, 1 << 190)


CASES: dict[str, Any] = {
    "n=1": mech.PrefixSums(length=1, mu=1),
    "n=2": mech.PrefixSums(length=2, rho="1/2"),
    "n=10, Δ=3": mech.PrefixSums(length=10, sensitivity=3, mu="1/3"),
    "n=365": mech.PrefixSums(length=365, epsilon=1, delta=1e-6),
    "μ small": mech.PrefixSums(length=5, mu="1e-4"),
    "μ large": mech.PrefixSums(length=5, mu=1000),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sensitivity_is_that_of_the_longest_column(name: str) -> None:
    m = CASES[name]
    lengths = [sum(v * v for v in column(m, at)) for at in range(m.length)]
    assert max(lengths) == lengths[0] == m.moves_squared * 4**m.scale_bits
    assert m.promise.mu_squared == Fraction(max(lengths)) / (m.law.sigma**2)
    assert m.law.sigma == m.sigma * 2**m.scale_bits
    assert m.law.sigma > 2**19, "rounding the noise is far below it"


def test_what_was_asked_for() -> None:
    for m, mu_squared in (
        (CASES["n=1"], 1),
        (CASES["n=2"], 1),
        (CASES["n=10, Δ=3"], Fraction(1, 9)),
    ):
        assert mu_squared * (1 - Fraction(1, 2**50)) < m.promise.mu_squared <= mu_squared
    assert CASES["n=365"].promise.delta(1) <= 1e-6


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)])
def test_the_promise_by_arithmetic(share: Fraction) -> None:
    """One value: y moves by one number, and the divergence is P(Z ≤ t) − e^ε·P(Z ≤ t − s) at the
    best t, a real number away from the normal one.

    The twin takes Δ for the sensitivity of y where it is Δ·√(Σ r²): at n = 365, more than its δ is
    lost.
    """
    m = CASES["n=1"]
    (s,), sigma = column(m, 0), m.law.sigma
    cut = math.floor(Fraction(s, 2) - share * sigma**2 / s)

    def at_most(t: int) -> arb:
        return (-ball(Fraction(2 * t + 1, 2) / sigma) / arb(2).sqrt()).erfc() / 2

    truth = max(
        (at_most(t) - ball(share).exp() * at_most(t - s) for t in range(cut - 2, cut + 3)),
        key=float,
    )
    assert truth <= arb(m.promise.delta(share))
    assert truth > arb(m.promise.delta(share)) * arb("0.999999")
    long = CASES["n=365"]
    twin = sf.GDP.from_square(long.sensitivity**2 / long.sigma**2)
    truth = sf.GDP.from_square(Fraction(sum(v * v for v in column(long, 0))) / long.law.sigma**2)
    assert truth.delta(share) > twin.delta(share) * (1 if share else 0.9)
    assert truth.delta(1) > 100 * twin.delta(1)


def test_sums_without_bias() -> None:
    """At a noise of 10^-7 every sum is exact, up to 10^18 and down to −10^18."""
    m = mech.PrefixSums(length=50, mu=10**7)
    for values in (
        np.arange(50),
        np.full(50, 10**16),
        -np.arange(50) * 10**14,
        np.where(np.arange(50) % 2, 10**17, -(10**17)),
    ):
        assert m.perturb(values, bits=SeededBits(1)).tolist() == np.cumsum(values).tolist()
        stream = m.start(bits=SeededBits(2))
        assert [stream.add(int(v)) for v in values] == np.cumsum(values).tolist()


def test_the_noise_is_as_wide_as_stated() -> None:
    """The sample deviation of 4000 sums lies within 7 % of the stated one (false alarm 10^-9); the
    twin, noise on each value, has 8.
    """
    m = mech.PrefixSums(length=64, mu=1)
    last = np.array(
        [
            m.perturb(np.zeros(64, dtype=np.int64), bits=SeededBits(seed))[-1]
            for seed in range(4000)
        ],
        dtype=np.float64,
    )
    stated = math.sqrt(m.deviation() ** 2 + 1 / 12)
    assert abs(last.std() / stated - 1) < 0.07
    assert m.deviation() == pytest.approx(mech.square_root_factor(64), rel=1e-6)
    assert 8 / stated > 1.07
    assert [m.deviation(k) for k in (1, 10, 64)] == sorted(m.deviation(k) for k in (1, 10, 64))
    inside = np.mean(np.abs(last) <= m.error(0.95))
    assert inside > 0.95 - 6 * math.sqrt(0.05 * 0.95 / 4000)
    assert m.error(0.95) < 2.1 * m.deviation() + 1


def test_a_stream_and_an_array_have_one_law() -> None:
    """With the same noise on y they publish the same sums."""
    m = mech.PrefixSums(length=20, mu=1)

    class Fixed(type(m.law)):
        def draw(self, bits: Any = None) -> int:
            return 3 << 28

        def sample(self, shape: Any, bits: Any = None) -> Any:
            return np.full(shape, 3 << 28)

    object.__setattr__(m, "law", Fixed(sigma=m.law.sigma))
    stream = m.start()
    values = np.arange(20)
    assert [stream.add(v) for v in values] == m.perturb(values).tolist()
    assert repr(stream) == "RunningCount(20 of 20)"
    refusal(lambda: stream.add(1), "stream.over")


def test_the_interface() -> None:
    m = mech.PrefixSums(length=365, epsilon=1, delta=1e-6, relation="add-remove", unit="patient")
    assert repr(m).startswith("PrefixSums(length=365, sensitivity=1, sigma=7.2488")
    assert m.promise.relation == "add-remove"
    stream = m.start()
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        refusal(lambda call=call: call(stream), "stream.copy")
    refusal(lambda: stream.add(0.5), "value.type")
    refusal(lambda: m.perturb([1, 2], bits=Untouchable()), "mechanism.size")
    refusal(lambda: m.perturb([0.5] * 365, bits=Untouchable()), "value.type")
    refusal(lambda: m.perturb(np.zeros((365, 1), dtype=int), bits=Untouchable()), "value.type")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"length": 0, "mu": 1}, "stream.length"),
        ({"length": 2**16 + 1, "mu": 1}, "stream.length"),
        ({"length": True, "mu": 1}, "stream.length"),
        ({"length": 5}, "mechanism.calibration"),
        ({"length": 5, "mu": 1, "rho": 1}, "mechanism.calibration"),
        ({"length": 5, "epsilon": 1}, "mechanism.calibration"),
        ({"length": 5, "mu": 1, "delta": 1e-6}, "mechanism.calibration"),
        ({"length": 5, "mu": "1e-12"}, "noise.scale"),
        ({"length": 5, "mu": 0}, "number.not-positive"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(lambda: mech.PrefixSums(**arguments), code)
