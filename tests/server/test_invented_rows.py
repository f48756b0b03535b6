"""The rows that `serve --check` invents follow the declaration, and lead to a deadline."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sfumato.cli.commands import app
from sfumato.server.config import Config, load
from sfumato.server.datasets import Served, open_dataset
from sfumato.server.invented_rows import TimedDataset, _invent, time_dataset
from sfumato.server.workers.processors import available

TOML = """
[server]
port = 0
[datasets.shop]
source = "shop.parquet"
unit = "person"
budget = 1
max_rows = 3
table_rows = 2000
bounds = { amount = [-5, 20], price = [0, 9] }
keys = { city = ["Roma", "Bari"] }
"""
SCHEMA = pa.schema(
    {
        "person": pa.string(),
        "amount": pa.int64(),
        "price": pa.decimal128(9, 2),
        "city": pa.string(),
        "note": pa.string(),
        "bought": pa.timestamp("us"),
        "day": pa.date32(),
        "paid": pa.bool_(),
        "weight": pa.float64(),
        "visits": pa.int64(),  # without bounds
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(SCHEMA.empty_table(), tmp_path / "shop.parquet")
    (tmp_path / "sfumato.toml").write_text(TOML, encoding="utf-8")
    return tmp_path / "sfumato.toml"


@pytest.fixture
def served(path: Path) -> Served:
    return open_dataset(load(path).datasets["shop"])


def test_invented_rows_have_the_declared_types_bounds_keys_and_rows_of_a_unit(
    served: Served,
) -> None:
    rows = _invent(served.declarations[0], 2000)
    columns = rows.to_pydict()
    assert rows.num_rows == 2000
    assert set(columns["city"]) == {"Roma", "Bari"}
    assert -5 <= min(columns["amount"]) < 0 < max(columns["amount"]) <= 20
    assert 0 <= min(columns["price"]) < 1 < 8 < max(columns["price"]) <= Decimal(9)
    assert {columns["person"].count(person) for person in set(columns["person"][:30])} == {3}
    assert len(set(columns["note"])) > 100
    assert len(set(columns["day"])) > 100
    assert set(columns["paid"]) == {False, True}


def test_each_question_is_timed_and_nothing_is_charged(served: Served, path: Path) -> None:
    processors = available()
    timed = time_dataset(served, load(path))
    assert [question.split("FROM")[0] for question in timed.seconds] == [
        "SELECT COUNT(*) AS n ",
        "SELECT city, COUNT(*) AS n, AVG(amount) AS mean ",
        "SELECT MEDIAN(amount) AS middle ",
    ]
    assert all(seconds > 0 for seconds in timed.seconds.values())
    assert served.ledger.spent == 0 * served.ledger.budget
    assert available() == processors


def timed(slowest: float, configured: float | None = None) -> TimedDataset:
    classes = Config.__dataclass_fields__["deadlines"].default
    return TimedDataset("shop", 10, 10, {"SELECT 1": slowest}, classes, configured)


def test_the_least_class_is_proposed_that_leaves_three_times_the_slowest_question() -> None:
    assert timed(0.16).proposed == 1  # stored at 0.6 s
    assert timed(0.21).proposed == 4
    assert timed(6).proposed is None
    assert "add one of 36 s" in "\n".join(timed(6).lines())


def test_a_deadline_that_is_too_short_is_named() -> None:
    assert "1 s is too short" in "\n".join(timed(0.5, 1.0).lines())
    assert "too short" not in "\n".join(timed(0.5, 4.0).lines())


def test_a_larger_table_takes_its_time_in_proportion() -> None:
    larger = replace(timed(0.1), rows=20)
    assert "10 invented, times taken in proportion" in next(larger.lines())


def test_the_command_checks_and_proposes(path: Path) -> None:
    result = CliRunner().invoke(app, ["serve", str(path), "--check"])
    assert result.exit_code == 0, result.output
    assert "propose: deadline = " in result.output
    assert "2,000 rows (2,000 invented)" in result.output
