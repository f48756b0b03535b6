"""STRFTIME: a date or timestamp as a text in a constant format.

*Parts*     The text is joined from the parts of the moment, so it is the same on every engine. An
            engine's own formatter follows its language, its calendar and its version.
*Groups*    The texts between two ends are public keys, computed in Python by the same codes.
*Codes*     are those of C's strftime whose meaning does not depend on a place: see `CODES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import reduce
from itertools import islice

from . import engine_values as ev
from . import expr_refusals as refusals
from .constants import Constant
from .engine_values import Value
from .functions_time import DAY_NAMES, MONTH_NAMES, name_of
from .scalar_function import COSTS, MOMENT, Argument, Function, constant_slot, shorten
from .types import INT32, STRING, Type
from .value_sets import MOST_VALUES, ValueSet, as_datetime, buckets

LONGEST = 40  # characters of a format
MOST_CODES = 8


def _number(part: Callable[[Value], Value], width: int) -> Callable[[Value], Value]:
    """Return how to write a part with this many digits."""

    def write(moment: Value) -> Value:
        digits = ev.cast(ev.cast(part(moment), INT32), STRING)
        if width == 1:
            return digits
        return (ev.constant("0" * (width - 1), STRING) + digits).right(width)

    return write


def _name(part: Callable[[Value], Value], words: Sequence[str]) -> Callable[[Value], Value]:
    return lambda moment: name_of(ev.cast(part(moment), INT32), words)


def _day_of_week(moment: Value) -> Value:
    return moment.day_of_week.index() + 1


CODES: Mapping[str, tuple[Callable[[Value], Value], str]] = {
    "%Y": (_number(lambda moment: moment.year(), 4), "the year, 4 digits"),
    "%m": (_number(lambda moment: moment.month(), 2), "the month, 01 to 12"),
    "%d": (_number(lambda moment: moment.day(), 2), "the day of the month, 01 to 31"),
    "%H": (_number(lambda moment: moment.hour(), 2), "the hour, 00 to 23"),
    "%M": (_number(lambda moment: moment.minute(), 2), "the minute, 00 to 59"),
    "%S": (_number(lambda moment: moment.second(), 2), "the second, 00 to 59"),
    "%j": (_number(lambda moment: moment.day_of_year(), 3), "the day of the year, 001 to 366"),
    "%V": (_number(lambda moment: moment.week_of_year(), 2), "ISO's week, 01 to 53"),
    "%u": (_number(_day_of_week, 1), "the day of the week, 1 (Monday) to 7"),
    "%A": (_name(_day_of_week, DAY_NAMES), "the day of the week in English"),
    "%a": (_name(_day_of_week, [name[:3] for name in DAY_NAMES]), "its first three letters"),
    "%B": (_name(lambda moment: moment.month(), MONTH_NAMES), "the month in English"),
    "%b": (
        _name(lambda moment: moment.month(), [name[:3] for name in MONTH_NAMES]),
        "its first three letters",
    ),
}
"""Code of a format → how to write it, and what it stands for."""

IN_PYTHON: Mapping[str, Callable[[datetime], str]] = {
    "%Y": lambda moment: f"{moment.year:04}",
    "%m": lambda moment: f"{moment.month:02}",
    "%d": lambda moment: f"{moment.day:02}",
    "%H": lambda moment: f"{moment.hour:02}",
    "%M": lambda moment: f"{moment.minute:02}",
    "%S": lambda moment: f"{moment.second:02}",
    "%j": lambda moment: f"{moment.timetuple().tm_yday:03}",
    "%V": lambda moment: f"{moment.isocalendar().week:02}",
    "%u": lambda moment: str(moment.isoweekday()),
    "%A": lambda moment: DAY_NAMES[moment.weekday()],
    "%a": lambda moment: DAY_NAMES[moment.weekday()][:3],
    "%B": lambda moment: MONTH_NAMES[moment.month - 1],
    "%b": lambda moment: MONTH_NAMES[moment.month - 1][:3],
}
"""Code of a format → how Python writes it, for the public keys of GROUP BY."""

SHORT = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%R": "%H:%M"}
"""Codes that stand for several."""

_CLOCK = ("%H", "%M", "%S")
_UNITS = (("second", ("%S",)), ("minute", ("%M",)), ("hour", ("%H",)))
_MONTHLY = ("%Y", "%m", "%B", "%b")
_MOST_BUCKETS = 20 * MOST_VALUES  # days of 50 years
_ONE_HOUR = (datetime(2000, 1, 1), datetime(2000, 1, 1, 0, 59, 59))
_ONE_DAY = (datetime(2000, 1, 1), datetime(2000, 1, 1, 23, 59, 59))
_ALL_YEARS = (datetime(2000, 1, 1), datetime(2027, 12, 31, 23, 59, 59))
"""28 years, after which weekdays and leap years repeat: texts without the year repeat, too."""
_PIECE = re.compile(r"%.|[^%]+|%", re.DOTALL)


def pieces_of(text: str) -> list[str]:
    """Split a format into codes and plain texts."""
    for short, codes in SHORT.items():
        text = re.sub(rf"(?<!%){short}", codes, text)
    return _PIECE.findall(text)


def is_format(value: Constant) -> bool:
    """Whether a text is a format of supported codes, with one at least."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        return False
    codes = [piece for piece in pieces_of(value) if piece.startswith("%") and piece != "%%"]
    return 0 < len(codes) <= MOST_CODES and all(code in CODES for code in codes)


