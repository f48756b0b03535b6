"""Learning: find a limit that the owner did not declare from the data, privately, once, as a
separate charge, and store it.

*Lesson*    One noisy histogram per limit, released like any question. Rows: every unit is one row
            in one cell. Bounds: the rows of a unit weigh one together, whatever their number, so
            that no limit has to be known first. Choosing a limit from the histogram is
            post-processing (`choose_limits`).
*Tables*    A lesson is about one table and the unit. Of several tables that are protected together,
            each learns the limits that a question lacks of it.
*Kept*      The ledger stores each lesson under its own name. A later question, from another
            process, with another ε or another declaration, gets it free of charge; a share that has
            not seen it pays what the first asker paid (`share_payments`).
*Fitted*    The lesson holds its noisy histogram. So a question of another kind chooses the limit
            that is best for itself, free of charge (`choose_again`). A limit that `learn` found for
            small groups stays as it is, and so does one of an older record.
*Enforced*  A learned limit works like a declared one: values are clipped to it and units bounded by
            it. Privacy does not depend on the limit being a good one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from ..exact.numbers import text
from ..guarantees import Guarantee
from ..mechanisms.shared.additive import Additive
from ..noise.law import SummableLaw
from ..release import or_failed, release
from ..tables import aggregates as ag
from ..tables.aggregates.component import Component
from ..tables.declare.declaration import Declaration
from ..tables.expr.column_names import unknown_column
from ..tables.expr.expressions import col
from ..tables.expr.types import Type
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import MissingLimit, unbounded_columns
from ..tables.plan.query_plan import Plan, plan
from ..tables.plan.split_promise import count_blocks
from ..tables.query.group_keys import count_groups
from ..tables.query.owned_rows import table_source
from ..tables.query.per_unit import Total
from ..tables.query.stages import Query, Rows
from ..templates.summary import Summarized, Summary
from . import session_refusals as refusals
from .choose_limits import (
    DILUTIONS,
    PRIVATE_GROUPS,
    SUM_GROUPS,
    Aim,
    group_limit,
    histogram_share,
    row_edges,
    row_limit,
    value_bounds,
    value_edges,
)
from .noisy_cells import NEXT, SURE, HistogramNoise, NoisyHistogram, StoredHistogram
from .table_state import LearnedLimit, TableState

LEARNING_SHARE = Fraction(1, 6)
"""The extra cost of learning for a release, as a share of the release's promise."""
FIRST_SHARE = Fraction(1, 20)
"""The cost of learning for an accuracy goal, whose price is not known yet, as a share of the
budget.
"""

LEARN_FOR = ("question", "groups")
"""What learned limits may be best for."""


@dataclass(frozen=True, slots=True, repr=False)
class Learning(Summarized):
    """The result of `learn`: the declaration as of now, the learned limits, and their cost."""

    declaration: Declaration
    limits: tuple[LearnedLimit, ...]
    cost: Guarantee | None

    def __str__(self) -> str:
        learned, unit = self.declaration.learned, self.declaration.unit_name
        lines = []
        for lesson in self.limits:
            limit = lesson.limit
            if limit.kind == "bounds":
                low, high = lesson.value
                lines.append(
                    f"{limit.of[0]} clipped to [{text(low)}, "
                    f"{text(high)}]{learned.bounds_note(limit.of[0])}"
                )
            else:
                what = "rows" if limit.kind == "max_rows" else f"groups by {' and '.join(limit.of)}"
                lines.append(
                    f"a {unit} counts for at most {int(lesson.value[0])} "
                    f"{what}{learned.limit_note(limit.kind)}"
                )
        lines.append("cost nothing" if self.cost is None else f"cost {cost_text(self.cost)}")
        return "\n".join(lines)

    def _summary(self) -> Summary:
        return Summary(
            title=f"learned limits of {self.declaration.name}", notes=str(self).split("\n")
        )


def check_learn_for(learn_for: object) -> str:
    """Refuse what limits cannot be learned for."""
    if not isinstance(learn_for, str) or learn_for not in LEARN_FOR:
        raise refusals.LEARN_FOR_UNKNOWN(value=learn_for)
    return learn_for


def aim_of(
    learn_for: str,
    promise: Guarantee,
    questions: Sequence[tuple[Query, Sequence[Component]]] = (),
) -> Aim:
    """Return what learned limits have to be best for: questions that have one promise together, or
    small groups of the table. Without a question: totals of the whole table.
    """
    if check_learn_for(learn_for) == "groups":
        return Aim.for_groups(promise)
    if not questions:
        return Aim.for_question(promise)
    parts = sum(count_blocks(components) + (not query.public) for query, components in questions)
    rows = min(
        _count_groups(query) * _dilution(query, aggregate.kind)
        for query, _ in questions
        for _, aggregate in query.aggregates
    )
    # private groups that are shown are large
    sums = min(_count_groups(query) if query.public else SUM_GROUPS for query, _ in questions)
    # private groups need people, and counts of them: a limit for them is none for means alone
    mean = all(
        query.public and ag.KINDS[aggregate.kind].error_of != "noise"
        for query, _ in questions
        for _, aggregate in query.aggregates
    )
    people = any(
        component.form == "unit" for _, components in questions for component in components
    )
    return Aim.for_question(
        promise, parts=parts, row_groups=rows, sum_groups=sums, mean=mean, people=people
    )


