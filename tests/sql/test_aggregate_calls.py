"""Aggregates in SQL's spelling."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session import Table

from .asking import lines, refused, under
from .people import protected, unasked

MADE = {
    "COUNT(*)": "count()",
    "COUNT()": "count()",
    "COUNT(1)": "count()",
    "COUNT(spend)": "count(spend)",
    "COUNT(NULL::INT)": "count(TRY_CAST(NULL AS int32))",
    "COUNT(DISTINCT user_id)": "count_units()",
    "COUNT(DISTINCT (user_id))": "count_units()",
    "COUNT(DISTINCT city)": "count_distinct(city)",
    "COUNT(DISTINCT age // 10) FILTER (WHERE vip)": "count_distinct(div(age, 10), where=vip)",
    "COUNT_IF(vip)": "count(where=vip)",
    "COUNT(*) FILTER (WHERE vip)": "count(where=vip)",
    "SUM(spend)": "sum(spend)",
    "SUM((spend))": "sum(spend)",
    "SUM(CLAMP(amount, 0, 9))": "sum(amount, low=0, high=9)",
    "SUM(CLAMP(amount, -1.5, 9)) FILTER (WHERE vip AND age > 1)": (
        "sum(amount, low=-1.5, high=9, where=vip AND (age > 1))"
    ),
    "SUM(age * spend)": "sum(age * spend)",
    "RATIO(spend, age)": "ratio(spend, age)",
    "RATIO(CLAMP(amount, 0, 9), age)": "ratio(amount, age, low=0, high=9)",
    "WEIGHTED_AVG(spend, age)": "weighted_mean(spend, age)",
    "WAVG(spend, age)": "weighted_mean(spend, age)",
    "AVG_WEIGHTED(spend, age)": "weighted_mean(spend, age)",
    "MIN(age)": "min(age, confidence=0.95)",
    "MAX(CLAMP(amount, 0, 9))": "max(amount, low=0, high=9, confidence=0.95)",
    "AVG(age)": "mean(age)",
    "MEAN(age)": "mean(age)",
    "MEDIAN(age)": "quantile(age, 0.5, confidence=0.95)",
    "QUANTILE(age, 0.9)": "quantile(age, 0.9, confidence=0.95)",
    "QUANTILE_CONT(age, 0.9)": "quantile(age, 0.9, confidence=0.95)",
    "APPROX_QUANTILE(age, 0.9)": "quantile(age, 0.9, confidence=0.95)",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)": "quantile(age, 0.9, confidence=0.95)",
    "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age DESC)": "quantile(age, 0.1, confidence=0.95)",
    "MEDIAN(CLAMP(amount, 0, 9))": "quantile(amount, 0.5, low=0, high=9, confidence=0.95)",
    "VAR(age)": "sample_variance(age)",
    "VARIANCE(age)": "sample_variance(age)",
    "VAR_POP(age)": "variance(age)",
    "VAR_SAMP(age)": "sample_variance(age)",
    "STDDEV(age)": "sample_std(age)",
    "STDDEV_POP(age)": "std(age)",
    "STDDEV_SAMP(age)": "sample_std(age)",
    "COVAR_POP(age, spend)": "covariance(age, spend)",
    "COVAR_SAMP(CLAMP(age, 0, 9), spend)": "sample_covariance(age, spend, low=0, high=9)",
    "CORR(age, CLAMP(spend, 0, 9))": "correlation(age, clip(spend, 0, 9))",
    "REGR_SLOPE(CLAMP(spend, 0, 9), age)": "regression_slope(spend, age, low=0, high=9)",
    "REGR_INTERCEPT(spend, CLAMP(age, 0, 9))": "regression_intercept(spend, clip(age, 0, 9))",
    "regr_r2(spend, age)": "regression_r2(spend, age)",
    "REGR_COUNT(amount, CLAMP(amount, 0, 9))": "regression_count(amount, clip(amount, 0, 9))",
    "REGR_COUNT(CLAMP(amount, 0, 9), age)": "regression_count(amount, age)",
    "REGR_AVGX(CLAMP(amount, 0, 9), age)": "regression_mean_x(amount, age)",
    "REGR_AVGY(CLAMP(amount, 0, 9), note)": "regression_mean_y(amount, note, low=0, high=9)",
    "HISTOGRAM(age, [0, 10.5, 20])": "histogram(age, edges=[0, 10.5, 20])",
    "MEDIAN(LENGTH(city))": "quantile(length(city), 0.5, confidence=0.95)",
}


@pytest.mark.parametrize("text", MADE)
def test_made(table: Table, text: str) -> None:
    assert lines(table, f"SELECT {text} AS x FROM visits") == [f"x = {MADE[text]}"]


@pytest.mark.parametrize(
    ("text", "code", "rewrite"),
    [
        ("SUM(amount)", "sql.bounds", "SELECT SUM(CLAMP(amount, 0, 100)) FROM visits"),
        ("MEAN(amount)", "sql.bounds", "SELECT MEAN(CLAMP(amount, 0, 100)) FROM visits"),
        (
            "AVG(LENGTH(city))",
            "sql.bounds",
            "SELECT AVG(CLAMP(LENGTH(city), 0, 100)) FROM visits",
        ),
        (
            "AVG(amount) FILTER (WHERE vip)",
            "sql.bounds",
            "SELECT AVG(CLAMP(amount, 0, 100)) FILTER (WHERE vip) FROM visits",
        ),
        (
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount)",
            "sql.bounds",
            "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY CLAMP(amount, 0, 100)) FROM visits",
        ),
        ("MAX(amount)", "sql.bounds", "SELECT MAX(CLAMP(amount, 0, 100)) FROM visits"),
        (
            "RATIO(amount, age)",
            "sql.bounds",
            "SELECT RATIO(CLAMP(amount, 0, 100), age) FROM visits",
        ),
        (
            "MODE(city)",
            "sql.aggregate",
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC LIMIT 1",
        ),
        (
            "COUNT(DISTINCT city, user_id)",
            "sql.distinct",
            "SELECT city, COUNT(DISTINCT user_id) FROM visits GROUP BY city",
        ),
        (
            "QUANTILES(age, 0.5)",
            "sql.aggregate",
            "SELECT QUANTILES(age, [0.25, 0.5, 0.75]) FROM visits",
        ),
        ("SUM(DISTINCT age)", "sql.distinct", "SELECT SUM(age) FROM visits"),
        ("SUM(CLAMP(amount, 9, 0))", "sql.bounds", "SELECT SUM(CLAMP(amount, 0, 100)) FROM visits"),
        (
            "WEIGHTED_AVG(spend, age - 10)",
            "aggregate.weight",
            "SELECT WEIGHTED_AVG(spend, CLIP(age - 10, 0, 5)) FROM visits",
        ),
        (
            "COUNT(DISTINCT user_id) FILTER (WHERE vip)",
            "aggregate.units",
            "SELECT COUNT(DISTINCT user_id) FROM visits WHERE vip",
        ),
        (
            "HISTOGRAM(vip, [0, 1])",
            "aggregate.type",
            "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip",
        ),
        ("CORR(age)", "sql.aggregate", "SELECT CORR(age, spend) FROM visits"),
        ("CORR(age, spend, vip)", "sql.aggregate", "SELECT CORR(age, spend) FROM visits"),
        ("CORR(DISTINCT age, spend)", "sql.distinct", "SELECT CORR(age, spend) FROM visits"),
        ("COVAR_POP()", "sql.aggregate", "SELECT COVAR_POP(age, spend) FROM visits"),
        ("REGR_SLOPE(*)", "sql.aggregate", "SELECT REGR_SLOPE(age, spend) FROM visits"),
        (
            "REGR_R2(spend) FILTER (WHERE vip)",
            "sql.aggregate",
            "SELECT REGR_R2(spend, age) FILTER (WHERE vip) FROM visits",
        ),
        ("RATIO(spend, age, 1)", "sql.aggregate", "SELECT RATIO(spend, age) FROM visits"),
        (
            "REGR_AVGX(amount, amount + 1)",
            "sql.bounds",
            "SELECT REGR_AVGX(amount, CLAMP(amount + 1, 0, 100)) FROM visits",
        ),
        (
            "REGR_SLOPE(amount, age)",
            "sql.bounds",
            "SELECT REGR_SLOPE(CLAMP(amount, 0, 100), age) FROM visits",
        ),
        ("HISTOGRAM(age)", "sql.aggregate", "SELECT HISTOGRAM(age, [0, 10, 20, 50]) FROM visits"),
    ],
)
def test_taught(table: Table, text: str, code: str, rewrite: str) -> None:
    refusal = refused(table, f"SELECT {text} FROM visits")
    assert (refusal.code, refusal.rewrite) == (code, rewrite)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SUM(note)", "aggregate.type"),
        ("SUM(DISTINCT age)", "sql.distinct"),
        ("SUM(*)", "sql.aggregate"),
        ("RATIO(age)", "sql.aggregate"),
        ("WEIGHTED_AVG(spend, age - 200)", "aggregate.weight"),
        ("QUANTILES(age, [0.25, 0.5]) + 1", "sql.aggregate"),
        ("QUANTILES(age, [0.25, 2])", "sql.aggregate"),
        ("QUANTILE(age, 2)", "sql.aggregate"),
        ("QUANTILE(age, 0.123456789)", "aggregate.quantile"),
        ("HISTOGRAM(note, [1, 2])", "aggregate.type"),
        ("HISTOGRAM(age, [2, 1])", "aggregate.edges"),
        ("COUNT_IF(age)", "aggregate.where"),
        ("COUNT(DISTINCT user_id) FILTER (WHERE vip)", "aggregate.units"),
        ("SUM(age ORDER BY day)", "sql.unsupported"),
        ("STRING_AGG(note, ',')", "sql.aggregate"),
        ("SUM(CLAMP(amount, 3, 3))", "sql.bounds"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    refusal = refused(table, f"SELECT {text} FROM visits")
    assert refusal.code == code
    assert under(refusal) in f"SELECT {text} FROM visits"


def test_units_of_two_columns() -> None:
    with unasked(protected(unit=["user_id", "city"], keys={})) as table:
        assert lines(table, "SELECT COUNT(DISTINCT (user_id, city)) AS n FROM visits") == [
            "n = count_units()"
        ]
        assert lines(table, "SELECT COUNT(DISTINCT city, user_id) AS n FROM visits") == [
            "n = count_units()"
        ]
        assert (
            refused(table, "SELECT COUNT(DISTINCT user_id) AS n FROM visits").code == "sql.distinct"
        )


def test_without_a_unit_every_column_has_values() -> None:
    """Each row counts as a different person, who has one value."""
    with unasked(protected(unit=None, max_rows=None)) as table:
        assert lines(table, "SELECT COUNT(DISTINCT user_id) AS n FROM visits") == [
            "n = count_distinct(user_id)"
        ]


def test_too_many_quantiles_are_refused_before_any_is_read(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of 900 quantiles took seconds, and was then refused for its number of columns. Each
    quantile of a shorter list copies itself alone.
    """
    from sqlglot import exp

    copied = []
    first = exp.Expression.copy
    monkeypatch.setattr(
        exp.Expression,
        "copy",
        lambda node: (copied.append(sum(1 for _ in node.walk())), first(node))[1],
    )
    levels = [f"{i / 1000:.3f}" for i in range(1, 1000)]
    assert (
        refused(table, f"SELECT QUANTILES(age, [{', '.join(levels)}]) AS q FROM visits").code
        == "sql.aggregate"
    )
    assert max(copied, default=0) < 20  # of the text; the rewrite is a short one
    copied.clear()
    assert (
        len(lines(table, f"SELECT QUANTILES(age, [{', '.join(levels[:100])}]) AS q FROM visits"))
        == 100
    )
    assert sum(copied) < 100 * 20


