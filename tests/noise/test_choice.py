"""The exact choice: bit for bit its specification, with slivers that no double can hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.noise.choice import Choice
from sfumato.testing import SeededBits, TapeBits

from . import rational, reference
from .cases import near, words_of


def fractions(line: str) -> list[Fraction]:
    return [Fraction(text) for text in line.split()]


LAWS: dict[str, dict[str, Any]] = {
    "one": {"scores": fractions("0")},
    "two equal": {"scores": fractions("0 0")},
    "seven equal": {"scores": fractions("0 0 0 0 0 0 0")},
    "nearly equal": {"scores": fractions("0 1/1000000000000")},
    "rational": {"scores": fractions("1/3 22/7 -5 0.1")},
    "falling": {"scores": fractions("0 -20 -40 -60")},
    "rising": {"scores": fractions("-60 -40 -20 0")},
    "a sliver": {"scores": fractions("0 -500 0")},
    "slivers": {"scores": fractions("0 -1000 0 -2000")},
    "large": {"scores": fractions("100000 100001")},
    "small": {"scores": fractions("-100000 -100001")},
    "many": {"scores": [Fraction(i * i % 17, 5) for i in range(40)]},
    "a rate": {"scores": fractions("0 1 5 -3"), "rate": Fraction(2, 7)},
    "a small rate": {"scores": fractions("0 1000000 500000"), "rate": Fraction(1, 10**6)},
    "a prior": {"scores": fractions("0 1 2"), "prior": fractions("3 2/3 1/7")},
    "a prior with zeros": {"scores": fractions("9 0 1 9"), "prior": fractions("0 1 1 0")},
    "a prior that outweighs the scores": {
        "scores": fractions("0 -700 -300"),
        "prior": [Fraction(1, 10**300), Fraction(1), Fraction(1, 10**170)],
    },
    "a prior beyond doubles": {
        "scores": fractions("0 -737"),
        "prior": [Fraction(1, 10**320), Fraction(1)],
    },
    "a prior far beyond doubles": {
        "scores": fractions("0 -760 -770"),
        "prior": [Fraction(1, 10**330), Fraction(1), Fraction(1)],
    },
}
"""Scores, with a rate and a prior where there is one."""

each = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def share(law: dict[str, Any], i: int, bits: int) -> int:
    """⌊P(I ≤ i)·2^bits⌋."""
    return rational.decide(
        lambda p: reference.digits(reference.shares(reference.weights(**law), p)[i], bits),
        bits + 64,
    )


@each
def test_random_bits(law: dict[str, Any]) -> None:
    choice, ours, theirs = Choice(**law), SeededBits(4), SeededBits(4)
    assert [choice.draw(ours) for _ in range(100)] == [
        reference.choice_sample(reference.weights(**law), 1, theirs)[0] for _ in range(100)
    ]
    assert choice.sample(300, ours).tolist() == reference.choice_sample(
        reference.weights(**law), 300, theirs
    )
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


@pytest.mark.parametrize(
    "name", [name for name in LAWS if name not in {"one", "two equal", "seven equal"}]
)
@pytest.mark.parametrize("known_bits", [64, 128])
def test_words_next_to_boundaries(name: str, known_bits: int) -> None:
    law = LAWS[name]
    n = len(law["scores"])
    for i in sorted({*range(min(4, n - 1)), n - 2}):
        for number in near(share(law, i, known_bits), 1 << known_bits):
            tape = words_of(number, known_bits, 64)
            assert [Choice(**law).draw(TapeBits(tape))] == reference.choice_sample(
                reference.weights(**law), 1, TapeBits(tape)
            )


def test_whole_scores_and_priors_may_be_arrays() -> None:
    """Integers of 64 bits are computed with as they stand, and draw the same; beyond 62 bits they
    are taken one by one.
    """
    scores, prior = np.array([3, -5, 0, 4]), np.array([1, 7, 0, 2])
    listed = Choice(scores.tolist(), rate="1/3", prior=prior.tolist())
    arrays = Choice(scores, rate="1/3", prior=prior)
    assert arrays.sample(500, SeededBits(1)).tolist() == listed.sample(500, SeededBits(1)).tolist()
    assert arrays.pmfs().tolist() == listed.pmfs().tolist() == [listed.pmf(i) for i in range(4)]
    extremes = np.array([-(1 << 63), (1 << 63) - 1])
    assert Choice(extremes).sample(20, SeededBits(1)).tolist() == [1] * 20
    assert Choice(extremes, rate=Fraction(1, 1 << 64)).pmf(0) == pytest.approx(
        1 / (1 + math.e), rel=1e-15
    )


@pytest.mark.parametrize("count", [2, 4, 8])
def test_boundaries_that_are_words(count: int) -> None:
    """Equal scores cut at dyadic numbers: what lies just below belongs to one, what lies at or
    above to the next.
    """
    law, step = Choice([0] * count), (1 << 64) // count
    for i in range(1, count):
        assert law.sample(2, TapeBits([i * step - 1, i * step, 12345, 12345])).tolist() == [
            i - 1,
            i,
        ]


def test_a_sliver_is_hit() -> None:
    """e^(−1000) of the unit interval, behind 0 and before 0: half and 1443 bits of zeros."""
    law = Choice([0, -1000, 0])
    at = share({"scores": fractions("0 -1000 0")}, 0, 64 * 25)
    words = words_of(at, 64 * 25, 64)
    assert law.draw(TapeBits([*words[:-1], 0])) == 0
    assert law.draw(TapeBits([*words[:23], words[23] + 1])) == 1
    assert law.draw(TapeBits([1 << 63, 1 << 63])) == 2


@each
def test_probabilities(law: dict[str, Any]) -> None:
    """pmf, cdf and tail round outward; all against sums of rational exponentials."""
    choice, n = Choice(**law), len(law["scores"])
    ends = [
        (Fraction(0), Fraction(0)),
        *reference.shares(reference.weights(**law), 2200),
        (Fraction(1), Fraction(1)),
    ]
    for i in {0, n // 2, n - 1}:
        (before, here) = ends[i], ends[i + 1]
        expected = {
            "pmf": (here[0] - before[1], here[1] - before[0]),
            "cdf": here,
            "tail": (1 - before[1], 1 - before[0]),
        }
        for name, (low, high) in expected.items():
            ask = getattr(choice, name)
            if name != "pmf" or low > 0:  # a sliver's mass is not found by a difference
                assert Fraction(ask(i, "down")) <= high
                assert Fraction(ask(i, "up")) >= low
                assert ask(i) == pytest.approx(float((low + high) / 2), rel=1e-15)
            assert 0 <= ask(i, "down") <= ask(i) <= ask(i, "up") <= 1
    assert sum(choice.pmf(i) for i in range(n)) == pytest.approx(1, abs=n * 2.0**-52)


@each
def test_quantile(law: dict[str, Any]) -> None:
    ends = [*reference.shares(reference.weights(**law), 256), (Fraction(1), Fraction(1))]
    for p in ("1e-10", "0.123", "0.7", "0.99999", "1"):
        i = Choice(**law).quantile(p)
        assert ends[i][1] >= Fraction(p)
        assert i == 0 or ends[i - 1][0] < Fraction(p)


@pytest.mark.parametrize(
    ("scores", "p", "i"),
    [
        ([0, 0], "1/2", 0),
        ([0] * 3, "2/3", 1),
        ([1, 2, 2, 1], "1/2", 1),
        ([5] * 10, "0.3", 2),
        ([1, 2, 1, 2], "1/2", 1),
    ],
)
def test_quantile_at_a_tie(scores: list[int], p: str, i: int) -> None:
    """P(I ≤ i) = p exactly: no precision decides it, linear independence does."""
    assert Choice(scores).quantile(p) == i


def test_only_differences_matter() -> None:
    far = Choice([10**300, 10**300 + 1])
    assert far.pmf(1) == Choice([0, 1]).pmf(1)
    assert (
        far.sample(50, SeededBits(1)).tolist() == Choice([0, 1]).sample(50, SeededBits(1)).tolist()
    )


@pytest.mark.parametrize("shape", [(), 0, (0,), 7, (3, 4), (2, 0)], ids=str)
def test_shapes(shape: Any) -> None:
    sample = Choice([0, 1, 2]).sample(shape, SeededBits(1))
    assert sample.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert sample.dtype == np.int64


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"scores": []}, "noise.choice"),
        ({"scores": [1, 2], "prior": [1]}, "noise.choice"),
        ({"scores": [1, 2], "prior": [0, 0]}, "noise.choice"),
        ({"scores": [1, 2], "prior": [2, -1]}, "noise.choice"),
        ({"scores": [1, 2], "rate": 0}, "number.not-positive"),
        ({"scores": [0, float("nan")]}, "number.not-finite"),
        ({"scores": [True]}, "number.type"),
        ({"scores": ["x"]}, "number.text"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        Choice(**arguments)
    assert caught.value.code == code


def test_scores_are_not_shown() -> None:
    assert "12345" not in repr(Choice([12345, 0]))
