"""Questions that lack something: learned for by a release, told by a plan, refused where learning would not help or is not wanted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.awaiting import Awaiting
from sfumato.session.questions import SHARE, Question, scaled

from .test_learning import rows, table

pytestmark = pytest.mark.usefixtures("certain")

SUM = "SELECT SUM(spend) AS s FROM visits"


def test_the_first_release_learns_and_says_so() -> None:
    with table(source=rows()) as visits:
        answer = visits.sql("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon=60)
        said = str(answer)
        assert "a u counts for at most 4 rows (learned)" in said
        assert "spend clipped to [0, 64] (learned)" in said
        assert "learned first, for ε = 10 beside this" in said
        assert visits.spent.parameters["epsilon"] == 70
        assert "learned" in str(answer.card())
        again = visits.sql("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon=60)
        assert again.recalled
        assert visits.spent.parameters["epsilon"] == 70
        assert not [piece for piece in answer.pieces if piece.name.startswith("clipped")]  # that is known from the lesson


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
        query = visits.where(visits["age"] > 0).mutate(twice=sf.col("spend") * 2).group_by(city=["Roma", "Bari"]).aggregate(s=sf.sum("twice"), n=sf.count())
        query.release(epsilon=60)
        plan = query.plan(epsilon=1)
        assert plan.calibration.bounding.rows == 4
        assert plan.columns[0].numbers["high"] == 128
        text = "SELECT SUM(m) AS s FROM (SELECT u, SUM(spend) AS m FROM visits GROUP BY u)"
        with pytest.raises(sf.Refused):  # the sum of a unit's rows has no bounds of its own, learned or not
            visits.sql(text, epsilon=1)
        total = "SELECT SUM(CLAMP(m, 0, 100)) AS s FROM (SELECT u, SUM(spend) AS m FROM visits GROUP BY u)"
        assert visits.plan(total, epsilon=1).error()


def test_totals_of_a_unit_learn_what_they_add() -> None:
    with table() as visits:
        visits.sql("SELECT AVG(CLAMP(m, 0, 100)) AS s FROM (SELECT u, SUM(spend) AS m FROM visits GROUP BY u)", epsilon=60)
        assert visits.declaration.ranges == {"spend": (0, 64)}
        assert visits.declaration.max_rows is None  # each unit is one row


def test_a_plan_reads_nothing_and_says_what_is_known_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with table() as visits:

        def touched(*_: Any, **__: Any) -> None:
            raise AssertionError("data was read")

        monkeypatch.setattr(type(visits._source.engine), "run", touched)
        plan = visits.plan("SELECT COUNT(*) AS n, SUM(spend) AS s FROM visits", epsilon="0.3")
        assert isinstance(plan, Awaiting)
        assert plan.error() == {"n": "after learning", "s": "after learning"}
        assert plan.cost.parameters["epsilon"] == Fraction("0.35")
        assert visits.sql("EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits", epsilon="0.3").count("after learning") == 1
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


def test_a_sixth_and_its_inverse() -> None:
    assert Fraction(1, 6) == SHARE
    assert scaled(sf.Pure("0.05")) == sf.Pure("0.3")
    assert scaled(sf.ZCDP("0.05")) == sf.ZCDP("0.3")


def test_nothing_is_added_to_an_answer_for_which_nothing_was_learned() -> None:
    with table(max_rows=3) as visits:
        answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert not [rule for rule in answer.rules if "learned" in rule]
        assert Question(visits, "EXPLAIN PRIVACY SELECT COUNT(*) FROM visits").explains
        assert not Question(visits, "SELECT COUNT(*) FROM visits").explains


def test_a_table_joined_with_itself_is_asked_as_it_is() -> None:
    """Nothing is learned for what is put together of several; with limits declared it is answered."""
    with table(max_rows=3) as visits:
        assert visits.union(visits).aggregate(n=sf.count()).plan(epsilon=1).calibration.bounding.rows == 6
    with table() as visits:
        with pytest.raises(sf.Refused) as refused:
            visits.union(visits).aggregate(n=sf.count()).release(epsilon=1)
        assert refused.value.code == "table.max-rows"
        assert visits.spent.parameters["epsilon"] == 0


def test_a_table_of_one_row_a_person_learns_bounds_alone() -> None:
    with sf.protect(pa.table({"x": [float(i % 10) for i in range(4000)]}), name="t", budget=1000) as made:
        answer = made.aggregate(s=sf.sum("x")).release(epsilon=60)
        assert made.declaration.ranges == {"x": (0, 16)}
        assert answer.value("s") == pytest.approx(18000, abs=40)
