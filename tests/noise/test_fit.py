"""A million draws from the operating system's bits fit the exact law; a law whose scale is 5 % off
does not.

*False alarms*  The bits are really random, so a sound sampler fails each of these p-values with
                probability 1e-6: 51 of them here, 5.1e-5 for a run.
*Power*         The twins are rejected at p < 1e-20, with room to spare: their expected statistic is
                several hundred above its mean. Scales begin at 0.2: below it nearly all draws are
                0, and a million of them cannot tell 5 %. Smaller ones are enumerated
                (test_enumeration.py).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.exact.numbers import exact
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.choice import Choice
from sfumato.noise.geometric import Geometric
from sfumato.noise.rounded_normal import RoundedNormal

from . import checks, truth
from .checks import ALARM, DRAWS

SCALES = [
    exact(text)
    for text in [
        "0.2",
        "1/3",
        "0.5",
        "1",
        "22/7",
        "10",
        "1000",
        "1e6",
        "2097151.5",
        "2097152",
        "22000000/7",
        "1e9",
        "1e12",
        "1e15",
    ]
]
TWIN = DRAWS // 2
LAWS = {
    "geometric": lambda scale: Geometric(scale=scale),
    "normal": lambda scale: RoundedNormal(sigma=scale),
}


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_fit(kind: str, scale: Fraction) -> None:
    sample = LAWS[kind](scale).sample(DRAWS)
    assert checks.law_fit(sample, kind, scale) > ALARM
    if scale >= 1 << 21:
        assert checks.low_bits_fit(sample) > ALARM


@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)], ids=str)
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_twin_is_rejected(kind: str, scale: Fraction, factor: Fraction) -> None:
    assert checks.law_fit(LAWS[kind](scale * factor).sample(TWIN), kind, scale) < 1e-20


@pytest.mark.parametrize("scale", SCALES[::3], ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_scalar_draws_fit(kind: str, scale: Fraction) -> None:
    law = LAWS[kind](scale)
    assert checks.law_fit(np.array([law.draw() for _ in range(20_000)]), kind, scale) > ALARM


@pytest.mark.parametrize("p", ["1/3", "0.1"])
def test_coin_fits(p: str) -> None:
    chance = float(Fraction(p))
    assert checks.fit(Bernoulli(p=p).sample(DRAWS).astype(int), lambda z: chance, [1]) > ALARM
    assert (
        checks.fit(
            Bernoulli(p=Fraction(p) * Fraction(105, 100)).sample(DRAWS).astype(int),
            lambda z: chance,
            [1],
        )
        < 1e-20
    )


def test_choice_fits() -> None:
    scores = [Fraction(i % 7, 3) for i in range(20)]
    weights = [truth.middle(checks.reference.rational.exp(s, 64)) for s in scores]
    tails = np.cumsum(weights[::-1])[::-1] / sum(weights)
    cuts = range(1, len(scores))
    assert checks.fit(Choice(scores).sample(DRAWS), lambda i: tails[i], cuts) > ALARM
    assert (
        checks.fit(
            Choice([s * Fraction(105, 100) for s in scores]).sample(DRAWS), lambda i: tails[i], cuts
        )
        < 1e-20
    )


@pytest.mark.slow
@pytest.mark.parametrize("scale", [*SCALES, exact(1 << 30), exact(1 << 56)], ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_fit_of_ten_million(kind: str, scale: Fraction) -> None:
    """44 p-values at 1e-6."""
    sample = LAWS[kind](scale).sample(10 * DRAWS)
    assert checks.law_fit(sample, kind, scale) > ALARM
    if scale >= 1 << 21:
        assert checks.low_bits_fit(sample) > ALARM
