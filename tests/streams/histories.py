"""Histories of a growing table: the rows that each day's table holds, and what a stream publishes
of them. Every day opens the table and the stream anew, as a restart does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.streams import Stream

START = date(2026, 1, 1)
CITIES = ["Bari", "Roma"]
QUERY = "SELECT city, COUNT(*) AS n, SUM(spend) AS spend FROM visits GROUP BY city"


class Visit(NamedTuple):
    """A row, the day of which it is about, and the days on which the table holds it."""

    user: int
    city: str
    spend: int
    day: int
    visible: range


def table_at(visits: Sequence[Visit], day: int) -> pa.Table:
    """The table at the end of a day, numbered from 1."""
    rows = [v for v in visits if day in v.visible]
    return pa.table(
        {
            "user": pa.array([v.user for v in rows], pa.int64()),
            "city": pa.array([v.city for v in rows], pa.string()),
            "spend": pa.array([v.spend for v in rows], pa.int64()),
            "day": pa.array([START + timedelta(v.day - 1) for v in rows], pa.date32()),
        }
    )


def open_stream(rows: Any, ledger: Path | None, **options: Any) -> Stream:
    """A stream of visits; without `unit=None` each user is protected."""
    unit = options.pop("unit", "user")
    table = sf.protect(
        rows,
        name="visits",
        unit=unit,
        each_row_a_person=unit is None,
        bounds={"spend": (-10, 100)},
        keys={"city": CITIES},
        budget=options.pop("table_budget", sf.ZCDP(10, "1e-3")),
        relation=options.pop("relation", "add-remove"),
        ledger=ledger,
    )
    chosen: dict[str, Any] = {"time": "day", "start": START, "promise": sf.ZCDP(1)} | options
    return sf.stream(table, chosen.pop("query", QUERY), **chosen)


def publish(visits: Sequence[Visit], days: int, ledger: Path, **options: Any) -> Stream:
    """Publish every day at its end, each in a new session, and return the last one."""
    for day in range(1, days):
        stream = open_stream(table_at(visits, day), ledger, **dict(options))
        stream.advance(until=START + timedelta(day))
        close(stream)
    last = open_stream(table_at(visits, days), ledger, **dict(options))
    last.advance(until=START + timedelta(days))
    return last


def close(stream: Stream) -> None:
    """Close the table of a stream, as the end of a session does."""
    table: Any = stream._by_period.query.rows.curator
    table.close()


def squared_distance(a: Stream, b: Stream) -> float:
    """The squared distance of what two streams measured, over the variance of their noise."""
    total = 0.0
    for measure, x, y in zip(a._measures, a._measured, b._measured, strict=True):
        moved = np.array(
            [
                [int(i) - int(j) for i, j in zip(*pair, strict=True)]
                for pair in zip(x, y, strict=True)
            ]
        )
        total += (
            float((moved.astype(float) ** 2).sum()) / float(measure.noise.stretch(0).law.sigma) ** 2
        )
    return total
