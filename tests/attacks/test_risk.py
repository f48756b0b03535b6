"""The report for a committee: its findings, and what it does not say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks.risk import RiskReport, risk_report
from sfumato.errors import Refused
from sfumato.testing.bits import SeededBits


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
    return risk_report(people(), ["sex", "age", "city"], sensitive="disease", name="people", bits=SeededBits(1))


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
    """Seeded. Of 100 secrets, private counts give what guessing gives: below 75 % at ε = 1, where always saying the same gives about 60 %."""
    exact, *private = report.successes
    assert exact.rate == 1
    assert private[0].rate < 0.56
    assert dict(report.column.private)[Fraction(1)] < 75  # type: ignore[union-attr]


def test_what_epsilon_buys(report: RiskReport) -> None:
    one = report.bought[2]
    assert (one.epsilon, one.error) == (1, 3)
    assert one.odds == pytest.approx(np.e)
    assert one.belief == pytest.approx(np.e / (1 + np.e))


def test_nobody_is_named(report: RiskReport) -> None:
    assert report.difference is not None
    assert report.difference.person == "this person"
    assert "age = " not in report.html


def test_without_a_sensitive_column(tmp_path: Path) -> None:
    found = sf.risk_report(people(60), ["sex", "city"], epsilons=(1,), trials=100)
    assert (found.difference, found.column) == (None, None)
    assert [one.against for one in found.successes] == ["exact answers", "ε = 1"]
    html = found.write(tmp_path / "risk.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "One harmless question" in html


def test_a_sum(report: RiskReport) -> None:
    found = risk_report(people(), ["sex", "age", "city"], sensitive="salary", epsilons=(1,), trials=100)
    assert found.difference is not None
    assert found.difference.summed
    assert 10_000 <= found.difference.difference < 90_000
    assert found.column is not None
    assert found.column.what.startswith("salary above ")
    assert 50 <= found.column.commoner <= 51


@pytest.mark.parametrize(
    ("frame", "sensitive"),
    [
        (pd.DataFrame({"a": ["x"] * 10, "s": ["u", "v"] * 5}), "s"),  # nobody is alone
        (pd.DataFrame({"a": [float("nan"), 1.0, 1.0], "s": ["u", "v", "u"]}), "s"),  # the one alone has a value that is missing
    ],
    ids=["nobody-alone", "missing"],
)
def test_where_that_attack_does_not_apply(frame: pd.DataFrame, sensitive: str) -> None:
    found = risk_report(frame, ["a"], sensitive=sensitive, epsilons=(1,), trials=50)
    assert found.successes[0].rate == 1


def test_a_table_of_one_person() -> None:
    found = risk_report({"a": ["x"]}, ["a"], epsilons=(1,), trials=50)
    assert found.uniqueness.share == 1
    assert "<h1>" in found.html


def test_a_path_is_its_name(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "ward.csv", index=False)
    found = risk_report(tmp_path / "ward.csv", ["sex", "age"], sensitive="disease", epsilons=(1,), trials=50)
    assert found.name == "ward"


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        risk_report(people(), ["sex", "nobody"])
    assert refused.value.code == "attacks.columns"
    with pytest.raises(Refused) as refused:
        risk_report(people(20), ["sex"], epsilons=(1,), trials=10).write(tmp_path / "no" / "risk.html")
    assert refused.value.code == "attacks.out"


def test_words_and_picture(report: RiskReport) -> None:
    assert str(report).endswith("This is about the raw data and not private: it is for their owner.")
    assert report.numbers["reconstructed"] == 100
    assert len(report.plot().axes) == 1
