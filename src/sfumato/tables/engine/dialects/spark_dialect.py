"""The dialect of Spark in ANSI mode: where it differs from DuckDB, the same operations are written
so that they give the same values and cannot fail.

*Floats*    A number with a point is a decimal, so floats are written as texts and cast. FLOOR and
            CEIL give 64-bit integers, and ROUND goes by decimal digits, so the dialect corrects
            Spark's nearest whole double (rint). Roots, remainders and arithmetic are IEEE's;
            logarithms, powers and angles are Java's, which may differ from C's in the last digit.
*Integers*  A sum of 64-bit integers that overflows is an error, so integers are summed as decimals,
            unless the declared limits keep the sum within 62 bits.
*Decimals*  of more than 34 digits lose their last digits, or fail, in abs and negation: there the
            sign of the text is changed.
*Casts*     truncate, so values are rounded before the cast. Texts are cast only in forms that
            DuckDB reads alike.
*Texts*     are compared by bytes, whatever the collation of their column. Small and capital letters
            come from `case_tables`, as Java's depend on a language. In LIKE a backslash is doubled,
            since Spark reads it as an escape; a pattern with more than one `%` becomes a regular
            expression that is fast for every row (`like_regex`). A missing part of a text is null,
            not an error.
*Moments*   A timestamp without a zone is a TIMESTAMP_NTZ. There is no uuid: it is a text in small
            letters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import ibis
import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.backends.sql.datatypes import PySparkType

from .. import engine_refusals as refusals
from . import case_tables, like_regex
from .fast_compile import FastCompile
from .literals import BOOL_OF_TEXT, DAY, INFINITE, MOMENT, NUMBER, check_digits, double
from .templates import Sql, fill, fill_once_by_list

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

SPARK = "spark"
BLANKS = " \t\n\r\v\f"

FUNCTIONS: Mapping[str, Callable[..., Sql]] = {
    "divide": lambda a, b: fill("a_ DIV b_", SPARK, a_=a, b_=b),
    "spark_by_bytes": lambda a: sge.Anonymous(
        this="collate", expressions=[_readable(a), sge.Literal.string("UTF8_BINARY")]
    ),
}
"""Functions that Ibis lacks → a function that writes their SQL."""

_FLOOR = "CASE WHEN rint({0}) > {0} THEN rint({0}) - 1 ELSE rint({0}) END"
FLOOR = _FLOOR.format("a_")
CEIL = "CASE WHEN rint(a_) < a_ THEN rint(a_) + 1 ELSE rint(a_) END"
_UP = f"({_FLOOR}) + CASE WHEN {{0}} - ({_FLOOR}) >= 0.5D THEN 1 ELSE 0 END"
ROUNDED = (
    f"CASE WHEN abs(a_) >= 4503599627370496D THEN a_ WHEN a_ < 0 THEN "
    f"-({_UP.format('(-a_)')}) ELSE {_UP.format('a_')} END"
)
"""Halves away from zero; Spark's own rounding goes by the digits of the number's text."""

POWER = (
    "CASE WHEN b_ IS NULL THEN NULL WHEN a_ = 1 OR (a_ = -1 AND abs(b_) = {0}) THEN CAST('1' "
    "AS DOUBLE) ELSE power(a_, b_) END"
)
"""1 to any power, and −1 to an infinite power, is 1 in C; Java gives NaN for some of them."""

SIGN_DIGITS = 34
"""The digits of the Java decimals in which Spark changes a sign."""
_POSITIVE = "CAST(substring(CAST(a_ AS STRING), 2) AS {0})"
_ZERO = "CAST(0 AS {0})"  # a bare 0 would take digits from what it is compared with
ABSOLUTE = f"CASE WHEN a_ < {_ZERO} THEN {_POSITIVE} ELSE a_ END"
OPPOSITE = (
    f"CASE WHEN a_ < {_ZERO} THEN {_POSITIVE} WHEN a_ > {_ZERO} THEN CAST(concat('-', "
    f"CAST(a_ AS STRING)) AS {{0}}) ELSE a_ END"
)

_NUMBER = f"a_ RLIKE '{NUMBER}'"
_WHOLE = "a_ RLIKE '^[+-]?[0-9]{1,255}$'"
_INFINITE = f"lower(a_) RLIKE '{INFINITE}'"
_BARE = "translate(lower(a_), '{}-', '')"
UUID = f"""CASE WHEN lower(a_) RLIKE '^([{{][0-9a-f-]*[}}]|[0-9a-f-]*)$' AND length({_BARE}) = 32
           THEN regexp_replace({_BARE},
               '^(.{{8}})(.{{4}})(.{{4}})(.{{4}})(.{{12}})$', '$1-$2-$3-$4-$5') END"""
"""32 digits, with hyphens anywhere, perhaps in braces, as DuckDB reads them."""


class SparkTypes(PySparkType):  # type: ignore[misc]  # Ibis has no types
    """Ibis's type mapper, with timestamps without a zone, and int32 for unsigned integers."""

    @classmethod
    def from_ibis(cls, dtype: dt.DataType) -> sge.DataType:
        if dtype.is_timestamp() and dtype.timezone is None:
            return sge.DataType(this=sge.DataType.Type.TIMESTAMPNTZ)
        if dtype.is_timestamp():
            return sge.DataType(this=sge.DataType.Type.TIMESTAMPLTZ)
        if dtype.is_uuid():
            return sge.DataType(this=sge.DataType.Type.TEXT)
        mapped: sge.DataType = super().from_ibis(dt.int32 if dtype.is_unsigned_integer() else dtype)
        return mapped


