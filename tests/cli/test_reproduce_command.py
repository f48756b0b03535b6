"""`sfumato reproduce`, as a shell sees it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from .command_line import run_inside, run_process

shell = partial(run_inside, "reproduce", width=100)


def test_it_writes_a_report_and_says_what_is_in_it(tmp_path: Path) -> None:
    done = run_process(
        "reproduce",
        "--out",
        str(tmp_path / "report"),
        "--only",
        "table-4.7",
        "--only",
        "table-3.2",
        "--repetitions",
        "4",
    )
    assert done.returncode == 0
    assert "thesis, table 4.7" in done.stdout
    assert "5 agrees · 1 misprint" in done.stdout
    counts = "17 agrees · 0 unlikely · 1 misprint · 0 set-up unsafe · 0 differs"
    assert f"2 studies: {counts}" in done.stdout
    assert (tmp_path / "report" / "index.html").is_file()
    assert (tmp_path / "report" / "csv" / "table-4.7.csv").is_file()
    assert "Traceback" not in done.stderr


def test_an_unknown_study_is_refused(tmp_path: Path) -> None:
    done = shell("--out", str(tmp_path / "report"), "--only", "table-9.9")
    assert done.returncode == 1
    assert done.stderr.startswith("refused [studies.unknown]")
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("arguments", [("--repetitions", "1"), ("--seed", "-1"), ("surplus",)])
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    assert shell(*arguments).returncode == 2
