"""Keys that differ by capitals, blanks or the form of Unicode, and moments near midnight in another
zone: a table that every engine has to take alike.
"""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.sql import read
from sfumato.testing.exact_checks import exact_answer

NAMES = [
    "Roma",
    "roma",
    "ROMA",
    "Roma ",
    " Roma",
    "Róma",
    "Ro\u0301ma",
    "",
    " ",
    "ß",
    "ss",
    "\ufb01",
    "fi",
    "😀",
    None,
]
TIMES = [
    datetime.datetime(2026, 3, 28 + hour // 24, hour % 24, 30, tzinfo=datetime.UTC)
    for hour in range(0, 48, 5)
]


def frame() -> pa.Table:
    rows = range(60)
    return pa.table(
        {
            "id": pa.array(rows, pa.int32()),
            "city": pa.array([NAMES[i % len(NAMES)] for i in rows], pa.string()),
            "padded": pa.array([(NAMES[i % 4] or "").rstrip(" ") for i in rows], pa.string()),
            "seen": pa.array([TIMES[i % len(TIMES)] for i in rows], pa.timestamp("us", "UTC")),
            "spend": pa.array([i / 4 for i in rows], pa.float64()),
        }
    )


def protected(source: Any, **more: Any) -> Any:
    about = {
        "name": "visits",
        "unit": "id",
        "max_rows": 2,
        "bounds": {"spend": (0, 10)},
        "budget": sf.Approx(100, "1e-3"),
    }
    return sf.protect(source, **{**about, **more})


QUESTIONS = [
    "SELECT city, COUNT(*) AS n, SUM(spend) AS s FROM visits GROUP BY city",
    "SELECT padded, COUNT(*) AS n FROM visits GROUP BY padded",
    "SELECT date_trunc('day', seen) AS day, COUNT(*) AS n FROM visits GROUP BY day",
    "SELECT TRY_CAST(seen AS DATE) AS day, COUNT(*) AS n FROM visits GROUP BY day",
    "SELECT hour(seen) AS h, COUNT(*) AS n FROM visits GROUP BY h",
    "SELECT upper(city) AS u, COUNT(*) AS n FROM visits GROUP BY u",
    "SELECT COUNT(*) AS n FROM visits WHERE city > 'Roma' AND city LIKE '%o%'",
    (
        "SELECT COUNT(*) AS n FROM visits WHERE seen >= TIMESTAMP '2026-03-29 00:00:00' AND "
        "city = 'Roma'"
    ),
]


def tallied(source: Any, text: str, **more: Any) -> Any:
    """The groups of an answer, and every integer before the noise."""
    with protected(source, **more) as table:
        answer = exact_answer(
            table.plan(read(text, table.rows, None).query, epsilon=1, delta="1e-6"), table
        )
        return answer.rows, [piece.values.tolist() for piece in answer.pieces]
