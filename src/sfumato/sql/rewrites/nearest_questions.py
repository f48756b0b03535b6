"""Propose questions near a refused one: on the same table, with the same columns where that can be.

*Trees*     A proposal is a copy of the parsed text in which one part is changed, written as SQL.
*Checked*   Nobody says here whether a proposal passes: `read_sql` reads it like any other text, and
            offers the first that is not refused.
*Order*     The rules of a refusal's code come first, those that change least before the others.
            Then the refused part is left out, and last the rows of the question are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from sqlglot.errors import SqlglotError

from ...exact import effort
from ..sql_text import Node
from . import rewrite_aggregates as aggregates
from . import rewrite_columns as columns
from . import rewrite_parts as parts
from . import rewrite_values as values
from . import rewrite_windows as windows
from .rewrite_trees import root_of, write

LONGEST = 300
"""Nodes of a text whose near questions are looked for."""

Rule = Callable[[Node], Iterator[Node]]
"""Yields changed copies of the tree that the refused part belongs to."""

RULES: Mapping[str, tuple[Rule, ...]] = {
    "expression.type": (values.count_seconds, values.compare_by_type, values.read_as_number),
    "expression.constant": (values.search_parts,),
    "sql.function": (
        values.name_today,
        values.search_parts,
        values.format_by_part,
        values.count_days_between,
        values.name_nearest_function,
        values.name_nearest_part,
        aggregates.name_nearest_aggregate,
        aggregates.average_argument,
        values.keep_argument,
    ),
    "sql.unsupported": (values.search_parts,),
    "sql.window": (
        windows.join_first_rows,
        windows.group_by_partition,
        columns.ask_for_quantiles,
        windows.drop_qualify,
    ),
    "sql.raw-rows": (
        columns.average_beside_groups,
        columns.add_key,
        columns.ask_for_quantiles,
        columns.count_by_columns,
        windows.group_by_partition,
    ),
    "sql.distinct": (
        aggregates.count_distinct_by_key,
        columns.count_by_columns,
        columns.ask_for_quantiles,
    ),
    "sql.group": (
        columns.group_plainly,
        columns.average_beside_groups,
        columns.add_key,
        columns.count_by_columns,
    ),
    "plan.groupings": (columns.group_plainly,),
    "sql.unit": (columns.count_units_by_total,),
    "sql.aggregate": (
        windows.join_chosen_rows,
        aggregates.name_nearest_aggregate,
        aggregates.summarize_by_name,
        parts.ask_inner_question,
        columns.ask_for_quantiles,
        aggregates.count_by_argument,
    ),
    "aggregate.type": (
        aggregates.count_days,
        aggregates.count_by_argument,
        aggregates.count_values,
    ),
    "aggregate.units": (aggregates.move_filter,),
    "aggregate.pair": (aggregates.ask_for_variance,),
    "sql.released": (parts.move_having,),
    "sql.subquery": (parts.ask_inner_question,),
    "sql.ownership": (parts.ask_inner_question,),
    "sql.limit": (parts.drop_clause,),
    "sql.order": (parts.drop_clause,),
    "sql.set": (parts.ask_first_side,),
    "sql.sample": (parts.drop_sample,),
    "sql.join": (parts.join_plainly,),
    "join.ownership": (parts.ask_inner_question,),
    "sql.recursive": (parts.ask_inner_question,),
}
"""Code of a refusal → its rules, the nearest first."""

LAST_RULES: tuple[Rule, ...] = (
    parts.drop_condition,
    parts.drop_item,
    parts.count_same_rows,
    parts.count_rows,
)
"""The rules for every refusal."""


def nearest_questions(code: str, part: Node) -> Iterator[str]:
    """Yield questions near one whose `part` was refused with a code, the nearest first. Of a long
    text only the rows of its table are counted.
    """
    size = sum(1 for _ in islice(root_of(part).walk(), LONGEST + 1))
    rules = (*RULES.get(code, ()), *LAST_RULES) if size <= LONGEST else (parts.count_rows,)
    for rule in rules:
        with suppress(SqlglotError):  # a tree that the rule did not foresee
            for tree in rule(part):
                effort.check()
                yield " ".join(write(tree).split())
