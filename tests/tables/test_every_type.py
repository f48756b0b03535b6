"""No failure depends on data: every source, every type of column that it can hold, values at the
ends of what the type holds, and questions about all of them.

The tables of types are complete: a type that a library or an engine gains is missing here until
somebody adds it with its extreme values. A column that is not accepted is left out or refused when
the table is declared, which depends on its type and not on its cells.
"""

from __future__ import annotations

import datetime
import inspect
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.expr.types import NAMES

from .every_type import (
    ARROW,
    ARROW_TYPES,
    DAYS,
    ID_OF,
    INSTANTS,
    NOT_MADE,
    NUMBERS,
    RANDOM_TYPES,
    ROWS,
    TEXTS,
    UNIT,
    WHOLE,
    arrow_table,
    ask_as_units,
    ask_everything,
    cells_of,
    column,
    random_column,
    texts,
    units,
)

THOROUGH = pytest.mark.parametrize(
    "thorough",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["a column of each type", "every column"],
)
"""Every function on one column of each type that columns are read as; and on every column."""

QUESTIONS = pytest.mark.parametrize(
    "thorough",
    [None, pytest.param(True, marks=pytest.mark.slow)],
    ids=["questions", "every column"],
)
"""Frames and Parquet have the types of Arrow, and a DuckDB file those of a lent DuckDB. There,
functions of these types are asked.
"""

LEFT_OUT_OF_PARQUET = {
    "decimal128(10, -2)", "timestamp[s]", "timestamp[s, tz=UTC]", "timestamp[s, tz=Europe/Rome]",
    "month_day_nano_interval",
    *(
        str(column(kind).type)
        for kind in ARROW_TYPES
        if pa.types.is_union(kind)
        or pa.types.is_dictionary(kind)
        or pa.types.is_run_end_encoded(kind)
    ),
}  # fmt: skip
"""Columns that Arrow does not write as Parquet: seconds only where they fit into milliseconds,
dictionaries only without nulls inside.
"""


# Arrow


def test_every_arrow_type_is_listed() -> None:
    assert set(ID_OF.values()) == set(ARROW)
    assert {ID_OF[kind.id] for kind in ARROW_TYPES} == set(ARROW) - NOT_MADE


@THOROUGH
def test_arrow(thorough: bool) -> None:
    accepted: dict[str, Any] = {}
    assert not ask_everything(arrow_table(), thorough=thorough, accepted=accepted)
    assert len(accepted) > 45
    assert not ask_as_units(arrow_table(), accepted, thorough=thorough)


def test_one_bad_cell_of_arrow_is_null_and_no_other() -> None:
    """Dictionaries and views of text that is not UTF-8."""
    cells = [b"a", b"\xff", b"b", None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        for array in (
            texts(kind, cells),
            pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int8()), texts(kind, cells)),
        ):
            with sf.protect(
                pa.table({UNIT: range(4), "c": array}),
                name="t",
                unit=UNIT,
                max_rows=1,
                keys={"c": ["a", "b", None]},
                budget=10**6,
            ) as table:
                answer = table.sql("SELECT c, COUNT(*) AS n FROM t GROUP BY c", epsilon=1000)
                assert dict(
                    zip([row[0] for row in answer.rows], np.rint(answer["n"]), strict=True)
                ) == {"a": 1, "b": 1, None: 2}


# Parquet


def written(folder: Path) -> tuple[dict[str, Any], set[str]]:
    """The columns that Parquet can hold, and the types that it cannot."""
    held: dict[str, Any] = {}
    not_held = set()
    for name, cells in zip(arrow_table().column_names, arrow_table().columns, strict=True):
        try:
            pq.write_table(pa.table({name: cells}), folder / "one.parquet")
        except (pa.ArrowException, OSError):
            not_held.add(str(cells.type))
        else:
            held[name] = cells
    return held, not_held


