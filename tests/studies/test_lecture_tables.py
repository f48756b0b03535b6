"""The tables of the slides, recomputed."""

from __future__ import annotations

import pytest

from sfumato.studies import Verdict, lecture_tables, study


def test_the_survey_is_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = study("survey-tables").run(1, 1)
    assert len(result.rows) == 9 + 13 + 5 == result.printed
    assert {row.verdict for row in result.rows} == {Verdict.AGREES}
    assert sum(lecture_tables.AGES.values()) == sum(lecture_tables.BY_SEX.values()) == 24
    monkeypatch.setitem(lecture_tables.AGES, 21, 7)
    wrong = [r.cell for r in study("survey-tables").run(1, 1).rows if r.verdict != Verdict.AGREES]
    assert wrong == ["students of age 21"]


def test_the_numbers_of_the_slides() -> None:
    rows = {row.cell: row for row in study("lecture-numbers").run(1, 1).rows}
    assert {row.verdict for row in rows.values()} == {Verdict.AGREES}
    assert rows["6 039 000 − 6 020 000: Steven's salary"].value == 19_000
    assert rows["p = 2Y − ½"].ours == "0.36 gives Y = 0.43"
