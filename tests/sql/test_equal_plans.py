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

PARTS, EACH = 5, 100


def planned(table: Table, question: Question, *, text: bool) -> Plan | str:
    try:
        return table.plan(question.text if text else question.fluent(table), epsilon=1)
    except Refused as refusal:
        return refusal.code


@pytest.mark.parametrize("part", range(PARTS))
def test_five_hundred_questions(part: int) -> None:
    describer, refused = Describer(1000 + part), 0
    with protected() as table:
        for _ in range(EACH):
            question = describer.question()
            one, other = (planned(table, question, text=text) for text in (True, False))
            if isinstance(one, str) or isinstance(other, str):
                assert one == other, question.text
                refused += 1
                continue
            assert one.query.text == other.query.text, question.text
            assert repr(one.mechanism) == repr(other.mechanism), question.text
            assert one.cost == other.cost
            assert [p.name for p in one.pieces] == [p.name for p in other.pieces]
    assert refused <= EACH // 10


def test_a_wrong_reading_would_be_seen() -> None:
    """The twin: a question that differs in one sign."""
    with protected() as table:
        one = table.plan("SELECT COUNT(*) AS n FROM visits WHERE age > 18", epsilon=1)
        other = table.plan(table.where(sf.col("age") >= 18).aggregate(n=sf.count()), epsilon=1)
        assert one.query.text != other.query.text
