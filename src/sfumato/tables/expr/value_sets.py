"""Public sets that hold every value of an expression: the groups that GROUP BY can have.

*Outer*     A set may hold too many values, never too few: a value outside of it cannot occur. So no
            row is lost where groups are the values of a set.
*Stated*    The owner states keys and bounds of columns, and rows may still have other values. A set
            that relies on them names these columns in `stated`.
*Finite*    A set is finite if its values are listed, or if its type has few values between its
            ends: integers, decimals, dates.
*Moments*   have no zone in a set: they are in UTC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from uuid import UUID

from .constants import Constant
from .types import MONTHS, Span, Type

if TYPE_CHECKING:
    from .scalar_function import Argument
    from .value_ranges import Rule

MOST_VALUES = 1000
"""A set with more values than this is not spelled out: it would show mostly empty groups."""

End = Fraction | date
"""The end of an interval of numbers, of dates, or of timestamps."""


@dataclass(frozen=True, slots=True)
class ValueSet:
    """The values that an expression may have: listed, or between two ends, or any."""

    values: frozenset[Constant] | None = None  # without null; None if they are not listed
    low: End | None = None
    high: End | None = None
    null: bool = True
    without: frozenset[Constant] = frozenset()  # values that surely do not occur
    stated: frozenset[str] = frozenset()  # the columns on whose declaration it relies
    is_written: bool = False  # someone wrote the values down, or there are two truth values

    @property
    def span(self) -> Span | None:
        """The least and the largest number, if both are known."""
        if self.values is not None:
            numbers = [number for value in self.values if (number := fraction(value)) is not None]
            fits = numbers and len(numbers) == len(self.values)
            return (min(numbers), max(numbers)) if fits else None
        if isinstance(self.low, Fraction) and isinstance(self.high, Fraction):
            return self.low, self.high
        return None

    @property
    def moments(self) -> tuple[datetime, datetime] | None:
        """The first and the last moment, if both are known."""
        ends: list[Any] = [self.low, self.high] if self.values is None else list(self.values)
        if not ends or not all(isinstance(end, date) for end in ends):
            return None
        moments = [as_datetime(end) for end in ends]
        return min(moments), max(moments)

    def listed(self, kind: Type) -> frozenset[Constant] | None:
        """The values of a finite set, without null."""
        if self.values is not None:
            return self.values - self.without
        if self.low is None or self.high is None:
            return None
        if kind.kind in ("integer", "decimal") and (span := self.span):
            unit = Fraction(10) ** kind.scale
            first, last = math.ceil(span[0] * unit), math.floor(span[1] * unit)
            if last - first >= MOST_VALUES:
                return None
            numbers = (number(Fraction(step) / unit, kind) for step in range(first, last + 1))
            return frozenset(numbers) - self.without
        if kind.kind == "date" and (ends := self.moments):
            days = (ends[1].date() - ends[0].date()).days
            if days >= MOST_VALUES:
                return None
            return frozenset(
                ends[0].date() + timedelta(days=day) for day in range(days + 1)
            ) - frozenset(self.without)
        return None

    def keys(self, kind: Type) -> tuple[Constant, ...]:
        """The values in order, null last; () if the set is not finite."""
        values = self.listed(kind)
        if values is None:
            return ()
        ordered: list[Any] = sorted(cast("Any", values))
        if kind.zone:
            ordered = [value.replace(tzinfo=UTC) for value in ordered]
        return (*ordered, None) if self.null else tuple(ordered)

    def __and__(self, second: ValueSet) -> ValueSet:
        """The values that are in both sets."""
        values = (
            self.values
            if second.values is None
            else second.values
            if self.values is None
            else self.values & second.values
        )
        low = _choose(max, self.low, second.low)
        high = _choose(min, self.high, second.high)
        without = self.without | second.without
        if values is not None:
            values = frozenset(value for value in values - without if _is_between(value, low, high))
        return ValueSet(
            values,
            low,
            high,
            self.null and second.null,
            without,
            self.stated | second.stated,
            self.is_written or second.is_written,
        )

    def __or__(self, second: ValueSet) -> ValueSet:
        """The values that are in one of two sets."""
        null, stated = self.null or second.null, self.stated | second.stated
        if self.values is not None and second.values is not None:
            is_written = self.is_written and second.is_written
            return ValueSet(
                self.values | second.values, null=null, stated=stated, is_written=is_written
            )
        (low, high), (least, most) = self._ends, second._ends
        without = frozenset(
            value
            for first_set, second_set in ((self, second), (second, self))
            for value in first_set.without
            if value in second_set.without
            or (second_set.values is not None and value not in second_set.values)
        )
        return ValueSet(
            None,
            None if low is None or least is None else min(low, least),
            None if high is None or most is None else max(high, most),
            null,
            without,
            stated,
        )

    @property
    def _ends(self) -> tuple[End | None, End | None]:
        if self.values is None:
            return self.low, self.high
        moments: list[date] = [value for value in self.values if isinstance(value, date)]
        if moments and len(moments) == len(self.values):
            return min(moments), max(moments)
        return self.span or (None, None)


MICROSECOND = timedelta(microseconds=1)
ANY = ValueSet()
NOT_NULL = ValueSet(null=False)
TRUTHS = frozenset([False, True])

ValueRule: TypeAlias = (
    "Callable[[Sequence[ValueSet], Sequence[Argument], Type, bool], ValueSet | None]"
)
"""The set of a call, from the sets of its arguments, the arguments, the type of the result and
whether it may be null. None means that the rule knows nothing.
"""


def listing(*values: Constant, null: bool = False) -> ValueSet:
    """Return the set of values that someone wrote down."""
    return ValueSet(frozenset(values), null=null, is_written=True)


def moments_between(first: datetime, last: datetime, kind: Type, *, null: bool) -> ValueSet:
    """Return the set of moments of a type between two ends; none of them has a zone."""
    if kind.kind == "date":
        day = first.date()
        return ValueSet(
            low=day if as_datetime(day) == first else day + timedelta(days=1),
            high=last.date(),
            null=null,
        )
    return ValueSet(low=first, high=last, null=null)


def fraction(value: Constant) -> Fraction | None:
    """Return a finite number exactly; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Fraction(value) if math.isfinite(value) else None


