"""Attack F2: writers are killed at random points. What was acknowledged is in the book, and the
book is whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .books import quick_folder, run
from .servers import PostgresServer

WORKERS = 8


def check(counts: dict[str, int], kills: int) -> None:
    assert counts["kills"] >= kills
    assert counts["bound"] >= 1  # the budget did run out
    assert counts["acknowledged"] > kills
    assert counts["lost"] == 0
    assert counts["overspent"] == 0
    assert counts["unanswered by one writer"] <= 1  # a writer is killed once
    assert counts["damaged"] == 0


@pytest.mark.parametrize(
    ("kills", "room"), [(120, 200), pytest.param(1000, 400, marks=pytest.mark.slow)]
)
def test_attack_f2_kill_at_random_points(kills: int, room: int) -> None:
    with quick_folder() as folder:
        check(run("kills", "ledger", folder, folder, kills, room, WORKERS, 1), kills)


@pytest.mark.slow
def test_attack_f2_kill_at_random_points_on_a_disk(tmp_path: Path) -> None:
    """Most kills hit a writer that waits for the disk."""
    check(run("kills", "ledger", tmp_path, tmp_path, 1000, 100, WORKERS, 2), 1000)


def test_attack_f2_works_on_the_twin_that_answers_first() -> None:
    with quick_folder() as folder:
        counts = run("kills", "early", folder, folder, 30, 1_000_000, WORKERS, 1)
    assert counts["lost"] > 0
    assert counts["damaged"] == 0


@pytest.mark.parametrize(
    ("kills", "room"), [(60, 100), pytest.param(1000, 150, marks=pytest.mark.slow)]
)
def test_attack_f2_kill_writers_of_a_server(
    kills: int, room: int, tmp_path: Path, server: PostgresServer
) -> None:
    check(run("kills", "ledger", tmp_path, server.url(), kills, room, WORKERS, 3), kills)


def test_attack_f2_works_on_the_twin_that_answers_first_on_a_server(
    tmp_path: Path, server: PostgresServer
) -> None:
    counts = run("kills", "early", tmp_path, server.url(), 20, 1_000_000, WORKERS, 1)
    assert counts["lost"] > 0
    assert counts["damaged"] == 0
