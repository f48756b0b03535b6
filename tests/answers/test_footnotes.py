"""Remarks below an answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers.render.footnotes import budget_as_epsilon, build_notes, cost_text

from .examples import ABOUT, counted, laplace, noisy, visits


def notes_text(answer: Any) -> str:
    return "\n".join(" · ".join(line) for line in build_notes(answer))


def test_what_is_said() -> None:
    level, cost, withheld = build_notes(visits())
    assert level == ["95 % intervals for the bounded values, each cell; p50 at 90 %"]
    assert cost[:3] == [
        "cost ε = 0.3 of 1, δ = 1e-9 of 1e-6",
        "0.65 left",
        "a user_id counts for at most 4 rows",
    ]
    assert cost[3].startswith("spend clipped to [0, 64] (about 2.7 % ± 1.")
    assert cost[3].endswith(" of rows above)")
    assert cost[4] == "rows without a user_id are left out"
    assert withheld[0].startswith("small groups may be withheld: about ")


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
    assert "left" not in text.split("\n")[1].split(" · ")[1]


def test_little_clipping_is_not_worth_a_word() -> None:
    few = counted(
        [1], extra=(noisy("clipped:spend [0, 64]", [[0, 10**6, 9000]], F(1), laplace(3)),)
    )
    many = counted(
        [1], extra=(noisy("clipped:spend [0, 64]", [[40_000, 10**6, 90_000]], F(1), laplace(3)),)
    )
    assert "clipped" not in notes_text(few)
    assert "spend clipped to [0, 64]: about 3.5" in notes_text(many)
    assert "of rows below, about 7.9" in notes_text(many)


def test_a_name_without_bounds() -> None:
    assert "spend clipped: about" in notes_text(
        counted([1], extra=(noisy("clipped:spend", [[0, 10, 90]], F(1), laplace(3)),))
    )


def test_processing_is_told() -> None:
    assert "rounded to whole numbers" in notes_text(counted([1]).rounded())


def test_rules_are_printed_as_text() -> None:
    assert "\x1b" not in notes_text(visits(rules=("evil \x1b[31m rule",)))
