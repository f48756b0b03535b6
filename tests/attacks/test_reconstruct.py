"""Bits from counts: exactly without noise, as B-24 says with a little, hardly with enough, and
never more than a promise allows.
"""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.lib.attack_result import Success
from sfumato.attacks.reconstruct import (
    METHODS,
    Answers,
    approximate_error,
    reconstruct,
    subset_counts,
)
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits

N = 40


def secret(n: int = N, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, n)


@pytest.mark.parametrize("method", METHODS)
def test_exact_counts_give_everything(method: str) -> None:
    result = sf.attacks.reconstruct(sf.attacks.subset_counts(secret()), method=method)
    assert result.wrong == 0
    assert (result.guess == secret()).all()
    assert result.numbers == {"people": N, "answers": 4 * N, "wrong": 0, "right": N}


@pytest.mark.parametrize("method", METHODS)
def test_counts_of_ones_own(method: str) -> None:
    groups = np.random.default_rng(1).integers(0, 2, (3 * N, N))
    result = reconstruct(groups @ secret(), groups, method=method)
    assert (result.guess == secret()).all()
    assert (result.wrong, result.successes) == (None, ())


def test_B_24_least_squares() -> None:
    """n = 128, m = 512, noise of 2: about 0.00715 of the bits are wrong. 40 runs of 128 bits,
    seeded: groups, bits and noise are the same each time. Five standard errors of 5120 bits are
    0.006.
    """
    wrong = [
        reconstruct(subset_counts(secret(128, i), 512, sd=2, seed=i), method="least squares").wrong
        or 0
        for i in range(40)
    ]
    assert abs(np.mean(wrong) / 128 - approximate_error(128, 512, 2)) < 0.006
    assert approximate_error(128, 512, 2) == pytest.approx(0.007152939217714824, abs=1e-15)


def test_B_24_the_twin() -> None:
    """Twice the noise: Φ(−√384/16) = 0.11, which is seen."""
    wrong = [
        reconstruct(subset_counts(secret(128, i), 512, sd=4, seed=i), method="least squares").wrong
        or 0
        for i in range(10)
    ]
    assert np.mean(wrong) / 128 > approximate_error(128, 512, 2) + 0.03


def test_linear_programming_stands_a_few_lies() -> None:
    """A tenth of the answers are nonsense: absolute errors forgive them, squares do not (Dwork,
    McSherry & Talwar 2007).
    """
    answers = subset_counts(secret(), 8 * N)
    values = answers.values.copy()
    values[::10] = 1000
    lied = Answers(groups=answers.groups, values=values, truth=answers.truth)
    assert reconstruct(lied).wrong == 0
    assert (reconstruct(lied, method="least squares").wrong or 0) > 4


@pytest.mark.parametrize("method", METHODS)
def test_the_promise_is_kept(method: str) -> None:
    """Coins of 40 people, 5 runs at each ε; every bit is a trial (proof in `releases`). Seeded."""
    bits = SeededBits(7)
    for epsilon in ("0.1", 1, 5):
        runs = [
            reconstruct(
                subset_counts(secret(N, 100 + i), epsilon=epsilon, tossed=True, seed=i, bits=bits),
                method=method,
            )
            for i in range(5)
        ]
        first = runs[0].successes[0]
        together = Success(
            against=first.against,
            hits=sum(r.successes[0].hits for r in runs),
            trials=5 * N,
            chance=0.5,
            promise=first.promise,
            bound=first.bound,
        )
        assert together.holds
        assert first.promise == sf.Pure(epsilon, relation="replace")


def test_a_promise_that_is_not_kept_is_seen() -> None:
    """Private answers at ε = 100 000, called ε = 1: they reveal everything and exceed the limit."""
    result = reconstruct(subset_counts(secret(80), epsilon=100_000, bits=SeededBits(8))).successes[
        0
    ]
    wrong = Success(
        against="ε = 1",
        hits=result.hits,
        trials=result.trials,
        chance=0.5,
        promise=sf.Pure(1),
        bound=0.7311,
    )
    assert result.rate == 1
    assert not wrong.holds


