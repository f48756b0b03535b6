"""Build Ibis values that engines compute exactly: casts that Ibis does not drop, constants without
rounding, and guards around arguments.

*Casts*      Ibis omits a cast where it believes the type is right, and engines disagree (DuckDB's
             DATE_TRUNC of a date is a timestamp), so `cast` and `try_cast` always write it. Use
             `cast` only where the types show that it cannot fail.
*Constants*  DuckDB reads 0.30000000000000004 as a decimal of 17 digits, so floats, decimals and
             moments are written as texts and cast.
*Floor…*     Ibis casts the floor of a float to an integer, which fails for 1e300, and does not
             multiply decimals of different scales. This module gives the same operations the
             engine's types, under Ibis's names.
*Copies*     NULLIF and CASE mention their argument twice, and so does the engine's plan, so guards
             stand only where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, reduce
from typing import TYPE_CHECKING, TypeAlias

from . import types
from .constants import Constant
from .types import Type

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

Value: TypeAlias = "ir.Value"
"""A value that the engine computes: a column, a constant or an expression of them."""


def cast(value: Value, to: Type) -> Value:
    import ibis.expr.operations as ops

    return ops.Cast(value, to.to_ibis()).to_expr()


def try_cast(value: Value, to: Type) -> Value:
    """Cast a value; null where it does not fit."""
    import ibis.expr.operations as ops

    return ops.TryCast(value, to.to_ibis()).to_expr()


def constant(value: Constant, kind: Type) -> Value:
    import ibis

    if value is None:
        return ibis.null(without_zone(kind).to_ibis())
    if isinstance(value, bool | str):
        return ibis.literal(value)
    if isinstance(value, int) and kind.kind == "integer":
        return cast(ibis.literal(value, type="int64"), kind)
    return cast(ibis.literal(_constant_text(value)), without_zone(kind))


def _constant_text(value: Constant) -> str:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    # engines do not read decimals with an exponent
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def number(value: float | int | str) -> Value:
    """Build a float constant."""
    return constant(float(value), types.FLOAT)


def null(kind: Type) -> Value:
    return constant(None, kind)


def without_zone(kind: Type) -> Type:
    """Return the type that expressions compute with: a timestamp with a zone becomes a timestamp in
    UTC.
    """
    return types.TIMESTAMP if kind.zone else kind


def where(condition: Value, value: Value) -> Value:
    """Return the value where the condition is true, and null elsewhere."""
    return case([(condition, value)], null_like(value))


def case(branches: Sequence[tuple[Value, Value]], default: Value) -> Value:
    import ibis.expr.operations as ops

    return ops.SearchedCase(
        tuple(condition for condition, _ in branches),
        tuple(value for _, value in branches),
        default,
    ).to_expr()


def null_like(value: Value) -> Value:
    import ibis

    return ibis.null(value.type())


def without_nan(value: Value) -> Value:
    """Replace NaN by null. NULLIF would be wrong: Parquet statistics leave NaN out, and DuckDB
    decides comparisons by them.
    """
    return case([(value.isnan(), null_like(value))], value)


def normalize(value: Value, kind: Type, name: str) -> Value:
    """Cast a column to its declared type, with timestamps in UTC and moments outside the years 1 to
    9999 as null. NaN is left to `without_nan`.
    """
    dtype = value.type()
    source = Type.from_ibis(dtype, name)
    # an expression of a timestamp with a zone is already in UTC, and without a zone
    in_utc = kind.zone and source.kind == "timestamp"
    if (source.bare != kind.bare and not in_utc) or (
        dtype.is_timestamp() and dtype.scale not in (None, 6)
    ):
        value = try_cast(value, kind)
    if kind.kind not in ("date", "timestamp"):
        return value
    zoned = value.type().is_timestamp() and value.type().timezone is not None
    inside = where(
        value.between(
            *_ends(types.DATE if kind.kind == "date" else types.ZONED if zoned else types.TIMESTAMP)
        ),
        value,
    )
    return cast(inside, types.TIMESTAMP) if zoned else inside


def read_moment(value: Value, to: Type) -> Value:
    """Read a text as a date or a timestamp. With a zone DuckDB fails on far years even in TRY_CAST,
    so texts whose local time lies outside the years 1 to 9999 are not tried.
    """
    if to.zone:
        value = where(try_cast(value, types.TIMESTAMP).between(*_ends(types.TIMESTAMP)), value)
    return try_cast(value, to)


@cache
def _ends(kind: Type) -> tuple[Value, Value]:
    import ibis

    low, high = (
        cast(ibis.literal(end + ("+00" if kind.zone else "")), kind)
        for end in types.SPAN[kind.kind]
    )
    return low, high


def floor(value: Value) -> Value:
    return _with_engine_type("Floor")(value).to_expr()


def ceil(value: Value) -> Value:
    return _with_engine_type("Ceil")(value).to_expr()


def round_to(value: Value, digits: int) -> Value:
    """Round a float to `digits` ≥ 0 decimal places, halves away from zero."""
    return _with_engine_type("Round")(value, digits).to_expr()


def product(first: Value, second: Value) -> Value:
    """Multiply decimals, of which the first has 38 digits."""
    return _with_engine_type("Multiply")(first, second).to_expr()


@cache
def _with_engine_type(name: str) -> Callable[..., ops.Node]:
    """Return Ibis's operation of that name, with the result type of the engine's function."""
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    from ibis.common.annotations import attribute

    def dtype(self: ops.Value) -> dt.DataType:
        if name == "Multiply":
            return dt.Decimal(38, self.left.dtype.scale + self.right.dtype.scale)
        kind = self.arg.dtype
        return dt.Decimal(kind.precision - kind.scale + 1, 0) if kind.is_decimal() else dt.float64

    return type(name, (getattr(ops, name),), {"dtype": attribute(dtype), "__module__": __name__})


@cache
def integer_division() -> Callable[[Value, Value], Value]:
    """Return the division of 64-bit integers towards zero; Ibis's own is inexact beyond 2^53."""
    import ibis

    def divide(a: Value, b: Value) -> Value: ...

    division: Callable[[Value, Value], Value] = ibis.udf.scalar.builtin(
        divide, signature=(("int64", "int64"), "int64")
    )
    return division


def join_balanced(join: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Join many values two by two, so that the expression tree stays shallow."""
    if len(values) <= 2:
        return reduce(join, values)
    middle = len(values) // 2
    return join(join_balanced(join, values[:middle]), join_balanced(join, values[middle:]))
