"""The columns of an answer before it exists: names and types, from the plan alone."""

from __future__ import annotations

from typing import NamedTuple

from ..answers.answer_records import Column
from ..session.pending_plan import PendingPlan
from ..sql.sql_plan import SqlPlan
from ..tables.aggregates import KINDS
from ..tables.expr.types import DATE, FLOAT, INT64, STRING, Type
from ..tables.plan.query_plan import Plan


class ResultColumn(NamedTuple):
    """A column of an answer. Values have intervals, keys have none."""

    name: str
    type: Type
    is_key: bool = False


def result_columns(plan: Plan | PendingPlan) -> tuple[ResultColumn, ...]:
    """Return the keys and then the values of the answer that a plan would give."""
    shape: Plan = plan.base if isinstance(plan, PendingPlan) else plan
    schema = shape.query.rows.schema
    named = (
        dict(shape.finish.query_keys)
        if isinstance(shape, SqlPlan)
        else {key: key for key in shape.query.keys}
    )
    keys = [
        ResultColumn(shown, schema.get(name, STRING), is_key=True) for name, shown in named.items()
    ]
    values = [column for name in shape.kinds for column in _values(shape, name)]
    return (*keys, *values)


def _values(shape: Plan, name: str) -> list[ResultColumn]:
    """Return the columns of one value: a histogram has one for each bin."""
    source: str | None = name
    if isinstance(shape, SqlPlan):
        of = next(of for shown, of in shape._shown if shown.name == name)
        source = of.value if of is not None and of.op == "aggregate" else None
    planned = next((column for column in shape.columns if column.name == source), None)
    if planned is None:
        return [ResultColumn(name, FLOAT)]
    kind = DATE if "days" in planned.numbers else INT64 if KINDS[planned.kind].counts else FLOAT
    if len(planned.edges) < 2:
        return [ResultColumn(name, kind)]
    bins = Column(name, planned.kind, (), edges=planned.edges).bins
    return [ResultColumn(f"{name} {label}", kind) for label in bins]