def _dilution(query: Query, kind: str) -> int:
    """Return how many of the rows that a limit leaves out count as one, in a kind of column. If the
    limit of rows also limits the private groups of a unit, a high one hides groups.
    """
    if not query.public and query.rows.declaration.max_groups is None:
        return DILUTIONS["private"]
    if kind == "sum":
        return DILUTIONS["sum"]
    return DILUTIONS["count" if ag.KINDS[kind].error_of == "noise" else "mean"]


def _count_groups(query: Query) -> int:
    """Return the number of groups of a query, assumed if they are not public."""
    if not query.keys:
        return 1
    return count_groups(query) if query.public else PRIVATE_GROUPS


def release_promise_of(learning: Guarantee) -> Guarantee:
    """Return the promise of a release whose learning share would be `learning`."""
    return histogram_share(learning, Fraction(1) / LEARNING_SHARE)


def recall_lesson(
    state: TableState, limit: MissingLimit, share: str | None = None
) -> LearnedLimit | None:
    """Read a limit learned before, or None; charge it to `share`, if one is named."""
    stored = state.ledger.recall(
        storage_name(limit, state.original[state.table_of(limit)]), share=share
    )
    return None if stored is None else LearnedLimit.from_json(limit, stored.answer)


def plan_lesson(state: TableState, limit: MissingLimit, promise: Guarantee) -> Plan:
    """Plan the histogram to learn a limit from. Reads no data."""
    query = _query(state, limit)
    return plan(query, promise, table_source(query.rows))


def run_lessons(
    state: TableState,
    missing: Sequence[MissingLimit],
    promise: Guarantee,
    aim: Aim,
    *,
    share: str | None,
    fresh: bool,
    timeout: float | None,
    is_fixed: bool = False,
) -> tuple[LearnedLimit, ...]:
    """Learn one limit after the other: charge, release its histogram, choose and store. Each limit
    gets an equal share of the promise. All plans are made before the first charge. Bounds follow
    the limit of rows of their table. A fixed limit stays the same for all later questions.
    """
    plans = [
        plan_lesson(state, limit, histogram_share(promise, Fraction(1, len(missing))))
        for limit in missing
    ]
    lessons = []
    fills = choose_again(state, aim)[1]
    for limit, planned in zip(missing, plans, strict=True):
        declared = state.declared[state.table_of(limit)]
        answer = release(planned, state.ledger, share=share, fresh=fresh, timeout=timeout)
        counts = answer["h"][0].tolist()
        lesson, filled = or_failed(
            partial(choose_first, limit, declared, planned, counts, aim, fills)
        )
        if limit.kind == "max_rows":
            fills[limit.table] = filled
        if is_fixed:
            lesson = replace(lesson, histogram=None)
        receipt: Any = answer.receipts[0]
        state.ledger.remember(receipt, storage_name(limit, declared), lesson.to_json())
        lessons.append(lesson)
    return tuple(lessons)


def choose_again(state: TableState, aim: Aim) -> tuple[list[LearnedLimit], dict[str, float]]:
    """Choose every learned limit anew from its stored histogram, as is best for another question:
    post-processing. Returns the limits, and how far units fill the limit of rows of each table.
    """
    fills: dict[str, float] = {}
    lessons = []
    for lesson in sorted(
        state.lessons.values(), key=lambda lesson: lesson.limit.kind != "max_rows"
    ):
        limit = lesson.limit
        declared = state.declared[state.table_of(limit)]
        if lesson.histogram is None:
            lessons.append(lesson)
            continue
        chosen, filled = _choose_limit(limit, declared, lesson.histogram, aim, fills)
        if limit.kind == "max_rows":
            fills[limit.table] = filled
        lessons.append(chosen)
    return lessons, fills


