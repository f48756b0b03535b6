"""Above threshold: every answer of every small pair of neighbours by arithmetic, and the variants
that are not private, caught by the same.
"""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

ε = Fraction(1)
Answers = tuple[bool, ...]


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 128
    yield
    ctx.prec = before


@dataclass(frozen=True)
class Variant:
    """Scales of the noise on threshold and queries (None: no noise), and after how many answers of
    yes it stops (None: never).
    """

    threshold: Fraction | None
    query: Fraction | None
    stop: int | None

    @classmethod
    def of(cls, m: Any) -> Variant:
        return cls(m.threshold_law.scale, m.query_law.scale, m.answers)


@cache
def at_least(scale: Fraction | None, x: int) -> arb:
    """P(Z ≥ x)."""
    if scale is None:
        return arb(x <= 0)
    beyond = (-ball(max(x, 1 - x) / scale)).exp() / (1 + (-ball(1 / scale)).exp())
    return beyond if x >= 1 else 1 - beyond


@cache
def mass(scale: Fraction | None, z: int) -> arb:
    if scale is None:
        return arb(z == 0)
    q = (-ball(1 / scale)).exp()
    return (1 - q) / (1 + q) * (-ball(abs(z) / scale)).exp()


@cache
def chance(v: Variant, values: tuple[int, ...], answers: Answers, shown: int | None = None) -> arb:
    """The probability of these answers at threshold 0, but for less than 2^-60; `shown` is the
    noisy value that a leaking variant prints with its last yes.
    """
    reach = math.ceil((v.threshold or 0) * 42) + 1
    total = arb(0)
    for t in range(-reach, reach + 1):
        if shown is not None and shown < t:
            break
        term = mass(v.threshold, t)
        for i, (value, yes) in enumerate(zip(values, answers, strict=False)):
            if yes and shown is not None and i == len(answers) - 1:
                term *= mass(v.query, shown - value)
            else:
                term *= at_least(v.query, t - value) if yes else 1 - at_least(v.query, t - value)
        total += term
    return total


def sequences(length: int, stop: int) -> list[Answers]:
    """Every sequence of answers: it ends with the last yes that is allowed, or with the queries."""
    ended = []
    for answers in itertools.product((False, True), repeat=length):
        ends = next((i + 1 for i in range(length) if sum(answers[: i + 1]) == stop), length)
        ended.append(answers[:ends])
    return sorted(set(ended))


def loss(
    v: Variant,
    left: tuple[int, ...],
    right: tuple[int, ...],
    answers: Answers,
    shown: int | None = None,
) -> float:
    """ln of the ratio of probabilities."""
    p, q = chance(v, left, answers, shown), chance(v, right, answers, shown)
    return math.inf if p > arb(2) ** -40 and q < arb(2) ** -60 else float((p / q).log())


MONOTONE = {True: [(0, 1), (0, -1)], False: [(-1, 0, 1)]}


def worst(v: Variant, length: int, *, monotone: bool) -> float:
    """The largest loss over all values in {−2, …, 2}, all neighbours and all answers."""
    largest = 0.0
    for values in itertools.product(range(-2, 3, 1 if length < 3 else 2), repeat=length):
        for moves in MONOTONE[monotone]:
            for move in itertools.product(moves, repeat=length):
                if any(move):
                    neighbour = tuple(a + d for a, d in zip(values, move, strict=True))
                    largest = max(
                        largest,
                        *(
                            loss(v, values, neighbour, answers)
                            for answers in sequences(length, v.stop or length + 1)
                        ),
                    )
    return largest


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(
    ("answers", "length", "share"),
    [(1, 2, None), (1, 2, "1/2"), (2, 2, None), (2, 2, "1/2"), (1, 3, "1/2")],
)
def test_every_answer_of_every_neighbour(
    answers: int, length: int, monotone: bool, share: str | None
) -> None:
    m = mech.AboveThreshold(
        sensitivity=1, epsilon=ε, answers=answers, monotone=monotone, threshold_share=share
    )
    v = Variant.of(m)
    assert (
        sum((chance(v, (0, 1, -1)[:length], a) for a in sequences(length, answers)), arb(0))
        > 1 - arb(2) ** -55
    )
    largest = worst(v, length, monotone=monotone)
    assert 0.2 < largest <= ε


