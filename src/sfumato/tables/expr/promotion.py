"""Find the common type of several values, and convert each value to it without loss.

*Integers*   the narrowest width that holds every value that the arguments' types allow; what may
             leave 64 bits is a float64.
*Decimals*   as many digits as every such value needs; what may need more than 38 is a float64.
*Floats*     with a float, everything is a float64.
*Moments*    a date beside a timestamp is its midnight; a timestamp without a zone is in UTC.
*Texts*      a constant text beside a date, a timestamp or a uuid is parsed as one while the query
             is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import Refused
from . import engine_values as ev
from . import expr_refusals as refusals
from .constants import narrowest_integer, parse_text, within
from .engine_values import Value
from .scalar_function import Argument, shorten
from .types import CASTS, DIGITS, FLOAT, Span, Type
from .value_ranges import hull

_READ = ("date", "timestamp", "uuid")


def exact_type(ends: Span | None, scale: int, *, integral: bool) -> Type:
    """Return the type of exact numbers between the ends with `scale` decimal places: an integer if
    `integral`, else a decimal; a float64 where neither has room.
    """
    if integral:
        return narrowest_integer(ends) or FLOAT
    if ends is None:
        return FLOAT
    digits = max(scale, 1, *(len(str(int(abs(end) * 10**scale))) for end in ends))
    return Type("decimal", precision=digits, scale=scale) if digits <= DIGITS else FLOAT


def arithmetic_type(ends: Span | None, arguments: Sequence[Argument], scale: int) -> Type:
    """Return a type that holds the numbers and a result of them that lies between the ends."""
    if any(argument.type.kind == "float" for argument in arguments):
        return FLOAT
    return exact_type(
        hull([ends, *(argument.span for argument in arguments)]),
        scale,
        integral=all(argument.type.kind == "integer" for argument in arguments),
    )


def common_type(arguments: Sequence[Argument], place: str) -> Type:
    """Return the type that all arguments fit; NULL fits any type, and constant texts are parsed."""
    typed = [argument for argument in arguments if argument.type.kind != "null"]
    if not typed:
        raise refusals.NULL_HAS_NO_TYPE(place=shorten(place))
    written = [
        argument for argument in typed if argument.is_constant and argument.type.kind == "string"
    ]
    firm = [
        argument
        for argument in typed
        if not (argument.is_constant and argument.type.kind == "string")
    ] or written
    kinds = {argument.type.kind for argument in firm}
    if kinds <= {"integer", "decimal", "float"}:
        kind = _numeric_type(firm)
    elif kinds <= {"date", "timestamp"}:
        later = "timestamp" in kinds or any(
            len(str(argument.value)) > len("2026-01-31") for argument in written
        )
        kind = Type(
            "timestamp" if later else "date", zone=any(argument.type.zone for argument in firm)
        )
    elif len(kinds) == 1:
        kind = firm[0].type.bare
    else:
        raise _type_conflict(firm, place)
    if kind.kind in _READ:
        for argument in written:
            parse_text(str(argument.value), kind, place)
    elif written and kind.kind != "string":
        raise _type_conflict(typed, place)
    return kind


def convert(value: Value, argument: Argument, to: Type, place: str = "") -> Value:
    """Cast a value to a type that holds it. Where the types alone do not show that it fits, the
    cast is a TRY_CAST.
    """
    kind = argument.type
    if argument.is_constant:
        reads = kind.kind == "string" and to.kind in _READ
        return ev.constant(
            parse_text(str(argument.value), to, place) if reads else argument.value, to
        )
    if replace(kind, nullable=True, zone=to.zone) == to:
        return value
    narrow = (
        kind.limits is not None and to.limits is not None and not within(kind.limits, to.limits)
    )
    return (ev.try_cast if narrow else ev.cast)(value, ev.without_zone(to))


def _numeric_type(arguments: Sequence[Argument]) -> Type:
    """Return a numeric type that holds every value of every argument's type: casts to it are
    unchecked.
    """
    kinds = {argument.type.kind for argument in arguments}
    if "float" in kinds:
        return FLOAT
    ends = hull(
        [argument.span if argument.is_constant else argument.type.limits for argument in arguments]
    )
    return exact_type(
        ends, max(argument.type.scale for argument in arguments), integral=kinds == {"integer"}
    )


def _type_conflict(arguments: Sequence[Argument], place: str) -> Refused:
    first = arguments[0]
    second = next(argument for argument in arguments if argument.type.kind != first.type.kind)
    fields = {
        "place": shorten(place),
        "first": shorten(first.text, 60),
        "first_words": first.type.words,
        "second": shorten(second.text, 60),
        "second_words": second.type.words,
    }
    for argument, to in ((first, second.type), (second, first.type)):
        if not argument.is_constant and to.kind in CASTS[argument.type.kind]:
            return refusals.TYPES_DIFFER(
                **fields, value=shorten(argument.text, 60), type=str(to.bare)
            )
    return refusals.TYPES_DIFFER_WITHOUT_CAST(**fields)
