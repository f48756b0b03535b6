"""One book, one file, one name, one log, and locks that hold: what breaks one of these is refused,
at opening and at the next charge.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.storage import file_checks
from sfumato.storage.file_checks import SHARED, locks_hold

from ..refusing import refusing
from .books import open_book

MOUNTED = """
import json, subprocess, sys, pathlib
import sfumato as sf
def spend(path):
    try:
        ledger = sf.Ledger.open(path)
        ledger.charge(sf.Pure("0.1"))
        return "charged"
    except sf.Refused as refusal:
        return refusal.code
folder = pathlib.Path(sys.argv[1])
for one in ("c1", "c2", "whole"):
    (folder / one).mkdir()
(folder / "c1/x.ledger").touch()
for source, target in (("host/x.ledger", "c1/x.ledger"), ("host", "whole")):
    subprocess.run(["mount", "--bind", str(folder / source), str(folder / target)], check=True)
print(json.dumps([spend(folder / place / "x.ledger") for place in ("host", "c1", "whole")]))
"""


@pytest.fixture(autouse=True)
def _unprobed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test finds out about locks by itself."""
    monkeypatch.setattr(file_checks, "_probed", set())


def test_a_hard_link_to_a_book_is_refused_at_opening_and_at_the_next_charge(tmp_path: Path) -> None:
    """Under two names a book had two logs, and the budget was spent twice, and verified."""
    path, link = tmp_path / "a.ledger", tmp_path / "b.ledger"
    ledger = open_book(path, 1)
    for _ in range(3):
        ledger.charge(sf.Pure("0.1"))
    link.hardlink_to(path)
    for _ in range(3):
        with refusing("ledger.names"):
            ledger.charge(sf.Pure("0.1"))
    with refusing("ledger.names"):
        sf.Ledger.open(link)
    ledger.close()
    with refusing("ledger.names"):
        sf.Ledger.open(path)
    link.unlink()
    assert sf.Ledger.open(path).charge(sf.Pure("0.7")).number == 5


def test_a_symbolic_link_to_a_book_is_the_same_book(tmp_path: Path) -> None:
    path, link = tmp_path / "a.ledger", tmp_path / "elsewhere" / "b.ledger"
    link.parent.mkdir()
    by_path = open_book(path, 1)
    link.symlink_to(path)
    by_link = sf.Ledger.open(link)
    for turn in range(10):
        (by_path, by_link)[turn % 2].charge(sf.Pure("0.1"))
    for ledger in (by_path, by_link):
        with refusing("budget.exceeded"):
            ledger.charge(sf.Pure("0.1"))
        ledger.close()


def test_a_file_that_is_mounted_by_itself_is_refused_and_a_mounted_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As containers mount a single file. Where this process may mount, in a namespace of its own,
    that is done; else the system is asked what it would say.
    """
    (tmp_path / "host").mkdir()
    open_book(tmp_path / "host" / "x.ledger", 1).close()
    if may_mount():
        done = subprocess.run(
            ["unshare", "-m", sys.executable, "-c", MOUNTED, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == ["charged", "ledger.names", "charged"]
    true = file_checks._mount
    assert true(str(tmp_path)) == true(str(tmp_path / "host" / "x.ledger"))
    monkeypatch.setattr(
        file_checks, "_mount", lambda path: 99 if path.endswith(".ledger") else true(path)
    )
    with refusing("ledger.names"):
        sf.Ledger.open(tmp_path / "host" / "x.ledger")
    monkeypatch.setattr(
        file_checks, "_mount", lambda _: None
    )  # a system that does not number its mounts: the device has to be that of the folder
    sf.Ledger.open(tmp_path / "host" / "x.ledger").close()
    real_stamps = file_checks.stamp_files
    monkeypatch.setattr(
        file_checks,
        "stamp_files",
        lambda path, *more: tuple(
            (stamp[0], stamp[1] + 1, *stamp[2:]) if stamp else None
            for stamp in real_stamps(path, *more)
        ),
    )
    with refusing("ledger.names"):
        sf.Ledger.open(tmp_path / "host" / "x.ledger")


def may_mount() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode
        == 0
    )


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_is_deleted_or_replaced_while_the_book_is_open_stops_it(
    ending: str, replaced: bool, tmp_path: Path
) -> None:
    """Charges went on into a file without a name, and were lost with the process. Now the ledger
    acknowledges nothing more, and a clean end saves what it acknowledged before.
    """
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 1)
    for _ in range(4):
        ledger.charge(sf.Pure("0.1"))
    head, log = str(ledger.head), Path(f"{path}{ending}")
    content = log.read_bytes()
    log.unlink()
    if replaced:
        log.write_bytes(content)
    for _ in range(3):
        with refusing("ledger.log"):
            ledger.charge(sf.Pure("0.1"))
        with refusing("ledger.log"):
            assert ledger.spent
    ledger.close()
    if ending == "-wal":
        again = sf.Ledger.open(path, head=head)
        assert again.charge(sf.Pure("0.6")).number == 6
        assert again.verify(again.head).ok
        again.close()


def test_a_second_process_under_a_deleted_index_does_not_spend_the_budget_twice(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 1)
    for _ in range(5):
        ledger.charge(sf.Pure("0.1"))
    Path(f"{path}-shm").unlink()
    script = (
        "import sys, sfumato as sf\nledger = sf.Ledger.open(sys.argv[1])\nfor n in "
        "range(10):\n    ledger.charge(sf.Pure('0.1'))\n    print(n, flush=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    with refusing("ledger.log"):
        ledger.charge(sf.Pure("0.1"))
    assert len(done.stdout.split()) <= 5


def test_a_log_that_is_deleted_after_a_crash_is_seen_with_a_head_and_not_without(
    tmp_path: Path,
) -> None:
    """As the page on reliability says: the file alone does not know what its log held."""
    path, notes = tmp_path / "a.ledger", tmp_path / "head"
    open_book(path, 1).close()
    script = f"""
