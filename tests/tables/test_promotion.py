"""Which type several values have together, and that nothing is lost on the way to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col, literal, when
from sfumato.tables.expr.promotion import arithmetic_type, common_type, exact_type
from sfumato.tables.expr.scalar_function import Argument
from sfumato.tables.expr.types import NAMES, Type

from ..refusing import refusal

SCHEMA = {name.replace(" ", "_"): column_type for name, column_type in NAMES.items()} | {
    name: Type.of(name) for name in ("decimal(4,2)", "decimal(38,20)", "decimal(38,0)")
}


def make_arguments(*names: str) -> list[Argument]:
    return [Argument(Type.of(name), Type.of(name).limits, name) for name in names]


@pytest.mark.parametrize(
    ("names", "together"),
    [
        (("int8", "int64"), "int64"),
        (("int8", "decimal(4,2)"), "decimal(5,2)"),
        (("int64", "decimal(4,2)"), "decimal(21,2)"),
        (("int64", "decimal(38,20)"), "float64"),
        (("decimal(38,0)", "decimal(4,2)"), "float64"),
        (("int8", "float32"), "float64"),
        (("float32", "float32"), "float64"),
        (("date", "timestamp"), "timestamp"),
        (("date", "timestamp with time zone"), "timestamp with time zone"),
        (("string", "category"), "string"),
        (("bool", "bool"), "bool"),
        (("uuid", "uuid"), "uuid"),
    ],
)
def test_together(names: tuple[str, ...], together: str) -> None:
    assert (
        common_type(make_arguments(*names), "x")
        == common_type(make_arguments(*names[::-1]), "x")
        == Type.of(together)
    )


@pytest.mark.parametrize(
    "names",
    [
        ("int8", "bool"),
        ("string", "int64"),
        ("date", "int64"),
        ("uuid", "string"),
        ("bool", "date"),
        ("uuid", "date"),
    ],
)
def test_what_has_no_type_together_is_refused(names: tuple[str, str]) -> None:
    refusal(lambda: common_type(make_arguments(*names), "x = y"), "expression.type")


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (col("date") >= "2026-01-31", "bool"),
        (col("timestamp") >= "2026-01-31", "bool"),
        (col("date") >= "2026-01-31 12:00", "bool"),
        (col("uuid") == "00000000-0000-0000-0000-000000000007", "bool"),
        (col("string") == "2026-01-31", "bool"),
        (col("date").fill_null("2026-01-31"), "date"),
        (when(col("bool"), 1).otherwise(2.5), "float64"),
        (when(col("bool"), None).otherwise(1000), "int16"),
        (col("decimal(38,0)") > 0, "bool"),
    ],
    ids=lambda value: value.text if isinstance(value, Expr) else value,
)
def test_constants_beside_columns(expression: Expr, kind: str) -> None:
    assert expression.type(SCHEMA).bare == Type.of(kind)


@pytest.mark.parametrize(
    "expression",
    [
        col("int64") == "5",
        col("bool") == "true",
        col("int8").coalesce("x"),
        when(col("bool"), "x").otherwise(1),
        literal(None).coalesce(None),
        when(col("bool"), None).otherwise(None),
    ],
    ids=lambda e: e.text,
)
def test_constants_of_another_kind_are_refused(expression: Expr) -> None:
    refusal(lambda: expression.type(SCHEMA), "expression.type")


@pytest.mark.parametrize("written", ["yesterday", "2026-02-30", "2026-1-1"])
def test_texts_that_are_no_dates_are_refused_before_anything_is_read(written: str) -> None:
    import ibis

    table = ibis.table({"date": "date"}, name="t")
    refusal(lambda: (col("date") >= written).build(table, SCHEMA), "expression.literal")
    refusal(lambda: (col("date") >= written).type(SCHEMA), "expression.literal")


@pytest.mark.parametrize(
    ("ends", "scale", "integral", "kind"),
    [
        ((0, 127), 0, True, "int8"),
        ((0, 2**63), 0, True, "float64"),
        ((-100, 99), 2, False, "decimal(5,2)"),
        ((0, 10**38 - 1), 0, False, "decimal(38,0)"),
        ((0, 10**38), 0, False, "float64"),
        ((0, 0), 5, False, "decimal(5,5)"),
        (None, 2, False, "float64"),
    ],
)
def test_exact_numbers(ends: Any, scale: int, integral: bool, kind: str) -> None:
    assert exact_type(
        ends and (Fraction(ends[0]), Fraction(ends[1])), scale, integral=integral
    ) == Type.of(kind)


def test_a_float_beside_anything_is_a_float() -> None:
    assert arithmetic_type(
        (Fraction(0), Fraction(1)), make_arguments("int8", "float32"), 0
    ) == Type.of("float64")
