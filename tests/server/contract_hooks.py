"""Hooks for schemathesis: some of its questions get a SELECT that can be asked, so that what comes
after the reader is reached as well.
"""

from __future__ import annotations

from typing import Any

import schemathesis

QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    "SELECT MEDIAN(age) AS a, SUM(spend) / COUNT(*) AS s FROM visits WHERE age > 30",
    "SELECT HISTOGRAM(age, [0, 30, 60, 120]) AS h FROM visits",
    "EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits",
    "SELECT note FROM visits",
)


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """A text of the right length becomes one of these, as often as not; which one follows from the
    text.
    """
    text = body.get("sql") if isinstance(body, dict) else None
    if not isinstance(text, str) or not 1 <= len(text) <= 10_000:
        return body
    place = sum(map(ord, text)) % (2 * len(QUESTIONS))
    return {**body, "sql": QUESTIONS[place]} if place < len(QUESTIONS) else body
