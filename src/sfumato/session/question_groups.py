"""The limit of groups per unit for the private keys of a question.

*Learned*    A question that learns other limits anyway also learns in how many groups by its keys a
             unit is, if they are columns of the table. The limit is for these keys alone.
*Otherwise*  Units spread their votes over all of their groups: a limit of one group. However many
             groups a unit is in, no limit makes it count for more, relative to the noise of votes:
             min(1/m, 1/G) is largest for m = 1. If the question counts the people of groups, the
             limit of rows stays the limit of groups.
*Declared*   limits, and those that `learn(groups=…)` put into the declaration, come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..tables.declare.declaration import Declaration
from ..tables.plan.components import components_of
from ..tables.plan.missing_limits import Declared, MissingLimit
from ..tables.query.stages import Query, RowStep
from .table_state import LearnedLimit, TableState


def lacks_groups(query: Query) -> MissingLimit | None:
    """Return the limit of groups that could be learned for a query; None if none is needed."""
    declared = query.rows.declaration
    steps = query.rows.steps
    if not _is_open(query) or not all(
        isinstance(step, RowStep) and step.column not in query.keys for step in steps
    ):
        return None
    if not all(key in declared.schema for key in query.keys):
        return None
    return MissingLimit("max_groups", query.keys, declared.name if declared.database_unit else "")


def fit_groups(
    state: TableState,
    declared: Declared,
    lessons: Sequence[LearnedLimit],
    queries: Sequence[Query],
) -> Declared:
    """Return the declarations with the limit of groups for these queries: the learned one, if all
    private keys are the same; else one group, if nobody counts the people of groups.
    """
    private = [query for query in queries if _is_open(query)]
    if not private:
        return declared
    lacks = {lacks_groups(query) for query in private}
    limit = next(iter(lacks)) if len(lacks) == 1 else None
    lesson = next((each for each in lessons if limit is not None and each.limit == limit), None)
    if lesson is not None:
        table = state.table_of(lesson.limit)
        return {**declared, table: lesson.into(declared[table])}
    if any(
        component.form == "unit"
        for query in private
        for component in components_of(query).components
    ):
        return declared
    return {name: _with_one_group(declaration) for name, declaration in declared.items()}


def _is_open(query: Query) -> bool:
    """Whether the groups of a unit have no limit of their own: private keys, of units that may have
    several rows, and no limit that the owner declared.
    """
    declared = query.rows.declaration
    return (
        not query.public
        and bool(declared.unit)
        and not query.rows.once
        and declared.max_groups is None
    )


def _with_one_group(declaration: Declaration) -> Declaration:
    """Return a declaration whose limit of rows was learned with a limit of one group."""
    learned_rows = "max_rows" in dict(declaration.learned.limits)
    if declaration.max_groups is not None or not learned_rows:
        return declaration
    return replace(declaration, max_groups=1)
