"""Parts of moments are functions of expressions; how they are said in SQL is in test_functions."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.sql.datetimes import PART_NAMES, PARTS
from sfumato.tables.expr.functions import FUNCTIONS


def test_parts_are_functions() -> None:
    assert set(PARTS.values()) <= set(FUNCTIONS)


@pytest.mark.parametrize(
    "expression", ["DATE_PART('century', day)", "EXTRACT(millennium FROM day)"]
)
def test_another_part_is_refused_with_those_there_are(table: Table, expression: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        table.plan(f"SELECT COUNT(*) AS n FROM visits WHERE {expression} = 1", epsilon=1)
    assert caught.value.code == "sql.function"
    assert all(part in caught.value.reason for part in PART_NAMES)
    table.plan(caught.value.rewrite, epsilon=1)


def test_a_difference_is_rewritten_in_days(table: Table) -> None:
    with pytest.raises(sf.Refused) as caught:
        table.plan(
            "SELECT COUNT(*) FROM visits WHERE DATE_DIFF('month', day, DATE '2026-01-01') > 1",
            epsilon=1,
        )
    assert caught.value.rewrite == (
        "SELECT COUNT(*) FROM visits WHERE DATE_DIFF('day', day, DATE '2026-01-01') > 1"
    )
