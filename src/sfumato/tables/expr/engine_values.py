"""Ibis values that mean what they say: casts that are always written, constants that are read
exactly, guards that stand around arguments.

*Casts*      Ibis leaves a cast out where it believes the type is right, and engines disagree with
             it (DuckDB's DATE_TRUNC of a date is a timestamp): `cast` and `try_cast` always write
             it. `cast` is for what cannot fail by the types alone.
*Constants*  DuckDB reads 0.30000000000000004 as a decimal of 17 digits: floats, decimals and
             moments are written as texts, and cast.
*Floor…*     Ibis casts the floor of a float to an integer, which fails for 1e300, and multiplies no
             decimals of different scales: here the same operations, by Ibis's own names, have the
             engine's types.
*Copies*     NULLIF and CASE mention their argument twice, and so does the engine's plan: they stand
             where they must and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, reduce
from typing import Any

from . import types
from .constants import Constant
from .types import Type

Value = Any
"""An Ibis value. Ibis has no types that a checker can read."""


def cast(value: Value, to: Type) -> Value:
    import ibis.expr.operations as ops

    return ops.Cast(value, to.to_ibis()).to_expr()


def try_cast(value: Value, to: Type) -> Value:
    """Null where the value does not fit."""
    import ibis.expr.operations as ops

    return ops.TryCast(value, to.to_ibis()).to_expr()


def constant(value: Constant, known: Type) -> Value:
    import ibis

    if value is None:
        return ibis.null(unzoned(known).to_ibis())
    if isinstance(value, bool | str):
        return ibis.literal(value)
    if isinstance(value, int) and known.kind == "integer":
        return cast(ibis.literal(value, type="int64"), known)
    return cast(ibis.literal(_written(value)), unzoned(known))


def _written(value: Constant) -> str:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    return (
        f"{value:f}" if isinstance(value, Decimal) else str(value)
    )  # no engine reads the exponent of a decimal


def number(value: float | int | str) -> Value:
    """A float."""
    return constant(float(value), types.FLOAT)


def null(known: Type) -> Value:
    return constant(None, known)


def unzoned(known: Type) -> Type:
    """How a type is held while expressions are built: timestamps with a zone are timestamps in
    UTC.
    """
    return types.TIMESTAMP if known.zone else known


def where(condition: Value, value: Value) -> Value:
    """The value where the condition is true, null elsewhere."""
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
    """A NaN is a null. Not by NULLIF: the least and the largest value that a Parquet file states
    leave NaN out, and by them DuckDB decides comparisons.
    """
    return case([(value.isnan(), null_like(value))], value)


def present(value: Value, known: Type, name: str) -> Value:
    """A column as its type has it: read as declared, timestamps in UTC, moments outside the years 1
    to 9999 null. NaN is left to `without_nan`.
    """
    dtype = value.type()
    found = Type.from_ibis(dtype, name)
    already = (
        known.zone and found.kind == "timestamp"
    )  # what an expression made of a timestamp with a zone is in UTC, and without one
    if (found.bare != known.bare and not already) or (
        dtype.is_timestamp() and dtype.scale not in (None, 6)
    ):
        value = try_cast(value, known)
    if known.kind not in ("date", "timestamp"):
        return value
    zoned = value.type().is_timestamp() and value.type().timezone is not None
    inside = where(
        value.between(
            *_ends(
                types.DATE if known.kind == "date" else types.ZONED if zoned else types.TIMESTAMP
            )
        ),
        value,
    )
    return cast(inside, types.TIMESTAMP) if zoned else inside


def read_moment(value: Value, to: Type) -> Value:
    """A text as a date or a timestamp. DuckDB fails on far years with a zone, TRY_CAST or not, so
    those without a near local time are not tried.
    """
    if to.zone:
        value = where(try_cast(value, types.TIMESTAMP).between(*_ends(types.TIMESTAMP)), value)
    return try_cast(value, to)


@cache
def _ends(known: Type) -> tuple[Value, Value]:
    import ibis

    low, high = (
        cast(ibis.literal(end + ("+00" if known.zone else "")), known)
        for end in types.SPAN[known.kind]
    )
    return low, high


def floor(value: Value) -> Value:
    return _named("Floor")(value).to_expr()


def ceil(value: Value) -> Value:
    return _named("Ceil")(value).to_expr()


def rounded(value: Value, digits: int) -> Value:
    """A float to so many digits from 0 on, halves away from zero."""
    return _named("Round")(value, digits).to_expr()


def product(first: Value, second: Value) -> Value:
    """Of decimals, of which the first has 38 digits."""
    return _named("Multiply")(first, second).to_expr()


@cache
def _named(name: str) -> Callable[..., Any]:
    """Ibis's operation of that name, with the type that the engine's function has."""
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    from ibis.common.annotations import attribute

    def dtype(self: Any) -> Any:
        if name == "Multiply":
            return dt.Decimal(38, self.left.dtype.scale + self.right.dtype.scale)
        known = self.arg.dtype
        return (
            dt.Decimal(known.precision - known.scale + 1, 0) if known.is_decimal() else dt.float64
        )

    return type(name, (getattr(ops, name),), {"dtype": attribute(dtype), "__module__": __name__})


@cache
def integer_division() -> Callable[[Value, Value], Value]:
    """Of 64-bit integers, towards zero: Ibis has none that is exact beyond 2^53."""
    import ibis

    def divide(a: Any, b: Any) -> Any: ...

    made: Callable[[Value, Value], Value] = ibis.udf.scalar.builtin(
        divide, signature=(("int64", "int64"), "int64")
    )
    return made


def balanced(join: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Many values joined two by two, so that the tree is low."""
    if len(values) <= 2:
        return reduce(join, values)
    middle = len(values) // 2
    return join(balanced(join, values[:middle]), balanced(join, values[middle:]))
