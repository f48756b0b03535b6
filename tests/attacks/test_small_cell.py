"""A group of one, and a rule that does not help."""

from __future__ import annotations

import pandas as pd

from sfumato.attacks.data.student_survey import survey
from sfumato.attacks.small_cell import small_cell
from sfumato.testing.seeded_bits import SeededBits


def table(others: int = 60) -> pd.DataFrame:
    rows = [
        (21, "m", "yes"),
        *((20 + i % 5, "f", "yes" if i % 4 == 0 else "no") for i in range(others)),
    ]
    return pd.DataFrame(rows, columns=["age", "sex", "drugs"])


def test_S_144_two_counts_and_certainty() -> None:
    result = small_cell(table(), {"age": 21, "sex": "m"}, value="yes", epsilons=(1,), trials=100)
    assert (result.size, result.having) == (1, 1)
    assert result.successes[0].rate == 1  # exact inference, with probability 1
    assert result.sentences[0].startswith(
        "1 person has age = 21, sex = m; 1 has age = 21, sex = m and drugs = yes."
    )


def test_S_144_in_the_source() -> None:
    """Its survey: one man of 21, and he takes drugs."""
    result = small_cell(survey(), {"age": 21, "sex": "m"}, "drugs", epsilons=(1,), trials=10)
    assert (result.size, result.having, result.value) == (1, 1, "yes")
    assert result.withheld
    assert not result.rule_helps


def test_S_144_a_minimum_size_is_no_defence() -> None:
    result = small_cell(table(), {"age": 21, "sex": "m"}, minimum=5, epsilons=(1,), trials=100)
    assert result.withheld
    assert not result.rule_helps
    assert result.everybody - result.others == 1
    assert min(result.everybody, result.others) >= 5


def test_where_the_rule_withholds_everything() -> None:
    result = small_cell(table(8), {"age": 21, "sex": "m"}, minimum=5, epsilons=(1,), trials=100)
    assert result.rule_helps
    assert "tracker" in result.sentences[1]


def test_what_the_others_have_is_learned_too() -> None:
    result = small_cell(table(), {"age": 21, "sex": "m"}, value="no", epsilons=(200,), trials=100)
    assert (result.having, result.numbers["difference"]) == (0, 0)
    assert result.guesses[0].value == 0  # ε = 200 has no noise, but with probability below 1e-40


def test_the_promise_is_kept() -> None:
    result = small_cell(table(), {"age": 21, "sex": "m"}, bits=SeededBits(1))
    assert result.holds
    assert result.successes[0].lower() > result.successes[3].bound
    assert len(result.plot().axes) == 1
