"""The dialect of DuckDB: Ibis's own SQL, written faster.

*LIKE*   DuckDB's LIKE is quadratic for patterns with `%` and `_`: see `like_regex`.
*Types*  sqlglot parses two type names for each type that it writes, and a statement has hundreds.
         Types that need no special form are written directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from sqlglot.dialects.duckdb import DuckDB

from . import like_regex
from .fast_compile import FastCompile
from .templates import Sql

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

_KIND = sge.DataType.Type
APART = frozenset({_KIND.ARRAY, _KIND.TIME, _KIND.TIMETZ, _KIND.TIMESTAMPTZ, _KIND.USERDEFINED})
"""Types that DuckDB writes in a special form."""
_TRANSFORMS = DuckDB.Generator.TRANSFORMS


def _type(writer: DuckDB.Generator, dtype: sge.DataType) -> str:
    return str(
        _TRANSFORMS[sge.DataType](writer, dtype)
        if dtype.this in APART
        else writer.datatype_sql(dtype)
    )


class Writer(DuckDB.Generator):
    """sqlglot's generator, with a faster way to write types."""

    TRANSFORMS = {**_TRANSFORMS, sge.DataType: _type}  # noqa: RUF012  # as in sqlglot


class FastDuckDBCompiler(FastCompile, DuckDBCompiler):  # type: ignore[misc]  # Ibis has no types
    """Ibis's compiler for DuckDB, with LIKE in linear time."""

    __slots__ = ()
    SIMPLE_OPS: ClassVar[dict[type[ops.Node], str]] = {}  # the parent has them

    def visit_StringSQLLike(
        self, op: ops.StringSQLLike, *, arg: Sql, pattern: Sql, escape: str | None
    ) -> Sql:
        constant = like_regex.constant_pattern(op.pattern)
        if constant is not None and "%" in constant and "_" in constant:
            return self.f.regexp_full_match(arg, sge.Literal.string(like_regex.re2(constant)))
        return super().visit_StringSQLLike(op, arg=arg, pattern=pattern, escape=escape)

    def compile(self, expression: ir.Expr, *, pretty: bool = False) -> str:
        """Compile an expression to SQL."""
        writer = Writer(dialect=DuckDB(), pretty=pretty, unsupported_level=sg.ErrorLevel.RAISE)
        return str(writer.generate(self.tree(expression), copy=False))
