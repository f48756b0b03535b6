"""Books and processes: what a fork may do, and what closing means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sfumato as sf

from .books import open_book, refusal


def test_a_book_in_memory_does_not_cross_a_fork() -> None:
    ledger = open_book(None, 1)
    assert _in_child(lambda: ledger.charge(sf.Pure("0.1"))) == "ledger.fork"
    assert _in_child(lambda: ledger.spent) == "ledger.fork"
    assert ledger.charge(sf.Pure("0.1")).number == 2


def test_a_book_in_a_file_does(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.charge(sf.Pure("0.1"))
    assert _in_child(lambda: (ledger.charge(sf.Pure("0.2")), ledger.close())) == "done"
    assert _in_child(ledger.close) == "done"
    assert ledger.charge(sf.Pure("0.1")).number == 4
    assert ledger.verify(ledger.head).ok


def test_a_closed_book(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.close()
    ledger.close()
    assert ledger.charge(sf.Pure("0.1")).number == 2  # a file is opened again
    memory = open_book(None, 1)
    memory.close()
    with refusal("ledger.storage"):
        memory.charge(sf.Pure("0.1"))


def _in_child(action: Any) -> str:
    """How an action ends in the child of a fork."""
    result, tell = os.pipe()
    if os.fork() == 0:
        said = "died"
        try:
            action()
            said = "done"
        except sf.Refused as refused:
            said = refused.code
        finally:
            os.write(tell, said.encode())
            os._exit(0)
    os.close(tell)
    os.wait()
    with os.fdopen(result) as pipe:
        return pipe.read()
