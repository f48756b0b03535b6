"""Limits on stored replies: the size of one reply, and the bytes kept per analyst. Both are checked
before a charge.

*Answer*    If its groups are public, the shape bounds the bytes of a reply: names, keys, and a
            bound on each number. Otherwise the number of groups comes from released noise, and the
            quota counts the stored bytes afterwards.
*Quota*     Per analyst and dataset: the distinct bodies of stored replies, and a row per request.
            The service deletes requests after `keep_days`, which frees their bytes.
*Ledger*    keeps each answer for ever, in fewer bytes than the reply. `most_releases` bounds their
            number.
*Counted*   from the records at most once a minute per analyst; in between, this process adds what
            it has stored.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from ..tables.declare.public_keys import Key
from . import server_refusals as refusals
from .config import Config
from .http.encode_replies import dumped, key
from .request_store import RequestKey, RequestStore

NUMBER = 26  # bytes of a number and its punctuation
BIN = 64  # bytes of the edges of a bin in a row
MECHANISM = 2048  # bytes that describe the noise of one component
ANSWER = 8192  # bytes of the parts a reply has once: guarantee, receipt, rules
COUNTED = 60.0  # seconds that a count of the records is used for


class ReplyQuota:
    """The stored bytes of each analyst, as counted by this process."""

    def __init__(self, config: Config, state: RequestStore) -> None:
        self._most, self._days, self._state = config.stored_per_analyst, config.keep_days, state
        self._used: dict[tuple[str, str], tuple[float, int]] = {}

    def check(self, request: RequestKey, size: int | None) -> None:
        """Refuse a reply that would exceed the analyst's quota."""
        place, now = (request.dataset, request.who), time.monotonic()
        until, used = self._used.get(place, (0.0, 0))
        if until < now:
            used = self._state.stored_bytes(*place)
            self._used[place] = (now + COUNTED, used)
        if used + (size or 0) > self._most:
            raise refusals.STORED_REPLIES_FULL(
                used=used, most=self._most, needed=size or 0, days=self._days
            )

    def add(self, request: RequestKey, size: int) -> None:
        """Count the bytes of a reply just stored."""
        place = (request.dataset, request.who)
        until, used = self._used.get(place, (0.0, 0))
        self._used[place] = (until, used + size)


def reply_bytes(
    keys: Mapping[str, Sequence[Key]], columns: Mapping[str, int], pieces: Sequence[int], texts: int
) -> int:
    """Return a bound on the bytes of a reply, from the keys with their public values, the columns
    with their numbers of bins, the components with their numbers of cells, and `texts`: the bytes
    of the question and the declaration, which the reply quotes.
    """
    groups = math.prod(len(values) for values in keys.values())
    named = sum(
        _length(name) + 4 + 2 * max((_length(value) for value in values), default=0)
        for name, values in keys.items()
    )
    # the value and both ends of its interval
    shown = sum(bins * 3 * (_length(name) + 6 + NUMBER) for name, bins in columns.items())
    rows = max(columns.values(), default=1)  # a histogram has a row for each bin
    return (
        ANSWER
        + 4 * texts
        + MECHANISM * len(pieces)
        + groups * (rows * (named + BIN * (rows > 1)) + shown + NUMBER * sum(pieces))
    )


def _length(value: Key) -> int:
    return len(dumped(key(value)))