@QUESTIONS
def test_parquet(tmp_path: Path, thorough: bool | None) -> None:
    columns, not_held = written(tmp_path)
    assert not_held == LEFT_OUT_OF_PARQUET
    for kind in (pa.string(), pa.timestamp("s")):  # without what Arrow does not write
        cells = [b"a", b"\xff"] if kind == pa.string() else [0, 10**15]
        values = (
            texts(kind, cells) if kind == pa.string() else pa.array(cells, pa.int64()).view(kind)
        )
        columns[f"encoded {kind}"] = pa.DictionaryArray.from_arrays(
            pa.array([place % 2 for place in range(ROWS)], pa.int8()), values
        )
    renamed = {
        name.replace(" ", "_").replace("[", "_").replace("]", ""): cells
        for name, cells in columns.items()
    }
    pq.write_table(pa.table(renamed), tmp_path / "all.parquet", row_group_size=11)
    assert not ask_everything(str(tmp_path / "all.parquet"), thorough=thorough)


def test_parquet_of_old_timestamps(tmp_path: Path) -> None:
    """INT96, which counts days and nanoseconds."""
    stamps = {f"c{place}": column(pa.timestamp(unit)) for place, unit in enumerate(("us", "ns"))}
    pq.write_table(
        pa.table({UNIT: units(), **stamps}),
        tmp_path / "old.parquet",
        use_deprecated_int96_timestamps=True,
    )
    assert not ask_everything(str(tmp_path / "old.parquet"))


# DuckDB

HUGE = 2**127 - 1
DUCKDB: dict[str, tuple[str, list[str]]] = {
    "BOOLEAN": ("BOOLEAN", ["true", "false"]),
    "TINYINT": ("TINYINT", ["-128", "127"]),
    "SMALLINT": ("SMALLINT", ["-32768", "32767"]),
    "INTEGER": ("INTEGER", ["-2147483648", "2147483647"]),
    "BIGINT": ("BIGINT", ["-9223372036854775808", "9223372036854775807"]),
    "HUGEINT": (
        "HUGEINT",
        ["0", f"{HUGE}", f"-{HUGE} - 1", f"-{HUGE}", f"{10**38}", f"{10**38 - 1}"],
    ),
    "UTINYINT": ("UTINYINT", ["0", "255"]),
    "USMALLINT": ("USMALLINT", ["0", "65535"]),
    "UINTEGER": ("UINTEGER", ["0", "4294967295"]),
    "UBIGINT": ("UBIGINT", ["0", "18446744073709551615"]),
    "UHUGEINT": ("UHUGEINT", ["0", f"'{2**128 - 1}'"]),
    "BIGNUM": ("BIGNUM", ["0", f"'{10**80}'", f"'-{10**80}'"]),
    "FLOAT": ("FLOAT", ["'nan'", "'inf'", "'-inf'", "-0.0", "3.4028235e38"]),
    "DOUBLE": ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "-0.0", "1.7976931348623157e308", "5e-324"]),
    "DECIMAL": ("DECIMAL(38,2)", ["0", f"'{10**36 - 1}.99'", f"'-{10**36 - 1}.99'"]),
    "VARCHAR": (
        "VARCHAR",
        [
            "''",
            "'a'",
            "chr(0)",
            "'a' || chr(0)",
            "repeat('x', 70000)",
            "'infinity'",
            "'nan'",
            "'290309-12-22 (BC) 00:00:00'",
        ],
    ),
    "ENUM": ("ENUM('a', '', 'Roma')", ["'a'", "''", "'Roma'"]),
    "UUID": (
        "UUID",
        ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    ),
    "DATE": (
        "DATE",
        [
            "'1970-01-01'",
            "'infinity'",
            "'-infinity'",
            "'5881580-07-10'",
            "'5877642-06-25 (BC)'",
            "'0001-01-01'",
            "'0001-12-31 (BC)'",
            "'10000-01-01'",
        ],
    ),
    "TIMESTAMP": (
        "TIMESTAMP",
        [
            "'1970-01-01'",
            "'infinity'",
            "'-infinity'",
            "'294247-01-10 04:00:54.775806'",
            "'290309-12-22 (BC) 00:00:00'",
        ],
    ),
    "TIMESTAMP WITH TIME ZONE": (
        "TIMESTAMPTZ",
        [
            "'1970-01-01 00:00:00+00'",
            "'infinity'",
            "'-infinity'",
            "'9999-12-31 23:59:59-12'",
            "'0001-01-01 00:00:00+14'",
        ],
    ),
    "TIMESTAMP_S": ("TIMESTAMP_S", ["'1970-01-01'", "'infinity'", "'-infinity'"]),
    "TIMESTAMP_MS": ("TIMESTAMP_MS", ["'1970-01-01'", "'infinity'", "'-infinity'"]),
    "TIMESTAMP_NS": (
        "TIMESTAMP_NS",
        [
            "'1970-01-01'",
            "'infinity'",
            "'-infinity'",
            "'2262-04-11 23:47:16.854775806'",
            "'1677-09-22'",
        ],
    ),
    "TIME": ("TIME", ["'24:00:00'", "'00:00:00'"]),
    "TIME WITH TIME ZONE": ("TIMETZ", ["'00:00:00+15'"]),
    "TIME_NS": ("TIME_NS", ["'00:00:00.000000001'"]),
    "INTERVAL": ("INTERVAL", ["INTERVAL 1 DAY"]),
    "BLOB": ("BLOB", [r"'\xFF'"]),
    "BIT": ("BIT", ["'101'"]),
    "LIST": ("INTEGER[]", ["[1]", "[]"]),
    "ARRAY": ("INTEGER[2]", ["[1, 2]"]),
    "STRUCT": ("STRUCT(a INTEGER)", ["{'a': 1}"]),
    "MAP": ("MAP(INTEGER, INTEGER)", ["MAP {1: 2}"]),
    "UNION": ("UNION(a INTEGER, b VARCHAR)", ["1"]),
    "VARIANT": ("VARIANT", ["1", "'a'"]),
    "GEOMETRY": ("", []),
    "TYPE": ("", []),
    "NULL": ("", []),
}
"""DuckDB's own names of its types → how a column of one is declared, and cells. The last three have
no columns without extensions, or none at all.
"""

