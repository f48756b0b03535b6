"""When an entry was made."""

from __future__ import annotations

import datetime

import pytest

from sfumato.ledger import clock


@pytest.mark.parametrize(
    "nanoseconds",
    [
        0,
        999_999,
        1_000_000,
        7_000_000,
        42_123_456,
        999_999_999,
        1_000_000_000,
        1_763_316_245_060_999_999,
        2**62,
    ],
)
def test_utc_to_the_thousandth(nanoseconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock.time, "time_ns", lambda: nanoseconds)
    second, rest = divmod(nanoseconds, 10**9)
    true = datetime.datetime.fromtimestamp(second, datetime.UTC).replace(
        microsecond=rest // 1_000_000 * 1000
    )
    assert clock.now() == true.isoformat(timespec="milliseconds")
