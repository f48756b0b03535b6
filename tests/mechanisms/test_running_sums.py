"""Running sums: the exact norm of a change against dense matrices, sums without bias over several
stretches, the stated deviations, and what forgetting a factor would cost.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.mechanisms.series import running_sums
from sfumato.mechanisms.series.running_sums import FIRST_STRETCH, RunningSums
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

SHAPES: dict[str, dict[str, Any]] = {
    "no end": {},
    "ten periods": {"length": 10},
    "windows of 3": {"window": 3},
    "separate": {"window": 1},
}

WEIGHTS = [(16777216, 8379440, 6277730, 5225756), (16777216, 8388572, 6291402, 5242813)]
DIGEST = "739837f79d8c0921"


def weights_of(m: RunningSums, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The matrix R of the first stretch, in units of the summed integers."""
    root = m.stretch(0).root
    r = np.array([*root.weights[:count], *[0] * max(0, count - root.count)], dtype=float)
    return np.array([[r[t - p] if t >= p else 0.0 for p in range(count)] for t in range(count)]) / (
        1 << root.bits
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("periods", [1, 2, 3])
def test_no_change_of_the_stream_goes_farther_than_promised(
    shape: dict[str, Any], periods: int
) -> None:
    """Any periods, any signs and sizes: the squared distance over the variance is at most μ². The
    twin, noise for one period, promises too little.
    """
    m = RunningSums(periods=periods, sensitivity=3, mu_squared="1/4", **shape)
    count = 10
    matrix, sigma = weights_of(m, count), float(m.stretch(0).sigma)
    farthest = max(
        float((matrix[:, list(places)] @ np.array(signs) * 3).__pow__(2).sum()) / sigma**2
        for size in range(1, periods + 1)
        for places in itertools.combinations(range(count), size)
        for signs in itertools.product((1, -1), repeat=size)
    )
    assert farthest <= 0.25 * (1 + 1e-12)
    if "window" in shape or (periods == 1 and "length" in shape):
        assert farthest >= 0.25 * (1 - 1e-9), "attained, once the weights have run out"
    if periods > 1:
        narrow = float(RunningSums(sensitivity=3, mu_squared="1/4", **shape).stretch(0).sigma)
        assert farthest * sigma**2 / narrow**2 > 0.25 * 1.5


def test_every_stretch_keeps_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise holds for changes on both sides of an end, and the totals go on without bias."""
    monkeypatch.setattr(running_sums, "FIRST_STRETCH", 6)
    monkeypatch.setattr(running_sums, "STRETCH", 9)
    running_sums._stretch.cache_clear()
    try:
        m = RunningSums(periods=3, mu_squared=2)
        stretches = m.stretches(1, 30)
        assert [(s.first, s.last) for s in stretches] == [(1, 6), (7, 15), (16, 24), (25, 33)]
        distances = np.zeros((30, 30))
        for s in stretches:
            r = [w / (1 << s.root.bits) for w in s.root.weights]
            last = min(30, s.last or 30)
            for p in range(s.first, last + 1):
                for t in range(p, last + 1):
                    distances[t - 1, p - 1] = r[t - p] / float(s.sigma)
        squares = [
            float((distances[:, list(places)].sum(axis=1) ** 2).sum())
            for places in itertools.combinations(range(30), 3)
        ]
        assert 2 * 0.97 < max(squares) <= 2 * (1 + 1e-12)
        sharp = RunningSums(mu_squared=10**14)
        values = np.arange(60).reshape(30, 2) * 10**9
        y = sharp.perturb(values[:11], bits=SeededBits(1))
        for begin, end in ((11, 12), (12, 30)):
            rows = values[sharp.first_read(begin + 1) - 1 : end]
            y = np.concatenate([y, sharp.perturb(rows, after=begin, bits=SeededBits(2))])
        assert sharp.totals(y).tolist() == np.cumsum(values, axis=0).tolist()
        dense = np.linalg.inv(np.array(distances))
        for first, last in ((1, 5), (1, 30), (4, 9), (14, 28), (30, 30)):
            spread = np.sqrt((dense[first - 1 : last].sum(axis=0) ** 2).sum())
            assert m.deviation(last, first) == pytest.approx(spread, rel=1e-6)
    finally:
        running_sums._stretch.cache_clear()


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(2)])
def test_the_promise_of_one_period_by_arithmetic(share: Fraction) -> None:
    """A measurement moves by Δ·r_0 in steps of its noise; the twin forgets the later ones."""
    from flint import arb, ctx

    from sfumato.exact.balls import ball

    ctx.prec = 128
    m = RunningSums(window=1, sensitivity=2, epsilon=1, delta=1e-6)
    stretch = m.stretch(0)
    s, sigma = 2 * stretch.root.weights[0], stretch.law.sigma
    cut = math.floor(Fraction(s, 2) - share * sigma**2 / s)

    def at_most(t: int) -> arb:
        return (-ball(Fraction(2 * t + 1, 2) / sigma) / arb(2).sqrt()).erfc() / 2

    truth = max(
        (at_most(t) - ball(share).exp() * at_most(t - s) for t in range(cut - 2, cut + 3)),
        key=float,
    )
    assert arb(m.promise.delta(share)) * arb("0.999999") < truth <= arb(m.promise.delta(share))
    seven = RunningSums(window=7, sensitivity=2, epsilon=1, delta=1e-6)
    g = seven.stretch(0).root.products(1)[0]
    twin = Fraction(4 * seven.stretch(0).root.weights[0] ** 2) / seven.stretch(0).law.sigma ** 2
    assert Fraction(4 * g) / seven.stretch(0).law.sigma ** 2 <= seven.mu_squared
    assert sf.GDP.from_square(twin).delta(share) < 0.9 * float(m.promise.delta(share))


@pytest.mark.parametrize("shape", [{}, {"window": 3}, {"window": 1}], ids=str)
def test_more_periods_than_planned(shape: dict[str, Any]) -> None:
    """The promise for five periods of a stream that protects two holds, by the dense matrix."""
    m = RunningSums(periods=2, mu_squared=1, **shape)
    matrix, sigma = weights_of(m, 12), float(m.stretch(0).sigma)
    moved = float((matrix[:, :5].sum(axis=1) ** 2).sum()) / sigma**2
    assert moved <= float(m.promise_over(5).mu_squared) * (1 + 1e-12)
    assert m.promise_over(2) == m.promise_over(1) == m.promise
    if shape == {"window": 1}:
        assert moved == pytest.approx(2.5)


def test_the_weights_stay_as_they_are() -> None:
    """Published streams rest on these integers; the last is near 2^24·c_j·(1 + j/J)^(−2/5)."""
    m = RunningSums(sensitivity=1 << 20, mu_squared="1/4")
    for number, last in ((0, 54365), (1, 3396)):
        weights = m.stretch(number).root.weights
        assert weights[:4] == WEIGHTS[number]
        assert weights[-1] == last
    assert hashlib.sha256(repr(m.stretch(0).root.weights).encode()).hexdigest()[:16] == DIGEST


def test_the_noise_is_as_wide_as_stated() -> None:
    """4000 columns: the sample deviations lie within 7 % (false alarm 10^-9), and the intervals
    hold.
    """
    m = RunningSums(mu_squared=1)
    totals = m.totals(m.perturb(np.zeros((40, 4000), dtype=np.int64), bits=SeededBits(5)))
    for first, last in ((1, 40), (34, 40), (40, 40)):
        sums = totals[last - 1] - (totals[first - 2] if first > 1 else 0)
        stated = math.sqrt(m.deviation(last, first) ** 2 + (1 if first == 1 else 2) / 12)
        assert abs(sums.astype(float).std() / stated - 1) < 0.07
        inside = float(np.mean(np.abs(sums.astype(float)) <= m.error(last, first)))
        assert inside > 0.95 - 6 * math.sqrt(0.05 * 0.95 / 4000)
    assert m.error(40) < 2 * m.deviation(40) + 2


def test_without_an_end_a_year_costs_less_than_five_per_cent() -> None:
    m = RunningSums(mu_squared=1)
    assert m.deviation(365) / mech.square_root_factor(365) < 1.05
    assert m.deviation(1024) / mech.square_root_factor(1024) < 1.05
    for periods in (4096, 8192):
        assert m.deviation(periods) / mech.square_root_factor(periods) < 1.5
    year = RunningSums(mu_squared=1, length=365)
    assert year.deviation(365) == pytest.approx(mech.square_root_factor(365), rel=1e-6)
    week = RunningSums(mu_squared=1, window=7)
    assert week.deviation(10_000, 9_994) == pytest.approx(week.deviation(100, 94), rel=1e-9)
    assert week.deviation(100, 94) < 0.71 * math.sqrt(7)


@pytest.mark.slow
def test_a_million_steps() -> None:
    """No bias after a million periods, at once and one more; the deviation is as documented."""
    m, n = RunningSums(mu_squared=10**14), 10**6
    values = np.random.default_rng(1).integers(0, 1000, n + 1)
    y = m.perturb(values[:n])
    more = m.perturb(values[m.first_read(n + 1) - 1 :], after=n)
    assert m.totals(np.concatenate([y, more]))[-1] == values.sum()
    ratio = RunningSums(mu_squared=1).deviation(n) / mech.square_root_factor(n)
    assert 1.27 < ratio < 1.29
    assert FIRST_STRETCH < m.first_read(n) < n


def test_the_interface() -> None:
    m = RunningSums(epsilon=1, delta=1e-6, relation="add-remove", unit="meter")
    assert m.promise.relation == "add-remove"
    assert RunningSums(rho=2).mu_squared == 4
    assert m.perturb([1, 2, 3]).shape == (3,)
    assert m.totals(np.zeros((0, 2), dtype=object)).shape == (0, 2)
    refusal(lambda: m.perturb([0.5], bits=Untouchable()), "value.type")
    refusal(lambda: m.perturb([1, 2], after=2, bits=Untouchable()), "stream.no-period")
    short = RunningSums(length=2, mu_squared=1)
    refusal(lambda: short.perturb([1, 2, 3], bits=Untouchable()), "stream.over")
    refusal(lambda: RunningSums(length=2, window=2, mu_squared=1), "stream.shape")
    refusal(lambda: RunningSums(window=0, mu_squared=1), "stream.periods")
    refusal(lambda: RunningSums(periods=2**21, mu_squared=1), "stream.periods")
    refusal(lambda: RunningSums(), "mechanism.calibration")
