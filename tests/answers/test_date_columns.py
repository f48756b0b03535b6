"""MIN, MAX, MEDIAN and QUANTILE of dates: days inside, dates outside."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.answers import Answer

FIRST = date(2024, 2, 1)


@pytest.fixture(scope="module")
def table() -> Iterator[sf.session.Table]:
    days = [FIRST + timedelta(days=i % 61) for i in range(6100)]
    frame = pa.table(
        {
            "u": list(range(6100)),
            "day": days,
            "at": [datetime(day.year, day.month, day.day, 23, 59) for day in days],
            "city": ["Roma", "Bari"] * 3050,
        }
    )
    with sf.protect(
        frame, name="t", unit="u", max_rows=1, keys={"city": ["Bari", "Roma"]}, budget=1000
    ) as opened:
        yield opened


@pytest.mark.parametrize("column", ["day", "at"])
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("MEDIAN({})", date(2024, 3, 2)),
        ("QUANTILE({}, 0.25)", date(2024, 2, 16)),
        ("MIN({})", FIRST),
        ("MAX({})", FIRST + timedelta(days=60)),
    ],
)
def test_a_quantile_of_dates_is_a_date(
    table: sf.session.Table, column: str, call: str, expected: date
) -> None:
    """At ε = 20 an error of two days has a probability below e⁻¹⁰⁰: a day has 100 people."""
    answer = table.sql(f"SELECT {call.format(column)} AS q FROM t", epsilon=20)
    (quantile,), (low, high) = answer["q"], answer.interval("q")
    assert abs(quantile - np.datetime64(expected)) <= np.timedelta64(2, "D")
    assert low[0] <= quantile <= high[0]
    assert str(quantile) in str(answer)
    assert str(quantile) in answer.to_csv()
    assert answer.to_arrow().schema.field("q").type == "date32"
    again = Answer.from_json(answer.to_json())
    assert str(again) == str(answer)
    assert f"{column} by its date, clipped to 1950-01-01 … 2129-06-06" in answer.rules


def test_ends_come_from_the_question(table: sf.session.Table) -> None:
    text = "SELECT MEDIAN(day) AS q FROM t WHERE day BETWEEN '2024-02-01' AND '2024-02-11'"
    answer = table.sql(text, epsilon=20)
    assert "day by its date, clipped to 2024-02-01 … 2024-02-11" in answer.rules
    assert abs(answer["q"][0] - np.datetime64("2024-02-06")) <= np.timedelta64(2, "D")


def test_groups_are_drawn_on_an_axis_of_dates(table: sf.session.Table) -> None:
    answer = table.sql("SELECT city, MEDIAN(day) AS q FROM t GROUP BY city", epsilon=20)
    axis = answer.plot("q").axes[0].xaxis
    labels = [axis.get_major_formatter()(place) for place in axis.get_majorticklocs()]
    assert labels
    assert all(label.startswith("2024-0") for label in labels)
