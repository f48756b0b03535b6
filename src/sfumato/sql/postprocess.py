"""Post-process a released answer: computed columns, HAVING, ORDER BY, LIMIT and OFFSET.

Post-processing is free. The answer says where it left out groups.

*Hidden*     An aggregate that only HAVING or ORDER BY names is released and paid for like any
             other; its column is not shown.
*Chosen*     HAVING and ORDER BY … LIMIT choose groups by noisy values: the pieces that they read
             remember from how many groups they chose (`answers.chosen_groups`).
*Withheld*   The share of rows in groups too small to be named is that before HAVING or LIMIT left
             out more.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from ..answers.answer import Answer
from ..answers.answer_records import Column
from ..answers.chosen_groups import choose_groups, sorting_pieces
from ..answers.formula import Formula
from ..answers.proportions import COUNT, TOTAL, is_pooled, withheld_labels
from .answer_expressions import AnswerExpression

Vector = list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """A column of the answer: its name, its text in the query, and its expression."""

    name: str
    text: str
    of: AnswerExpression


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    """An expression to sort by, and in which order."""

    by: AnswerExpression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PostProcessing:
    """All post-processing of an answer."""

    keys: tuple[tuple[str, str], ...]  # name in the query, name that is shown
    columns: tuple[ShownColumn, ...]
    having: AnswerExpression | None = None
    having_text: str = ""
    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def chooses(self) -> bool:
        """Tell whether noisy values may choose the groups that the answer shows."""
        sorts = any(order.by.aggregates for order in self.order) and (
            self.limit is not None or bool(self.offset)
        )
        return sorts or (self.having is not None and bool(self.having.aggregates))

    def __call__(self, answer: Answer) -> Answer:
        """Return the answer to the text, from the answer to its query."""
        same = (
            tuple(answer.names)
            == tuple(column.of.value for column in self.columns)
            == tuple(column.name for column in self.columns)
        )
        if (
            same
            and all(a == b for a, b in self.keys)
            and self.having is None
            and not self.order
            and self.limit is None
            and not self.offset
        ):
            return answer
        passing = self._passing_groups(answer)
        places = self._sorted(answer, passing)[
            self.offset : None if self.limit is None else self.offset + self.limit
        ]
        deciding = _pieces(answer, self.having)
        sorting = set().union(*(_pieces(answer, order.by) for order in self.order))
        among = (
            dict.fromkeys(sorting | sorting_pieces(answer), len(passing))
            if len(places) < len(passing)
            else {}
        )
        chosen = choose_groups(
            answer, places, {**among, **dict.fromkeys(deciding, len(answer.rows))}, sorting
        )
        return self._select_columns(answer, chosen)

    def _select_columns(self, answer: Answer, chosen: Answer) -> Answer:
        """Return the columns of the text, of the chosen groups."""
        columns = tuple(self._column(chosen, shown) for shown in self.columns)
        cut = len(chosen.rows) < len(answer.rows)
        grouped = sorted({i for column in columns for i in column.pieces})
        # what total is compared with is not shown: the share is told as it was
        states_share = cut or not any(chosen.pieces[i].name == COUNT for i in grouped)
        pooling = [
            i
            for i, piece in enumerate(chosen.pieces)
            if i not in grouped
            and is_pooled(piece.name)
            and not (states_share and piece.name == TOTAL)
        ]
        at = {place: i for i, place in enumerate([*grouped, *pooling])}
        return replace(
            chosen,
            keys=tuple(shown for _, shown in self.keys),
            pieces=tuple(chosen.pieces[i] for i in at),
            columns=tuple(
                replace(column, pieces=tuple(at[i] for i in column.pieces)) for column in columns
            ),
            processing=(
                *answer.processing,
                *self._labels(answer, cut=cut, states_share=states_share),
            ),
        )

    def _column(self, answer: Answer, shown: ShownColumn) -> Column:
        if shown.of.op == "aggregate":
            return replace(answer.column(shown.of.value), name=shown.name)
        pieces = sorted({i for name in shown.of.aggregates for i in answer.column(name).pieces})
        formula = _formula(shown.of, answer, pieces)
        fixed = {leaf.numbers["confidence"] for leaf in formula.leaves() if leaf.kind == "quantile"}
        numbers = {"confidence": fixed.pop()} if len(fixed) == 1 else {}
        return Column(shown.name, "computed", tuple(pieces), shown.text, numbers, formula=formula)

    def _passing_groups(self, answer: Answer) -> list[int]:
        """Return the places of the groups for which HAVING is true."""
        places = range(len(answer.rows))
        if self.having is None:
            return list(places)
        truth = _Vectors(self, answer).of(self.having)
        return [i for i in places if truth[i] is True]

    def _sorted(self, answer: Answer, places: list[int]) -> list[int]:
        vectors = _Vectors(self, answer)
        for order in reversed(self.order):
            by = vectors.of(order.by)
            valued = [i for i in places if by[i] is not None]
            valued.sort(key=lambda i: by[i], reverse=order.descending)
            nulls = [i for i in places if by[i] is None]
            places = [*nulls, *valued] if order.nulls_first else [*valued, *nulls]
        return places

    def _labels(self, answer: Answer, *, cut: bool, states_share: bool) -> list[str]:
        labels = [f"shown are groups with {self.having_text}"] if self.having is not None else []
        if cut and (self.limit is not None or self.offset):
            few = f"at most {self.limit} groups" if self.limit is not None else "groups"
            labels.append(
                f"shown are {few}{f' after the first {self.offset}' if self.offset else ''}"
            )
        return [*labels, *(withheld_labels(answer) if states_share else ())]


def _pieces(answer: Answer, node: AnswerExpression | None) -> set[int]:
    """Return the pieces whose noisy values an expression reads."""
    return (
        set()
        if node is None
        else {i for name in node.aggregates for i in answer.column(name).pieces}
    )


class _Vectors:
    """Computes expressions on released values, group by group, with None for null."""

    def __init__(self, finishing: PostProcessing, answer: Answer) -> None:
        self.finishing = finishing
        self.answer = answer

    def of(self, node: AnswerExpression) -> Vector:
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
        column = self.finishing._column(self.answer, ShownColumn("", "", node))
        single = replace(
            self.answer, columns=(replace(column, name="x" + "".join(self.answer.keys)),)
        )
        return [
            None if math.isnan(value) else value
            for value in np.ravel(single["x" + "".join(self.answer.keys)]).tolist()
        ]


def _formula(node: AnswerExpression, answer: Answer, pieces: list[int]) -> Formula:
    if node.op == "number":
        return Formula("number", number=node.value)
    if node.op == "aggregate":
        column = answer.column(node.value)
        return Formula(
            "column", column=replace(column, pieces=tuple(pieces.index(i) for i in column.pieces))
        )
    return Formula(node.op, tuple(_formula(arg, answer, pieces) for arg in node.args))


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
