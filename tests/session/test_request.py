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
from sfumato.session.request import SHARE, Asking, refused, scaled

from .test_learning import table

pytestmark = pytest.mark.usefixtures("certain")

SUM, COUNT = "SELECT SUM(spend) AS s FROM visits", "SELECT COUNT(*) AS n FROM visits"
GOAL = Goal(budget=sf.Approx(1000, "1e-6"), promise=sf.Approx(6, "1e-9"))
KINDS: dict[str, Any] = {
    "one": lambda visits: Question(visits, SUM),
    "several": lambda visits: Questions.of(visits, [COUNT, SUM], None),
}


def test_a_sixth_and_its_inverse() -> None:
    assert Fraction(1, 6) == SHARE
    assert scaled(sf.Pure("0.05")) == sf.Pure("0.3")
    assert scaled(sf.ZCDP("0.05")) == sf.ZCDP("0.3")


@pytest.mark.parametrize("kind", KINDS)
def test_tried_before_learned_and_learned_before_made(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table() as visits:
        asking: Asking[Any, Any] = KINDS[kind](visits)
        order: list[str] = []
        for where, what in (("make", type(asking)), ("_learned", Asking), ("_recalled", Asking)):
            real = getattr(what, where)

            def noted(self: Any, *given: Any, _real: Any = real, _where: str = where) -> Any:
                order.append(_where)
                return _real(self, *given)

            monkeypatch.setattr(what, where, noted)
        made, said = asking.ready(GOAL, learning=True, share=None, fresh=False, timeout=None)
        assert order == [
            "make",
            "make",
            "_recalled",
            "_learned",
            "make",
        ]  # it lacks something; with stand-ins there is a plan; with what was learned
        assert [plan.query.rows.declaration for plan in asking.plans(made)] == [
            visits.declaration
        ] * len(asking.plans(made))
        assert said == (
            (
                "how many rows a unit has; between which ends spend lies: learned first, for "
                "ε = 1 beside this"
            ),
        )
        assert visits.spent.parameters["epsilon"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_who_owes_is_planned_for_on_what_was_declared(kind: str) -> None:
    with table() as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60)
        asking: Asking[Any, Any] = KINDS[kind](visits)
        owing, paid = (
            asking._seen(GOAL, "bob", learning=True),
            asking._seen(GOAL, None, learning=True),
        )
        assert (owing.made, owing.lacks, owing.owing) == (None, (), True)
        assert [lack.kind for lack in owing.missed] == ["max_rows", "bounds"]
        assert owing.declared == visits.known.given
        assert (paid.made is None, paid.owing) == (False, False)
        asking.ready(GOAL, learning=True, share="bob", fresh=False, timeout=None)
        assert visits.ledger.account("bob").spent[0] == 60
        assert asking._seen(GOAL, "bob", learning=True).made is not None


def test_a_refusal_says_what_was_paid_before_it() -> None:
    refusal = sf.BudgetExceeded("budget.exceeded", "visits", "1 is left", "a smaller cost")
    with table(max_rows=3) as visits:
        plan = visits.plan(COUNT, epsilon=6)
        assert refused(refusal, plan, GOAL, ()) is refusal
        assert (
            "Paid for before, and kept: a lesson"
            in refused(refusal, plan, GOAL, ("a lesson",)).reason
        )