IMPORTED = [
    kind
    for kind in ARROW_TYPES
    if (pa.types.is_timestamp(kind) and (kind.tz is None or kind.unit in ("us", "ns")))
    or (pa.types.is_decimal(kind) and kind.bit_width <= 128 and kind.scale >= 0)
]
"""Arrow columns that DuckDB takes in as they are, with cells that SQL cannot write: instants beyond
microseconds, decimals beyond their digits.
"""


def filled(connection: Any) -> None:
    """A table with a column of each type."""
    columns = {}
    for place, (kind, cells) in enumerate(DUCKDB.values()):
        if kind:
            cases = " ".join(
                f"WHEN {i} THEN CAST({cell} AS {kind})" for i, cell in enumerate(cells)
            )
            columns[f"d{place}"] = (
                f"CASE i % {len(cells) + 1} {cases} END"
                if len(cells) > 1
                else f"CAST({cells[0]} AS {kind})"
            )
    imported = pa.table({f"a{place}": column(kind) for place, kind in enumerate(IMPORTED)})
    connection.register("imported", imported)
    chosen = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    connection.execute(
        f"CREATE TABLE t AS SELECT i // 2 AS {UNIT}, {chosen}, imported.* FROM "
        f"range({ROWS}) r(i) POSITIONAL JOIN imported"
    )
    connection.unregister("imported")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "clinic.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS clinic (STORAGE_VERSION 'latest'); USE clinic")
        filled(connection)
    return path


def test_every_duckdb_type_is_listed() -> None:
    rows = duckdb.sql(
        "SELECT DISTINCT logical_type FROM duckdb_types() WHERE database_name = 'system'"
    ).fetchall()
    assert {name for (name,) in rows} == set(DUCKDB)


@QUESTIONS
def test_a_duckdb_file(clinic: Path, thorough: bool | None) -> None:
    accepted: dict[str, Any] = {}
    assert not ask_everything(f"{clinic}::t", thorough=thorough, accepted=accepted)
    assert len(accepted) == 22 + len(IMPORTED)


