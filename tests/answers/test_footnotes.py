"""Remarks below an answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import Weighing
from sfumato.answers.render.footnote_texts import BATCH_COST, SPENT
from sfumato.answers.render.footnotes import budget_as_epsilon, build_notes, cost_text
from sfumato.tables.declare.learned_limits import DEFAULT

from .examples import ABOUT, counted, visits


def notes_text(answer: Any) -> str:
    return "\n".join(" · ".join(line) for line in build_notes(answer))


def test_three_lines_are_said() -> None:
    covered, cost, rules = build_notes(visits(), hint="answer.explain()")
    assert covered[0].startswith("about 2.7 % ± 1.")
    assert covered[0].endswith(" of rows lie above the bounds of spend [0, 64]")
    assert covered[1].startswith("about 5 % ± ")
    assert covered[1].endswith(" of rows are in groups too small to be shown")
    assert covered[2] == (
        "± covers the noise, not what the limits left out (95 %, each cell; p50 at 90 %)"
    )
    assert cost == ["cost ε = 0.3 of 1, δ = 1e-9 of 1e-6", "0.65 left"]
    assert rules == ["answer.explain() tells the 3 rules"]


def test_the_place_of_the_rules_is_the_callers() -> None:
    assert build_notes(counted([1], rules=("a rule",)), hint="--json")[-1] == [
        "--json tells the rule"
    ]
    assert all("rule" not in line for line in build_notes(visits()))


def test_limits_are_named_where_there_may_be_some() -> None:
    row = Weighing("row")
    assert "limits" not in notes_text(counted([1], weighing=row))
    assert "limits" in notes_text(counted([1], weighing=row, rules=("x clipped to [0, 1]",)))
    assert "limits" in notes_text(counted([1], weighing=None))


def test_a_limit_that_is_a_default_is_said() -> None:
    guessed = f"spend clipped to [0, 1] ({DEFAULT})"
    notes = build_notes(counted([1], rules=("a rule", guessed)), hint="answer.explain()")
    assert notes[-1] == [guessed, "answer.explain() tells the 2 rules"]


def test_what_else_was_spent_is_a_cost() -> None:
    spent = f"ε = 0.05{SPENT}rows per unit"
    together = f"released together with 2 other questions{BATCH_COST}"
    answer = counted([1], rules=("a rule", spent, together))
    assert build_notes(answer)[1][1:] == [spent, together]


@pytest.mark.parametrize(
    ("cost", "budget", "text"),
    [
        (sf.Pure("0.3"), None, "ε = 0.3"),
        (sf.Pure("0.3"), sf.Pure(1), "ε = 0.3 of 1"),
        (sf.Pure("0.3"), sf.Approx(1, "1e-6"), "ε = 0.3 of 1"),
        (sf.Approx("0.3", "1e-9"), sf.Approx(1, "1e-6"), "ε = 0.3 of 1, δ = 1e-9 of 1e-6"),
        (sf.ZCDP("0.01"), sf.ZCDP("0.1"), "ρ = 0.01 of 0.1"),
        (sf.ZCDP("0.01", "1e-8"), sf.ZCDP("0.1", "1e-6"), "ρ = 0.01 of 0.1, δ = 1e-8 of 1e-6"),
        (sf.GDP("0.1"), sf.GDP("0.5"), "μ = 0.1 of 0.5"),
        (sf.GDP("0.1"), sf.Pure(1), "μ = 0.1"),
        (sf.Pure("1/3"), None, "ε = 1/3"),
        (sf.Pure(F(1, 3) + F(1, 10**9)), None, "ε = 0.333334"),
        (0 * sf.Pure(1), None, "ε = 0"),
        (sf.Renyi({2: 1}), None, "Renyi({2: 1})"),
    ],
    ids=str,
)
def test_costs(cost: Any, budget: Any, text: str) -> None:
    assert cost_text(cost, budget) == text


def test_the_whole_budget_in_epsilon_and_delta() -> None:
    assert budget_as_epsilon(sf.Pure(1)) == budget_as_epsilon(sf.Approx(1, "1e-6")) == ""
    assert budget_as_epsilon(sf.ZCDP("0.1")) == "the whole budget is ε = 2.142 at δ = 1e-6"
    assert budget_as_epsilon(sf.ZCDP("0.1", "1e-6")).endswith("at δ = 2e-6")
    assert budget_as_epsilon(sf.GDP("0.5")).startswith("the whole budget is ε = ")
    for budget in (sf.ZCDP("0.1"), sf.GDP("0.5"), sf.Renyi({2: 1, 16: 4})):
        output = float(budget_as_epsilon(budget).split("ε = ")[1].split(" at")[0])
        assert output >= budget.epsilon(F(1, 10**6))
    assert "the whole budget is" in notes_text(
        visits(
            cost=sf.ZCDP("0.01", **ABOUT),
            budget=sf.ZCDP("0.1", **ABOUT),
            left=sf.ZCDP("0.05", **ABOUT),
        )
    )


def test_a_stored_answer_is_free() -> None:
    text = notes_text(replace(visits(), recalled="2026-09-01T12:00:00.000+00:00"))
    assert "stored answer of 2026-09-01: free (first cost ε = 0.3, δ = 1e-9)" in text
    assert "left" not in text.split("\n")[1]


def test_processing_is_told() -> None:
    assert "rounded to whole numbers" in notes_text(counted([1]).rounded())


def test_rules_are_printed_as_text() -> None:
    assert "\x1b" not in visits(rules=("evil \x1b[31m rule",)).explain()