def number(value: Fraction, kind: Type) -> Constant:
    """Return a number as a constant of a type that holds it."""
    if kind.kind == "integer":
        return int(value)
    if kind.kind == "float":
        return float(value) + 0.0
    steps = int(value * 10**kind.scale)
    return Decimal((int(steps < 0), tuple(map(int, str(abs(steps)))), -kind.scale))


def relying_on(sets: Iterable[ValueSet]) -> frozenset[str]:
    """Return the columns on whose declaration one of the sets relies."""
    return frozenset().union(*(each.stated for each in sets))


def image(operation: Callable[..., Constant]) -> ValueRule:
    """Return the rule of a function that maps finite sets value by value. The operation gets Python
    values, and returns a value that every engine computes alike, or None where it is null.
    """

    def rule(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        lists = [each.listed(argument.type) for each, argument in zip(sets, arguments, strict=True)]
        if any(each is None for each in lists):
            return None
        if math.prod(len(each or ()) for each in lists) > MOST_VALUES:
            return None
        try:
            values = {operation(*row) for row in product(*(each or () for each in lists))}
        except (ArithmeticError, ValueError, TypeError):
            return None
        return ValueSet(
            frozenset(values - {None}),
            null=null or None in values,
            stated=relying_on(sets),
            is_written=all(each.is_written for each in sets),
        )

    return rule


def first_of(*rules: ValueRule) -> ValueRule:
    """Return the rule that takes the first answer of several."""

    def rule(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        answers = (each(sets, arguments, result, null) for each in rules)
        return next((answer for answer in answers if answer is not None), None)

    return rule


def arithmetic(operation: Callable[..., Fraction | float], span: Rule) -> ValueRule:
    """Return the rule of a function of numbers that engines round correctly: value by value, or
    from the ends of its arguments.
    """

    def values_of(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        as_result = float if result.kind == "float" else fraction
        compute = image(
            lambda *row: _as_key(operation(*(as_result(value) for value in row)), result)
        )
        return compute(sets, arguments, result, null)

    return first_of(values_of, by_span(span))


def by_span(span: Rule) -> ValueRule:
    """Return the rule of a function whose result lies between the ends that `span` gives. Results
    and arguments that are doubles are rounded to the nearest, so their ends are too.
    """

    def rule(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        spans = [each.span for each in sets]
        if result.kind == "float":
            spans = [_as_doubles(each) for each in spans]
        ends = span(spans, [argument.value for argument in arguments])
        if result.kind == "float":
            ends = _as_doubles(ends)
        if ends is None or ends[0] > ends[1]:
            return None
        is_nan_possible = result.kind == "float" and any(each is None for each in spans)
        return ValueSet(
            low=ends[0], high=ends[1], null=null or is_nan_possible, stated=relying_on(sets)
        )

    return rule


def multiples(
    rounding: Callable[..., Fraction | int | None],
    unit: Callable[[Sequence[Argument]], Fraction | None] = lambda arguments: Fraction(1),
) -> ValueRule:
    """Return the rule of a function that rounds its first argument to multiples of a unit."""

    def rule(
        sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
    ) -> ValueSet | None:
        step = unit(arguments)
        span = sets[0].span
        if span is None or step is None:
            return None
        rounded = [rounding(end, arguments) for end in span]
        low, high = (None if end is None else Fraction(end) for end in rounded)
        if low is None or high is None:
            return None
        if (high - low) / step >= MOST_VALUES:
            return ValueSet(low=low, high=high, null=null, stated=relying_on(sets))
        count = int((high - low) / step)
        return ValueSet(
            frozenset(number(low + place * step, result) for place in range(count + 1)),
            null=null,
            stated=relying_on(sets),
        )

    return rule


def converted(value: Constant, kind: Type) -> Constant:
    """Convert a value without loss to a type that holds it; ValueError if the type does not."""
    if value is None:
        return None
    if isinstance(value, int | float | Decimal) and kind.numeric:
        return _as_key(value, kind)
    if kind.kind == "date" and isinstance(value, str):
        return date.fromisoformat(value)
    if kind.kind == "timestamp" and isinstance(value, date | str):
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
        return as_datetime(moment)
    if kind.kind == "uuid" and isinstance(value, str):
        return UUID(value)
    return value


def _as_key(value: Fraction | float | Decimal, kind: Type) -> Constant:
    """Return a number in its type; a number that the type does not hold is a ValueError."""
    if value is None or value != value:  # NaN is null
        return None
    key = float(value) + 0.0 if kind.kind == "float" else number(Fraction(value), kind)
    if kind.kind != "float" and fraction(key) != Fraction(value):
        raise ValueError
    return key


def _as_doubles(span: Span | None) -> Span | None:
    """Round the ends to the nearest doubles; None if they have none."""
    try:
        return None if span is None else (Fraction(float(span[0])), Fraction(float(span[1])))
    except OverflowError:
        return None


def _choose(choose: Callable[..., Any], first: End | None, second: End | None) -> End | None:
    if first is None or second is None:
        return second if first is None else first
    chosen: End = choose(first, second)
    return chosen


def _is_between(value: Constant, low: End | None, high: End | None) -> bool:
    place: Any = value if isinstance(value, date) else fraction(value)
    if place is None:
        return True
    return (low is None or low <= place) and (high is None or place <= high)


LENGTHS = {
    "week": timedelta(days=7),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
"""The length of a bucket, except of those that are months long."""


def begin(at: datetime, unit: str) -> datetime:
    """Return the beginning of the bucket that holds a moment."""
    if unit in MONTHS:
        month = (at.month - 1) // MONTHS[unit] * MONTHS[unit] + 1
        return datetime(at.year, month, 1)
    if unit == "hour":
        return at.replace(minute=0, second=0, microsecond=0)
    if unit == "minute":
        return at.replace(second=0, microsecond=0)
    if unit == "second":
        return at.replace(microsecond=0)
    day = datetime(at.year, at.month, at.day)
    if unit == "week" and day >= datetime.min + timedelta(days=day.weekday()):
        return day - timedelta(days=day.weekday())
    return day


def buckets(first: datetime, last: datetime, unit: str) -> Iterator[datetime]:
    """Yield the beginnings of the buckets from the first moment to the last one, in order."""
    at = begin(first, unit)
    while at <= last:
        yield at
        try:
            at = _next(at, unit)
        except (OverflowError, ValueError):  # the end of time
            return


def as_datetime(moment: date) -> datetime:
    """Return a moment without its zone; a date is its midnight."""
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime(moment.year, moment.month, moment.day)


def _next(at: datetime, unit: str) -> datetime:
    if unit in LENGTHS:
        return at + LENGTHS[unit]
    year, month = divmod(at.year * 12 + at.month - 1 + MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1)