@THOROUGH
def test_a_lent_duckdb(thorough: bool) -> None:
    """HUGEINT under a minus and abs(), seconds and milliseconds beyond microseconds: no value of
    one person makes a question fail.
    """
    lent = ibis.duckdb.connect()
    filled(lent.con)
    accepted: dict[str, Any] = {}
    assert not ask_everything(lent.table("t"), thorough=thorough, accepted=accepted)
    assert len(accepted) == 22 + len(IMPORTED)
    assert not thorough or not ask_as_units(lent.table("t"), accepted, thorough=True)


# pandas

STAMPS = [None if value is None else np.int64(value) for value in cells_of(INSTANTS)]
SURROGATE = "a\ud800"


class Odd:
    """A Python object whose text cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


NUMPY: dict[str, Any] = {
    "b": [True, False],
    "i": [-128, 127, 0],
    "u": [0, 255],
    "f": [
        number
        for number in NUMBERS
        if abs(number) < 6e4 or number != number or abs(number) == float("inf")
    ],
    "c": [1 + 2j],
    "m": [np.timedelta64(1, "s")],
    "M": None,
    "O": None,
    "S": [b"\xff"],
    "U": ["a"],
    "V": [b"\xff"],
}
"""Kinds of NumPy's types → cells. pandas makes objects of the last three."""


def numpy_columns() -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for dtype in sorted({np.dtype(kind) for kind in np.sctypeDict.values()}, key=str):
        if dtype.kind in "biufc":
            columns[f"numpy {dtype}"] = (
                pd.Series(
                    [NUMPY[dtype.kind][place % len(NUMPY[dtype.kind])] for place in range(ROWS)]
                )
                .to_numpy()
                .astype(dtype)
            )
    for unit in ("s", "ms", "us", "ns"):
        stamps = np.array(
            [np.iinfo(np.int64).min if value is None else value for value in STAMPS], "int64"
        )
        columns[f"numpy datetime64[{unit}]"] = stamps.view(f"M8[{unit}]")
        columns[f"numpy timedelta64[{unit}]"] = stamps.view(f"m8[{unit}]")
    objects = [
        "a",
        SURROGATE,
        "",
        "\0",
        None,
        float("nan"),
        10**5000,
        Odd(),
        b"\xff",
        Decimal("sNaN"),
        datetime.datetime.max,
        object(),
        [1],
        True,
        pd.NaT,
        pd.NA,
    ]
    columns["objects"] = pd.Series(
        [objects[place % len(objects)] for place in range(ROWS)], dtype=object
    )
    return columns


IN_PANDAS = [
    pa.string(),
    pa.string_view(),
    pa.timestamp("s"),
    pa.timestamp("ms", "UTC"),
    pa.decimal128(38, 0),
    pa.date64(),
    pa.dictionary(pa.int32(), pa.string()),
]
"""Columns of Arrow inside pandas, which are handed on as they are."""

