"""Text functions: total on any Unicode text, counted in code points.

*Patterns*   A search pattern is a constant of at most 256 characters. Every engine searches in time
             proportional to text times pattern: LIKE is written so that no position is tried twice
             (`dialects.like_regex`).
*Length*     A text that a query builds has at most 1,024 characters; a longer one is null. So no
             query can make one row long and slow.
*Letters*    lower and upper work letter by letter, by the engine's Unicode table. Nothing depends
             on a language or a collation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypedDict, Unpack

from . import engine_values as ev
from . import value_ranges
from .constants import Constant
from .engine_values import Value
from .scalar_function import (
    COSTS,
    TEXT,
    Argument,
    Function,
    Gives,
    Slot,
    Traits,
    always,
    constant_slot,
)
from .types import BOOL, INT32, STRING, Type
from .value_sets import ValueRule, ValueSet, image

GROWN = 1024
_PATTERN = 256


def _is_short(value: Constant) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _PATTERN


def _is_quick_pattern(value: Constant) -> bool:
    """Whether every engine matches a pattern quickly: some try all ways to place several `%`."""
    return (
        isinstance(value, str)
        and len(value) <= _PATTERN
        and ("_" not in value or len(re.findall("%+", value)) <= 2)
    )


def _pattern_cost(value: Constant) -> int:
    """Return the cost of a pattern: with `_` an engine compares all of it at every letter."""
    return COSTS["text"] * (1 + str(value).count("_") // 4)


def _count(least: int) -> Callable[[Constant], bool]:
    return lambda value: isinstance(value, int) and least <= value <= 10**6


PART = constant_slot(f"a text of 1 to {_PATTERN} characters", _is_short, "'a'", "string")
NEW = constant_slot(
    f"a text of at most {_PATTERN} characters",
    lambda value: isinstance(value, str) and len(value) <= _PATTERN,
    "'b'",
    "string",
)
PATTERN = constant_slot(
    f"a pattern of at most {_PATTERN} characters, with at most two runs of % where there is a _",
    _is_quick_pattern,
    "'a%'",
    "string",
)
POSITION = constant_slot("a position from 1 on", _count(1), "1", "integer")
LENGTH = constant_slot("a number of characters from 0 on", _count(0), "3", "integer")


_TEXTS = always(STRING)
_TRUE = always(BOOL)


def _text_function(
    name: str,
    takes: tuple[Slot, ...],
    operation: Callable[..., Value],
    rule: str,
    gives: Gives = _TEXTS,
    **more: Unpack[Traits],
) -> Function:
    """Build a text function; the operation gets Ibis values, and constants as Python values."""

    def build(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
        return operation(
            *(
                argument.value if slot.test else value
                for slot, value, argument in zip(takes, values, arguments, strict=True)
            )
        )

    if gives is _TRUE:
        more = {"span": value_ranges.truth, **more}
    return Function(
        name=name, group="text", takes=takes, gives=gives, build=build, rule=rule, **more
    )


def _length(value: Value) -> Value:
    return ev.try_cast(value.length(), INT32)


def _position(value: Value, part: str) -> Value:
    return ev.try_cast(value.find(part) + ev.constant(1, INT32), INT32)


def _replace(value: Value, old: str, new: str) -> Value:
    if len(new) > len(old):
        value = ev.where(value.length() <= ev.constant(GROWN * len(old) // len(new), INT32), value)
    return value.replace(old, new)


def _concat(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    lengths = [value.length().cast("int64") for value in values]
    first = ev.where(
        ev.join_balanced(lambda a, b: a + b, lengths) <= ev.constant(GROWN, INT32), values[0]
    )
    return reduce(lambda a, b: a + b, [first, *values[1:]])


def _concat_values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet | None:
    null = any(each.null for each in sets)
    return image(lambda *texts: text if len(text := "".join(texts)) <= GROWN else None)(
        sets, arguments, result, null
    )


def _part(value: Value, separator: str, number: int) -> Value:
    return value.split(separator)[number - 1]


def _ilike(value: Value, pattern: str) -> Value:
    return value.lower().like(ev.constant(pattern, STRING).lower())


def _of_ascii(operation: Callable[..., str]) -> ValueRule:
    """Return the rule of a function of ASCII texts: engines differ in the letters beyond."""

    def apply(value: str, *rest: Constant) -> str:
        if not value.isascii():
            raise ValueError
        return operation(value, *rest)

    return image(apply)


class _Counted(TypedDict):
    gives: Gives
    span: value_ranges.Rule
    by_type: bool


_COUNTED: _Counted = {
    "gives": always(INT32),
    "span": value_ranges.between(0, 2**31 - 1),
    "by_type": True,
}

FUNCTIONS = (
    _text_function(
        "lower",
        (TEXT,),
        lambda value: value.lower(),
        "in small letters",
        values=_of_ascii(str.lower),
    ),
    _text_function(
        "upper",
        (TEXT,),
        lambda value: value.upper(),
        "in capital letters",
        values=_of_ascii(str.upper),
    ),
    _text_function(
        "trim",
        (TEXT,),
        lambda value: value.strip(),
        "without blanks (space, tab, line ends) at both ends",
        sql=("TRIM({0})", "TRIM(BOTH FROM {0})"),
    ),
    _text_function(
        "ltrim", (TEXT,), lambda value: value.lstrip(), "without blanks at the beginning"
    ),
    _text_function("rtrim", (TEXT,), lambda value: value.rstrip(), "without blanks at the end"),
    _text_function("length", (TEXT,), _length, "how many code points, an int32", **_COUNTED),
    _text_function(
        "substr",
        (TEXT, POSITION, LENGTH),
        lambda value, start, length: value.substr(start - 1, length),
        "so many characters from a position on, counted from 1",
        values=_of_ascii(lambda value, start, length: value[start - 1 : start - 1 + length]),
        sql=("SUBSTRING({all})",),
        parameters="start, length",
        last=10**6,
        copies=(2,),
    ),
    _text_function(
        "left",
        (TEXT, LENGTH),
        lambda value, length: value.substr(0, length),
        "the first characters",
        values=_of_ascii(lambda value, length: value[:length]),
        parameters="length",
        copies=(2,),
    ),
    _text_function(
        "right",
        (TEXT, LENGTH),
        lambda value, length: value.right(length),
        "the last characters",
        parameters="length",
    ),
    _text_function(
        "replace",
        (TEXT, PART, NEW),
        _replace,
        (
            f"every occurrence of one text by another; null where the result could pass "
            f"{GROWN} characters"
        ),
        parameters="old, new",
        makes_null=True,
        copies=(2,),
    ),
    Function(
        name="concat",
        group="text",
        takes=(TEXT, TEXT),
        gives=always(STRING),
        build=_concat,
        values=_concat_values,
        form="||",
        many=True,
        parameters="others",
        makes_null=True,
        copies=(2,),
        rule=f"one after the other; null where one is null, and beyond {GROWN} characters",
    ),
    _text_function(
        "split_part",
        (TEXT, PART, POSITION),
        _part,
        "the part of that number, from 1 on, between separators; null where there are fewer",
        parameters="separator, number",
        makes_null=True,
    ),
    _text_function(
        "contains",
        (TEXT, PART),
        lambda value, part: value.contains(part),
        "whether the text occurs in it",
        _TRUE,
        parameters="part",
    ),
    _text_function(
        "starts_with",
        (TEXT, PART),
        lambda value, part: value.startswith(part),
        "whether it begins so",
        _TRUE,
        sql=("STARTS_WITH({all})", "PREFIX({all})"),
        parameters="part",
    ),
    _text_function(
        "ends_with",
        (TEXT, PART),
        lambda value, part: value.endswith(part),
        "whether it ends so",
        _TRUE,
        sql=("ENDS_WITH({all})", "SUFFIX({all})"),
        parameters="part",
    ),
    _text_function(
        "position",
        (TEXT, PART),
        _position,
        "where the text first occurs, counted from 1, an int32; 0 where it does not",
        sql=("STRPOS({all})",),
        parameters="part",
        **_COUNTED,
    ),
    _text_function(
        "like",
        (TEXT, PATTERN),
        lambda value, pattern: value.like(pattern),
        "`%` stands for any characters, `_` for one; there is no escape",
        _TRUE,
        form="LIKE",
        parameters="pattern",
        costs=_pattern_cost,
    ),
    _text_function(
        "ilike",
        (TEXT, PATTERN),
        _ilike,
        "the same, of small letters on both sides",
        _TRUE,
        form="ILIKE",
        parameters="pattern",
        costs=lambda value: 2 * _pattern_cost(value),
    ),
)
