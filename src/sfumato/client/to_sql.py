"""A query of the fluent form as a SELECT: what goes over the wire is text alone, and the reader of
texts is the only door to the data.

*Made*      Conditions are joined by AND, made columns are written out where they are used, keys
            come first.
*Proved*    Every text is read back here, by the reader that the server has, before it is sent.
            Unless it becomes the same conditions, the same keys with the same groups and the same
            aggregates, it is refused: nothing is ever asked but what was meant.
*Joined*    Steps up to the last join are a sub-query, made in `joining`, and have to be read back
            step by step as they are.
*Unsaid*    Public keys that are not the declared ones, a quantile without interval, a union: these
            have no text, or none that is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from ..sql import read
from ..tables.declare.declaration import Key
from ..tables.expr.expressions import Call, Column, Expr, Literal, call
from ..tables.plan.missing_limits import filled, redeclared, unbounded
from ..tables.query.aggregates import Aggregate, percent
from ..tables.query.calendars import UNITS, Calendar
from ..tables.query.stages import Query, Rows
from .join_sql import again, joins, relation
from .roundtrip import of_query, of_text
from .sql_forms import name, number, unsaid, written

LONGEST = 10_000  # characters of a question that a server takes
CONFIDENCE = Fraction(19, 20)  # of a quantile's interval, in SQL

AGGREGATES: Mapping[str, str] = {
    "rows": "COUNT(*)",
    "count": "COUNT({of})",
    "count_units": "COUNT(DISTINCT {unit})",
    "count_distinct": "COUNT(DISTINCT {of})",
    "sum": "SUM({of})",
    "mean": "AVG({of})",
    "variance": "VAR_POP({of})",
    "std": "STDDEV_POP({of})",
    "quantile": "QUANTILE({of}, {q})",
    "min": "MIN({of})",
    "max": "MAX({of})",
    "percentile": "QUANTILES({of}, [{q}])",
    "histogram": "HISTOGRAM({of}, [{edges}])",
    "ratio": "RATIO({of}, {by})",
    "weighted_mean": "WEIGHTED_AVG({of}, {by})",
}
"""Kinds of aggregates, as they are written."""


def spelled(query: Query) -> str:
    """The SELECT that asks the same; refused where there is none."""
    declared, after = query.rows.declaration, joins(query.rows)
    if after:
        home: Any = query.rows.curator
        begun, tables, about = (
            home.rows,
            home.others,
            f"{relation(query.rows, query.rows.steps[:after])} AS t",
        )
        rows = again(begun, query.rows.steps[:after])
    else:  # bounds that are yet to be learned change no text
        begun, tables, about = (
            Rows.of(filled(declared, unbounded(declared)), query.rows.curator),
            {},
            name(declared.name),
        )
        rows, query = begun, redeclared(query, {declared.name: begun})
    wanted = of_query(query, after)
    keys = [f"{_key(made, domain, rows)} AS {name(shown)}" for shown, made, domain in wanted.keys]
    columns = [_column(shown, one, declared.unit) for shown, one in wanted.aggregates]
    text = f"SELECT {', '.join([*keys, *columns])} FROM {about}"
    if wanted.conditions:
        text += (
            f" WHERE "
            f"{written(wanted.conditions[0] if len(wanted.conditions) == 1 else call('and', *wanted.conditions))}"
        )
    if keys:
        text += f" GROUP BY {', '.join(str(place) for place in range(1, len(keys) + 1))}"
    if len(text) > LONGEST:
        raise unsaid(
            f"{len(text)} characters",
            f"a question to a server has at most {LONGEST}",
            "fewer columns, or shorter lists",
        )
    if of_text(read(text, begun, None, tables), after).texts != wanted.texts:
        raise unsaid(
            f"{text:.120}",
            "no SQL text was found that means just this",
            "the same question in SQL: sql('SELECT …', epsilon=…)",
        )
    return text


def _key(made: Expr, domain: tuple[Key, ...], rows: Rows) -> str:
    """A key as it is grouped by: a calendar where its groups are buckets of time."""
    if set(domain) == set(_own(made, rows)):
        return written(made)
    found = _calendar(made, domain, rows)
    if found is None:
        reason = "which groups are public is for the owner to declare: SQL has no list of them"
        raise unsaid(
            f"group_by({made.text:.60}=[…])",
            reason,
            "group_by('city') with the declared keys, or sf.calendar(…)",
        )
    return (
        f"CALENDAR({written(found.of)}, '{found.unit}', TIMESTAMP "
        f"'{found.first.isoformat(' ')}', TIMESTAMP '{found.last.isoformat(' ')}')"
    )


def _own(made: Expr, rows: Rows) -> tuple[Key, ...]:
    """The public groups that a key has by itself."""
    grouped = rows if isinstance(made, Column) else rows.mutate(**{_free(rows): made})
    return grouped.group_by(made.name if isinstance(made, Column) else _free(rows)).domains[0]


def _free(rows: Rows) -> str:
    """A name that no column has."""
    return "k" + "".join(rows.schema)[:190]


def _calendar(made: Expr, domain: tuple[Key, ...], rows: Rows) -> Calendar | None:
    """The calendar whose buckets are these groups, if there is one."""
    if not (
        isinstance(made, Call)
        and made.function.name == "date_trunc"
        and all(isinstance(bucket, date) for bucket in domain)
    ):
        return None
    unit, of = made.arguments
    if not isinstance(unit, Literal) or unit.value not in UNITS:
        return None
    ends = [
        end if isinstance(end, datetime) else datetime.combine(end, time())  # type: ignore[arg-type]
        for end in (domain[0], domain[-1])
    ]
    found = Calendar(of, str(unit.value), *(end.replace(tzinfo=None) for end in ends))
    return found if found.keys(rows.schema) == domain else None


def _column(shown: str, one: Aggregate, unit: tuple[str, ...]) -> str:
    """An aggregate with its rows and its name."""
    filtered = "" if one.where is None else f" FILTER (WHERE {written(one.where)})"
    suffix = f"_{percent(one.q or Fraction(0))}" if one.kind == "percentile" else ""
    if suffix and (not shown.endswith(suffix) or shown == suffix):
        raise unsaid(
            f"{shown}=…",
            "one of several quantiles is named after its probability",
            f"aggregate({shown}=sf.quantiles(…))",
        )
    return f"{_aggregate(one, unit)}{filtered} AS {name(shown.removesuffix(suffix))}"


def _aggregate(one: Aggregate, unit: tuple[str, ...]) -> str:
    if one.kind == "quantile" and (not one.interval or one.confidence != CONFIDENCE):
        raise unsaid(
            f"{one.text:.80}",
            "in SQL a quantile has an interval, at 95 %",
            "without interval= and confidence=",
        )
    if one.kind == "count_units" and not unit:
        raise unsaid(
            "count_units()",
            "each row is taken as a different person: people are counted as rows are",
            "sf.count()",
        )
    of = "" if one.of is None else written(one.of)
    if one.low is not None and one.high is not None:
        of = f"CLAMP({of}, {number(one.low)}, {number(one.high)})"
    parts = {
        "of": of,
        "by": "" if one.by is None else written(one.by),
        "q": "" if one.q is None else number(one.q),
    }
    kind = "rows" if one.kind == "count" and one.of is None else one.beyond or one.kind
    return AGGREGATES[kind].format(
        **parts, edges=", ".join(map(number, one.edges)), unit=", ".join(map(name, unit))
    )
