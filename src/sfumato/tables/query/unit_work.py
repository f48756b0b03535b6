"""Bound the work that one unit can cause in the engine. Reads public tables alone.

*Why*      Contribution bounds limit how far a unit moves an answer, not how long the engine
           computes for it. A question that is slow for one person's rows, and quick without them,
           reveals by a time-out whether the person is there. So the planner bounds how many rows
           and operations a question can make of one unit's rows.
*Rows*     The planner follows a unit of 64 rows. A join with a public table multiplies them by the
           most public rows that one row can fit. A join of protected tables finds no match for the
           rows of a unit with more than 4,096 joined rows, so that is all a unit can have after it.
*Work*     Each step costs its rows times 8, to pass them on, and the cost of its expressions: 1 for
           an operation on numbers, 64 for one that reads a text. The sum over all steps of a
           question is at most 2^22. A unit with more than 64 rows costs in proportion to its rows.
*Public*   Expressions on the rows of a public table are computed only if some protected row is
           there to meet them. So that work is bounded, too.
*Proof*    docs/proofs/unit-work.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import Refused
from ..expr.promotion import common_type, convert
from ..expr.relational import group, select
from . import query_refusals as refusals
from .owned_rows import engine_rows, table_source, text_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from ..expr.expressions import Expr
    from ..expr.types import Type
    from .stages import Rows

UNIT_ROWS = 64
"""The rows of the unit that the planner follows."""
MOST_UNIT_ROWS = 2**18
"""The most rows that this unit may have become at any step."""
JOINED_ROWS = 4096
"""The rows of a unit with more joined rows of protected tables than this find no match."""
USUAL = 8
"""The rows that a join of protected tables is assumed to make of one row: most people have few."""
COMPARED_ROWS = 2**16
"""The rows of a unit of which more pairs would be compared than this find no match in a semi or
anti join with a condition of its own.
"""
MOST_COUNTS, SECONDS = 1000, 10.0
"""Counts of a public table that are kept, and how long one may take."""
UNIT_WORK = 2**22
PUBLIC_WORK = 2**24
STEP = 8
"""The cost of a step for each row in addition to its expressions: the engine's operators that pass
the row on, and a second pass that weighs rows.
"""


def cost_of(expressions: Iterable[Expr | None]) -> int:
    """Return the cost of computing expressions for one row."""
    return sum(expression.cost for expression in expressions if expression is not None)


def spend(rows: Rows, cost: int, place: str) -> Rows:
    """Add the cost of a step to the work of rows. Refuses a step with which one unit could cause
    too much work.
    """
    work = rows.work + rows.unit_rows * (STEP + cost)
    check_work(work, place)
    return replace(rows, work=work, row_work=rows.row_work + rows.spread * (STEP + cost))


def check_work(work: int, place: str) -> None:
    """Refuse a question with which one unit could cause too much work."""
    if work > UNIT_WORK:
        raise refusals.UNIT_WORK_TOO_LARGE(place=place, work=work, most=UNIT_WORK)


def check_rows(unit_rows: int, place: str) -> None:
    """Refuse joins that could make too many rows of one unit's rows."""
    if unit_rows > MOST_UNIT_ROWS:
        raise refusals.UNIT_ROWS_TOO_MANY(
            place=place, before=UNIT_ROWS, after=unit_rows, most=MOST_UNIT_ROWS
        )


def most_matches(left: Mapping[str, Type], right: Rows, pairs: Sequence[tuple[Expr, Expr]]) -> int:
    """Return the most rows of a public table that one row can match if the pairs have to be equal.
    Reads the public table, once for each such question.

    Compares values as the join does: next to a float many integers are one. A constant value on the
    public side makes no difference.
    """
    assert right.origin is not None
    if not hasattr(
        right.origin.source, "table"
    ):  # of a client: the service counts when it is asked
        return 1
    compared = [
        (
            theirs,
            common_type(
                [ours._resolve(left, {}), theirs._resolve(right.schema, {})],
                f"{ours.text} and {theirs.text}",
            ),
        )
        for ours, theirs in pairs
        if theirs.columns
    ]
    key = text_of(right), tuple((theirs.text, str(shared_type)) for theirs, shared_type in compared)
    counts = right.origin.counts
    if key not in counts:
        table, schema = engine_rows(right)
        keys = {
            f"k{i}": convert(theirs.build(table, schema), theirs._resolve(schema, {}), shared_type)
            for i, (theirs, shared_type) in enumerate(compared)
        }
        if keys:
            rows = select(table, keys, [value.notnull() for value in keys.values()])
            largest = group(rows, list(keys), {"n": rows.count()})
            largest = group(largest, (), {"n": largest.n.max()})
        else:
            largest = group(table, (), {"n": table.count()})
        if len(counts) >= MOST_COUNTS:
            counts.clear()
        counts[key] = _read(right, largest)
    return max(1, counts[key])


def check_public(right: Rows, place: str, cost: int = 0) -> None:
    """Refuse a public table that costs too much to compute: an engine computes it only if protected
    rows are there. `cost` is what a join computes for each of its rows.
    """
    assert right.origin is not None
    if not right.work + cost:
        return  # it is only read
    rows = most_matches({}, replace(right, steps=(), schema=right.declaration.schema), ())
    work = rows * (right.work + cost)
    if work > PUBLIC_WORK:
        raise refusals.PUBLIC_WORK_TOO_LARGE(place=place, rows=rows, work=work, most=PUBLIC_WORK)


def heavy_units(here: ir.Table, there: ir.Table, units: Sequence[str], most: int) -> ir.Table:
    """Return the units with more than `most` pairs of rows, one of each side, that agree in all
    columns. Both sides have the same columns, the unit's among them.
    """
    import ibis

    names = list(here.columns)
    ours, theirs = (
        group(side, names, {"c": ibis.least(side.count(), most + 1)}) for side in (here, there)
    )
    both = ours.join(theirs, names, rname="{name}_right")
    pairs = select(both, {name: both[name] for name in units} | {"p": both["c"] * both["c_right"]})
    summed = group(pairs, units, {"p": pairs.p.sum()})
    return select(summed, {name: summed[name] for name in units}, [summed.p > most])


def _read(right: Rows, expression: ir.Table) -> int:
    try:
        count = table_source(right).engine.run(expression, timeout=SECONDS)["n"][0].as_py()
    except Refused:
        raise
    except Exception:  # what an engine says differs from one to the other
        raise refusals.PUBLIC_TABLE_NOT_READABLE(table=right.declaration.name) from None
    return int(count or 0)
