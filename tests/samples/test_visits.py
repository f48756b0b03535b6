"""The visits are the same on every machine, and have the shape that examples need."""

from __future__ import annotations

import hashlib
from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.samples import visits
from sfumato.samples.visits import CITIES, ROWS, USERS


def test_the_columns() -> None:
    table = visits()
    names = {
        "user_id": pa.int64(),
        "city": pa.string(),
        "age": pa.int64(),
        "spend": pa.float64(),
        "day": pa.date32(),
        "vip": pa.bool_(),
    }
    assert table.schema == pa.schema(list(names.items()))
    assert table.num_rows == ROWS
    assert [name for name in names if table[name].null_count] == ["spend"]
    assert 300 < table["spend"].null_count < 500


def test_it_is_the_same_everywhere() -> None:
    table = visits()
    text = table.set_column(
        3, "spend", pc.cast(pc.round(pc.multiply(table["spend"], 100)), pa.int64())
    ).to_pydict()
    assert hashlib.sha256(repr(text).encode()).hexdigest()[:16] == "72e172decdb83003"
    assert visits() is table


def test_customers_have_few_rows_and_a_few_have_many() -> None:
    rows = Counter(visits()["user_id"].to_pylist())
    assert len(rows) == USERS
    counts = sorted(rows.values())
    assert counts[0] == 1
    assert counts[USERS // 2] <= 4
    assert counts[-1] > 100


def test_cities_are_large_and_tiny() -> None:
    rows = Counter(visits()["city"].to_pylist())
    assert set(rows) == set(CITIES)
    assert rows["Roma"] > 6000
    assert rows["Matera"] < 50
    assert rows["Alberobello"] < 10


def test_a_customer_is_one_person() -> None:
    table = visits()
    for column in ("age", "vip"):
        assert table.group_by("user_id").aggregate([(column, "count_distinct")])[
            f"{column}_count_distinct"
        ].unique().to_pylist() == [1]
    ends = pc.min_max(table["age"]).as_py()
    assert ends == {"min": 16, "max": 85}


def test_spend_has_a_long_tail() -> None:
    spend = visits()["spend"]
    assert 9 < pc.quantile(spend, 0.5)[0].as_py() < 11
    assert pc.min(spend).as_py() > 0
    assert pc.max(spend).as_py() > 200
    assert pc.quantile(spend, 0.99)[0].as_py() < 70
