"""Casts: always TRY_CAST, so that a value that does not fit becomes null.

*Numbers*   are rounded to the nearest, halves away from zero.
*Texts*     are read as the engine reads them: blanks around a number are ignored, "true" and "t"
            are true, dates are written 2026-01-31.
*Refused*   casts without a meaning (a date as a number), and the text of a float, which differs
            between engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

from ...errors import Refused
from . import engine_values as ev
from . import expr_refusals as refusals
from . import value_ranges
from .constants import EMPTY_SPAN, Constant
from .engine_values import Value
from .scalar_function import ANY, Argument, Function, constant_slot, shorten
from .types import CASTS, DIGITS, FLOAT, NAMES, Span, Type
from .value_sets import MICROSECOND, ValueSet, as_datetime, image, listing, moments_between


def _is_type(value: Constant) -> bool:
    return isinstance(value, str) and (value in NAMES or value.startswith("decimal("))


TYPE = constant_slot("the name of a type", _is_type, "'int64'", "string")


def _result_type(arguments: Sequence[Argument]) -> Type:
    value, target = arguments[0], Type.of(str(arguments[1].value)).bare
    if target.kind in CASTS[value.type.kind]:
        return target
    raise _cast_refusal(value, target)


def _cast_refusal(value: Argument, target: Type) -> Refused:
    """Build the refusal of a cast without a meaning, with a way around it if there is one."""
    possible = CASTS[value.type.kind]
    via = {"string": "decimal(18,6)", "bool": "int64", "uuid": "string"}.get(target.kind, "string")
    fields = {
        "value": shorten(value.text, 60),
        "target": str(target),
        "words": value.type.words,
        "target_words": target.words,
    }
    if value.type.kind in ("date", "timestamp") and target.kind in ("float", "integer"):
        return refusals.CAST_OF_MOMENT_TO_NUMBER(**fields)
    if Type.of(via).kind in possible:
        return refusals.CAST_NEEDS_A_STEP(**fields, via=via)
    return refusals.CAST_IMPOSSIBLE(
        **fields, possible=", ".join(possible), first_possible=possible[0]
    )


def _build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    value, source = values[0], arguments[0].type
    if source.kind == "null":
        return ev.null(result)
    if ev.without_zone(source.bare) == ev.without_zone(result) and not arguments[0].is_constant:
        return value
    if (source.kind == "float" and source.bits == 32) or (
        source.kind == "decimal" and result.kind == "float"
    ):
        # casts from float32, and from decimals to floats, go through doubles
        value = ev.cast(value, FLOAT)
    if source.kind == "float" and result.kind == "integer":
        return ev.try_cast(ev.round_to(value, 0), result)
    if source.kind == "integer" and result.kind == "bool":
        return value != ev.constant(0, source.bare)
    if (
        source.kind == "decimal"
        and result.kind == "string"
        and source.scale == source.precision < DIGITS
    ):
        # DuckDB writes .5 if the type has no digit before the point
        value = ev.cast(value, Type("decimal", precision=source.precision + 1, scale=source.scale))
    if source.kind == "string" and result.kind in ("date", "timestamp"):
        return ev.normalize(ev.read_moment(value, result), result, arguments[0].text)
    value_cast = ev.try_cast(value, ev.without_zone(result))
    # DuckDB compares x itself where TRY_CAST(x AS int8) > 3 is written, and so takes 1000, which
    # does not fit, for a number above 3
    return (
        ev.where(value_cast.notnull(), value_cast)
        if source.kind in ("integer", "decimal") and result.kind in ("integer", "decimal")
        else value_cast
    )


def _span(spans: value_ranges.Spans, constants: Sequence[Constant]) -> Span | None:
    target = Type.of(str(constants[1]))
    if target.kind == "bool":
        return value_ranges.truth(spans, constants)
    if not target.numeric or spans[0] is None or spans[0] == EMPTY_SPAN:
        return None  # the limits of a type are no bounds: a sum within them would be all noise
    digits = {"integer": 0, "decimal": target.scale}.get(target.kind)
    ends = (
        spans[0]
        if digits is None
        else tuple(value_ranges.round_half_away(end, digits) for end in spans[0])
    )
    if (limits := target.limits) is None:
        return ends[0], ends[1]
    low, high = max(ends[0], limits[0]), min(ends[1], limits[1])
    return (low, high) if low <= high else (Fraction(0), Fraction(0))  # nothing fits: all is null


def _values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet | None:
    """Return the set of a cast that all engines compute alike; None for the others."""
    source, value = arguments[0].type, sets[0]
    steps = (source.kind, result.kind)
    if source.bare == result.bare:
        return value
    if steps in EXACT_CASTS:
        cast = image(lambda constant, target: _converted(constant, result))
        target_set = listing(arguments[1].value)
        return cast([value, target_set], arguments, result, value.null)
    if steps == ("timestamp", "date") and (ends := value.moments):
        return replace(moments_between(*_days(ends), result, null=value.null), stated=value.stated)
    if steps == ("date", "timestamp") and (days := value.listed(source)) is not None:
        moments = frozenset(as_datetime(day) for day in days if isinstance(day, date))
        return ValueSet(moments, null=value.null, stated=value.stated)
    return None


EXACT_CASTS = frozenset(
    {("bool", "integer"), ("integer", "integer"), ("integer", "string"), ("integer", "bool")}
)
"""Casts of which Python and every engine give the same result."""


def _converted(value: Constant, to: Type) -> Constant:
    number = int(value) if isinstance(value, bool | int) else 0
    if to.kind == "integer":
        fits = to.limits is not None and to.limits[0] <= number <= to.limits[1]
        return number if fits else None
    return str(number) if to.kind == "string" else bool(number)


def _days(ends: tuple[datetime, datetime]) -> tuple[datetime, datetime]:
    return as_datetime(ends[0].date()), as_datetime(ends[1].date())


def _moments_of_days(
    values: ValueSet, arguments: Sequence[Argument]
) -> tuple[int, ValueSet] | None:
    """Return the timestamps of some days; days are those of a cast to a date."""
    ends, kind = values.moments, arguments[0].type
    if ends is None or kind.kind != "timestamp" or str(arguments[1].value) != "date":
        return None
    last = ends[1] + timedelta(days=1) - MICROSECOND if ends[1].year < 9999 else datetime.max
    return 0, moments_between(ends[0], last, kind, null=values.null)


FUNCTIONS = (
    Function(
        name="cast",
        group="cast",
        takes=(ANY, TYPE),
        gives=_result_type,
        build=_build,
        span=_span,
        values=_values,
        preimage=_moments_of_days,
        form="TRY_CAST({0} AS {bare})",
        passes_nan=True,
        makes_nan=True,
        makes_null=True,
        copies=(2,),
        heavy=frozenset(["date", "timestamp", "timestamp with time zone"]),
        rule="the value as another type; null where it does not fit or cannot be read",
    ),
)
