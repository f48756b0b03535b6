"""No failure depends on data: every type of Spark, with values at the ends of what it can hold, is
answered or left out when the table is declared.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf

from ..tables.every_type import ROWS, UNIT, ask_together, column, decimals, units
from .conftest import SPARK

pytestmark = SPARK

STORED = (
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
    pa.uint64(), pa.float32(), pa.float64(),
    pa.decimal128(18, 4), pa.decimal128(38, 0), pa.decimal128(38, 38), pa.string(), pa.binary(),
    pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"),
)  # fmt: skip
"""Arrow columns that Spark reads from Parquet, with cells that SQL cannot write."""

TYPES: dict[str, tuple[str, list[str]]] = {
    "ArrayType": ("ARRAY<INT>", ["array(1)"]),
    "BinaryType": ("BINARY", ["X'FF'"]),
    "BooleanType": ("BOOLEAN", ["true", "false"]),
    "ByteType": ("TINYINT", ["-128", "127"]),
    "CalendarIntervalType": ("", []),
    "CharType": ("CHAR(5)", ["''", "'a'"]),
    "DateType": (
        "DATE",
        ["DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'+99999-01-01'", "DATE'-0001-01-01'"],
    ),
    "DayTimeIntervalType": ("INTERVAL DAY TO SECOND", ["INTERVAL '1 00:00:00' DAY TO SECOND"]),
    "DecimalType": ("DECIMAL(38, 2)", ["0", "9" * 36 + ".99BD", "-" + "9" * 36 + ".99BD"]),
    "DoubleType": (
        "DOUBLE",
        [
            "double('NaN')",
            "double('Infinity')",
            "double('-Infinity')",
            "-0.0D",
            "1.7976931348623157E308D",
            "4.9E-324D",
        ],
    ),
    "FloatType": (
        "FLOAT",
        ["float('NaN')", "float('Infinity')", "float('-Infinity')", "float('-0')"],
    ),
    "IntegerType": ("INT", ["-2147483648", "2147483647"]),
    "LongType": ("BIGINT", ["-9223372036854775808", "9223372036854775807"]),
    "MapType": ("MAP<INT, INT>", ["map(1, 2)"]),
    "NullType": ("", []),
    "ShortType": ("SMALLINT", ["-32768", "32767"]),
    "StringType": (
        "STRING COLLATE UTF8_LCASE",
        [
            "''",
            "'a'",
            "'A'",
            "CAST(X'FF' AS STRING)",
            "CAST(X'00' AS STRING)",
            "'nan'",
            "'9999-12-31'",
            "repeat('9', 50)",
        ],
    ),
    "StructType": ("STRUCT<a: INT>", ["named_struct('a', 1)"]),
    "TimestampNTZType": (
        "TIMESTAMP_NTZ",
        [
            "TIMESTAMP_NTZ'0001-01-01'",
            "TIMESTAMP_NTZ'+294247-01-10 04:00:54.775807'",
            "TIMESTAMP_NTZ'-0001-01-01'",
        ],
    ),
    "TimestampType": (
        "TIMESTAMP",
        [
            "timestamp_micros(0)",
            "timestamp_micros(9223372036854775807)",
            "timestamp_micros(-9223372036854775807)",
        ],
    ),
    "VarcharType": ("VARCHAR(5)", ["''", "'é'"]),
    "VariantType": ("VARIANT", ["parse_json('1')"]),
    "YearMonthIntervalType": ("INTERVAL YEAR TO MONTH", ["INTERVAL '1-0' YEAR TO MONTH"]),
}
"""Types of Spark → how a column of one is declared, and cells. No table holds the two that have
none.
"""

READ = 14
"""Of these types, how many are read."""
ABSTRACT = {
    "AnsiIntervalType",
    "AtomicType",
    "DataType",
    "FractionalType",
    "IntegralType",
    "NumericType",
    "UserDefinedType",
}


def test_every_type_of_spark_is_listed() -> None:
    from pyspark.sql import types

    type_names = {
        name
        for name, kind in inspect.getmembers(types, inspect.isclass)
        if issubclass(kind, types.DataType) and kind.__module__ == types.__name__
    }
    assert type_names - ABSTRACT - {"StructField"} == set(TYPES)


def test_stored_columns_answer(spark: Any, tmp_path: Path) -> None:
    """Among them text that is not UTF-8, and instants that no calendar has. A decimal with more
    digits than its file states is corrupt to Spark.
    """
    path = tmp_path / "stored.parquet"
    cells = [
        decimals(kind, corrupt=False) if pa.types.is_decimal(kind) else column(kind)
        for kind in STORED
    ]
    pq.write_table(
        pa.table({UNIT: units(), **{f"c{place}": cell for place, cell in enumerate(cells)}}), path
    )
    assert not ask_together(spark.read.parquet(str(path)))


def test_columns_of_a_catalogue_answer(spark: Any) -> None:
    held = {f"c{place}": about for place, about in enumerate(TYPES.values()) if about[0]}
    spark.sql("DROP TABLE IF EXISTS everything")
    spark.sql(
        f"CREATE TABLE everything ({UNIT} INT, "
        f"{', '.join(f'{name} {kind}' for name, (kind, _) in held.items())}) USING "
        f"PARQUET"
    )
    rows = [
        ", ".join((*cells, "NULL")[row % (len(cells) + 1)] for _, cells in held.values())
        for row in range(10)
    ]
    spark.sql(
        f"INSERT INTO everything "
        f"{' UNION ALL '.join(f'SELECT {row // 2}, {cells}' for row, cells in enumerate(rows))}"
    )
    accepted: dict[str, Any] = {}
    assert not ask_together(spark.table("everything"), accepted=accepted)
    assert len(accepted) == READ


def test_a_column_that_is_left_out_does_no_harm(spark: Any) -> None:
    """Also one of nothing but nulls, which has no type."""
    frame = spark.sql(f"SELECT id AS {UNIT}, NULL AS nothing FROM range({ROWS})")
    with sf.protect(frame, name="t", unit=UNIT, max_rows=1, budget=10) as table:
        assert list(table.declaration.schema) == [UNIT]
        assert len(table.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)) == 1
