"""The plan of a text: the errors of the columns that are shown, computed ones among them."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session import Table

RATIO = "SELECT SUM(x) / COUNT(*) AS r FROM t"


def _table(rows: int = 1000) -> Table:
    built = pa.table({"u": range(rows), "x": [9.0] * rows})
    return sf.protect(
        built, name="t", unit="u", max_rows=1, bounds={"x": (0, 10)}, budget=sf.Pure(10**6)
    )


def test_the_columns_are_those_that_are_shown() -> None:
    """Under the names of the text; an aggregate that only HAVING names is paid for, and not
    shown.
    """
    with _table() as table:
        plan = table.plan(
            (
                "SELECT COUNT(*) AS n, SUM(x) / COUNT(*) AS r, AVG(x) FROM t HAVING "
                "COUNT(DISTINCT u) > 5"
            ),
            epsilon=1,
        )
        part = table.plan(plan.query, epsilon=1)
        assert list(plan.error()) == ["n", "r", "AVG(x)"]
        assert plan.error()["n"] == part.error()["n"]
        assert plan.error()["AVG(x)"] == part.error()["AVG(x)"]
        assert plan.mechanism == part.mechanism


def test_errors_of_arithmetic_follow_from_those_of_its_parts() -> None:
    with _table() as table:
        plan = table.plan(
            "SELECT COUNT(*) AS n, COUNT(*) - 5 AS m, 3 * COUNT(*) AS k, -COUNT(*) AS o FROM t",
            epsilon=1,
        )
        error = plan.error(0.9)
        assert error["m"] == pytest.approx(error["n"], rel=1e-9)
        assert error["k"] == pytest.approx(3 * error["n"], rel=1e-9)
        assert error["o"] == pytest.approx(error["n"], rel=1e-9)
        assert plan.error(0.99)["m"] > error["m"]


def test_a_ratio_at_its_assumed_size() -> None:
    """(9000 + a) / (1000 + b) by hand, at the worst of the places that are assumed: all values at
    the upper end.
    """
    with _table() as table:
        plan = table.plan(RATIO, epsilon=1)
        total, count = (plan._width(place, 1 - (1 - Fraction(95, 100)) / 2) for place in (0, 1))
        assert plan.error()["r"] == pytest.approx(
            float((10_000 + total) / (1000 - count) - 10), rel=1e-9
        )
        assert plan.error(group_size=10**6)["r"] < plan.error()["r"]


def test_it_holds() -> None:
    """A hundred answers about a group of the assumed size. The interval holds with 95 % at least:
    more than 25 misses come about once in 10^11 runs. Of a tenth of it, which is the twin, they do
    come.
    """
    with _table() as table:
        error = table.plan(RATIO, epsilon="0.5").error()["r"]
        off = [abs(float(table.sql(RATIO, epsilon="0.5", fresh=True)) - 9) for _ in range(100)]
    assert sum(x > error for x in off) <= 25
    assert sum(x > error / 10 for x in off) > 25


def test_what_has_no_expected_error_says_why() -> None:
    with _table() as table:
        plan = table.plan(
            "SELECT 2 * MEDIAN(x) AS q, SUM(x) / (COUNT(*) - 1000) AS d FROM t", epsilon=1
        )
        error = plan.error()
        assert math.isnan(error["q"])
        assert error["d"] == math.inf
        text = plan.explain()
        assert "error   q not known before: it is computed from a quantile" in text
        assert "error   d without limit in a group of 1000 rows" in text
        assert "error   n ± " in table.sql("EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM t", epsilon=1)


def test_every_kind_has_a_place_between_its_bounds() -> None:
    with _table() as table:
        text = (
            "SELECT SUM(x) + 1 AS a, AVG(x) + 1 AS b, VARIANCE(x) + 1 AS c, STDDEV(x) + 1 AS "
            "d, COUNT(DISTINCT u) + 1 AS e, COUNT(x) + 1 AS f FROM t"
        )
        error = table.plan(text, epsilon=1).error()
        assert all(0 < value < math.inf for value in error.values())
