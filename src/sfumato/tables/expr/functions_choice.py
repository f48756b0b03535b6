"""Functions that choose one of several values; the values get one common type (`promotion`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from . import engine_values as ev
from . import value_ranges
from .constants import Constant
from .engine_values import Value
from .promotion import common_type, convert
from .scalar_function import ANY, TRUTH, VALUE, Argument, Function
from .types import Span, Type
from .value_sets import ValueSet, converted, image


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


def _as_results(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type
) -> list[ValueSet]:
    """Return the sets of several values in their common type."""
    return [
        each
        if argument.type.bare == result
        else image(lambda value: converted(value, result))([each], [argument], result, each.null)
        or ValueSet(null=each.null)
        for each, argument in zip(sets, arguments, strict=True)
    ]


def _case_values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet:
    results = _as_results([*sets[1:-1:2], sets[-1]], _results(arguments), result.bare)
    return reduce(or_, results)


def _first_values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet:
    """Join the sets up to the first that has no null."""
    converted_sets = _as_results(sets, arguments, result.bare)
    # where keys without null are stated, rows may be null
    sure = [place for place, each in enumerate(sets) if not each.null and not each.stated]
    reached = converted_sets[: sure[0] + 1] if sure else converted_sets
    return replace(reduce(or_, reached), null=all(each.null for each in reached))


def _nullif_values(
    sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type, null: bool
) -> ValueSet:
    first, second = _as_results(sets, arguments, result.bare)
    value = second.values if arguments[1].is_constant else None
    return replace(first, null=True, without=first.without | (value or frozenset()))


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
        values=_case_values,
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
        values=_first_values,
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
        values=_nullif_values,
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
