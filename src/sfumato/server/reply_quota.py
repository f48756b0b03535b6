"""The room that stored replies take: how large an answer may be, and how much one analyst may keep,
both before anything is charged.

*Answer*    Where its groups are public, the bytes of a reply are bounded from its shape: names,
            keys, and a bound on each number. Where they are not, how many there are comes from
            released noise, and what was stored is counted afterwards.
*Quota*     Of each analyst, in each dataset: the distinct bodies that are kept for their keys, and
            a row for each request. Requests are let go after `keep_days`, and their room is free
            again.
*Ledger*    keeps each answer for ever, in fewer bytes than the reply. How many there can be is
            bounded by `most_releases`.
*Counted*   from the records, at most once a minute for each analyst; in between, what this process
            has stored since is added.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Refused
from .config import Config
from .http.encode_replies import dumped, key
from .request_store import Request, State

NUMBER = 26  # bytes of a number, and of the signs around it
BIN = 64  # bytes of the ends of a bin, as a row says them
MECHANISM = 2048  # bytes that tell of the noise of one piece
ANSWER = 8192  # bytes of what a reply has once: promise, receipt, rules
COUNTED = 60.0  # seconds that a count of the records is used for


class Room:
    """What each analyst keeps, as one process knows it."""

    def __init__(self, config: Config, state: State) -> None:
        self._most, self._days, self._state = config.stored_per_analyst, config.keep_days, state
        self._used: dict[tuple[str, str], tuple[float, int]] = {}

    def check(self, request: Request, size: int | None) -> None:
        """Refuse a reply that would not fit."""
        place, now = (request.dataset, request.who), time.monotonic()
        until, used = self._used.get(place, (0.0, 0))
        if until < now:
            used = self._state.stored(*place)
            self._used[place] = (now + COUNTED, used)
        if used + (size or 0) > self._most:
            reason = (
                f"the replies kept for it take {used} of {self._most} bytes "
                f"(`stored_per_analyst`), and this one may take {size or 0}; nothing was "
                f"charged"
            )
            raise Refused(
                "server.stored",
                "the token's name",
                reason,
                (
                    f"a smaller answer; replies are let go after {self._days} days, or the "
                    f"owner allows more"
                ),
            )

    def add(self, request: Request, size: int) -> None:
        """Count what was stored just now."""
        place = (request.dataset, request.who)
        until, used = self._used.get(place, (0.0, 0))
        self._used[place] = (until, used + size)


def reply_bytes(
    keys: Mapping[str, Sequence[Any]], columns: Mapping[str, int], pieces: Sequence[int], texts: int
) -> int:
    """A bound on the bytes of a reply: of keys with their public values, of columns with their
    numbers of bins, of pieces with their numbers of cells, and of `texts`, the bytes of the
    question and the declaration, which it quotes.
    """
    groups = math.prod(len(values) for values in keys.values())
    named = sum(
        _length(name) + 4 + 2 * max((_length(value) for value in values), default=0)
        for name, values in keys.items()
    )
    shown = sum(
        bins * 3 * (_length(name) + 6 + NUMBER) for name, bins in columns.items()
    )  # the value and both ends of its interval
    rows = max(columns.values(), default=1)  # a histogram has a row for each bin
    return (
        ANSWER
        + 4 * texts
        + MECHANISM * len(pieces)
        + groups * (rows * (named + BIN * (rows > 1)) + shown + NUMBER * sum(pieces))
    )


def _length(value: Any) -> int:
    return len(dumped(key(value)))
