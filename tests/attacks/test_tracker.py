"""Four allowed counts, and the forbidden one."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.attacks.tracker import tracker
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits


def table(n: int = 80) -> pd.DataFrame:
    rows = [
        (21, "m", "Bari", "yes"),
        *(
            (22 + i % 5, "m" if i % 2 else "f", "Roma", "yes" if i % 4 == 0 else "no")
            for i in range(n)
        ),
    ]
    return pd.DataFrame(rows, columns=["age", "sex", "city", "drugs"])


@pytest.mark.parametrize("value", ["yes", "no"])
def test_the_forbidden_count(value: str) -> None:
    result = tracker(table(), {"age": 21}, value=value, epsilons=(1,), trials=10)
    assert result.forbidden_count == (value == "yes")
    assert result.group[0] == "sex"


def test_every_question_is_allowed() -> None:
    result = tracker(table(), {"age": 21}, minimum=10, epsilons=(1,), trials=10)
    assert all(10 <= count <= 81 - 10 for count in result.counts)


def test_a_session_without_noise_gives_it_too() -> None:
    """ε = 400, so 100 for each: noise is 0 but with probability below 1e-40."""
    (guess,) = tracker(table(), {"age": 21}, epsilons=(400,), trials=10).guesses
    assert guess.value == 1


def test_no_group_is_large_enough() -> None:
    with pytest.raises(Refused) as refused:
        tracker(table(8), {"age": 21}, minimum=5)
    assert refused.value.code == "attacks.tracker"


def test_the_promise_is_kept() -> None:
    result = tracker(table(), {"age": 21}, bits=SeededBits(1))
    assert result.holds
    assert result.successes[0].rate == 1
    assert result.successes[0].lower() > result.successes[3].bound
    assert result.numbers["found"] == 1
    assert "= 1: the one with age = 21 has drugs = yes." in result.sentences[1]
    assert len(result.plot().axes) == 1
