"""A survey of 24 invented students that reproduces every number that the source prints about its
survey (S-140, S-141).

The source shows six rows, of which two contradict its counts: a man of 24 and a woman of 23, where
by the counts the only student of 24 is a woman and all of 23 are men (E-59). The other four rows
are here as printed; the remaining twenty are made up. Nobody of them exists.
"""

from __future__ import annotations

COLUMNS = ("age", "sex", "siblings", "start", "best", "worst", "cheated", "drugs")

_ROWS: tuple[tuple[int | str, ...], ...] = (
    (21, "f", 3, "SS2017", 1, 5, "no", "no"),  # as printed
    (23, "m", 1, "WS2017", 1, 5, "yes", "yes"),  # as printed
    (24, "f", 1, "WS2017", 1, 4, "no", "no"),
    (23, "m", 1, "WS2017", 1, 5, "yes", "no"),
    (20, "f", 0, "WS2017", 1, 2, "no", "yes"),  # as printed
    (21, "f", 3, "SS2017", 2, 5, "yes", "no"),
    (21, "f", 1, "SS2017", 1, 4, "no", "no"),
    (21, "f", 2, "WS2016", 1, 3, "no", "yes"),
    (21, "f", 1, "WS2017", 1, 4, "yes", "no"),
    (22, "f", 1, "WS2016", 2, 4, "no", "no"),
    (22, "f", 0, "WS2017", 1, 3, "no", "no"),
    (22, "m", 2, "SS2017", 1, 5, "yes", "no"),
    (22, "m", 1, "WS2017", 2, 4, "no", "yes"),
    (23, "m", 0, "WS2017", 1, 4, "no", "no"),
    (23, "m", 2, "WS2017", 2, 4, "yes", "no"),
    (25, "f", 1, "WS2016", 1, 3, "no", "no"),
    (25, "m", 3, "WS2016", 2, 5, "yes", "yes"),
    (26, "m", 0, "SS2016", 1, 4, "no", "no"),
    (27, "f", 2, "SS2016", 2, 4, "no", "no"),
    (27, "f", 1, "WS2015", 1, 5, "yes", "yes"),
    (27, "m", 1, "WS2015", 2, 5, "no", "no"),
    (27, "m", 1, "WS2015", 1, 5, "yes", "no"),
    (31, "f", 4, "WS2014", 2, 4, "no", "no"),
    (21, "m", 0, "WS2017", 1, 1, "no", "yes"),  # as printed
)


def survey() -> dict[str, list[int | str]]:
    """Return the answers of 24 invented students, column by column, for any attack."""
    numbers: list[int | str] = list(range(1, len(_ROWS) + 1))
    return {"id": numbers} | {
        name: [row[place] for row in _ROWS] for place, name in enumerate(COLUMNS)
    }
