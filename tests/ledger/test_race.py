"""Attack F1: several processes ask for the last of a budget at once. Exactly what fits is
granted.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

import sfumato as sf

from .books import open_book, quick_folder, run
from .servers import PostgresServer

WORKERS, ROOM, ATTEMPTS = 8, 1000, 10_000


@pytest.mark.parametrize("repeats", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_attack_f1_exactly_what_fits_is_granted(repeats: int) -> None:
    with quick_folder() as folder:
        for outcome in run("race", "ledger", folder, ROOM, ATTEMPTS, WORKERS, repeats):
            assert outcome["granted"] == outcome["charges"] == ROOM
            assert outcome["spent"]
            assert outcome["problems"] == []
            assert len(outcome["workers"]) == WORKERS
            assert min(outcome["workers"]) >= 0


def test_attack_f1_works_on_the_naive_twin() -> None:
    """Look, then write: it overspends, though every statement is atomic. Out of 20 races, to be
    sure of one.
    """
    with quick_folder() as folder:
        granted = [
            outcome["granted"] for outcome in run("race", "naive", folder, 100, 10_000, WORKERS, 20)
        ]
    assert min(granted) >= 100
    assert max(granted) > 100


def test_race_on_a_disk(tmp_path: object) -> None:
    """The same where a commit takes its time."""
    (outcome,) = run("race", "ledger", tmp_path, 100, 1000, WORKERS, 1)
    assert outcome["granted"] == outcome["charges"] == 100
    assert outcome["problems"] == []


@pytest.mark.parametrize("in_memory", [True, False])
def test_threads_share_a_ledger(in_memory: bool) -> None:
    granted: list[int] = []

    with quick_folder() as folder:
        ledger = open_book(None if in_memory else folder / "a.ledger", 100)

        def work() -> None:
            for _ in range(50):
                with suppress(sf.BudgetExceeded):
                    granted.append(ledger.charge(sf.Pure(1)).number)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(granted) == list(range(2, 102))
        assert ledger.verify(ledger.head).ok
        ledger.close()


@pytest.mark.parametrize("repeats", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_many_processes_make_one_book(repeats: int) -> None:
    """All of them find no file, and all of them begin it."""
    with quick_folder() as folder:
        for outcome in run("beginnings", folder, WORKERS, repeats):
            assert outcome["heads"] == 1
            assert outcome["refused"] == []
            assert outcome["entries"] == 1
            assert outcome["problems"] == []


@pytest.mark.parametrize(
    ("room", "repeats"), [(100, 2), pytest.param(ROOM, 10, marks=pytest.mark.slow)]
)
def test_attack_f1_on_a_server(room: int, repeats: int, server: PostgresServer) -> None:
    """The same from processes that share nothing but the server, as those of several hosts; ten
    asks for each that fits.
    """
    for outcome in run("race", "ledger", server.url(), room, 10 * room, WORKERS, repeats):
        assert outcome["granted"] == outcome["charges"] == room
        assert outcome["spent"]
        assert outcome["problems"] == []
        assert len(outcome["workers"]) == WORKERS
        assert min(outcome["workers"]) >= 0


def test_attack_f1_works_on_the_naive_twin_on_a_server(server: PostgresServer) -> None:
    granted = [
        outcome["granted"] for outcome in run("race", "naive", server.url(), 100, 1_600, WORKERS, 5)
    ]
    assert min(granted) >= 100
    assert max(granted) > 100


def test_many_processes_begin_one_book_on_a_server(server: PostgresServer) -> None:
    for outcome in run("beginnings", server.url(), WORKERS, 2):
        assert outcome["heads"] == 1
        assert outcome["refused"] == []
        assert outcome["entries"] == 1
        assert outcome["problems"] == []
