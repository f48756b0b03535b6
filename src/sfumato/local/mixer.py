"""The mixer: one batch of reports, without their order, their senders and their times.

*Order*     Every report gets 64 secure bits, and the batch is sorted by them; if two are equal, all
            are drawn again. So every order is equally likely, exactly, and independent of that in
            which reports came in.
*Metadata*  Only the bytes of reports pass. All of a batch answer one question and are of one
            length; a mixer that passed others would mark their senders.
*Trust*     The mixer sees who sends what, and is trusted to tell nobody and to deliver the batch.
            It needs no secret of the question. `sf.shuffle` says what a report promises then.
*Least*     A batch hides a report among the others: one that is too small should wait for more.
*Proof*     docs/proofs/shuffle.md
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import is_whole
from ..noise.bits import SYSTEM, Bits
from . import local_refusals as refusals
from .client import VERSION
from .wire_reports import HEAD, Reports, gather_reports


def shuffle(reports: Reports | Iterable[bytes], *, least: int = 1, bits: Bits = SYSTEM) -> Reports:
    """Return a batch of reports in a uniformly random order, and nothing else about them. A batch
    of fewer than `least` is refused: it has to wait.

    What a report promises among n shuffled ones is `sf.shuffle`, or `oracle.shuffled(n)`.
    """
    if not is_whole(least):
        raise refusals.LEAST_BATCH_NOT_WHOLE(least=least)
    batch = reports if isinstance(reports, Reports) else _gather(reports)
    if len(batch) < least:
        raise refusals.BATCH_TOO_SMALL(count=len(batch), least=least)
    return Reports(batch.mark, batch.payload[permutation(len(batch), bits)])


def permutation(count: int, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """Draw one of all orders of `count` things, each with the same probability."""
    while True:
        keys = bits.words(count)
        order = np.argsort(keys)
        if (np.diff(keys[order]) != 0).all():
            return order


def _gather(reports: Iterable[bytes]) -> Reports:
    """Join single reports to one question; refuse anything else."""
    listed = list(reports)
    first = listed[0] if listed else b""
    if not isinstance(first, bytes | bytearray) or len(first) < HEAD or first[0] != VERSION:
        raise refusals.NO_REPORTS_TO_MIX()
    batch, strangers = gather_reports(listed, bytes(first[1:HEAD]), len(first) - HEAD)
    if len(strangers):
        raise refusals.REPORT_TO_OTHER_QUESTION_IN_BATCH(number=int(strangers[0]))
    return batch
