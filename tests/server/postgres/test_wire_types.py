"""Values of the wire: psycopg reads what we write, and we read what psycopg writes."""

from __future__ import annotations

import datetime
import struct
from decimal import Decimal
from uuid import UUID

import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from sfumato.server.postgres import wire_types as types
from sfumato.server.postgres.wire_types import WireValueError, as_binary, as_text, read_parameter
from sfumato.tables.expr.types import Type

LONG = "123456789012345678901234567890.5"
SAMPLE = UUID("12345678-1234-5678-1234-567812345678")
VALUES = [
    (types.INT8, -7, -7),
    (types.INT8, 2**62, 2**62),
    (types.INT8, 12.0, 12),
    (types.INT4, 7, 7),
    (types.INT2, -7, -7),
    (types.FLOAT8, 0.1, 0.1),
    (types.FLOAT8, 1e300, 1e300),
    (types.FLOAT8, 12, 12.0),
    (types.BOOL, True, True),
    (types.TEXT, "è ünd", "è ünd"),
    (types.DATE, "2026-02-28", datetime.date(2026, 2, 28)),
    (types.DATE, "1969-12-31", datetime.date(1969, 12, 31)),
    (types.TIMESTAMP, "2026-02-28 12:30:00.000001", datetime.datetime(2026, 2, 28, 12, 30, 0, 1)),
    (types.NUMERIC, "12.50", Decimal("12.50")),
    (types.NUMERIC, "-0.0001", Decimal("-0.0001")),
    (types.NUMERIC, "0", Decimal(0)),
    (types.NUMERIC, LONG, Decimal(LONG)),
    (types.NUMERIC, "1E+9", Decimal("1E+9")),
    (types.UUID_, str(SAMPLE), SAMPLE),
]  # fmt: skip


@pytest.mark.parametrize("form", [Format.TEXT, Format.BINARY])
@pytest.mark.parametrize(("oid", "value", "expected"), VALUES)
def test_psycopg_reads_what_we_write(
    form: Format, oid: int, value: types.Cell, expected: object
) -> None:
    written = (as_binary if form == Format.BINARY else as_text)(value, oid)
    assert written is not None
    assert Transformer().get_loader(oid, form).load(written) == expected
    assert as_text(None, oid) is as_binary(None, oid) is None


@pytest.mark.parametrize("form", [PyFormat.TEXT, PyFormat.BINARY])
@pytest.mark.parametrize(
    "value",
    [5, 2**40, -1, 0.1, 2.5e-8, True, "x'y", datetime.date(2026, 2, 28),
     datetime.datetime(2026, 2, 28, 12, 30), [1, 2, 3], ["a", 'b"c,d', "null"]],
)  # fmt: skip
def test_we_read_what_psycopg_writes(form: PyFormat, value: object) -> None:
    dumper = Transformer().get_dumper(value, form)
    written = dumper.dump(value)
    assert written is not None
    oid = dumper.oid or (types.TEXT_LIST if isinstance(value, list) else types.TEXT)
    parameter = read_parameter(bytes(written), oid, int(form == PyFormat.BINARY))
    assert parameter == (str(value) if isinstance(value, datetime.date) else value)


@pytest.mark.parametrize(
    ("raw", "oid", "form"),
    [(b"x", types.INT8, 0), (b"1e400", types.FLOAT8, 0), (b"nan", types.NUMERIC, 0),
     (b"0.1000000000000000000001", types.NUMERIC, 0), (b"\0", types.INT8, 1), (b"x", types.BOOL, 0),
     (struct.pack("!d", float("inf")), types.FLOAT8, 1), (b"\xff\xfe", types.TEXT, 1),
     (b"1", types.BYTEA, 1), (b"{1", types.INT4_LIST, 0), (b"\0" * 12 + b"\1", types.DATE, 1),
     (b"\x7f" * 4, types.DATE, 1)],
)  # fmt: skip
def test_what_is_no_value_is_refused(raw: bytes, oid: int, form: int) -> None:
    with pytest.raises(WireValueError):
        read_parameter(raw, oid, form)


def test_types_of_the_declaration() -> None:
    declared = ["int16", "int32", "int64", "float32", "decimal(9,2)", "bool", "text", "date"]
    assert [types.oid_of(Type.of(name)) for name in declared] == [
        21,
        23,
        20,
        701,
        1700,
        16,
        25,
        1082,
    ]
    assert [types.oid_of(Type.of(name)) for name in ("timestamp", "timestamptz", "uuid")] == [
        1114, 1184, 2950
    ]  # fmt: skip
