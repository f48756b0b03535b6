"""The dialect of PostgreSQL: where it differs from DuckDB, the same operations are written so that
they give the same values and cannot fail.

*Floats*    Overflow, underflow and division by zero are errors: see `postgres_floats`. Operations
            on numbers of known size are written plainly.
*Casts*     There is no TRY_CAST: see `postgres_casts`. A truth value becomes an int4 before any
            other number; a timestamp loses its zone in UTC, whatever the session's zone.
*Integers*  / divides integers; PostgreSQL has no remainder of floats.
*Texts*     are compared, ordered and searched in the collation "C", by bytes. Small and capital
            letters come from `case_tables`, as PostgreSQL's own depend on a collation. LIKE has no
            escape. A missing part of a text is null, not empty.
*Moments*   EXTRACT gives decimals. A date is truncated as a timestamp without a zone.
*Keys*      A long list of public keys is written into the statement, as the role may only read.
*Hash*      sha256 of the server itself: no extension is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import ibis
import ibis.expr.datatypes as dt
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.postgres import PostgresCompiler

from ....errors import RefusalText
from .. import engine_refusals as refusals
from . import case_tables, exponent_bounds
from . import postgres_floats as floats
from .fast_compile import FastCompile
from .postgres_casts import POSTGRES, TEXT_OF_FLOAT, try_cast
from .templates import Sql, fill, fill_once

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir
    from ibis.common.temporal import DateUnit
    from ibis.expr.schema import Schema
    from ibis.formats import TableProxy

FUNCTIONS: Mapping[str, str] = {
    "divide": "a_ / b_",
    "by_bytes": 'CAST(a_ AS TEXT) COLLATE "C"',
    "without_nan": "NULLIF(a_, CAST('NaN' AS NUMERIC))",
}
"""Functions that Ibis lacks → their SQL."""

CANNOT: Mapping[str, RefusalText] = {"Log2": refusals.LOG2_NOT_IN_POSTGRES}
"""Operation that PostgreSQL lacks → its refusal."""

DEGREES, RADIANS = 57.29577951308232, 0.017453292519943295


@cache
def by_bytes() -> Callable[[ir.Value], ir.StringValue]:
    """Return the function that compares a text by bytes, whatever the collation of its column."""

    def by_bytes(a: ir.Value) -> ir.StringValue: ...

    function: Callable[[ir.Value], ir.StringValue] = ibis.udf.scalar.builtin(
        by_bytes, signature=(("string",), "string")
    )
    return function


@cache
def without_nan() -> Callable[[ir.Value], ir.DecimalValue]:
    """Return the function that replaces NaN in a decimal by null."""

    def without_nan(a: ir.Value) -> ir.DecimalValue: ...

    function: Callable[[ir.Value], ir.DecimalValue] = ibis.udf.scalar.builtin(
        without_nan, signature=(("decimal",), "decimal")
    )
    return function


class TotalPostgresCompiler(FastCompile, PostgresCompiler):  # type: ignore[misc]  # Ibis: no types
    """Ibis's compiler for PostgreSQL, with total forms of all operations."""

    __slots__ = ()
    # the parent's entries would override the methods below
    SIMPLE_OPS: ClassVar[dict[type[ops.Node], str]] = {}

    def compile(self, expression: ir.Expr, *, pretty: bool = False) -> str:
        """Compile an expression to SQL."""
        return str(self.tree(expression).sql(dialect=self.dialect, pretty=pretty, copy=False))

    def visit_node(self, op: ops.Node, **arguments: Sql) -> Sql:
        refused = CANNOT.get(type(op).__name__)
        if refused is not None:
            raise refused()
        return super().visit_node(op, **arguments)

    # Floats

    def visit_Add(self, op: ops.Add, *, left: Sql, right: Sql) -> Sql:
        return self._float(op, sge.Add, floats.SUM, exponent_bounds.total, left, right)

    def visit_Subtract(self, op: ops.Subtract, *, left: Sql, right: Sql) -> Sql:
        if _floating(op) and not self._easy(op, exponent_bounds.total):
            return fill_once(floats.SUM, POSTGRES, a_=left, b_=-sge.paren(right))
        return self.binop(sge.Sub, left, right)

    def visit_Multiply(self, op: ops.Multiply, *, left: Sql, right: Sql) -> Sql:
        return self._float(op, sge.Mul, floats.PRODUCT, exponent_bounds.product, left, right)

    def visit_Divide(self, op: ops.Divide, *, left: Sql, right: Sql) -> Sql:
        return self._float(op, sge.Div, floats.QUOTIENT, exponent_bounds.quotient, left, right)

    def _float(
        self,
        op: ops.Binary,
        plain: type[sge.Binary],
        form: str,
        rule: Callable[[exponent_bounds.Size, exponent_bounds.Size], exponent_bounds.Size],
        left: Sql,
        right: Sql,
    ) -> Sql:
        if _floating(op) and not self._easy(op, rule):
            return fill_once(form, POSTGRES, a_=left, b_=right)
        return self.binop(plain, left, right)

    def _easy(
        self,
        op: ops.Binary,
        rule: Callable[[exponent_bounds.Size, exponent_bounds.Size], exponent_bounds.Size],
    ) -> bool:
        """Whether the result surely stays within the doubles. Sums over rows do: their limits are
        declared.
        """
        if any(_sum(side) for side in (op.left, op.right)):
            return True
        sizes: dict[ops.Value, exponent_bounds.Size] = {}
        return exponent_bounds.fits(
            rule(exponent_bounds.size(op.left, sizes), exponent_bounds.size(op.right, sizes))
        )

    def visit_Modulus(self, op: ops.Modulus, *, left: Sql, right: Sql) -> Sql:
        if not _floating(op):
            return self.binop(sge.Mod, left, right)
        parts = {
            name: fill(text, POSTGRES, a_=sge.column("a_"), b_=sge.column("b_"))
            for name, text in floats.REMAINDER_PARTS.items()
        }
        inner = (
            sg.select(sge.alias_(left.copy(), "a_"), sge.alias_(right.copy(), "b_"))
            .offset(0)
            .subquery("numbers")
        )
        with_parts = (
            sg.select(
                sge.column("a_"),
                sge.column("b_"),
                *(sge.alias_(part, name) for name, part in parts.items()),
            )
            .from_(inner)
            .offset(0)
        )
        return sge.Paren(
            this=sg.select(fill(floats.REMAINDER, POSTGRES)).from_(with_parts.subquery("parts"))
        )

    def visit_FloorDivide(self, op: ops.FloorDivide, *, left: Sql, right: Sql) -> Sql:
        """Divide non-negative integers by PostgreSQL's own division. A sum of integers is a
        decimal, whose quotient would have decimal places, so both are cast.
        """
        assert op.left.dtype.is_integer()
        assert op.right.dtype.is_integer()
        return fill("CAST(a_ AS BIGINT) / CAST(b_ AS BIGINT)", POSTGRES, a_=left, b_=right)

    def visit_Power(self, op: ops.Power, *, left: Sql, right: Sql) -> Sql:
        return fill_once(floats.POWER, POSTGRES, a_=left, b_=right)

    def visit_Exp(self, op: ops.Exp, *, arg: Sql) -> Sql:
        return fill_once(floats.EXPONENTIAL, POSTGRES, a_=arg)

    def visit_Degrees(self, op: ops.Degrees, *, arg: Sql) -> Sql:
        return fill_once(
            floats.PRODUCT, POSTGRES, a_=arg, b_=fill(floats.number(DEGREES), POSTGRES)
        )

    def visit_Radians(self, op: ops.Radians, *, arg: Sql) -> Sql:
        return fill_once(
            floats.PRODUCT, POSTGRES, a_=arg, b_=fill(floats.number(RADIANS), POSTGRES)
        )

    def visit_Round(self, op: ops.Round, *, arg: Sql, digits: Sql | None) -> Sql:
        places = 0 if op.digits is None else op.digits.value
        return fill_once(
            floats.rounding_sql(places) if places else floats.ROUNDED, POSTGRES, a_=arg
        )

    def visit_NonNullLiteral(self, op: ops.Literal, *, value: Any, dtype: dt.DataType) -> Sql:
        if dtype.is_floating():
            text = floats.number(float(value))  # as it stands it would be a decimal
            return fill(
                text.replace("DOUBLE PRECISION", "REAL") if dtype.is_float32() else text, POSTGRES
            )
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_Sum(self, op: ops.Sum, *, arg: Sql, where: Sql | None) -> Sql:
        """Count truth values with COUNT … FILTER: summing them as numbers takes three times as
        long.
        """
        if op.arg.dtype.is_boolean() and where is None:
            return self.agg.count(sge.Star(), where=arg)
        return super().visit_Sum(op, arg=arg, where=where)

    # Casts

    def visit_Cast(self, op: ops.Cast, *, arg: Sql, to: dt.DataType) -> Sql:
        have = op.arg.dtype
        to = dt.int32 if to.is_unsigned_integer() else to
        if have.is_boolean() and to.is_numeric():
            return self.cast(self.cast(arg, dt.int32), to)
        if have.is_timestamp() and have.timezone and to.is_timestamp() and not to.timezone:
            return fill("a_ AT TIME ZONE 'UTC'", POSTGRES, a_=arg)
        if have.is_timestamp() and not have.timezone and to.is_timestamp() and to.timezone:
            return fill("a_ AT TIME ZONE 'UTC'", POSTGRES, a_=arg)
        if have.is_floating() and to.is_string():
            return fill_once(TEXT_OF_FLOAT, POSTGRES, a_=arg)
        # DuckDB writes .25 if the type has no digit before the point
        if have.is_decimal() and to.is_string() and have.precision == have.scale:
            return fill(r"regexp_replace(CAST(a_ AS TEXT), '^(-?)0[.]', '\1.')", POSTGRES, a_=arg)
        return self.cast(arg, to)

    def visit_TryCast(self, op: ops.TryCast, *, arg: Sql, to: dt.DataType) -> Sql:
        have = op.arg.dtype
        if have.is_boolean() or have.is_temporal() or have.is_uuid():
            return self.visit_Cast(op, arg=arg, to=to)
        return try_cast(self, arg, have, to)

    # Texts

    def visit_Lowercase(self, op: ops.Lowercase, *, arg: Sql) -> Sql:
        return _letters("lower", case_tables.small_letters(), arg)

    def visit_Uppercase(self, op: ops.Uppercase, *, arg: Sql) -> Sql:
        return _letters("upper", case_tables.capital_letters(), arg)

    def visit_StringSQLLike(
        self, op: ops.StringSQLLike, *, arg: Sql, pattern: Sql, escape: str | None
    ) -> Sql:
        return sge.paren(
            sge.Escape(this=sge.Like(this=arg, expression=pattern), expression=sge.convert("")),
            copy=False,
        )

    def visit_StringSplit(self, op: ops.StringSplit, *, arg: Sql, delimiter: Sql) -> Sql:
        return sge.Tuple(expressions=[arg, delimiter])

    def visit_ArrayIndex(self, op: ops.ArrayIndex, *, arg: Sql, index: Sql) -> Sql:
        """Take one part of a split text; null if there are fewer parts."""
        text, separator = arg.expressions
        size, place = len(separator.this), op.index.value + 1
        body = (
            f"CASE WHEN length(a_) - length(replace(a_, b_, '')) >= {size * (place - 1)} "
            f"THEN split_part(a_, b_, {place}) END"
        )
        return fill_once(body, POSTGRES, a_=text, b_=separator)

    def visit_HexDigest(self, op: ops.HexDigest, *, arg: Sql, how: str) -> Sql:
        assert how == "sha256"
        return fill("encode(sha256(convert_to(a_, 'UTF8')), 'hex') COLLATE \"C\"", POSTGRES, a_=arg)

    def visit_ScalarUDF(self, op: ops.ScalarUDF, **arguments: Sql) -> Sql:
        return fill(
            FUNCTIONS[op.__func_name__],
            POSTGRES,
            **dict(zip(("a_", "b_"), arguments.values(), strict=False)),
        )

    # Moments

    def visit_DateTruncate(self, op: ops.DateTruncate, *, arg: Sql, unit: DateUnit) -> Sql:
        return self.visit_TimestampTruncate(op, arg=self.cast(arg, dt.timestamp), unit=unit)

    def visit_DateDelta(self, op: ops.DateDelta, *, part: Sql, left: Sql, right: Sql) -> Sql:
        return self.binop(sge.Sub, left, right)

    def visit_ExtractEpochSeconds(self, op: ops.ExtractEpochSeconds, *, arg: Sql) -> Sql:
        return fill(
            (
                "CAST(CAST(EXTRACT(epoch FROM a_) * 1000000 AS BIGINT) AS DOUBLE PRECISION) "
                "/ CAST('1000000' AS DOUBLE PRECISION)"
            ),
            POSTGRES,
            a_=arg,
        )

    # Tables

    def visit_InMemoryTable(
        self, op: ops.InMemoryTable, *, name: str, schema: Schema, data: TableProxy
    ) -> Sql:
        """Write keys as a constant for each column, without texts that PostgreSQL cannot hold.
        Functions that return rows go through them side by side.
        """
        table = data.to_pyarrow(schema)
        paths = [
            path
            for path in zip(*(column.to_pylist() for column in table.columns), strict=True)
            if not any(isinstance(key, str) and "\0" in key for key in path)
        ]
        columns = []
        for i, (column, dtype) in enumerate(schema.items()):
            elements = ",".join(_element(path[i]) for path in paths)
            array = sge.cast(
                sge.Literal.string("{" + elements + "}"),
                f"{self.type_mapper.to_string(dtype)}[]",
                dialect=POSTGRES,
            )
            unnested = sge.Anonymous(this="unnest", expressions=[array])
            columns.append(sge.alias_(unnested, column, quoted=True))
        return sg.select(*columns)


def _letters(name: str, table: tuple[str, str], value: Sql) -> Sql:
    """Convert ASCII letters by the server's function, other letters by the table."""
    body = (
        f'CASE WHEN octet_length(a_) = length(a_) THEN {name}(a_ COLLATE "C") ELSE '
        f"translate(a_, b_, c_) END"
    )
    return fill_once(
        body.replace("b_", f"'{table[0]}'").replace("c_", f"'{table[1]}'"), POSTGRES, a_=value
    )


def _floating(op: ops.Value) -> bool:
    return bool(op.dtype.is_floating())


def _sum(op: ops.Value) -> bool:
    while type(op).__name__ == "Cast":
        op = op.arg
    return type(op).__name__ == "Sum"


def _element(key: object) -> str:
    if key is None:
        return "NULL"
    if isinstance(key, bool):
        return str(key).lower()
    text = (
        key.isoformat()
        if isinstance(key, date | datetime)
        else f"{key:f}"
        if hasattr(key, "as_tuple")
        else str(key)
    )
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
