"""Guarded calls: any function of the data returns finite floats, or whole numbers, of a public
shape, whatever it does. Nothing but these values leaves the call.

*Clipped*    to bounds, where there are any.
*Default*    where a value is no number, in every coordinate where the shape is not the stated one,
             and where the function raises.
*Exact*      integers of any size stay integers, through the bounds and onto the grid: a double
             would move them by more than one step from 2^53 on.
*Labels*     where they are stated, a dictionary or a pandas Series is read by them: what is missing
             is the default, what is not stated is left out. Labels that only the data name are
             never returned: they would be data.
*Silent*     warnings are not shown: they would be about data. A keyboard interrupt is the caller's
             and passes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, exact
from ..mechanisms.shared.additive import check_size
from ..mechanisms.shared.grid import integers, snap, snap_each
from . import function_refusals as refusals

_EXACT = 1 << 53
SILENCE = ("ignore", None, Warning, None, 0)
D = TypeVar("D")
Guarded = float | NDArray[np.float64] | NDArray[np.int64] | list[object]
"""A number, an array, or nested lists where integers beyond doubles stand among other numbers."""


@dataclass(frozen=True, slots=True)
class ValueForm:
    """The public facts about the values: their shape (None for a single number), the default for
    invalid values, bounds, and whether they are whole numbers.
    """

    shape: tuple[int, ...] | None
    default: float
    low: float
    high: float
    integer_valued: bool = False

    @property
    def size(self) -> int:
        return 1 if self.shape is None else math.prod(self.shape)


def form_of(
    *,
    size: int | None = None,
    shape: tuple[int, ...] | None = None,
    bounds: tuple[Number, Number] | None = None,
    default: Number | None = None,
) -> ValueForm:
    """Check the form that a caller states."""
    if size is not None and shape is not None:
        raise refusals.SIZE_AND_SHAPE(size=size, shape=shape)
    sides = (
        None
        if size is None and shape is None
        else (size,)
        if size is not None
        else tuple(shape or ())
    )
    low, high = (
        (-math.inf, math.inf)
        if bounds is None
        else (float(exact(bounds[0], "bounds")), float(exact(bounds[1], "bounds")))
    )
    if not low < high:
        raise refusals.VALUE_BOUNDS_NOT_ASCENDING(bounds=bounds)
    otherwise = (
        float(exact(default, "default"))
        if default is not None
        else 0.0
        if bounds is None
        else low / 2 + high / 2
    )
    return ValueForm(
        None if sides is None else tuple(check_size(side) or 1 for side in sides),
        min(high, max(low, otherwise)),
        low,
        high,
    )


def check_labels(
    labels: Iterable[Hashable], size: int | None, shape: tuple[int, ...] | None
) -> tuple[Hashable, ...]:
    """Check the public names of the values."""
    names: tuple[Hashable, ...] = ()
    try:
        names = tuple(labels)
        different = len(set(names)) == len(names) > 0 and all(name == name for name in names)
    except TypeError:
        different = False
    if not different or size is not None or shape is not None:
        raise refusals.LABELS_NOT_DISTINCT(labels=labels)
    return names


def by_label(result: object, labels: tuple[Hashable, ...]) -> object:
    """Read a dictionary or a pandas Series by these labels. Return any other result as it is, to be
    read by position.
    """
    named = result.to_dict() if hasattr(result, "to_dict") and hasattr(result, "index") else result
    return (
        [named.get(label, math.nan) for label in labels] if isinstance(named, Mapping) else result
    )


def call_guarded(f: Callable[[D], object], data: D, form: ValueForm) -> Guarded:
    """Call f(data) and return finite floats, or whole numbers, of the stated shape, whatever f
    does. The result is secret.
    """
    spoken = warnings.filters
    warnings.filters = [SILENCE]  # warnings of what f calls would be about data
    try:
        result = f(data)
        if (
            type(result) is float
            and form.low <= result <= form.high
            and form.shape is None
            and not form.integer_valued
            and result - result == 0.0
        ):
            return result
        return _number(result, form) if form.shape is None else _array(result, form)
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None
    except BaseException:
        return (
            _number(form.default, form)
            if form.shape is None
            else _array(np.full(form.shape, form.default), form)
        )
    finally:
        warnings.filters = spoken


def _number(result: Any, form: ValueForm) -> float | int:
    scalar = (
        result.item()
        if isinstance(result, np.ndarray) and result.ndim == 0 and result.dtype.kind in "iu"
        else result
    )
    value: float | int
    if isinstance(scalar, int | np.integer):
        value = int(scalar)
        value = value if form.integer_valued or abs(value) > _EXACT else float(value)
    elif form.integer_valued and isinstance(scalar, Fraction):
        value = math.floor(scalar + Fraction(1, 2))
    else:
        value = math.nan if isinstance(scalar, str | bytes | np.complexfloating) else float(scalar)
        if math.isnan(value) or (math.isinf(value) and math.isinf(form.high)):
            value = form.default
    value = min(form.high, max(form.low, value))  # an integer and a double are compared exactly
    return snap(value, 0) if form.integer_valued else value


def _array(result: object, form: ValueForm) -> Guarded:
    """Return an array; or, for integers beyond doubles among other numbers, nested lists of both,
    which get the same noise.
    """
    # which NumPy would give one type for all
    listed = isinstance(result, list | tuple) and not all(type(v) is float for v in result)
    values = np.array(result, dtype=object) if listed else np.asarray(result)
    if values.shape != form.shape:
        values = np.full(form.shape or (), form.default)
    if values.dtype.kind not in "biuf":
        each = [_entry(v, form) for v in values.ravel().tolist()]
        if form.integer_valued:
            return np.array(each, dtype=np.int64).reshape(values.shape)
        if any(type(v) is int and abs(v) > _EXACT for v in each):
            return _shaped(each, values.shape)
        values = np.array(each, dtype=np.float64).reshape(values.shape)
    elif values.dtype.kind in "iu":
        if form.integer_valued:
            low = -(1 << 62) if math.isinf(form.low) else snap(form.low, 0)
            high = (1 << 62) if math.isinf(form.high) else snap(form.high, 0)
            whole_numbers = integers(values)
            assert whole_numbers is not None
            clipped: NDArray[np.int64] = np.clip(whole_numbers, low, high)
            return clipped
        if values.size and (int(values.max()) > _EXACT or int(values.min()) < -_EXACT):
            return _shaped([_number(v, form) for v in values.ravel().tolist()], values.shape)
    values = values.astype(np.float64)
    if not math.isinf(form.high):
        values = np.clip(values, form.low, form.high)
    values = np.where(np.isfinite(values), values, form.default)
    return snap_each(values, 0) if form.integer_valued else values


def _entry(value: object, form: ValueForm) -> float | int:
    """Read one coordinate of many: an invalid one becomes the default, and a list in its place is a
    wrong shape.
    """
    if isinstance(value, list | tuple | np.ndarray):
        raise TypeError
    try:
        return _number(value, form)
    except Exception:
        return _number(math.nan, form)


def _shaped(each: list[float | int], shape: tuple[int, ...]) -> list[object]:
    """Return nested lists of this shape. Integers stay integers."""
    flat = np.empty(len(each), dtype=object)
    flat[:] = each
    nested: list[object] = flat.reshape(shape).tolist()
    return nested