@pytest.mark.parametrize("method", METHODS)
def test_fewer_answers_than_people(method: str) -> None:
    """Ten equations for forty bits: the answers fit, and do not settle the bits. 200 of them do."""
    answers = subset_counts(secret(), 10)
    result = reconstruct(answers, method=method)
    assert np.abs(answers.groups @ result.estimate - answers.values).max() < 1e-6
    assert (result.wrong or 0) >= 5
    assert reconstruct(subset_counts(secret(), 200), method=method).wrong == 0


@pytest.mark.parametrize("ones", [0, 100, 500, 1000])
def test_a_column_of_ones_own_is_held_against_no_coin(ones: int) -> None:
    """Who has nothing to go by and says what is more common is right about all of a thousand zeros:
    no promise is broken by that.
    """
    column = (np.arange(1000) < ones).astype(int)
    (first,) = reconstruct(
        subset_counts(column, m=1, epsilon="0.1", seed=1, bits=SeededBits(1)),
        method="least squares",
    ).successes
    assert first.bound is None
    assert first.holds is None
    assert first.chance == max(ones, 1000 - ones) / 1000
    assert first.promise == sf.Pure("0.1", relation="replace")
    assert "BROKEN" not in first.sentence


def test_coins_are_held_against_what_is_allowed() -> None:
    (first,) = reconstruct(
        subset_counts(secret(), epsilon=1, tossed=True, bits=SeededBits(1))
    ).successes
    assert first.chance == 0.5
    assert first.bound == pytest.approx(np.e / (1 + np.e))


def test_bits_of_other_types() -> None:
    for values in ([True, False, True], [1.0, 0.0, 1.0], np.array([1, 0, 1], dtype=object)):
        assert subset_counts(values).truth.tolist() == [1, 0, 1]
    assert reconstruct([1.0, 0.0], [[True, False], [False, True]]).guess.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: subset_counts([0, 1, 2]), "attacks.values"),
        (lambda: subset_counts([1]), "attacks.values"),
        (lambda: subset_counts([0.9, 1.0, 0.5]), "attacks.values"),
        (lambda: subset_counts(["0", "1"]), "attacks.values"),
        (lambda: subset_counts([[0], [0, 1]]), "attacks.values"),
        (lambda: reconstruct("abc"), "attacks.counts"),
        (lambda: reconstruct("abc", np.ones((1, 2))), "attacks.counts"),
        (lambda: reconstruct([1.0, 2.0], [[2, 1], [0, 1]]), "attacks.counts"),
        (lambda: reconstruct([1.0, 2.0], [[0.5, 1], [0, 1]]), "attacks.counts"),
        (lambda: reconstruct([], np.ones((0, 0))), "attacks.counts"),
        (lambda: reconstruct([1.0, 2.0]), "attacks.counts"),
        (lambda: reconstruct([1.0, 2.0], np.ones((3, 2))), "attacks.counts"),
        (lambda: reconstruct([np.nan], np.ones((1, 2))), "attacks.counts"),
        (lambda: reconstruct(subset_counts([0, 1]), method="guessing"), "attacks.variant"),
        (lambda: approximate_error(10, 10, 1), "attacks.trials"),
    ],
    ids=[
        "values",
        "one",
        "fractions",
        "texts",
        "ragged",
        "text",
        "text-groups",
        "twice",
        "half",
        "empty",
        "no-groups",
        "shape",
        "nan",
        "method",
        "few",
    ],
)
def test_refusals(call: object, code: str) -> None:
    with pytest.raises(Refused) as refused:
        call()
    assert refused.value.code == code


def test_picture_and_words() -> None:
    result = reconstruct(subset_counts(secret(), sd=1))
    assert result.answers.against == "noise of 1"
    assert result.plot().axes[0].get_xlabel() == "person"
    assert f"{4 * N} counts of random groups of {N} people" in str(result)
    own_counts = reconstruct(np.array([1.0, 0.0]), np.eye(2))
    assert "1 of them are said to have the secret." in own_counts.sentences
    assert len(own_counts.plot().axes) == 1
