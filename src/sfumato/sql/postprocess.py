"""Post-process a released answer: computed columns, HAVING, windows, QUALIFY, ORDER BY, LIMIT and
OFFSET, and SELECTs over what another SELECT released.

Post-processing is free. The answer says where it left out groups.

*Hidden*     An aggregate that only HAVING or ORDER BY names is released and paid for like any
             other; its column is not shown.
*Chosen*     HAVING and ORDER BY … LIMIT choose groups by noisy values: the pieces that they read
             remember from how many groups they chose (`answers.chosen_groups`).
*Withheld*   The share of rows in groups too small to be named is that before HAVING or LIMIT left
             out more.
*Windows*    see the groups that HAVING leaves, before QUALIFY, ORDER BY and LIMIT.
*Outer*      A SELECT over a released sub-query begins with the answer of the inner one. Its
             aggregates are over the groups that are shown there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..answers.answer import Answer
from ..answers.answer_records import Column
from ..answers.chosen_groups import choose_groups, sorting_pieces
from ..answers.proportions import COUNT, TOTAL, is_pooled, withheld_labels
from ..answers.render import footnote_texts as texts
from ..tables.expr.column_names import unused_name
from .answer_expressions import AnswerExpression
from .released.answer_columns import ShownColumn, Vectors, column_of
from .released.finish_tables import finish_tables
from .released.window_frames import SortOrder, sort_places


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    """An expression to sort by, and in which order."""

    by: AnswerExpression
    how: SortOrder


@dataclass(frozen=True, slots=True, eq=False)
class OuterSelect:
    """What a SELECT over a released sub-query does first: the inner post-processing, WHERE, and
    GROUP BY. `aggregates` are windows over the groups with equal `keys`; None if there are none.
    """

    inner: PostProcessing
    where: AnswerExpression | None = None
    where_text: str = ""
    keys: tuple[str, ...] = ()
    aggregates: Mapping[str, AnswerExpression] | None = None

    def __call__(self, answer: Answer) -> Answer:
        """Return the rows that the rest of the SELECT is about."""
        answer = self.inner(answer)
        if self.where is not None:
            passing = passing_groups(answer, self.where)
            deciding = pieces_read(answer, self.where)
            among = dict.fromkeys(deciding, len(answer.rows))
            answer = choose_groups(answer, passing, among)
            label = texts.GROUPS_WITH.format(condition=self.where_text)
            answer = replace(answer, processing=(*answer.processing, label))
        return answer if self.aggregates is None else self._aggregate(answer)

    def _aggregate(self, answer: Answer) -> Answer:
        """Return a row for each combination of keys."""
        assert self.aggregates is not None
        places = [answer.keys.index(key) for key in self.keys]
        first: dict[tuple[object, ...], int] = {}
        for i, row in enumerate(answer.rows):
            first.setdefault(tuple(row[at] for at in places), i)
        at = np.array(list(first.values()), dtype=np.int64)
        columns = tuple(
            column_of(answer, ShownColumn(name, "", of)) for name, of in self.aggregates.items()
        )
        across = with_sources(replace(answer, columns=(*columns,)), columns)
        names = [column.name for column in columns]
        rows = replace(
            across, columns=tuple(column for column in across.columns if column.name in names)
        )
        chosen = choose_groups(rows, at.tolist(), {})
        label = texts.OVER_SHOWN if answer.complete else texts.OVER_NAMED
        return replace(
            chosen,
            keys=self.keys,
            rows=tuple(tuple(answer.rows[i][j] for j in places) for i in at.tolist()),
            complete=answer.complete,
            processing=(*answer.processing, label),
        )


@dataclass(frozen=True, eq=False)
class PostProcessing:
    """All post-processing of an answer."""

    keys: tuple[tuple[str, str], ...]  # name in the query, name that is shown
    columns: tuple[ShownColumn, ...]
    having: AnswerExpression | None = None
    having_text: str = ""
    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    qualify: AnswerExpression | None = None
    qualify_text: str = ""
    outer: OuterSelect | None = field(default=None, kw_only=True)
    # of several groupings: GROUPING columns with the shown names of their keys
    grouping: tuple[tuple[str, tuple[str, ...]], ...] = ()
    grouping_shown: Mapping[str, bool] = field(default_factory=dict)

    @property
    def chooses(self) -> bool:
        """Tell whether noisy values may choose the groups that the answer shows."""
        sorts = any(order.by.aggregates for order in self.order) and (
            self.limit is not None or bool(self.offset)
        )
        return sorts or any(
            condition is not None and bool(condition.aggregates)
            for condition in (self.having, self.qualify)
        )

    @cached_property
    def has_windows(self) -> bool:
        """Tell whether any part looks at several groups."""
        parts = [
            *(column.of for column in self.columns),
            *(order.by for order in self.order),
            *(() if self.qualify is None else (self.qualify,)),
        ]
        return any(part.has_window for part in parts)

    @property
    def query_keys(self) -> tuple[tuple[str, str], ...]:
        """Return the keys of the released query, with the names that are shown."""
        if self.outer is None:
            return self.keys
        inner = {shown: name for name, shown in self.outer.inner.query_keys}
        return tuple((inner[name], shown) for name, shown in self.keys if name in inner)

    def released(self, of: AnswerExpression) -> AnswerExpression | None:
        """Return an expression in terms of the released query; None if it looks at several
        groups.
        """
        if of.op == "window" or (self.outer is not None and self.outer.aggregates is not None):
            return None
        if of.op == "aggregate":
            if self.outer is None:
                return of
            inner = self.outer.inner
            column = next(column for column in inner.columns if column.name == of.value)
            return inner.released(column.of)
        args = [self.released(arg) for arg in of.args]
        parts = tuple(arg for arg in args if arg is not None)
        return replace(of, args=parts) if len(parts) == len(args) else None

    def __call__(self, answer: Answer) -> Answer:
        """Return the answer to the text, from the answer to its query."""
        if self.outer is not None:
            answer = self.outer(answer)
        if self._is_plain(answer):
            return answer
        if answer.tables:
            return finish_tables(self, answer)
        passing = (
            list(range(len(answer.rows)))
            if self.having is None
            else passing_groups(answer, self.having)
        )
        deciding = pieces_read(answer, self.having)
        chosen_by = dict.fromkeys(deciding, len(answer.rows))
        if not self.has_windows:
            return self._order_and_show(answer, answer, passing, chosen_by)
        windowed = choose_groups(answer, passing, chosen_by)
        columns = [column_of(windowed, shown) for shown in self.columns]
        used = {name.lower() for name in (*windowed.names, *windowed.keys)}
        names = {i: unused_name(f"across {i}", used) for i in range(len(columns))}
        across = [
            replace(column, name=names[i]) for i, column in enumerate(columns) if column.sources
        ]
        windowed = with_sources(windowed, across)
        shown = tuple(
            ShownColumn(
                shown.name, shown.text, AnswerExpression("aggregate", "number", value=names[i])
            )
            if columns[i].sources
            else shown
            for i, shown in enumerate(self.columns)
        )
        places = list(range(len(windowed.rows)))
        among: dict[int, int] = {}
        if self.qualify is not None:
            places = passing_groups(windowed, self.qualify)
            among = dict.fromkeys(pieces_read(windowed, self.qualify), len(windowed.rows))
        show = replace(self, columns=shown)
        return show._order_and_show(answer, windowed, places, among)

    def _is_plain(self, answer: Answer) -> bool:
        """Tell whether nothing has to be done."""
        return (
            tuple(answer.names)
            == tuple(column.of.value for column in self.columns)
            == tuple(column.name for column in self.columns)
            and all(a == b for a, b in self.keys)
            and self.having is None
            and self.qualify is None
            and not self.order
            and self.limit is None
            and not self.offset
            and not self.grouping
        )

    def _order_and_show(
        self, before: Answer, answer: Answer, passing: list[int], chosen_by: Mapping[int, int]
    ) -> Answer:
        """Sort the groups that pass, and show the first. `before` is the answer with all groups."""
        places = self._sorted(answer, passing)[
            self.offset : None if self.limit is None else self.offset + self.limit
        ]
        sorting = set().union(*(pieces_read(answer, order.by) for order in self.order))
        among = (
            dict.fromkeys(sorting | sorting_pieces(answer), len(passing))
            if len(places) < len(passing)
            else {}
        )
        chosen = choose_groups(answer, places, {**among, **chosen_by}, sorting)
        return self.select_columns(before, chosen)

    def select_columns(self, answer: Answer, chosen: Answer) -> Answer:
        """Return the columns of the text, of the chosen groups."""
        columns = tuple(column_of(chosen, shown) for shown in self.columns)
        cut = len(chosen.rows) < len(answer.rows)
        grouped = sorted({i for column in columns for i in (*column.pieces, *column.sources)})
        # what total is compared with is not shown: the share is told as it was
        states_share = cut or not any(
            chosen.pieces[i].name == COUNT for column in columns for i in column.pieces
        )
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
            keys=(*(shown for _, shown in self.keys), *(name for name, _ in self.grouping)),
            pieces=tuple(chosen.pieces[i] for i in at),
            columns=tuple(
                replace(
                    column,
                    pieces=tuple(at[i] for i in column.pieces),
                    sources=tuple(at[i] for i in column.sources),
                )
                for column in columns
            ),
            processing=(
                *answer.processing,
                *self._labels(answer, cut=cut, states_share=states_share),
            ),
        )

    def _sorted(self, answer: Answer, places: list[int]) -> list[int]:
        vectors = Vectors(answer)
        for order in reversed(self.order):
            places = sort_places(places, vectors.of(order.by), order.how)
        return places

    def _labels(self, answer: Answer, *, cut: bool, states_share: bool) -> list[str]:
        labels = [
            texts.GROUPS_WITH.format(condition=text)
            for condition, text in (
                (self.having, self.having_text),
                (self.qualify, self.qualify_text),
            )
            if condition is not None
        ]
        if self.has_windows and not answer.complete and not self.outer:
            labels.append(texts.WINDOW_NAMED)
        if cut and (self.limit is not None or self.offset):
            few = f"at most {self.limit} groups" if self.limit is not None else "groups"
            labels.append(
                f"shown are {few}{f' after the first {self.offset}' if self.offset else ''}"
            )
        return [*labels, *(withheld_labels(answer) if states_share else ())]


def passing_groups(answer: Answer, condition: AnswerExpression) -> list[int]:
    """Return the places of the groups for which a condition is true."""
    truth = Vectors(answer).of(condition)
    return [i for i in range(len(answer.rows)) if truth[i] is True]


def pieces_read(answer: Answer, node: AnswerExpression | None) -> set[int]:
    """Return the pieces whose noisy values an expression reads."""
    if node is None:
        return set()
    columns = [answer.column(name) for name in node.aggregates]
    return {i for column in columns for i in (*column.pieces, *column.sources)}


def with_sources(answer: Answer, across: Iterable[Column]) -> Answer:
    """Add columns across groups to an answer. Their sources are copies of its pieces, which stay
    when groups are left out.
    """
    added = list(across)
    used = sorted({i for column in added for i in column.sources})
    grouped = {i for column in answer.columns for i in column.pieces}
    copies = [i for i in used if i in grouped or not any(i in c.sources for c in answer.columns)]
    at = {i: len(answer.pieces) + k for k, i in enumerate(copies)}
    columns = tuple(
        replace(column, sources=tuple(at.get(i, i) for i in column.sources)) for column in added
    )
    names = {column.name for column in columns}
    return replace(
        answer,
        pieces=(*answer.pieces, *(answer.pieces[i] for i in copies)),
        columns=(*(c for c in answer.columns if c.name not in names), *columns),
    )
