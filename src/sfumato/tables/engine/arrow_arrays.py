"""Arrow arrays of a few Python values, and back. pyarrow's own functions import pandas to ask
whether they are given a frame: a quarter of a second, which a question from a shell can spare.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def array(values: Sequence[Any], known: Any) -> Any:
    """The array of that type: texts and integers by their buffers, whole decimals, too, everything
    else by pyarrow itself.
    """
    import pyarrow as pa

    text, whole = pa.types.is_string(known), pa.types.is_integer(known)
    if (
        pa.types.is_decimal128(known)
        and not known.scale
        and all(isinstance(value, int) for value in values)
    ):
        return pa.Array.from_buffers(
            known,
            len(values),
            [
                None,
                pa.py_buffer(
                    b"".join([value.to_bytes(16, "little", signed=True) for value in values])
                ),
            ],
        )
    if "pandas" in sys.modules or not (text or whole):
        return pa.array(values, type=known)
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
                    dtype=known.to_pandas_dtype(),
                )
            ),
        ]
    return pa.Array.from_buffers(known, len(values), buffers)


def zero(known: Any) -> Any:
    """The number zero, of a type with numbers."""
    import pyarrow as pa

    return pa.Array.from_buffers(known, 1, [None, pa.py_buffer(bytes(known.bit_width // 8))])[0]


def numbers(integers: Any) -> NDArray[Any]:
    """An array of integers without nulls, as NumPy has it."""
    data, dtype = integers.buffers()[1], np.dtype(f"int{integers.type.bit_width}")
    return (
        np.frombuffer(
            data, dtype=dtype, count=len(integers), offset=integers.offset * dtype.itemsize
        )
        if data is not None
        else np.empty(0, dtype)
    )
