"""Stack the tables of several groupings into one answer, as SQL shows CUBE and ROLLUP.

*Rows*      Each table is an answer of its own, with its own noise. The stacked answer has the rows
            of all tables, one table after the other; a key that a table does not group by is null
            there. `GROUPING` columns tell this null from one that is a value.
*Whole*     Counts are shown as whole numbers that add up exactly, from table to table: running
            totals are rounded (`tables.marginals.reconcile`). The unbiased estimates stay in the
            pieces, and intervals are theirs.
*Together*  Where all cells of a stacked column hold at once, each table gets a part of the risk in
            proportion to its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..exact.exact_ratios import Integers
from ..tables.marginals.non_negative import nearest_whole
from ..tables.marginals.parts import Keys, closure
from ..tables.marginals.reconcile import round_together
from . import answer_refusals as refusals
from . import intervals
from .answer import Answer
from .answer_records import Key, Processed
from .column_kinds import KINDS
from .intervals import Doubles
from .render import footnote_texts as texts


def stack_tables(
    tables: Sequence[Answer],
    keys: Sequence[str],
    facts: Mapping[str, object],
    grouping: Mapping[str, tuple[str, ...]] | None = None,
) -> Answer:
    """Stack answers by some of these keys into one. `grouping` adds a key for each GROUPING column:
    the binary digits of which of its keys are rolled up.
    """
    shown = grouping or {}
    rows: list[tuple[Key, ...]] = []
    for table in tables:
        places = [table.keys.index(key) if key in table.keys else None for key in keys]
        marks = tuple(grouping_number(table.keys, of) for of in shown.values())
        rows += [
            (*(None if place is None else row[place] for place in places), *marks)
            for row in table.rows
        ]
    first = tables[0]
    return replace(
        first,
        keys=(*keys, *shown),
        rows=tuple(rows),
        pieces=(),
        columns=tuple(replace(column, pieces=(), processed=None) for column in first.columns),
        facts={**first.facts, **facts},
        complete=all(table.complete for table in tables),
        tables=tuple(tables),
    )


def grouping_number(keys: Sequence[str], of: Sequence[str]) -> int:
    """Return GROUPING(of) of a table by these keys: a binary digit for each, 1 if rolled up."""
    return sum((key not in keys) << (len(of) - 1 - i) for i, key in enumerate(of))


def whole_counts(tables: Sequence[Answer], keys: Sequence[str]) -> list[Answer]:
    """Show counts as whole numbers that add up from table to table."""
    by_keys = {tuple(sorted(keys.index(key) for key in table.keys)): table for table in tables}
    names = [
        column.name
        for column in tables[0].columns
        if KINDS[column.kind].counts and column.formula is None
    ]
    shown = {table.keys: dict[str, Processed]() for table in tables}
    for name in names:
        rounded = _round_column(by_keys, name, keys)
        for places, values in rounded.items():
            numbers = tuple(map(Fraction, values.ravel().tolist()))
            shown[by_keys[places].keys][name] = Processed(numbers, None, is_whole=True)
    return [
        replace(
            table,
            columns=tuple(
                replace(column, processed=shown[table.keys].get(column.name))
                for column in table.columns
            ),
            processing=(*table.processing, *((texts.WHOLE_TOGETHER,) if names else ())),
        )
        for table in tables
    ]


def consistent(answer: Answer) -> Answer:
    """Show counts as whole numbers from 0 on that add up from table to table: biased where counts
    are small. The estimates stay in the pieces, and intervals are theirs.
    """
    keys = tuple(dict.fromkeys(key for table in answer.tables for key in table.keys))
    full = next((table for table in answer.tables if set(table.keys) == set(keys)), None)
    if full is None or answer.places is not None or not answer.complete:
        raise refusals.NOT_ALL_KEYS(keys=", ".join(keys) or "nothing")
    by_keys = {tuple(sorted(keys.index(key) for key in t.keys)): t for t in answer.tables}
    names = [c.name for c in answer.columns if KINDS[c.kind].counts and c.kind != "histogram"]
    tables = list(answer.tables)
    for name in names:
        estimates, weights = dict[Keys, Doubles](), dict[Keys, float]()
        for places, table in by_keys.items():
            column = replace(table.column(name), processed=None)
            sizes = [len({row[i] for row in table.rows}) for i in range(len(places))]
            estimates[places] = intervals.values(table, column).reshape(sizes)
            weights[places] = 1 / float(table.pieces[column.pieces[0]].variance)
        cells = nearest_whole(estimates, weights)
        for at, places in enumerate(by_keys):
            rest = tuple(i for i in range(len(keys)) if i not in places)
            values = np.ravel(cells.sum(axis=rest)).tolist()
            shown = Processed(tuple(map(Fraction, values)), Fraction(0), is_whole=True)
            columns = tuple(
                replace(c, processed=shown) if c.name == name else c for c in tables[at].columns
            )
            tables[at] = replace(tables[at], columns=columns)
    labels = (
        *(text for text in answer.processing if text != texts.WHOLE_TOGETHER),
        texts.CONSISTENT,
    )
    shown_tables = tuple(replace(table, processing=labels) for table in tables)
    return replace(answer, tables=shown_tables, processing=labels)


def _round_column(
    tables: Mapping[Keys, Answer], name: str, keys: Sequence[str]
) -> dict[Keys, Integers]:
    """Round a column of counts in all tables, and return it groups × bins."""
    estimates: dict[Keys, Doubles] = {}
    for places, table in tables.items():
        values = intervals.values(table, table.column(name))
        sizes = [len({row[i] for row in table.rows}) for i in range(len(places))]
        estimates[places] = values.reshape(*sizes, -1)
    for part in closure(tables):  # tables that nobody asked for are sums of larger ones
        if part not in estimates:
            source = min((p for p in tables if set(part) <= set(p)), key=len)
            rest = tuple(i for i, key in enumerate(source) if key not in part)
            estimates[part] = np.asarray(estimates[source].sum(axis=rest))
    bins = next(iter(estimates.values())).shape[-1]
    rounded = [
        round_together({part: table[..., b] for part, table in estimates.items()})
        for b in range(bins)
    ]
    return {part: np.stack([np.ravel(each[part]) for each in rounded], axis=1) for part in tables}


def mark_recalled(answer: Answer, when: str) -> Answer:
    """Mark a stored answer, and its tables, with the time of their release."""
    tables = tuple(replace(table, recalled=when) for table in answer.tables)
    return replace(answer, recalled=when, tables=tables)


def stack_values(answer: Answer, of: Callable[[Answer], Doubles]) -> Doubles:
    """Compute a column table by table, in the order of the rows of a stacked answer."""
    values = np.concatenate([of(table) for table in answer.tables])
    return values if answer.places is None else values[np.array(answer.places, dtype=np.int64)]


def stack_intervals(
    answer: Answer,
    name: str,
    level: Fraction,
    *,
    simultaneous: bool,
) -> tuple[Doubles, Doubles]:
    """Compute the intervals of a column table by table."""
    total = sum(len(table.rows) for table in answer.tables)

    def ends(table: Answer) -> Doubles:
        is_shared = simultaneous and len(table.rows) > 0  # a choice may leave a table no row
        risk = (1 - level) * Fraction(len(table.rows), total) if is_shared else 1 - level
        return np.stack(
            intervals.interval(table, table.column(name), 1 - risk, simultaneous=simultaneous),
            axis=1,
        )

    both = stack_values(answer, ends)
    return both[:, 0], both[:, 1]
