"""Shares and what was learned: whoever sees a learned limit has it on the account, and all that a
call costs fits, or nothing of it is paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.session.share_payments import charge_share, check_fits, pay_lessons_and_replan
from sfumato.tables.plan.missing_limits import ROWS, MissingLimit

from ..refusing import refusal
from .test_learning import table

pytestmark = pytest.mark.usefixtures("certain")

CITIES = {"city": ["Roma", "Bari"]}
SUM, COUNT = "SELECT SUM(spend) AS s FROM visits", "SELECT COUNT(*) AS n FROM visits"
Ask = Callable[[Table, str, Any], Any]

WAYS: dict[str, Ask] = {
    "release": lambda visits, text, share: visits.release(
        visits.plan(text, epsilon="0.1").query, epsilon="0.1", share=share
    ),
    "sql": lambda visits, text, share: visits.sql(text, epsilon="0.1", share=share),
    "release_all": lambda visits, text, share: visits.release_all(
        [text], epsilon="0.1", share=share
    ),
}


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Table]:
    with table(ledger=tmp_path / "visits.ledger", keys=CITIES) as protected:
        yield allowed(protected)


def allowed(visits: Table, ann: Any = 10, bob: Any = 10) -> Table:
    for name, most in (("ann", ann), ("bob", bob)):
        visits.ledger.allow(name, sf.Approx(most, "1e-6"))
    return visits


def spent(visits: Table, share: str | None = None) -> Fraction:
    return visits.ledger.account(share).spent[0]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_ask_books_what_others_learned_once(way: str, visits: Table) -> None:
    visits.learn(epsilon=1, share="ann")
    for text, cost in ((SUM, Fraction("1.1")), (COUNT, Fraction("1.2"))):
        WAYS[way](visits, text, "bob")
        assert spent(visits, "bob") == cost
    assert spent(visits, "ann") == 1
    assert spent(visits) == Fraction("1.2")


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_of_groups_is_booked_too(way: str, visits: Table) -> None:
    visits.learn(epsilon=1, share="ann", columns=[])
    visits.learn(epsilon=2, share="ann", columns=[], groups="city")
    WAYS[way](visits, "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "bob")
    assert spent(visits, "bob") == Fraction("3.1")


@pytest.mark.parametrize("way", WAYS)
def test_every_limit_that_an_answer_shows_is_paid_for(way: str, visits: Table) -> None:
    """A count needs no bounds; its declaration has them all the same."""
    visits.learn(epsilon=1, share="ann", columns=["spend", "age"])
    released = WAYS[way](visits, COUNT, "bob")
    answer = released[0] if isinstance(released, tuple) else released
    assert '[columns."spend"]' in answer.facts["declaration"]
    assert spent(visits, "bob") == Fraction("1.1")


def test_what_the_owner_declared_is_free(tmp_path: Path) -> None:
    """Also where it was learned once, and the declaration says so."""
    with table() as before:
        before.learn(epsilon=60, columns="spend")
        declared = before.declaration
    about = {"max_rows": declared.max_rows, "bounds": declared.ranges, "learned": declared.learned}
    with table(ledger=tmp_path / "visits.ledger", **about) as visits:
        allowed(visits).sql(SUM, epsilon="0.1", share="bob")
        assert visits.declaration.learned
        assert spent(visits, "bob") == Fraction("0.1")


def test_learning_by_a_share_books_all_that_it_is_shown(visits: Table) -> None:
    visits.learn(epsilon=1, share="ann", columns="spend")
    learned = visits.learn(epsilon=1, share="bob", columns="age")
    assert set(learned.declaration.ranges) == {"spend", "age"}
    assert spent(visits, "bob") == 2
    assert visits.learn(epsilon=1, share="bob").cost is None
    assert spent(visits, "bob") == 2


def test_what_was_learned_anew_elsewhere_is_what_is_paid_for_and_used(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with table(ledger=path) as visits, table(ledger=path) as elsewhere:
        allowed(visits, bob=100).learn(
            epsilon="0.0000001", columns=[], share="ann"
        )  # too little to see anyone: 1 row
        assert visits.declaration.max_rows == 1
        elsewhere.learn(epsilon="0.0000001", columns=[])
        elsewhere.learn(epsilon=60, columns=[], fresh=True)
        answer = visits.sql(COUNT, epsilon=1, share="bob")
        assert "max_rows = 4" in answer.facts["declaration"]
        assert spent(visits, "bob") == 61


@pytest.mark.parametrize("way", ["release", "sql"])
@pytest.mark.parametrize("most", ["0.3", "1.1"], ids=["less than the answer", "less than both"])
def test_a_share_pays_for_both_or_for_neither(way: str, most: str) -> None:
    with table(10) as visits:
        allowed(visits, ann=most)
        query: Any = SUM if way == "sql" else visits.aggregate(s=sf.sum("spend"))
        ask = getattr(visits, way)
        with pytest.raises(sf.BudgetExceeded) as refused:
            ask(query, epsilon=1, share="ann")
        assert "do not fit together" in refused.value.reason
        assert refused.value.place == "visits / ann"
        assert spent(visits) == spent(visits, "ann") == 0
        assert not visits.declaration.learned
        ask(query, epsilon="0.1", share="ann")
        assert spent(visits, "ann") == Fraction("0.1") * Fraction(7, 6)


@pytest.mark.parametrize("way", WAYS)
def test_a_share_that_cannot_pay_for_lesson_and_answer_pays_for_neither(
    way: str, tmp_path: Path
) -> None:
    with table(ledger=tmp_path / "visits.ledger") as visits:
        allowed(visits, bob="1.05").learn(epsilon=1, share="ann")
        with pytest.raises(sf.BudgetExceeded) as refused:
            WAYS[way](visits, SUM, "bob")
        assert "nothing was spent" in refused.value.reason
        assert spent(visits, "bob") == 0
        visits.ledger.amend(sf.Approx("1.1", "1e-6"), "enough for both", share="bob")
        WAYS[way](visits, SUM, "bob")
        assert spent(visits, "bob") == Fraction("1.1")
        WAYS[way](visits, SUM, "bob")  # the same again is free, also of a share with nothing left
        assert spent(visits, "bob") == Fraction("1.1")


@pytest.mark.parametrize("stored", ["sql", "release_all"])
def test_a_stored_answer_is_counted_at_what_it_cost(stored: str, visits: Table) -> None:
    """A share that has paid for the answer, but not for what has been learned anew since, pays for
    the second alone.
    """
    visits.learn(epsilon=1, columns=[])
    visits.ledger.amend(sf.Approx("2.15", "1e-6"), "little", share="bob")
    WAYS[stored](visits, COUNT, "bob")
    plans = (visits.plan(COUNT, epsilon="0.1"),)
    visits.learn(epsilon=1, columns=[], fresh=True)
    assert not pay_lessons_and_replan(
        plans, plans[0].mechanism, "bob", fresh=False
    )  # the table has the newest limits
    assert spent(visits, "bob") == Fraction("2.1")
    with pytest.raises(sf.BudgetExceeded):
        visits.sql(COUNT, epsilon="0.1", share="bob", fresh=True)


def test_learning_is_paid_as_a_whole_or_not_at_all() -> None:
    """Three lessons have a third each: the first two would fit."""
    for share, budget in ((None, sf.Approx("0.8", "1e-6")), ("ann", sf.Approx(10, "1e-6"))):
        with table(budget) as visits:
            allowed(visits, ann="0.8")
            with pytest.raises(sf.BudgetExceeded) as refused:
                visits.learn(epsilon=1, share=share)
            assert "learning (ε = 1) does not fit" in refused.value.reason
            assert spent(visits) == spent(visits, "ann") == 0


def test_a_lesson_that_was_interrupted_is_not_paid_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    with table(1) as visits:
        allowed(visits)
        real = type(visits.ledger).remember

        def broken(self: Any, receipt: Any, question: str, answer: bytes) -> None:
            if '"what"' in question:
                raise KeyboardInterrupt
            real(self, receipt, question, answer)

        monkeypatch.setattr(type(visits.ledger), "remember", broken)
        with pytest.raises(KeyboardInterrupt):
            visits.learn(epsilon=1, columns="spend", share="ann")
        assert spent(visits) == Fraction(1, 2)
        monkeypatch.setattr(type(visits.ledger), "remember", real)
        check_fits(
            visits.state,
            (ROWS, MissingLimit("bounds", ("spend",))),
            sf.Pure(1),
            None,
            "ann",
        )
        visits.learn(epsilon=1, columns="spend", share="ann")
        assert spent(visits) == spent(visits, "ann") == 1


def test_an_accuracy_that_turns_out_too_dear_says_what_was_paid() -> None:
    """Only learning shows what it costs: the refusal states that the lesson stays paid for."""
    with table(10) as visits:
        allowed(visits, ann=1)
        with pytest.raises(sf.BudgetExceeded) as refused:
            visits.sql(COUNT, within="0.5", share="ann")
        assert "this accuracy costs" in refused.value.reason
        assert (
            "Charged before, and kept: ε = 0.5 more was spent to find limits: rows per unit"
            in refused.value.reason
        )
        assert spent(visits, "ann") == Fraction(1, 2)


def test_booking_without_lessons_writes_nothing(visits: Table) -> None:
    head = visits.ledger.head
    assert not charge_share(visits.state, "bob")
    assert visits.ledger.head == head


@pytest.mark.parametrize("share", ["carol", ["ann"]], ids=str)
def test_a_share_that_is_none_is_refused_before_anything(share: Any, visits: Table) -> None:
    for _ in range(2):  # before something was learned, and after
        before = visits.spent
        for ask in (
            lambda: visits.sql(SUM, epsilon=1, share=share),
            lambda: visits.learn(epsilon=1, share=share),
        ):
            with pytest.raises(sf.Refused):
                ask()
        assert visits.spent == before
        visits.learn(epsilon=1)


@pytest.mark.parametrize(("budget", "fits"), [(1, "6/7"), ("0.7", "0.6"), ("1/3", "2/7")])
def test_the_refusal_says_which_epsilon_fits_with_its_learning(budget: Any, fits: str) -> None:
    frame = pa.table({"user": [1, 1, 2], "price": [1.5, 2.5, 3.5]})
    question = "SELECT AVG(price) AS p FROM sales"
    with sf.protect(frame, name="sales", unit="user", budget=budget) as table:
        refused = refusal(lambda: table.sql(question, epsilon=budget), "budget.exceeded")
        arguments = eval(f"dict({refused.rewrite})")
        assert Fraction(str(arguments["epsilon"])) == Fraction(fits)
        table.sql(question, **arguments)
        assert table.remaining.epsilon() == 0  # all of it is spent
