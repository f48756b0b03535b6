"""Several mechanisms as one: sums in every notion, one point of a common curve, the product laws by
arithmetic, and one entry in a book of any currency.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.gdp import largest_mu
from sfumato.guarantees.mixed import Mixed
from sfumato.ledger.pricing import price
from sfumato.mechanisms.shared.mechanism import Mechanism
from sfumato.mechanisms.shared.stored_mechanism import promises, record, restore

from ..refusing import refusal

SAID = {"relation": "add-remove", "unit": "patient"}
LAPLACE = mech.Laplace(sensitivity=1, epsilon="0.1", **SAID)
QUANTILE = mech.WeightedQuantile(low=0, high=9, weight=4, epsilon="0.2", **SAID)
SELECTION = mech.OptimalSelection(epsilon="0.1", delta="1e-9", unit="patient")
MU = largest_mu("0.3", "1e-9")
GAUSSIANS = (
    mech.Gaussian(sensitivity=1, mu=MU * 3 / 5, **SAID),
    mech.Gaussian(sensitivity=1, mu=MU * 4 / 5, **SAID),
)
CASES: dict[str, mech.Combined] = {
    "pure": mech.Combined([LAPLACE, QUANTILE, LAPLACE]),
    "with keys": mech.Combined([LAPLACE, SELECTION]),
    "Gaussian": mech.Combined(GAUSSIANS, epsilon="0.3", delta="1e-9"),
    "Gaussian, unstated": mech.Combined(GAUSSIANS),
    "all kinds": mech.Combined([*GAUSSIANS, LAPLACE, SELECTION], epsilon="0.3", delta="1e-9"),
    "pure and Gaussian": mech.Combined([*GAUSSIANS, QUANTILE], epsilon="0.3", delta="1e-9"),
    "discrete": mech.Combined(
        [mech.DiscreteGaussian(sensitivity=1, rho="1/800"), LAPLACE], epsilon=1, delta="1e-6"
    ),
    "one": mech.Combined([LAPLACE]),
    "nested": mech.Combined([mech.Combined(GAUSSIANS, epsilon="0.3", delta="1e-9"), LAPLACE]),
}


def exactly(combined: mech.Combined, notion: Any) -> Any:
    (matching,) = [promise for promise in combined.promises if type(promise) is notion]
    return matching


def test_sums() -> None:
    assert CASES["pure"].promise == sf.Pure("0.4", **SAID)
    assert exactly(CASES["pure"], sf.ZCDP).rho == 2 * LAPLACE.to(sf.ZCDP).rho + Fraction(4, 100) / 8
    assert (
        exactly(CASES["pure"], sf.GDP).mu_squared
        == 2 * LAPLACE.to(sf.GDP).mu_squared + QUANTILE.to(sf.GDP).mu_squared
    )
    assert CASES["with keys"].promise == sf.Approx("0.2", "1e-9", **SAID)
    assert exactly(CASES["with keys"], sf.ZCDP).parameters["delta"] == Fraction(1, 10**9)
    assert CASES["Gaussian"].promises == (
        sf.Approx("0.3", "1e-9", **SAID),
        sf.GDP.from_square(sum(g.promise.mu_squared for g in GAUSSIANS), **SAID),
    )
    assert CASES["Gaussian, unstated"].promises == CASES["Gaussian"].promises[1:]
    assert CASES["all kinds"].promise == sf.Approx("0.5", "2e-9", **SAID)
    assert CASES["pure and Gaussian"].promise == sf.Approx("0.5", "1e-9", **SAID)
    assert (
        exactly(CASES["pure and Gaussian"], Mixed)
        == GAUSSIANS[0].promise + GAUSSIANS[1].promise + QUANTILE.promise
    )
    assert CASES["discrete"].promise == sf.Approx("1.1", "1e-6", **SAID)
    assert CASES["one"].promises == (LAPLACE.promises[0], LAPLACE.to(sf.GDP), LAPLACE.promises[1])
    assert CASES["nested"].promise == sf.Approx("0.4", "1e-9", **SAID)


@pytest.mark.parametrize("name", CASES)
def test_every_promise_is_about_the_same(name: str) -> None:
    combined = CASES[name]
    assert (combined.relation, combined.unit) == ("add-remove", "patient")
    assert {(promise.relation, promise.unit) for promise in combined.promises} == {
        ("add-remove", "patient")
    }
    assert not hasattr(combined, "perturb")


Law = dict[Any, tuple[float, float]]


def added(m: Any, width: int) -> Law:
    """The noise of a mechanism at 0 and at its sensitivity."""
    return {
        z: (float(m.probability(z)), float(m.probability(z - 1))) for z in range(-width, width + 1)
    }


def hockey_stick(laws: list[Law], epsilon: float) -> float:
    """The larger of both directions for the product of the laws; what lies outside counts in
    full.
    """
    pairs = np.array([(1.0, 1.0)])
    for law in laws:
        pairs = (pairs[:, None, :] * np.array(list(law.values()))[None, :, :]).reshape(-1, 2)
    outside = 1 - pairs.sum(axis=0)
    return max(
        float(np.maximum(a - math.exp(epsilon) * b, 0).sum() + o)
        for a, b, o in ((*pairs.T, outside[0]), (*pairs.T[::-1], outside[1]))
    )


def coins(rule: Any, weight: int) -> Law:
    p, q = rule.keep_probability(weight), rule.keep_probability(weight - 1)
    return {True: (p, q), False: (1 - p, 1 - q)}


def test_the_laws_keep_what_is_promised() -> None:
    """By arithmetic: a count, a group's name and two sums with normal noise, of one unit. Twins: a
    tenth less, and each Gaussian stated by itself.
    """
    laplace, keys = (
        mech.Laplace(sensitivity=1, epsilon="1/2"),
        mech.OptimalSelection(epsilon="1/2", delta="0.01"),
    )
    combined = mech.Combined([laplace, keys])
    for weight in (1, 4, 6):
        assert hockey_stick([added(laplace, 60), coins(keys, weight)], 1) <= 0.01 + 1e-12
    assert combined.promise == sf.Approx(1, "0.01", relation="add-remove")
    assert hockey_stick([added(laplace, 60), coins(keys, 1)], 0.9) > 0.01

    mu = largest_mu(1, "0.01")
    normals = [
        mech.Gaussian(sensitivity=1, mu=mu * 3 / 5),
        mech.Gaussian(sensitivity=1, mu=mu * 4 / 5),
    ]
    both = [added(m, 60) for m in normals]
    assert mech.Combined(normals, epsilon=1, delta="0.01").promise == sf.Approx(1, "0.01")
    assert 0.009 < hockey_stick(both, 1) <= 0.01
    assert hockey_stick([*both, added(laplace, 25)], 1.5) <= 0.01 + 1e-4
    each = mech.Gaussian(sensitivity=1, epsilon=1, delta="0.01")
    assert hockey_stick([added(each, 40)] * 2, 1) > 0.03
    refusal(lambda: mech.Combined([each, each], epsilon=1, delta="0.01"), "mechanism.calibration")


def test_one_point_of_a_common_curve() -> None:
    """Exactly as given, and not a step beyond what the noise can bear."""
    assert mech.Combined(GAUSSIANS, epsilon="0.3", delta="1e-9").promise.parameters == {
        "epsilon": Fraction(3, 10),
        "delta": Fraction(1, 10**9),
    }
    refusal(
        lambda: mech.Combined(GAUSSIANS, epsilon="0.2999", delta="1e-9"), "mechanism.calibration"
    )
    refusal(
        lambda: mech.Combined(GAUSSIANS, epsilon="0.3", delta="0.999e-9"), "mechanism.calibration"
    )
    assert mech.Combined(GAUSSIANS, epsilon="0.31", delta="1e-9").promise == sf.Approx(
        "0.31", "1e-9", **SAID
    )


BUDGETS: dict[str, sf.Guarantee] = {
    "Pure": sf.Pure(1),
    "Approx": sf.Approx(1, "1e-6"),
    "ZCDP": sf.ZCDP("1/2", "1e-6"),
    "GDP": sf.GDP(1),
    "Renyi": sf.Renyi({2: 1, 8: 2, 64: 8}, "1e-6"),
}
REACHED: dict[str, set[str]] = {
    "pure": {"Pure", "Approx", "ZCDP", "GDP", "Renyi"},
    "with keys": {"Approx", "ZCDP", "Renyi"},
    "Gaussian": {"Approx", "ZCDP", "GDP", "Renyi"},
    "Gaussian, unstated": {"ZCDP", "GDP", "Renyi"},
    "all kinds": {"Approx", "ZCDP", "Renyi"},
    "pure and Gaussian": {"Approx", "ZCDP", "GDP", "Renyi"},
    "discrete": {"ZCDP", "Renyi"},  # and Approx, whose budget here is too small
    "one": {"Pure", "Approx", "ZCDP", "GDP", "Renyi"},
    "nested": {"Approx", "ZCDP", "GDP", "Renyi"},
}


@pytest.mark.parametrize(("name", "currency"), list(itertools.product(CASES, BUDGETS)))
def test_one_entry_in_a_book(name: str, currency: str) -> None:
    """Charged together it costs no more than its parts by themselves, in any currency in which
    those have a price.
    """
    combined, budget = CASES[name], BUDGETS[currency]
    ledger = sf.Ledger.open(budget=budget, dataset="visits", **SAID)
    if currency not in REACHED[name]:
        with pytest.raises(sf.Refused) as caught:
            ledger.charge([combined], memo="not in this currency")
        assert caught.value.code == (
            "budget.exceeded"
            if (name, currency) == ("discrete", "Approx")
            else "guarantee.does-not-follow"
        )
        return
    ledger.charge([combined], memo="together")
    assert [entry.kind for entry in ledger.history()] == ["open", "charge"]
    cost = price(budget, [combined])
    try:
        apart = price(budget, combined.parts)
    except sf.Refused:
        assert currency == "Approx"  # Gaussian noise has no (ε, δ) before it is stated
    else:
        slack = (
            Fraction(11, 10) if currency == "Renyi" else 1
        )  # the curve of a sum of ε lies a little above the sum of the curves
        assert all(c <= slack * a for c, a in zip(cost, apart, strict=True))


def test_ten_tenths_fit() -> None:
    mu = largest_mu("0.1", "1e-7")
    plan = mech.Combined(
        [mech.Gaussian(sensitivity=1, mu=mu * 3 / 5), mech.Gaussian(sensitivity=1, mu=mu * 4 / 5)],
        epsilon="0.1",
        delta="1e-7",
    )
    ledger = sf.Ledger.open(budget=sf.Approx(1, "1e-6"), dataset="visits", **SAID)
    for _ in range(10):
        ledger.charge([plan], memo="a tenth")
    with pytest.raises(sf.BudgetExceeded):
        ledger.charge([plan], memo="one more")


@pytest.mark.parametrize("name", CASES)
def test_comes_back(name: str) -> None:
    stored = json.loads(json.dumps(record(CASES[name])))
    assert restore(stored) == CASES[name]
    assert restore(stored).promises == CASES[name].promises


def test_a_part_that_is_gone_leaves_the_promises() -> None:
    stored = record(CASES["all kinds"])
    stored["public"]["parts"][0]["kind"] = "Forgotten"
    assert restore(stored) is None
    assert promises(stored) == CASES["all kinds"].promises


def test_it_shows_its_parts() -> None:
    shown = repr(mech.Combined([mech.Laplace(sensitivity=1, epsilon="1/2")], unit="patient"))
    assert shown == "Combined(parts=(Laplace(sensitivity=1, scale=2),), unit='patient')"
    assert hash(CASES["pure"]) == hash(mech.Combined((LAPLACE, QUANTILE, LAPLACE)))


@pytest.mark.parametrize(
    ("parts", "arguments", "code"),
    [
        ([], {}, "mechanism.parts"),
        ([LAPLACE, sf.Pure(1)], {}, "mechanism.parts"),
        (3, {}, "mechanism.parts"),
        ([LAPLACE], {"epsilon": 1, "delta": "1e-6"}, "mechanism.calibration"),
        (GAUSSIANS, {"epsilon": 1}, "mechanism.calibration"),
        (GAUSSIANS, {"delta": "1e-6"}, "mechanism.calibration"),
        (GAUSSIANS, {"epsilon": 1, "delta": 0}, "number.not-a-probability"),
        ([LAPLACE], {"relation": "replace"}, "guarantee.relation"),
        ([LAPLACE], {"unit": "visit"}, "guarantee.unit"),
        (
            [LAPLACE, mech.Laplace(sensitivity=1, epsilon=1, relation="replace")],
            {},
            "guarantee.relation",
        ),
        ([LAPLACE, mech.Laplace(sensitivity=1, epsilon=1, unit="visit")], {}, "guarantee.unit"),
    ],
    ids=str,
)
def test_refused(parts: Any, arguments: dict[str, Any], code: str) -> None:
    refusal(lambda: mech.Combined(parts, **arguments), code)


@dataclass(frozen=True)
class Leaking(Mechanism):
    """Promises nothing with a chance of δ."""

    delta: str
    relation = None
    unit = None

    @property
    def promises(self) -> tuple[sf.Guarantee, ...]:
        return (sf.Approx(1, self.delta),)


def test_parts_that_together_promise_nothing_are_refused() -> None:
    assert mech.Combined([Leaking("0.4"), Leaking("0.5")]).promise == sf.Approx(2, "0.9")
    refusal(lambda: mech.Combined([Leaking("0.4"), Leaking("0.6")]), "mechanism.parts")
