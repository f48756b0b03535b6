"""Functions of dates and timestamps: all in UTC, in the years 1 to 9999, with microseconds.

*Null*   results outside those years.
*Week*   begins on Monday, which is day 1 of `day_of_week`; `week` is ISO's, so that the first days
         of January may lie in week 52 or 53.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import islice
from typing import Unpack

from . import engine_values as ev
from . import expr_refusals as refusals
from . import value_ranges
from .constants import narrowest_integer
from .engine_values import Value
from .scalar_function import (
    MOMENT,
    TIME,
    Argument,
    Build,
    Function,
    Gives,
    Slot,
    Traits,
    always,
    constant_slot,
    shorten,
)
from .types import DATE, FLOAT, INT32, MONTHS, STRING, TIMESTAMP, Type
from .value_sets import (
    MICROSECOND,
    MOST_VALUES,
    ValueSet,
    as_datetime,
    begin,
    buckets,
    moments_between,
)

UNITS = {
    "year": "Y",
    "quarter": "Q",
    "month": "M",
    "week": "W",
    "day": "D",
    "hour": "h",
    "minute": "m",
    "second": "s",
}
_FINE = ("hour", "minute", "second")
_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}
_MOST = 400 * 10**9  # seconds, more than all the years

DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

UNIT = constant_slot(
    "one of " + ", ".join(UNITS), lambda value: value in UNITS, "'month'", "string"
)
AMOUNT = constant_slot(
    "a whole number", lambda value: isinstance(value, int) and abs(value) <= _MOST, "1", "integer"
)


def _part_sql(part: str, *names: str) -> tuple[str, ...]:
    return (f"EXTRACT({part} FROM {{0}})", *(f"{name}({{0}})" for name in names))


def _field(
    name: str,
    takes: Slot,
    operation: Callable[[Value], Value],
    low: int,
    high: int,
    rule: str,
    *,
    part: tuple[Callable[[datetime], int], str] | None = None,
    **more: Unpack[Traits],
) -> Function:
    """Build a field of a moment. `part` computes it in Python, and names the unit within which it
    never falls while moments rise; "" for all time.
    """
    span = value_ranges.between(low, high)
    kind = narrowest_integer(span([], []))
    assert kind is not None

    def values(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet:
        first, last = low, high
        ends = sets[0].moments
        stated: frozenset[str] = frozenset()
        compute, within = part or (None, "")
        if compute and ends and (not within or begin(ends[0], within) == begin(ends[1], within)):
            first, last, stated = compute(ends[0]), compute(ends[1]), sets[0].stated
        return ValueSet(low=Fraction(first), high=Fraction(last), null=null, stated=stated)

    more["span"], more["values"] = span, values
    more.setdefault("sql", _part_sql(name, name.upper()))
    return Function(
        name=name,
        group="time",
        takes=(takes,),
        gives=always(kind),
        build=lambda values, arguments, result: ev.cast(operation(values[0]), result),
        rule=rule,
        **more,
    )


def _field_name(
    name: str, operation: Callable[[Value], Value], words: Sequence[str], sql: str, rule: str
) -> Function:
    """Build the name of a field that counts from 1. The words are constants, because an engine's
    own names of days and months follow its language.
    """

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        return name_of(ev.cast(operation(values[0]), INT32), words)

    return Function(
        name=name,
        group="time",
        takes=(MOMENT,),
        gives=always(STRING),
        build=build,
        values=lambda sets, arguments, result, null: ValueSet(frozenset(words), null=null),
        copies=(len(words),),
        sql=(sql,),
        rule=rule,
    )


def name_of(number: Value, words: Sequence[str]) -> Value:
    """Return the word of a number that counts from 1."""
    branches = [
        (number == ev.constant(place, INT32), ev.constant(word, STRING))
        for place, word in enumerate(words, 1)
    ]
    return ev.case(branches, ev.null(STRING))


def _unit_fits(moment: Argument, unit: Argument) -> Type:
    if moment.type.kind == "date" and unit.value in _FINE:
        raise refusals.DATE_HAS_NO_TIME(date=shorten(moment.text, 60), unit=unit.text)
    return moment.type.bare


def _trunc(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    return ev.cast(values[1].truncate(UNITS[str(arguments[0].value)]), ev.without_zone(result))


def _days(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    later, earlier = (
        value if argument.type.kind == "date" else ev.cast(value, DATE)
        for value, argument in zip(values, arguments, strict=True)
    )
    return ev.cast(later.delta(earlier, unit="day"), result)


def _add(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    """Add an amount to the moments that stay within the years. The last such moment is public, so
    the guard is one comparison with a constant.
    """
    import ibis

    moment, amount, unit = values[0], arguments[1].value, str(arguments[2].value)
    assert isinstance(amount, int)
    kind = ev.without_zone(result)
    end = _last(amount, unit, days=kind.kind == "date")
    if end is None:
        return ev.null(kind)
    last = ev.constant(end, kind)
    inside = ev.where(moment <= last if amount >= 0 else moment >= last, moment)
    steps = (
        {"months": amount * MONTHS[unit]}
        if unit in MONTHS
        else {"days": amount * 7}
        if unit == "week"
        else {f"{unit}s": amount}
    )
    return ev.cast(inside + ibis.interval(**steps), kind)


def _last(amount: int, unit: str, *, days: bool) -> date | datetime | None:
    """Return the last moment to which `amount` may be added, or the first for a negative amount."""
    end = datetime.max if amount >= 0 else datetime.min
    if unit in MONTHS:
        year, month = divmod(end.year * 12 + end.month - 1 - amount * MONTHS[unit], 12)
        if not 1 <= year <= 9999:
            return None
        end = end.replace(
            year=year, month=month + 1, day=monthrange(year, month + 1)[1] if amount >= 0 else 1
        )
    else:
        try:
            end -= timedelta(seconds=amount * _SECONDS[unit])
        except OverflowError:
            return None
    return end.date() if days else end


def _epoch(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    import ibis.expr.operations as ops

    moment = ev.cast(values[0], TIMESTAMP) if arguments[0].type.kind == "date" else values[0]
    return ev.cast(ops.ExtractEpochSeconds(moment), result)


def _function(
    name: str,
    takes: tuple[Slot, ...],
    *,
    gives: Gives,
    build: Build,
    rule: str,
    **more: Unpack[Traits],
) -> Function:
    return Function(
        name=name, group="time", takes=takes, gives=gives, build=build, rule=rule, **more
    )


def _bucket_values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet | None:
    """Return the beginnings of all buckets between the ends, or of the listed moments."""
    unit, moments = str(arguments[0].value), sets[1]
    if (ends := moments.moments) is None:
        return None
    if moments.values is not None:
        first_moments = [as_datetime(each) for each in moments.values if isinstance(each, date)]
        starts = list({begin(moment, unit) for moment in first_moments})
    else:
        starts = list(islice(buckets(*ends, unit), MOST_VALUES + 1))
        if len(starts) > MOST_VALUES:
            return None
    values = (start.date() if result.kind == "date" else start for start in starts)
    return ValueSet(frozenset(values), null=null, stated=moments.stated)


def _moments_in_buckets(
    values: ValueSet, arguments: Sequence[Argument]
) -> tuple[int, ValueSet] | None:
    """Return the moments whose buckets begin between two ends."""
    unit, ends = str(arguments[0].value), values.moments
    last = None if ends is None else next(islice(buckets(ends[1], datetime.max, unit), 1, 2), None)
    if ends is None or last is None:
        return 1, ValueSet(null=values.null)
    return 1, moments_between(ends[0], last - MICROSECOND, arguments[1].type, null=values.null)


def _years(values: ValueSet, arguments: Sequence[Argument]) -> tuple[int, ValueSet] | None:
    """Return the moments of some years."""
    span = values.span
    if span is None or not 1 <= span[0] <= span[1] <= 9999:
        return None
    first = datetime(math.ceil(span[0]), 1, 1)
    last = datetime.max.replace(year=math.floor(span[1]))
    return 0, moments_between(first, last, arguments[0].type, null=values.null)


_ALL_DAYS = (date.max - date.min).days

FUNCTIONS = (
    _field(
        "year",
        MOMENT,
        lambda value: value.year(),
        1,
        9999,
        "an int16",
        by_type=True,
        part=(lambda moment: moment.year, ""),
        preimage=_years,
    ),
    _field(
        "quarter",
        MOMENT,
        lambda value: value.quarter(),
        1,
        4,
        "1 to 4, an int8",
        part=(lambda moment: (moment.month + 2) // 3, "year"),
    ),
    _field(
        "month",
        MOMENT,
        lambda value: value.month(),
        1,
        12,
        "1 to 12, an int8",
        part=(lambda moment: moment.month, "year"),
    ),
    _field(
        "week",
        MOMENT,
        lambda value: value.week_of_year(),
        1,
        53,
        "ISO's week of the year, 1 to 53, an int8",
        sql=_part_sql("week", "WEEK", "WEEKOFYEAR"),
    ),
    _field(
        "day",
        MOMENT,
        lambda value: value.day(),
        1,
        31,
        "of the month, an int8",
        sql=_part_sql("day", "DAY", "DAYOFMONTH"),
        part=(lambda moment: moment.day, "month"),
    ),
    _field(
        "day_of_week",
        MOMENT,
        lambda value: value.day_of_week.index() + 1,
        1,
        7,
        "1 is Monday, 7 is Sunday, an int8",
        sql=_part_sql("isodow", "ISODOW"),
        part=(lambda moment: moment.isoweekday(), "week"),
    ),
    _field(
        "day_of_year",
        MOMENT,
        lambda value: value.day_of_year(),
        1,
        366,
        "an int16",
        sql=_part_sql("doy", "DAYOFYEAR"),
        part=(lambda moment: moment.timetuple().tm_yday, "year"),
    ),
    _field(
        "hour",
        TIME,
        lambda value: value.hour(),
        0,
        23,
        "in UTC, an int8",
        part=(lambda moment: moment.hour, "day"),
    ),
    _field(
        "minute",
        TIME,
        lambda value: value.minute(),
        0,
        59,
        "an int8",
        part=(lambda moment: moment.minute, "hour"),
    ),
    _field("second", TIME, lambda value: value.second(), 0, 59, "whole seconds, an int8"),
    _field_name(
        "day_name",
        lambda value: value.day_of_week.index() + 1,
        DAY_NAMES,
        "DAYNAME({0})",
        "the day of the week in English, Monday to Sunday",
    ),
    _field_name(
        "month_name",
        lambda value: value.month(),
        MONTH_NAMES,
        "MONTHNAME({0})",
        "the month in English, January to December",
    ),
    _function(
        "date_trunc",
        (UNIT, MOMENT),
        gives=lambda arguments: _unit_fits(arguments[1], arguments[0]),
        build=_trunc,
        values=_bucket_values,
        preimage=_moments_in_buckets,
        parameters="unit",
        rule="the beginning of its year, quarter, month, week, day, hour, minute or second",
    ),
    _function(
        "date_add",
        (MOMENT, AMOUNT, UNIT),
        gives=lambda arguments: _unit_fits(arguments[0], arguments[2]),
        build=_add,
        sql=("{0} + {1}",),  # of an interval, which stands for the amount and the unit
        parameters="amount, unit",
        makes_null=True,
        copies=(2,),
        rule="so many units later (below zero: earlier); the 31st becomes the last day of a "
        "shorter month",
    ),
    _function(
        "days_between",
        (MOMENT, MOMENT),
        gives=always(INT32),
        build=_days,
        sql=("DATE_DIFF('day', {1}, {0})",),
        parameters="earlier",
        span=value_ranges.between(-_ALL_DAYS, _ALL_DAYS),
        by_type=True,
        rule="days from the second to the first, by their dates, an int32",
    ),
    _function(
        "epoch",
        (MOMENT,),
        gives=always(FLOAT),
        build=_epoch,
        sql=_part_sql("epoch", "EPOCH"),
        span=value_ranges.between(-62_135_596_800, 253_402_300_800),
        by_type=True,
        rule="seconds since 1970 in UTC, a float64",
    ),
)
