"""Write the noisy tables of a census as bytes with a format version, and read them back.

One line of JSON says which tables follow; then come their integers, each table in the smallest type
that holds it, compressed together.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..answers.answer_records import Paid
from ..ledger import Receipt
from ..tables.plan.place_counts import TableKey
from . import census_refusals as refusals

VERSION = 1
_TYPES = ("int8", "int16", "int32", "int64")
_QUICK = 1  # of zlib's levels: noise does not compress much better at higher ones


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTables:
    """The noisy integers of every table, places × cells, and the ledger entry that paid."""

    tables: Mapping[TableKey, NDArray[np.generic]]
    paid: Paid


def pack_tables(
    keys: Sequence[TableKey], tables: Sequence[NDArray[np.generic]], receipt: Receipt
) -> bytes:
    """Write noisy tables and their receipt."""
    small = [_shrink(table) for table in tables]
    header = {
        "census": VERSION,
        "receipt": [receipt.number, receipt.digest, receipt.when],
        "tables": [
            [level, list(table), list(values.shape), values.dtype.name]
            for (level, table), values in zip(keys, small, strict=True)
        ],
    }
    packer = zlib.compressobj(_QUICK)
    parts = [packer.compress(np.ascontiguousarray(values).data) for values in small]
    return json.dumps(header).encode() + b"\n" + b"".join(parts) + packer.flush()


def unpack_tables(stored: bytes) -> NoisyTables:
    """Read what `pack_tables` wrote."""
    try:
        line, _, packed = stored.partition(b"\n")
        header, content = json.loads(line), zlib.decompress(packed)
        if header["census"] != VERSION:
            raise ValueError(header)
        tables: dict[TableKey, NDArray[np.generic]] = {}
        start = 0
        for level, table, shape, kind in header["tables"]:
            if kind not in _TYPES:
                raise ValueError(kind)
            size = int(np.prod(shape))
            values = np.frombuffer(content, np.dtype(kind).newbyteorder("<"), size, start)
            tables[int(level), tuple(table)] = values.reshape(shape)
            start += values.nbytes
        number, digest, when = header["receipt"]
    except (LookupError, TypeError, ValueError, zlib.error):
        raise refusals.DAMAGED_CENSUS() from None
    return NoisyTables(tables, Paid(number, digest, when))


def _shrink(table: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return integers in the smallest type; those beyond 64 bits are saturated."""
    if table.dtype == object:
        ends = np.iinfo(np.int64)
        table = np.array([max(ends.min, min(ends.max, int(v))) for v in table.ravel()]).reshape(
            table.shape
        )
    low, high = int(table.min(initial=0)), int(table.max(initial=0))
    kind = next(kind for kind in _TYPES if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return table.astype(np.dtype(kind).newbyteorder("<"))
