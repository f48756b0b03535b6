"""Evaluate expressions on the released values of an answer: as columns, and group by group.

*Column*   An expression on one group alone is a computed column. One with a window is a column
           across groups, which keeps the released pieces of all groups as its sources.
*Space*    Once groups were left out, columns across groups are about the groups before, and plain
           columns about those that remain. Intervals never add up cells of both (`space`).
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from ...answers.answer import Answer
from ...answers.answer_records import Column
from ...answers.formula import Formula
from ...answers.group_frames import RANKS, Frames
from ..answer_expressions import AnswerExpression
from .window_frames import WindowCall, frames_of

Vector = list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """A column of the answer: its name, its text in the query, and its expression."""

    name: str
    text: str
    of: AnswerExpression


def column_of(answer: Answer, shown: ShownColumn) -> Column:
    """Return a column of an answer, computed by an expression on the others."""
    if shown.of.op == "aggregate":
        return replace(answer.column(shown.of.value), name=shown.name)
    builder = _FormulaBuilder(answer)
    formula = builder.formula(shown.of)
    leaves = list(formula.leaves())
    if not any(True for _ in leaves):
        # COUNT(*) of groups alone: the first column tells how many groups there are
        builder.pieces.append((answer.columns[0].pieces or answer.columns[0].sources)[0])
    if builder.is_across:
        return Column(
            shown.name,
            "computed",
            (),
            shown.text,
            builder.numbers,
            formula=formula,
            sources=tuple(builder.pieces),
        )
    fixed = {leaf.numbers["confidence"] for leaf in leaves if leaf.kind == "quantile"}
    numbers = {"confidence": fixed.pop()} if len(fixed) == 1 else {}
    order = sorted(builder.pieces)
    at = {builder.pieces.index(i): order.index(i) for i in order}
    return Column(
        shown.name,
        "computed",
        tuple(order),
        shown.text,
        numbers,
        formula=_renumber(formula, lambda i: at[i]),
    )


@dataclass(slots=True, eq=False)
class _FormulaBuilder:
    """Builds the formula of an expression, and collects the pieces of its operands."""

    answer: Answer
    pieces: list[int] = field(default_factory=list)
    numbers: dict[str, Fraction] = field(default_factory=dict)
    is_across: bool = False

    def formula(self, node: AnswerExpression) -> Formula:
        if node.op == "number":
            return Formula("number", number=node.value)
        if node.op == "aggregate":
            return self._operand(self.answer.column(node.value))
        if node.op == "window":
            self.is_across = True
            return self._window(node, node.value)
        return Formula(node.op, tuple(map(self.formula, node.args)))

    def _operand(self, column: Column) -> Formula:
        """Return a column of the answer as an operand: its own formula, if it is a computed one."""
        held = column.sources or column.pieces
        if column.sources:
            self.is_across = True
            before = self.numbers.get("among", Fraction(0))
            if "among" in column.numbers:
                self.numbers["among"] = max(before, column.numbers["among"])
        space = {} if column.sources or not (at := self._space()) else {"space": at}
        formula = column.formula
        if formula is None:
            # whole numbers are for show: what is computed starts from the released values
            single = replace(column, pieces=tuple(range(len(column.pieces))), processed=None)
            formula = Formula("column", column=single)
        return _renumber(formula, lambda i: self._number(held[i]), space)

    def _number(self, piece: int) -> int:
        if piece not in self.pieces:
            self.pieces.append(piece)
        return self.pieces.index(piece)

    def _space(self) -> Fraction:
        """Return the number of the plain columns' space: a new one if groups were left out after
        columns across groups were computed.
        """
        across = [column for column in self.answer.columns if column.sources]
        if not any("moved" in column.numbers for column in across):
            return Fraction(0)
        return 1 + max(
            leaf.numbers.get("space", Fraction(0))
            for column in across
            if column.formula is not None
            for leaf in column.formula.leaves()
        )

    def _window(self, node: AnswerExpression, call: WindowCall) -> Formula:
        values = node.args[: call.operands]
        rest = node.args[call.operands :]
        partition, order = rest[: call.partition], rest[call.partition :]
        frames = window_frames(self.answer, call, partition, order)
        if call.op not in RANKS:
            return Formula(call.op, tuple(map(self.formula, values)), call.empty, frames=frames)
        by = order[0]
        parts = Fraction(call.parts) if call.parts else None
        if not by.aggregates or by.sort != "number":
            return Formula(call.op, (), parts, frames=frames)
        key = self.formula(by)
        if not call.order[0].descending:
            key = Formula("negate", (key,))
        return Formula(call.op, (key,), parts, frames=frames)


def window_frames(
    answer: Answer,
    call: WindowCall,
    partition: tuple[AnswerExpression, ...],
    order: tuple[AnswerExpression, ...],
) -> Frames:
    """Return the ranges of a window over the groups of an answer."""
    vectors = Vectors(answer)
    is_chosen = any(by.aggregates for by in (*partition, *order)) or (
        call.op == "count_over" and not answer.complete
    )
    return frames_of(
        call,
        len(answer.rows),
        [vectors.of(by) for by in partition],
        [vectors.of(by) for by in order],
        chosen=is_chosen,
    )


def _renumber(
    formula: Formula, number: Callable[[int], int], space: dict[str, Fraction] | None = None
) -> Formula:
    """Return a formula whose operands have other piece numbers, and a space."""
    if (column := formula.column) is not None:
        pieces = tuple(number(i) for i in column.pieces)
        numbers = {**column.numbers, **space} if space else column.numbers
        return replace(formula, column=replace(column, pieces=pieces, numbers=numbers))
    return replace(formula, args=tuple(_renumber(arg, number, space) for arg in formula.args))


class Vectors:
    """Computes expressions on released values, group by group, with None for null."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def of(self, node: AnswerExpression) -> Vector:
        """Return the values of an expression."""
        size = len(self.answer.rows)
        if node.sort == "number":
            return self._numbers(node)
        if node.op == "key":
            at = self.answer.keys.index(node.value)
            return [_comparable(row[at]) for row in self.answer.rows]
        if node.op in ("truth", "constant"):
            return [node.value] * size
        if node.op in _COMPARE:
            first, second = (
                self._side(side, opposite) for side, opposite in (node.args, node.args[::-1])
            )
            return [
                None if a is None or b is None else _COMPARE[node.op](a, b)
                for a, b in zip(first, second, strict=True)
            ]
        return [
            _LOGIC[node.op](*row) for row in zip(*(self.of(arg) for arg in node.args), strict=True)
        ]

    def _side(self, side: AnswerExpression, opposite: AnswerExpression) -> Vector:
        """Compute one side of a comparison."""
        values = self.of(side)
        kinds = (
            {type(value) for value in self.of(opposite) if value is not None}
            if opposite.op == "key"
            else set()
        )
        return [
            datetime.datetime.combine(v, datetime.time())
            if datetime.datetime in kinds and type(v) is datetime.date
            else v
            for v in map(_comparable, values)
        ]

    def _numbers(self, node: AnswerExpression) -> Vector:
        if node.op == "number":
            return [node.value] * len(self.answer.rows)
        name = "x" + "".join(self.answer.keys)
        column = column_of(self.answer, ShownColumn(name, "", node))
        single = replace(self.answer, columns=(column,))
        return [None if math.isnan(value) else value for value in np.ravel(single[name]).tolist()]


def _comparable(value: object) -> object:
    """Convert a value to a type that Python compares: decimals to fractions, times to UTC."""
    if isinstance(value, Decimal):
        return Fraction(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return str(value) if isinstance(value, UUID) else value


def _and(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if a is None or b is None else True


def _or(a: bool | None, b: bool | None) -> bool | None:
    return True if a is True or b is True else None if a is None or b is None else False


_COMPARE: dict[str, Callable[..., bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LOGIC: dict[str, Callable[..., bool | None]] = {
    "and": _and,
    "or": _or,
    "not": lambda a: None if a is None else not a,
    "is_null": lambda a: a is None,
}
