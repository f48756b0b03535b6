"""Convert a few Python values to Arrow arrays, and back. pyarrow's own functions import pandas to
test for a frame, which costs a query from a shell a quarter of a second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def array(values: Sequence[Any], dtype: pa.DataType) -> pa.Array:
    """Build an array of that type: texts, integers and whole decimals from buffers, other types by
    pyarrow.
    """
    import pyarrow as pa

    text, is_integer = pa.types.is_string(dtype), pa.types.is_integer(dtype)
    if (
        pa.types.is_decimal128(dtype)
        and not dtype.scale
        and all(isinstance(value, int) for value in values)
    ):
        return pa.Array.from_buffers(
            dtype,
            len(values),
            [
                None,
                pa.py_buffer(
                    b"".join([value.to_bytes(16, "little", signed=True) for value in values])
                ),
            ],
        )
    if "pandas" in sys.modules or not (text or is_integer):
        return pa.array(values, type=dtype)
    present = np.array([value is not None for value in values], dtype=np.bool_)
    valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    if text:
        parts = [b"" if value is None else value.encode() for value in values]
        ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)
        buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    else:
        buffers = [
            valid,
            pa.py_buffer(
                np.array(
                    [0 if value is None else value for value in values],
                    dtype=dtype.to_pandas_dtype(),
                )
            ),
        ]
    return pa.Array.from_buffers(dtype, len(values), buffers)


def zero(dtype: pa.DataType) -> pa.Scalar:
    """Return zero as a scalar of a numeric type."""
    import pyarrow as pa

    return pa.Array.from_buffers(dtype, 1, [None, pa.py_buffer(bytes(dtype.bit_width // 8))])[0]


def numbers(integers: pa.Array) -> NDArray[np.signedinteger[Any]]:
    """View an Arrow array of integers without nulls as a NumPy array."""
    data, dtype = integers.buffers()[1], np.dtype(f"int{integers.type.bit_width}")
    return (
        np.frombuffer(
            data, dtype=dtype, count=len(integers), offset=integers.offset * dtype.itemsize
        )
        if data is not None
        else np.empty(0, dtype)
    )
