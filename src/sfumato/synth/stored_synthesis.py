"""Write a synthetic table with its certificate as bytes with a format version, and read it back.

One line of JSON, then the codes of all rows column by column, and the integers of the certificate,
compressed together.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..answers.answer_records import Paid
from ..ledger import Receipt
from . import synth_refusals as refusals
from .choose_tables import Pair

VERSION = 1
_QUICK = 1  # of zlib's levels


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """The result of all steps: public."""

    codes: NDArray[np.uint16]  # rows × columns
    total: float  # the noisy number of rows of the data
    distances: NDArray[np.int64]  # of the certificate, with noise
    rounded: tuple[float, ...]  # how far the grid is from the synthetic counts, in rows
    shares: Mapping[Pair, Fraction]  # of the measured tables


def pack_synthesis(result: Synthesis, receipt: Receipt) -> bytes:
    """Write a synthetic table and its receipt."""
    header = {
        "synthetic": VERSION,
        "receipt": [receipt.number, receipt.digest, receipt.when],
        "rows": len(result.codes),
        "total": result.total,
        "rounded": list(result.rounded),
        "tables": [[list(pair), str(share)] for pair, share in result.shares.items()],
    }
    codes = np.ascontiguousarray(result.codes.T).astype("<u2")
    content = codes.tobytes() + np.asarray(result.distances).astype("<i8").tobytes()
    return json.dumps(header).encode() + b"\n" + zlib.compress(content, _QUICK)


def unpack_synthesis(stored: bytes, sizes: Sequence[int], certified: int) -> tuple[Synthesis, Paid]:
    """Read what `pack_synthesis` wrote, for columns of these sizes."""
    try:
        line, _, packed = stored.partition(b"\n")
        header, content = json.loads(line), zlib.decompress(packed)
        if header["synthetic"] != VERSION:
            raise ValueError(header)
        count = int(header["rows"]) * len(sizes)
        codes = np.frombuffer(content, "<u2", count).reshape(len(sizes), -1).T
        distances = np.frombuffer(content, "<i8", certified, 2 * count)
        tables = {tuple(pair): Fraction(share) for pair, share in header["tables"]}
        rounded = tuple(float(x) for x in header["rounded"])
        if len(rounded) != certified or (codes >= np.array(sizes)).any():
            raise ValueError(header)
        paid = Paid(*header["receipt"])
    except (LookupError, TypeError, ValueError, zlib.error):
        raise refusals.DAMAGED_TABLE() from None
    return Synthesis(codes, float(header["total"]), distances, rounded, tables), paid
