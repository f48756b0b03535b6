"""How large and how small the numbers of a float expression can be: for engines that raise an error
where IEEE arithmetic gives infinity or zero.

*Rule*    Of every finite value that is not zero: 2^least ≤ |value| ≤ 2^most, rounded outward.
          Infinities and NaN pass through such engines without an error, and so do zeros. What is
          not known is any double.
*Use*     The grid's own arithmetic stays small by its public ends, so it is written plainly; what
          an analyst multiplies is written with care.
"""

from __future__ import annotations

import math
from typing import Any

Size = tuple[float, float]

ANY: Size = (-1074.0, 1024.0)
NOTHING: Size = (math.inf, -math.inf)
_DIGIT = math.log2(10)
_SHIFT = math.log2(3 * 2**51)
_SAME = ("Negate", "Abs", "NullIf", "Alias")
_CHOICES = ("Coalesce", "Least", "Greatest")


def size(op: Any, known: dict[Any, Size] | None = None) -> Size:
    """Of an Ibis operation, by what it is made of."""
    known = {} if known is None else known
    if op not in known:
        known[op] = ANY
        known[op] = _size(op, known)
    return known[op]


def fits(found: Size) -> bool:
    """Whether nothing of that size is taken for infinity or for zero."""
    return found == NOTHING or (found[0] > -1073 and found[1] < 1023)


def product(one: Size, two: Size) -> Size:
    return one[0] + two[0], one[1] + two[1]


def quotient(one: Size, two: Size) -> Size:
    return one[0] - two[1], one[1] - two[0]


def total(one: Size, two: Size) -> Size:
    """Of a sum or a difference, as far as engines look: whether it is large. However small it is,
    it is exact.
    """
    return 0.0, max(one[1], two[1]) + 1


def _size(op: Any, known: dict[Any, Size]) -> Size:
    name, dtype = type(op).__name__, getattr(op, "dtype", None)
    if name == "Literal":
        return _of(op.value)
    if name == "Cast":
        return size(op.arg, known) if op.to.is_floating() else _of_type(op.to)
    if dtype is None or not dtype.is_floating():
        return _of_type(dtype)
    if name == "Field":
        made = _made(op.rel, op.name)
        return _of_type(dtype) if made is None else size(made, known)
    if name in _SAME:
        return size(op.arg, known)
    if name in _CHOICES:
        return _hull([size(one, known) for one in op.arg])
    if name == "SearchedCase":
        chosen = [
            _within(case, result, size(result, known))
            for case, result in zip(op.cases, op.results, strict=True)
        ]
        return _hull([*chosen, size(op.default, known)])
    if name == "Multiply":
        return product(size(op.left, known), size(op.right, known))
    if name == "Divide":
        return quotient(size(op.left, known), size(op.right, known))
    if name in ("Add", "Subtract"):
        step = _shifted(op)
        most = total(size(op.left, known), size(op.right, known))[1]
        return (ANY[0], most) if step is None else (step, max(most, step))
    return _of_type(dtype)


def _of(value: Any) -> Size:
    if isinstance(value, str):
        try:
            value = float(value)  # constants are written as texts, which engines read exactly
        except ValueError:
            return ANY
    if value is None or not math.isfinite(value) or not value:
        return NOTHING
    return math.log2(abs(value)) - 1e-9, math.log2(abs(value)) + 1e-9


def _of_type(dtype: Any) -> Size:
    if dtype is None or dtype.is_float64():
        return ANY
    if dtype.is_boolean() or dtype.is_integer():
        return 0.0, 64.0
    if dtype.is_decimal() and dtype.precision is not None:
        return -_DIGIT * dtype.scale - 1, _DIGIT * (dtype.precision - dtype.scale) + 1
    return (-149.0, 128.0) if dtype.is_float32() else ANY


def _made(relation: Any, name: str) -> Any:
    """What a column of a relation is made of; None where it is a table's own."""
    for part in ("selections", "values", "groups", "metrics"):
        columns = getattr(relation, part, None)
        if columns and name in columns and type(columns[name]).__name__ != "Field":
            return columns[name]
        if columns and name in columns and columns[name].rel is not relation:
            return columns[name]
    return None


def _within(case: Any, result: Any, found: Size) -> Size:
    """A value that is taken only where it lies between two constants."""
    kind = type(case).__name__
    if kind == "And":
        return _within(case.right, result, _within(case.left, result, found))
    if (
        kind != "Between"
        or case.arg != result
        or not all(type(end).__name__ == "Literal" for end in (case.lower_bound, case.upper_bound))
    ):
        return found
    return found[0], min(
        found[1], max(_of(case.lower_bound.value)[1], _of(case.upper_bound.value)[1])
    )


def _shifted(op: Any) -> float | None:
    """(x + M) − M with M = 3·2^51 steps is a multiple of the step: the bits of that step."""
    inner = op.left
    if (
        type(op).__name__ != "Subtract"
        or type(inner).__name__ != "Add"
        or type(op.right).__name__ != "Literal"
        or inner.right != op.right
    ):
        return None
    return _of(op.right.value)[0] - _SHIFT


def _hull(sizes: list[Size]) -> Size:
    return min(least for least, _ in sizes), max(most for _, most in sizes)