@pytest.mark.slow
@pytest.mark.parametrize("monotone", [False, True])
def test_three_queries_two_answers(monotone: bool) -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=ε, answers=2, monotone=monotone)
    assert 0.2 < worst(Variant.of(m), 3, monotone=monotone) <= ε


def test_how_tight_it_is() -> None:
    """Many queries that neighbours move apart from the last come close to the whole of ε: 0.97 of
    it after 40 of them.
    """
    m = mech.AboveThreshold(sensitivity=1, epsilon=ε, threshold_share="1/2")
    no, values = (False,) * 40 + (True,), (0,) * 40 + (-30,)
    assert 0.95 < loss(Variant.of(m), values, (1,) * 40 + (-31,), no) <= ε


# Variants that are not private.

RIGHT = Variant.of(mech.AboveThreshold(sensitivity=1, epsilon=ε, threshold_share="1/2"))


def test_no_noise_on_the_queries() -> None:
    """Stoddard, Chen & Machanavajjhala 2014: (no, yes) shows that the values 0 and 1 have the noisy
    threshold between them; with 1 and 0 it cannot occur.
    """
    v = replace(RIGHT, query=None, stop=None)
    assert loss(v, (0, 1), (1, 0), (False, True)) == math.inf
    assert loss(RIGHT, (0, 1), (1, 0), (False, True)) <= ε


def test_no_end() -> None:
    """Chen, Xiao, Zhang & Xu 2015: answers of yes without limit, noise for one. The loss grows with
    the number of queries.
    """
    v = replace(RIGHT, query=Fraction(2), stop=None)
    losses = [
        loss(v, (0,) * k + (1,) * k, (1,) * k + (0,) * k, (False,) * k + (True,) * k)
        for k in (1, 2, 4, 8)
    ]
    assert losses == sorted(losses)
    assert losses[0] < ε < losses[2]
    assert losses[3] > 4


def test_noise_that_does_not_grow_with_the_answers() -> None:
    """Lee & Clifton 2014: c answers of yes with the query noise of one."""
    v = replace(RIGHT, stop=5)
    assert loss(v, (1,) * 5, (0,) * 5, (True,) * 5) < ε, (
        "not seen where all values move together and near the threshold"
    )
    values, neighbour, answers = (
        (0,) * 20 + (-20,) * 5,
        (1,) * 20 + (-21,) * 5,
        (False,) * 20 + (True,) * 5,
    )
    assert loss(v, values, neighbour, answers) > 1.5
    right = Variant.of(
        mech.AboveThreshold(sensitivity=1, epsilon=ε, answers=5, threshold_share="1/2")
    )
    assert loss(right, values, neighbour, answers) <= ε


def test_the_noisy_value_is_shown() -> None:
    """Lecture notes of 2011: the yes comes with its noisy value, which bounds the noisy threshold
    from above; then each no costs.
    """
    losses = [
        loss(RIGHT, (0,) * k + (0,), (1,) * k + (0,), (False,) * k + (True,), shown=-12)
        for k in (1, 4, 16)
    ]
    assert losses == sorted(losses)
    assert losses[-1] > 2


def test_no_factor_of_two() -> None:
    """The noise for monotone queries, under queries that are not."""
    m = mech.AboveThreshold(sensitivity=1, epsilon=ε, monotone=True, threshold_share="1/2")
    values, neighbour, answers = (0,) * 40 + (-20,), (1,) * 40 + (-21,), (False,) * 40 + (True,)
    assert loss(Variant.of(m), values, neighbour, answers) > 1.3
    assert loss(RIGHT, values, neighbour, answers) <= ε


def test_no_noise_on_the_threshold() -> None:
    """Then each no costs as much as a yes."""
    v = replace(RIGHT, threshold=None)
    assert loss(v, (0,) * 10, (1,) * 10, (False,) * 10) > ε


# Accuracy.


def test_textbook_accuracy() -> None:
    """B-21, and how loose it is: 40 does what the textbook says 66.4 does."""
    assert mech.textbook_accuracy(epsilon=1, queries=100, beta=0.05) == pytest.approx(
        66.35239712081622, abs=1e-9
    )
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, threshold_share="1/2")
    assert m.threshold_law.scale == 2
    assert m.query_law.scale == 4
    assert m.accuracy(queries=100, beta=0.05) == 40


