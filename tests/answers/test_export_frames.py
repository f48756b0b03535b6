"""Answers as tables of other libraries and as CSV."""

from __future__ import annotations

import csv
import datetime
import io
import sys
import uuid
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.answers import Answer, Column, Weighing

from ..refusing import refusal
from .examples import counted, noisy, visits

BINS = ["ages [0, 18)", "ages [18, 40)", "ages [40, 65)", "ages [65, 121]"]
PLAIN = ["n", "people", "total_spend", "mean", "var", "sd", "p50"]


def test_values_only_by_default() -> None:
    assert (
        visits().to_pandas().columns.tolist()
        == visits().to_arrow().column_names
        == visits().to_polars().columns
        == ["city", *PLAIN, *BINS]
    )


def test_with_intervals() -> None:
    answer = visits()
    frame = answer.to_pandas(intervals=True)
    assert {f"{name}{end}" for name in (*PLAIN, *BINS) for end in ("", "_low", "_high")} <= set(
        frame.columns
    )
    assert frame["mean_low"].tolist() == answer.interval("mean")[0].tolist()
    assert frame["p50_high"].tolist() == answer.interval("p50", 0.9)[1].tolist()
    lower = np.floor(answer.interval("ages")[0][:, 1])
    assert frame["ages [18, 40)_low"].tolist() == lower.tolist()
    assert answer.to_polars(intervals=True).shape == (3, 1 + 3 * 11)


def test_a_quantile_without_an_interval_has_no_such_columns() -> None:
    column = Column("q", "quantile", (0,), "", {"low": F(0), "high": F(1), "confidence": F(9, 10)})
    answer = Answer(pieces=(noisy("q", [[1]]),), columns=(column,), cost=sf.Pure(1))
    assert answer.to_pandas(intervals=True).columns.tolist() == ["q"]


KEYS: list[tuple[Any, Any]] = [
    ((1, None), pa.int64()),
    (("a", None), pa.string()),
    ((True, None), pa.bool_()),
    ((1.5, None), pa.float64()),
    ((Decimal("1.20"), None), pa.decimal128(3, 2)),
    ((datetime.date(2026, 1, 2), None), pa.date32()),
    ((datetime.datetime(2026, 1, 2), None), pa.timestamp("us")),
    ((datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), None), pa.timestamp("us", tz="UTC")),
    ((uuid.UUID(int=1), None), pa.string()),
]


@pytest.mark.parametrize(
    ("keys", "kind"), KEYS, ids=lambda k: type(k[0]).__name__ if isinstance(k, tuple) else str(k)
)
def test_keys_keep_their_types(keys: Any, kind: Any) -> None:
    answer = counted([1, 2], rows=tuple((key,) for key in keys))
    table = answer.to_arrow()
    assert table.schema.field("city").type == kind
    assert table.column("city").null_count == 1
    assert answer.to_polars().height == 2
    assert answer.to_pandas()["city"].isna().tolist() == [False, True]
    assert answer["city"].tolist() == list(keys)


def test_names_that_would_be_two() -> None:
    columns = (Column("n", "count", (0,)), Column("n_low", "count", (0,)))
    answer = Answer(pieces=(noisy("a", [[1]]),), columns=columns, cost=sf.Pure(1))
    assert answer.to_pandas().shape == (1, 2)
    refusal(lambda: answer.to_pandas(intervals=True), "answer.names")


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv() -> None:
    result = lines(counted([12, -3], rows=(("Roma",), (None,))).to_csv(intervals=True))
    assert result == [
        ["city", "n", "n_low", "n_high"],
        ["Roma", "12", "-48", "72"],
        ["", "-3", "-63", "57"],
    ]


@pytest.mark.parametrize(
    "evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", '=HYPERLINK("x","y")']
)
def test_nothing_that_a_spreadsheet_would_run(evil: str) -> None:
    answer = counted([1], keys=(evil,), rows=((evil,),))
    header, row = lines(answer.to_csv())
    assert header[0] == row[0] == f"'{evil}"


def test_numbers_are_numbers_also_as_keys() -> None:
    assert lines(counted([1, 2], rows=((-5,), (-0.5,))).to_csv())[1:] == [
        ["-5", "1"],
        ["-0.5", "2"],
    ]


def part(sixteenths: int, **more: Any) -> Answer:
    """A count of rows that count for a part: in steps of 1/16."""
    pieces = (noisy("count", [[sixteenths], [sixteenths + 32]], F(1, 16)),)
    return replace(counted([1, 2], **more), pieces=pieces)


def test_counts_are_whole_numbers() -> None:
    """Rounded values lie within intervals that are rounded outward."""
    answer = part(16 * 100 + 9)
    low, high = answer.interval("n")
    frame = answer.to_pandas(intervals=True)
    assert frame.dtypes[1:].tolist() == [np.int64] * 3
    assert frame["n"].tolist() == [101, 103]
    assert answer["n"].tolist() == [100.5625, 102.5625]
    for exported, exact in ((frame["n_low"], low), (-frame["n_high"], -high)):
        assert (exported <= exact).all()
        assert (exported > exact - 1).all()
    assert answer.to_polars()["n"].dtype.is_integer()
    assert answer.to_arrow(intervals=True).schema.field("n_low").type == pa.int64()
    assert Answer.from_json(answer.to_json())["n"].tolist() == answer["n"].tolist()
    assert visits().to_arrow().schema.field("ages [0, 18)").type == pa.int64()
    assert visits().to_arrow().schema.field("mean").type == pa.float64()
    assert counted([], rows=()).to_arrow(intervals=True).schema.field("n").type == pa.int64()


def test_groups_that_add_up_still_do() -> None:
    frame = part(16 * 100, weighing=Weighing("part")).agreeing(total=205).to_pandas()
    assert frame["n"].tolist() == [102, 103], "whole, and 205 together"


def test_counts_beyond_doubles_stay_as_they_are() -> None:
    assert counted([2**60]).to_pandas()["n"].tolist() == [float(2**60)]
    assert counted([2**53 - 1]).to_pandas()["n"].dtype == np.int64


def test_csv_reads_back_to_the_same_doubles() -> None:
    answer = visits()
    header, *rows = lines(answer.to_csv())
    at = header.index("mean")
    assert [float(row[at]) for row in rows] == answer["mean"].tolist()


def test_csv_into_a_file(tmp_path: Path) -> None:
    text = visits(("北京", "a,b", "c\nd")).to_csv(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes().decode() == text
    assert [row[0] for row in lines(text)[1:]] == ["北京", "a,b", "c\nd"]


def test_whole_numbers_in_csv() -> None:
    assert lines(counted([12]).rounded().to_csv())[1][1] == "12"


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_not_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    call = {"pandas": Answer.to_pandas, "polars": Answer.to_polars, "pyarrow": Answer.to_arrow}[
        name
    ]
    assert refusal(lambda: call(counted([1])), "answer.library").place == name


def test_columns_that_are_no_counts_are_doubles() -> None:
    frame = visits().to_pandas().drop(columns=["city", "n", "people", *BINS])
    assert {str(kind) for kind in frame.dtypes} == {"float64"}
    assert visits().to_arrow().column("mean").to_numpy().dtype == np.float64
