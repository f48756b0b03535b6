"""Open a stream: read the query, check that every row stays in its period, and fit the noise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Unpack

from ..errors import trim_frames
from ..exact.balls import sqrt_up
from ..guarantees import Guarantee
from ..keywords import takes
from ..ledger import Ledger
from ..mechanisms import Combined, RunningSums
from ..release import StreamCharge
from ..session.promises import budget_of, promise_of
from ..session.protected_table import Table
from ..session.questions import TableQuestion
from ..sql.postprocess import PostProcessing
from ..tables.declare.declaration import MOST_ROWS
from ..tables.expr.expressions import col
from ..tables.plan.period_sums import PeriodQuery
from ..tables.query.question_options import QuestionSettings
from ..tables.query.stages import Query
from . import streams_refusals as refusals
from .period_calendar import PeriodCalendar
from .running_stream import Stream
from .stream_options import DEFAULTS, EXPLAINED, Moment, StreamOptions, StreamSettings
from .stream_table import MeasuredComponent

KINDS = {
    "count": "COUNT",
    "sum": "SUM",
    "mean": "AVG",
    "count_units": "COUNT(DISTINCT unit)",
}
"""The kinds of columns that a stream knows, and their names in SQL."""


@trim_frames
@takes(StreamOptions, DEFAULTS, EXPLAINED)
def stream(
    table: Table,
    query: str | Query,
    /,
    *,
    time: str,
    start: Moment,
    **options: Unpack[StreamOptions],
) -> Stream:
    """Publish counts, sums, means and numbers of units over a growing table, period by period.

    One promise covers all periods, for ever. `time` is the column that says in which period a row
    lies, `start` a moment in the first period. Nothing is read or charged before `advance`; the
    same call again goes on with the same stream, in this process or in another.

    >>> s = sf.stream(
    ...     visits, "SELECT COUNT(*) AS n FROM visits", time="day", start="2026-01-01",
    ...     epsilon=0.5, any_periods=7,
    ... )
    >>> len(s.advance(until="2026-01-11"))
    10
    """
    settings = StreamSettings(**options)
    if not isinstance(table, Table):
        raise refusals.NOT_A_TABLE(type=type(table).__name__)
    if isinstance(settings.wait, bool) or not isinstance(settings.wait, int) or settings.wait < 0:
        raise refusals.WAIT_OUT_OF_RANGE(wait=settings.wait)
    question = TableQuestion.ask(table.state, table.name, query, settings.parameters)
    # limits that were learned here would be others in the next session: it has to find the stream
    resolved = question.resolve(table.state.original)
    plain, text = resolved.query, query if isinstance(query, str) else query.text
    _check_plain(plain, resolved.finish, text)
    column = col(time)
    kind = column.type(plain.rows.schema)
    if kind.kind not in ("date", "timestamp"):
        raise refusals.NOT_A_TIME(column=time, words=kind.words)
    calendar = PeriodCalendar.starting(start, settings.every, kind)
    unit_rows = _check_protection(table, plain, settings)
    by_period = PeriodQuery.of(
        plain,
        column.date_trunc(settings.every),
        resolved.components,
        unit_rows=unit_rows,
        most_periods=settings.first_periods,
    )
    if not by_period.is_row_wise:
        raise refusals.ROWS_NOT_ROW_WISE(text=text)
    cost_options = QuestionSettings(
        epsilon=settings.epsilon, delta=settings.delta, promise=settings.promise
    )
    promise = promise_of(table.budget, cost_options)
    unit = _protected_unit(table, settings)
    measures = _fit_noise(by_period, promise, settings, table.declaration.relation, unit)
    parts = [measure.noise for measure in measures]
    target = promise.noise_target
    assert target is not None  # `_fit_noise` refused
    point = {"epsilon": target.epsilon, "delta": target.delta} if target.mu_squared is None else {}
    mechanism = Combined(parts, relation=table.declaration.relation, unit=unit, **point)
    identity = _identify(plain, time, calendar, settings, unit_rows, promise)
    key = f"stream-{hashlib.sha256(identity.encode()).hexdigest()[:40]}"
    memo = f"stream by {settings.every} of {time}\n{plain.text}"
    ledger, open_account = _account(table, settings, promise, unit)
    charge = StreamCharge(ledger, mechanism, memo, key, open_account)
    cost = Guarantee._bind(1 * promise, table.declaration.relation, unit)
    return Stream(by_period, calendar, measures, charge, cost, identity, settings)


def _check_plain(query: Query, finish: PostProcessing | None, text: str) -> None:
    """Refuse what is no plain aggregate by public groups."""
    if finish is not None and (
        finish.outer is not None
        or finish.having is not None
        or finish.qualify is not None
        or finish.order
        or finish.limit is not None
        or finish.offset
        or [(shown.of.op, shown.of.value) for shown in finish.columns]
        != [("aggregate", shown.name) for shown in finish.columns]
        or any(name != shown for name, shown in finish.keys)
    ):
        raise refusals.ANSWER_SHAPED(text=text)
    if query.sets:
        raise refusals.ANSWER_SHAPED(text=text)
    for _, aggregate in query.aggregates:
        if aggregate.kind not in KINDS:
            names = ", ".join(KINDS.values())
            raise refusals.AGGREGATE_WITHOUT_SUM(aggregate=aggregate.text, kinds=names)
    for name, domain in zip(query.keys, query.domains, strict=True):
        if not domain:
            raise refusals.PRIVATE_KEYS(column=name)


def _check_protection(table: Table, query: Query, settings: StreamSettings) -> int | None:
    """Check what is protected, and return how many rows of a unit count in a period."""
    first, any_, rows = settings.first_periods, settings.any_periods, settings.unit_rows
    declared = query.rows.declaration
    if settings.budget is not None and any_ is None:
        raise refusals.BUDGET_OF_TABLE(budget=settings.budget, table=table.name)
    if not declared.unit:
        if first is not None or any_ is not None or rows is not None or settings.append_only:
            raise refusals.PROTECTION_OF_ROWS(table=table.name)
        return None
    unit = declared.unit_name
    if first is not None and any_ is not None:
        raise refusals.TWO_PROTECTIONS(first=first, any=any_)
    if first is None and any_ is None:
        raise refusals.PROTECTION_MISSING(table=table.name, unit=unit)
    if first is not None and not settings.append_only:
        raise refusals.ROWS_MAY_GO(first=first, unit=unit)
    counted = [a.text for _, a in query.aggregates if a.kind == "count_units"]
    if counted and first != 1 and settings.window != 1:
        raise refusals.UNITS_COUNTED_AGAIN(aggregate=counted[0], unit=unit)
    most = declared.max_rows if rows is None else rows
    if most is None:
        raise refusals.UNIT_ROWS_MISSING(unit=unit)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_ROWS:
        raise refusals.UNIT_ROWS_OUT_OF_RANGE(rows=rows, most=MOST_ROWS)
    return most


def _protected_unit(table: Table, settings: StreamSettings) -> str:
    """Return the name of what is protected: for some periods only, it is less than the unit."""
    unit = table.ledger.header["unit"]
    if settings.any_periods is None:
        return unit
    if settings.any_periods == 1:
        return f"{unit} in any {settings.every}"
    return f"{unit} in any {settings.any_periods} {settings.every}s"


def _fit_noise(
    by_period: PeriodQuery,
    promise: Guarantee,
    settings: StreamSettings,
    relation: str,
    unit: str,
) -> tuple[MeasuredComponent, ...]:
    """Share the promise evenly among the components, and fit the noise of each."""
    target = promise.noise_target
    if target is None or (target.mu_squared is None and not target.delta):
        raise refusals.PURE_PROMISE(promise=promise)
    if target.mu_squared is None:
        goal = RunningSums(epsilon=target.epsilon, delta=target.delta).mu_squared
    else:
        goal = target.mu_squared
    some = settings.first_periods if settings.any_periods is None else settings.any_periods
    bounding, measures = by_period.bounding, []
    for component in by_period.components:
        moved = sqrt_up(Fraction(bounding.l2_squared(component)))
        noise = RunningSums(
            sensitivity=moved * (2 if relation == "replace" else 1),
            mu_squared=goal / len(by_period.components),
            length=settings.length,
            window=settings.window,
            periods=1 if some is None else some,
            relation=relation,
            unit=unit,
        )
        _ = noise.stretch(0).law  # refuses noise beyond the range of the sampler
        measures.append(MeasuredComponent(noise, bounding.step(component)))
    return tuple(measures)


def _identify(
    query: Query,
    time: str,
    calendar: PeriodCalendar,
    settings: StreamSettings,
    unit_rows: int | None,
    promise: Guarantee,
) -> str:
    """Return the text that tells this stream from every other one. The owner's label of the data's
    state is no part of it: a stream is about a table that changes.
    """
    declared = replace(query.rows.declaration, version="").to_toml()
    shape = [settings.length, settings.window, settings.first_periods, settings.any_periods]
    identity: Sequence[object] = [
        "stream 1",
        query.text,
        declared,
        [time, calendar.every, calendar.begin.isoformat()],
        [*shape, unit_rows],
        promise.to_json(),
    ]
    return json.dumps(identity, ensure_ascii=False)


def _account(
    table: Table, settings: StreamSettings, promise: Guarantee, unit: str
) -> tuple[Ledger, Callable[[], Ledger] | None]:
    """Return the account that pays: the table's, or that of what the stream protects instead, and
    how to open it. A plan opens no account.
    """
    if settings.any_periods is None:
        return table.ledger, None
    budget = promise if settings.budget is None else budget_of(settings.budget)
    dataset = f"{table.ledger.dataset}: {unit}"
    return table.ledger.view_account(dataset), partial(
        table.ledger.open_account, dataset, budget=budget, unit=unit
    )
