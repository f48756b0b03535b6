"""Spark, with its ANSI mode on: what it does otherwise than DuckDB, and how the same is written so
that it gives the same and cannot fail.

*Floats*    A number with a point is a decimal, so floats are written as texts and cast. FLOOR and
            CEIL give 64-bit integers, ROUND goes by decimal digits: the nearest whole double, which
            Spark has, is corrected instead. Roots, remainders and arithmetic are IEEE's;
            logarithms, powers and angles are Java's, which may differ from C's in the last digit.
*Integers*  A sum of 64-bit integers overflows, which is an error: sums are of decimals, unless the
            declared limits keep them within 62 bits.
*Decimals*  of more than 34 digits lose their last digits, or fail, where Spark takes an absolute
            value or another sign: there the sign of the text is changed.
*Casts*     cut off instead of rounding, so what is cast is rounded before. Of texts, only those are
            read that DuckDB reads alike.
*Texts*     are compared by bytes, whatever the collation of their column. Small and capital letters
            come from a table of ours, as Java's know languages. In LIKE a backslash is doubled,
            since there it escapes; with more than one `%` a pattern is written so that it takes no
            longer for some rows (`likes`). A missing part of a text is null, not an error.
*Moments*   A timestamp without a zone is a TIMESTAMP_NTZ. There is no uuid: it is a text in small
            letters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import ibis
import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.backends.sql.datatypes import PySparkType

from . import case_tables, like_regex
from .fast_compile import Passes
from .literals import BOOL_OF_TEXT, DAY, INFINITE, MOMENT, NUMBER, double, short_enough
from .templates import bound, put

SPARK = "spark"
BLANKS = " \t\n\r\v\f"

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "divide": lambda a, b: put("a_ DIV b_", SPARK, a_=a, b_=b),
    "spark_by_bytes": lambda a: sge.Anonymous(
        this="collate", expressions=[_readable(a), sge.Literal.string("UTF8_BINARY")]
    ),
}
"""Functions that Ibis has no operation for, as SQL."""

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
"""Of 1 to any power, and of −1 to an infinite one, C makes 1; Java has no number for some of
them.
"""

SIGN_DIGITS = 34
"""Of Java's decimals, in which Spark changes a sign."""
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
           THEN regexp_replace({_BARE}, '^(.{{8}})(.{{4}})(.{{4}})(.{{4}})(.{{12}})$', '$1-$2-$3-$4-$5') END"""
"""32 digits, with hyphens anywhere, perhaps in braces: as DuckDB reads them."""


class Types(PySparkType):  # type: ignore[misc]  # Ibis has no types
    """Ibis's own, with timestamps that have no zone, and small integers where there are no unsigned
    ones.
    """

    @classmethod
    def from_ibis(cls, dtype: Any) -> Any:
        if dtype.is_timestamp() and dtype.timezone is None:
            return sge.DataType(this=sge.DataType.Type.TIMESTAMPNTZ)
        if dtype.is_timestamp():
            return sge.DataType(this=sge.DataType.Type.TIMESTAMPLTZ)
        if dtype.is_uuid():
            return sge.DataType(this=sge.DataType.Type.TEXT)
        return super().from_ibis(dt.int32 if dtype.is_unsigned_integer() else dtype)


def _readable(value: Any) -> Any:
    """A text; null where its bytes are not UTF-8, which no answer could hold."""
    return sge.Anonymous(
        this="try_validate_utf8", expressions=[put("CAST(a_ AS STRING)", SPARK, a_=value)]
    )


@cache
def by_bytes() -> Callable[[Any], Any]:
    """A text that is compared by its bytes, whatever the collation of its column; null if it is
    none.
    """

    def spark_by_bytes(a: Any) -> Any: ...

    made: Callable[[Any], Any] = ibis.udf.scalar.builtin(
        spark_by_bytes, signature=(("string",), "string")
    )
    return made


def number(value: float) -> str:
    """A double, exactly."""
    return double(value, "DOUBLE")


def text(value: str) -> Any:
    """A text, exactly. Of control characters Spark knows fewer by name than its dialect writes:
    such texts are written by their bytes.
    """
    if all(letter >= " " for letter in value):
        return sge.Literal.string(value)
    bytes_ = sge.Anonymous(this="unhex", expressions=[sge.Literal.string(value.encode().hex())])
    return sge.Anonymous(this="decode", expressions=[bytes_, sge.Literal.string("UTF-8")])


def given(text: str, **arguments: Any) -> Any:
    """A form with its arguments, each of them computed once."""
    return bound(text, SPARK, **arguments)


class Compiler(Passes, PySparkCompiler):  # type: ignore[misc]  # Ibis has no types
    """Ibis's own, with other forms where Spark differs."""

    __slots__ = ()
    SIMPLE_OPS: ClassVar[
        dict[Any, str]
    ] = {}  # those of the parent would take the place of what is defined here
    type_mapper = Types

    def compile(self, expression: Any, *, pretty: bool = False) -> str:
        """An expression as a statement."""
        return str(self.tree(expression).sql(dialect=self.dialect, pretty=pretty, copy=False))

    # Numbers

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:
        if dtype.is_floating():
            written = number(float(value))
            return put(written.replace("DOUBLE", "FLOAT") if dtype.is_float32() else written, SPARK)
        if dtype.is_string():
            return text(value)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_FloorDivide(self, op: Any, *, left: Any, right: Any) -> Any:
        """Of integers that are not below zero: Spark's own."""
        assert op.left.dtype.is_integer()
        return put("a_ DIV b_", SPARK, a_=left, b_=right)

    def visit_Abs(self, op: Any, *, arg: Any) -> Any:
        return (
            given(ABSOLUTE.format(_written(op.arg.dtype)), a_=arg)
            if _long(op.arg.dtype)
            else self.f.abs(arg)
        )

    def visit_Negate(self, op: Any, *, arg: Any) -> Any:
        return (
            given(OPPOSITE.format(_written(op.arg.dtype)), a_=arg)
            if _long(op.arg.dtype)
            else super().visit_Negate(op, arg=arg)
        )

    def visit_Floor(self, op: Any, *, arg: Any) -> Any:
        return (
            given(FLOOR, a_=arg)
            if op.dtype.is_floating()
            else self.cast(self.f.floor(arg), op.dtype)
        )

    def visit_Ceil(self, op: Any, *, arg: Any) -> Any:
        return (
            given(CEIL, a_=arg) if op.dtype.is_floating() else self.cast(self.f.ceil(arg), op.dtype)
        )

    def visit_Round(self, op: Any, *, arg: Any, digits: Any) -> Any:
        wanted = 0 if op.digits is None else op.digits.value
        return given(rounded(wanted) if wanted else ROUNDED, a_=arg)

    def visit_Power(self, op: Any, *, left: Any, right: Any) -> Any:
        return given(POWER.format(number(math.inf)), a_=left, b_=right)

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:
        if op.arg.dtype.is_integer():
            arg = self.cast(arg, dt.Decimal(20, 0))
        return super().visit_Sum(op, arg=arg, where=where)

    def visit_IsNull(self, op: Any, *, arg: Any) -> Any:
        return arg.is_(sge.null())

    def visit_NotNull(self, op: Any, *, arg: Any) -> Any:
        return arg.is_(sge.Not(this=sge.null()))

    # Casts

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:
        if type(op.arg).__name__ == "Sum" and op.arg.arg.dtype.is_integer() and to.is_int64():
            arg = super().visit_Sum(
                op.arg, arg=arg.this.this, where=None
            )  # within 62 bits, as far as was declared
        have = op.arg.dtype
        if (
            have.is_decimal() and to.is_string() and have.precision == have.scale
        ):  # DuckDB writes .25 where there is no room for 0.25
            return put("regexp_replace(CAST(a_ AS STRING), '^(-?)0[.]', '$1.')", SPARK, a_=arg)
        return self.cast(arg, to)

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:
        have, target = op.arg.dtype, self.type_mapper.from_ibis(to).sql(dialect=SPARK)
        if have.is_string():
            return _text(arg, to, target)
        if have.is_decimal() and to.is_integer():
            return put(f"try_cast(round(a_) AS {target})", SPARK, a_=arg)
        if have.is_floating() and to.is_decimal():
            return _decimal(arg, to)
        if have.is_floating() and to.is_integer():  # Spark's own gives the largest integer for 2^63
            inside = (
                f"a_ >= {number(float(to.bounds.lower))} AND a_ < "
                f"{number(float(to.bounds.upper + 1))}"
            )
            return given(f"CASE WHEN {inside} THEN CAST(a_ AS {target}) END", a_=arg)
        if have.is_float64() and to.is_float32():
            large = number(3.4028235677973366e38)
            return given(
                (
                    f"CASE WHEN abs(a_) < {large} OR abs(a_) >= {number(math.inf)} THEN "
                    f"CAST(a_ AS FLOAT) END"
                ),
                a_=arg,
            )
        if have.is_boolean() or have.is_temporal() or have.is_uuid() or to.is_string():
            return self.cast(arg, to)
        return put(f"try_cast(a_ AS {target})", SPARK, a_=arg)

    # Texts

    def visit_Lowercase(self, op: Any, *, arg: Any) -> Any:
        return put(
            f"translate(a_, '{case_tables.small()[0]}', '{case_tables.small()[1]}')", SPARK, a_=arg
        )

    def visit_Uppercase(self, op: Any, *, arg: Any) -> Any:
        return put(
            f"translate(a_, '{case_tables.capital()[0]}', '{case_tables.capital()[1]}')",
            SPARK,
            a_=arg,
        )

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:
        return sge.Trim(this=arg, expression=text(BLANKS), position="BOTH")

    def visit_LStrip(self, op: Any, *, arg: Any) -> Any:
        return sge.Trim(this=arg, expression=text(BLANKS), position="LEADING")

    def visit_RStrip(self, op: Any, *, arg: Any) -> Any:
        return sge.Trim(this=arg, expression=text(BLANKS), position="TRAILING")

    def visit_StringSQLLike(self, op: Any, *, arg: Any, pattern: Any, escape: Any) -> Any:
        known = like_regex.constant(op.pattern)
        if known is not None and known.count("%") > 1:
            return sge.RegexpLike(this=arg, expression=text(like_regex.java(known)))
        doubled = self.f.replace(pattern, sge.Literal.string("\\"), sge.Literal.string("\\\\"))
        plain = isinstance(pattern, sge.Literal)
        return sge.Like(
            this=arg,
            expression=sge.Literal.string(pattern.this.replace("\\", "\\\\")) if plain else doubled,
        )

    def visit_StringSplit(self, op: Any, *, arg: Any, delimiter: Any) -> Any:
        return sge.Tuple(expressions=[arg, delimiter])

    def visit_ArrayIndex(self, op: Any, *, arg: Any, index: Any) -> Any:
        """The parts of a text, of which one is asked for."""
        whole, separator = arg.expressions
        place, size = op.index.value + 1, len(op.arg.delimiter.value)
        return given(
            (
                f"CASE WHEN length(a_) - length(replace(a_, b_, '')) >= {size * (place - 1)} "
                f"THEN split_part(a_, b_, {place}) END"
            ),
            a_=whole,
            b_=separator,
        )

    def visit_ScalarUDF(self, op: Any, **arguments: Any) -> Any:
        return FUNCTIONS[op.__func_name__](*arguments.values())

    # Moments

    def visit_DateDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:
        return self.f.anon.datediff(left, right)

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:
        return put(
            "CAST(unix_micros(CAST(a_ AS TIMESTAMP)) AS DOUBLE) / CAST('1000000' AS DOUBLE)",
            SPARK,
            a_=arg,
        )