def test_too_many_columns_are_refused_before_any_is_read(table: Table) -> None:
    text = ", ".join(f"SUM(age + {i}) AS c{i}" for i in range(300))
    assert refused(table, f"SELECT {text} FROM visits").code == "stage.aggregate"


@pytest.mark.parametrize(
    "text",
    [
        "QUANTILES(age, [0.25, 0.999])",
        "QUANTILE_CONT(age, [0.25, 0.999])",
        "PERCENTILE_CONT([0.25, 0.999]) WITHIN GROUP (ORDER BY age)",
        "PERCENTILE_DISC([0.25, 0.999]) WITHIN GROUP (ORDER BY age)",
    ],
)
def test_several_quantiles_are_columns(table: Table, text: str) -> None:
    assert lines(table, f"SELECT {text} AS p FROM visits") == [
        "p_25 = percentile(age, 0.25)",
        "p_99_9 = percentile(age, 0.999)",
    ]
    filtered = lines(table, f"SELECT {text} FILTER (WHERE vip) AS p FROM visits HAVING p_25 > 3")
    assert filtered == [
        "p_25 = percentile(age, 0.25, where=vip)",
        "p_99_9 = percentile(age, 0.999, where=vip)",
    ]


@pytest.mark.parametrize(
    ("text", "rewrite"),
    [
        (
            "SELECT AVG(at) AS m FROM v",
            "SELECT AVG(CLAMP(DATE_DIFF('day', DATE '1970-01-01', at), 0, 40000)) AS m FROM v",
        ),
        (
            "SELECT AVG(note || note) AS m FROM v",
            "SELECT AVG(CLAMP(TRY_CAST(note || note AS DOUBLE), 0, 100)) AS m FROM v",
        ),
        (
            "SELECT HISTOGRAM(note, [0, 1]) AS m FROM v",
            "SELECT HISTOGRAM(TRY_CAST(note AS DOUBLE), [0, 1]) AS m FROM v",
        ),
    ],
)
def test_values_without_numbers_are_refused_with_sql_that_is_answered(
    text: str, rewrite: str
) -> None:
    times = pa.array([datetime(2026, 1, 1)], pa.timestamp("us"))
    rows = pa.table({"who": [1], "at": times, "note": ["1"]})
    table = sf.protect(rows, name="v", unit="who", max_rows=1, budget=1)
    with pytest.raises(sf.Refused) as caught:
        table.plan(text, epsilon="0.1")
    assert (caught.value.code, caught.value.rewrite) == ("aggregate.type", rewrite)
    assert table.plan(caught.value.rewrite, epsilon="0.1").cost
