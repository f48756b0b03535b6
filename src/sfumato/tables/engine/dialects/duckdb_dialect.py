"""DuckDB: Ibis's own language, written faster.

*LIKE*   With `%` and `_` DuckDB's own is quadratic: `likes`.
*Types*  To write a type, sqlglot reads the names of two others each time; in a statement there are
         hundreds. Of types that are neither it is written at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from sqlglot.dialects.duckdb import DuckDB

from . import like_regex
from .fast_compile import Passes

_KIND = sge.DataType.Type
APART = frozenset({_KIND.ARRAY, _KIND.TIME, _KIND.TIMETZ, _KIND.TIMESTAMPTZ, _KIND.USERDEFINED})
"""Types that DuckDB writes in a way of its own."""
_TRANSFORMS: Mapping[Any, Any] = DuckDB.Generator.TRANSFORMS


def _type(writer: Any, dtype: Any) -> str:
    return str(
        _TRANSFORMS[sge.DataType](writer, dtype)
        if dtype.this in APART
        else writer.datatype_sql(dtype)
    )


class Writer(DuckDB.Generator):
    """sqlglot's own."""

    TRANSFORMS = {**_TRANSFORMS, sge.DataType: _type}  # noqa: RUF012  as sqlglot has it


class Compiler(Passes, DuckDBCompiler):  # type: ignore[misc]  # Ibis has no types
    """Ibis's own."""

    __slots__ = ()
    SIMPLE_OPS: ClassVar[dict[Any, str]] = {}  # the parent has them

    def visit_StringSQLLike(self, op: Any, *, arg: Any, pattern: Any, escape: Any) -> Any:
        known = like_regex.constant(op.pattern)
        if known is not None and "%" in known and "_" in known:
            return self.f.regexp_full_match(arg, sge.Literal.string(like_regex.re2(known)))
        return super().visit_StringSQLLike(op, arg=arg, pattern=pattern, escape=escape)

    def compile(self, expression: Any, *, pretty: bool = False) -> str:
        """An expression as a statement."""
        writer = Writer(dialect=DuckDB(), pretty=pretty, unsupported_level=sg.ErrorLevel.RAISE)
        return str(writer.generate(self.tree(expression), copy=False))
