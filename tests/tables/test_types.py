"""The table of types: names, limits, and what engines call them."""

from __future__ import annotations

from fractions import Fraction

import ibis.expr.datatypes as dt
import pytest

from sfumato.tables.expr.types import CASTS, INT64, NAMES, WORDS, Type

from ..refusing import refusal


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["", " not null"])
def test_a_name_is_read_back(name: str, suffix: str) -> None:
    parsed = Type.of(name + suffix)
    assert Type.of(str(parsed)) == parsed
    assert parsed.nullable is not bool(suffix)
    assert parsed.bare == Type.of(name)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("DECIMAL( 10 , 2 )  NOT NULL", "decimal(10,2) not null"),
        ("numeric(38,38)", "decimal(38,38)"),
        (" Int64 ", "int64"),
        ("Timestamp  With\tTime Zone", "timestamp with time zone"),
        ("category", "string"),
        ("uint8", "int16"),
        ("uint16", "int32"),
        ("uint32", "int64"),
        ("uint64", "decimal(20,0)"),
        ("float", "float64"),
        ("integer", "int64"),
    ],
)
def test_names_are_read_with_some_freedom(written: str, read: str) -> None:
    assert str(Type.of(written)) == read


@pytest.mark.parametrize(
    "name",
    [
        "",
        "decimal",
        "decimal(39,0)",
        "decimal(2,3)",
        "decimal(0,0)",
        "list<int64>",
        "json",
        "time",
        "int65",
        "int64 null",
        "x" * 5000,
        None,
        3,
    ],
)
def test_what_is_no_type_is_refused(name: str) -> None:
    refusal(lambda: Type.of(name), "table.type")


@pytest.mark.parametrize("name", NAMES)
def test_ibis_and_back(name: str) -> None:
    column_type = Type.of(name)
    assert Type.from_ibis(column_type.to_ibis(), "a column") == column_type
    assert column_type.to_ibis() is Type.of(name + " not null").to_ibis()


@pytest.mark.parametrize(
    ("dtype", "type_name"),
    [
        (dt.uint8, "int16"),
        (dt.uint64, "decimal(20,0)"),
        (dt.float16, "float32"),
        (dt.Timestamp("Europe/Rome", scale=9), "timestamp with time zone"),
        (dt.Timestamp(scale=3), "timestamp"),
        (dt.Int32(nullable=False), "int32 not null"),
        (dt.Decimal(38, 0), "decimal(38,0)"),
    ],
)
def test_what_engines_have(dtype: dt.DataType, type_name: str) -> None:
    assert Type.from_ibis(dtype, "a column") == Type.of(type_name)


@pytest.mark.parametrize(
    "dtype",
    [
        "array<int8>",
        "json",
        "time",
        "binary",
        "interval('s')",
        "map<string, int>",
        "struct<a: int>",
        "null",
        "decimal",
        "inet",
    ],
)
def test_what_has_no_place_is_refused(dtype: str) -> None:
    assert (
        "column x"
        in refusal(lambda: Type.from_ibis(dt.dtype(dtype), "column x"), "table.type").place
    )


def test_limits() -> None:
    assert INT64.limits == (-(2**63), 2**63 - 1)
    assert Type.of("decimal(4,2)").limits == (Fraction("-99.99"), Fraction("99.99"))
    assert Type.of("float64").limits is None
    assert Type.of("string").limits is None
    assert [
        name
        for name in NAMES
        if Type.of(name).numeric != (Type.of(name).kind in ("integer", "decimal", "float"))
    ] == []


def test_every_kind_has_words_and_casts() -> None:
    assert (
        set(WORDS)
        == set(CASTS)
        == {column_type.kind for column_type in NAMES.values()} | {"null", "decimal"}
    )
    assert all(kind in targets for kind, targets in CASTS.items() if kind != "null")
