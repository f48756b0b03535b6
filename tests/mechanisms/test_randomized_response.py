"""Randomized response: the interface as written, the exact law, every pair of neighbours by
enumeration, and what is refused.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.neighbour_relations import REPLACE
from sfumato.testing.seeded_bits import SeededBits, TapeBits

from ..refusing import refusal
from .responses import CASES
from .untouchable import Untouchable


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
    """Every row sums to 1; the largest ratio over all pairs of truths and all reports is e^ε, in
    ball arithmetic.
    """
    with precision(300):
        t, f = m.truth(), m.false_report()
        assert abs(t + (m.k - 1) * f - 1) < arb(2) ** -250
        assert abs(m.spread() - (t - f)) < arb(2) ** -250
        epsilon = m.promise.parameters["epsilon"]
        loss = abs((t / f).log())
        assert not loss > ball(epsilon)
        assert loss > ball(epsilon) * (1 - arb(2) ** -51)
    for truth, report in itertools.product(m.categories, repeat=2):
        assert m.probability(report, truth) == pytest.approx(
            float(t.mid() if truth == report else f.mid()), rel=1e-15
        )


@pytest.mark.parametrize("m", [CASES[0], CASES[1], CASES[3]], ids=repr)
def test_every_neighbouring_pair_of_two_rows(m: mech.RandomizedResponse) -> None:
    """The channel of two reports on every dataset of two rows: replacing one row costs ε, replacing
    both twice that.
    """
    single = m.channel
    rows = {
        x: {
            y: single.row(x[0])[single.outputs.index(y[0])]
            * single.row(x[1])[single.outputs.index(y[1])]
            for y in itertools.product(m.categories, repeat=2)
        }
        for x in itertools.product(m.categories, repeat=2)
    }
    double = type(single)(rows)
    neighbours = list(REPLACE.pairs(m.categories, 2))
    assert double.epsilon(pairs=neighbours) == pytest.approx(single.epsilon(), rel=1e-12)
    assert double.epsilon() == pytest.approx(2 * single.epsilon(), rel=1e-12)
    assert single.density_ratio_holds(m.promise.parameters["epsilon"])
    assert not single.density_ratio_holds(m.promise.parameters["epsilon"] * Fraction(999, 1000))


@pytest.mark.parametrize("m", CASES, ids=repr)
def test_the_draw_changes_at_the_exact_probability(m: mech.RandomizedResponse) -> None:
    """Category x + i is reported for words up to ⌊2^64·(t + i·f)⌋ − 1 and not from ⌈·⌉ on: the word
    next to the end decides.
    """
    for i in range(m.k - 1):
        with precision(256):
            end = (m.truth() + i * m.false_report()) * arb(2) ** 64
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
    """A share of 200 000 draws strays by six standard deviations with probability 2e-9; a keep of
    0.76 would be seen.
    """
    m, n = mech.RandomizedResponse.coin_toss(), 200_000
    share = np.mean(m.perturb(np.full(n, "yes"), bits=SeededBits(1)) == "yes")
    assert abs(share - 0.75) < 6 * math.sqrt(0.75 * 0.25 / n)
    assert abs(share - 0.76) > 6 * math.sqrt(0.75 * 0.25 / n)


def test_both_directions_of_accuracy() -> None:
    m = mech.RandomizedResponse(error="0.01", reports=10**6, categories="abcd")
    assert m.error(0.95, reports=10**6) <= 0.01
    assert m.error(0.95, reports=10**6) == pytest.approx(0.01, rel=1e-9)
    assert m.reports_for("0.01") == 10**6
    assert m.error(0.95, reports=10**6, values=4) == m.error("0.9875", reports=10**6)
    refused = refusal(
        lambda: mech.RandomizedResponse(error="0.001", reports=10**6), "response.error"
    )
    enough = int(refused.rewrite.removeprefix("reports="))
    assert mech.RandomizedResponse(error="0.001", reports=enough).epsilon is not None


def test_deniability_depends_on_the_prior() -> None:
    table = mech.RandomizedResponse.coin_toss().deniability("1/10")
    assert table["no"]["yes"] == pytest.approx(1 / 28, rel=1e-15)
    assert table["yes"] == {"yes": 0.25, "no": 0.75}
    assert mech.RandomizedResponse.coin_toss().deniability({"no": "0.9", "yes": "0.1"}) == table
    three = mech.RandomizedResponse(epsilon=1, categories="abc").deniability(["0.2", "0.3", "0.5"])
    assert all(sum(row.values()) == pytest.approx(1) for row in three.values())


@pytest.mark.parametrize(
    ("arguments", "code"),
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
def test_parameters_are_refused(arguments: dict[str, Any], code: str) -> None:
    refusal(lambda: mech.RandomizedResponse(**arguments), code)


@pytest.mark.parametrize(
    "value",
    ["maybe", 3, None, ["yes", "maybe"], np.array(["yes", "maybe"]), [["yes"]], np.array(3)],
    ids=repr,
)
def test_an_unknown_category_is_refused_without_being_named(value: Any) -> None:
    refused = refusal(
        lambda: mech.RandomizedResponse(epsilon=1).perturb(value, bits=Untouchable()),
        "value.category",
    )
    assert "maybe" not in str(refused)


def test_other_refusals() -> None:
    m = mech.RandomizedResponse(epsilon=1)
    refusal(lambda: m.estimate([]), "response.reports")
    method: Any = "bayes"
    refusal(lambda: m.estimate(["yes"]).interval(method=method), "response.interval")
    assert m.perturb([]) == []
    assert mech.RandomizedResponse(
        epsilon=1, relation="replace", unit="patient"
    ).promise == sf.Pure(1, relation="replace", unit="patient")
