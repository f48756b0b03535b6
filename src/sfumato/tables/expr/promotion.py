"""What type several values have together, and how each is turned into it without loss.

*Integers*   the narrowest width that holds every value that the arguments' types allow; what may
             leave 64 bits is a float64.
*Decimals*   as many digits as every such value needs; what may need more than 38 is a float64.
*Floats*     with a float, everything is a float64.
*Moments*    a date beside a timestamp is its midnight; a timestamp without a zone is taken as UTC.
*Texts*      a constant text beside a date, a timestamp or a uuid is read as one, when the question
             is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import Refused
from . import engine_values as ev
from .constants import integer, read, within
from .engine_values import Value
from .scalar_function import Argument, shorten
from .types import CASTS, DIGITS, FLOAT, Span, Type
from .value_ranges import hull

_READ = ("date", "timestamp", "uuid")


def exact(ends: Span | None, scale: int, *, whole: bool) -> Type:
    """The type of exact numbers between the ends with so many digits after the point: an integer if
    they are whole, a decimal, or else a float64.
    """
    if whole:
        return integer(ends) or FLOAT
    if ends is None:
        return FLOAT
    digits = max(scale, 1, *(len(str(int(abs(end) * 10**scale))) for end in ends))
    return Type("decimal", precision=digits, scale=scale) if digits <= DIGITS else FLOAT


def arithmetic(ends: Span | None, arguments: Sequence[Argument], scale: int) -> Type:
    """Of numbers that are turned into this type and then make a result between the ends: it holds
    them as well as what they make.
    """
    if any(argument.type.kind == "float" for argument in arguments):
        return FLOAT
    return exact(
        hull([ends, *(argument.span for argument in arguments)]),
        scale,
        whole=all(argument.type.kind == "integer" for argument in arguments),
    )


def common(arguments: Sequence[Argument], place: str) -> Type:
    """The type of all of them beside each other; nulls have none, and constant texts are read."""
    known = [argument for argument in arguments if argument.type.kind != "null"]
    if not known:
        raise Refused(
            "expression.type", shorten(place), "a null alone has no type", "TRY_CAST(NULL AS int64)"
        )
    written = [argument for argument in known if argument.fixed and argument.type.kind == "string"]
    firm = [
        argument for argument in known if not (argument.fixed and argument.type.kind == "string")
    ] or written
    kinds = {argument.type.kind for argument in firm}
    if kinds <= {"integer", "decimal", "float"}:
        found = _numbers(firm)
    elif kinds <= {"date", "timestamp"}:
        later = "timestamp" in kinds or any(
            len(str(argument.value)) > len("2026-01-31") for argument in written
        )
        found = Type(
            "timestamp" if later else "date", zone=any(argument.type.zone for argument in firm)
        )
    elif len(kinds) == 1:
        found = firm[0].type.bare
    else:
        raise _unlike(firm, place)
    if found.kind in _READ:
        for argument in written:
            read(str(argument.value), found, place)
    elif written and found.kind != "string":
        raise _unlike(known, place)
    return found


def convert(value: Value, argument: Argument, to: Type, place: str = "") -> Value:
    """A value as a type that holds it. Where the types alone do not say that it does, the cast is
    one that cannot fail.
    """
    known = argument.type
    if argument.fixed:
        reads = known.kind == "string" and to.kind in _READ
        return ev.constant(read(str(argument.value), to, place) if reads else argument.value, to)
    if replace(known, nullable=True, zone=to.zone) == to:
        return value
    narrow = (
        known.limits is not None and to.limits is not None and not within(known.limits, to.limits)
    )
    return (ev.try_cast if narrow else ev.cast)(value, ev.unzoned(to))


def _numbers(arguments: Sequence[Argument]) -> Type:
    """Every value of every column's type has to fit: what is cast to this is cast without a
    check.
    """
    kinds = {argument.type.kind for argument in arguments}
    if "float" in kinds:
        return FLOAT
    ends = hull(
        [argument.span if argument.fixed else argument.type.limits for argument in arguments]
    )
    return exact(
        ends, max(argument.type.scale for argument in arguments), whole=kinds == {"integer"}
    )


def _unlike(arguments: Sequence[Argument], place: str) -> Refused:
    first = arguments[0]
    other = next(argument for argument in arguments if argument.type.kind != first.type.kind)
    one, two = shorten(first.text, 60), shorten(other.text, 60)
    casts = (
        f"TRY_CAST({text} AS {to.bare})"
        for text, argument, to in ((one, first, other.type), (two, other, first.type))
        if not argument.fixed and to.kind in CASTS[argument.type.kind]
    )
    return Refused(
        "expression.type",
        shorten(place),
        f"{one} is {first.type.words}, and {two} is {other.type.words}",
        next(casts, "values of one type"),
    )