def _long(dtype: Any) -> bool:
    """Whether a sign cannot be changed by Spark itself."""
    return bool(dtype.is_decimal() and (dtype.precision or 38) > SIGN_DIGITS)


def _written(dtype: Any) -> str:
    return f"DECIMAL({dtype.precision or 38}, {dtype.scale or 0})" if dtype.is_decimal() else ""


def rounded(digits: int) -> str:
    """To so many digits from 1 on, as DuckDB does: scaled, rounded, scaled back; numbers that
    scaling would make infinite are as they are.
    """
    unit = number(10.0**digits)
    scaled = ROUNDED.replace("a_", f"(a_ * {unit})")
    return f"CASE WHEN abs(a_ * {unit}) < {number(math.inf)} THEN ({scaled}) / {unit} ELSE a_ END"


def _text(value: Any, to: Any, target: str) -> Any:
    read = put("CAST(a_ AS STRING)", SPARK, a_=value)
    bare = sge.Trim(this=read, expression=text(BLANKS), position="BOTH")
    if to.is_string():
        return read
    if to.is_integer():
        broken = f"try_cast(round(try_cast(a_ AS DECIMAL(38, 18))) AS {target})"
        return given(
            f"CASE WHEN {_WHOLE} THEN try_cast(a_ AS {target}) WHEN {_NUMBER} THEN {broken} END",
            a_=bare,
        )
    if to.is_decimal():
        return given(f"CASE WHEN {_NUMBER} THEN try_cast(a_ AS {target}) END", a_=bare)
    if to.is_floating():
        infinite = f"CASE WHEN a_ LIKE '-%' THEN {number(-math.inf)} ELSE {number(math.inf)} END"
        return given(
            (
                f"CASE WHEN {_NUMBER} THEN try_cast(a_ AS {target}) WHEN {_INFINITE} THEN "
                f"{infinite} END"
            ),
            a_=bare,
        )
    if to.is_boolean():
        return given(BOOL_OF_TEXT, a_=read)
    if to.is_uuid():
        return given(UUID, a_=read)
    day = f"regexp_extract(a_, '^{DAY}', 0)" if to.is_date() else "a_"
    return given(
        f"CASE WHEN a_ RLIKE '{MOMENT}' THEN try_cast({day} AS {target}) END",
        a_=bare if to.is_date() else read,
    )


def _decimal(value: Any, to: Any) -> Any:
    """Of a float: by a product and a rounding in doubles, as in DuckDB."""
    short_enough(to, "Spark turns floats into decimals by their texts, and rounds what follows")
    scaled = put(f"a_ * {number(10.0**to.scale)}", SPARK, a_=value)
    unit = (
        f" * CAST('{10.0**-to.scale:.{to.scale}f}' AS DECIMAL({to.scale}, {to.scale}))"
        if to.scale
        else ""
    )
    made = (
        f"CAST(CAST(CAST(a_ AS BIGINT) AS DECIMAL(19, 0)){unit} AS DECIMAL({to.precision}, "
        f"{to.scale}))"
    )
    return given(
        f"CASE WHEN abs(a_) < {number(10.0**to.precision)} THEN {made} END",
        a_=given(ROUNDED, a_=scaled),
    )
