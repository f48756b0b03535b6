"""Attack F3: the power goes. What was synced is there, of the rest any part may be; what was
acknowledged must be in the book, and the book whole.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import sfumato as sf

from .books import open_book, quick_folder
from .disks import PowerLoss, Step, disk

NAME = "a.ledger"


def recorded(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    charges: int,
    pragma: str = "PRAGMA synchronous=FULL",
) -> list[Step]:
    """Everything that a book does to its disk from its beginning on, and what its user was told
    when. The log is brought home every 40 pages.
    """
    steps: list[Step] = []
    with disk(monkeypatch, steps.append):
        ledger = open_book(folder / NAME, 1000)
        for connection in [ledger._store._connection]:
            assert connection is not None
            connection.execute("PRAGMA wal_autocheckpoint=40").fetchall()
            connection.execute(pragma)
        steps.append(("said", str(ledger.head)))
        for n in range(charges):
            match n % 5:
                case 3:
                    ledger.release(ledger.reserve(sf.Pure(1)))
                case 4:
                    ledger.remember(ledger.charge(sf.Pure(1)), f"question {n}", b"answer" * 500)
                case _:
                    ledger.charge(sf.Pure(1), key=f"key {n}")
            steps.append(("said", str(ledger.head)))
        length = len(steps)
        ledger.close()
    return steps[:length]


def survives(folder: Path, files: dict[str, bytes], head: str | None) -> str:
    """What becomes of a book on such a disk; empty if all is well."""
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    if head is None:  # nothing was promised yet: the book has to come to life, or to be begun again
        open_book(folder / NAME, 1000).close()
        return ""
    try:
        ledger = sf.Ledger.open(folder / NAME)
    except sf.Refused as refusal:
        return f"lost: {refusal.code}"
    checked = ledger.verify(head)
    ledger.close()
    return "" if checked.ok else "; ".join(checked.problems)


def losses(
    steps: list[Step], chance: random.Random, states: int, each: int
) -> tuple[int, list[str]]:
    """How many states were tried, and what went wrong in them."""
    power, head, tried, wrong = PowerLoss(), None, 0, []
    chosen = set(chance.sample(range(len(steps)), min(len(steps), -(-states // each))))
    with quick_folder() as folder:
        for at, step in enumerate(steps):
            if step[0] == "said":
                head = step[1]
            else:
                power.step(step)
            for files in power.states(chance, each) if at in chosen else ():
                tried += 1
                if problem := survives(folder, files, head):
                    wrong.append(problem)
    return tried, wrong


@pytest.mark.parametrize(
    ("charges", "states"), [(60, 1000), pytest.param(300, 12_000, marks=pytest.mark.slow)]
)
def test_attack_f3_nothing_acknowledged_is_lost(
    charges: int, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with quick_folder() as folder:
        steps = recorded(folder, monkeypatch, charges)
    assert (
        sum(step[0] == "sync" and step[1] == NAME for step in steps) > 3
    )  # the log was brought home
    tried, wrong = losses(steps, random.Random(charges), states, 6)
    assert tried >= min(states // 2, 5000)
    assert wrong == []


def test_the_log_is_synced_before_anything_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with quick_folder() as folder:
        steps = recorded(folder, monkeypatch, 50)
    power = PowerLoss()
    for step in steps:
        if step[0] == "said":
            assert power.waiting.get(f"{NAME}-wal", []) == []
        else:
            power.step(step)


def test_attack_f3_works_on_the_twin_that_syncs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `synchronous=NORMAL` the last commits are lost, though the book stays whole."""
    with quick_folder() as folder:
        steps = recorded(folder, monkeypatch, 40, "PRAGMA synchronous=NORMAL")
    _, wrong = losses(steps, random.Random(1), 100, 2)
    assert wrong
    assert all("does not contain the head" in problem for problem in wrong)
