"""Cache compiled SQL texts: compiling dominates planning, and each text is used twice, to check it
and to run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

MOST_TEXTS = 64


class SqlCache:
    """The SQL texts of the latest expressions, keyed by identity. Equality is not enough: −0 equals
    0.
    """

    def __init__(self, write: Callable[[ir.Expr], str]) -> None:
        self._write = write
        self._texts: dict[int, tuple[ops.Node, str]] = {}

    def text(self, expression: ir.Expr) -> str:
        op = expression.op()
        cached, text = self._texts.get(id(op), (None, ""))
        if cached is op:
            return text
        text = self._write(expression)
        while len(self._texts) >= MOST_TEXTS:
            self._texts.pop(next(iter(self._texts)), None)
        self._texts[id(op)] = (op, text)  # holding op keeps its id from being reused
        return text
