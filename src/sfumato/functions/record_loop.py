"""Reading of records one by one, each by a rule that looks at this record alone. So one strange
record changes one value, and never the others.

*Numbers*    a record that is no number counts as the lower end. *Yes or no*: a record that is
             neither counts as no. *Labels*: a record that cannot be a label is in no category.
*Failing*    an exception of a mechanism would reveal data: it is dropped, and `Failed` says
             nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import Failed
from ..noise.bits import Bits
from . import function_refusals as refusals
from .guarded_call import SILENCE

_FAR = 1e300


class StatisticMechanism(Protocol):
    """A mechanism that computes its statistic itself."""

    @property
    def statistic(self) -> str:
        """The name of the statistic."""

    def perturb(self, data: Any, /, *, bits: Bits) -> object:
        """Return a private value of the statistic: of numbers, or of labels."""


def check_one_column(data: object) -> None:
    """Refuse data with several values in a record, by the public shape alone."""
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1):
        raise refusals.RECORDS_OF_SEVERAL_VALUES(data=describe_shape(shape))


def describe_shape(shape: tuple[int, ...]) -> str:
    """Describe the shape of data for a refusal, without the number of records."""
    if len(shape) == 2:
        return f"data of {shape[1]} columns"
    return f"data in {len(shape)} dimensions"


def values_of(data: object, otherwise: float) -> NDArray[np.generic]:
    """Read each record by itself as a finite number; one that is no number becomes `otherwise`. The
    result is secret.
    """
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


def flags_of(data: object) -> NDArray[np.bool_]:
    """Read each record by itself as a yes or a no; one that is neither counts as no. The result is
    secret.
    """
    records = data if isinstance(data, list | tuple) else np.asarray(data)
    if isinstance(records, np.ndarray) and records.ndim == 1 and records.dtype.kind in "biuf":
        return np.asarray(records != 0)
    return np.array(
        [_yes(v) for v in (records if isinstance(records, list | tuple) or records.ndim else ())],
        dtype=np.bool_,
    )


def labels_of(data: object) -> list[Hashable]:
    """Read each record by itself as a label; one that cannot be a label is dropped. The result is
    secret.
    """
    if isinstance(data, np.ndarray) and data.ndim:
        records = data.tolist()
    else:
        records = list(cast("Iterable[object]", data))  # raises for data that are no records
    return [v for v in records if _can_be_hashed(v)]


def perturb_guarded(
    mechanism: StatisticMechanism, data: object, bits: Bits, low: Fraction | None
) -> object:
    """Apply a mechanism that computes its statistic itself. Each record is read by itself; one that
    is no number counts as the lower end. Any other exception would reveal data, so `Failed`
    replaces it and says nothing.
    """
    spoken = warnings.filters
    warnings.filters = [SILENCE]
    try:
        read = (
            values_of(data, float(low))
            if low is not None
            else flags_of(data)
            if mechanism.statistic == "count"
            else labels_of(data)
        )
        return mechanism.perturb(read, bits=bits)
    except Exception:
        pass
    finally:
        warnings.filters = spoken
    raise Failed


def _finite(record: Any, otherwise: float) -> float:
    if isinstance(
        record, str | bytes | bytearray | np.complexfloating | list | np.ndarray
    ) and not (isinstance(record, np.ndarray) and record.ndim == 0):
        return otherwise
    try:
        value = float(record)
    except Exception:
        return otherwise
    return otherwise if math.isnan(value) else min(_FAR, max(-_FAR, value))


def _can_be_hashed(record: object) -> TypeGuard[Hashable]:
    try:
        hash(record)
    except Exception:
        return False
    return True


def _yes(record: object) -> bool:
    try:
        return bool(record)
    except Exception:
        return False