PANDAS: dict[str, Any] = {
    "ArrowDtype": lambda: {
        str(kind): pd.Series(pd.arrays.ArrowExtensionArray(column(kind))) for kind in IN_PANDAS
    },
    "BooleanDtype": lambda: {"boolean": pd.array(cells_of([True, False]), "boolean")},
    "CategoricalDtype": lambda: {
        "category of text": pd.Categorical(cells_of(["a", "", "\0"])),
        "category of broken text": pd.Categorical(
            pd.Series(cells_of(["a", SURROGATE]), dtype=object)
        ),
        "category of floats": pd.Categorical(cells_of([0.5, float("inf"), -0.0])),
        "category of days": pd.Categorical(pd.to_datetime(cells_of(["2026-01-01", "1970-01-01"]))),
        "category of objects": pd.Categorical(
            cells_of(["a", Decimal(1), datetime.date(1, 1, 1)]), ordered=False
        ),
    },
    "DatetimeTZDtype": lambda: {
        f"zoned {unit}": pd.Series(
            np.array([value or 0 for value in STAMPS], "int64").view(f"M8[{unit}]")
        ).dt.tz_localize("UTC")
        for unit in ("s", "ms", "us", "ns")
    },
    **{
        f"{sign}Int{bits}Dtype": lambda name=f"{sign}Int{bits}": {
            name: pd.array(
                cells_of([0, np.iinfo(name.lower()).max, np.iinfo(name.lower()).min]), name
            )
        }
        for sign in ("", "U")
        for bits in (8, 16, 32, 64)
    },
    **{
        f"Float{bits}Dtype": lambda name=f"Float{bits}": {
            name: pd.array(cells_of([0.5, float("inf"), -0.0]), name)
        }
        for bits in (32, 64)
    },
    "IntervalDtype": lambda: {"interval": pd.interval_range(0, ROWS)},
    "PeriodDtype": lambda: {"period": pd.period_range("2026-01-01", periods=ROWS)},
    "SparseDtype": lambda: {"sparse": pd.arrays.SparseArray([0.0, 1.0] * (ROWS // 2))},
    "StringDtype": lambda: {
        "python text": pd.array(cells_of(["a", "", "\0", SURROGATE]), pd.StringDtype("python"))
    },
}
"""Types of pandas → columns of them."""


def test_every_pandas_type_is_listed() -> None:
    assert {name for name in dir(pd) if name.endswith("Dtype")} == set(PANDAS)
    assert {np.dtype(kind).kind for kind in np.sctypeDict.values()} == set(NUMPY)


@QUESTIONS
def test_pandas(thorough: bool | None) -> None:
    columns = numpy_columns()
    for make in PANDAS.values():
        columns |= make()
    names = {f"c{place}": name for place, name in enumerate(columns)}
    frame = pd.DataFrame(
        {
            UNIT: range(ROWS),
            **{
                short: pd.Series(columns[name]).reset_index(drop=True)
                for short, name in names.items()
            },
        }
    )
    failed = ask_everything(frame, thorough=thorough)
    assert not failed, {names[key.split()[0]]: value for key, value in failed.items()}
    for kind in ("bool", "int64", "decimal(10,2)", "float", "date", "timestamp", "uuid", "string"):
        objects = next(short for short, name in names.items() if name == "objects")
        assert not ask_everything(frame[[UNIT, objects]], types={objects: kind})


# Polars

POLARS: dict[str, Any] = {
    "Array": lambda: {"array": pl.Series([[1, 2]] * ROWS, dtype=pl.Array(pl.Int64, 2))},
    "Binary": lambda: {"binary": pl.Series(cells_of([b"\xff", b""]), dtype=pl.Binary)},
    "Boolean": lambda: {"boolean": pl.Series(cells_of([True, False]), dtype=pl.Boolean)},
    "Categorical": lambda: {
        "categorical": pl.Series(cells_of(["a", "", "\0"]), dtype=pl.Categorical)
    },
    "Date": lambda: {"date": pl.Series(cells_of(DAYS), dtype=pl.Int32).cast(pl.Date)},
    "Datetime": lambda: {
        f"datetime {unit} {zone}": pl.Series(cells_of(INSTANTS), dtype=pl.Int64).cast(
            pl.Datetime(unit, zone)
        )
        for unit in ("ms", "us", "ns")
        for zone in (None, "UTC")
    },
    "Decimal": lambda: {
        "decimal": pl.Series(
            cells_of([Decimal("0.01"), Decimal("-99.99")]), dtype=pl.Decimal(38, 2)
        )
    },
    "Duration": lambda: {
        "duration": pl.Series(cells_of([datetime.timedelta(1)]), dtype=pl.Duration)
    },
    "Enum": lambda: {"enum": pl.Series(cells_of(["a", "b"]), dtype=pl.Enum(["a", "b"]))},
    **{
        f"Float{bits}": lambda bits=bits: {
            f"float{bits}": pl.Series(
                cells_of(NUMBERS), dtype=getattr(pl, f"Float{bits}"), strict=False
            )
        }
        for bits in (16, 32, 64)
    },
    **{
        f"{sign}Int{bits}": lambda name=f"{sign}Int{bits}": {
            name: pl.Series(
                cells_of([n for n in (*WHOLE, 2**64 - 1) if _fits(n, name)]),
                dtype=getattr(pl, name),
            )
        }
        for sign in ("", "U")
        for bits in (8, 16, 32, 64, 128)
    },
    "List": lambda: {"list": pl.Series([[1]] * ROWS, dtype=pl.List(pl.Int64))},
    "Map": lambda: {"map": pl.Series([{"x": 1}] * ROWS, dtype=pl.Map(pl.String, pl.Int64))},
    "Null": lambda: {"null": pl.Series([None] * ROWS, dtype=pl.Null)},
    "Object": lambda: {"object": pl.Series([object()] * ROWS, dtype=pl.Object)},
    "String": lambda: {
        "string": pl.Series(
            cells_of(["", "a", "\0", "é", "x" * 70_000, "nan", "infinity", "1e400", "9999-12-31"]),
            dtype=pl.String,
        )
    },
    "Struct": lambda: {"struct": pl.Series([{"a": 1}] * ROWS)},
    "Time": lambda: {"time": pl.Series(cells_of([datetime.time(1)]), dtype=pl.Time)},
}
"""Types of Polars → columns of them."""


def _fits(number: int, name: str) -> bool:
    bits = int(name.rpartition("t")[2])
    return (
        0 <= number < 2**bits
        if name.startswith("U")
        else -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    )


NO_COLUMNS = {"BaseExtension", "Extension", "Field", "Unknown"}
"""Names of Polars that no column has by themselves."""


def test_every_polars_type_is_listed() -> None:
    type_names = {
        name
        for name, kind in inspect.getmembers(pl, inspect.isclass)
        if issubclass(kind, pl.DataType) and kind is not pl.DataType
    }
    assert type_names - NO_COLUMNS - {"Utf8"} == set(POLARS)


@QUESTIONS
def test_polars(thorough: bool | None) -> None:
    columns: dict[str, Any] = {}
    for make in POLARS.values():
        columns |= make()
    names = {f"c{place}": name for place, name in enumerate(columns)}
    frame = pl.DataFrame(
        {UNIT: range(ROWS), **{short: columns[name] for short, name in names.items()}}
    )
    failed = ask_everything(frame, thorough=thorough)
    assert not failed, {names[key.split()[0]]: value for key, value in failed.items()}


# CSV


@THOROUGH
def test_csv(tmp_path: Path, thorough: bool) -> None:
    """The same cells as every type that can be declared."""
    path = tmp_path / "t.csv"
    types = {f"c{place}": str(kind) for place, kind in enumerate(dict.fromkeys(NAMES.values()))} | {
        "d": "decimal(38,38)",
        "e": "decimal(1,0)",
    }
    lines = [
        f"{place // 2},".encode() + b",".join([cell or b""] * len(types))
        for place, cell in enumerate(cells_of(TEXTS, 3 * ROWS))
    ]
    numbers = [
        f"{place},{','.join([str(number)] * len(types))}".encode()
        for place, number in enumerate([*WHOLE, *NUMBERS])
    ]
    path.write_bytes(b"\n".join([f"{UNIT},{','.join(types)}".encode(), *lines, *numbers]))
    assert not ask_everything(str(path), thorough=thorough, types=types)


# At random


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_bytes_at_random(seed: int, tmp_path: Path) -> None:
    """In memory and as Parquet."""
    random = Random(seed)
    columns = {f"c{place}": random_column(kind, random) for place, kind in enumerate(RANDOM_TYPES)}
    assert not ask_everything(pa.table({UNIT: units(), **columns}), thorough=True)
    held = {}
    for name, cells in columns.items():
        try:
            pq.write_table(pa.table({name: cells}), tmp_path / "one.parquet")
        except (pa.ArrowException, OSError):
            continue
        held[name] = cells
    pq.write_table(
        pa.table({UNIT: units(), **held}),
        tmp_path / "all.parquet",
        row_group_size=random.choice((1, 7, ROWS)),
    )
    assert len(held) > 20
    assert not ask_everything(str(tmp_path / "all.parquet"), thorough=True)
