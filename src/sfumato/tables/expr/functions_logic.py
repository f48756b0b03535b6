"""Comparisons and conditions, in SQL's three-valued logic: an undecided condition is null, and a
filter keeps the rows where its condition is true.

*Null*      a comparison with a null is null; FALSE AND null is false, TRUE OR null is true, NOT
            null is null.
*NaN*       is a null here as everywhere.
*Texts*     are compared by code points, so capital letters come before small ones.
*Numbers*   are compared exactly while both are integers or decimals, beside a float as float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import and_, eq, ge, gt, invert, le, lt, ne, or_

from . import engine_values as ev
from . import value_ranges
from .engine_values import Value
from .promotion import common_type, convert
from .scalar_function import TRUTH, VALUE, Argument, Function, Slot, always, constant_slot
from .types import BOOL, WORDS, Type

_KINDS = tuple(kind for kind in WORDS if kind != "null")
LISTED = constant_slot("values, none of them null", lambda value: value is not None, "0", *_KINDS)


def _comparison_type(arguments: Sequence[Argument]) -> Type:
    common_type(arguments, " and ".join(argument.text for argument in arguments[:2]))
    return BOOL


def _convert_all(values: Sequence[Value], arguments: Sequence[Argument]) -> list[Value]:
    place = " and ".join(argument.text for argument in arguments[:2])
    kind = common_type(arguments, place)
    return [
        convert(value, argument, kind, place)
        for value, argument in zip(values, arguments, strict=True)
    ]


def _comparison(
    name: str, sign: str, operation: Callable[[Value, Value], Value], rule: str
) -> Function:
    return Function(
        name=name,
        group="logic",
        takes=(VALUE, VALUE),
        gives=_comparison_type,
        span=value_ranges.truth,
        build=lambda values, arguments, result: operation(*_convert_all(values, arguments)),
        form=name,
        operator=sign,
        copies=(2,),
        rule=rule,
    )


def _between(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    value, low, high = _convert_all(values, arguments)
    return (value >= low) & (value <= high)


def _connective(
    name: str, sign: str, operation: Callable[[Value, Value], Value], rule: str
) -> Function:
    return Function(
        name=name,
        group="logic",
        takes=(TRUTH, TRUTH),
        gives=always(BOOL),
        span=value_ranges.truth,
        build=lambda values, arguments, result: ev.join_balanced(operation, values),
        form=name.upper(),
        operator=sign,
        many=True,
        rule=rule,
    )


def _unary(
    name: str,
    takes: Slot,
    operation: Callable[[Value], Value],
    form: str,
    rule: str,
    *,
    operator: str = "",
    never_null: bool = False,
) -> Function:
    return Function(
        name=name,
        group="logic",
        takes=(takes,),
        gives=always(BOOL),
        span=value_ranges.truth,
        build=lambda values, arguments, result: operation(values[0]),
        form=form,
        operator=operator,
        never_null=never_null,
        copies=(2,),
        rule=rule,
    )


def _identical(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    first, second = _convert_all(values, arguments)
    return first.identical_to(second)


def _is_in(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    value, *options = _convert_all(values, arguments)
    return value.isin(options)


FUNCTIONS = (
    _connective("and", "&", and_, "true where all are; `&` in Python"),
    _connective("or", "|", or_, "true where one is; `|` in Python"),
    _unary("not", TRUTH, invert, "NOT {0}", "the contrary; `~` in Python", operator="~"),
    _comparison("=", "==", eq, "equal; `==` in Python"),
    _comparison("<>", "!= ^", ne, "not equal; `!=` in Python"),
    _comparison("<", "<", lt, "below, earlier, before"),
    _comparison("<=", "<=", le, "at most"),
    _comparison(">", ">", gt, "above, later, after"),
    _comparison(">=", ">=", ge, "at least"),
    Function(
        name="between",
        group="logic",
        takes=(VALUE, VALUE, VALUE),
        gives=_comparison_type,
        span=value_ranges.truth,
        build=_between,
        form="{0} BETWEEN {1} AND {2}",
        parameters="low, high",
        copies=(4, 2),
        rule="at least the first and at most the second end",
    ),
    Function(
        name="is_in",
        group="logic",
        takes=(VALUE, LISTED),
        gives=_comparison_type,
        span=value_ranges.truth,
        build=_is_in,
        form="{0} IN ({rest})",
        many=True,
        copies=(2,),
        rule="equal to one of a list of constants",
    ),
    _unary(
        "is_null",
        VALUE,
        lambda value: value.isnull(),
        "{0} IS NULL",
        "whether there is no value; never null itself",
        never_null=True,
    ),
    _unary(
        "not_null",
        VALUE,
        lambda value: value.notnull(),
        "{0} IS NOT NULL",
        "whether there is a value; never null itself",
        never_null=True,
    ),
    Function(
        name="identical",
        group="logic",
        takes=(VALUE, VALUE),
        gives=_comparison_type,
        span=value_ranges.truth,
        build=_identical,
        form="IS NOT DISTINCT FROM",
        parameters="value",
        never_null=True,
        copies=(2,),
        rule="equal, or both null; never null itself",
    ),
)
