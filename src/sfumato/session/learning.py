"""Learning: find a limit that the owner did not declare from the data, privately, once, as a
separate charge, and store it.

*Lesson*    One noisy histogram per limit, released like any question. Rows: every unit is one row
            in one cell. Bounds: the rows of a unit weigh one together, whatever their number, so
            that no limit has to be known first. Choosing a limit from the histogram is
            post-processing (`choose_limits`).
*Tables*    A lesson is about one table and the unit. Of several tables that are protected together,
            each learns the limits that a question lacks of it.
*Kept*      The ledger stores each lesson under its own name. A later question, from another
            process, with another ε or another declaration, gets the same limit free of charge; a
            share that has not seen it pays what the first asker paid (`share_payments`).
*Enforced*  A learned limit works like a declared one: values are clipped to it and units bounded by
            it. Privacy does not depend on the limit being a good one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from ..exact.numbers import text
from ..guarantees import Guarantee
from ..mechanisms.shared.additive import Additive
from ..release import or_failed, release
from ..tables import aggregates as ag
from ..tables.declare.declaration import Declaration
from ..tables.expr.column_names import unknown_column
from ..tables.expr.expressions import col
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import MissingLimit, unbounded_columns
from ..tables.plan.query_plan import Plan, plan
from ..tables.query.owned_rows import table_source
from ..tables.query.per_unit import Total
from ..tables.query.stages import Query, Rows
from . import session_refusals as refusals
from .choose_limits import (
    NEXT,
    SURE,
    NoisyHistogram,
    count_noise,
    histogram_share,
    noise_bound,
    row_edges,
    row_limit,
    value_bounds,
    value_edges,
)
from .table_state import LearnedLimit, TableState

LEARNING_SHARE = Fraction(1, 6)
"""The extra cost of learning for a release, as a share of the release's promise."""
FIRST_SHARE = Fraction(1, 20)
"""The cost of learning for an accuracy goal, whose price is not known yet, as a share of the
budget.
"""


@dataclass(frozen=True, slots=True)
class Learning:
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
    reference: Guarantee,
    *,
    share: str | None,
    fresh: bool,
    timeout: float | None,
) -> tuple[LearnedLimit, ...]:
    """Learn one limit after the other: charge, release its histogram, choose and store. Each limit
    gets an equal share of the promise. All plans are made before the first charge.
    """
    plans = [
        plan_lesson(state, limit, histogram_share(promise, Fraction(1, len(missing))))
        for limit in missing
    ]
    noise = count_noise(reference)
    lessons = []
    for limit, planned in zip(missing, plans, strict=True):
        declared = state.declared[state.table_of(limit)]
        answer = release(planned, state.ledger, share=share, fresh=fresh, timeout=timeout)
        lesson = or_failed(
            partial(_choose_limit, limit, declared, planned, answer["h"][0].tolist(), noise)
        )
        receipt: Any = answer.receipts[0]
        state.ledger.remember(receipt, storage_name(limit, declared), lesson.to_json())
        lessons.append(lesson)
    return tuple(lessons)


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


def _choose_limit(
    limit: MissingLimit, declared: Declaration, planned: Plan, counts: list[float], noise: float
) -> LearnedLimit:
    law = planned.calibration.noise_of(0)[0]
    assert isinstance(law, Additive)
    step = float(planned.calibration.bounding.step(planned.components[0]))
    sure, near = (law.law.quantile(1 - rate) * step for rate in (SURE / len(counts), NEXT))
    histogram = NoisyHistogram(
        tuple(counts), sure, near, lambda cells: noise_bound(law.law, cells, len(counts)) * step
    )
    if limit.kind == "bounds":
        ends, tails = value_bounds(value_edges(declared.schema[limit.of[0]]), histogram, noise)
        return LearnedLimit(limit, ends, tails)
    rows, rest = row_limit(histogram, noise)
    return LearnedLimit(limit, (Fraction(rows),), rest)
