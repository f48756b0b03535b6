"""`sfumato risk`, as a shell sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli.risk import tell
from sfumato.errors import Refused

ROWS = "\n".join(f"{'fm'[i % 2]},{20 + i % 30},{'Roma' if i % 3 else 'Bari'},{'flu' if i % 4 == 0 else 'none'}" for i in range(60))


def shell(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("sfumato")), "risk", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "100"}, check=False, cwd=at)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(f"sex,age,city,disease\n{ROWS}\n", encoding="utf-8")
    return tmp_path / "people.csv"


def test_it_writes_a_page_and_says_what_is_in_it(file: Path) -> None:
    arguments = ("people.csv", "--columns", "sex,age", "--columns", "city", "--sensitive", "disease", "--epsilon", "1", "--out", "out/risk.html")
    done = shell(*arguments, at=file.parent)
    assert done.returncode == 0, done.stderr
    assert "By sex, age and city" in done.stdout
    assert "not private" in done.stdout
    assert "Written to" in done.stdout
    assert "is not private itself" in (file.parent / "out" / "risk.html").read_text(encoding="utf-8")


def test_a_refusal_is_1_and_leaves_nothing_behind(file: Path) -> None:
    done = shell("people.csv", "--columns", "sex,nobody", at=file.parent)
    assert done.returncode == 1
    assert done.stderr.startswith("refused [attacks.columns]")
    assert "Traceback" not in done.stderr
    assert not (file.parent / "risk.html").exists()


@pytest.mark.parametrize(
    ("path", "columns", "out", "code"),
    [
        ("people.csv", [","], "risk.html", "attacks.columns"),
        ("nothing.csv", ["sex"], "risk.html", "table.path"),
        ("people.csv", ["sex"], "people.csv/risk.html", "attacks.out"),
    ],
    ids=["none", "file", "out"],
)
def test_what_is_refused_before_anything_is_read(file: Path, path: str, columns: list[str], out: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        tell(file.parent / path, columns, None, (), file.parent / out)
    assert refused.value.code == code
    assert not (file.parent / "risk.html").exists()


def test_wrong_usage_is_2(file: Path) -> None:
    assert shell("people.csv", at=file.parent).returncode == 2
