"""Every type of column that a source can hold, with values at the ends of what it can hold, and
questions that read every one of them.

*Raw*     Arrow columns are made of bytes, not of Python values: a decimal beyond its digits, a text
          that is not UTF-8, an instant that no calendar has.
*Corpus*  counts, distinct counts, sums and means with bounds, public and private groups,
          comparisons, casts, and every function of the column's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.sql import read
from sfumato.tables.expr.types import Type
from sfumato.testing.exact_checks import through_the_door

from .asking import calls

ROWS = 48
UNIT = "u"
TEXTS = (
    b"", b" ", b"a", b"Roma", b"\0", b"a\0b", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
    b"a" * 30 + b"\xff", "é".encode(), "😀".encode(), b"x" * 70_000, b"nan",
    b"-inf", b"1e400", b"9" * 50, b"170141183460469231731687303715884105728", b"0000-01-01",
    b"0044-03-15 (BC)", b"9999-12-31", b"10000-01-01", b"infinity",
    b"294247-01-10 04:00:54.775807", b"2026-01-31 12:30:00+14:00", b"true", b"{}", b"'", b'"',
    b"\\", b"%", b"NULL", b"\n",
    b"ffffffff-ffff-ffff-ffff-ffffffffffff",
)  # fmt: skip
"""Cells of text, some of which are none."""
WHOLE = (
    0,
    1,
    -1,
    7,
    -(2**7),
    2**7 - 1,
    2**15,
    -(2**31),
    2**31 - 1,
    2**53 + 1,
    -(2**63),
    -(2**63) + 1,
    2**63 - 1,
    10**15,
    -(10**15),
    253402300800 * 10**6,
)
NUMBERS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    float("nan"),
    float("inf"),
    float("-inf"),
    5e-324,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.0**63,
    0.1,
)
INSTANTS = (
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**62,
    10**14,
    10**17,
    -(10**17),
    253402300799 * 10**3,
    -62135596801 * 10**6,
    9223372036854776,
    -9223372036854776,
)
"""In whatever unit: some of them lie outside the calendar in each."""
DAYS = (0, 1, -1, 2**31 - 1, -(2**31), -719163, -719162, 2932896, 2932897, 10**8)


def fixed(kind: pa.DataType, cells: Sequence[bytes | None]) -> pa.Array:
    """A column of cells of fixed width, given by their bytes."""
    width = kind.bit_width // 8
    bitmap = np.packbits([cell is not None for cell in cells], bitorder="little").tobytes()
    return pa.Array.from_buffers(
        kind,
        len(cells),
        [pa.py_buffer(bitmap), pa.py_buffer(b"".join(cell or bytes(width) for cell in cells))],
    )


def texts(kind: pa.DataType, cells: Sequence[bytes | None]) -> pa.Array:
    """A column of texts, given by their bytes, whatever they are."""
    stored = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }[kind]
    return pa.Array.from_buffers(kind, len(cells), pa.array(cells, stored).buffers())


def cells_of(values: Sequence[Any], rows: int = ROWS) -> list[Any]:
    """So many cells: the values and a null, again and again."""
    return [(*values, None)[place % (len(values) + 1)] for place in range(rows)]


def integers(kind: pa.DataType) -> pa.Array:
    width = kind.bit_width // 8
    return fixed(
        kind,
        cells_of(
            [(number % 2**64).to_bytes(8, "little")[:width] for number in WHOLE]
            + [b"\xff" * width, b"\0" * (width - 1) + b"\x80"]
        ),
    )


def floats(kind: pa.DataType) -> pa.Array:
    code = {16: "f2", 32: "f4", 64: "f8"}[kind.bit_width]
    with np.errstate(over="ignore", under="ignore"):
        return fixed(
            kind, cells_of([np.float64(number).astype(code).tobytes() for number in NUMBERS])
        )


def decimals(kind: pa.DataType, *, corrupt: bool = True) -> pa.Array:
    """Also numbers of more digits than the type has, unless told otherwise."""
    width = kind.bit_width // 8
    top = 10**kind.precision - 1
    inside = [0, 1, -1, top, -top, top // 3, min(top, 10 ** max(kind.scale, 0))]
    beyond = [10**kind.precision, 2 ** (kind.bit_width - 1) - 1, -(2 ** (kind.bit_width - 1))]
    return fixed(
        kind,
        cells_of(
            [
                number.to_bytes(width, "little", signed=True)
                for number in inside + beyond * corrupt
                if -(2 ** (8 * width - 1)) <= number < 2 ** (8 * width - 1)
            ]
        ),
    )


def instants(kind: pa.DataType) -> pa.Array:
    return pa.array(cells_of(INSTANTS), pa.int64()).view(kind)


def days(kind: pa.DataType) -> pa.Array:
    if kind == pa.date64():
        return pa.array(cells_of([*INSTANTS, 86_400_000, 86_400_001, -1]), pa.int64()).view(kind)
    return pa.array(cells_of(DAYS), pa.int32()).view(kind)


def encoded(kind: pa.DataType) -> pa.Array:
    """A dictionary with values that cannot be read, a value that is null, and one that is there
    twice.
    """
    values = ARROW[ID_OF[kind.value_type.id]](kind.value_type)
    return pa.DictionaryArray.from_arrays(
        pa.array([None if place % 7 == 6 else place for place in range(ROWS)], kind.index_type),
        values,
    )


def plain(values: Sequence[Any]) -> Callable[[pa.DataType], pa.Array]:
    return lambda kind: pa.array(cells_of(values), kind)


def text_cells(kind: pa.DataType) -> pa.Array:
    return texts(kind, cells_of(TEXTS))


def uuids(_: pa.DataType) -> pa.Array:
    return pa.ExtensionArray.from_storage(
        pa.uuid(),
        pa.array(
            cells_of([bytes(16), b"\xff" * 16, b"\x80" + bytes(15), b"0123456789abcdef"]),
            pa.binary(16),
        ),
    )


def unions(kind: pa.DataType) -> pa.Array:
    places = pa.array([0] * ROWS, pa.int8())
    if kind.mode == "sparse":
        return pa.UnionArray.from_sparse(places, [pa.array(range(ROWS))])
    return pa.UnionArray.from_dense(
        places, pa.array(range(ROWS), pa.int32()), [pa.array(range(ROWS))]
    )


def runs(kind: pa.DataType) -> pa.Array:
    ends = pa.array(range(1, ROWS + 1), kind.run_end_type)
    return pa.RunEndEncodedArray.from_arrays(
        ends, pa.array(cells_of(["a", "b", ""]), kind.value_type)
    )


ARROW: dict[str, Callable[[pa.DataType], pa.Array]] = {
    "Type_NA": plain([]),
    "Type_BOOL": plain([True, False]),
    **{f"Type_{sign}INT{bits}": integers for sign in ("", "U") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("Type_HALF_FLOAT", "Type_FLOAT", "Type_DOUBLE"), floats),
    **{f"Type_DECIMAL{bits}": decimals for bits in (32, 64, 128, 256)},
    **dict.fromkeys(("Type_STRING", "Type_LARGE_STRING", "Type_STRING_VIEW"), text_cells),
    **dict.fromkeys(
        ("Type_BINARY", "Type_LARGE_BINARY", "Type_BINARY_VIEW"), plain([b"", b"\xff", b"a"])
    ),
    "Type_FIXED_SIZE_BINARY": plain([b"\xff" * 16, bytes(16)]),
    **dict.fromkeys(("Type_DATE32", "Type_DATE64"), days),
    "Type_TIMESTAMP": instants,
    "Type_TIME32": plain([0, 1, 86399]),
    "Type_TIME64": plain([0, 1, 86399]),
    "Type_DURATION": plain([0, 1, 2**63 - 1]),
    "Type_INTERVAL_MONTHS": lambda kind: pa.array(cells_of([0, 1]), pa.int32()).view(kind),
    "Type_INTERVAL_DAY_TIME": lambda kind: pa.array(cells_of([0, 1]), pa.int64()).view(kind),
    "Type_INTERVAL_MONTH_DAY_NANO": plain([(1, 2, 3)]),
    **dict.fromkeys(
        ("Type_LIST", "Type_LARGE_LIST", "Type_LIST_VIEW", "Type_LARGE_LIST_VIEW"), plain([[1], []])
    ),
    "Type_FIXED_SIZE_LIST": plain([[1, 2]]),
    "Type_STRUCT": plain([{"a": 1}]),
    "Type_MAP": plain([[("a", 1)]]),
    **dict.fromkeys(("Type_SPARSE_UNION", "Type_DENSE_UNION"), unions),
    "Type_DICTIONARY": encoded,
    "Type_RUN_END_ENCODED": runs,
}
"""Every type of Arrow, by the name of its number, and how a column of one is made. A new one has to
be added here.
"""

ID_OF: dict[int, str] = {
    getattr(pa.lib, name): name for name in dir(pa.lib) if name.startswith("Type_")
}

_INSTANTS = [
    pa.timestamp(unit, zone)
    for unit in ("s", "ms", "us", "ns")
    for zone in (None, "UTC", "Europe/Rome")
]
ARROW_TYPES: tuple[pa.DataType, ...] = (
    pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(),
    pa.uint32(), pa.uint64(),
    pa.float16(), pa.float32(), pa.float64(),
    pa.decimal32(9, 2), pa.decimal64(18, 18), pa.decimal128(1, 0), pa.decimal128(18, 4),
    pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(10, -2),
    pa.decimal256(20, 3), pa.decimal256(76, 0),
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
    pa.binary_view(), pa.binary(16),
    pa.date32(), pa.date64(), *_INSTANTS, pa.time32("s"), pa.time64("us"), pa.duration("us"),
    pa.month_day_nano_interval(),
    pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_view(pa.int64()),
    pa.large_list_view(pa.int64()), pa.list_(pa.int64(), 2),
    pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()),
    pa.sparse_union([pa.field("a", pa.int64())]), pa.dense_union([pa.field("a", pa.int64())]),
    *(
        pa.dictionary(pa.int32(), kind)
        for kind in (
            pa.string(), pa.large_string(), pa.string_view(), pa.float64(), pa.float16(),
            pa.int64(), pa.date64(),
        )
    ),
    *(
        pa.dictionary(pa.int16(), kind)
        for kind in (
            pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.decimal128(5, 2), pa.bool_(),
            pa.binary(),
        )
    ),
    pa.dictionary(pa.uint64(), pa.string()), pa.dictionary(pa.int8(), pa.string()),
    pa.run_end_encoded(pa.int32(), pa.string()),
)  # fmt: skip

NOT_MADE = {"Type_INTERVAL_MONTHS", "Type_INTERVAL_DAY_TIME"}
"""Types that Python has no way to name: they come from other libraries."""


def column(kind: pa.DataType) -> pa.Array:
    return ARROW[ID_OF[kind.id]](kind)


def random_column(kind: pa.DataType, random: Random) -> pa.Array:
    """Bytes drawn at random, where the type is one of fixed width or of text."""

    def cell() -> bytes:
        is_text = ID_OF[kind.id] in TEXT_IDS
        return random.randbytes(
            random.choice((0, 1, 2, 3, 13, 40)) if is_text else kind.bit_width // 8
        )

    cells = [None if random.random() < 0.1 else cell() for _ in range(ROWS)]
    return texts(kind, cells) if ID_OF[kind.id] in TEXT_IDS else fixed(kind, cells)


TEXT_IDS = ("Type_STRING", "Type_LARGE_STRING", "Type_STRING_VIEW")
RANDOM_TYPES = tuple(
    kind
    for kind in ARROW_TYPES
    if ID_OF[kind.id] in TEXT_IDS
    or (pa.types.is_primitive(kind) and kind != pa.bool_() and not pa.types.is_duration(kind))
    or pa.types.is_decimal(kind)
)

EXTRA = {"uuid": uuids}
"""Extension types that are read."""


def arrow_table(types: Sequence[pa.DataType] = ARROW_TYPES) -> pa.Table:
    """All types in one table, a column each, beside the unit."""
    columns = {f"c{place}": column(kind) for place, kind in enumerate(types)}
    return pa.table(
        {UNIT: units(), **columns, **{name: make(pa.uuid()) for name, make in EXTRA.items()}}
    )


def units() -> pa.Array:
    return pa.array([place // 2 for place in range(ROWS)], pa.int64())


# Questions

LITERALS: Mapping[str, tuple[str, Any]] = {
    "bool": ("TRUE", [True]),
    "integer": ("1", [0, 1, 7]),
    "decimal": ("1", [0, 1]),
    "float": ("1.5", [0.0, 1.0]),
    "string": ("'Roma'", ["", "a", "Roma"]),
    "date": ("DATE '2026-01-31'", [np.datetime64("1970-01-01").astype(object)]),
    "timestamp": (
        "TIMESTAMP '2026-01-31 12:00:00'",
        [np.datetime64("1970-01-01T00:00:00").astype(object)],
    ),
    "uuid": ("'00000000-0000-0000-0000-000000000000'", []),
}
"""Kind of a column → a constant to compare with, and public keys."""

_NUMBER = (
    "SUM({c}) AS s, AVG({c}) AS m, COUNT(*) FILTER (WHERE -{c} < 1) AS a, COUNT(*) "
    "FILTER (WHERE abs({c}) > 1) AS b, "
    "COUNT(*) FILTER (WHERE {c} + {c} > 1) AS d, COUNT(*) FILTER (WHERE {c} * {c} > 1) "
    "AS e, COUNT(TRY_CAST({c} AS float)) AS f, "
    "COUNT(TRY_CAST({c} AS smallint)) AS g, COUNT(round({c}, 2)) AS h"
)
_MOMENT = (
    "COUNT(year({c})) AS a, COUNT(date_trunc('month', {c})) AS b, COUNT(TRY_CAST({c} AS "
    "text)) AS d, COUNT(TRY_CAST({c} AS date)) AS e"
)
BY_KIND: Mapping[str, str] = {
    "bool": "COUNT(NOT {c}) AS a, COUNT(TRY_CAST({c} AS integer)) AS b",
    "integer": _NUMBER,
    "decimal": _NUMBER,
    "float": _NUMBER,
    "string": (
        "COUNT(upper({c})) AS a, COUNT(length({c})) AS b, COUNT(*) FILTER (WHERE {c} "
        "LIKE '%a_%') AS d, COUNT(TRY_CAST({c} AS float)) AS e, "
        "COUNT(TRY_CAST({c} AS bigint)) AS f, COUNT(TRY_CAST({c} AS timestamp)) AS g, "
        "COUNT(TRY_CAST({c} AS date)) AS h, COUNT(trim({c})) AS i"
    ),
    "date": _MOMENT,
    "timestamp": _MOMENT,
    "uuid": "COUNT(TRY_CAST({c} AS text)) AS a",
}
"""Kind of a column → what is asked of one."""

BUDGET = sf.Approx(10**6, "1e-2")


def ask_everything(
    source: Any,
    *,
    thorough: bool | None = None,
    accepted: dict[str, Type] | None = None,
    only: Sequence[str] = (),
    **declared: Any,
) -> dict[str, str]:
    """Ask the corpus about every column that `protect` accepts. What fails, by column and question;
    empty where everything is answered. Functions are asked of one column of each type, or,
    thoroughly, of every column; or not at all.
    """
    about: dict[str, Any] = {"name": "t", "unit": UNIT, "max_rows": 2, "budget": BUDGET, **declared}
    with sf.protect(source, **about) as table:
        schema = {
            name: kind
            for name, kind in table.declaration.types
            if name != UNIT and (not only or name in only)
        }
        failed = _ask_questions(table, schema, ("SELECT {c}, COUNT(*) AS n FROM t GROUP BY {c}",))
        if thorough is not None:
            failed |= _functions(table, schema if thorough else _one_of_each(schema))
    if accepted is not None:
        accepted |= schema
    bounds = {name: (0, 100) for name, kind in schema.items() if kind.numeric}
    keys = {
        name: LITERALS[kind.kind][1]
        for name, kind in schema.items()
        if LITERALS[kind.kind][1] and kind.kind != "bool"
    }
    with sf.protect(
        source,
        **about,
        bounds=bounds,
        keys={name: _keys(schema[name], these) for name, these in keys.items()},
    ) as table:
        return failed | _ask_questions(
            table, schema, ("SELECT {c}, COUNT(*) AS n FROM t GROUP BY {c}", None)
        )


def ask_together(
    source: Any, *, accepted: dict[str, Type] | None = None, most: int = 5
) -> dict[str, str]:
    """Ask an engine that takes long for each statement, and return the questions that failed.

    A question has several columns, one of each type; only texts and instants form private groups.
    """
    about: dict[str, Any] = {"name": "t", "unit": UNIT, "max_rows": 2, "budget": BUDGET}
    with sf.protect(source, **about) as table:
        schema = {name: kind for name, kind in table.declaration.types if name != UNIT}
        grouped = {
            name: kind
            for name, kind in _one_of_each(schema).items()
            if kind.kind in ("string", "timestamp", "date")
        }
        failed = _ask_questions(table, grouped, ("SELECT {c}, COUNT(*) AS n FROM t GROUP BY {c}",))
    if accepted is not None:
        accepted |= schema
    with sf.protect(
        source, **about, bounds={name: (0, 100) for name, kind in schema.items() if kind.numeric}
    ) as table:
        names = list(_one_of_each(schema))
        for start in range(0, len(names), most):
            part = names[start : start + most]
            selected = [
                re.sub(
                    r"\) AS (\w+)",
                    rf") AS {name}_\1",
                    f"COUNT({name}) AS n, {BY_KIND[schema[name].kind].format(c=name)}",
                )
                for name in part
            ]
            failed |= _ask_questions(
                table, {" ".join(part): Type.of("bool")}, (f"SELECT {', '.join(selected)} FROM t",)
            )
    return failed


def _about(kind: Type) -> str:
    """Write the aggregates that `_ask_questions` selects of a column of this type."""
    literal = LITERALS[kind.kind][0]
    compared = (
        f"COUNT({{c}}) AS n, COUNT(DISTINCT {{c}}) AS l, COUNT(*) FILTER (WHERE {{c}} >= "
        f"{literal}) AS x, "
    )
    return (
        compared
        + f"COUNT(*) FILTER (WHERE {{c}} IS NULL OR {{c}} <> {literal}) AS y, {BY_KIND[kind.kind]}"
    )


def _one_of_each(schema: Mapping[str, Type]) -> dict[str, Type]:
    """The first column of each type."""
    return {
        name: kind
        for kind, name in {kind: name for name, kind in reversed([*schema.items()])}.items()
    }


def ask_as_units(
    source: Any, schema: Mapping[str, Type], *, thorough: bool = False, **declared: Any
) -> dict[str, str]:
    """The same with every column as the unit, where it can be one."""
    failed: dict[str, str] = {}
    for name, kind in (schema if thorough else _one_of_each(schema)).items():
        if kind.kind != "float":
            with sf.protect(
                source, name="t", unit=name, max_rows=2, budget=BUDGET, **declared
            ) as table:
                failed |= _ask_questions(
                    table,
                    {UNIT: Type.of("int64")},
                    ("SELECT COUNT(*) AS n, COUNT(DISTINCT {c}) AS d FROM t",),
                )
    return failed


def _keys(kind: Type, values: Sequence[Any]) -> list[Any]:
    return (
        [Decimal(value) for value in values if kind.limits is None or value <= kind.limits[1]]
        if kind.kind == "decimal"
        else list(values)
    )


def _ask_questions(
    table: Any, schema: Mapping[str, Type], questions: Sequence[str | None]
) -> dict[str, str]:
    failed = {}
    for name, kind in schema.items():
        for question in questions:
            text = (question or f"SELECT {_about(kind)} FROM t").format(c=name)
            try:
                plan = table.plan(read(text, table.rows, None).query, epsilon=1, delta="1e-6")
            except sf.Refused as refusal:
                failed[f"{name} {kind}: {text}"] = f"refused {refusal}"
                continue
            try:
                through_the_door(plan)
            except Exception as error:
                failed[f"{name} {kind}: {text}"] = f"{type(error).__name__}: {error!s:.300}"
    return failed


def _functions(table: Any, schema: Mapping[str, Type]) -> dict[str, str]:
    """Every function of the type on the column, by the engine that reads it."""
    failed, source = {}, table._source
    for name, kind in schema.items():
        expressions = list(calls([str(kind)]))
        single_column = source.table.select(c0=source.table[name])
        for start in range(0, len(expressions), 60):
            part = expressions[start : start + 60]
            query = single_column.select(
                **{
                    f"r{place}": expression.build(single_column, {"c0": kind}).isnull()
                    for place, expression in enumerate(part)
                }
            )
            try:
                source.engine.run(query)
            except Exception as error:
                failed[f"{name} {kind}: {part[0].text:.40} …"] = (
                    f"{type(error).__name__}: {error!s:.300}"
                )
    return failed
