"""The table of others' ε, the rules of thumb, and the judgement of a δ."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees.meaning.literature import (
    LITERATURE,
    RULES,
    judge_delta,
    name_and_shame,
    papers_using,
)


def test_the_table_is_complete() -> None:
    """S-185: nineteen rows (Hsu et al. 2014, table 1)."""
    assert len(LITERATURE) == 19
    assert all(0 <= row.low <= row.high <= 10 and row.application for row in LITERATURE)
    logarithms = next(row for row in LITERATURE if row.authors == "Korolova et al.")
    assert (logarithms.low, logarithms.high) == pytest.approx((math.log(2), math.log(10)))
    assert next(row for row in LITERATURE if row.application == "census data").low == 0


def test_lookup() -> None:
    assert {row.application for row in papers_using("0.01")} == {
        "census data",
        "record linkage",
        "empirical risk minimization",
    }
    assert papers_using(20) == ()
    assert "smart meters" in {row.application for row in papers_using(1)}


def test_the_rules_are_worth_what_is_said() -> None:
    """S-019, S-186: at ln 3 at most 75 %, at 5 at most 99.34 %; e^0.1 and e^1 against 1 + ε."""
    assert len(RULES) == 6
    assert sf.Pure(Fraction(math.log(3))).meaning(prior=0.5).posterior.high == pytest.approx(0.75)
    assert 0.9933 < sf.Pure(5).meaning(prior=0.5).posterior.high < 0.9934
    assert sf.Pure("0.1").meaning().odds.high == pytest.approx(1.1051709180756477)
    assert sf.Pure(1).meaning().odds.high == pytest.approx(2.718281828459045)
    assert 1.1051709180756477 / 1.1 - 1 < 0.005 < math.e / 2 - 1


@pytest.mark.parametrize(
    ("delta", "n", "level"),
    [
        ("1e-9", 10**6, "small"),
        (0, 10**9, "small"),
        ("9.99e-6", 1000, "small"),
        ("1e-5", 1000, "note"),
        ("1e-4", 100, "note"),
        ("1e-4", 500, "note"),
        ("1e-4", 1000, "warning"),
        ("1e-4", 5000, "warning"),
        ("9.99e-4", 1000, "warning"),
        ("1e-3", 1000, "unsafe"),
        ("0.5", 10**6, "unsafe"),
    ],
)
def test_delta_is_judged_by_n_delta(delta: object, n: int, level: str) -> None:
    judgement = judge_delta(delta, n)  # type: ignore[arg-type]  # cases are objects
    assert judgement.level == level
    assert judgement.expected == n * Fraction(str(delta))
    assert judgement.sentence.endswith(".")
    if level == "unsafe":
        assert not {"small", "safe", "fine", "acceptable"} & set(
            judgement.sentence.replace(".", "").split()
        )


def test_E_68_the_experiments_with_delta_1e_4() -> None:
    """Half a person in full at n = 5000, against the rule stated beside them."""
    assert [float(judge_delta("1e-4", n).expected) for n in (5000, 500, 100)] == [0.5, 0.05, 0.01]


def test_name_and_shame() -> None:
    """S-017: δ = 1/n publishes somebody with probability 63 %."""
    assert name_and_shame("1/1000", 1000) == pytest.approx(0.6323045752290363, abs=1e-15)
    assert name_and_shame("1e-9", 10**6) == pytest.approx(0.0009995001671245088, abs=1e-15)
    assert Fraction(7, 8) <= name_and_shame("1/2", 3) <= 7 / 8 + 1e-15
    assert name_and_shame(0, 10) == 0
    assert name_and_shame("1e-300", 1) >= Fraction("1e-300")


@pytest.mark.parametrize("n", [0, -1, True, 1.5])
def test_the_number_of_units_is_declared(n: object) -> None:
    with pytest.raises(Refused) as caught:
        judge_delta("1e-6", n)  # type: ignore[arg-type]  # cases are objects
    assert caught.value.code == "guarantee.units"
