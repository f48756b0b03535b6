"""Randomized response: the interface as written, the exact law, every pair of neighbours by enumeration, estimates and what they are worth."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.relations import REPLACE
from sfumato.testing.bits import SeededBits, TapeBits

from .untouchable import Untouchable, refusal

CASES = [
    mech.RandomizedResponse(epsilon=1, categories=["yes", "no"]),
    mech.RandomizedResponse.coin_toss(),
    mech.RandomizedResponse(keep="1/3", categories=[0, 1]),
    mech.RandomizedResponse(epsilon="1/10", categories="abc"),
    mech.RandomizedResponse(keep="1/2", categories=["a", "b", "c", "d"]),
    mech.RandomizedResponse(epsilon=8, categories=range(5)),
]


def test_the_interface_as_written() -> None:
    m = mech.RandomizedResponse(epsilon=1, categories=["yes", "no"])
    assert m.promise == sf.Pure(1)
    assert m.relation is None
    assert m.perturb("yes") in ("yes", "no")
    reports = m.perturb(["yes", "no", "no"])
    assert isinstance(reports, list)
    assert set(reports) <= {"yes", "no"}
    array = m.perturb(np.array([["yes", "no"], ["no", "no"]]))
    assert array.shape == (2, 2)
    assert array.dtype.kind == "U"
    e = m.estimate(m.perturb(["yes"] * 300 + ["no"] * 700))
    assert e.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert e.interval(0.95).shape == (2, 2)
    assert repr(m) == "RandomizedResponse(categories=['yes', 'no'], epsilon=1)"
    assert m == mech.RandomizedResponse(epsilon="1.0", categories=("yes", "no"))


@pytest.mark.parametrize("m", CASES, ids=repr)
def test_the_law_and_its_promise(m: mech.RandomizedResponse) -> None:
    """Every row sums to 1; the largest ratio over all pairs of truths and all reports is e^ε, in ball arithmetic."""
    with precision(300):
        t, f = m.truth(), m.other()
        assert abs(t + (m.k - 1) * f - 1) < arb(2) ** -250
        assert abs(m.spread() - (t - f)) < arb(2) ** -250
        epsilon = m.promise.parameters["epsilon"]
        loss = abs((t / f).log())
        assert not loss > ball(epsilon)
        assert loss > ball(epsilon) * (1 - arb(2) ** -51)
    for truth, report in itertools.product(m.categories, repeat=2):
        assert m.probability(report, truth) == pytest.approx(float(t.mid() if truth == report else f.mid()), rel=1e-15)


@pytest.mark.parametrize("m", [CASES[0], CASES[1], CASES[3]], ids=repr)
def test_every_neighbouring_pair_of_two_rows(m: mech.RandomizedResponse) -> None:
    """The channel of two reports on every dataset of two rows: replacing one row costs ε, replacing both twice that."""
    one = m.channel
    rows = {
        x: {y: one.row(x[0])[one.outputs.index(y[0])] * one.row(x[1])[one.outputs.index(y[1])] for y in itertools.product(m.categories, repeat=2)}
        for x in itertools.product(m.categories, repeat=2)
    }
    two = type(one)(rows)
    neighbours = list(REPLACE.pairs(m.categories, 2))
    assert two.epsilon(pairs=neighbours) == pytest.approx(one.epsilon(), rel=1e-12)
    assert two.epsilon() == pytest.approx(2 * one.epsilon(), rel=1e-12)
    assert one.density_ratio_holds(m.promise.parameters["epsilon"])
    assert not one.density_ratio_holds(m.promise.parameters["epsilon"] * Fraction(999, 1000))


@pytest.mark.parametrize("m", CASES, ids=repr)
def test_the_draw_changes_at_the_exact_probability(m: mech.RandomizedResponse) -> None:
    """Category x + i is reported for words up to ⌊2^64·(t + i·f)⌋ − 1 and not from ⌈·⌉ on: the word next to the end decides."""
    for i in range(m.k - 1):
        with precision(256):
            end = (m.truth() + i * m.other()) * arb(2) ** 64
            low, high = int(end.floor().unique_fmpz()), int(end.ceil().unique_fmpz())
        for place, truth in enumerate(m.categories):
            assert m.perturb(truth, bits=TapeBits([low - 1, 0])) == m.categories[(place + i) % m.k]
            assert m.perturb(truth, bits=TapeBits([high])) == m.categories[(place + i + 1) % m.k]


@pytest.mark.parametrize("m", CASES, ids=repr)
def test_one_by_one_and_as_an_array_are_the_same(m: mech.RandomizedResponse) -> None:
    values = [m.categories[i % m.k] for i in range(500)]
    many = m.perturb(values, bits=SeededBits(7))
    bits = SeededBits(7)
    assert many == [m.perturb(value, bits=bits) for value in values]
    assert m.perturb(np.array(values), bits=SeededBits(7)).tolist() == many


def test_frequencies_of_many_draws() -> None:
    """A share of 200 000 draws strays by six standard deviations with probability 2e-9; a keep of 0.76 would be seen."""
    m, n = mech.RandomizedResponse.coin_toss(), 200_000
    kept = np.mean(m.perturb(np.full(n, "yes"), bits=SeededBits(1)) == "yes")
    assert abs(kept - 0.75) < 6 * math.sqrt(0.75 * 0.25 / n)
    assert abs(kept - 0.76) > 6 * math.sqrt(0.75 * 0.25 / n)


def expectation(m: mech.RandomizedResponse, truths: tuple[Any, ...]) -> tuple[list[arb], list[arb]]:
    """E and Var of the estimated frequencies over all reports of these people, by enumeration."""
    first, second = [arb(0)] * m.k, [arb(0)] * m.k
    for reports in itertools.product(m.categories, repeat=len(truths)):
        mass = arb(1)
        for truth, report in zip(truths, reports, strict=True):
            mass *= m.truth() if truth == report else m.other()
        for j, c in enumerate(m.categories):
            value = (ball(Fraction(reports.count(c), len(truths))) - m.other()) / m.spread()
            first[j] += mass * value
            second[j] += mass * value * value
    return first, [s - f * f for f, s in zip(first, second, strict=True)]


@pytest.mark.parametrize("m", CASES[:5], ids=repr)
def test_unbiased_with_the_stated_variance(m: mech.RandomizedResponse) -> None:
    """By enumeration of all reports of four people, and of all peoples of a population."""
    people = tuple(m.categories[i % m.k] for i in (0, 0, 1, 2))
    n = len(people)
    with precision(200):
        means, variances = expectation(m, people)
        for j, c in enumerate(m.categories):
            p = Fraction(people.count(c), n)
            assert abs(means[j] - ball(p)) < arb(2) ** -120
            stated = m.variance(p, reports=n, target="data")
            assert float(variances[j].mid()) == pytest.approx(stated, rel=1e-12)
            assert m.variance(p, reports=n) == pytest.approx(stated + float(p * (1 - p) / n), rel=1e-12)
    frequencies = [Fraction(people.count(c), n) for c in m.categories]
    assert m.mse(frequencies, reports=n) == pytest.approx(sum(m.variance(p, reports=n) for p in frequencies), rel=1e-12)


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]


@pytest.mark.parametrize("m", [CASES[0], CASES[1], CASES[2]], ids=repr)
@pytest.mark.parametrize("method", ["exact", "hoeffding"])
def test_intervals_cover(m: mech.RandomizedResponse, method: Any) -> None:
    """Coverage of the population's frequency, by enumeration of all counts of 30 reports, is never below what is stated."""
    n = 30
    intervals = [mech.Estimate(m, (c, n - c), n).interval(0.9, method=method)[0] for c in range(n + 1)]
    for p in np.linspace(0, 1, 41):
        named = float(m.other().mid()) + float(m.spread().mid()) * p
        covered = sum(mass for mass, (low, high) in zip(binomial(n, named), intervals, strict=True) if low <= p <= high)
        assert covered >= 0.9


