"""Intervals across groups where the counts decided themselves which groups are shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.session.protected_table import Table

SIZE, GROUPS = 12, 40
ACROSS = (
    "SELECT g, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total, AVG(COUNT(*)) OVER () AS mean "
    "FROM t GROUP BY g"
)
OUTER = "(SELECT g, COUNT(*) AS n FROM t GROUP BY g) s"
NOBODY = [
    "SELECT g, SUM(COUNT(*)) OVER () AS c FROM t GROUP BY g",
    "SELECT g, SUM(SUM(x)) OVER () AS c FROM t GROUP BY g",
    "SELECT g, SUM(x) - LAG(SUM(x)) OVER (ORDER BY g) AS c FROM t GROUP BY g",
    f"SELECT SUM(n) AS c, MAX(n) AS m FROM {OUTER}",
    "SELECT SUM(s) AS c FROM (SELECT g, SUM(x) AS s FROM t GROUP BY g) s",
]


def table(people: int) -> Table:
    """People with one row each, in groups of SIZE."""
    frame = pd.DataFrame(
        {"u": range(people), "g": [f"g{i // SIZE}" for i in range(people)], "x": 1.0}
    )
    return sf.protect(
        frame,
        name="t",
        unit="u",
        max_rows=1,
        bounds={"x": [0, 1]},
        budget=sf.Approx(1000, 1e-2),
    )


@pytest.fixture(scope="module")
def people() -> Iterator[Table]:
    with table(SIZE * GROUPS) as small_groups:
        yield small_groups


def test_sums_of_counts_that_decided_themselves(people: Table) -> None:
    """Groups near the threshold are shown when their noise is large: the law of the noise as it is
    would hold 4 of 114 times. At 95 % fewer than 35 of 60 releases have probability below 1e-15.
    """
    held = {"n": 0, "total": 0, "mean": 0}
    releases = 0
    while releases < 60:
        answer = people.sql(ACROSS, epsilon=1, delta=1e-6, fresh=True)
        shown = len(answer.rows)
        if not shown:
            continue
        releases += 1
        for name, truth in (("n", SIZE), ("total", SIZE * shown), ("mean", SIZE)):
            low, high = (np.asarray(end, dtype=float) for end in answer.interval(name))
            held[name] += bool(((low <= truth) & (truth <= high))[0])
    assert min(held.values()) >= 35


@pytest.mark.parametrize("question", NOBODY)
def test_an_answer_without_groups_prints(question: str) -> None:
    """It is paid for, so it may not break."""
    with table(1) as one_person:
        answer = one_person.sql(question, epsilon=0.5, delta=1e-9)
        assert "no group is shown" in str(answer)
        assert answer.explain()
        assert answer._repr_html_()


@pytest.mark.parametrize(
    "column", ["RANK() OVER (ORDER BY n DESC)", "n - LAG(n) OVER (ORDER BY g)"]
)
def test_a_window_stands_beside_plain_columns_of_a_sub_query(people: Table, column: str) -> None:
    answer = people.sql(f"SELECT g, n, {column} AS c FROM {OUTER}", epsilon=2, delta=1e-6)
    assert "c" in str(answer).splitlines()[0]


LACKING = {
    "SUM(NULLIF(ROUND(n), 12))": 150.0,
    "AVG(NULLIF(ROUND(n), 12))": 30.0,
    "MIN(NULLIF(ROUND(n), 12))": 30.0,
    "MIN(SQRT(n - 13))": 17**0.5,
    "MIN(LEAST(NULLIF(ROUND(n), 12), 100))": 30.0,
    "MAX(LEAST(NULLIF(ROUND(n), 12), 100))": 100.0,
    "SUM(COALESCE(NULLIF(ROUND(n), 12), 1))": 155.0,
}
"""An aggregate over five groups of 12 rows and five of 30 → its value without noise. A group of 12
has no value then, and has one with noise.
"""
NOT_TOLD = ("COUNT(NULLIF(ROUND(n), 12))", "COUNT(n / n)", "SUM(n) / COUNT(SQRT(n - 13))")
"""Numbers of groups with a value, of which nothing is known but the number of groups."""


@pytest.fixture(scope="module")
def two_sizes() -> Iterator[Table]:
    groups = [f"g{i}" for i in range(10) for _ in range(12 if i % 2 else 30)]
    frame = pd.DataFrame({"u": range(len(groups)), "g": groups})
    keys = {"g": sorted(set(groups))}
    with sf.protect(frame, name="t", unit="u", max_rows=1, keys=keys, budget=10_000) as table:
        yield table


def test_groups_that_may_lack_a_value_without_noise(two_sizes: Table) -> None:
    """The noise decides in which groups NULLIF and SQRT have a value; the ends hold for the groups
    that have one without noise. At 95 % fewer than 10 of 20 have probability below 1e-8.
    """
    columns = ", ".join(f"{text} AS c{i}" for i, text in enumerate(LACKING))
    held = dict.fromkeys(LACKING, 0)
    for _ in range(20):
        answer = two_sizes.sql(f"SELECT {columns} FROM {OUTER}", epsilon=1, fresh=True)
        for i, (text, truth) in enumerate(LACKING.items()):
            low, high = answer.interval(f"c{i}")
            held[text] += bool(low[0] <= truth <= high[0])
    assert min(held.values()) >= 10, held


@pytest.mark.parametrize(
    "column",
    [
        *NOT_TOLD,
        "COUNT(NULLIF(ROUND(n), 12)) OVER (ORDER BY g)",
        "RANK() OVER (ORDER BY NULLIF(ROUND(n), 12))",
    ],
)
def test_numbers_of_groups_with_a_value_have_no_interval(two_sizes: Table, column: str) -> None:
    key = "g, " if "OVER" in column else ""
    answer = two_sizes.sql(f"SELECT {key}{column} AS c FROM {OUTER}", epsilon=1)
    with pytest.raises(sf.Refused):
        answer.interval("c")
    assert "c" in str(answer)
