"""Frozen records whose fields check and convert their own arguments: attrs, with two additions.

A converter with a parameter `name` gets the name of the argument, for its refusals. A converter
with a parameter `record` gets the record itself, whose earlier fields are set:

    @record(kw_only=True)
    class Hashing:
        epsilon: Fraction = field(converter=positive)  # positive(value, name)
        buckets: int = field(default=None, converter=check_buckets)  # check_buckets(value, record)

A private field that is no argument (`field(init=False)`) is derived from the others: it is neither
shown nor compared. With `init=False` a class writes its constructor by hand and ends it with a call
of `self.__attrs_init__`, which runs the converters.
"""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import partial
from inspect import signature
from types import FunctionType
from typing import TYPE_CHECKING, Any

import attrs

__all__ = ["FIRST", "LAST", "PARTIAL", "check_flag", "is_frozen_record", "public_fields", "record"]

FIRST, LAST = {"place": -1}, {"place": 1}
"""The metadata of a field that is shown before or after those that are defined around it."""
PARTIAL: Any = None
"""The default of a converter's parameter `record`: type checkers see a function of the value."""

_RECORDS: set[type] = set()

if TYPE_CHECKING:
    from attrs import frozen as record
else:

    def record(kind: type | None = None, **options: bool) -> object:
        """Make a class a frozen record with slots; the class writes its own `__repr__`."""
        if kind is None:
            return partial(record, **options)
        options = {"repr": False, "weakref_slot": False} | options
        checked = attrs.frozen(kind, field_transformer=_transform, **options)
        if options.get("init", True):
            _order_arguments(checked.__init__)
        _RECORDS.add(checked)
        return checked


def is_frozen_record(kind: type) -> bool:
    """Whether the class itself, not only a base, is a record or a frozen dataclass, compared by
    value: its objects cannot change.
    """
    parameters = vars(kind).get("__dataclass_params__")
    return kind in _RECORDS or bool(parameters and parameters.frozen and parameters.eq)


def check_flag(value: bool) -> bool:
    """Convert any object to its truth."""
    return bool(value)


def public_fields(kind: type) -> list[str]:
    """Return the names of the fields that are shown and stored, FIRST before all others. A
    mechanism of somebody else may be a dataclass.
    """
    if is_dataclass(kind):
        return [field.name for field in dataclass_fields(kind) if field.repr]
    shown = [field for field in attrs.fields(kind) if field.repr]
    return [field.name for field in sorted(shown, key=lambda field: field.metadata.get("place", 0))]


def _order_arguments(constructor: FunctionType) -> None:
    """Show the required arguments first and those of all mechanisms last."""
    shown = signature(constructor)
    itself, *arguments = shown.parameters.values()
    arguments.sort(key=lambda a: (a.kind, a.default is not a.empty, a.name in ("relation", "unit")))
    constructor.__signature__ = shown.replace(  # type: ignore[attr-defined]  # read by inspect
        parameters=[itself, *arguments]
    )


def _transform(_: type, fields: list[attrs.Attribute[object]]) -> list[attrs.Attribute[object]]:
    return [_hide_derived(_bind_converter(field)) for field in fields]


def _hide_derived(field: attrs.Attribute[object]) -> attrs.Attribute[object]:
    is_derived = not field.init and field.name.startswith("_")
    return field.evolve(repr=False, eq=False) if is_derived else field


def _bind_converter(field: attrs.Attribute[object]) -> attrs.Attribute[object]:
    convert: object = field.converter
    if not callable(convert) or isinstance(convert, type | partial | attrs.Converter):
        return field  # without a parameter to bind, or bound by a base class
    parameters = signature(convert).parameters
    if "name" in parameters:
        # attrs before 25.4 gives default aliases later
        convert = partial(convert, name=field.alias or field.name.lstrip("_"))
    takes_record = "record" in parameters
    return field.evolve(
        converter=attrs.Converter(convert, takes_self=True) if takes_record else convert
    )