def test_the_normal_interval_is_only_approximate() -> None:
    m, n = mech.RandomizedResponse(keep="9/10"), 10
    low, high = mech.Estimate(m, (10, 0), n).interval(0.95, method="normal")[0]
    assert low == high == 1.0, "no reports of the other kind: the plug-in variance is 0"
    assert mech.Estimate(m, (10, 0), n).interval(0.95)[0][0] < 0.75


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_projection_is_no_farther_from_any_frequencies(counts: list[int]) -> None:
    m = mech.RandomizedResponse(epsilon="1/2", categories="abc")
    e = mech.Estimate(m, tuple(counts), sum(counts))
    assert e.projected.min() >= 0
    assert e.projected.sum() == pytest.approx(1)
    for truth in ([1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5]):
        assert np.square(e.projected - truth).sum() <= np.square(e.frequencies - truth).sum() + 1e-12


def test_both_directions_of_accuracy() -> None:
    m = mech.RandomizedResponse(error="0.01", reports=10**6, categories="abcd")
    assert m.error(0.95, reports=10**6) <= 0.01
    assert m.error(0.95, reports=10**6) == pytest.approx(0.01, rel=1e-9)
    assert m.reports_for("0.01") == 10**6
    assert m.error(0.95, reports=10**6, values=4) == m.error("0.9875", reports=10**6)
    refusal(lambda: mech.RandomizedResponse(error="0.001", reports=10**6), "response.error")


