"""The time of an entry: UTC, to the millisecond."""

from __future__ import annotations

import datetime
import time
from functools import lru_cache


def now() -> str:
    second, thousandths = divmod(time.time_ns() // 1_000_000, 1000)
    # a format of three digits would take three times as long
    return f"{_date(second)}.{str(1000 + thousandths)[1:]}+00:00"


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return datetime.datetime.fromtimestamp(second, datetime.UTC).isoformat()[:19]
