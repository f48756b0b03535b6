"""Values that break things, by type, at least forty of each where there are so many; and tables of
them on a DuckDB whose settings are pinned.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import ibis
import pyarrow as pa

from sfumato.tables.expr.types import Type

EPOCH = datetime(1970, 1, 1)
FLOATS: list[float | None] = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308,
    1.7976931348623157e308, -1.7976931348623157e308,
    1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.2, 0.30000000000000004, 0.49999999999999994,
    -0.49999999999999994, 1.115, 2.675, 3.0, 7.0, -7.0,
    4503599627370495.5, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, -(2.0**53) - 2, 2.0**31, 2.0**63,
    -(2.0**63), 9.223372036854775e18, 1e15, 1e16, 1e22, 1e-7,
    1e300, -1e300, 1e-300, math.pi, math.pi / 2, -math.pi, 100.0, 99.995, 709.78, 710.0, -745.2,
    1e154, 1e38, 1e39,
]  # fmt: skip
TEXTS: list[str | None] = [
    None, "", " ", "a", "A", "abc", "aBc", "Abracadabra", "  x y  ", "\t\n\r\v\f x", "é", "e\u0301",
    "É", "ß",
    "😀", "a😀b", "🤦🏼\u200d♂️", "\u200b", "\ufeff", "\uffff",
    "\U0010ffff", "\u2003x\u2003", "مرحبا", "ａｂ", "a\0b", "%", "_", "\\", "a%b", "a_b", "a\\%b",
    "'", '"',
    "it''s", "--", "; DROP TABLE t", "a,b,,c", ",", "user@example.org",
    "0", "1", "-1", "1.5", "-2.5", "1e3", " 42 ", "+7", "0x1F", "1_000", "nan", "NaN", "inf",
    "-Infinity",
    "1e400", "1e-400", "127", "128", "99999999999999999999", "9" * 40,
    "true", "false", "t", "yes", "2020-02-29", "2021-02-29", "2020-01-01", "0001-01-01",
    "9999-12-31",
    "0000-01-01", "10000-01-01", "infinity", "-infinity", "epoch", "0044-03-15 (BC)",
    "2020-01-01 12:34:56.789", "2020-01-01T00:00:00+02:00", "2020-01-01 00:00:00 Europe/Rome",
    "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59-12:00", "0001-01-01 00:00:00+14:00",
    "294247-01-10 04:00:54.775807", "294247-01-10 04:00:54.775806+00", "290309-12-22 (BC) 00:00:00",
    "25:00:00", "00000000-0000-0000-0000-000000000001",
    "{ffffffff-ffff-ffff-ffff-ffffffffffff}", "ffffffffffffffffffffffffffffffff", "NULL", "a" * 255,
    "ab" * 9000, "é" * 70_000,
]  # fmt: skip
DATES = [
    None, date(1, 1, 1), date(1, 1, 2), date(1, 1, 31), date(1, 12, 31), date(4, 2, 29),
    date(99, 12, 31),
    date(1000, 1, 1), date(1582, 10, 4), date(1582, 10, 15), date(1600, 2, 29),
    date(1899, 12, 31), date(1900, 2, 28), date(1900, 3, 1), date(1969, 12, 31), date(1970, 1, 1),
    date(1999, 12, 31), date(2000, 1, 1), date(2000, 2, 29), date(2000, 12, 31),
    date(2004, 12, 31), date(2005, 1, 1), date(2009, 12, 31), date(2010, 1, 3), date(2019, 12, 30),
    date(2020, 1, 31), date(2020, 2, 28), date(2020, 2, 29), date(2020, 3, 1),
    date(2020, 3, 31), date(2020, 12, 31), date(2021, 1, 1), date(2023, 2, 28), date(2024, 2, 29),
    date(2024, 12, 30), date(2026, 1, 4), date(2026, 10, 25), date(2038, 1, 19),
    date(2100, 2, 28), date(9998, 12, 31), date(9999, 1, 1), date(9999, 11, 30), date(9999, 12, 1),
    date(9999, 12, 31),
]  # fmt: skip
DAYS_OUTSIDE = [-719163, 2932897, -(2**31) + 2, 2**31 - 2, 2**31 - 1, -(2**31) + 1, -(10**8), 10**8]
"""Days since 1970 that Python has no date for; the last but three are DuckDB's −∞ and ∞ and their
neighbours.
"""
TIMES = [
    *(None if day is None else datetime(day.year, day.month, day.day) for day in DATES),
    # when clocks change in much of Europe
    *(
        datetime(2026, 3, 29, hour, minute, 59, 999999)
        for hour in (0, 1, 2, 3, 23)
        for minute in (0, 30, 59)
    ),
    datetime(1, 1, 1, 0, 0, 0, 1), datetime(1969, 12, 31, 23, 59, 59, 500000),
    datetime(2016, 12, 31, 23, 59, 59), datetime(9999, 12, 31, 23, 59, 59, 999999),
]  # fmt: skip
MICROSECONDS_OUTSIDE = [
    2**63 - 1,
    -(2**63) + 1,
    2**63 - 2,
    -(2**63) + 2,
    253402300800 * 10**6,
    -62135596800 * 10**6 - 1,
    -(2**63) + 10**12,
    2**62,
]


def integers(bits: int) -> list[int | None]:
    """The ends of every width up to this one, powers of two and of ten and what lies beside
    them.
    """
    near_powers = {
        sign * (2**power) + step
        for power in (0, 1, 2, 3, 4, 6, 7, 8, 15, 16, 24, 31, 32, 52, 53, 62, 63)
        for sign in (1, -1)
        for step in (-1, 0, 1)
    }
    values = {
        n
        for n in near_powers
        | {
            5,
            6,
            7,
            10,
            11,
            12,
            20,
            24,
            -7,
            -10,
            30,
            42,
            50,
            99,
            100,
            -100,
            12345,
            10**6,
            -(10**9),
            10**18,
        }
        if -(2 ** (bits - 1)) <= n < 2 ** (bits - 1)
    }
    return [None, *sorted(values)][: 2**bits]


def decimals(precision: int, scale: int) -> list[Decimal | None]:
    top = 10**precision - 1
    small = (*range(8), 10, 15, 25, 49, 50, 51, 99, 100, 125, 1234, 5678, 12345)
    large = (
        10**17,
        10**18 - 1,
        10**18,
        2**53 + 1,
        2**63,
        10 ** (precision - 1),
        10**scale,
        10**scale // 2,
        10**scale * 3 // 2,
    )
    steps = {*small, *large, top, top - 1, top // 2, top // 3}
    signed_steps = {sign * step for step in steps if step <= top for sign in (1, -1)}
    return [None, *(Decimal(f"{step}e-{scale}") for step in sorted(signed_steps))]


UUIDS: list[str | None] = [
    None,
    *(
        f"{(n * 0x1357_9BDF_0246_8ACE_1357_9BDF_0246_8ACE + (n % 3)) % 2**128:032x}"
        for n in range(1, 39)
    ),
    "0" * 32,
    "f" * 32,
    "80" + "0" * 30,
]

VALUES: dict[str, list[Any]] = {
    "bool": [None, True, False],
    **{f"int{bits}": integers(bits) for bits in (8, 16, 32, 64)},
    "float32": [
        *sorted(
            {
                pa.scalar(x, pa.float32()).as_py()
                for x in FLOATS
                if x is not None and not math.isnan(x)
            }
        ),
        None,
        math.nan,
        -0.0,
    ],
    "float64": FLOATS,
    **{
        f"decimal({p},{s})": decimals(p, s)
        for p, s in ((4, 2), (18, 4), (38, 0), (38, 20), (38, 38))
    },
    "string": TEXTS,
    "date": [*DATES, *DAYS_OUTSIDE],
    "timestamp": [*TIMES, *MICROSECONDS_OUTSIDE],
    "timestamp with time zone": [
        *(time and time.replace(tzinfo=UTC) for time in TIMES),
        *MICROSECONDS_OUTSIDE,
    ],
    "uuid": UUIDS,
}
"""Dates and timestamps that are plain integers lie outside what Python's own types hold."""

