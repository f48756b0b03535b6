"""Refusals that tell, and refusals that do not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.refusals import MaxAuditor, refusal_game, refusals, settles_secrets
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits


def table(steven: bool, attacker: bool) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["Steven", "me", *(f"person {i}" for i in range(30))],
            "sick": [steven, attacker, *(i % 3 == 0 for i in range(30))],
        }
    )


@pytest.mark.parametrize(("steven", "attacker"), list(product([True, False], repeat=2)))
def test_S_150_whatever_the_auditor_does_it_tells(steven: bool, attacker: bool) -> None:
    result = refusals(
        table(steven, attacker), {"name": "Steven"}, value=True, epsilons=(), trials=10
    )
    assert result.refused == (steven == attacker)
    assert result.learned == result.truth == steven


def test_S_150_the_ledger_is_silent() -> None:
    result = refusals(table(steven=True, attacker=True), {"name": "Steven"}, epsilons=(), trials=10)
    assert result.ledger_is_silent
    assert result.ledger[0] == (False, False, False, True, True)


def test_a_ninth_of_all_maxima_fall() -> None:
    """Each of 100 threes gives a value away with probability 1/3. Seeded; were it not, 10 to 60
    would be left with probability below 1e-6.
    """
    big = pd.DataFrame(
        {"name": [f"person {i}" for i in range(400)], "sick": [i % 2 == 0 for i in range(400)]}
    )
    result = refusals(big, {"name": "person 7"}, epsilons=(), trials=10)
    assert result.values_asked == 300
    assert 10 <= result.values_learned <= 60


def test_the_auditor_settles_nothing_by_answers_alone() -> None:
    auditor = MaxAuditor(np.array([3.0, 5.0, 9.0, 1.0]))
    assert auditor.ask((0, 1, 2)) == 9
    assert auditor.ask((0, 1)) is None  # would leave only the third
    assert auditor.ask((2,)) is None
    assert auditor.ask((0, 2, 3)) == 9
    assert auditor.ask((1, 2, 3)) == 9


def test_telling() -> None:
    assert [settles_secrets(answer, 3) for answer in range(4)] == [True, False, False, True]


def test_the_promise_is_kept() -> None:
    exact, *private = refusal_game(
        [Fraction(1, 2), Fraction(1), Fraction(5)], 4000, bits=SeededBits(1)
    )
    assert exact.rate == 1
    assert all(success.holds for success in private)
    assert exact.lower() > private[1].bound


def test_words_picture_and_refusals() -> None:
    result = sf.attacks.refusals(
        table(steven=True, attacker=True), {"name": "Steven"}, epsilons=(1,), trials=50
    )
    assert (
        "the auditor refuses. The attacker knows his own, so Steven has it." in result.sentences[0]
    )
    assert "answered, answered, answered, refused, refused." in result.sentences[2]
    assert result.numbers["refused"] == 1
    assert len(result.plot().axes) == 1
    with pytest.raises(Refused):
        refusals({"name": ["Steven"], "sick": [True]}, {"name": "Steven"})