import os, sfumato as sf
ledger = sf.Ledger.open({str(path)!r})
for _ in range(7):
    ledger.charge(sf.Pure("0.1"))
open({str(notes)!r}, "w").write(str(ledger.head))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink()
    with refusing("ledger.head"):
        sf.Ledger.open(path, head=notes.read_text())
    ledger = sf.Ledger.open(path)
    assert ledger.verify().ok
    assert not ledger.verify(notes.read_text()).ok
    ledger.close()


def test_locks_of_this_system_hold_and_finding_that_out_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(3):
        assert locks_hold(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert locks_hold(str(tmp_path / "missing"))  # where nothing can be made there will be no book


def test_locks_that_do_nothing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on file systems that say yes to every lock: four processes then spent up to twice the
    budget.
    """
    import fcntl

    with monkeypatch.context() as void:
        void.setattr(fcntl, "lockf", lambda *_: None)
        void.setattr(fcntl, "fcntl", lambda *_: b"")
        for _ in range(2):
            with refusing("ledger.locks"):
                open_book(tmp_path / "a.ledger", 1)
    with monkeypatch.context() as none:

        def refused(*_: Any) -> None:
            raise OSError(errno.ENOLCK, "no locks")

        none.setattr(fcntl, "lockf", refused)
        with refusing("ledger.locks"):
            open_book(tmp_path / "a.ledger", 1)
    assert list(tmp_path.glob(".sfumato*")) == []
    open_book(tmp_path / "a.ledger", 1).close()


def test_where_the_system_has_no_locks_of_descriptions_another_process_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.delattr(fcntl, "F_OFD_SETLK", raising=False)
    assert locks_hold(str(tmp_path))
    monkeypatch.setattr(
        fcntl, "lockf", lambda *_: None
    )  # here nothing is locked, so the other process gets it
    assert not locks_hold(str(tmp_path))


def test_file_systems_of_several_machines_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_checks, "_mount", lambda _: 7)
    for kind in sorted(SHARED):
        with monkeypatch.context() as patched:
            patched.setattr(file_checks, "_file_system", lambda _, kind=kind: kind)
            with refusing("ledger.locks"):
                open_book(tmp_path / "a.ledger", 1)


def test_the_kind_of_a_file_system_is_read_from_the_system(tmp_path: Path) -> None:
    mount = file_checks._mount(str(tmp_path))
    assert mount is not None
    kind = file_checks._file_system(mount)
    assert kind
    assert kind not in SHARED
    assert file_checks._file_system(-1) == ""


def test_whoever_only_looks_is_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    open_book(path, 1).close()
    os.link(path, tmp_path / "b.ledger")
    with reading(path) as book:
        assert book.verify().ok


def test_where_locks_of_descriptions_fail_another_process_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def unknown(*_: Any) -> None:
        raise OSError(errno.EINVAL, "this file system does not know them")

    monkeypatch.setattr(fcntl, "fcntl", unknown)
    assert locks_hold(str(tmp_path))
    monkeypatch.setattr(fcntl, "lockf", lambda *_: None)
    assert not locks_hold(str(tmp_path))


def test_the_mount_of_a_path_is_unknown_if_the_system_does_not_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file_checks._mount(str(tmp_path)) is not None
    assert file_checks._mount(str(tmp_path / "missing")) is None
    monkeypatch.delattr(os, "O_PATH")
    assert file_checks._mount(str(tmp_path)) is None
    open_book(tmp_path / "a.ledger", 1).close()