def missing_for(
    declaration: Declaration,
    columns: str | Iterable[str] | None,
    groups: str | Iterable[str] | None,
    *,
    again: bool,
    links: Iterable[str] = (),
) -> tuple[MissingLimit, ...]:
    """List the limits that `learn` has to find: all missing ones, or those of some columns. A known
    limit is not learned again; a column that links tables is learned only if it is named.
    """
    free = [
        *unbounded_columns(declaration),
        *(column for column, _ in declaration.learned.bounds if again),
    ]
    rows = bool(declaration.unit) and (
        declaration.max_rows is None or (again and "max_rows" in dict(declaration.learned.limits))
    )
    named = (
        [column for column in free if column not in links]
        if columns is None
        else [columns]
        if isinstance(columns, str)
        else list(columns)
    )
    for column in named:
        if column not in declaration.schema:
            raise unknown_column(column, list(declaration.schema), {}, "columns")
        if column not in free:
            if not free:
                raise refusals.NO_BOUNDS_TO_LEARN(column=column)
            entry = (
                refusals.BOUNDS_ARE_KNOWN
                if column in declaration.ranges
                else refusals.BOUNDS_OF_UNIT
                if column in declaration.unit
                else refusals.BOUNDS_WITHOUT_NUMBERS
            )
            raise entry(column=column, columns=free[:3])
    table = declaration.name if declaration.database_unit else ""
    missing = [
        *([MissingLimit("max_rows", (), table)] if rows else []),
        *(MissingLimit("bounds", (column,), table) for column in dict.fromkeys(named)),
    ]
    if groups is not None:
        keys = (groups,) if isinstance(groups, str) else tuple(groups)
        if (
            not declaration.unit
            or not keys
            or any(key not in declaration.schema or key in declaration.unit for key in keys)
        ):
            raise refusals.GROUPS_NOT_COLUMNS(keys=keys)
        missing.append(MissingLimit("max_groups", keys, table))
    return tuple(missing)


def storage_name(limit: MissingLimit, declaration: Declaration) -> str:
    """Name the stored lesson. The name does not contain the whole declaration, so that declaring
    other columns later changes nothing.
    """
    types = {column: str(declaration.schema[column].bare) for column in limit.of}
    table = {"table": limit.table} if limit.table else {}
    return json.dumps(
        {"learned": 1, "what": limit.kind, "of": types, "unit": declaration.unit, **table},
        ensure_ascii=False,
    )


def _query(state: TableState, limit: MissingLimit) -> Query:
    table = state.table_of(limit)
    declared = state.declared[table]
    rows: Rows = state.rows_of(
        {**state.declared, table: replace(declared, max_rows=1, max_groups=1)}
    )[table]
    if limit.kind == "bounds":
        return rows.aggregate(
            h=ag.histogram(col(*limit.of), edges=value_edges(declared.schema[limit.of[0]]))
        )
    name = next(
        word
        for word in ("rows", "n", "m")
        if word not in [column.lower() for column in declared.unit]
    )
    if limit.kind == "max_groups":
        rows = rows.per_unit({column: col(column) for column in limit.of}, {})
    return rows.per_unit({}, {name: Total("count")}).aggregate(
        h=ag.histogram(name, edges=row_edges())
    )


def choose_first(
    limit: MissingLimit,
    declared: Declaration,
    planned: Plan,
    counts: list[float],
    aim: Aim,
    fills: Mapping[str, float],
) -> tuple[LearnedLimit, float]:
    """Choose a limit from the histogram that was released for it."""
    law = planned.calibration.noise_of(0)[0]
    assert isinstance(law, Additive)
    assert isinstance(law.law, SummableLaw)
    step = float(planned.calibration.bounding.step(planned.components[0]))
    histogram = StoredHistogram(tuple(counts), law.law, step)
    return _choose_limit(limit, declared, histogram, aim, fills)


def _choose_limit(
    limit: MissingLimit,
    declared: Declaration,
    stored: StoredHistogram,
    aim: Aim,
    fills: Mapping[str, float],
) -> tuple[LearnedLimit, float]:
    """Choose a limit from its histogram. Bounds depend on how far units fill the limit of rows, and
    a limit of rows returns it.
    """
    bounds = limit.kind == "bounds"
    column = declared.schema[limit.of[0]] if bounds else None
    fill = fills.get(limit.table, 1.0) if bounds else 1.0
    return _choose_from(stored, limit, column, aim, fill, SURE, NEXT)


@lru_cache(maxsize=256)  # every question chooses again
def _choose_from(
    stored: StoredHistogram,
    limit: MissingLimit,
    column: Type | None,
    aim: Aim,
    fill: float,
    sure: Fraction,
    near: Fraction,
) -> tuple[LearnedLimit, float]:
    noise = HistogramNoise(stored.law, stored.step, len(stored.counts), sure=sure, near=near)
    histogram = NoisyHistogram(stored.counts, noise)
    if column is not None:
        ends, tails = value_bounds(value_edges(column), histogram, aim, fill)
        return LearnedLimit(limit, ends, tails, stored), fill
    choose = row_limit if limit.kind == "max_rows" else group_limit
    chosen = choose(histogram, aim)
    return LearnedLimit(limit, (Fraction(chosen.rows),), chosen.rest, stored), chosen.fill
