"""The page is whole, escaped and needs nothing; the CSVs say the same."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.studies import Comparison, Study, StudyResult, StudyRow, study_report
from sfumato.studies.band_pictures import bars

RESULT = StudyResult(
    rows=(
        StudyRow.claim(
            "a < b & c", "1", "2", holds=False, errata=("E-01",), sentence='because "so"'
        ),
        StudyRow.promise(
            "p", "ε = 1", "ε = 1000", is_kept=False, value=1000.0, errata=("E-04",), sentence="rows"
        ),
    ),
    sentence="One <b>sentence</b>.",
    comparisons=(
        Comparison(what="better", measure="error", faithful=2.0, right=1.0),
        Comparison(what="dearer", measure="error", faithful=1.0, right=960.0),
    ),
    figures={"drawn": bars(["a"], {"one": [1.0]}, title="A", up="")},
)
STUDY = Study(
    name="made-up", title="Made <up>", source="nowhere", items=("S-000",), run=lambda *_: RESULT
)


def test_the_page_stands_alone(tmp_path: Path) -> None:
    study_report.prepare(tmp_path / "deep" / "report")
    page = study_report.write(
        [(STUDY, RESULT)], tmp_path / "deep" / "report", repetitions=7, seed=3
    ).read_text(encoding="utf-8")
    assert "a &lt; b &amp; c" in page
    assert "One &lt;b&gt;sentence&lt;/b&gt;." in page
    assert "Made &lt;up&gt;" in page
    assert "data:image/png;base64," in page
    assert "http" not in page
    assert "<script" not in page
    assert page.count("set-up unsafe</span>") >= 2
    assert "7 repetitions" in page


def test_the_csvs_say_the_same(tmp_path: Path) -> None:
    study_report.prepare(tmp_path)
    study_report.write([(STUDY, RESULT)], tmp_path, repetitions=7, seed=3)
    with (tmp_path / "csv" / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["cell"], row["verdict"], row["errata"]) for row in rows] == [
        ("a < b & c", "misprint", "E-01"),
        ("p", "set-up unsafe", "E-04"),
    ]
    assert (tmp_path / "csv" / "made-up.csv").read_text(encoding="utf-8") == (
        tmp_path / "csv" / "all.csv"
    ).read_text(encoding="utf-8")
    with (tmp_path / "csv" / "made-up-right-way.csv").open(encoding="utf-8", newline="") as file:
        assert [row["saved"] for row in csv.DictReader(file)] == ["0.5", "-959.0"]


def test_savings_in_words() -> None:
    words = [
        study_report.saving(Comparison(what="", measure="", faithful=1.0, right=right))
        for right in (0.25, 1.0, 960.0)
    ]
    assert words == ["75.0 %", "nothing", "costs × 960"]


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused) as refusal:
        study_report.prepare(tmp_path / "file" / "report")
    assert refusal.value.code == "studies.out"


def test_the_overview_as_text() -> None:
    (line,) = study_report.lines([(STUDY, RESULT)])
    assert line.split() == ["nowhere", "1", "misprint", "·", "1", "set-up", "unsafe"]
