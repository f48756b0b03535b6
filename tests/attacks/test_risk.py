"""The report for a committee: its findings, and what it does not say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.report.risk import RiskReport, risk_report
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits


def people(n: int = 300) -> pd.DataFrame:
    """Invented, and the same each time."""
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(18, 90, n),
            "city": draw.choice(["Roma", "Bari", "Matera"], n, p=[0.7, 0.25, 0.05]),
            "disease": draw.choice(["none", "flu", "gout"], n, p=[0.6, 0.3, 0.1]),
            "salary": draw.integers(10_000, 90_000, n),
        }
    )


@pytest.fixture(scope="module")
def report() -> RiskReport:
    return risk_report(
        people(), ["sex", "age", "city"], sensitive="disease", name="people", bits=SeededBits(1)
    )


def test_the_findings(report: RiskReport) -> None:
    alone = sf.attacks.uniqueness(people(), ["sex", "age", "city"])
    assert report.uniqueness.share == alone.share > 0
    assert report.difference is not None
    assert report.difference.difference == 1
    assert report.difference.value != "none"  # somebody whose secret is not what most have
    assert report.column is not None
    assert report.column.exact == report.column.people == 100
    assert report.holds


def test_exact_answers_tell_everything_and_private_ones_hardly_anything(report: RiskReport) -> None:
    """Seeded. Of 100 secrets, private counts give what guessing gives: below 75 % at ε = 1, where
    always saying the same gives about 60 %.
    """
    exact, *private = report.successes
    assert exact.rate == 1
    assert private[0].rate < 0.56
    assert dict(report.column.private)[Fraction(1)] < 75


def test_what_epsilon_buys(report: RiskReport) -> None:
    first = report.epsilon_effects[2]
    assert (first.epsilon, first.error) == (1, 3)
    assert first.odds == pytest.approx(np.e)
    assert first.belief == pytest.approx(np.e / (1 + np.e))


def test_nobody_is_named(report: RiskReport) -> None:
    assert report.difference is not None
    assert report.difference.person == "this person"
    assert "age = " not in report.html


def test_without_a_sensitive_column(tmp_path: Path) -> None:
    result = sf.risk_report(people(60), ["sex", "city"], epsilons=(1,), trials=100)
    assert (result.difference, result.column) == (None, None)
    assert [success.against for success in result.successes] == ["exact answers", "ε = 1"]
    html = result.write(tmp_path / "risk.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "One harmless question" in html


def test_a_sum(report: RiskReport) -> None:
    result = risk_report(
        people(), ["sex", "age", "city"], sensitive="salary", epsilons=(1,), trials=100
    )
    assert result.difference is not None
    assert result.difference.summed
    assert 10_000 <= result.difference.difference < 90_000
    assert result.column is not None
    assert result.column.what.startswith("salary above ")
    assert 50 <= result.column.commoner <= 51


@pytest.mark.parametrize(
    ("frame", "sensitive"),
    [
        (pd.DataFrame({"a": ["x"] * 10, "s": ["u", "v"] * 5}), "s"),  # nobody is alone
        (
            pd.DataFrame({"a": [float("nan"), 1.0, 1.0], "s": ["u", "v", "u"]}),
            "s",
        ),  # the one alone has a value that is missing
    ],
    ids=["nobody-alone", "missing"],
)
def test_where_that_attack_does_not_apply(frame: pd.DataFrame, sensitive: str) -> None:
    result = risk_report(frame, ["a"], sensitive=sensitive, epsilons=(1,), trials=50)
    assert result.successes[0].rate == 1


def one_of_k(k: int) -> pd.DataFrame:
    """Nobody is alone, and the secret takes k values."""
    return pd.DataFrame({"a": ["x", "y"] * (2 * k), "s": [f"v{i % k}" for i in range(4 * k)]})


@pytest.mark.parametrize(("k", "choices"), [(2, 2), (5, 5), (30, 20)])
def test_one_question_about_a_value_is_told_as_such(k: int, choices: int) -> None:
    """It was shown as a question about being in the table, with a coin, though guessing gives
    1/k.
    """
    result = risk_report(one_of_k(k), ["a"], sensitive="s", epsilons=(1,), trials=200)
    assert result.successes[0].chance == 1 / choices
    text, page = str(result), result.html
    assert (
        f"One question tells which of {choices} values of s a person has in 100 % of all games"
        in text
    )
    assert (
        f"which of "
        f"{f'its {k} values' if k == choices else f'{choices} of its {k} values'} does "
        f"this person have?"
    ) in page
    assert f"with one of {choices} values drawn for the secret" in page
    assert "Is the person in the table?" not in page
    assert "coin" not in page.partition("<footer>")[2]


def test_one_question_about_being_there() -> None:
    for result in (
        risk_report(one_of_k(3), ["a"], epsilons=(1,), trials=100),
        risk_report(
            {"a": ["x", "y"], "s": ["u", "u"]}, ["a"], sensitive="s", epsilons=(1,), trials=100
        ),  # one value: nothing to guess
    ):
        assert result.game == "presence"
        assert "One question tells whether a person is in the table in 100 % of all games" in str(
            result
        )
        assert "Is the person in the table?" in result.html
        assert "with a coin for whether the person is in the table" in result.html


def test_without_an_epsilon_sentences_are_whole(report: RiskReport) -> None:
    for sensitive in (None, "disease", "salary"):
        result = risk_report(
            people(60), ["sex", "age", "city"], sensitive=sensitive, epsilons=(), trials=50
        )
        assert result.sentences[-2].endswith("100 % of all games where answers are exact.")
        assert "<footer>" in result.html
    assert "Two questions tell what a person's disease is in 100 %" in str(report)
    assert ", and in " in report.sentences[-2]


def test_both_questions_are_about_many_or_it_is_not_said() -> None:
    """The report prefers a unique person whose secret many share. Without one, the page does not
    say that the questions are about many.
    """
    many = pd.DataFrame({"a": range(40), "s": ["rare", *["flu"] * 15, *["none"] * 24]})
    result = risk_report(many, ["a"], sensitive="s", epsilons=(), trials=50)
    assert result.difference is not None
    assert (result.difference.value, result.difference.without) == ("flu", 14)
    assert "both questions are about many" in result.html
    few = pd.DataFrame({"a": range(3), "s": ["rare", "odd", "strange"]})
    result = risk_report(few, ["a"], sensitive="s", epsilons=(), trials=50)
    assert result.difference is not None
    assert result.difference.without == 0
    assert "both questions are about many" not in result.html
    assert "the one question is about everybody, the other about everybody else" in result.html
    assert "1 person has s = " in result.html


def test_lines_that_could_not_be_read_are_on_the_page(tmp_path: Path) -> None:
    rows = (
        "".join(f"{i % 40},{'flu' if i % 3 else 'none'}\n" for i in range(1000))
        + "1,fièvre\n" * 600
    )
    (tmp_path / "ward.csv").write_bytes(("age,disease\n" + rows).encode("latin-1"))
    result = risk_report(
        tmp_path / "ward.csv", ["age"], sensitive="disease", epsilons=(1,), trials=50
    )
    assert str(result).startswith("600 of 1600 lines could not be read")
    assert "600 of 1600 lines could not be read: the file is not UTF-8" in result.html


def test_numbers_that_are_text_are_pointed_out(tmp_path: Path) -> None:
    people(60).to_csv(tmp_path / "ward.csv", index=False)
    text = "salary is text that spells numbers"
    result = risk_report(
        tmp_path / "ward.csv", ["sex", "age"], sensitive="salary", epsilons=(1,), trials=50
    )
    assert text in str(result)
    assert text in result.html
    assert text not in str(
        risk_report(people(60), ["sex", "age"], sensitive="salary", epsilons=(1,), trials=50)
    )
    assert "spells" not in str(
        risk_report(
            tmp_path / "ward.csv", ["sex", "age"], sensitive="disease", epsilons=(1,), trials=50
        )
    )


def test_an_epsilon_beyond_all_numbers() -> None:
    """e^710 is no double: the odds are told as the power."""
    result = risk_report(
        people(60), ["sex", "age"], sensitive="disease", epsilons=(1, 710), trials=50
    )
    assert "× e<sup>710</sup>" in result.html
    assert "× 2.72" in result.html


def test_a_table_of_one_person() -> None:
    result = risk_report({"a": ["x"]}, ["a"], epsilons=(1,), trials=50)
    assert result.uniqueness.share == 1
    assert "<h1>" in result.html


def test_a_path_is_its_name(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "ward.csv", index=False)
    result = risk_report(
        tmp_path / "ward.csv", ["sex", "age"], sensitive="disease", epsilons=(1,), trials=50
    )
    assert result.name == "ward"


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        risk_report(people(), ["sex", "nobody"])
    assert refused.value.code == "attacks.columns"
    with pytest.raises(Refused) as refused:
        risk_report(people(20), ["sex"], epsilons=(1,), trials=10).write(
            tmp_path / "no" / "risk.html"
        )
    assert refused.value.code == "attacks.out"


def test_words_and_picture(report: RiskReport) -> None:
    assert str(report).endswith(
        "This is about the raw data and not private: it is for their owner."
    )
    assert report.numbers["reconstructed"] == 100
    assert len(report.plot().axes) == 1