@pytest.mark.parametrize(
    "m",
    [
        mech.AboveThreshold(sensitivity=1, epsilon=1),
        mech.AboveThreshold(sensitivity=2, epsilon=3, monotone=True),
    ],
    ids=str,
)
def test_accuracy_against_the_exact_law(m: Any) -> None:
    """P(some |Z₂ − Z₁| > α) = 1 − Σ_t P(t)·P(|Z₂ − t| ≤ α)^k: below β at the α given, above it at
    half of it.
    """
    k, beta = 20, Fraction(1, 10)

    def fails(alpha: int) -> arb:
        reach, s = math.ceil(m.threshold_law.scale * 52), m.query_law.scale
        return 1 - sum(
            (
                mass(m.threshold_law.scale, t)
                * (at_least(s, t - alpha) - at_least(s, t + alpha + 1)) ** k
                for t in range(-reach, reach + 1)
            ),
            arb(0),
        )

    alpha = m.accuracy(queries=k, beta=beta)
    assert fails(alpha) < ball(beta)
    assert fails(alpha // 2) > ball(beta)


def test_epsilon_from_accuracy() -> None:
    m = mech.AboveThreshold.for_accuracy(alpha=40, queries=100, beta=0.05, threshold_share="1/2")
    assert m.accuracy(queries=100, beta=0.05) == 40
    assert 0.97 < m.epsilon <= 1
    less = mech.AboveThreshold(
        sensitivity=1, epsilon=m.epsilon * (1 - Fraction(1, 10**9)), threshold_share="1/2"
    )
    assert less.accuracy(queries=100, beta=0.05) > 40


def test_the_best_share_has_the_least_variance() -> None:
    for answers, monotone in ((1, False), (1, True), (10, False), (100, True)):
        shares = [None, "1/2", "1/10", "9/10", "1/50"]
        mechanisms = [
            mech.AboveThreshold(
                sensitivity=1, epsilon=1, answers=answers, monotone=monotone, threshold_share=s
            )
            for s in shares
        ]
        sums = [m.threshold_law.variance + m.query_law.variance for m in mechanisms]
        assert min(sums) == sums[0]


# The interface.


def test_a_session() -> None:
    m = mech.AboveThreshold(
        sensitivity=1, epsilon=10, answers=2, relation="add-remove", unit="patient"
    )
    assert m.promise == sf.Pure(10, relation="add-remove", unit="patient")
    session = m.start(1000, bits=SeededBits(1))
    assert [session.ask(v) for v in (0, 900, np.int64(1100), 10)] == [False, False, True, False]
    assert session.left == 1
    assert session.ask(2000)
    assert refusal(lambda: session.ask(0), "threshold.over").rewrite
    assert "1000" not in repr(session) + str(session)


def test_a_session_draws_what_it_says() -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1, answers=50)
    bits, same = SeededBits(3), SeededBits(3)
    session, noisy = m.start(5, bits=bits), 5 + m.threshold_law.draw(same)
    for value in range(-20, 20):
        assert session.ask(value) is (value + m.query_law.draw(same) >= noisy)


def test_a_session_cannot_be_copied() -> None:
    session = mech.AboveThreshold(sensitivity=1, epsilon=1).start(5)
    for call in (copy.copy, copy.deepcopy, pickle.dumps):
        refusal(lambda call=call: call(session), "threshold.copy")
    assert not hasattr(session, "noisy")
    assert not hasattr(session, "__dict__")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"answers": 0}, "threshold.count"),
        ({"answers": True}, "threshold.count"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"threshold_share": 1}, "number.not-a-probability"),
        ({"threshold_share": 0}, "number.not-a-probability"),
        ({"sensitivity": 0.5}, "mechanism.grid"),
        ({"epsilon": 1e-18}, "noise.scale"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(lambda: mech.AboveThreshold(**{"sensitivity": 1, "epsilon": 1} | arguments), code)


@pytest.mark.parametrize("value", [0.5, True, "3", None])
def test_only_integers(value: Any) -> None:
    m = mech.AboveThreshold(sensitivity=1, epsilon=1)
    refusal(lambda: m.start(value, bits=Untouchable()), "value.type")
    session = m.start(3)
    refusal(lambda: session.ask(value), "value.type")
    assert session.left == 1
