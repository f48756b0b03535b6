"""A sub-query that stands for a number in WHERE is released first, then the question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import Refused

ABOVE = "SELECT COUNT(*) AS n FROM visits WHERE spend > 2 * (SELECT AVG(spend) FROM visits)"


def visits(budget: str) -> sf.session.Table:
    return sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        budget=budget,
        max_rows=4,
        bounds={"spend": (0, 100)},
    )


def test_both_steps_are_paid_and_the_second_holds_the_released_number() -> None:
    with visits("1") as table:
        answer = table.sql(ABOVE, epsilon="1/2")
        charges = [entry for entry in table.ledger.history() if entry.kind == "charge"]
        assert [entry.cost.parameters["epsilon"] for entry in charges] == [Fraction(1, 4)] * 2
        value = float(answer.rules[-1].split("FROM visits: ")[1].split()[0])
        assert f"where spend > (2 * {value:.6g})" in str(answer.facts["question"])
        assert table.sql(ABOVE, epsilon="1/2")["n"] == answer["n"]  # free, both steps
        assert table.spent.parameters["epsilon"] == Fraction(1, 2)


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (ABOVE, {"epsilon": "0.4"}, "budget.exceeded"),  # one step alone would fit
        (ABOVE, {"within": 50}, "sql.subquery"),
        (ABOVE.replace("AVG(spend)", "spend"), {"epsilon": "0.1"}, "sql.raw-rows"),
        (ABOVE.replace("COUNT(*)", "day"), {"epsilon": "0.1"}, "sql.raw-rows"),
        (
            f"{ABOVE} + (SELECT COUNT(*) FROM visits GROUP BY city)",
            {"epsilon": "0.1"},
            "sql.subquery",
        ),
    ],
)
def test_nothing_is_paid_where_a_step_is_refused(text: str, options: Any, code: str) -> None:
    with visits("0.3") as table:
        with pytest.raises(Refused) as caught:
            table.sql(text, **options)
        assert caught.value.code == code
        assert table.spent.parameters["epsilon"] == 0
