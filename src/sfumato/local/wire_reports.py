"""The wire format of reports: short, of equal length, with a version and the mark of the question
that they answer.

*Wire*      One report: version (1 byte), mark of the question (3 bytes), payload. All payloads of
            one question have the same length.
*File*      `to_bytes`: "SFLR", version, mark, number of reports (8 bytes, big endian), then the
            payloads in a row.
*Refused*   A different version, mark or length, or a payload that no client of the question could
            have sent. Reports are public, so a refusal may name their numbers. A well-formed report
            is never refused: a lie looks like a coin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from . import local_refusals as refusals
from .client import VERSION
from .lib.biased_coins import Bytes

MAGIC = b"SFLR"
MARK = 3
HEAD = 1 + MARK
"""Bytes of a report before its payload."""


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """Reports to one question: its mark, and a row of bytes for each report."""

    mark: bytes
    payload: Bytes

    def __len__(self) -> int:
        return len(self.payload)

    def __getitem__(self, i: int) -> bytes:
        """Return one report, as a client sends it."""
        return bytes([VERSION]) + self.mark + bytes(self.payload[i])

    def __iter__(self) -> Iterator[bytes]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: Reports) -> Reports:
        if not isinstance(other, Reports) or (other.mark, other.payload.shape[1]) != (
            self.mark,
            self.payload.shape[1],
        ):
            raise refusals.ADDED_ACROSS_QUESTIONS(kind="reports")
        return Reports(self.mark, np.concatenate([self.payload, other.payload]))

    def __repr__(self) -> str:
        return (
            f"Reports({len(self)} of {HEAD + self.payload.shape[1]} bytes, question "
            f"{self.mark.hex()})"
        )

    def to_bytes(self) -> bytes:
        """Write all reports as one file."""
        return (
            MAGIC
            + bytes([VERSION])
            + self.mark
            + len(self).to_bytes(8, "big")
            + self.payload.tobytes()
        )

    @classmethod
    def from_bytes(cls, data: bytes, mark: bytes, width: int) -> Self:
        """Read the reports of a file."""
        start = len(MAGIC) + 1 + MARK + 8
        if data[:5] != MAGIC + bytes([VERSION]) or len(data) < start:
            raise refusals.NOT_A_FILE_OF_REPORTS(version=VERSION)
        if data[5 : 5 + MARK] != mark:
            raise refusals.REPORTS_TO_OTHER_QUESTION(reports="a file of reports")
        count = int.from_bytes(data[start - 8 : start], "big")
        if len(data) - start != count * width:
            raise refusals.FILE_OF_WRONG_LENGTH(count=count, width=width)
        return cls(mark, np.frombuffer(data, dtype=np.uint8, offset=start).reshape(count, width))


def gather_reports(
    blobs: Iterable[bytes], mark: bytes, width: int
) -> tuple[Reports, NDArray[np.int64]]:
    """Join single reports, and return the numbers of those that are no report to the question."""
    listed: Sequence[bytes] = list(blobs)
    head = bytes([VERSION]) + mark
    good = [
        isinstance(blob, bytes | bytearray)
        and len(blob) == len(head) + width
        and blob.startswith(head)
        for blob in listed
    ]
    rows = b"".join(
        bytes(blob[len(head) :]) for blob, fits in zip(listed, good, strict=True) if fits
    )
    payload = np.frombuffer(rows, dtype=np.uint8).reshape(-1, width)
    return Reports(mark, payload), np.flatnonzero(~np.array(good, dtype=np.bool_))


def pack_integers(numbers: NDArray[np.int64], width: int) -> Bytes:
    """Write integers as rows of bytes, big endian."""
    wide = numbers.astype(">u8")[:, None].view(np.uint8)
    return np.ascontiguousarray(wide[:, 8 - width :])


def unpack_integers(rows: Bytes) -> NDArray[np.int64]:
    """Read the integers of rows of at most seven bytes, big endian."""
    out = np.zeros(len(rows), dtype=np.int64)
    for column in range(rows.shape[1]):
        out = out << 8 | rows[:, column]
    return out


def width_for(limit: int) -> int:
    """Return the number of bytes that hold every number in [0, limit)."""
    return max(1, -(-(limit - 1).bit_length() // 8))
