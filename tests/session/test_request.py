"""What comes before an answer, for one question and for several alike: the same order of trying,
paying and learning.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.session.accuracy import Goal
from sfumato.session.learning import LEARNING_SHARE, release_promise_of
from sfumato.session.request import Request, explain_refusal

from .test_learning import table

pytestmark = pytest.mark.usefixtures("certain")

SUM, COUNT = "SELECT SUM(spend) AS s FROM visits", "SELECT COUNT(*) AS n FROM visits"
GOAL = Goal(budget=sf.Approx(1000, "1e-6"), promise=sf.Approx(6, "1e-9"))


def single(visits: Any, share: str | None = None) -> Request:
    return Request.of_question(visits.state, "visits", SUM, promise=GOAL.promise, share=share)


def several(visits: Any, share: str | None = None) -> Request:
    return Request.of_batch(visits.state, "visits", [COUNT, SUM], promise=GOAL.promise, share=share)


KINDS: dict[str, Any] = {"one": single, "several": several}


def test_a_sixth_and_its_inverse() -> None:
    assert Fraction(1, 6) == LEARNING_SHARE
    assert release_promise_of(sf.Pure("0.05")) == sf.Pure("0.3")
    assert release_promise_of(sf.ZCDP("0.05")) == sf.ZCDP("0.3")


@pytest.mark.parametrize("kind", KINDS)
def test_tried_before_learned_and_learned_before_made(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table() as visits:
        order: list[str] = []
        for name in ("_plan", "_learn", "_recall"):
            real = getattr(Request, name)

            def noted(self: Any, *arguments: Any, _real: Any = real, _name: str = name) -> Any:
                order.append(_name)
                return _real(self, *arguments)

            monkeypatch.setattr(Request, name, noted)
        request: Request = KINDS[kind](visits)
        attempt = request.attempt()
        assert order == ["_plan", "_plan", "_recall"]  # it lacks something; with stand-ins it works
        assert visits.spent.parameters["epsilon"] == 0
        batch, rules = request.prepare(attempt)
        assert order[3:] == ["_learn", "_plan"]
        assert [plan.query.rows.declaration for plan in batch.plans] == [visits.declaration] * len(
            request.questions
        )
        assert rules == ("ε = 1 more was spent to find limits: rows per unit, bounds of spend",)
        assert visits.spent.parameters["epsilon"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_who_owes_is_planned_for_on_what_was_declared(kind: str) -> None:
    with table() as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60)
        request = KINDS[kind](visits, "bob")
        owing, paid = request.attempt(), KINDS[kind](visits).attempt()
        assert (owing.plan, owing.unlearned, owing.unpaid) == (None, (), True)
        assert [lack.kind for lack in owing.missing] == ["max_rows", "bounds"]
        assert owing.declared == visits.state.original
        assert (paid.plan is None, paid.unpaid) == (False, False)
        request.prepare(owing)
        assert visits.ledger.account("bob").spent[0] == 60
        assert request.attempt().plan is not None


def test_a_refusal_says_what_was_paid_before_it() -> None:
    refusal = sf.BudgetExceeded("budget.exceeded", "visits", "1 is left", "a smaller cost")
    with table(max_rows=3) as visits:
        plan = visits.plan(COUNT, epsilon=6)
        assert explain_refusal(refusal, plan, GOAL, ()) is refusal
        assert (
            "Charged before, and kept: a lesson"
            in explain_refusal(refusal, plan, GOAL, ("a lesson",)).reason
        )
