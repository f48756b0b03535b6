"""Questions that lack something: learned for by a release, told by a plan, refused where learning
would not help or is not wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.pending_plan import PendingPlan
from sfumato.session.protected_table import Table
from sfumato.session.questions import TableQuestion
from sfumato.session.request import PAID_LESSONS

from .test_learning import rows, table

pytestmark = pytest.mark.usefixtures("certain")

SUM, COUNT = "SELECT SUM(spend) AS s FROM visits", "SELECT COUNT(*) AS n FROM visits"


def test_the_first_release_learns_and_says_so() -> None:
    with table(source=rows()) as visits:
        answer = visits.sql("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon=60)
        text = answer.explain(width=1000)
        assert "a u with more than 4 rows counts as 4 rows (learned)" in text
        assert "spend clipped to [0, 64] (learned)" in text
        assert "ε = 10 more was spent to find limits:" in text
        assert visits.spent.parameters["epsilon"] == 70
        assert "learned" in str(answer.card())
        again = visits.sql("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon=60)
        assert again.recalled
        assert visits.spent.parameters["epsilon"] == 70
        assert not [
            piece for piece in answer.pieces if piece.name.startswith("clipped")
        ]  # that is known from the lesson


@dataclass
class Counts:
    """How often a call parses, resolves, finds components and learns."""

    parses: int = 0
    resolves: int = 0
    components: int = 0
    lessons: int = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    from sfumato.session import questions, request
    from sfumato.sql.select import SelectReader
    from sfumato.sql.sql_text import SqlText

    counted = Counts()

    def count(name: str, owner: Any, attribute: str) -> None:
        real = getattr(owner, attribute)

        def noted(*arguments: Any, **named: Any) -> Any:
            setattr(counted, name, getattr(counted, name) + 1)
            return real(*arguments, **named)

        monkeypatch.setattr(owner, attribute, noted)

    count("parses", SqlText, "_parse")
    count("resolves", SelectReader, "of")
    count("components", questions, "components_of")
    count("lessons", request, "run_lessons")
    return counted


BOTH = "SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits"


def test_a_declared_text_is_parsed_and_resolved_once(counts: Counts) -> None:
    with table(max_rows=2, bounds={"spend": (0, 64)}) as visits:
        visits.sql(BOTH, epsilon=1)
    assert counts == Counts(parses=1, resolves=1, components=1)


def test_a_search_for_an_accuracy_reads_the_text_once(counts: Counts) -> None:
    """With `within=` a text was read and its columns resolved for every cost that the search tried:
    a CASE of 450 branches took seconds.
    """
    with table(max_rows=2, bounds={"spend": (0, 64)}) as visits:
        plan = visits.plan(SUM, within=100)
        assert plan.error()["s"] <= 100
    assert counts == Counts(parses=1, resolves=1, components=1)


@pytest.mark.parametrize("how", [{"epsilon": 60}, {"within": {"n": 100}}], ids=["cost", "accuracy"])
def test_a_text_without_limits_is_parsed_once_and_learned_for_once(
    how: dict[str, Any], counts: Counts
) -> None:
    with table() as visits:
        visits.sql(BOTH, **how)
        assert (counts.parses, counts.lessons) == (1, 1)
        assert counts.resolves <= 9
        if "epsilon" in how:
            again = replace(counts)
            with table() as unlearned:
                unlearned.plan(BOTH, **how)
            assert (counts.parses, counts.lessons) == (again.parses + 1, again.lessons)
            assert counts.resolves - again.resolves <= 11
        visits.sql(COUNT, **how)
        assert counts.lessons == 1  # the second question needs nothing new


def test_each_text_of_a_batch_is_parsed_once(counts: Counts) -> None:
    with table() as visits:
        visits.release_all([SUM, COUNT], epsilon=60)
        assert (counts.parses, counts.lessons) == (2, 1)


def test_only_what_is_needed_is_learned() -> None:
    with table() as visits:
        visits.sql("SELECT COUNT(*) AS n FROM visits WHERE age > 30", epsilon=60)
        assert visits.declaration.max_rows == 4
        assert visits.declaration.ranges == {}
        visits.sql("SELECT SUM(CASE WHEN age > 30 THEN spend END) AS s FROM visits", epsilon=60)
        assert set(visits.declaration.ranges) == {"spend"}
        visits.mutate(old=sf.col("age") * 2).aggregate(m=sf.mean("old")).release(epsilon=60)
        assert visits.declaration.ranges["age"] == (0, 64)
        assert visits.spent.parameters["epsilon"] == 3 * 70


def test_queries_made_before_are_asked_of_what_is_known_since() -> None:
    with table() as visits:
        query = (
            visits.where(visits["age"] > 0)
            .mutate(twice=sf.col("spend") * 2)
            .group_by(city=["Roma", "Bari"])
            .aggregate(s=sf.sum("twice"), n=sf.count())
        )
        query.release(epsilon=60)
        plan = query.plan(epsilon=1)
        assert plan.calibration.bounding.rows == 4
        assert plan.columns[0].numbers["high"] == 128
        text = "SELECT SUM(m) AS s FROM (SELECT u, SUM(spend) AS m FROM visits GROUP BY u)"
        with pytest.raises(
            sf.Refused
        ):  # the sum of a unit's rows has no bounds of its own, learned or not
            visits.sql(text, epsilon=1)
        total = (
            "SELECT SUM(CLAMP(m, 0, 100)) AS s FROM (SELECT u, SUM(spend) AS m FROM visits "
            "GROUP BY u)"
        )
        assert visits.plan(total, epsilon=1).error()


def test_totals_of_a_unit_learn_what_they_add() -> None:
    with table() as visits:
        visits.sql(
            (
                "SELECT AVG(CLAMP(m, 0, 100)) AS s FROM (SELECT u, SUM(spend) AS m FROM "
                "visits GROUP BY u)"
            ),
            epsilon=60,
        )
        assert visits.declaration.ranges == {"spend": (0, 64)}
        assert visits.declaration.max_rows is None  # each unit is one row


def test_a_plan_reads_nothing_and_says_what_is_known_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with table() as visits:

        def touched(*_: Any, **__: Any) -> None:
            raise AssertionError("data was read")

        monkeypatch.setattr(type(visits._source.engine), "run", touched)
        plan = visits.plan("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon="0.3")
        assert isinstance(plan, PendingPlan)
        assert plan.error() == {"n": "after learning", "s": "after learning"}
        assert plan.cost.parameters["epsilon"] == Fraction("0.35")
        assert (
            visits.sql("EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits", epsilon="0.3").count(
                "after learning"
            )
            == 1
        )
        assert visits.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT SUM(spend / age) FROM visits", "sql.bounds"),
        ("SELECT AVG(LN(spend)) FROM visits", "sql.bounds"),
        ("SELECT SUM(nothing) FROM visits", "sql.column"),
    ],
)
def test_what_learning_would_not_help_is_refused_before(text: str, code: str) -> None:
    with table() as visits:
        for ask in (visits.plan, visits.sql):
            with pytest.raises(sf.Refused) as refused:
                ask(text, epsilon=1)
            assert refused.value.code == code
        assert visits.spent.parameters["epsilon"] == 0


def test_without_learning_it_is_refused_as_ever() -> None:
    with table(max_rows=3) as visits:
        for ask in (visits.plan, visits.sql):
            with pytest.raises(sf.Refused) as refused:
                ask(SUM, epsilon=1, learn=False)
            assert refused.value.code == "sql.bounds"
        with pytest.raises(sf.Refused) as refused:
            visits.aggregate(s=sf.sum("spend")).release(epsilon=1, learn=False)
        assert refused.value.code == "aggregate.bounds"
        assert visits.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize("budget", [sf.Pure(1), sf.Approx(1, "1e-6")], ids=str)
def test_both_fit_or_neither_is_paid_for(budget: sf.Guarantee) -> None:
    with table(budget) as visits:
        with pytest.raises(sf.BudgetExceeded) as refused:
            visits.sql(SUM, epsilon="0.9")
        assert "do not fit together" in refused.value.reason
        assert visits.spent.parameters["epsilon"] == 0
        visits.sql(SUM, epsilon=Fraction(6, 7))
        assert visits.spent.parameters["epsilon"] == 1


def test_nothing_is_added_to_an_answer_for_which_nothing_was_learned() -> None:
    with table(max_rows=3) as visits:
        answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert not [rule for rule in answer.rules if "learned" in rule]
        for text, explains in (("EXPLAIN PRIVACY SELECT", True), ("SELECT", False)):
            question = TableQuestion.ask(
                visits.state, "visits", f"{text} COUNT(*) FROM visits", None
            )
            assert question.explains is explains


def test_a_table_joined_with_itself_learns_what_it_lacks_once() -> None:
    with table(max_rows=3) as visits:
        assert (
            visits.union(visits).aggregate(n=sf.count()).plan(epsilon=1).calibration.bounding.rows
            == 6
        )
    with table() as visits:
        query = visits.union(visits).aggregate(n=sf.count(), s=sf.sum("spend"))
        answer = query.release(epsilon=60)
        assert visits.spent.parameters["epsilon"] == 70
        assert (visits.declaration.max_rows, visits.declaration.ranges) == (4, {"spend": (0, 64)})
        assert query.plan(epsilon=1).calibration.bounding.rows == 8
        assert "a u with more than 8 rows counts as 8 rows (learned)" in answer.rules


def test_what_no_learning_would_help_is_refused_before_anything_is_paid() -> None:
    """Groups that are not public need a δ, whatever the limits are."""
    with table(sf.Pure(100)) as visits:
        for ask in (visits.plan, visits.sql):
            with pytest.raises(sf.Refused):
                ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1)
        assert visits.spent.parameters["epsilon"] == 0
        assert not visits.declaration.learned


def test_a_table_of_one_row_a_person_learns_bounds_alone() -> None:
    with sf.protect(
        pa.table({"x": [float(i % 10) for i in range(4000)]}), name="t", budget=1000
    ) as protected:
        answer = protected.aggregate(s=sf.sum("x")).release(epsilon=60)
        assert protected.declaration.ranges == {"x": (0, 16)}
        assert answer.value("s") == pytest.approx(18000, abs=40)


BEYOND = "SELECT SUM(spend * 1e270) AS s FROM visits"
EDGES: list[tuple[str, dict[str, Any]]] = [
    (SUM, {"within": "0.0000000001"}),
    (SUM, {"within": "1"}),
    (SUM, {"within": "1000000"}),
    (BEYOND, {"epsilon": 1}),
    ("EXPLAIN PRIVACY " + BEYOND, {"epsilon": 1}),
    ("EXPLAIN PRIVACY " + SUM, {"within": "0.0000000001"}),
    ("EXPLAIN PRIVACY SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", {"epsilon": 1}),
]


def ask_as_bob(visits: Table, text: str, how: dict[str, Any]) -> str:
    """Return the answer or the refusal for an analyst who can pay for someone else's lessons or for
    an answer, but not for both.
    """
    try:
        return str(visits.sql(text, share="bob", **how))
    except sf.Refused as refusal:
        return str(refusal)


@pytest.mark.parametrize(("text", "how"), EDGES, ids=range(len(EDGES)))
def test_nothing_of_what_others_learned_is_heard_for_nothing(
    text: str, how: dict[str, Any], tmp_path: Path
) -> None:
    """An analyst who cannot pay for the lessons reads the same text whatever they are, in this
    process or another.
    """
    outcomes = set()
    for place, wide in enumerate((1.0, 1e12)):
        path, source = (
            tmp_path / f"{place}.ledger",
            rows().set_column(2, "spend", pa.array([wide] * len(rows()))),
        )
        with table(ledger=path, source=source) as elsewhere:
            elsewhere.ledger.allow("bob", sf.Approx(1, "1e-6"))
            elsewhere.learn(epsilon=60)
            assert elsewhere.declaration.ranges["spend"][1] > wide
            outcomes.add(ask_as_bob(elsewhere, text, how))  # the table knows the lessons
            with table(ledger=path, source=source) as visits:
                outcomes.add(ask_as_bob(visits, text, how))  # the table finds them
                outcomes.add(ask_as_bob(visits, text, how))
            assert elsewhere.ledger.account("bob").spent[0] == 0
    assert len(outcomes) == 1


@pytest.mark.parametrize(
    ("text", "how"),
    [(SUM, {"within": "0.0000000001"}), (BEYOND, {"epsilon": 1})],
    ids=["within", "epsilon"],
)
def test_a_refusal_that_follows_from_lessons_is_heard_when_they_are_paid_for(
    text: str, how: dict[str, Any]
) -> None:
    source = rows().set_column(2, "spend", pa.array([1e12] * len(rows())))
    with table(source=source) as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60)
        with pytest.raises(sf.Refused):
            visits.sql(text, share="bob", **how)
        assert visits.ledger.account("bob").spent[0] == 60


def test_an_accuracy_is_priced_after_the_lessons_are_paid_for_and_says_so() -> None:
    with table() as visits:
        visits.ledger.allow("bob", sf.Approx(61, "1e-6"))
        visits.learn(epsilon=60)
        with pytest.raises(sf.BudgetExceeded) as refused:
            visits.sql(SUM, within="1", share="bob")
        assert "this accuracy costs" in refused.value.reason
        assert f"Charged before, and kept: {PAID_LESSONS}" in refused.value.reason
        assert visits.ledger.account("bob").spent[0] == 60
        assert (
            visits.sql(COUNT, within="1000", share="bob").rules
            == visits.sql(COUNT, within="1000").rules
        )  # it was said once


def test_who_owes_and_does_not_want_to_learn_is_asked_to_pay_all_the_same() -> None:
    with table() as visits:
        visits.ledger.allow("bob", sf.Approx(100, "1e-6"))
        visits.learn(epsilon=60, columns="spend")
        visits.sql(SUM, epsilon=1, share="bob", learn=False)
        assert visits.ledger.account("bob").spent[0] == 61
        with pytest.raises(sf.Refused) as refused:
            visits.sql("SELECT SUM(age) AS s FROM visits", epsilon=1, share="bob", learn=False)
        assert refused.value.code == "sql.bounds"
