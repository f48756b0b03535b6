"""Membership from means: the separation of the source, three scores, and what private means leave
of them.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sfumato as sf
from sfumato.attacks.data.genomes import genomes
from sfumato.attacks.membership import SCORES, Membership, membership
from sfumato.errors import Refused

from .promises import promises_hold


@cache
def attack_pool(
    score: str = "likelihood", people: int = 800, positions: int = 4000, pool: int = 400
) -> Membership:
    return membership(genomes(people, positions), pool=pool, score=score)


def test_S_148_the_separation_is_the_root_of_m_over_n() -> None:
    """m = 10,000 positions of n = 1000 people: 3.16 standard deviations."""
    assert math.sqrt(10_000 / 1000) == pytest.approx(3.16228, abs=1e-5)
    result = attack_pool("product", 2000, 10_000, 1000)
    assert result.expected == pytest.approx(3.16228, abs=1e-5)
    assert result.separation == pytest.approx(
        result.expected, abs=0.45
    )  # 5 standard deviations: √(2/1000) of the means and 1/√2000 of the spread, 0.085 in all
    assert result.roc.area == pytest.approx(
        norm.cdf(result.expected / math.sqrt(2)), abs=0.02
    )  # and 5 of the area's √(0.0127·0.987/1000)


@pytest.mark.parametrize("score", SCORES)
def test_every_score_finds_members(score: str) -> None:
    result = attack_pool(score)
    assert result.expected == pytest.approx(math.sqrt(10))
    assert abs(result.separation - result.expected) < 0.9
    assert result.roc.area > 0.95


def test_scores_are_what_they_are_called() -> None:
    p, f, x = np.array([0.2, 0.5, 0.9]), np.array([0.3, 0.4, 0.95]), np.array([1, 0, 1])
    by_hand = {
        "likelihood": float((x * np.log(f / p) + (1 - x) * np.log((1 - f) / (1 - p))).sum()),
        "distance": float((np.abs(x - p) - np.abs(x - f)).sum()),
        "product": float(((x - p) * (f - p) / (p * (1 - p))).sum()),
    }
    for name, score in SCORES.items():
        weights, constant = score(f, p)
        assert weights @ x + constant == pytest.approx(by_hand[name])


def test_private_means_keep_their_promise() -> None:
    """Wrong with probability 10⁻⁶; exact means, the twin, are far above what is allowed."""
    result = membership(genomes(600, 1000), pool=100)
    exact, *private = result.against(("0.1", 1, 5), trials=200)
    assert exact.lower() > 0.8
    assert promises_hold(private)
    assert exact.lower() > max(success.bound for success in private[:2])
    assert [success.promise for success in private] == [
        sf.Pure(e, relation="replace") for e in ("0.1", 1, 5)
    ]


def test_gaussian_noise_keeps_its_promise() -> None:
    result = membership(genomes(300, 400), pool=40)
    exact, private = result.against((1,), delta="1e-6", trials=200)
    assert exact.rate > private.rate
    assert private.holds
    assert private.promise is not None
    assert private.promise.delta(1) <= 1.001e-6


def test_too_little_noise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: noise for one mean, where a thousand are released, breaks the promise."""
    result = membership(genomes(300, 1000), pool=40)
    monkeypatch.setitem(
        sys.modules["sfumato.attacks.membership"].__dict__,
        "_noise",
        lambda m, epsilon, delta: {"epsilon": epsilon, "sensitivity": 1},
    )
    _, private = result.against((1,), trials=200)
    assert private.holds is False


def test_the_curve_of_private_means_is_below_what_is_allowed() -> None:
    """Both shares are within √(ln(2/β)/2n) of the truth at every threshold at once, with β = 5·10⁻⁷
    each (Dvoretzky, Kiefer & Wolfowitz; Massart).
    """
    result = membership(genomes(300, 300), pool=40)
    curve = result.curve(1, trials=2000)
    off = math.sqrt(
        math.log(2 / 5e-7) / (2 * 900)
    )  # the coins are seeded: 900 of each kind, or more
    assert (curve.detected <= allowed(np.minimum(curve.false_alarms + off, 1)) + off).all()
    assert curve.area < result.roc.area
    assert (
        result.roc.detected > allowed(np.minimum(result.roc.false_alarms + 0.01, 1)) + 0.01
    ).any()  # the twin: exact means


def allowed(alarms: Any) -> Any:
    """1 − f(α) at ε = 1: the most that can be found."""
    e = math.e
    ends = sf.Pure(1).tradeoff("0.1"), sf.Pure(1).tradeoff("0.9")
    assert ends == pytest.approx((1 - e * 0.1, 0.1 / e))
    return np.minimum(e * alarms, 1 - (1 - alarms) / e)


def test_a_table_of_ones_own() -> None:
    """Half of those outside stand for the population: noisier, and enough."""
    bits = genomes(900, 2000).bits
    result = membership({f"c{column}": bits[:, column] for column in range(200)}, pool=40)
    assert (result.n, result.m, len(result.outside)) == (40, 200, 430)
    assert result.roc.area > 0.8


def test_words_numbers_and_a_picture() -> None:
    result = attack_pool()
    assert "From 4000 means of 400 people, members stand out by" in str(result)
    assert result.numbers["area"] == result.roc.area
    (axes,) = result.plot((1,), trials=10).axes
    assert len(axes.lines) == 3


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"score": "best"}, "attacks.variant"),
        ({"pool": 1}, "attacks.trials"),
        ({"pool": 10}, "attacks.trials"),
        ({"pool": "half"}, "attacks.trials"),
        ({"people": np.full((9, 2), 7)}, "attacks.values"),
    ],
    ids=["score", "small", "all", "text", "values"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        membership(**({"people": genomes(10, 5)} | arguments))
    assert refusal.value.code == code


@pytest.mark.parametrize("value", [0, 1])
def test_people_who_all_look_the_same(value: int) -> None:
    """Nobody stands out: it is no number, and no warning of NumPy."""
    with pytest.raises(Refused) as refused:
        membership(np.full((20, 5), value))
    assert refused.value.code == "attacks.values"
