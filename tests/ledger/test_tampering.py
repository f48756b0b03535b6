"""Attack F4 and all its cousins: a book is changed, cut, or replaced by an old copy. With the head
known, everything is seen; without, what `verify` says.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger.verify import BLIND, LATER

from .books import quick_folder
from .tampering import SEEN, dump, rewrite, rich_book


def detects_tampering(path: Path, head: str | None) -> bool:
    """Whether a book that was tampered with is refused, or shown to be wrong."""
    try:
        ledger = sf.Ledger.open(path, dataset="visits")
    except sf.Refused:
        return True
    try:
        checked = ledger.verify(head)
    except sf.Refused:
        return True
    finally:
        ledger.close()
    assert not checked.ok or checked.blind == (() if head else (BLIND,))
    return not checked.ok


@pytest.mark.parametrize("trials", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_every_change_is_seen(trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random edits of rows and bytes. The head is not even needed. Bytes that no reader of the book
    sees are not counted.
    """
    chance, counted, harmless = random.Random(trials), Counter[str](), 0
    with quick_folder() as folder:
        path, _, head = rich_book(folder, monkeypatch)
        truth, target = dump(path), folder / "tampered.ledger"
        assert not detects_tampering(path, head)
        while counted.total() < trials:
            way = chance.choice(SEEN)
            shutil.copyfile(path, target)
            way(target, chance, head)
            if not detects_tampering(target, chance.choice([head, None])):
                assert dump(target) == truth, way.__name__
                harmless += 1
            elif way.__name__ in ("flip", "wipe", "truncate") or dump(target) != truth:
                counted[way.__name__] += 1
            for left in folder.glob("tampered.ledger-*"):
                left.unlink()
    assert set(counted) == {way.__name__ for way in SEEN}
    assert harmless < trials


def test_attack_f4_old_copies_need_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of an earlier state is a whole book: only who kept a later head can tell, and then
    always.
    """
    with quick_folder() as folder:
        _, copies, head = rich_book(folder, monkeypatch)
        for copy in copies:
            assert not detects_tampering(copy, None)
            assert detects_tampering(copy, head)
            with pytest.raises(sf.Refused) as caught:
                sf.Ledger.open(copy, dataset="visits", head=head)
            assert caught.value.code == "ledger.head"


def test_attack_f4_a_rewritten_book_needs_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    with quick_folder() as folder:
        path, copies, head = rich_book(folder, monkeypatch)
        older = str(sf.Ledger.open(copies[3], dataset="visits").head)
        for trial in range(30):
            target = Path(shutil.copyfile(path, folder / f"rewritten{trial}"))
            rewrite(target, random.Random(trial))
            assert not detects_tampering(target, None)
            assert detects_tampering(target, head)
            ledger = sf.Ledger.open(target, dataset="visits")
            checked = ledger.verify(
                older
            )  # a head that was kept too long ago sees the entries up to it
            ledger.close()
            assert checked.blind == (LATER.format(older.split(":")[1]),)


def test_attack_f4_an_old_copy_under_a_running_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process knows the head it saw last: an old copy put in the file's place is not served."""
    with quick_folder() as folder:
        path, copies, _ = rich_book(folder, monkeypatch)
        ledger = sf.Ledger.open(path, dataset="visits")
        before = ledger.spent
        copies[2].rename(path)
        with pytest.raises(sf.Refused) as caught:
            ledger.charge(sf.Pure("0.1"))
        assert caught.value.code == "ledger.moved"
        ledger.close()
        with pytest.raises(sf.Refused) as caught:
            ledger.charge(sf.Pure("0.1"))  # opened again, it is the old book
        assert caught.value.code == "ledger.head"
        assert before != ledger.spent
        ledger.close()
