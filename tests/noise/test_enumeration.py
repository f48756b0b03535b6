"""All words of a layer, counted: no probability of any layer is off by more than the one word that
further bits decide.

That is 2^-63 for the geometric law, 2^-28 · 2^-64 for what follows a remainder's level, and so on:
below 10^-12 for every layer, at more than twenty parameter values each. What one layer hands to the
next is independent because the layers read different bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.bits import Bits
from sfumato.noise.choice import Choice
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal

from . import checks, reference
from .cases import SCALES, inside

SPLIT = [scale for scale in SCALES if reference.shift(scale)]


def by_sample(law: Geometric | RoundedNormal | Choice) -> checks.Draw:
    def draw(bits: Bits) -> int:
        return int(law.sample(1, bits)[0])

    return draw


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_geometric(scale: Fraction) -> None:
    law = Geometric(scale=scale)
    coarse = scale / (1 << reference.shift(scale))
    for k in {
        1,
        2,
        math.ceil(coarse / 10) + 1,
        math.ceil(coarse),
        math.ceil(3 * coarse),
        math.ceil(15 * coarse),
        math.ceil(40 * coarse),
    }:
        assert checks.geometric_miscount(law.draw, scale, k) <= 1
        assert checks.geometric_miscount(by_sample(law), scale, k) <= 1


@pytest.mark.parametrize("scale", SPLIT, ids=str)
def test_geometric_remainder(scale: Fraction) -> None:
    law, last = Geometric(scale=scale), (1 << reference.shift(scale)) - 1
    for r in {0, 1, last // 2, last - 1, last}:
        assert checks.remainder_miscount(law.draw, scale, r) <= 1
        assert checks.remainder_miscount(by_sample(law), scale, r) <= 1


@pytest.mark.parametrize("j", [*range(0, 130, 8), 140, 160, 180, 200, 220, 240, 280])
def test_normal_wall(j: int) -> None:
    for point in (0x12345678, 0x7BCDEF9876543210, 0xFEDCBA9876543210):
        assert checks.wall_miscount(RoundedNormal(sigma=10).draw, inside(j), j, point) <= 1


@pytest.mark.parametrize("sigma", [sigma for sigma in SCALES if sigma not in SPLIT], ids=str)
def test_normal_point(sigma: Fraction) -> None:
    """The boundaries of integers inside a cell, or, where the cell holds one integer only, at one
    of its ends.
    """
    law = RoundedNormal(sigma=sigma)
    for j in (0, 1, 50, 250):
        for k in {
            math.floor(sigma * (j + Fraction(i, 4)) / 32 + Fraction(1, 2)) for i in range(5)
        } - {0}:
            assert checks.point_miscount(law.draw, sigma, inside(j), j, k) <= 1


COINS = [
    {"p": Fraction(text)}
    for text in [
        "0",
        "1",
        "1/2",
        "1/3",
        "2/3",
        "1/256",
        "255/256",
        "1/257",
        "1/1000000007",
        "0.1",
        "0.999999999",
        "22/23",
    ]
]
COINS += [
    {"exponent": Fraction(text)}
    for text in ["0", "1/1000000", "1/10", "1/3", "1", "22/7", "5", "10", "30", "49"]
]


@pytest.mark.parametrize("law", COINS, ids=str)
def test_coin(law: dict[str, Fraction]) -> None:
    chance = reference.coin(law.get("p"), law.get("exponent"), 160)
    coin = Bernoulli(**law)
    assert checks.coin_miscount(coin.draw, chance) <= 1
    assert checks.coin_miscount(lambda bits: coin.sample(1, bits)[0], chance) <= 1


SCORES = [
    [Fraction(text) for text in line.split()]
    for line in """0
    0 0
    0 0 0
    0 1
    1 0
    0 1/1000000
    -1/3 0 1/3
    22/7 3 355/113
    0 -1 -2 -3 -4 -5 -6
    -6 -5 -4 -3 -2 -1 0
    0 -10
    0 -30 0
    0 -44 0
    0 -50 0
    -50 0 -50
    0 -1000 0
    0 -1000000 0 -1
    1000000 1000001 999999
    -1000000 -1000001 -999999
    0 5 0 5 0 5 0 5 0 5 0 5
    0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9""".splitlines()
]


@pytest.mark.parametrize("scores", SCORES, ids=lambda scores: " ".join(map(str, scores)))
def test_choice(scores: list[Fraction]) -> None:
    law = Choice(scores)
    for i in range(len(scores)):
        assert checks.choice_miscount(law.draw, reference.weights(scores), i) <= 1