FORMAT = constant_slot(
    f"a format of at most {MOST_CODES} of the codes {' '.join(CODES)}",
    is_format,
    "'%Y-%m'",
    "string",
)


def _gives(arguments: Sequence[Argument]) -> Type:
    moment, form = arguments
    if moment.type.kind == "date" and any(code in _CLOCK for code in pieces_of(str(form.value))):
        raise refusals.DATE_HAS_NO_TIME(date=shorten(moment.text, 60), unit=form.text)
    return STRING


def _build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    texts = [
        CODES[piece][0](values[0])
        if piece in CODES
        else ev.constant(piece.replace("%%", "%"), STRING)
        for piece in pieces_of(str(arguments[1].value))
    ]
    return reduce(lambda first, second: first + second, texts)


def _unit_of(codes: set[str]) -> str:
    """Return the unit within which a text of these codes is the same for all moments."""
    fine = next((unit for unit, names in _UNITS if codes & {*names}), None)
    return fine or ("month" if codes <= {*_MONTHLY} else "day")


def _values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet | None:
    """Return the texts of all moments between two ends, or of all moments if the format has no
    year.
    """
    moments, pieces = sets[0], pieces_of(str(arguments[1].value))
    codes = {piece for piece in pieces if piece in CODES}
    is_clock = codes <= {*_CLOCK}
    spans = []
    if "%Y" not in codes:
        spans = [_ALL_YEARS if not is_clock else _ONE_DAY if "%H" in codes else _ONE_HOUR]
    ends = moments.moments
    for span in [*([ends] if ends else []), *spans]:
        starts = list(islice(buckets(*span, _unit_of(codes)), _MOST_BUCKETS + 1))
        if len(starts) <= _MOST_BUCKETS:
            break
    else:
        return None
    stated = moments.stated if span is ends else frozenset[str]()
    if moments.values is not None:
        starts = [as_datetime(each) for each in moments.values if isinstance(each, date)]
        stated = moments.stated
    texts = frozenset(
        "".join(
            IN_PYTHON[piece](at) if piece in CODES else piece.replace("%%", "%") for piece in pieces
        )
        for at in starts
    )
    return None if len(texts) > MOST_VALUES else ValueSet(texts, null=null, stated=stated)


FUNCTIONS = (
    Function(
        name="strftime",
        group="time",
        takes=(MOMENT, FORMAT),
        gives=_gives,
        build=_build,
        values=_values,
        parameters="form",
        copies=(2 * len(MONTH_NAMES), 0),
        costs=lambda form: COSTS["text"],
        rule="its text in a format of "
        + ", ".join(f"`{code}` ({meaning})" for code, (_, meaning) in CODES.items()),
    ),
)
