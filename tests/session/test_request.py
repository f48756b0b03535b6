"""What comes before an answer, for one question and for several alike: the same order of trying,
paying and learning.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.session.accuracy import Goal
from sfumato.session.batches import Questions
from sfumato.session.questions import Question
from sfumato.session.request import LEARNING_SHARE, Request, explain_refusal, release_promise_of
from sfumato.tables.query.question_options import QuestionSettings

from .test_learning import table

pytestmark = pytest.mark.usefixtures("certain")

SUM, COUNT = "SELECT SUM(spend) AS s FROM visits", "SELECT COUNT(*) AS n FROM visits"
GOAL = Goal(budget=sf.Approx(1000, "1e-6"), promise=sf.Approx(6, "1e-9"))
KINDS: dict[str, Any] = {
    "one": lambda visits: Question(visits, SUM),
    "several": lambda visits: Questions.of(visits, [COUNT, SUM], None),
}


def test_a_sixth_and_its_inverse() -> None:
    assert Fraction(1, 6) == LEARNING_SHARE
    assert release_promise_of(sf.Pure("0.05")) == sf.Pure("0.3")
    assert release_promise_of(sf.ZCDP("0.05")) == sf.ZCDP("0.3")


@pytest.mark.parametrize("kind", KINDS)
def test_tried_before_learned_and_learned_before_made(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table() as visits:
        asking: Request[Any, Any] = KINDS[kind](visits)
        order: list[str] = []
        for where, what in (("make", type(asking)), ("_learn", Request), ("_recall", Request)):
            real = getattr(what, where)

            def noted(self: Any, *arguments: Any, _real: Any = real, _where: str = where) -> Any:
                order.append(_where)
                return _real(self, *arguments)

            monkeypatch.setattr(what, where, noted)
        prepared, rules = asking.prepare(GOAL, QuestionSettings())
        assert order == [
            "make",
            "make",
            "_recall",
            "_learn",
            "make",
        ]  # it lacks something; with stand-ins there is a plan; with what was learned
        assert [plan.query.rows.declaration for plan in asking.plans(prepared)] == [
            visits.declaration
        ] * len(asking.plans(prepared))
        assert rules == ("learned first, for an extra ε = 1: rows per unit, bounds of spend",)
        assert visits.spent.parameters["epsilon"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_who_owes_is_planned_for_on_what_was_declared(kind: str) -> None:
    with table() as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60)
        asking: Request[Any, Any] = KINDS[kind](visits)
        owing, paid = (
            asking._attempt(GOAL, "bob", learning=True),
            asking._attempt(GOAL, None, learning=True),
        )
        assert (owing.plan, owing.unlearned, owing.unpaid) == (None, (), True)
        assert [lack.kind for lack in owing.missing] == ["max_rows", "bounds"]
        assert owing.declared == visits.state.original
        assert (paid.plan is None, paid.unpaid) == (False, False)
        asking.prepare(GOAL, QuestionSettings(share="bob"))
        assert visits.ledger.account("bob").spent[0] == 60
        assert asking._attempt(GOAL, "bob", learning=True).plan is not None


def test_a_refusal_says_what_was_paid_before_it() -> None:
    refusal = sf.BudgetExceeded("budget.exceeded", "visits", "1 is left", "a smaller cost")
    with table(max_rows=3) as visits:
        plan = visits.plan(COUNT, epsilon=6)
        assert explain_refusal(refusal, plan, GOAL, ()) is refusal
        assert (
            "Charged before, and kept: a lesson"
            in explain_refusal(refusal, plan, GOAL, ("a lesson",)).reason
        )
