"""A function as a total one: finite floats, or whole numbers, of a public shape, whatever it does.
Data are in here, and nothing but those values leaves.

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
from typing import Any

import numpy as np

from ..errors import Refused
from ..exact.numbers import Number, exact
from ..mechanisms.shared.additive import known_size
from ..mechanisms.shared.grid import integers, snap, snap_each

_EXACT = 1 << 53
SILENCE: Any = ("ignore", None, Warning, None, 0)


@dataclass(frozen=True, slots=True)
class Form:
    """What is public of the values: their shape (None for one number), what stands for those that
    are none, bounds, and whether they are whole numbers.
    """

    shape: tuple[int, ...] | None
    default: float
    low: float
    high: float
    whole: bool = False

    @property
    def size(self) -> int:
        return 1 if self.shape is None else math.prod(self.shape)


def form_of(
    *,
    size: int | None = None,
    shape: tuple[int, ...] | None = None,
    bounds: tuple[Number, Number] | None = None,
    default: Number | None = None,
) -> Form:
    """The form that a caller states, or a refusal."""
    if size is not None and shape is not None:
        raise Refused(
            "privatize.shape",
            f"size={size}, shape={shape}",
            "one of them says it all",
            f"shape={shape}",
        )
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
        raise Refused(
            "privatize.bounds",
            f"bounds={bounds}",
            "bounds are two numbers, the lower first",
            "bounds=(0, 1)",
        )
    otherwise = (
        float(exact(default, "default"))
        if default is not None
        else 0.0
        if bounds is None
        else low / 2 + high / 2
    )
    return Form(
        None if sides is None else tuple(known_size(side) or 1 for side in sides),
        min(high, max(low, otherwise)),
        low,
        high,
    )


def known_labels(
    labels: Iterable[Hashable], size: int | None, shape: tuple[int, ...] | None
) -> tuple[Hashable, ...]:
    """The public names of the values, or a refusal."""
    names: tuple[Hashable, ...] = ()
    try:
        names = tuple(labels)
        different = len(set(names)) == len(names) > 0 and all(name == name for name in names)
    except TypeError:
        different = False
    if not different or size is not None or shape is not None:
        reason = (
            "labels are public names, each of them once; they say how many values there are, "
            "in place of size and shape"
        )
        raise Refused("privatize.shape", f"labels={labels!r:.40}", reason, "labels=['yes', 'no']")
    return names


def by_label(found: Any, labels: tuple[Hashable, ...]) -> Any:
    """The values at these labels, of a dictionary or a pandas Series. Anything else has no labels,
    and goes by its places.
    """
    named = found.to_dict() if hasattr(found, "to_dict") and hasattr(found, "index") else found
    return [named.get(label, math.nan) for label in labels] if isinstance(named, Mapping) else found


def completed(f: Callable[[Any], Any], data: Any, form: Form) -> Any:
    """f(data) as finite floats, or whole numbers, of the stated shape, whatever f does. Secret."""
    spoken = warnings.filters
    warnings.filters = [SILENCE]  # warnings of what f calls would be about data
    try:
        found = f(data)
        if (
            type(found) is float
            and form.low <= found <= form.high
            and form.shape is None
            and not form.whole
            and found - found == 0.0
        ):
            return found
        return _number(found, form) if form.shape is None else _array(found, form)
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


def _number(found: Any, form: Form) -> float | int:
    given = (
        found.item()
        if isinstance(found, np.ndarray) and found.ndim == 0 and found.dtype.kind in "iu"
        else found
    )
    value: float | int
    if isinstance(given, int | np.integer):
        value = int(given)
        value = value if form.whole or abs(value) > _EXACT else float(value)
    elif form.whole and isinstance(given, Fraction):
        value = math.floor(given + Fraction(1, 2))
    else:
        value = math.nan if isinstance(given, str | bytes | np.complexfloating) else float(given)
        if math.isnan(value) or (math.isinf(value) and math.isinf(form.high)):
            value = form.default
    value = min(form.high, max(form.low, value))  # an integer and a double are compared exactly
    return snap(value, 0) if form.whole else value


def _array(found: Any, form: Form) -> Any:
    """An array; or, where integers that no double holds stand beside other numbers, lists of both,
    which get the same noise.
    """
    listed = isinstance(found, list | tuple) and not all(
        type(v) is float for v in found
    )  # which NumPy would give one type for all
    values = np.array(found, dtype=object) if listed else np.asarray(found)
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
            low, high = (
                (-(1 << 62) if math.isinf(form.low) else snap(form.low, 0)),
                ((1 << 62) if math.isinf(form.high) else snap(form.high, 0)),
            )
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
    """One coordinate of many: what is no number becomes the default there, and a list in its place
    is another shape.
    """
    if isinstance(value, list | tuple | np.ndarray):
        raise TypeError
    try:
        return _number(value, form)
    except Exception:
        return _number(math.nan, form)


def _shaped(each: list[Any], shape: tuple[int, ...]) -> Any:
    """Lists within lists, as NumPy would show an array of this shape; an integer is not made a
    double.
    """
    kept = np.empty(len(each), dtype=object)
    kept[:] = each
    return kept.reshape(shape).tolist()
