"""A book is looked at without a trace: closed, open, after a kill, or copied without the index of
its log.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.ledger import reading, statement


def book(path: Path, *, close: bool = True) -> sf.Ledger:
    led = sf.Ledger.open(
        path, budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove"
    )
    led.charge(sf.Pure(0.25), memo="a count")
    if close:
        led.close()
    return led


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}


def crashed(tmp_path: Path, *names: str) -> Path:
    """What a killed writer leaves."""
    led = book(tmp_path / "live.ledger", close=False)
    (tmp_path / "left").mkdir()
    for name in names:
        shutil.copyfile(tmp_path / name, tmp_path / "left" / name)
    led.close()
    return tmp_path / "left" / "live.ledger"


def look(path: Path) -> tuple[sf.Guarantee, int]:
    with reading(path) as books:
        return books["visits"].spent, len(books["visits"].history())


EXPECTED = (sf.Pure(0.25, relation="add-remove", unit="user_id"), 2)


def test_a_closed_book(tmp_path: Path) -> None:
    book(tmp_path / "a book?%41.ledger")
    before = files(tmp_path)
    assert list(before) == ["a book?%41.ledger"]
    assert look(tmp_path / "a book?%41.ledger") == EXPECTED
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "names",
    [("live.ledger", "live.ledger-wal", "live.ledger-shm"), ("live.ledger", "live.ledger-wal")],
    ids=["killed", "copied"],
)
def test_a_book_with_a_log(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = crashed(tmp_path, *names)
    before = files(path.parent)
    assert sorted(before) == sorted(names)
    assert look(path) == EXPECTED
    assert files(path.parent) == before


def test_a_book_that_another_writes(tmp_path: Path) -> None:
    led = book(tmp_path / "visits.ledger", close=False)
    with reading(tmp_path / "visits.ledger") as books:
        before = statement(books["visits"])
        led.charge(sf.Pure(0.5))  # the writer does not wait for whoever looks
        assert statement(books["visits"]) == before  # and the view does not change
    assert look(tmp_path / "visits.ledger")[0].parameters == sf.Pure(0.75).parameters
    led.close()


def test_a_closed_book_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    book(path)

    def while_another_writes() -> None:
        with reading(path) as books:
            assert books["visits"].spent
            led = sf.Ledger.open(path)
            led.charge(sf.Pure(0.5))
            led.close()
            os.utime(path, ns=(1, 1))  # as a clock would show it

    with pytest.raises(Refused) as caught:
        while_another_writes()
    assert caught.value.code == "ledger.busy"


def test_nothing_can_be_written(tmp_path: Path) -> None:
    book(tmp_path / "visits.ledger")
    with reading(tmp_path / "visits.ledger") as books:
        for change in (
            lambda led: led.charge(sf.Pure(0.1)),
            lambda led: led.amend(sf.Pure(2), "more"),
            lambda led: led.allow("alice", sf.Pure(0.1)),
        ):
            with pytest.raises(Refused) as caught:
                change(books["visits"])
            assert caught.value.code == "ledger.read-only"


def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("something else entirely")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t (a)")
    book(tmp_path / "newer")
    apsw.Connection(str(tmp_path / "newer")).execute("PRAGMA user_version=99")
    content = (tmp_path / "newer").read_bytes()
    (tmp_path / "cut").write_bytes(content[:4096])
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    codes = {}
    for name in ("text", "empty", "folder", "other.db", "newer", "missing"):
        with pytest.raises(Refused) as caught, reading(tmp_path / name):
            pass
        codes[name] = caught.value.code
    assert codes == {
        "text": "ledger.format",
        "empty": "ledger.format",
        "folder": "ledger.path",
        "other.db": "ledger.format",
        "newer": "ledger.version",
        "missing": "ledger.path",
    }
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before