def test_deniability_depends_on_the_prior() -> None:
    table = mech.RandomizedResponse.coin_toss().deniability("1/10")
    assert table["no"]["yes"] == pytest.approx(1 / 28, rel=1e-15)
    assert table["yes"] == {"yes": 0.25, "no": 0.75}
    assert mech.RandomizedResponse.coin_toss().deniability({"no": "0.9", "yes": "0.1"}) == table
    three = mech.RandomizedResponse(epsilon=1, categories="abc").deniability(["0.2", "0.3", "0.5"])
    assert all(sum(row.values()) == pytest.approx(1) for row in three.values())


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"epsilon": 1, "keep": "1/2"}, "mechanism.calibration"),
        ({}, "mechanism.calibration"),
        ({"error": "0.1"}, "mechanism.calibration"),
        ({"epsilon": 1, "reports": 5}, "mechanism.calibration"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"keep": 1}, "number.not-a-probability"),
        ({"keep": 0}, "number.not-a-probability"),
        ({"keep": "1/2"}, "response.keep"),
        ({"epsilon": 1, "categories": ["a"]}, "categories.names"),
        ({"epsilon": 1, "categories": ["a", "a"]}, "categories.names"),
        ({"epsilon": 1, "categories": [0, False]}, "categories.names"),
        ({"epsilon": 1, "categories": [0.5, float("nan")]}, "categories.names"),
        ({"epsilon": 1, "categories": [[1], [2]]}, "categories.names"),
        ({"epsilon": 1, "relation": "add-remove"}, "response.relation"),
        ({"error": "0.1", "reports": 0}, "response.reports"),
    ],
    ids=str,
)
def test_parameters_are_refused(given: dict[str, Any], code: str) -> None:
    refusal(lambda: mech.RandomizedResponse(**given), code)


@pytest.mark.parametrize("value", ["maybe", 3, None, ["yes", "maybe"], np.array(["yes", "maybe"]), [["yes"]], np.array(3)], ids=repr)
def test_an_unknown_category_is_refused_without_being_named(value: Any) -> None:
    refused = refusal(lambda: mech.RandomizedResponse(epsilon=1).perturb(value, bits=Untouchable()), "value.category")
    assert "maybe" not in str(refused)


def test_other_refusals() -> None:
    m = mech.RandomizedResponse(epsilon=1)
    refusal(lambda: m.estimate([]), "response.reports")
    refusal(lambda: m.estimate(["yes"]).interval(method="bayes"), "response.interval")  # type: ignore[arg-type]
    assert m.perturb([]) == []
    assert mech.RandomizedResponse(epsilon=1, relation="replace", unit="patient").promise == sf.Pure(1, relation="replace", unit="patient")


def test_categories_of_any_kind() -> None:
    mixed = mech.RandomizedResponse(keep="0.999999", categories=[(1, 2), "x", None, 3.5])
    assert mixed.perturb((1, 2), bits=TapeBits([0])) == (1, 2), "a tuple that is a category is one value"
    assert mixed.perturb([(1, 2), None], bits=TapeBits([0, 0])) == [(1, 2), None]
    assert mixed.perturb(np.array([3.5, 3.5]), bits=TapeBits([0, 0])).tolist() == [3.5, 3.5]
    flags = mech.RandomizedResponse(epsilon=50, categories=[False, True])
    assert flags.perturb(np.array([True, False]), bits=TapeBits([0, 0])).dtype == np.bool_
    zero_bytes = mech.RandomizedResponse(epsilon=50, categories=["a", "a\0"])
    assert zero_bytes.perturb(["a\0"], bits=TapeBits([0])) == ["a\0"]
