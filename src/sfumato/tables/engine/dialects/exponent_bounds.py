"""Bound the exponents of a float expression, for engines that raise an error where IEEE arithmetic
gives infinity or zero.

*Rule*    For every finite value other than zero, 2^least ≤ |value| ≤ 2^most, rounded outward.
          Infinities, NaN and zeros pass through such engines without an error. An unknown value may
          be any double.
*Use*     The grid's own arithmetic stays small by its public bounds, so it is written plainly; an
          analyst's products are written with guards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops

Size = tuple[float, float]

ANY: Size = (-1074.0, 1024.0)
NO_SIZE: Size = (math.inf, -math.inf)
_DIGIT = math.log2(10)
_SHIFT = math.log2(3 * 2**51)
_SAME = ("Negate", "Abs", "NullIf", "Alias")
_CHOICES = ("Coalesce", "Least", "Greatest")


def size(op: ops.Value, sizes: dict[ops.Value, Size] | None = None) -> Size:
    """Bound an Ibis operation from the bounds of its parts."""
    sizes = {} if sizes is None else sizes
    if op not in sizes:
        sizes[op] = ANY
        sizes[op] = _size(op, sizes)
    return sizes[op]


def fits(bits: Size) -> bool:
    """Whether no value of that size overflows to infinity or underflows to zero."""
    return bits == NO_SIZE or (bits[0] > -1073 and bits[1] < 1023)


def product(first: Size, second: Size) -> Size:
    return first[0] + second[0], first[1] + second[1]


def quotient(first: Size, second: Size) -> Size:
    return first[0] - second[1], first[1] - second[0]


def total(first: Size, second: Size) -> Size:
    """Bound a sum or difference from above; a small one is exact, so engines raise no error."""
    return 0.0, max(first[1], second[1]) + 1


def _size(op: ops.Value, sizes: dict[ops.Value, Size]) -> Size:
    name, dtype = type(op).__name__, getattr(op, "dtype", None)
    if name == "Literal":
        return _size_of_value(op.value)
    if name == "Cast":
        return size(op.arg, sizes) if op.to.is_floating() else _size_of_type(op.to)
    if dtype is None or not dtype.is_floating():
        return _size_of_type(dtype)
    if name == "Field":
        definition = _definition(op.rel, op.name)
        return _size_of_type(dtype) if definition is None else size(definition, sizes)
    if name in _SAME:
        return size(op.arg, sizes)
    if name in _CHOICES:
        return _hull([size(option, sizes) for option in op.arg])
    if name == "SearchedCase":
        chosen = [
            _within(case, result, size(result, sizes))
            for case, result in zip(op.cases, op.results, strict=True)
        ]
        return _hull([*chosen, size(op.default, sizes)])
    if name == "Multiply":
        return product(size(op.left, sizes), size(op.right, sizes))
    if name == "Divide":
        return quotient(size(op.left, sizes), size(op.right, sizes))
    if name in ("Add", "Subtract"):
        step = _shifted(op)
        most = total(size(op.left, sizes), size(op.right, sizes))[1]
        return (ANY[0], most) if step is None else (step, max(most, step))
    return _size_of_type(dtype)


def _size_of_value(value: float | str | None) -> Size:
    if isinstance(value, str):
        try:
            value = float(value)  # constants are written as texts, which engines read exactly
        except ValueError:
            return ANY
    if value is None or not math.isfinite(value) or not value:
        return NO_SIZE
    return math.log2(abs(value)) - 1e-9, math.log2(abs(value)) + 1e-9


def _size_of_type(dtype: dt.DataType | None) -> Size:
    if dtype is None or dtype.is_float64():
        return ANY
    if dtype.is_boolean() or dtype.is_integer():
        return 0.0, 64.0
    if dtype.is_decimal() and dtype.precision is not None:
        return -_DIGIT * dtype.scale - 1, _DIGIT * (dtype.precision - dtype.scale) + 1
    return (-149.0, 128.0) if dtype.is_float32() else ANY


def _definition(relation: ops.Relation, name: str) -> ops.Value | None:
    """Return the definition of a relation's column; None for a stored column."""
    for part in ("selections", "values", "groups", "metrics"):
        columns = getattr(relation, part, None)
        if columns and name in columns and type(columns[name]).__name__ != "Field":
            return columns[name]
        if columns and name in columns and columns[name].rel is not relation:
            return columns[name]
    return None


def _within(case: ops.Value, result: ops.Value, size: Size) -> Size:
    """Narrow the size of a CASE result that its condition limits to lie between two constants."""
    kind = type(case).__name__
    if kind == "And":
        return _within(case.right, result, _within(case.left, result, size))
    if (
        kind != "Between"
        or case.arg != result
        or not all(type(end).__name__ == "Literal" for end in (case.lower_bound, case.upper_bound))
    ):
        return size
    return size[0], min(
        size[1],
        max(_size_of_value(case.lower_bound.value)[1], _size_of_value(case.upper_bound.value)[1]),
    )


def _shifted(op: ops.Value) -> float | None:
    """Return the exponent of the step if the operation is (x + M) − M with M = 3·2^51 steps, whose
    result is a multiple of the step.
    """
    inner = op.left
    if (
        type(op).__name__ != "Subtract"
        or type(inner).__name__ != "Add"
        or type(op.right).__name__ != "Literal"
        or inner.right != op.right
    ):
        return None
    return _size_of_value(op.right.value)[0] - _SHIFT


def _hull(sizes: list[Size]) -> Size:
    return min(least for least, _ in sizes), max(most for _, most in sizes)
