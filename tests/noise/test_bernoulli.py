"""The exact coin: bit for bit its specification, next to every digit of p."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.noise.bernoulli import Bernoulli
from sfumato.testing import SeededBits, TapeBits

from . import rational, reference
from .cases import ONES, words_of

COINS: list[dict[str, Fraction]] = [
    *(
        {"p": Fraction(text)}
        for text in [
            "0",
            "1",
            "1/2",
            "1/4",
            "1/3",
            "2/3",
            "0.1",
            "255/256",
            "1/256",
            "1/1000000007",
            "1e-30",
            "22/23",
        ]
    ),
    *(
        {"exponent": Fraction(text)}
        for text in ["0", "1e-30", "1/1000", "1/3", "1", "22/7", "5", "20", "100", "745", "1000"]
    ),
]

each_coin = pytest.mark.parametrize(
    "coin", COINS, ids=lambda coin: "{}={}".format(*next(iter(coin.items())))
)


def beginning(coin: dict[str, Fraction], bits: int) -> int:
    """⌊p·2^bits⌋."""
    return rational.decide(
        lambda q: reference.digits(reference.coin(coin.get("p"), coin.get("exponent"), q), bits),
        bits + 64,
    )


@each_coin
def test_random_bits(coin: dict[str, Fraction]) -> None:
    law, ours, theirs = Bernoulli(**coin), SeededBits(4), SeededBits(4)
    assert [law.draw(ours) for _ in range(600)] == [
        reference.bernoulli_draw(theirs, **coin) for _ in range(600)
    ]
    assert law.sample(3001, ours).tolist() == reference.bernoulli_sample(3001, theirs, **coin)
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


@each_coin
@pytest.mark.parametrize("words", [1, 2, 4])
def test_uniform_numbers_next_to_p(coin: dict[str, Fraction], words: int) -> None:
    """U that agrees with p for a byte and one, two or four words, and its neighbours. A draw reads
    the byte first, a sample last, of a word.
    """
    known_bits = 8 + 64 * words
    here = beginning(coin, known_bits)
    for number in {here + d for d in (-2, -1, 0, 1, 2) if 0 <= here + d < 1 << known_bits}:
        octet, *more = words_of(number, known_bits, 8)
        for then in ((), (0,), (ONES,)):
            tape = [octet << 56 | octet, *more, *then]
            expected = reference.bernoulli_draw(TapeBits(tape), **coin)
            assert Bernoulli(**coin).draw(TapeBits(tape)) is expected
            assert Bernoulli(**coin).sample(1, TapeBits(tape)).tolist() == [expected]


@each_coin
def test_probability_is_rounded_outward(coin: dict[str, Fraction]) -> None:
    law = Bernoulli(**coin)
    low, high = reference.coin(coin.get("p"), coin.get("exponent"), 200)
    assert Fraction(law.probability("down")) <= low
    assert high <= Fraction(law.probability("up"))
    assert 0 <= law.probability("down") <= law.probability() <= law.probability("up") <= 1
    assert (
        law.probability("up") - law.probability("down") <= 2.0**-50 * float(high) + 5e-324
    )  # one step each way, and one more for their texts


def test_certain_coins() -> None:
    for sure in (Bernoulli(p=1), Bernoulli(exponent=0)):
        assert sure.sample(100, SeededBits(1)).all()
        assert sure.draw(TapeBits([ONES, ONES]))
    for never in (Bernoulli(p=0), Bernoulli(exponent=10**300)):
        assert not never.sample(100, SeededBits(1)).any()
        assert not never.draw(TapeBits([0, 1]))


def test_a_coin_beyond_any_double() -> None:
    """e^(−1000) is 0 as a double, and yet it comes up: 1442 zeros lead there."""
    law = Bernoulli(exponent=1000)
    assert law.draw(TapeBits([0] * 24))
    assert not law.draw(TapeBits([0] * 22 + [ONES]))
    assert law.sample(1, TapeBits([0] * 24)).tolist() == [True]


@pytest.mark.parametrize("shape", [(), 0, (0,), 7, 8, 9, (3, 4), (2, 0)], ids=str)
def test_shapes(shape: Any) -> None:
    for law in (Bernoulli(p="1/3"), Bernoulli(p=1)):
        sample = law.sample(shape, SeededBits(1))
        assert sample.shape == (shape if isinstance(shape, tuple) else (shape,))
        assert sample.dtype == np.bool_


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "noise.bernoulli"),
        ({"p": 0.5, "exponent": 1}, "noise.bernoulli"),
        ({"p": 1.5}, "number.not-a-probability"),
        ({"p": -1}, "number.not-a-probability"),
        ({"exponent": -1}, "number.not-positive"),
        ({"exponent": float("inf")}, "number.not-finite"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        Bernoulli(**arguments)
    assert caught.value.code == code
