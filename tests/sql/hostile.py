"""Texts that have to be refused, in classes: those of `hostile.json`, and some that are too long to
be written down.

Names are those of the recipes they come from: D is a recipe for query languages, the others are
ours.
"""

from __future__ import annotations

import json
from pathlib import Path

COUNT = "SELECT COUNT(*) AS n FROM visits"
WHERE = "SELECT COUNT(*) FROM visits WHERE "

LONG: dict[str, list[str]] = {
    "deep nesting": [
        "SELECT " + "(" * 200 + "1" + ")" * 200 + " FROM visits",
        WHERE + "NOT " * 3000 + "vip",
        WHERE + "- " * 3000 + "age > 1",
        WHERE + " + ".join(["age"] * 1500) + " > 1",
        WHERE + " OR ".join(["vip"] * 2000),
        WHERE + "CASE WHEN vip THEN " * 90 + "TRUE" + " END" * 90,
        WHERE + "age" + "::INT" * 900 + " > 1",
        WHERE + "(age + (" * 40 + "1" + "))" * 40 + " > 1",
        WHERE + "age" + " BETWEEN 1 AND 2" * 100,
        WHERE + "age IN (" * 30 + "1" + ")" * 30,
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 60 + "visits" + ")" * 60,
        "SELECT " + "[" * 300 + "]" * 300,
        "SELECT " + "abs(" * 120 + "age" + ")" * 120 + " FROM visits",
        "SELECT COUNT(*) FROM visits " + "JOIN visits " * 60,
        "SELECT " + "{'a': " * 90 + "1" + "}" * 90,
        "SELECT " + "a." * 900 + "b FROM visits",
        "WITH "
        + ", ".join(
            f"a{i} AS (SELECT * FROM {f'a{i - 1}' if i else 'visits'} LIMIT 1)" for i in range(40)
        )
        + " SELECT COUNT(*) FROM a39",
        "SELECT COUNT(*) FROM (SELECT a + a AS a FROM " * 14
        + "(SELECT age AS a FROM visits)"
        + ")" * 14
        + " WHERE a > 1",
    ],
    "huge texts": [
        COUNT + " " * 30_000,
        COUNT + " WHERE age IN (" + ", ".join(map(str, range(9000))) + ")",
        COUNT + " WHERE city = '" + "x" * 25_000 + "'",
        COUNT + " WHERE city = '" + "x" * 5000 + "'",
        COUNT + " -- " + "x" * 25_000,
        "SELECT " + "x" * 25_000,
        "SELECT " + ", ".join(f"COUNT(*) AS c{i}" for i in range(300)) + " FROM visits",
        WHERE + "age > " + "9" * 500,
        "SELECT QUANTILE(age, 0." + "1" * 300 + ") FROM visits",
        "SELECT HISTOGRAM(age, ["
        + ", ".join(map(str, range(3000)))
        + "]) FROM visits WHERE age IN ("
        + "1, " * 500
        + "1)",
    ],
}

_STORED: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "hostile.json").read_text(encoding="utf-8")
)

HOSTILE = {
    kind: [*_STORED.get(kind, []), *LONG.get(kind, [])]
    for kind in [*_STORED, *(kind for kind in LONG if kind not in _STORED)]
}
"""Class → texts."""
