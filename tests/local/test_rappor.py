"""RAPPOR: permanent and instantaneous, one report and a lifetime."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.local import Estimate, Rappor, Unary
from sfumato.testing import SeededBits

from . import simulated


def test_the_numbers_as_published() -> None:
    """Erlingsson et al. 2014: ε∞ = 2h·ln((1 − f/2)/(f/2)), ε₁ = h·log(q*(1 − p*)/(p*(1 − q*))); f = ½, p = ½, q = ¾, h = 2: ε∞ = 4 ln 3 and ε₁ = 1.0743."""
    oracle = Rappor(f="1/2", p="1/2", q="3/4", hashes=2, size=128, cohorts=8, categories=range(10))
    assert oracle.lifetime().epsilon() == pytest.approx(4 * math.log(3), abs=1e-12)
    zero, one = 0.75 * 0.5 + 0.25 * 0.75, 0.75 * 0.75 + 0.25 * 0.5
    assert oracle.epsilon == pytest.approx(2 * math.log(one * (1 - zero) / (zero * (1 - one))), abs=1e-12)
    assert float(oracle.epsilon) == pytest.approx(1.0743, abs=1e-4)


def test_one_time_is_symmetric_unary() -> None:
    once, unary = Rappor(epsilon=1, categories="abcd"), Unary(epsilon=1, categories="abcd", symmetric=True)
    assert abs(once.own - unary.own) < Fraction(1, 2**60)
    assert once.lifetime().epsilon() == pytest.approx(1, abs=1e-15)
    assert once.promise.epsilon() == pytest.approx(1, abs=1e-15)


def test_each_further_value_costs_the_lifetime_again() -> None:
    oracle = Rappor(f="1/2", p="1/2", q="3/4", categories="abcd")
    assert oracle.lifetime(3) == 3 * oracle.lifetime()
    assert oracle.promise.epsilon() < oracle.lifetime().epsilon()


def test_what_is_remembered_stays() -> None:
    """Of 40 reports made of one memory the means tend to the remembered bits, not to fresh ones: instantaneous noise alone is averaged."""
    oracle = Rappor(f="1/2", p="1/4", q="3/4", categories=range(16))
    bits = SeededBits(3)
    memory = oracle.remember(np.zeros(20, dtype=np.int64), bits=bits)
    mean = np.mean([np.unpackbits(memory.perturb(bits=bits).payload[:, 1:], axis=1) for _ in range(200)], axis=0)
    remembered = np.unpackbits(memory.rows, axis=1)
    assert ((mean > 0.5) == remembered).all()
    assert repr(memory) == "Remembered(of 20 people)"


def test_simulated() -> None:
    simulated.check(lambda run: Rappor(f="1/2", p="1/4", q="3/4", categories=range(6)))


def test_the_estimate_of_the_basic_form_is_ordinary() -> None:
    oracle = Rappor(epsilon=1, categories="abc")
    assert isinstance(oracle.estimate(oracle.perturb(list("abcabc"))), Estimate)
    assert oracle.promise.to(sf.Approx, delta=0).epsilon() == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"f": "1/2", "p": "3/4", "q": "1/2"}, "local.bits"),
        ({"f": "1/2", "p": 1, "q": 1}, "number.not-a-probability"),
        ({"f": 0}, "number.not-a-probability"),
        ({"f": 1}, "number.not-a-probability"),
        ({"f": "1/2", "hashes": 2}, "local.size"),
        ({"f": "1/2", "size": 8}, "local.size"),
        ({"f": "1/2", "cohorts": 0}, "local.size"),
        ({}, "mechanism.calibration"),
    ],
)
def test_refused(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(Refused) as refused:
        Rappor(categories="abc", **arguments)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_rounding_is_towards_privacy() -> None:
    """A third is no number of 64 bits: f is rounded up, q down, p up, and each of them lowers both odds."""
    oracle = Rappor(f="1/3", p="1/3", q="2/3", categories="ab")
    keep = Fraction(5, 6)
    one, zero = keep * Fraction(2, 3) + (1 - keep) * Fraction(1, 3), keep * Fraction(1, 3) + (1 - keep) * Fraction(2, 3)
    assert oracle.odds < one * (1 - zero) / (zero * (1 - one))
    assert oracle.lifetime_odds < (keep / (1 - keep)) ** 2
