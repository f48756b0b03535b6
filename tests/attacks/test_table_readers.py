"""Whatever holds a table is read; what does not is refused."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.lib.owner_table import read_columns
from sfumato.attacks.lib.table_readers import (
    as_arrow,
    check_columns,
    check_sensitive,
    choose_columns,
    unknown_column,
)
from sfumato.errors import Refused

TABLE = {"sex": ["f", "m", "f"], "age": [20, 21, 20], "day": [datetime.date(2020, 1, 2)] * 3}


def files(path: Path) -> dict[str, str]:
    pl.DataFrame(TABLE).write_parquet(path / "t.parquet")
    pl.DataFrame(TABLE).write_csv(path / "t.csv")
    with duckdb.connect(str(path / "t.duckdb")) as connection:
        connection.register("given", pa.table(TABLE))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return {
        "parquet": f"{path}/t.parquet",
        "csv": f"{path}/t.csv",
        "duckdb": f"{path}/t.duckdb::people",
    }


SOURCES: dict[str, Any] = {
    "dict": lambda: TABLE,
    "rows": lambda: [{name: column[row] for name, column in TABLE.items()} for row in range(3)],
    "pandas": lambda: pd.DataFrame(TABLE),
    "pandas objects": lambda: pd.DataFrame(TABLE, dtype=object),
    "polars": lambda: pl.DataFrame(TABLE),
    "lazy": lambda: pl.DataFrame(TABLE).lazy(),
    "arrow": lambda: pa.table(TABLE),
    "duckdb": lambda: duckdb.from_arrow(pa.table(TABLE)),
    "ibis": lambda: ibis.memtable(pl.DataFrame(TABLE).to_pandas()),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_is_read_the_same(kind: str) -> None:
    read = read_columns(SOURCES[kind](), ["age", "sex", "day"])
    assert list(read) == ["age", "sex", "day"]
    assert read.codes("sex").tolist() == [0, 1, 0]
    assert read.numbers("age").tolist() == [20, 21, 20]
    assert read.numbers("day").tolist() == [18263] * 3


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb"])
def test_files_are_read(kind: str, tmp_path: Path) -> None:
    read = read_columns(files(tmp_path)[kind], ["age", "sex", "day"])
    assert sorted(
        zip(
            read.numbers("age").tolist(),
            read["sex"].tolist(),
            read.numbers("day").tolist(),
            strict=True,
        )
    ) == sorted([(20, "f", 18263), (21, "m", 18263), (20, "f", 18263)])


def test_mixed_objects_are_text() -> None:
    read = read_columns(pd.DataFrame({"a": [1, "x", None, 1]}))
    assert read["a"].tolist() == ["1", "x", None, "1"]
    read = read_columns(
        pd.DataFrame({"a": [1, "x", pd.NA, pd.NaT, float("nan"), [1]]}, dtype=object)
    )
    assert read["a"].tolist() == ["1", "x", None, None, None, "[1]"]


def test_names_may_be_any_list() -> None:
    frame = pd.DataFrame(TABLE)
    assert list(read_columns(frame, frame.columns[:2])) == ["sex", "age"]
    assert check_columns({"a": 1, "b": 2}) == ["a", "b"]


@pytest.mark.parametrize(
    ("table", "code"),
    [
        (3, "attacks.table"),
        ([1, 2], "attacks.table"),
        ([], "attacks.empty"),
        ({"a": [1], "b": [1, 2]}, "attacks.table"),
        ({"a": 3}, "attacks.table"),
        ({"a": "abc"}, "attacks.table"),
        (pd.DataFrame({0: [1]}), "attacks.columns"),
        (pa.table([[1], [2]], names=["a", "a"]), "attacks.columns"),
        ("nowhere.parquet", "table.path"),
    ],
    ids=[
        "number",
        "list of numbers",
        "no rows",
        "unequal",
        "no list",
        "text",
        "unnamed",
        "twice",
        "no file",
    ],
)
def test_what_is_no_table_is_refused(table: Any, code: str) -> None:
    with pytest.raises(Refused) as refusal:
        read_columns(table)
    assert refusal.value.code == code


def test_a_protected_table_is_refused() -> None:
    protected = sf.protect(pa.table(TABLE), name="t", budget=1)
    with pytest.raises(Refused, match=r"attacks\.table"):
        as_arrow(protected, None)


@pytest.mark.parametrize("names", ["age", [], ["age", "age"], [1], None], ids=str)
def test_names_are_a_list_of_different_texts(names: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.columns"):
        check_columns(names)


def test_unknown_columns_are_refused_with_those_there_are() -> None:
    with pytest.raises(Refused, match="it has sex, age") as refusal:
        choose_columns(["weight"], ["sex", "age"])
    assert refusal.value.rewrite == "'sex'"


def test_a_slip_is_corrected() -> None:
    with pytest.raises(Refused) as refusal:
        choose_columns(["bron"], ["sex", "city", "born"])
    assert refusal.value.rewrite == "'born'"
    assert unknown_column("x", []).rewrite == "''"


def test_an_empty_file_is_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,age\n", encoding="utf-8")
    with pytest.raises(Refused) as refusal:
        read_columns(tmp_path / "people.csv")
    assert (refusal.value.code, refusal.value.place) == ("attacks.empty", "people.csv")


@pytest.mark.parametrize("sensitive", ["age", 1])
def test_the_sensitive_column_is_another(sensitive: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.sensitive"):
        check_sensitive(sensitive, ["age"])
