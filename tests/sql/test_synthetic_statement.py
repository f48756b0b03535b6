"""CREATE SYNTHETIC TABLE, as `sql` reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.sql import find_synthetic
from sfumato.synth import SyntheticTable

from ..refusing import refusal

ROWS = pa.table({"city": ["Roma", "Bari"] * 50, "vip": [True] * 60 + [False] * 40})


@pytest.fixture
def visits() -> Iterator[Table]:
    with sf.protect(
        ROWS,
        name="visits",
        each_row_a_person=True,
        budget=sf.ZCDP(1000),
        keys={"city": ["Bari", "Roma"]},
    ) as table:
        yield table


@pytest.mark.parametrize(
    "text",
    [
        "CREATE SYNTHETIC TABLE x AS SELECT city FROM visits",
        "  create synthetic\ttable x\nas select city from VISITS;",
    ],
)
def test_plain_columns(visits: Table, text: str) -> None:
    rows = cast("SyntheticTable", visits.sql(text, promise=sf.ZCDP(100)))
    assert rows.to_arrow().column_names == ["city"]
    spent = visits.spent
    again = visits.synthesize(columns=["city"], promise=sf.ZCDP(100))
    assert again.receipt == rows.receipt
    assert visits.spent == spent == again.cost, "the stored table"


def test_all_columns_and_a_condition(visits: Table) -> None:
    text = "CREATE SYNTHETIC TABLE x AS SELECT * FROM visits WHERE city = 'Roma' AND vip"
    table = cast("SyntheticTable", visits.sql(text, promise=sf.ZCDP(100))).to_arrow()
    assert table.column_names == ["city", "vip"]
    assert set(table.column("city").to_pylist()) == {"Roma"}
    assert abs(table.num_rows - 30) < 5


def test_other_texts_are_none() -> None:
    for text in ("SELECT 1", "CREATE TABLE x AS SELECT 1", "CREATE SYNTHETIC TABLE x", None):
        assert find_synthetic(text) is None


@pytest.mark.parametrize(
    "select",
    [
        "SELECT city, COUNT(*) FROM visits GROUP BY city",
        "SELECT city FROM visits LIMIT 4",
        "SELECT DISTINCT city FROM visits",
        "SELECT city FROM visits ORDER BY city",
        "SELECT upper(city) FROM visits",
        "SELECT city, * FROM visits",
        "SELECT city FROM visits JOIN visits AS v USING (city)",
        "SELECT city FROM visits, visits AS v",
        "SELECT city FROM (SELECT city FROM visits)",
        "SELECT city FROM towns",
        "SELECT 1",
    ],
)
def test_anything_else_is_refused(visits: Table, select: str) -> None:
    text = f"CREATE SYNTHETIC TABLE x AS {select}"
    assert refusal(lambda: visits.sql(text, promise=sf.ZCDP(1)), "sql.unsupported")
    assert visits.spent.parameters["rho"] == 0
