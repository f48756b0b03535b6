"""RAPPOR: permanent and instantaneous, one report and a lifetime."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.local import Estimate, Rappor, Unary, client
from sfumato.testing import SeededBits

from . import simulated
from .laws import largest_odds, law_of_call


def test_the_numbers_as_published() -> None:
    """Erlingsson et al. 2014: ε∞ = 2h·ln((1 − f/2)/(f/2)), ε₁ = h·log(q*(1 − p*)/(p*(1 − q*))); f =
    ½, p = ½, q = ¾, h = 2: ε∞ = 4 ln 3 and ε₁ = 1.0743.
    """
    oracle = Rappor(f="1/2", p="1/2", q="3/4", hashes=2, size=128, cohorts=8, categories=range(10))
    assert oracle.lifetime().epsilon() == pytest.approx(4 * math.log(3), abs=1e-12)
    p_zero, p_one = 0.75 * 0.5 + 0.25 * 0.75, 0.75 * 0.75 + 0.25 * 0.5
    assert oracle.epsilon == pytest.approx(
        2 * math.log(p_one * (1 - p_zero) / (p_zero * (1 - p_one))), abs=1e-12
    )
    assert float(oracle.epsilon) == pytest.approx(1.0743, abs=1e-4)


def test_one_time_is_symmetric_unary() -> None:
    once, unary = (
        Rappor(epsilon=1, categories="abcd"),
        Unary(epsilon=1, categories="abcd", symmetric=True),
    )
    assert abs(once.true_support - unary.true_support) < Fraction(1, 2**60)
    assert once.lifetime().epsilon() == pytest.approx(1, abs=1e-15)
    assert once.promise.epsilon() == pytest.approx(1, abs=1e-15)


def histories(oracle: Rappor, *values: str) -> list[dict[bytes, Fraction]]:
    """The exact law of all reports of one person, for each history of values: every coin of the
    client is followed.
    """
    question = json.loads(json.dumps(oracle.question))

    def law(history: str) -> dict[bytes, Fraction]:
        def call() -> bytes:
            memory: dict[str, Any] = {}
            return b"".join(client.perturb(question, value, memory)[4:] for value in history)

        return law_of_call(call)

    return [law(history) for history in values]


def test_between_values_that_never_change_the_lifetime_is_kept() -> None:
    """Three reports of a constant value against three of another, and of one that is no category:
    at most ε∞, and exactly ε∞ where the reports are the permanent bits.
    """
    permanent, daily = (
        Rappor(f="1/2", categories="ab"),
        Rappor(f="1/2", p="1/2", q="3/4", categories="ab"),
    )
    assert largest_odds(histories(permanent, "aaa", "bbb", "xyx")) == permanent.lifetime_odds
    odds = largest_odds(histories(daily, "aa", "bb", "xy"))
    assert odds is not None
    assert odds < daily.lifetime_odds
    assert math.log(odds) == pytest.approx(1.0085, abs=1e-4)
    assert daily.promise.epsilon() < daily.lifetime().epsilon() == pytest.approx(2 * math.log(3))


def test_the_moment_of_a_change_is_given_away() -> None:
    """Two values each, at other moments: with p = 0 and q = 1 the second and the third report
    differ with probability 0.859375 or never, so ε is infinite. A promise of twice the lifetime for
    two values was false; the method takes no number of values any more.
    """
    oracle = Rappor(f="1/2", categories="ab")
    late, early = histories(oracle, "aabb", "abbb")
    assert sum(p for reports, p in late.items() if reports[2:4] != reports[4:6]) == Fraction(
        "0.859375"
    )
    assert all(reports[2:4] == reports[4:6] for reports in early)
    assert largest_odds([late, early]) is None
    with pytest.raises(TypeError):
        oracle.lifetime(2)  # type: ignore[call-arg]  # on purpose


def test_a_return_is_given_away() -> None:
    """Two histories change at the same moments, but one of them returns to its first value: the
    first and the third report tell which. So public moments are not enough for RAPPOR: which
    reports are about one value has to be public.
    """
    back, on = histories(Rappor(f="1/2", categories="abc"), "aba", "abc")
    assert all(reports[:2] == reports[4:6] for reports in back)
    assert not all(reports[:2] == reports[4:6] for reports in on)
    assert largest_odds([back, on]) is None


def test_where_it_is_public_which_reports_are_about_one_value_memories_compose() -> None:
    """What holds: if in both histories the same reports are about the same value, w values that
    differ keep w times ε∞, and this is attained.
    """
    oracle = Rappor(f="1/2", categories="abcd")
    assert largest_odds(histories(oracle, "aab", "ccd")) == oracle.lifetime_odds**2
    assert largest_odds(histories(oracle, "aab", "aac")) == oracle.lifetime_odds


def chance(oracle: Rappor, history: str, outcome: bytes) -> Fraction:
    """P(these bits are reported for this history): over every memory that the client may draw, the
    client's own law of each report made of it.
    """
    question = json.loads(json.dumps(oracle.question))

    def drawn() -> bytes:
        memory: dict[str, Any] = {}
        for value in "ab":
            client.perturb(question, value, memory)
        return json.dumps(memory).encode()

    total = Fraction(0)
    for memory, p in law_of_call(drawn).items():
        laws = {
            value: law_of_call(
                lambda value=value, memory=memory: client.perturb(
                    question, value, json.loads(memory)
                )[5:]
            )
            for value in "ab"
        }
        total += p * math.prod(
            (laws[value][bytes([bit])] for value, bit in zip(history, outcome, strict=True)),
            start=Fraction(1),
        )
    return total


@pytest.mark.parametrize(("reports", "loss"), [(5, 4.546), (10, 9.033), (30, 25.43)])
def test_no_number_of_values_bounds_the_loss(reports: int, loss: float) -> None:
    """The daily oracle of docs/guides/local.md, whose ε∞ is 2.197: one outcome, exactly, of a
    person who changes from a to b at one third of the time or at two thirds. Twice ε∞
    is 4.394; the loss is more after 15 reports, and grows with their number.
    """
    oracle = Rappor(f="1/2", p="1/2", q="3/4", categories="ab")
    outcome = b"\x80" * reports + b"\x40" * (
        2 * reports
    )  # the bit of a at first, then the bit of b
    late, early = (
        chance(oracle, history, outcome)
        for history in ("a" * 2 * reports + "b" * reports, "a" * reports + "b" * 2 * reports)
    )
    assert math.log(early / late) == pytest.approx(loss, abs=6e-3)
    assert math.log(early / late) > 2 * oracle.lifetime().epsilon() > 4.394


def test_what_is_remembered_stays() -> None:
    """Of 40 reports made of one memory the means tend to the remembered bits, not to fresh ones:
    instantaneous noise alone is averaged.
    """
    oracle = Rappor(f="1/2", p="1/4", q="3/4", categories=range(16))
    bits = SeededBits(3)
    memory = oracle.remember(np.zeros(20, dtype=np.int64), bits=bits)
    mean = np.mean(
        [np.unpackbits(memory.perturb(bits=bits).payload[:, 1:], axis=1) for _ in range(200)],
        axis=0,
    )
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
        Rappor(categories="abc", **arguments)  # type: ignore[arg-type]  # on purpose
    assert refused.value.code == code


def test_rounding_is_towards_privacy() -> None:
    """A third is no number of 64 bits: f is rounded up, q down, p up, and each of them lowers both
    odds.
    """
    oracle = Rappor(f="1/3", p="1/3", q="2/3", categories="ab")
    keep = Fraction(5, 6)
    p_one, p_zero = (
        keep * Fraction(2, 3) + (1 - keep) * Fraction(1, 3),
        keep * Fraction(1, 3) + (1 - keep) * Fraction(2, 3),
    )
    assert oracle.odds < p_one * (1 - p_zero) / (p_zero * (1 - p_one))
    assert oracle.lifetime_odds < (keep / (1 - keep)) ** 2
