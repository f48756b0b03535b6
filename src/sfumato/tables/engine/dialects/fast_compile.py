"""How a statement's tree is made of an expression: as Ibis makes it, without the passes over it
that would find nothing.

*Passes*  Before Ibis writes an expression it goes through all of it several times, for operations
          that an engine does not have. Statements hardly ever have one: it is asked once whether
          there is any, and if there is none those passes are left out.
*Copies*  A table of a join gets its name on the table itself, not on a copy of all that is below
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
"""What the passes of Ibis's compilers for DuckDB, PostgreSQL and Spark change, beside what they
lower, and lists without values.
"""


class Passes:
    """For compilers of Ibis, before their own class."""

    __slots__ = ()

    def tree(self, expression: Any) -> Any:
        """The tree of a statement."""
        compiler: Any = type(self)
        return (_without(compiler) if self._found_nothing(expression) else compiler()).to_sqlglot(
            expression
        )

    def _found_nothing(self, expression: Any) -> bool:
        looked_for = (*LOOKED_FOR, *self.lowered_ops)  # type: ignore[attr-defined]
        found = expression.as_table().op().find((*looked_for, ops.InValues))
        return all(isinstance(op, ops.InValues) and op.options for op in found)

    def visit_SelfReference(self, op: Any, *, parent: Any, identifier: Any) -> Any:
        """A sub-query that nobody else has is taken out of its name, and given the one of the
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
    """The compiler without passes."""
    changed = {
        "__slots__": (),
        "rewrites": (),
        "post_rewrites": (),
        "LOWERED_OPS": dict.fromkeys(compiler.lowered_ops),
    }
    return type(compiler)(compiler.__name__, (compiler,), changed)()