def _readable(value: Sql) -> Sql:
    """Replace a text whose bytes are not UTF-8 by null: no answer could hold it."""
    return sge.Anonymous(
        this="try_validate_utf8", expressions=[fill("CAST(a_ AS STRING)", SPARK, a_=value)]
    )


@cache
def by_bytes() -> Callable[[ir.Value], ir.StringValue]:
    """Return the function that compares a text by bytes, whatever the collation of its column, and
    gives null if it is not UTF-8.
    """

    def spark_by_bytes(a: ir.Value) -> ir.StringValue: ...

    function: Callable[[ir.Value], ir.StringValue] = ibis.udf.scalar.builtin(
        spark_by_bytes, signature=(("string",), "string")
    )
    return function


def number(value: float) -> str:
    """Write a double exactly."""
    return double(value, "DOUBLE")


def text(value: str) -> Sql:
    """Write a text exactly. Spark knows fewer escapes of control characters than sqlglot writes, so
    such texts are written as bytes.
    """
    if all(letter >= " " for letter in value):
        return sge.Literal.string(value)
    bytes_ = sge.Anonymous(this="unhex", expressions=[sge.Literal.string(value.encode().hex())])
    return sge.Anonymous(this="decode", expressions=[bytes_, sge.Literal.string("UTF-8")])


def fill_once(text: str, **arguments: Sql) -> Sql:
    """Fill a template; each argument is computed once."""
    return fill_once_by_list(text, SPARK, **arguments)


