"""Hostile texts: all refused, before any engine is asked, alike for every table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.sql import read

from .hostile import HOSTILE
from .people import CANARY, CANARY_NUMBER, protected, rows, unasked

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "refusals.md").read_text(
    encoding="utf-8"
)
DOCUMENTED = set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))


def test_there_are_enough() -> None:
    assert len(HOSTILE) >= 20
    assert sum(map(len, HOSTILE.values())) >= 400
    assert all(len(texts) == len(set(texts)) for texts in HOSTILE.values())


@pytest.mark.parametrize("kind", HOSTILE)
def test_refused_before_the_engine_is_asked(kind: str) -> None:
    with unasked(protected()) as table:
        for text in HOSTILE[kind]:
            with pytest.raises(Refused) as caught:
                table.sql(text, epsilon=1, learn=False)  # learning would find bounds, for a price
            refusal = caught.value
            assert refusal.code in DOCUMENTED or not refusal.code.startswith("sql."), (
                text,
                refusal.code,
            )
            assert refusal.reason, text
            assert CANARY not in str(refusal), text
            assert str(CANARY_NUMBER) not in str(refusal), text
        assert table.spent.parameters == {"epsilon": 0, "delta": 0}


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_same_words_whoever_is_in_the_table(kind: str) -> None:
    """D12, for refusals: nothing of the data is in them."""
    data = rows()
    fewer = {
        name: [
            value
            for value, user in zip(values, data["user_id"], strict=True)
            if user != CANARY_NUMBER
        ]
        for name, values in data.items()
    }
    with unasked(protected()) as here, unasked(protected(fewer)) as there:
        for text in HOSTILE[kind]:
            message = []
            for table in (here, there):
                with pytest.raises(Refused) as caught:
                    read(text, table.rows)
                message.append(str(caught.value))
            assert message[0] == message[1]


PRESENT, ABSENT = 3, 999_999_999


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM visits WHERE user_id = {}",
        "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits WHERE user_id = {} GROUP BY city",
        (
            "SELECT MEDIAN(spend) AS m, HISTOGRAM(age, [0, 30, 60]) AS h FROM visits WHERE "
            "user_id IN ({})"
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT user_id, SUM(age) AS s FROM visits WHERE "
            "user_id = {} GROUP BY user_id) WHERE s > 10"
        ),
        "SELECT SUM(spend) / COUNT(*) AS r FROM visits WHERE user_id = {}",
    ],
)
def test_a_question_about_one_person_costs_what_every_question_costs(text: str) -> None:
    """D12: the same status, shape, cost and words whether the person is there or not."""
    with protected() as table:
        result = [table.sql(text.format(who), epsilon=1) for who in (PRESENT, ABSENT)]
    for first, second in zip(
        *(
            [
                a.cost,
                a.keys,
                a.names,
                len(a),
                a.rules,
                a.processing,
                [p.values.shape for p in a.pieces],
            ]
            for a in result
        ),
        strict=True,
    ):
        assert first == second
    with protected() as table:
        plans = [table.plan(text.format(who), epsilon=1) for who in (PRESENT, ABSENT)]
    assert repr(plans[0].mechanism) == repr(plans[1].mechanism)


def test_questions_about_different_parts_are_charged_one_after_the_other() -> None:
    """A unit may have rows in many parts, so disjoint conditions are no parallel questions."""
    with protected(budget=1.0) as table:
        for city in ("Roma", "Bari"):
            table.sql(
                "SELECT COUNT(*) AS n FROM visits WHERE city = ?", epsilon="1/4", parameters=[city]
            )
        assert table.spent.parameters["epsilon"] * 2 == 1


def test_a_repeated_question_costs_nothing_and_says_the_same() -> None:
    """D10."""
    with protected(budget=1.0) as table:
        first = table.sql(
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n LIMIT 2", epsilon=0.5
        )
        again = table.sql(
            "select city, count(*) as n from VISITS group by 1 order by 2 limit 2 -- again",
            epsilon=0.5,
        )
        assert first.to_json() == again.to_json()
        assert table.spent.parameters["epsilon"] * 2 == 1
