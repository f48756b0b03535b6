"""Refusals in the words of PostgreSQL: hints are settings, positions count characters."""

from __future__ import annotations

import pytest

from sfumato.server.http.problems import INTERNAL, Problem
from sfumato.server.postgres.report_messages import AGAIN, error, hint_of, position_of


@pytest.mark.parametrize(
    ("rewrite", "hint"),
    [
        ('"epsilon": "0.01"', "SET sfumato.epsilon = 0.01"),
        (
            '"epsilon": "0.01", "delta": "1e-9"',
            "SET sfumato.epsilon = 0.01; SET sfumato.delta = 1e-9",
        ),
        ("a smaller cost, such as epsilon=9.5", "SET sfumato.epsilon = 9.5"),
        ("delta=1e-06", "SET sfumato.delta = 1e-06"),
        ("SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        (INTERNAL.rewrite, AGAIN),
    ],
)
def test_a_hint_can_be_pasted(rewrite: str, hint: str) -> None:
    assert hint_of(rewrite) == hint


@pytest.mark.parametrize(
    ("place", "query", "position"),
    [
        ("SELECT * FROM visits\n       ^ all", "SELECT * FROM visits", 8),
        ("SELECT * FROM visits\n       ^ all", "SELECT  *\nFROM visits", 9),
        ("SELECT a, a\n          ^", "SELECT a, a", 11),
        ("the cost", "SELECT 1", None),
        ("SELECT x\n       ^", "SELECT y", None),
    ],
)
def test_the_position_is_that_of_the_mark(place: str, query: str, position: int | None) -> None:
    assert position_of(place, query) == position


def test_an_error_has_all_parts() -> None:
    problem = Problem("sql.star", "SELECT * FROM visits\n       ^ rows", "never rows", "SELECT 1")
    message = error(problem, query="SELECT * FROM visits")
    for part in (b"SERROR", b"C0A000", b"Mrefused [sql.star]  rows", b"Dnever rows", b"HSELECT 1",
                 b"P8"):  # fmt: skip
        assert part + b"\0" in message
    assert b"SFATAL" in error(problem, fatal=True)
