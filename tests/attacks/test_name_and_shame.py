"""A mechanism that keeps its promise and publishes people, beside one that keeps the same promise
and names hardly anybody.
"""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.lib.attack_result import Success
from sfumato.attacks.name_and_shame import name_and_shame
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits


def test_S_017_and_S_155_just_a_few() -> None:
    result = sf.attacks.name_and_shame(n=1000, epsilons=(), runs=5)
    assert result.at_least_one == pytest.approx(0.6323045752290363, abs=1e-9)
    assert (result.delta, result.expected) == (Fraction(1, 1000), 1)
    assert result.judgement.level == "unsafe"
    assert name_and_shame(n=10**6, delta="1e-9", epsilons=(), runs=1).at_least_one == pytest.approx(
        0.0009995001671245088, abs=1e-9
    )


def test_it_publishes_as_many_as_it_says() -> None:
    """2000 runs over 100 people at δ = 0.01: seeded. Were it not, the share of runs that publish
    somebody would be off by 0.06 with probability 2·e^(−14.4).
    """
    result = name_and_shame(n=100, epsilons=(), runs=2000, bits=SeededBits(1))
    assert abs(result.leaked - result.at_least_one) < 0.06
    shame = result.successes[1]
    assert shame.holds  # it does keep (0, δ)
    assert abs(shame.rate - 0.01) < 0.004


def test_twice_the_delta_is_seen() -> None:
    shame = name_and_shame(
        n=100, delta="0.02", epsilons=(), runs=2000, bits=SeededBits(2)
    ).successes[1]
    wrong = Success(
        against="δ = 0.01",
        hits=shame.hits,
        trials=shame.trials,
        chance=0.0,
        promise=sf.Approx(0, "0.01"),
        bound=0.01,
    )
    assert not wrong.holds


def test_a_session_names_hardly_anybody() -> None:
    """Not seeded: the one comparison is wrong with probability 1e-6 at most."""
    result = name_and_shame(n=300, epsilons=("0.5",), runs=4)
    exact, _, *private = result.successes
    assert exact.rate == 1
    assert [success.holds for success in private] == [True]
    assert private[0].promise == sf.Approx("0.5", Fraction(1, 300))
    assert private[0].bound == pytest.approx(1 / 300, abs=1e-12)


def test_a_small_delta_names_nobody() -> None:
    """300 names at δ = 1e-9, once: somebody with probability 3e-7."""
    assert name_and_shame(n=300, delta="1e-9", epsilons=(1,), runs=1).successes[-1].hits == 0


def test_a_table() -> None:
    frame = pd.DataFrame({"name": ["Ada", "Bea", "Cid", "Cid"], "x": [1, 2, 3, 4]})
    assert name_and_shame(frame, "name", epsilons=(), runs=1).people == 2
    with pytest.raises(Refused) as refused:
        name_and_shame(pd.DataFrame({"name": ["Ada", "Ada"]}), "name")
    assert refused.value.code == "attacks.alone"


def test_words_and_picture() -> None:
    result = name_and_shame(n=50, epsilons=(), runs=3)
    assert "that is (0, δ)-DP, and keeps its promise." in result.sentences[0]
    assert result.numbers["expected"] == 1
    assert result.plot().axes[0].get_xlabel() == "δ"
