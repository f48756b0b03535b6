"""Write a query of the fluent form as a SELECT: the client sends SQL text only, so the server's SQL
parser is the only way to the data.

*Made*      Conditions are joined by AND, derived columns are written out where they are used, keys
            come first.
*Proved*    Before it sends a text, the client reads it back with the server's parser. Unless the
            result has the same conditions, the same keys with the same groups and the same
            aggregates, the query is refused: the server never gets another question.
*Joined*    Steps up to the last join become a sub-query (`join_sql`); reading it back must give the
            same steps.
*Unsaid*    Public keys that are not the declared ones, a quantile without interval, a union: these
            have no SQL text, or none that is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from fractions import Fraction
from typing import Protocol, runtime_checkable

from ..sql import read
from ..tables.aggregates import KINDS
from ..tables.declare.declaration import Key
from ..tables.expr.expressions import ColumnRef, Expr, FunctionCall, Literal, call
from ..tables.plan.missing_limits import redeclare_query, unbounded_columns, with_placeholders
from ..tables.query.aggregate import Aggregate, percent
from ..tables.query.calendars import UNITS, Calendar
from ..tables.query.stages import Query, Rows
from . import client_refusals as refusals
from .join_sql import count_join_steps, from_item, replay_steps
from .roundtrip import QueryMeaning, meaning_of_query, meaning_of_text
from .sql_forms import decimal_sql, expression_sql, quote_name

LONGEST = 10_000  # characters of a question that a server takes
CONFIDENCE = Fraction(19, 20)  # of a quantile's interval, in SQL


@runtime_checkable
class HasTables(Protocol):
    """A table that may be joined: its rows, and those of the tables beside it by name."""

    rows: Rows
    others: Mapping[str, Rows]


def query_to_sql(query: Query) -> str:
    """Return a SELECT with the same meaning as the query; refuse a query that has none."""
    declared, after = query.rows.declaration, count_join_steps(query.rows)
    if after:
        table = query.rows.curator
        assert isinstance(table, HasTables)
        base_rows = table.rows
        tables = table.others
        source = f"{from_item(query.rows, query.rows.steps[:after])} AS t"
        rows = replay_steps(base_rows, query.rows.steps[:after])
    else:  # bounds that are yet to be learned change no text
        base_rows, tables, source = (
            Rows.of(with_placeholders(declared, unbounded_columns(declared)), query.rows.curator),
            {},
            quote_name(declared.name),
        )
        rows, query = base_rows, redeclare_query(query, {declared.name: base_rows})
    meaning = meaning_of_query(query, after)
    natural = _natural_domains(meaning, rows)
    keys = [
        f"{_key(key, domain, rows, is_natural=set(domain) == set(without_list))} "
        f"AS {quote_name(name)}"
        for (name, key, domain), without_list in zip(meaning.keys, natural, strict=True)
    ]
    columns = [_column(name, aggregate, declared.unit) for name, aggregate in meaning.aggregates]
    text = f"SELECT {', '.join([*keys, *columns])} FROM {source}"
    if meaning.conditions:
        first, *more = meaning.conditions
        text += f" WHERE {expression_sql(call('and', first, *more) if more else first)}"
    if query.sets:
        sets = (f"({', '.join(str(place + 1) for place in places)})" for places in query.sets)
        text += f" GROUP BY GROUPING SETS ({', '.join(sets)})"
    elif keys:
        text += f" GROUP BY {', '.join(str(place) for place in range(1, len(keys) + 1))}"
    if len(text) > LONGEST:
        raise refusals.TEXT_TOO_LONG(length=len(text), most=LONGEST)
    if meaning_of_text(read(text, base_rows, None, tables), after).texts != meaning.texts:
        raise refusals.MEANING_DIFFERS(sql=text)
    return text


def _key(key: Expr, domain: tuple[Key, ...], rows: Rows, *, is_natural: bool) -> str:
    """Write a key of GROUP BY; a CALENDAR if its groups are buckets of time."""
    if is_natural:
        return expression_sql(key)
    calendar = _calendar(key, domain, rows)
    if calendar is None:
        raise refusals.GROUPS_NOT_DECLARED(key=key.text)
    return (
        f"CALENDAR({expression_sql(calendar.of)}, '{calendar.unit}', TIMESTAMP "
        f"'{calendar.first.isoformat(' ')}', TIMESTAMP '{calendar.last.isoformat(' ')}')"
    )


def _natural_domains(meaning: QueryMeaning, rows: Rows) -> tuple[tuple[Key, ...], ...]:
    """The public groups of each key where the query lists none."""
    names = []
    for condition in meaning.conditions:
        rows = rows.where(condition)
    for _, key, _ in meaning.keys:
        name = key.name if isinstance(key, ColumnRef) else _unused_name(rows)
        rows = rows if isinstance(key, ColumnRef) else rows.mutate(**{name: key})
        names.append(name)
    if len(set(names)) < len(names):  # a column twice, under two names
        return tuple(rows.group_by(name).domains[0] for name in names)
    return rows.group_by(*names).domains


def _unused_name(rows: Rows) -> str:
    """A name that no column has."""
    return f"k{len(rows.schema)}" + "".join(rows.schema)[:180]


def _calendar(key: Expr, domain: tuple[Key, ...], rows: Rows) -> Calendar | None:
    """Find the calendar whose buckets are these groups, if there is one."""
    if not (isinstance(key, FunctionCall) and key.function.name == "date_trunc"):
        return None
    buckets = [bucket for bucket in domain if isinstance(bucket, date)]
    if len(buckets) < len(domain):
        return None
    unit, of = key.arguments
    if not isinstance(unit, Literal) or unit.value not in UNITS:
        return None
    ends = [
        end if isinstance(end, datetime) else datetime.combine(end, time())
        for end in (buckets[0], buckets[-1])
    ]
    calendar = Calendar(of, str(unit.value), *(end.replace(tzinfo=None) for end in ends))
    return calendar if calendar.keys(rows.schema) == domain else None


def _column(name: str, aggregate: Aggregate, unit: tuple[str, ...]) -> str:
    """Write an aggregate with its filter and its name."""
    where = aggregate.where
    filtered = "" if where is None else f" FILTER (WHERE {expression_sql(where)})"
    is_percentile = aggregate.kind == "percentile"
    suffix = f"_{percent(aggregate.q or Fraction(0))}" if is_percentile else ""
    if suffix and (not name.endswith(suffix) or name == suffix):
        raise refusals.QUANTILE_NAME(name=name)
    return f"{_aggregate(aggregate, unit)}{filtered} AS {quote_name(name.removesuffix(suffix))}"


def _aggregate(aggregate: Aggregate, unit: tuple[str, ...]) -> str:
    if not aggregate.interval or aggregate.confidence != CONFIDENCE:
        raise refusals.QUANTILE_INTERVAL(aggregate=aggregate.text)
    kind = KINDS[aggregate.kind]
    form = kind.client_beyond.get(aggregate.beyond, kind.client)
    if "{unit}" in form and not unit:
        raise refusals.UNITS_ARE_ROWS()
    of = "*" if aggregate.of is None else expression_sql(aggregate.of)
    if aggregate.low is not None and aggregate.high is not None:
        of = f"CLAMP({of}, {decimal_sql(aggregate.low)}, {decimal_sql(aggregate.high)})"
    return form.format(
        of=of,
        by="" if aggregate.by is None else expression_sql(aggregate.by),
        q="" if aggregate.q is None else decimal_sql(aggregate.q),
        edges=", ".join(map(decimal_sql, aggregate.edges)),
        unit=", ".join(map(quote_name, unit)),
    )
