"""A function as a total one: finite floats, or whole numbers, of a public shape, whatever it does. Data are in here, and nothing but those values leaves.

*Clipped*    to bounds, where there are any.
*Default*    where a value is no number, in every coordinate where the shape is not the stated one, and where the function raises.
*Silent*     warnings are not shown: they would be about data. A keyboard interrupt is the caller's and passes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number, exact
from ..mechanisms.additive import known_size
from ..mechanisms.grid import snap, snap_each

_FAR = 1e300
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
    value = math.nan if isinstance(found, str | bytes) else float(found)
    if math.isnan(value) or (math.isinf(value) and math.isinf(form.high)):
        value = form.default
    value = min(form.high, max(form.low, value))
    return snap(value, 0) if form.whole else value


def _array(found: Any, form: Form) -> NDArray[Any]:
    values = np.asarray(found, dtype=np.float64)
    if values.shape != form.shape:
        values = np.full(form.shape or (), form.default)
    if not math.isinf(form.high):
        values = np.clip(values, form.low, form.high)
    values = np.where(np.isfinite(values), values, form.default)
    return snap_each(values, 0) if form.whole else values


def values_of(data: Any, otherwise: float) -> NDArray[Any]:
    """Each record as a finite number, by itself: what is none becomes `otherwise`, so that one record changes one value. Secret."""
    values = np.array(data, dtype=object) if isinstance(data, list | tuple) else np.asarray(data)
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "f":
        doubles = values.astype(np.float64)
        return np.where(np.isnan(doubles), otherwise, np.clip(doubles, -_FAR, _FAR))
    return np.array([_finite(v, otherwise) for v in values.ravel().tolist()], dtype=np.float64)


def _finite(record: Any, otherwise: float) -> float:
    try:
        value = float(record)
    except Exception:
        return otherwise
    return otherwise if math.isnan(value) or isinstance(record, str) else min(_FAR, max(-_FAR, value))
