"""Frames of windows, beside those of DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

import sfumato as sf
from sfumato.session import Table
from sfumato.testing.exact_checks import exact_answer

ROWS = [
    ("a", "x", 3),
    ("a", "y", 1),
    ("b", "x", 2),
    ("b", "y", 2),
    ("c", "x", 5),
    ("c", "y", 4),
]
WINDOWS = [
    "SUM({}) OVER ()",
    "SUM({}) OVER (ORDER BY g)",
    "SUM({}) OVER (PARTITION BY h ORDER BY g)",
    "SUM({}) OVER (PARTITION BY g)",
    "AVG({}) OVER (PARTITION BY h ORDER BY g ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "MAX({}) OVER (ORDER BY g, h ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "MIN({}) OVER (ORDER BY g DESC, h ROWS 1 PRECEDING)",
    "COUNT(*) OVER (PARTITION BY g)",
    "SUM({}) OVER (ORDER BY g, h ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "SUM({}) OVER (ORDER BY g, h ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
    "LAG({}) OVER (ORDER BY g, h)",
    "LAG({}, 2, 7) OVER (ORDER BY g, h)",
    "LEAD({}) OVER (PARTITION BY h ORDER BY g)",
    "FIRST_VALUE({}) OVER (PARTITION BY h ORDER BY g)",
    "LAST_VALUE({}) OVER (PARTITION BY h ORDER BY g)",
    "NTH_VALUE({}, 2) OVER (ORDER BY g, h)",
    "RANK() OVER (ORDER BY {} DESC)",
    "DENSE_RANK() OVER (ORDER BY {})",
    "ROW_NUMBER() OVER (PARTITION BY h ORDER BY {} DESC)",
    "NTILE(4) OVER (ORDER BY g, h)",
    "RANK() OVER (PARTITION BY h ORDER BY {} DESC) + 10 * RANK() OVER (ORDER BY g)",
    "{} - LAG({}) OVER (ORDER BY g, h) + 2 * SUM({}) OVER (ORDER BY h)",
]


@pytest.fixture(scope="module")
def table() -> Table:
    import pyarrow as pa

    listed = [(g, h) for g, h, count in ROWS for _ in range(count)]
    data = pa.table({"g": [g for g, _ in listed], "h": [h for _, h in listed]})
    keys = {"g": ["a", "b", "c"], "h": ["x", "y"]}
    return sf.protect(data, name="t", budget=sf.Pure(10), keys=keys)


@pytest.mark.parametrize("window", WINDOWS)
def test_as_in_duckdb(table: Table, window: str) -> None:
    plan: Any = table.plan(
        f"SELECT g, h, COUNT(*) AS n, {window.replace('{}', 'COUNT(*)')} AS w FROM t GROUP BY g, h",
        epsilon=1,
    )
    answer = plan.finish(exact_answer(plan, table))
    values = ", ".join(f"('{g}', '{h}', {n})" for g, h, n in ROWS)
    expected = duckdb.sql(
        f"SELECT g, h, {window.replace('{}', 'n')} AS w "
        f"FROM (VALUES {values}) AS t(g, h, n) ORDER BY g, h"
    ).fetchall()
    assert [row[:2] for row in expected] == list(answer.rows)
    listed = np.array([np.nan if w is None else float(w) for *_, w in expected])
    np.testing.assert_allclose(answer["w"], listed)


@pytest.mark.parametrize("window", WINDOWS)
def test_no_group_is_left(table: Table, window: str) -> None:
    text = f"SELECT g, h, COUNT(*) AS n, {window.replace('{}', 'COUNT(*)')} AS w FROM t"
    plan: Any = table.plan(f"{text} GROUP BY g, h HAVING n > 1000", epsilon=1)
    answer = plan.finish(exact_answer(plan, table))
    assert not answer.rows
    assert answer["w"].shape == (0,)
    assert sf.answers.Answer.from_json(answer.to_json()) == answer


def test_an_outer_question_about_no_group(table: Table) -> None:
    plan: Any = table.plan(
        "SELECT AVG(n) AS m, COUNT(*) AS k FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) "
        "WHERE n > 1000",
        epsilon=1,
    )
    answer = plan.finish(exact_answer(plan, table))
    assert len(answer) == 0
    assert "no group is shown" in str(answer)
