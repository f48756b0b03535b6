"""Statements that were written already: to write one takes longer than most of what is planned, and
it is looked at before it is run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST_TEXTS = 64


class Written:
    """The texts of a few expressions, each known by its identity. Equal is not enough: −0 equals
    0.
    """

    def __init__(self, write: Callable[[Any], str]) -> None:
        self._write = write
        self._texts: dict[int, tuple[Any, str]] = {}

    def text(self, expression: Any) -> str:
        op = expression.op()
        known, text = self._texts.get(id(op), (None, ""))
        if known is op:
            return text
        text = self._write(expression)
        while len(self._texts) >= MOST_TEXTS:
            self._texts.pop(next(iter(self._texts)), None)
        self._texts[id(op)] = (op, text)  # with the expression, so that its number is nobody else's
        return text
