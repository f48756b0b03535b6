"""SQL and the fluent form are two ways to write one question: the same query, the same noise, the
same cost.
"""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.tables.plan.query_plan import Plan

from .described import Describer, Question
from .people import protected

PARTS, EACH = 10, 100


def planned(table: Table, question: Question, *, text: bool) -> Plan | str:
    try:
        return table.plan(question.text if text else question.fluent(table), epsilon=1)
    except Refused as refusal:
        return refusal.code


@pytest.mark.parametrize(
    "part", [*range(3), *(pytest.param(part, marks=pytest.mark.slow) for part in range(3, PARTS))]
)
def test_hundreds_of_questions(part: int) -> None:
    describer, refused = Describer(1000 + part), 0
    with protected() as table:
        for _ in range(EACH):
            question = describer.question()
            first, second = (planned(table, question, text=text) for text in (True, False))
            if isinstance(first, str) or isinstance(second, str):
                assert first == second, question.text
                refused += 1
                continue
            assert first.query.text == second.query.text, question.text
            assert repr(first.mechanism) == repr(second.mechanism), question.text
            assert first.cost == second.cost
            assert [p.name for p in first.components] == [p.name for p in second.components]
    assert refused <= EACH // 10


def test_a_wrong_reading_would_be_seen() -> None:
    """The twin: a question that differs in one sign."""
    with protected() as table:
        first = table.plan("SELECT COUNT(*) AS n FROM visits WHERE age > 18", epsilon=1)
        second = table.plan(table.where(sf.col("age") >= 18).aggregate(n=sf.count()), epsilon=1)
        assert first.query.text != second.query.text