class TotalSparkCompiler(FastCompile, PySparkCompiler):  # type: ignore[misc]  # Ibis has no types
    """Ibis's compiler for Spark, with total forms of all operations."""

    __slots__ = ()
    # the parent's entries would override the methods below
    SIMPLE_OPS: ClassVar[dict[type[ops.Node], str]] = {}
    type_mapper = SparkTypes

    def compile(self, expression: ir.Expr, *, pretty: bool = False) -> str:
        """Compile an expression to SQL."""
        return str(self.tree(expression).sql(dialect=self.dialect, pretty=pretty, copy=False))

    # Numbers

    def visit_NonNullLiteral(self, op: ops.Literal, *, value: Any, dtype: dt.DataType) -> Sql:
        if dtype.is_floating():
            written = number(float(value))
            return fill(
                written.replace("DOUBLE", "FLOAT") if dtype.is_float32() else written, SPARK
            )
        if dtype.is_string():
            return text(value)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_FloorDivide(self, op: ops.FloorDivide, *, left: Sql, right: Sql) -> Sql:
        """Divide non-negative integers by Spark's own division."""
        assert op.left.dtype.is_integer()
        return fill("a_ DIV b_", SPARK, a_=left, b_=right)

    def visit_Abs(self, op: ops.Abs, *, arg: Sql) -> Sql:
        return (
            fill_once(ABSOLUTE.format(_decimal_name(op.arg.dtype)), a_=arg)
            if _long(op.arg.dtype)
            else self.f.abs(arg)
        )

    def visit_Negate(self, op: ops.Negate, *, arg: Sql) -> Sql:
        return (
            fill_once(OPPOSITE.format(_decimal_name(op.arg.dtype)), a_=arg)
            if _long(op.arg.dtype)
            else super().visit_Negate(op, arg=arg)
        )

    def visit_Floor(self, op: ops.Floor, *, arg: Sql) -> Sql:
        return (
            fill_once(FLOOR, a_=arg)
            if op.dtype.is_floating()
            else self.cast(self.f.floor(arg), op.dtype)
        )

    def visit_Ceil(self, op: ops.Ceil, *, arg: Sql) -> Sql:
        return (
            fill_once(CEIL, a_=arg)
            if op.dtype.is_floating()
            else self.cast(self.f.ceil(arg), op.dtype)
        )

    def visit_Round(self, op: ops.Round, *, arg: Sql, digits: Sql | None) -> Sql:
        places = 0 if op.digits is None else op.digits.value
        return fill_once(rounding_sql(places) if places else ROUNDED, a_=arg)

    def visit_Power(self, op: ops.Power, *, left: Sql, right: Sql) -> Sql:
        return fill_once(POWER.format(number(math.inf)), a_=left, b_=right)

    def visit_Sum(self, op: ops.Sum, *, arg: Sql, where: Sql | None) -> Sql:
        if op.arg.dtype.is_integer():
            arg = self.cast(arg, dt.Decimal(20, 0))
        return super().visit_Sum(op, arg=arg, where=where)

    def visit_IsNull(self, op: ops.IsNull, *, arg: Sql) -> Sql:
        return arg.is_(sge.null())

    def visit_NotNull(self, op: ops.NotNull, *, arg: Sql) -> Sql:
        return arg.is_(sge.Not(this=sge.null()))

    # Casts

    def visit_Cast(self, op: ops.Cast, *, arg: Sql, to: dt.DataType) -> Sql:
        if type(op.arg).__name__ == "Sum" and op.arg.arg.dtype.is_integer() and to.is_int64():
            # the declared limits keep this sum within 62 bits
            arg = super().visit_Sum(op.arg, arg=arg.this.this, where=None)
        have = op.arg.dtype
        # DuckDB writes .25 if the type has no digit before the point
        if have.is_decimal() and to.is_string() and have.precision == have.scale:
            return fill("regexp_replace(CAST(a_ AS STRING), '^(-?)0[.]', '$1.')", SPARK, a_=arg)
        return self.cast(arg, to)

    def visit_TryCast(self, op: ops.TryCast, *, arg: Sql, to: dt.DataType) -> Sql:
        have, target = op.arg.dtype, self.type_mapper.from_ibis(to).sql(dialect=SPARK)
        if have.is_string():
            return _text(arg, to, target)
        if have.is_decimal() and to.is_integer():
            return fill(f"try_cast(round(a_) AS {target})", SPARK, a_=arg)
        if have.is_floating() and to.is_decimal():
            return _decimal(arg, to)
        if have.is_floating() and to.is_integer():  # Spark's own gives the largest integer for 2^63
            inside = (
                f"a_ >= {number(float(to.bounds.lower))} AND a_ < "
                f"{number(float(to.bounds.upper + 1))}"
            )
            return fill_once(f"CASE WHEN {inside} THEN CAST(a_ AS {target}) END", a_=arg)
        if have.is_float64() and to.is_float32():
            large = number(3.4028235677973366e38)
            return fill_once(
                (
                    f"CASE WHEN abs(a_) < {large} OR abs(a_) >= {number(math.inf)} THEN "
                    f"CAST(a_ AS FLOAT) END"
                ),
                a_=arg,
            )
        if have.is_boolean() or have.is_temporal() or have.is_uuid() or to.is_string():
            return self.cast(arg, to)
        return fill(f"try_cast(a_ AS {target})", SPARK, a_=arg)

    # Texts

    def visit_Lowercase(self, op: ops.Lowercase, *, arg: Sql) -> Sql:
        return _translate(arg, case_tables.small_letters())

    def visit_Uppercase(self, op: ops.Uppercase, *, arg: Sql) -> Sql:
        return _translate(arg, case_tables.capital_letters())

    def visit_Strip(self, op: ops.Strip, *, arg: Sql) -> Sql:
        return sge.Trim(this=arg, expression=text(BLANKS), position="BOTH")

    def visit_LStrip(self, op: ops.LStrip, *, arg: Sql) -> Sql:
        return sge.Trim(this=arg, expression=text(BLANKS), position="LEADING")

    def visit_RStrip(self, op: ops.RStrip, *, arg: Sql) -> Sql:
        return sge.Trim(this=arg, expression=text(BLANKS), position="TRAILING")

    def visit_StringSQLLike(
        self, op: ops.StringSQLLike, *, arg: Sql, pattern: Sql, escape: str | None
    ) -> Sql:
        constant = like_regex.constant_pattern(op.pattern)
        if constant is not None and constant.count("%") > 1:
            return sge.RegexpLike(this=arg, expression=text(like_regex.java(constant)))
        doubled = self.f.replace(pattern, sge.Literal.string("\\"), sge.Literal.string("\\\\"))
        plain = isinstance(pattern, sge.Literal)
        return sge.Like(
            this=arg,
            expression=sge.Literal.string(pattern.this.replace("\\", "\\\\")) if plain else doubled,
        )

    def visit_StringSplit(self, op: ops.StringSplit, *, arg: Sql, delimiter: Sql) -> Sql:
        return sge.Tuple(expressions=[arg, delimiter])

    def visit_ArrayIndex(self, op: ops.ArrayIndex, *, arg: Sql, index: Sql) -> Sql:
        """Take one part of a split text; null if there are fewer parts."""
        source_text, separator = arg.expressions
        place, size = op.index.value + 1, len(op.arg.delimiter.value)
        return fill_once(
            (
                f"CASE WHEN length(a_) - length(replace(a_, b_, '')) >= {size * (place - 1)} "
                f"THEN split_part(a_, b_, {place}) END"
            ),
            a_=source_text,
            b_=separator,
        )

    def visit_ScalarUDF(self, op: ops.ScalarUDF, **arguments: Sql) -> Sql:
        return FUNCTIONS[op.__func_name__](*arguments.values())

    # Moments

    def visit_DateDelta(self, op: ops.DateDelta, *, part: Sql, left: Sql, right: Sql) -> Sql:
        return self.f.anon.datediff(left, right)

    def visit_ExtractEpochSeconds(self, op: ops.ExtractEpochSeconds, *, arg: Sql) -> Sql:
        return fill(
            "CAST(unix_micros(CAST(a_ AS TIMESTAMP)) AS DOUBLE) / CAST('1000000' AS DOUBLE)",
            SPARK,
            a_=arg,
        )


