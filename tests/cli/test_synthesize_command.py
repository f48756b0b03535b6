"""`sfumato synthesize` as a shell sees it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.ledger import reading

from .command_line import run_inside

shell = partial(run_inside, "synthesize")
CITIES = ["Bari", "Milano", "Napoli", "Palermo", "Roma", "Torino"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    pq.write_table(sf.samples.visits(), folder / "visits.parquet")
    with sf.protect(
        folder / "visits.parquet",
        unit="user_id",
        max_rows=4,
        keys={"city": CITIES},
        bounds={"age": (0, 99), "spend": (0, 50)},
        budget=1,
    ) as visits:
        (folder / "visits.toml").write_text(visits.declaration.to_toml(), encoding="utf-8")
    return folder


def test_a_plan_writes_nothing(folder: Path) -> None:
    ended = shell(
        folder / "visits.parquet",
        "--declaration",
        folder / "visits.toml",
        "--epsilon",
        "1",
        "--columns",
        "city,vip",
    )
    assert ended.returncode == 0, ended.stderr
    assert "plan of a synthetic table · ε = 1, δ = 1e-09" in ended.stdout


def test_bins_are_spans_or_edges(folder: Path) -> None:
    fixed = ("--declaration", folder / "visits.toml", "--epsilon", "1", "--columns")
    columns = "age=20,spend=0:2.5:10:50,day=2026-01-01:2026-04-01:2026-07-01"
    ended = shell(folder / "visits.parquet", *fixed, columns)
    assert ended.returncode == 0, ended.stderr
    cells = dict(line.split()[::2] for line in ended.stdout.splitlines()[2:5])
    assert cells == {"age": "21", "spend": "4", "day": "3"}  # one of each is for missing values
    wrong = shell(folder / "visits.parquet", *fixed, "day=1:2")
    assert wrong.returncode == 1
    assert "synth.bins" in wrong.stderr


def test_rows_and_card_are_written_once_paid(folder: Path) -> None:
    spent = []
    for name in ("first.parquet", "second.csv"):
        ended = shell(
            folder / "visits.parquet",
            "--declaration",
            folder / "visits.toml",
            "--epsilon",
            "1/2",
            "--columns",
            "city",
            "--columns",
            "vip",
            "--ledger",
            folder / "visits.ledger",
            "--out",
            folder / name,
        )
        assert ended.returncode == 0, ended.stderr
        assert "certificate" in ended.stdout
        assert "not recorded" not in ended.stdout
        with reading(folder / "visits.ledger") as book:
            spent.append(book["visits"].spent)
    assert spent[0] == spent[1], "the second call returned the stored table"
    rows = pq.read_table(folder / "first.parquet")
    assert rows.column_names == ["city", "vip"]
    assert csv.read_csv(folder / "second.csv").num_rows == rows.num_rows
    card = json.loads((folder / "first.card.json").read_text(encoding="utf-8"))
    assert card["rows"] == rows.num_rows
    assert len(card["certificate"]) == 3


def test_a_file_of_another_kind_is_refused(folder: Path) -> None:
    ended = shell(
        folder / "visits.parquet",
        "--declaration",
        folder / "visits.toml",
        "--epsilon",
        "1",
        "--out",
        folder / "rows.xlsx",
    )
    assert ended.returncode == 1
    assert "table.path" in ended.stderr
