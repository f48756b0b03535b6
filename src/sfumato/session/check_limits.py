"""Measure once how many rows lie beyond a declared limit of rows per unit; answers then say it.

*Measured*  One noisy histogram: every unit is one row, in the cell of its number of rows. So it has
            the noise of a single count, whatever the limit is.
*Cells*     Up to four times the limit neighbouring edges differ by a third at most, further out by
            a factor of 2.
*At least*  Rows beyond the limit: the fewest units at or beyond each cell, with the fewest rows.
            Counted rows: the most units, with the most rows. All runs of cells hold at once with
            probability 95 %, so the share of *all* rows is at least the quotient. There is no upper
            end: noise hides a single unit with very many rows.
*About*     The noisy counts up to the last inhabited cell, each unit in the middle of its cell.
*Said*      below the numbers about rows of the whole table, where 0 is excluded. A share's answers
            do not say it: a share has not paid for it.
*Proof*     docs/proofs/learning.md#what-lies-beyond-a-limit
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from ..answers.answer import Answer
from ..guarantees import Guarantee
from ..mechanisms.shared.additive import Additive
from ..noise.law import SummableLaw
from ..release import or_failed, release
from ..tables import aggregates as ag
from ..tables.declare.learned_limits import round_share, round_share_down
from ..tables.plan.explain import says_rows_beyond
from ..tables.plan.query_plan import Plan, plan
from ..tables.query.owned_rows import table_source
from ..tables.query.per_unit import Total
from ..tables.query.stages import Rows
from . import session_refusals as refusals
from .checked_limit import CheckedLimit
from .noisy_cells import HistogramNoise, NoisyHistogram, Outward
from .table_state import TableState

MOST_EDGE = 2**40
_SINGLE, _NEAR = 8, 4
"""Cells hold a single number of rows up to the first; they are fine up to so many limits."""


def check_edges(limit: int) -> tuple[int, ...]:
    """Return the edges of cells of numbers of rows: one of them begins behind the limit."""
    edges = [1]
    while edges[-1] <= limit:
        last = edges[-1]
        edges.append(last + (1 if last < _SINGLE else last // 3))
    edges[-1] = limit + 1
    while edges[-1] < MOST_EDGE:
        last = edges[-1]
        edges.append(2 * last if last > _NEAR * limit else last + max(1, last // 3))
    return (*edges, 2**62)


def plan_check(rows: Rows, promise: Guarantee) -> Plan:
    """Plan the histogram of the numbers of rows. Reads no data."""
    declared = rows.declaration
    if not declared.unit:
        raise refusals.CHECK_WITHOUT_UNIT()
    if declared.max_rows is None or "max_rows" in dict(declared.learned.limits):
        raise refusals.CHECK_OF_LEARNED_LIMIT(table=declared.name)
    name = next(
        word
        for word in ("rows", "n", "m")
        if word not in [column.lower() for column in declared.unit]
    )
    query = rows.per_unit({}, {name: Total("count")}).aggregate(
        h=ag.histogram(name, edges=check_edges(declared.max_rows))
    )
    return plan(query, promise, table_source(query.rows))


def check_limit(
    state: TableState,
    table: str,
    promise: Guarantee,
    *,
    share: str | None,
    fresh: bool,
    timeout: float | None,
) -> CheckedLimit:
    """Release the histogram and compute the shares; the state then knows them."""
    rows = state.rows[table]
    planned = plan_check(rows, promise)
    limit, unit = rows.declaration.max_rows, rows.declaration.unit_name
    assert limit is not None
    answer = release(planned, state.ledger, share=share, fresh=fresh, timeout=timeout)

    def read() -> CheckedLimit:
        law = planned.calibration.noise_of(0)[0]
        assert isinstance(law, Additive)
        assert isinstance(law.law, SummableLaw)
        step = float(planned.calibration.bounding.step(planned.components[0]))
        counts = tuple(map(float, answer["h"][0].tolist()))
        about, least = shares_beyond(
            NoisyHistogram(counts, HistogramNoise(law.law, step, len(counts))), limit
        )
        return CheckedLimit(limit, unit, about, least, None if answer.recalled else answer.cost)

    checked = or_failed(read)
    state.checks = {**state.checks, table: checked}
    return checked


def shares_beyond(histogram: NoisyHistogram, limit: int) -> tuple[Fraction, Fraction]:
    """Estimate which share of all rows lies beyond a limit, and bound it from below (95 %)."""
    edges = check_edges(limit)
    widths = [b - a for a, b in pairwise(edges)]
    first = edges.index(limit + 1)  # the first cell beyond
    cells = Outward(histogram.counts, histogram.noise)
    start = next((i for doubt in cells.noise.doubts if (i := cells.seen_last(doubt)) >= 0), -1)
    last = cells.last(start) if start >= 0 else -1
    beyond = [*cells.cumulative(last, lean=False), 0.0]
    rows = [
        farther * width + (here - farther) * (width + 1) / 2
        for width, (here, farther) in zip(widths, pairwise(beyond), strict=False)
    ]
    counted, lost = sum(rows[:first]), sum(rows[first:])
    end = max(last, first) + 1
    totals = [histogram.total(range(i, end)) for i in range(end + 1)]
    fewest = sum(totals[i + 1][0] * (widths[i] - 1) + totals[i][0] for i in range(first, end))
    # of a unit at or beyond a cell, the limit counts as many rows as the cell spans, up to it
    every = [histogram.total(range(i, len(histogram.counts)))[2] for i in range(first)]
    most = sum(width * count for width, count in zip(widths, every, strict=False))
    least = round_share_down(fewest / (fewest + most)) if fewest else Fraction(0)
    about = round_share(lost / (lost + counted) if lost else 0.0)
    return max(about, least), least


def say_checked(state: TableState, planned: Plan, answer: Answer) -> Answer:
    """Return the answer with what lies beyond the declared limit, if that was measured."""
    rows = planned.query.rows
    checked = state.checks.get(rows.declaration.name)
    if checked is None or not checked.note or checked.limit != rows.declaration.max_rows:
        return answer
    if not says_rows_beyond(planned):
        return answer
    notes = (*(answer.facts.get("left_out") or ()), checked.note)
    return replace(answer, facts={**answer.facts, "left_out": notes, "unmeasured": ()})