def _translate(value: Sql, letters: tuple[str, str]) -> Sql:
    """Replace each letter of the first text by its letter of the second."""
    return fill(f"translate(a_, '{letters[0]}', '{letters[1]}')", SPARK, a_=value)


def _long(dtype: dt.DataType) -> bool:
    """Whether a decimal has too many digits for Spark's own change of sign."""
    return bool(dtype.is_decimal() and (dtype.precision or 38) > SIGN_DIGITS)


def _decimal_name(dtype: dt.DataType) -> str:
    return f"DECIMAL({dtype.precision or 38}, {dtype.scale or 0})" if dtype.is_decimal() else ""


def rounding_sql(digits: int) -> str:
    """Write the rounding to `digits` ≥ 1 decimal places as DuckDB does: scale, round, scale back.
    Numbers that scaling would make infinite stay unchanged.
    """
    unit = number(10.0**digits)
    scaled = ROUNDED.replace("a_", f"(a_ * {unit})")
    return f"CASE WHEN abs(a_ * {unit}) < {number(math.inf)} THEN ({scaled}) / {unit} ELSE a_ END"


def _text(value: Sql, to: dt.DataType, target: str) -> Sql:
    read = fill("CAST(a_ AS STRING)", SPARK, a_=value)
    bare = sge.Trim(this=read, expression=text(BLANKS), position="BOTH")
    if to.is_string():
        return read
    if to.is_integer():
        broken = f"try_cast(round(try_cast(a_ AS DECIMAL(38, 18))) AS {target})"
        return fill_once(
            f"CASE WHEN {_WHOLE} THEN try_cast(a_ AS {target}) WHEN {_NUMBER} THEN {broken} END",
            a_=bare,
        )
    if to.is_decimal():
        return fill_once(f"CASE WHEN {_NUMBER} THEN try_cast(a_ AS {target}) END", a_=bare)
    if to.is_floating():
        infinite = f"CASE WHEN a_ LIKE '-%' THEN {number(-math.inf)} ELSE {number(math.inf)} END"
        return fill_once(
            (
                f"CASE WHEN {_NUMBER} THEN try_cast(a_ AS {target}) WHEN {_INFINITE} THEN "
                f"{infinite} END"
            ),
            a_=bare,
        )
    if to.is_boolean():
        return fill_once(BOOL_OF_TEXT, a_=read)
    if to.is_uuid():
        return fill_once(UUID, a_=read)
    day = f"regexp_extract(a_, '^{DAY}', 0)" if to.is_date() else "a_"
    return fill_once(
        f"CASE WHEN a_ RLIKE '{MOMENT}' THEN try_cast({day} AS {target}) END",
        a_=bare if to.is_date() else read,
    )


def _decimal(value: Sql, to: dt.Decimal) -> Sql:
    """Cast a float to a decimal by a product and a rounding in doubles, as in DuckDB."""
    check_digits(to, refusals.DECIMAL_TOO_LONG_FOR_SPARK)
    scaled = fill(f"a_ * {number(10.0**to.scale)}", SPARK, a_=value)
    unit = (
        f" * CAST('{10.0**-to.scale:.{to.scale}f}' AS DECIMAL({to.scale}, {to.scale}))"
        if to.scale
        else ""
    )
    decimal = (
        f"CAST(CAST(CAST(a_ AS BIGINT) AS DECIMAL(19, 0)){unit} AS DECIMAL({to.precision}, "
        f"{to.scale}))"
    )
    return fill_once(
        f"CASE WHEN abs(a_) < {number(10.0**to.precision)} THEN {decimal} END",
        a_=fill_once(ROUNDED, a_=scaled),
    )
