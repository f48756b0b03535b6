"""The explanation of an answer: every fact has a line, and no line is too wide."""

from __future__ import annotations

from sfumato.answers.render.tabulate import display_width

from .examples import counted, visits


def test_every_rule_and_fact_has_a_line() -> None:
    answer = visits(processing=("negative counts are shown as 0",))
    lines = answer.explain(width=200).splitlines()
    assert lines[0] == "what    group_by(city).aggregate(n=count(), …)"
    assert "cost    ε = 0.3 of 1" in lines[1]
    assert lines[2] == "unit    user_id, neighbours by add-remove"
    assert lines[3:6] == [f"rule    {rule}" for rule in answer.rules]
    assert lines[6] == "done    negative counts are shown as 0"
    assert [line[:8] for line in lines[7:]] == ["limit   "] * 4 + ["error   "]


def test_lines_wrap_below_their_label() -> None:
    lines = visits().explain(width=50).splitlines()
    assert all(display_width(line) <= 50 for line in lines)
    assert any(line.startswith(" " * 8) for line in lines)


def test_a_question_of_several_lines() -> None:
    answer = counted([1], facts={"question": "from visits\n  n = count()"})
    assert answer.explain().splitlines()[:2] == ["what    from visits", "          n = count()"]


def test_levels_are_the_callers() -> None:
    assert "(50 %, each cell)" in counted([1]).explain(confidence=0.5)
