"""A function as a total one: finite floats, or whole numbers, of a public shape, whatever it does. Data are in here, and nothing but those values leaves.

*Clipped*    to bounds, where there are any.
*Default*    where a value is no number, in every coordinate where the shape is not the stated one, and where the function raises.
*Exact*      integers of any size stay integers, through the bounds and onto the grid: a double would move them by more than one step from 2^53 on.
*Silent*     warnings are not shown: they would be about data. A keyboard interrupt is the caller's and passes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Failed, Refused
from ..exact.numbers import Number, exact
from ..mechanisms.additive import known_size
from ..mechanisms.grid import integers, snap, snap_each
from ..noise.bits import Bits

_FAR = 1e300
_EXACT = 1 << 53
_SILENCE: Any = ("ignore", None, Warning, None, 0)


@dataclass(frozen=True, slots=True)
class Form:
    """What is public of the values: their shape (None for one number), what stands for those that are none, bounds, and whether they are whole numbers."""

    shape: tuple[int, ...] | None
    default: float
    low: float
    high: float
    whole: bool = False

    @property
    def size(self) -> int:
        return 1 if self.shape is None else math.prod(self.shape)


def form_of(
    *, size: int | None = None, shape: tuple[int, ...] | None = None, bounds: tuple[Number, Number] | None = None, default: Number | None = None
) -> Form:
    """The form that a caller states, or a refusal."""
    if size is not None and shape is not None:
        raise Refused("privatize.shape", f"size={size}, shape={shape}", "one of them says it all", f"shape={shape}")
    sides = None if size is None and shape is None else (size,) if size is not None else tuple(shape or ())
    low, high = (-math.inf, math.inf) if bounds is None else (float(exact(bounds[0], "bounds")), float(exact(bounds[1], "bounds")))
    if not low < high:
        raise Refused("privatize.bounds", f"bounds={bounds}", "bounds are two numbers, the lower first", "bounds=(0, 1)")
    otherwise = float(exact(default, "default")) if default is not None else 0.0 if bounds is None else low / 2 + high / 2
    return Form(None if sides is None else tuple(known_size(side) or 1 for side in sides), min(high, max(low, otherwise)), low, high)


def completed(f: Callable[[Any], Any], data: Any, form: Form) -> Any:
    """f(data) as finite floats, or whole numbers, of the stated shape, whatever f does. Secret."""
    spoken = warnings.filters
    warnings.filters = [_SILENCE]  # warnings of what f calls would be about data
    try:
        found = f(data)
        if type(found) is float and form.low <= found <= form.high and form.shape is None and not form.whole and found - found == 0.0:
            return found
        return _number(found, form) if form.shape is None else _array(found, form)
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None
    except BaseException:
        return _number(form.default, form) if form.shape is None else _array(np.full(form.shape, form.default), form)
    finally:
        warnings.filters = spoken


def _number(found: Any, form: Form) -> float | int:
    given = found.item() if isinstance(found, np.ndarray) and found.ndim == 0 and found.dtype.kind in "iu" else found
    value: float | int
    if isinstance(given, int | np.integer):
        value = int(given)
    elif form.whole and isinstance(given, Fraction):
        value = math.floor(given + Fraction(1, 2))
    else:
        value = math.nan if isinstance(given, str | bytes | np.complexfloating) else float(given)
        if math.isnan(value) or (math.isinf(value) and math.isinf(form.high)):
            value = form.default
    value = min(form.high, max(form.low, value))  # an integer and a double are compared exactly
    return snap(value, 0) if form.whole else value


def _array(found: Any, form: Form) -> Any:
    """An array; or, where integers that no double holds stand beside other numbers, lists of both, which get the same noise."""
    values = np.array(found, dtype=object) if isinstance(found, list | tuple) else np.asarray(found)
    if values.shape != form.shape:
        values = np.full(form.shape or (), form.default)
    if values.dtype.kind not in "biuf":
        each = [_entry(v, form) for v in values.ravel().tolist()]
        if form.whole:
            return np.array(each, dtype=np.int64).reshape(values.shape)
        if any(type(v) is int and abs(v) > _EXACT for v in each):
            return _shaped(each, values.shape)
        values = np.array(each, dtype=np.float64).reshape(values.shape)
    elif values.dtype.kind in "iu":
        if form.whole:
            low, high = (-(1 << 62) if math.isinf(form.low) else snap(form.low, 0)), ((1 << 62) if math.isinf(form.high) else snap(form.high, 0))
            known = integers(values)
            assert known is not None
            return np.clip(known, low, high)
        if values.size and (int(values.max()) > _EXACT or int(values.min()) < -_EXACT):
            return _shaped([_number(v, form) for v in values.ravel().tolist()], values.shape)
    values = values.astype(np.float64)
    if not math.isinf(form.high):
        values = np.clip(values, form.low, form.high)
    values = np.where(np.isfinite(values), values, form.default)
    return snap_each(values, 0) if form.whole else values


def _entry(value: Any, form: Form) -> float | int:
    """One coordinate of many: what is no number becomes the default there, and a list in its place is another shape."""
    if isinstance(value, list | tuple | np.ndarray):
        raise TypeError
    try:
        return _number(value, form)
    except Exception:
        return _number(math.nan, form)


def _shaped(each: list[Any], shape: tuple[int, ...]) -> Any:
    """Lists within lists, as NumPy would show an array of this shape; an integer is not made a double."""
    kept = np.empty(len(each), dtype=object)
    kept[:] = each
    return kept.reshape(shape).tolist()


def values_of(data: Any, otherwise: float) -> NDArray[Any]:
    """Each record as a finite number, by itself: what is none becomes `otherwise`, so that one record changes one value. Secret."""
    if isinstance(data, list | tuple):
        return np.array([_finite(v, otherwise) for v in data], dtype=np.float64)
    values = np.asarray(data)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 1:  # rows, none of which is a number
        return np.full(len(values), otherwise)
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "f":
        doubles = values.astype(np.float64)
        return np.where(np.isnan(doubles), otherwise, np.clip(doubles, -_FAR, _FAR))
    return np.array([_finite(v, otherwise) for v in values.ravel().tolist()], dtype=np.float64)


def flags_of(data: Any) -> NDArray[np.bool_]:
    """Each record as a yes or a no, by itself: what is neither is a no. Secret."""
    records = data if isinstance(data, list | tuple) else np.asarray(data)
    if isinstance(records, np.ndarray) and records.ndim == 1 and records.dtype.kind in "biuf":
        return records != 0
    return np.array([_yes(v) for v in (records if isinstance(records, list | tuple) or records.ndim else ())], dtype=np.bool_)


def attempted(mechanism: Any, data: Any, bits: Bits, low: Number | None) -> Any:
    """What a mechanism that computes its statistic itself makes of data: of each record by itself. A record that is no number counts as the lower end. Whatever
    is raised beyond that would be about data, so it is not kept, and the failure says nothing."""
    statistic = getattr(mechanism, "statistic", None)
    try:
        if low is not None:
            return mechanism.perturb(values_of(data, float(exact(low, "low"))), bits=bits)
        return mechanism.perturb(flags_of(data) if statistic == "count" else data, bits=bits)
    except Exception:  # noqa: S110
        pass
    raise Failed


def _finite(record: Any, otherwise: float) -> float:
    if isinstance(record, str | bytes | bytearray | np.complexfloating | list | np.ndarray) and not (isinstance(record, np.ndarray) and record.ndim == 0):
        return otherwise
    try:
        value = float(record)
    except Exception:
        return otherwise
    return otherwise if math.isnan(value) else min(_FAR, max(-_FAR, value))


def _yes(record: Any) -> bool:
    try:
        return bool(record)
    except Exception:
        return False
