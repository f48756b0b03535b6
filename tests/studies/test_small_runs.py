"""Angie, the survey's mean, and the mean of a histogram."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, small_runs, study

from .verdicts import settled_verdict


def test_S_125_and_E_36() -> None:
    """The simulated posterior by the binomial law, false alarms at most 10⁻⁶."""
    result = study("angie").run(10, 1)
    rows = {row.cell: row for row in result.rows}
    wrong = rows["P(Angie failed | answer = 1)"]
    assert (wrong.verdict, wrong.errata, wrong.value) == (
        Verdict.MISPRINT,
        ("E-36",),
        pytest.approx(14 / 33),
    )
    assert {settled_verdict(row) for row in rows.values() if row is not wrong} == {Verdict.AGREES}
    assert "E-36" in result.sentence


def test_S_179_the_survey() -> None:
    result = study("survey-laplace").run(10, 1)
    assert {settled_verdict(row) for row in result.rows} == {Verdict.AGREES}
    assert "E-75" in result.sentence


def test_S_057_and_S_181_the_mean_of_a_histogram() -> None:
    result = study("histogram-mean").run(40, 1)
    assert {settled_verdict(row) for row in result.rows} == {Verdict.AGREES}
    assert result.comparisons[0].faithful / result.comparisons[0].right == pytest.approx(16.66)


def test_a_wrong_ratio_is_seen() -> None:
    first, second = [float(x) for x in range(-200, 201)], [x / 100 for x in range(-200, 201)]
    assert small_runs._ratio(first, second, 16.66).verdict is Verdict.DIFFERS
