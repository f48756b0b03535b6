"""Parquet cells that DuckDB stops at are null: text that is not UTF-8, and milliseconds beyond the
calendar. Nothing else changes by them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.sql import read
from sfumato.tables.engine.sources import open_source
from sfumato.testing.exact_checks import through_the_door

from ..refusing import refusal
from .every_type import ARROW_TYPES, INSTANTS, ROWS, TEXTS, UNIT, cells_of, column, texts, units

BAD = texts(pa.string(), [b"a", b"\xff\xfe", b"b", None])
LATE = pa.array([0, 2**62, -(2**62), None]).cast(pa.timestamp("ms"))
FILES = {
    "text": {"c": BAD},
    "large text": {"c": texts(pa.large_string(), [b"a", b"\xc3", b"b", None])},
    "encoded text": {
        "c": pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 2, None]), texts(pa.string(), [b"a", b"\xff", b"b"])
        )
    },
    "milliseconds": {"c": LATE},
    "milliseconds in UTC": {"c": LATE.view(pa.timestamp("ms", "UTC"))},
}
TOTAL = {"text": 2, "large text": 2, "encoded text": 2, "milliseconds": 1, "milliseconds in UTC": 1}
"""How many cells can be read, in each of them."""


def write(path: Path, columns: dict[str, Any]) -> str:
    pq.write_table(pa.table({UNIT: [1, 2, 3, 4], **columns}), path)
    return str(path)


def count(table: Any, text: str) -> list[int]:
    through = through_the_door(
        table.plan(read(text, table.rows, None).query, epsilon=1, delta="1e-6")
    )
    return [int(piece.values.sum() * piece.step) for piece in through.pieces]


def protect(source: Any) -> Any:
    return sf.protect(source, name="t", unit=UNIT, max_rows=1, budget=100)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "first",
    [
        "SELECT COUNT(c) AS n FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE c IS NOT NULL",
        "SELECT COUNT(*) AS n FROM t WHERE u > 0",
    ],
)
def test_a_cell_that_duckdb_stops_at_is_null_in_every_question(
    name: str, first: str, tmp_path: Path
) -> None:
    """Also in questions that DuckDB would answer from the footer, without reading the cell."""
    with protect(write(tmp_path / "t.parquet", FILES[name])) as table:
        assert count(table, first) == [4 if "u > 0" in first else TOTAL[name]]
        assert count(table, "SELECT COUNT(c) AS n FROM t") == [TOTAL[name]]
        assert count(table, "SELECT COUNT(*) AS n FROM t WHERE c IS NULL") == [4 - TOTAL[name]]
        assert len(table.sql("SELECT COUNT(c) AS n FROM t", epsilon=1)) == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [("text", duckdb.InvalidInputException), ("milliseconds", duckdb.ConversionException)],
)
def test_duckdb_by_itself_does_stop(name: str, error: type[Exception], tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", FILES[name])
    with pytest.raises(error):
        duckdb.sql(f"SELECT max(c) FROM '{path}'").fetchall()


def test_one_bad_cell_changes_nothing_but_itself(tmp_path: Path) -> None:
    """All other columns and cells are read by both ways alike: in a file where DuckDB reads
    everything, and in one where it does not.
    """
    names = {f"c{place}": kind for place, kind in enumerate(ARROW_TYPES)}
    columns: dict[str, Any] = {UNIT: units()}
    for name, kind in names.items():
        array = column(kind)
        if (
            pa.types.is_string(kind)
            or pa.types.is_large_string(kind)
            or pa.types.is_string_view(kind)
        ):
            array = pa.array(cells_of([text.decode() for text in TEXTS if _is_text(text)]), kind)
        elif pa.types.is_timestamp(kind) and kind.unit == "ms":
            array = pa.array(
                cells_of([value for value in INSTANTS if abs(value) < 2**63 // 1000]), pa.int64()
            ).view(kind)
        try:
            pq.write_table(pa.table({name: array}), tmp_path / "one.parquet")
        except (pa.ArrowException, OSError):  # a type that Parquet does not have
            continue
        columns[name] = array
    tables = []
    for cell in ("good", "bad"):
        columns["last"] = texts(
            pa.string(),
            [cell.encode() if cell == "good" or place else b"\xff" for place in range(ROWS)],
        )
        pq.write_table(pa.table(columns), tmp_path / f"{cell}.parquet", row_group_size=7)
        source = open_source(str(tmp_path / f"{cell}.parquet"), name="t")
        shown = source.table.select(
            **{name: source.table[name].cast("string") for name in source.schema}
        )
        tables.append(source.engine.run(shown))
        assert source.engine._parquet["t"]._copied is (cell == "bad")
        source.engine.close()
    order = [(name, "ascending") for name in tables[0].column_names if name != "last"]
    good, bad = (table.drop_columns(["last"]).sort_by(order) for table in tables)
    assert good.num_rows == ROWS
    assert good.num_columns > 30
    differing = {
        name: (good[name].to_pylist(), bad[name].to_pylist())
        for name in good.column_names
        if not good[name].equals(bad[name])
    }
    assert not differing
    assert tables[1]["last"].null_count == 1


def test_int96_is_read_alike(tmp_path: Path) -> None:
    stamps = pa.array([0, 10**15, -(10**15), 253402300799 * 10**6, None]).cast(pa.timestamp("us"))
    readings = []
    for cell in (b"good", b"\xff"):
        table = pa.table(
            {UNIT: [1, 2, 3, 4, 5], "t": stamps, "last": texts(pa.string(), [cell] * 5)}
        )
        pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
        source = open_source(str(tmp_path / "t.parquet"), name="t")
        readings.append(
            sorted(map(str, source.engine.run(source.table.select("t", "last"))["t"].to_pylist()))
        )
        source.engine.close()
    assert readings[0] == readings[1]


def test_a_file_that_is_replaced_is_checked_again(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"c": pa.array(["a", "b", "c", "d"])})
    with protect(path) as table:
        for columns, expected in (
            (None, 4),
            ({"c": BAD}, 2),
            ({"c": pa.array(["a", "b", "c", None])}, 3),
            ({"c": BAD}, 2),
        ):
            if columns is not None:
                write(tmp_path / "new.parquet", columns)
                os.replace(tmp_path / "new.parquet", path)
            assert count(table, "SELECT COUNT(c) AS n FROM t") == [expected]


def test_only_the_columns_of_the_question_are_checked(tmp_path: Path) -> None:
    with protect(
        write(tmp_path / "t.parquet", {"c": BAD, "d": pa.array(["a", "b", "c", "d"])})
    ) as table:
        cells = table._source.engine._parquet["t"]
        assert count(table, "SELECT COUNT(d) AS n FROM t") == [4]
        assert (cells._checked, cells._copied) == ({"d"}, False)
        assert count(table, "SELECT COUNT(c) AS n FROM t") == [2]
        assert cells._copied


def test_several_files_and_names_that_need_quotes(tmp_path: Path) -> None:
    for place, cells in enumerate((BAD, pa.array(["a", "b", "c", "d"]))):
        pq.write_table(
            pa.table({UNIT: [1, 2, 3, 4], 'the "c".d': cells, "s": [{"d": 1}] * 4}),
            tmp_path / f"it's {place}.parquet",
        )
    source = open_source(str(tmp_path / "it's *.parquet"), name="t")
    result = source.engine.run(source.table.select('the "c".d'))
    assert sorted(map(str, result.column(0).to_pylist())) == [
        "None",
        "None",
        "a",
        "a",
        "b",
        "b",
        "c",
        "d",
    ]
    source.engine.close()


def test_a_column_called_like_the_number_of_a_row_is_refused(tmp_path: Path) -> None:
    refusal(
        lambda: protect(write(tmp_path / "t.parquet", {"File_Row_Number": BAD})), "table.columns"
    )


def _is_text(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
