"""Intervals of a mean: how often they hold, and that what they rest on is rounded outward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import NumberOracle, OneBit, Piecewise
from sfumato.local.numeric.mean_estimate import half_width
from sfumato.testing import SeededBits

ORACLES: dict[str, NumberOracle] = {
    "one-bit": OneBit(epsilon=1, low=0, high=10),
    "piecewise": Piecewise(epsilon=2, low=0, high=10),
}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("one-bit", "exact"),
        ("one-bit", "bounded"),
        ("one-bit", "normal"),
        ("piecewise", "bounded"),
        ("piecewise", "normal"),
    ],
)
def test_intervals_cover(name: str, method: Any) -> None:
    """100 seeded surveys at 90 %: fewer than 74 hits of a 90 % interval would come once in 10⁶;
    half the width is seen for the exact and the normal one.
    """
    oracle, bits, hits, narrow = ORACLES[name], SeededBits(21), 0, 0
    people = np.random.default_rng(4)
    for _ in range(100):
        values = people.beta(2, 5, size=400) * 10
        estimate = oracle.estimate(oracle.perturb(values, bits=bits))
        low, high = estimate.interval("0.9", method=method)
        mean = 10 * 2 / 7
        hits += low <= mean <= high
        narrow += (
            (low + (estimate.mean - low) / 2)
            <= mean
            <= (estimate.mean + (high - estimate.mean) / 2)
        )
    assert hits >= 74
    if method != "bounded":
        assert narrow < 74


def test_without_a_method_the_surest() -> None:
    bit, cell = (
        ORACLES[name].estimate(ORACLES[name].perturb(np.full(200, 3.0), bits=SeededBits(1)))
        for name in ORACLES
    )
    assert bit.interval() == bit.interval(method="exact")
    assert cell.interval() == cell.interval(method="bounded")
    assert bit.interval(0.99)[0] <= bit.interval(0.9)[0]


def test_bounded_is_the_smaller_of_two_known_beforehand() -> None:
    from fractions import Fraction

    oracle, beta, n = ORACLES["piecewise"], 0.05, 1000
    chance, top, scale = math.log(2 / beta), oracle.top, float(oracle.scale)
    hoeffding = top * math.sqrt(chance / (2 * n)) * scale
    size = float(oracle._worst) + float(oracle.slope * oracle.steps) ** 2 / 4
    bernstein = (
        (top * chance / 3 + math.sqrt((top * chance / 3) ** 2 + 2 * n * size * chance)) / n * scale
    )
    assert half_width(oracle, n, Fraction(1, 20)) == pytest.approx(
        min(hoeffding, bernstein), rel=1e-12
    )
    assert half_width(oracle, n, Fraction(1, 20)) >= min(hoeffding, bernstein) * (1 - 1e-15)


def test_ends_stay_within_the_bounds() -> None:
    estimate = ORACLES["one-bit"].estimate(
        ORACLES["one-bit"].perturb([0.0, 10.0, 3.0], bits=SeededBits(1))
    )
    assert 0 <= estimate.interval()[0] <= estimate.interval()[1] <= 10
    assert estimate.interval(method="normal")[0] >= 0


@pytest.mark.parametrize(
    ("name", "method"), [("piecewise", "exact"), ("piecewise", "other"), ("one-bit", "hoeffding")]
)
def test_no_such_interval(name: str, method: Any) -> None:
    oracle = ORACLES[name]
    with pytest.raises(Refused) as refused:
        oracle.estimate(oracle.perturb([1.0])).interval(method=method)
    assert refused.value.code == "response.interval"


def test_standard_error_and_record() -> None:
    oracle = ORACLES["one-bit"]
    reports = oracle.perturb(np.linspace(0, 10, 500), bits=SeededBits(9))
    estimate = oracle.estimate(reports)
    scores = oracle._scores(reports.payload) * float(oracle.scale)
    assert estimate.standard_error == pytest.approx(scores.std(ddof=1) / math.sqrt(500), rel=1e-9)
    record = estimate.record()
    assert record["mean"] == estimate.mean
    assert record["reports"] == 500
    assert record["interval"] == list(estimate.interval())
    assert oracle.estimate([reports[0]]).standard_error == 0.0
    assert "from 500 reports" in repr(estimate)


def test_parts_add_up() -> None:
    oracle = ORACLES["piecewise"]
    a, b = (
        oracle.perturb([1.0] * 50, bits=SeededBits(1)),
        oracle.perturb([9.0] * 70, bits=SeededBits(2)),
    )
    assert (
        oracle.estimate(oracle.aggregate(a) + oracle.aggregate(b)).mean
        == oracle.estimate(a + b).mean
    )
