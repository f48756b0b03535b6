"""Fast path of Ibis's compilers: skip the rewriting passes that would find nothing.

*Passes*  Before Ibis writes an expression it searches all of it several times for operations that
          an engine lacks. Statements hardly ever have one: one search finds out, and if there is
          none the passes are skipped.
*Copies*  A table of a join gets its alias on the table itself, not on a copy of everything below
          it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import new_class
from typing import TYPE_CHECKING, Protocol

import ibis.expr.operations as ops
import sqlglot.expressions as sge

from .templates import Sql

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    from ibis.backends.sql.datatypes import SqlglotType
    from ibis.common.temporal import DateUnit

LOOKED_FOR: tuple[type, ...] = (
    ops.ArrayFilter,
    ops.ArrayMap,
    ops.ArrayPosition,
    ops.FindInSet,
    ops.Limit,
    ops.NthValue,
    ops.Sort,
    ops.StringFind,
    ops.WindowFunction,
)
"""The operations that the passes of Ibis's compilers for DuckDB, PostgreSQL and Spark change,
besides those that they lower and empty lists.
"""


class SqlFunctions(Protocol):
    """Ibis's writer of function calls: an attribute for each function of the engine."""

    anon: SqlFunctions

    def __getattr__(self, name: str) -> Callable[..., Sql]: ...


class FastCompile:
    """A mixin for Ibis's compilers; it comes before their class."""

    __slots__ = ()

    if TYPE_CHECKING:  # what the dialects use of Ibis's compiler, which has no types
        lowered_ops: Mapping[type[ops.Node], object]
        dialect: str
        type_mapper: type[SqlglotType]
        f: SqlFunctions
        agg: SqlFunctions

        def to_sqlglot(self, expr: ir.Expr) -> Sql: ...
        def binop(self, sg_cls: type[sge.Binary], left: Sql, right: Sql) -> Sql: ...
        def cast(self, arg: Sql, to: dt.DataType) -> Sql: ...
        def visit_node(self, op: ops.Node, **arguments: Sql) -> Sql: ...
        def visit_Negate(self, op: ops.Negate, *, arg: Sql) -> Sql: ...
        def visit_NonNullLiteral(
            self, op: ops.Literal, *, value: object, dtype: dt.DataType
        ) -> Sql: ...
        def visit_Sum(self, op: ops.Sum, *, arg: Sql, where: Sql | None) -> Sql: ...
        def visit_StringSQLLike(
            self, op: ops.StringSQLLike, *, arg: Sql, pattern: Sql, escape: str | None
        ) -> Sql: ...
        def visit_TimestampTruncate(
            self, op: ops.TimestampTruncate, *, arg: Sql, unit: DateUnit
        ) -> Sql: ...

    def tree(self, expression: ir.Expr) -> Sql:
        """Return the sqlglot tree of a statement."""
        compiler = _without(type(self)) if self._needs_no_pass(expression) else type(self)()
        return compiler.to_sqlglot(expression)

    def _needs_no_pass(self, expression: ir.Expr) -> bool:
        looked_for = (*LOOKED_FOR, *self.lowered_ops)
        matches = expression.as_table().op().find((*looked_for, ops.InValues))
        return all(isinstance(op, ops.InValues) and op.options for op in matches)

    def visit_SelfReference(
        self, op: ops.SelfReference, *, parent: Sql, identifier: str | int
    ) -> Sql:
        """Strip the alias of a sub-query that has no other user, so that it gets that of the
        reference.
        """
        alone = (
            isinstance(parent, sge.Subquery)
            and parent.parent is None
            and parent.this.parent is parent
        )
        return (
            parent.this
            if alone
            and not any(
                value for name, value in parent.args.items() if name not in ("this", "alias")
            )
            else parent
        )

    visit_JoinReference = visit_SelfReference


def _without(compiler: type[FastCompile]) -> FastCompile:
    """Return the compiler of a class without rewriting passes."""
    if compiler in _WITHOUT_PASSES:
        return _WITHOUT_PASSES[compiler]
    changed = {
        "__slots__": (),
        "rewrites": (),
        "post_rewrites": (),
        "LOWERED_OPS": dict.fromkeys(compiler.lowered_ops),
    }
    subclass = new_class(
        compiler.__name__, (compiler,), exec_body=lambda body: body.update(changed)
    )
    return _WITHOUT_PASSES.setdefault(compiler, subclass())


_WITHOUT_PASSES: dict[type[FastCompile], FastCompile] = {}
