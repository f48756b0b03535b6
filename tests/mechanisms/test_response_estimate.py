"""Estimated frequencies: unbiased, with the stated variance, and with intervals that cover, by
enumeration of all reports.
"""

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

from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.mechanisms.shared import response_estimate

from .responses import CASES


def expectation(m: mech.RandomizedResponse, truths: tuple[Any, ...]) -> tuple[list[arb], list[arb]]:
    """E and Var of the estimated frequencies over all reports of these people, by enumeration."""
    first, second = [arb(0)] * m.k, [arb(0)] * m.k
    for reports in itertools.product(m.categories, repeat=len(truths)):
        mass = arb(1)
        for truth, report in zip(truths, reports, strict=True):
            mass *= m.truth() if truth == report else m.false_report()
        for j, c in enumerate(m.categories):
            value = (ball(Fraction(reports.count(c), len(truths))) - m.false_report()) / m.spread()
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
            assert m.variance(p, reports=n) == pytest.approx(
                stated + float(p * (1 - p) / n), rel=1e-12
            )
    frequencies = [Fraction(people.count(c), n) for c in m.categories]
    assert m.mse(frequencies, reports=n) == pytest.approx(
        sum(m.variance(p, reports=n) for p in frequencies), rel=1e-12
    )


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]


@pytest.mark.parametrize("m", [CASES[0], CASES[1], CASES[2]], ids=repr)
@pytest.mark.parametrize("method", ["exact", "hoeffding"])
def test_intervals_cover(m: mech.RandomizedResponse, method: Any) -> None:
    """Coverage of the population's frequency, by enumeration of all counts of 30 reports, is never
    below what is stated.
    """
    n = 30
    intervals = [
        mech.ResponseEstimate(m, (c, n - c), n).interval(0.9, method=method)[0]
        for c in range(n + 1)
    ]
    for p in np.linspace(0, 1, 41):
        named = float(m.false_report().mid()) + float(m.spread().mid()) * p
        covered = sum(
            mass
            for mass, (low, high) in zip(binomial(n, named), intervals, strict=True)
            if low <= p <= high
        )
        assert covered >= 0.9


def test_the_normal_interval_is_only_approximate() -> None:
    m, n = mech.RandomizedResponse(keep="9/10"), 10
    low, high = mech.ResponseEstimate(m, (10, 0), n).interval(0.95, method="normal")[0]
    assert low == high == 1.0, "no reports of the other kind: the plug-in variance is 0"
    assert mech.ResponseEstimate(m, (10, 0), n).interval(0.95)[0][0] < 0.75


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_projection_is_no_farther_from_any_frequencies(counts: list[int]) -> None:
    m = mech.RandomizedResponse(epsilon="1/2", categories="abc")
    e = mech.ResponseEstimate(m, tuple(counts), sum(counts))
    assert e.projected.min() >= 0
    assert e.projected.sum() == pytest.approx(1)
    for truth in ([1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5]):
        assert (
            np.square(e.projected - truth).sum() <= np.square(e.frequencies - truth).sum() + 1e-12
        )


@pytest.mark.parametrize("upper", [False, True])
def test_an_end_that_is_not_proved_is_moved_outward_until_it_is(
    upper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun at the double itself, which lies on the wrong side about every second time."""
    missing, moved = Fraction(1, 40), 0
    cases = [(count, 300) for count in range(1, 300, 13)]
    limits = [response_estimate.limit(*case, missing, upper=upper) for case in cases]
    proved, steps = response_estimate.below, []

    def below(*sides: Any) -> bool:
        steps.append(proved(*sides))
        return steps[-1]

    monkeypatch.setattr(response_estimate, "_WIDER", Fraction(1, 2**80))
    monkeypatch.setattr(response_estimate, "below", below)
    for case, before in zip(cases, limits, strict=True):
        steps.clear()
        end = response_estimate.limit(*case, missing, upper=upper)
        assert steps == [False] * (len(steps) - 1) + [True]
        moved += len(steps) > 1
        assert abs(end - before) < Fraction(1, 10**9)
    assert moved > 0


@pytest.mark.parametrize("upper", [False, True])
def test_an_end_that_cannot_be_proved_is_that_of_the_whole_range(
    upper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_estimate, "below", lambda *_: False)
    assert response_estimate.limit(30, 100, Fraction(1, 40), upper=upper) == int(upper)


def test_an_estimate_names_its_categories() -> None:
    m = mech.RandomizedResponse(categories=("a", "b", "c"), epsilon=1)
    assert mech.ResponseEstimate(m, (1, 2, 3), 6).categories == ("a", "b", "c")


def test_it_shows_its_frequencies() -> None:
    m = mech.RandomizedResponse(categories=["no", "yes"], epsilon=1)
    first, head, no, yes = repr(m.estimate(["no"] * 60 + ["yes"] * 40)).splitlines()
    assert first == "estimate from 100 reports"
    assert head.split() == ["category", "frequency", "95", "%", "interval"]
    assert (no.split()[0], yes.split()[0]) == ("no", "yes")
    low, high = m.estimate(["no"] * 60 + ["yes"] * 40).interval()[1]
    shown = yes.partition("[")[2].strip("]").split(", ")
    assert float(shown[0]) <= low <= high <= float(shown[1])
