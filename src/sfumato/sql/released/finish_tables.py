"""Post-process the tables of several groupings: each by itself, then stack what is shown.

*Tables*    HAVING and computed columns look at one row, so each table is post-processed as an
            answer by itself, with nulls in the keys that it rolls up.
*Order*     ORDER BY sorts the rows of all tables together, and LIMIT takes the first of them.
*Chosen*    Where noisy values chose rows, they chose among the rows of all tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...answers.answer import Answer
from ...answers.chosen_groups import choose_groups
from ...answers.stack_tables import grouping_number, stack_tables
from .answer_columns import Vectors
from .window_frames import sort_places

if TYPE_CHECKING:
    from ..postprocess import PostProcessing


def finish_tables(finish: PostProcessing, answer: Answer) -> Answer:
    """Return the answer to a text with several groupings, from the answer to its query."""
    from ..postprocess import passing_groups, pieces_read

    names = [name for name, _ in finish.keys]
    tables = [_with_all_keys(finish, table, names) for table in answer.tables]
    total = len(answer.rows)
    passing = [
        list(range(len(table.rows)))
        if finish.having is None
        else passing_groups(table, finish.having)
        for table in tables
    ]
    rows = [(i, row) for i, places in enumerate(passing) for row in places]
    order = list(range(len(rows)))
    for by in reversed(finish.order):
        vectors = [Vectors(table).of(by.by) for table in tables]
        order = sort_places(order, [vectors[i][row] for i, row in rows], by.how)
    end = None if finish.limit is None else finish.offset + finish.limit
    shown = order[finish.offset : end]
    remaining = [
        sorted(rows[place][1] for place in shown if rows[place][0] == i) for i in range(len(tables))
    ]
    starts = [sum(map(len, remaining[:i])) for i in range(len(remaining))]
    results = []
    for table, places in zip(tables, remaining, strict=True):
        sorting = set().union(*(pieces_read(table, by.by) for by in finish.order))
        among = dict.fromkeys(sorting, total) if len(shown) < len(rows) else {}
        among |= dict.fromkeys(pieces_read(table, finish.having), total)
        chosen = choose_groups(table, places, among, sorting)
        results.append(finish.select_columns(table, chosen))
    stacked = stack_tables(
        [
            _with_own_keys(table, result, finish, names)
            for table, result in zip(answer.tables, results, strict=True)
        ],
        [name for _, name in finish.keys],
        {},
        dict(finish.grouping),
    )
    stacked = replace(stacked, facts=answer.facts, rules=answer.rules)
    at = [starts[i] + remaining[i].index(row) for i, row in (rows[place] for place in shown)]
    if at != list(range(len(at))):
        stacked = replace(stacked, rows=tuple(stacked.rows[i] for i in at), places=tuple(at))
    hidden = {name for name, is_shown in finish.grouping_shown.items() if not is_shown}
    return _without_keys(stacked, hidden)


def _with_all_keys(finish: PostProcessing, table: Answer, names: Sequence[str]) -> Answer:
    """Return a table with all keys, null where it rolls them up, and its GROUPING columns."""
    at = [table.keys.index(name) if name in table.keys else None for name in names]
    shown = dict(finish.keys)
    grouping = {
        name: grouping_number([shown[key] for key in table.keys], of)
        for name, of in finish.grouping
    }
    return replace(
        table,
        keys=(*names, *grouping),
        rows=tuple(
            (*(None if i is None else row[i] for i in at), *grouping.values()) for row in table.rows
        ),
    )


def _with_own_keys(
    table: Answer, result: Answer, finish: PostProcessing, names: Sequence[str]
) -> Answer:
    """Return a post-processed table with the keys that it groups by, under their shown names."""
    shown = dict(finish.keys)
    at = [names.index(name) for name in table.keys]
    return replace(
        result,
        keys=tuple(shown[name] for name in table.keys),
        rows=tuple(tuple(row[i] for i in at) for row in result.rows),
    )


def _without_keys(answer: Answer, hidden: set[str]) -> Answer:
    at = [i for i, key in enumerate(answer.keys) if key not in hidden]
    return replace(
        answer,
        keys=tuple(answer.keys[i] for i in at),
        rows=tuple(tuple(row[i] for i in at) for row in answer.rows),
    )
