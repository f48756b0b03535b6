"""Casts: always TRY_CAST, so that what does not fit is null.

*Numbers*   are rounded to the nearest, halves away from zero.
*Texts*     are read as the engine reads them: blanks around a number are passed over, "true" and
            "t" are true, dates are written 2026-01-31.
*Refused*   what has no meaning (a date as a number), and the text of a float, which is another in
            every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import Refused
from . import engine_values as ev
from . import value_ranges
from .constants import NOTHING, Constant
from .engine_values import Value
from .scalar_function import ANY, Argument, Function, fixed, shorten
from .types import CASTS, DIGITS, FLOAT, NAMES, Span, Type


def _is_type(value: Constant) -> bool:
    return isinstance(value, str) and (value in NAMES or value.startswith("decimal("))


NARROW = 16  # bits of an integer whose limits are as good as bounds

TYPE = fixed("the name of a type", _is_type, "'int64'", "string")


def _gives(arguments: Sequence[Argument]) -> Type:
    value, wanted = arguments[0], Type.of(str(arguments[1].value)).bare
    if wanted.kind in CASTS[value.type.kind]:
        return wanted
    text = shorten(value.text, 60)
    reason = f"{text} is {value.type.words}, which is not turned into {wanted.words}"
    via = {"string": "decimal(18,6)", "bool": "int64", "uuid": "string"}.get(wanted.kind, "string")
    way = f"TRY_CAST(TRY_CAST({text} AS {via}) AS {wanted})"
    known = {
        ("date", "float"),
        ("date", "integer"),
        ("timestamp", "float"),
        ("timestamp", "integer"),
    }
    rewrite = (
        f"epoch({text})"
        if (value.type.kind, wanted.kind) in known
        else way
        if Type.of(via).kind in CASTS[value.type.kind]
        else f"another type than {wanted}"
    )
    raise Refused("expression.type", f"TRY_CAST({text} AS {wanted})", reason, rewrite)


def _build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    value, known = values[0], arguments[0].type
    if known.kind == "null":
        return ev.null(result)
    if ev.unzoned(known.bare) == ev.unzoned(result) and not arguments[0].fixed:
        return value
    if (known.kind == "float" and known.bits == 32) or (
        known.kind == "decimal" and result.kind == "float"
    ):
        value = ev.cast(
            value, FLOAT
        )  # what lies between a float32 and a decimal is computed in doubles
    if known.kind == "float" and result.kind == "integer":
        return ev.try_cast(ev.rounded(value, 0), result)
    if known.kind == "integer" and result.kind == "bool":
        return value != ev.constant(0, known.bare)
    if (
        known.kind == "decimal"
        and result.kind == "string"
        and known.scale == known.precision < DIGITS
    ):
        value = ev.cast(
            value, Type("decimal", precision=known.precision + 1, scale=known.scale)
        )  # DuckDB writes .5 where there is no room for 0.5
    if known.kind == "string" and result.kind in ("date", "timestamp"):
        return ev.present(ev.read_moment(value, result), result, arguments[0].text)
    made = ev.try_cast(value, ev.unzoned(result))
    # DuckDB compares x itself where TRY_CAST(x AS int8) > 3 is written, and so takes 1000, which
    # does not fit, for a number above 3
    return (
        ev.where(made.notnull(), made)
        if known.kind in ("integer", "decimal") and result.kind in ("integer", "decimal")
        else made
    )


def _span(spans: value_ranges.Spans, constants: Sequence[Constant]) -> Span | None:
    wanted = Type.of(str(constants[1]))
    if not wanted.numeric or spans[0] is None or spans[0] == NOTHING:
        # nothing is known of the value: the limits of a wide type would pass for bounds, and a sum
        # within them would be all noise
        return wanted.limits if wanted.kind == "integer" and wanted.bits <= NARROW else None
    digits = {"integer": 0, "decimal": wanted.scale}.get(wanted.kind)
    ends = (
        spans[0] if digits is None else tuple(value_ranges.rounded(end, digits) for end in spans[0])
    )
    if (limits := wanted.limits) is None:
        return ends[0], ends[1]
    low, high = max(ends[0], limits[0]), min(ends[1], limits[1])
    return (low, high) if low <= high else (Fraction(0), Fraction(0))  # nothing fits: all is null


FUNCTIONS = (
    Function(
        name="cast",
        group="cast",
        takes=(ANY, TYPE),
        gives=_gives,
        build=_build,
        span=_span,
        form="TRY_CAST({0} AS {bare})",
        passes_nan=True,
        makes_nan=True,
        makes_null=True,
        copies=(2,),
        heavy=frozenset(["date", "timestamp", "timestamp with time zone"]),
        rule="the value as another type; null where it does not fit or cannot be read",
    ),
)
