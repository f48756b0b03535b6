"""Functions that choose one of several values; the values get one common type (`promotion`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import engine_values as ev
from . import value_ranges
from .constants import Constant
from .engine_values import Value
from .promotion import common_type, convert
from .scalar_function import ANY, TRUTH, VALUE, Argument, Function
from .types import Span, Type


def _common_type(arguments: Sequence[Argument]) -> Type:
    return common_type(arguments, ", ".join(argument.text for argument in arguments[:3]))


def _convert_all(
    values: Sequence[Value], arguments: Sequence[Argument], result: Type
) -> list[Value]:
    return [
        convert(value, argument, result, argument.text)
        for value, argument in zip(values, arguments, strict=True)
    ]


def _results(arguments: Sequence[Argument]) -> list[Argument]:
    """Return the arguments of a CASE that follow THEN and ELSE."""
    return [*arguments[1:-1:2], arguments[-1]]


def _case(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    *results, default = _convert_all([*values[1:-1:2], values[-1]], _results(arguments), result)
    return ev.case(list(zip(values[:-1:2], results, strict=True)), default)


def _case_span(spans: value_ranges.Spans, constants: Sequence[Constant]) -> Span | None:
    return value_ranges.hull([*spans[1:-1:2], spans[-1]])


def _extreme(
    name: str, choose: Callable[..., Value], rule: value_ranges.Rule, words: str
) -> Function:
    return Function(
        name=name,
        group="choice",
        takes=(ANY, ANY),
        gives=_common_type,
        build=lambda values, arguments, result: choose(_convert_all(values, arguments, result)),
        span=rule,
        many=True,
        parameters="others",
        skips_null=True,
        copies=(2,),
        rule=words,
    )


def _least(values: Sequence[Value]) -> Value:
    import ibis

    return ibis.least(*values)


def _greatest(values: Sequence[Value]) -> Value:
    import ibis

    return ibis.greatest(*values)


def _coalesce(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    import ibis

    return ibis.coalesce(*_convert_all(values, arguments, result))


def _nullif(values: Sequence[Value], arguments: Sequence[Argument], result: Type) -> Value:
    first, second = _convert_all(values, arguments, result)
    return first.nullif(second)


FUNCTIONS = (
    Function(
        name="case",
        group="choice",
        takes=(TRUTH, ANY, ANY),
        gives=lambda arguments: _common_type(_results(arguments)),
        build=_case,
        span=_case_span,
        form="CASE",
        pairs=True,
        passes_nan=True,
        rule="the value after the first condition that is true, else the last one",
    ),
    Function(
        name="coalesce",
        group="choice",
        takes=(ANY, ANY),
        gives=_common_type,
        build=_coalesce,
        span=lambda spans, constants: value_ranges.hull(spans),
        many=True,
        parameters="others",
        skips_null=True,
        copies=(2,),
        rule="the first that is not null",
    ),
    Function(
        name="nullif",
        group="choice",
        takes=(VALUE, VALUE),
        gives=_common_type,
        build=_nullif,
        span=lambda spans, constants: spans[0],
        makes_null=True,
        parameters="value",
        copies=(4, 2),
        rule="the first, or null where it equals the second",
    ),
    _extreme("least", _least, value_ranges.extreme(min), "the least of those that are not null"),
    _extreme(
        "greatest", _greatest, value_ranges.extreme(max), "the greatest of those that are not null"
    ),
)
