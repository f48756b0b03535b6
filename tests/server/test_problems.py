"""How refusals look over the wire."""

from __future__ import annotations

import json

import pytest

from sfumato.errors import Refused
from sfumato.ledger import BudgetExceeded
from sfumato.server.http import problems
from sfumato.server.http.problems import BUSY, STATUSES, STORAGE, UNKNOWN, Problem, problem_of


def test_a_refusal_keeps_its_words() -> None:
    problem = problem_of(
        Refused("sql.raw-rows", "SELECT age", "only aggregates", "SELECT COUNT(*)")
    )
    about = {
        "code": "sql.raw-rows",
        "place": "SELECT age",
        "reason": "only aggregates",
        "rewrite": "SELECT COUNT(*)",
    }
    assert json.loads(problem.body()) == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        **about,
    }
    assert problem.response().media_type == "application/problem+json"


def test_a_budget_has_a_status_of_its_own() -> None:
    assert (
        problem_of(
            BudgetExceeded("budget.exceeded", "visits", "it does not fit", "a smaller cost")
        ).status
        == 402
    )


@pytest.mark.parametrize("code", sorted(STORAGE))
def test_trouble_of_the_storage_is_told_no_more_of(code: str) -> None:
    assert problem_of(Refused(code, "secret.ledger", "the disk is full", "make room")) is BUSY


def test_half_a_character_is_written() -> None:
    json.loads(Problem("sql.text", "\ud800", "half", "").body())


def test_constant_problems_have_a_status() -> None:
    constant = [value for value in vars(problems).values() if isinstance(value, Problem)]
    assert UNKNOWN in constant
    assert [problem for problem in constant if problem.code not in STATUSES] == []
