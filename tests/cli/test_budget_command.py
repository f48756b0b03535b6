"""`sfumato budget` as a shell sees it: all numbers, no trace, no cell and no memo that does more
than be read.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import time
from fractions import Fraction
from functools import partial
from pathlib import Path

import apsw
import pytest
from rich.console import Console

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.cli import budget_command
from sfumato.ledger import statement
from sfumato.testing.ledger_fixtures import fill

from .command_line import run_inside, run_process

shell = partial(run_inside, "budget", width=160)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "visits.ledger"
    led = sf.Ledger.open(
        path, budget=sf.Approx(1, 1e-6), dataset="visits", unit="user_id", relation="add-remove"
    )
    led.allow("alice", sf.Approx(0.5, 1e-6))
    led.charge(mech.Laplace(sensitivity=1, epsilon="1/3"), memo="visits by city", share="alice")
    led.charge(sf.Approx(0.25, 1e-7), memo="=[bold]mean\x1b[2J", key="k")
    led.release(led.reserve(sf.Pure(0.1), memo="not needed"))
    led.close()
    return path


@pytest.fixture
def two(path: Path) -> Path:
    led = sf.Ledger.open(
        path, budget=sf.ZCDP(0.1), dataset="patients", unit="patient", relation="replace"
    )
    led.charge(sf.ZCDP(0.05), memo="ages")
    led.close()
    return path


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, "")
    first, *rest = done.stderr.splitlines()
    assert rest[0].startswith("why   ")
    assert rest[-1].startswith("try   ")
    return first.partition("]")[0].removeprefix("refused [")


def test_it_prints_what_is_promised_spent_and_left(path: Path) -> None:
    done = shell(path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    text = "\n".join(lines)
    assert "visits what is protected: user_id · add-remove" in text
    assert any(
        line.startswith("the whole 1 · 1e-06 0.58334 · 1e-07 0.41666 · 9e-07 58.3 % ")
        for line in lines
    )  # up, and down
    assert any(
        line.startswith("alice 0.5 · 1e-06 0.33334 · 0 0.16666 · 1e-06 66.7 % ") for line in lines
    )
    assert "visits by city 1 0.33334 · 0" in text
    assert "not needed" not in text
    assert "The budget is the promise" in text
    assert "The spent part is bookkeeping." in text
    assert "Rogers" in text
    assert "talks to nobody" in text
    assert str(sf.Ledger.open(path).head) in lines


def test_the_real_command_prints_the_same(path: Path) -> None:
    done = run_process("budget", path, width=160)
    assert (done.returncode, done.stdout) == (0, shell(path).stdout)


def test_what_somebody_typed_stays_text(path: Path) -> None:
    out = shell(path).stdout
    assert "\x1b" not in out
    assert r"=[bold]mean\x1b[2J" in out


def test_history_lists_every_entry(path: Path) -> None:
    out = shell(path, "--history").stdout
    kinds = [
        line.split()[3]
        for line in out.splitlines()
        if line.strip()[:1].isdigit() and "20" in line and ":" in line and len(line.split()) > 3
    ]
    assert kinds[:6] == ["open", "share", "charge", "charge", "reserve", "release"]
    assert "not needed" in out


def test_history_stands_in_columns_and_is_only_text(path: Path) -> None:
    led = sf.Ledger.open(path)
    led.charge(sf.Pure("1e-6"), memo="two\nlines, [red]no colour[/] and no \x1b[2J", share="alice")
    led.close()
    out = shell(path, "--history", width=60).stdout
    assert "\x1b" not in out
    heading, *lines = out.partition("Every entry\n\n")[2].partition("\n\n")[0].splitlines()
    assert heading.split("  ")[0] == "entry"
    assert len(lines) == 7  # one line each, however narrow the terminal
    assert {line[heading.index("kind") :].split()[0] for line in lines} == {
        "open",
        "share",
        "charge",
        "reserve",
        "release",
    }
    assert lines[-1].endswith(r"two lines, [red]no colour[/] and no \x1b[2J")
    assert lines[-1][: heading.index("by")].endswith("1e-06 · 0  ")


def test_a_long_history_is_quick(tmp_path: Path) -> None:
    """A table set by `rich` takes more than ten seconds for this."""
    path = tmp_path / "long.ledger"
    led = sf.Ledger.open(
        path, budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove"
    )
    fill(led, 20_000, sf.Pure("1e-9"))
    led.close()
    start = time.process_time()
    out = shell(path, "--history").stdout
    assert time.process_time() - start < 5
    assert out.count(" filled\n") == 20_000


def test_all_datasets_or_one(two: Path) -> None:
    both, item = shell(two).stdout, shell(two, "--dataset", "patients").stdout
    assert "user_id" in both
    assert "0.05" in both
    assert "user_id" not in item
    assert "ages" in item


def test_json_is_complete(path: Path) -> None:
    done = shell(path, "--json")
    read = json.loads(done.stdout)
    assert Fraction(read["spent"]["epsilon"]) == Fraction(7, 12)
    assert read["shares"]["alice"]["spent"]["epsilon"] == "1/3"
    assert len(read["history"]) == 6
    assert read["verification"] is None
    assert json.loads(shell(path, "--json", "--verify").stdout)["verification"]["ok"] is True


def test_csv_is_safe(path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(shell(path, "--csv").stdout, newline="")))
    assert [row["kind"] for row in rows] == [
        "open",
        "share",
        "charge",
        "charge",
        "reserve",
        "release",
    ]
    assert (
        rows[3]["memo"] == "'=[bold]mean\\x1b[2J"
    )  # no formula, and nothing that moves the cursor


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_a_memo_cannot_write_on_the_screen_by_csv_or_json(tmp_path: Path, form: str) -> None:
    """Escape sequences, their one-byte forms and marks that turn a line around were printed as they
    are. JSON still says the same text.
    """
    memo = "a\x1b[2Jb\x9b2Jc\u202ed\u2066e\rf\ng\u200b"
    book = tmp_path / "books.ledger"
    ledger = sf.Ledger.open(
        book, dataset="visits", unit="u", relation="add-remove", budget=sf.Pure(1)
    )
    ledger.charge(sf.Pure(0.1), memo=memo)
    ledger.close()
    out = shell(book, form).stdout
    assert [c for c in out if not c.isprintable() and c not in "\r\n"] == []
    assert "\ng" not in out
    assert "\rf" not in out
    if form == "--json":
        assert json.loads(out)["history"][-1]["memo"] == memo


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_one_dataset_at_a_time_for_machines(two: Path, form: str) -> None:
    assert refused(shell(two, form)) == "ledger.dataset"
    assert shell(two, form, "--dataset", "visits").returncode == 0


def test_an_unknown_dataset_is_refused(path: Path) -> None:
    assert refused(shell(path, "--dataset", "nobody")) == "ledger.dataset"


def test_verify_says_what_it_saw_and_what_it_could_not(path: Path) -> None:
    head = str(sf.Ledger.open(path).head)
    blind, seeing = shell(path, "--verify"), shell(path, "--verify", "--head", head)
    assert (blind.returncode, seeing.returncode) == (0, 0)
    assert "6 entries" in blind.stdout
    assert "cannot see" in blind.stdout
    assert "cannot see" not in seeing.stdout


def test_an_old_copy_is_refused_with_the_head(path: Path) -> None:
    old = path.read_bytes()
    led = sf.Ledger.open(path)
    led.charge(sf.Pure(0.1))
    head = str(led.head)
    led.close()
    path.write_bytes(old)
    assert shell(path, "--verify").returncode == 0  # nothing is wrong with it by itself
    assert refused(shell(path, "--verify", "--head", head)) == "ledger.altered"


def test_an_edited_entry_is_refused(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "DROP TRIGGER entry_stays; UPDATE entry SET body = replace(body, '1/3', '1/30') "
        "WHERE number = 3"
    )
    connection.close()
    assert refused(shell(path, "--verify")) == "ledger.altered"


def test_a_book_without_accounts_does_not_verify(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM balance")
    connection.close()
    assert "empty" in shell(path).stdout
    assert refused(shell(path, "--verify")) == "ledger.altered"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--json", "--csv"),
        ("--head", "a:1:b"),
        ("--csv", "--verify"),
        ("--unknown",),
        ("surplus",),
    ],
    ids=["no path", "two forms", "head alone", "csv verified", "unknown", "surplus"],
)
def test_wrong_usage_is_2(path: Path, arguments: tuple[str, ...]) -> None:
    done = shell(*(() if not arguments else (path, *arguments)))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_has_examples() -> None:
    done = shell("--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert "--verify --head" in done.stdout


def test_a_wrong_head_is_refused(path: Path) -> None:
    assert refused(shell(path, "--verify", "--head", "nonsense")) == "ledger.head"


def test_what_is_no_ledger_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("something else")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    before = sorted(p.name for p in tmp_path.iterdir())
    codes = {
        name: refused(shell(tmp_path / name)) for name in ("text", "empty", "folder", "missing")
    }
    assert codes == {
        "text": "ledger.format",
        "empty": "ledger.format",
        "folder": "ledger.path",
        "missing": "ledger.path",
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_it_leaves_no_trace(path: Path) -> None:
    def state() -> dict[str, tuple[int, bytes]]:
        return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in path.parent.iterdir()}

    before = state()
    for arguments in ((), ("--history",), ("--json",), ("--csv",), ("--verify",)):
        assert shell(path, *arguments).returncode == 0
        assert state() == before
    path.chmod(0o444)
    assert shell(path).returncode == 0


def test_a_writer_is_not_in_the_way(path: Path) -> None:
    led = sf.Ledger.open(path)
    led.charge(sf.Pure(0.1), memo="just now")
    assert "just now" in shell(path).stdout
    led.charge(sf.Pure(0.1))
    led.close()


def printed_account(led: sf.Ledger) -> str:
    console = Console(file=io.StringIO(), width=1000, highlight=False)
    budget_command.narrate(statement(led), console, history=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_many_memos_are_cut_short() -> None:
    led = sf.Ledger.open(budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove")
    for n in range(budget_command.MOST_USES + 3):
        led.charge(sf.Pure("1/1000"), memo=f"question {n}")
    assert "and 3 more: --history shows all" in printed_account(led)


@pytest.mark.parametrize(
    "limit", [sf.Pure(1), sf.GDP(1), sf.ZCDP(1, 1e-6), sf.Renyi({2: 1, 8: 3})], ids=str
)
def test_every_currency_can_be_told(limit: sf.Guarantee) -> None:
    led = sf.Ledger.open(budget=limit, dataset="visits", unit="user_id", relation="add-remove")
    assert " 0 %" in printed_account(led)
    led.charge(sf.Pure(0.1), memo="asked")
    assert "asked" in printed_account(led)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("0", "0 %"),
        ("1", "100 %"),
        ("1/100000", "< 0.1 %"),
        ("99999/100000", "> 99.9 %"),
        ("1/3", "33.3 %"),
    ],
    ids=lambda value: str(value),
)
def test_per_cent_never_rounds_to_nothing_or_all(part: str, text: str) -> None:
    assert budget_command._per_cent(Fraction(part)) == text
