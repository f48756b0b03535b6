"""Fast path of Ibis's compilers: skip the rewriting passes that would find nothing.

*Passes*  Before Ibis writes an expression it searches all of it several times for operations that
          an engine lacks. Statements hardly ever have one: one search finds out, and if there is
          none the passes are skipped.
*Copies*  A table of a join gets its alias on the table itself, not on a copy of everything below
          it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ibis.expr.operations as ops
import sqlglot.expressions as sge

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


class FastCompile:
    """A mixin for Ibis's compilers; it comes before their class."""

    __slots__ = ()
    lowered_ops: Any  # of Ibis's compiler

    def tree(self, expression: Any) -> Any:
        """Return the sqlglot tree of a statement."""
        compiler: Any = type(self)
        return (_without(compiler) if self._needs_no_pass(expression) else compiler()).to_sqlglot(
            expression
        )

    def _needs_no_pass(self, expression: Any) -> bool:
        looked_for = (*LOOKED_FOR, *self.lowered_ops)
        matches = expression.as_table().op().find((*looked_for, ops.InValues))
        return all(isinstance(op, ops.InValues) and op.options for op in matches)

    def visit_SelfReference(self, op: Any, *, parent: Any, identifier: Any) -> Any:
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


@cache
def _without(compiler: Any) -> Any:
    """Return the compiler without rewriting passes."""
    changed = {
        "__slots__": (),
        "rewrites": (),
        "post_rewrites": (),
        "LOWERED_OPS": dict.fromkeys(compiler.lowered_ops),
    }
    return type(compiler)(compiler.__name__, (compiler,), changed)()