ARROW = {
    "bool": pa.bool_(),
    "string": pa.string(),
    "uuid": pa.string(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}


def array(name: str, values: list[Any]) -> pa.Array:
    column_type = Type.of(name)
    if column_type.kind == "date":
        days = [v if v is None or isinstance(v, int) else (v - EPOCH.date()).days for v in values]
        return pa.array(days, pa.int32()).view(pa.date32())
    if column_type.kind == "timestamp":
        steps = [
            v
            if v is None or isinstance(v, int)
            else (v.replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)
            for v in values
        ]
        return pa.array(steps, pa.int64()).view(
            pa.timestamp("us", "UTC" if column_type.zone else None)
        )
    if column_type.kind == "decimal":
        return pa.array(values, pa.decimal128(column_type.precision, column_type.scale))
    return pa.array(values, ARROW.get(name) or getattr(pa, name)())


def engine(threads: int = 2) -> Any:
    """A DuckDB with its settings pinned, behind Ibis."""
    connection = ibis.duckdb.connect(
        threads=threads, autoinstall_known_extensions=False, autoload_known_extensions=False
    )
    connection.con.execute("SET TimeZone = 'UTC'")
    return connection


def table(connection: Any, name: str, columns: dict[str, tuple[str, list[Any]]]) -> Any:
    """A table of DuckDB, from the type and the values of each column."""
    connection.con.register(
        "given",
        pa.table({column: array(kind, values) for column, (kind, values) in columns.items()}),
    )
    casts = ", ".join(
        f'CAST("{column}" AS UUID) AS "{column}"' if kind == "uuid" else f'"{column}"'
        for column, (kind, _) in columns.items()
    )
    connection.con.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT {casts} FROM given')
    connection.con.unregister("given")
    return connection.table(name)


def python(name: str, value: Any) -> Any:
    """The value as an expression sees it: NaN and what Python cannot hold are null."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if name.startswith(("date", "time")) and isinstance(value, int):
        return None
    return value


def schema(*names: str) -> dict[str, Type]:
    return {f"c{i}": Type.of(name) for i, name in enumerate(names)}
