"""Direct: the law of randomized response, whose promise and estimates it shares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.local import Direct
from sfumato.testing import SeededBits

from . import simulated
from .laws import law_of


def test_the_interface_as_written() -> None:
    cities = ["Roma", "Bari", "Lecce"]
    oracle = sf.local.Direct(epsilon=1, categories=cities)
    reports = oracle.perturb(["Roma", "Bari", "Bari"])
    e = oracle.estimate(reports)
    assert e.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert e.interval(0.95).shape == (3, 2)
    assert oracle.promise == sf.Pure(1)


@pytest.mark.parametrize(("epsilon", "k"), [(1, 2), (1, 4), ("1/10", 7), (8, 5)])
def test_the_same_law_as_the_mechanism(epsilon: int | str, k: int) -> None:
    """Its channel, entry by entry, is that of RandomizedResponse with the same rational keep, and
    within 2^-64 of the one with this ε.
    """
    oracle = Direct(epsilon=epsilon, categories=range(k))
    same, near = (
        oracle.response.channel,
        mech.RandomizedResponse(epsilon=epsilon, categories=range(k)).channel,
    )
    for code in range(k):
        law = law_of(oracle.question, code)
        assert [law[bytes([y])] for y in range(k)] == list(same.row(code))
        assert all(
            abs(a - b) < Fraction(1, 2**63)
            for a, b in zip(same.row(code), near.row(code), strict=True)
        )
    assert oracle.response.promise.epsilon() == pytest.approx(oracle.promise.epsilon(), abs=1e-15)
    assert oracle.variance(100, "1/4") == pytest.approx(
        oracle.response.variance("1/4", reports=100), rel=1e-12
    )
    assert oracle.mse([Fraction(1, k)] * k, 50) == pytest.approx(
        oracle.response.mse([Fraction(1, k)] * k, reports=50), rel=1e-12
    )


def test_estimates_are_those_of_the_mechanism() -> None:
    oracle = Direct(epsilon=1, categories="abc")
    ours = oracle.estimate(oracle.perturb(list("aabbbc" * 50), bits=SeededBits(1)))
    theirs = mech.ResponseEstimate(oracle.response, tuple(ours.counts.tolist()), ours.reports)
    assert ours.frequencies == pytest.approx(theirs.frequencies, abs=1e-15)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)
    assert ours.interval(0.9, method="hoeffding") == pytest.approx(
        theirs.interval(0.9, method="hoeffding"), abs=1e-12
    )
    assert ours.consistent("projection") == pytest.approx(theirs.projected, abs=1e-15)
    exact = theirs.interval(0.9)
    assert (np.abs(ours.interval(0.9) - exact) < 1e-4 * (exact[:, 1] - exact[:, 0])[:, None]).all()


def test_the_coin_toss() -> None:
    coin = Direct.coin_toss()
    assert (coin.true_support, coin.false_support) == (Fraction(3, 4), Fraction(1, 4))
    assert coin.promise.epsilon() == pytest.approx(1.0986122886681098, abs=1e-15)
    assert coin == Direct(keep="3/4")
    assert coin.estimate(coin.perturb("yes")).reports == 1


def test_simulated() -> None:
    simulated.check(lambda run: Direct(epsilon=1, categories=range(4)))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"epsilon": "1e-25", "categories": "abc"}, "local.epsilon"),
        ({"keep": "1/2", "categories": "ab"}, "local.epsilon"),
        ({"keep": "1/5", "categories": "ab"}, "local.epsilon"),
        ({"epsilon": 1, "keep": "3/4"}, "mechanism.calibration"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"epsilon": 1, "categories": ["a"]}, "categories.names"),
        ({"epsilon": 1, "relation": "add-remove"}, "response.relation"),
    ],
)
def test_refused(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(Refused) as refused:
        Direct(**arguments)  # type: ignore[arg-type]  # on purpose
    assert refused.value.code == code


@pytest.mark.parametrize("epsilon", ["1e-18", "1e-9", 60, 700])
def test_far_ends(epsilon: str | int) -> None:
    oracle = Direct(epsilon=epsilon, categories="ab")
    assert oracle.true_support < 1
    assert oracle.estimate(oracle.perturb(list("abab"))).reports == 4
