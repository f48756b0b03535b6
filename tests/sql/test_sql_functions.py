"""The list of functions: each is one of those that are tested never to fail, and each row of the
list is read.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from sfumato.session import Table
from sfumato.sql.sql_functions import SYNTAX, TYPES, spellings
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.types import Type

from .asking import lines, refused

WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "

READ = {
    "age + 1 = 2": "(age + 1) = 2",
    "age - 1 = 2": "(age - 1) = 2",
    "age * 2 = 2": "(age * 2) = 2",
    "age / 2 = 2": "(age / 2) = 2",
    "age // 2 = 2": "div(age, 2) = 2",
    "age % 2 = 1": "mod(age, 2) = 1",
    "MOD(age, 2) = 1": "mod(age, 2) = 1",
    "FLOOR_DIV(age, 2) = 1": "(age // 2) = 1",
    "FLOOR_MOD(age, 2) = 1": "(age % 2) = 1",
    "age ^ 2 = 4": "power(age, 2) = 4",
    "POW(age, 2) = 4": "power(age, 2) = 4",
    "-age = 1": "-(age) = 1",
    "ABS(age) = 1": "abs(age) = 1",
    "SIGN(age) = 1": "sign(age) = 1",
    "CEIL(spend) = 1": "ceil(spend) = 1",
    "CEILING(spend) = 1": "ceil(spend) = 1",
    "FLOOR(spend) = 1": "floor(spend) = 1",
    "TRUNC(spend) = 1": "trunc(spend) = 1",
    "ROUND(spend) = 1": "round(spend, 0) = 1",
    "ROUND(spend, 2) = 1": "round(spend, 2) = 1",
    "SQRT(spend) = 1": "sqrt(spend) = 1",
    "EXP(spend) = 1": "exp(spend) = 1",
    "LN(spend) = 1": "ln(spend) = 1",
    "LOG(spend) = 1": "log10(spend) = 1",
    "LOG10(spend) = 1": "log10(spend) = 1",
    "LOG(10) * spend = 1": "(log10(10) * spend) = 1",
    "LOG2(spend) = 1": "log2(spend) = 1",
    "SIN(spend) = 1": "sin(spend) = 1",
    "COS(spend) = 1": "cos(spend) = 1",
    "TAN(spend) = 1": "tan(spend) = 1",
    "ASIN(spend) = 1": "asin(spend) = 1",
    "ACOS(spend) = 1": "acos(spend) = 1",
    "ATAN(spend) = 1": "atan(spend) = 1",
    "ATAN2(spend, age) = 1": "atan2(spend, age) = 1",
    "DEGREES(spend) = 1": "degrees(spend) = 1",
    "RADIANS(spend) = 1": "radians(spend) = 1",
    "ISFINITE(spend)": "is_finite(spend)",
    "CLIP(age, 0, 9) = 1": "clip(age, 0, 9) = 1",
    "CLAMP(age, 0, 9) = 1": "clip(age, 0, 9) = 1",
    "age <> 1 OR age != 2": "(age <> 1) OR (age <> 2)",
    "age <= 1 AND age >= 0 AND age > 1": "(age <= 1) AND (age >= 0) AND (age > 1)",
    "NOT (age < 1)": "NOT (age < 1)",
    "age BETWEEN 1 AND 2": "age BETWEEN 1 AND 2",
    "age IN (1, 2)": "age IN (1, 2)",
    "day IN (DATE '2026-01-31', DATE '2026-02-01')": (
        "day IN (DATE '2026-01-31', DATE '2026-02-01')"
    ),
    "age NOT IN (1)": "NOT (age IN (1))",
    "age IS NULL": "age IS NULL",
    "age IS NOT NULL": "age IS NOT NULL",
    "vip IS TRUE": "vip IS NOT DISTINCT FROM TRUE",
    "vip IS NOT FALSE": "NOT (vip IS NOT DISTINCT FROM FALSE)",
    "age IS DISTINCT FROM 1": "NOT (age IS NOT DISTINCT FROM 1)",
    "age IS NOT DISTINCT FROM 1": "age IS NOT DISTINCT FROM 1",
    "city LIKE 'a%'": "city LIKE 'a%'",
    "city ILIKE 'a%'": "city ILIKE 'a%'",
    "city NOT LIKE 'a%'": "NOT (city LIKE 'a%')",
    "CASE WHEN vip THEN 1 ELSE 2 END = 1": "(CASE WHEN vip THEN 1 ELSE 2 END) = 1",
    "CASE age WHEN 1 THEN vip END": "CASE WHEN age = 1 THEN vip ELSE NULL END",
    "IF(vip, 1, 2) = 1": "(CASE WHEN vip THEN 1 ELSE 2 END) = 1",
    "COALESCE(age, 0) = 1": "coalesce(age, 0) = 1",
    "IFNULL(age, 0) = 1": "coalesce(age, 0) = 1",
    "NULLIF(age, 0) = 1": "nullif(age, 0) = 1",
    "GREATEST(age, 1) = 1": "greatest(age, 1) = 1",
    "LEAST(age, 1, 2) = 1": "least(age, 1, 2) = 1",
    "CAST(age AS DOUBLE) = 1": "TRY_CAST(age AS float64) = 1",
    "age::VARCHAR = '1'": "TRY_CAST(age AS string) = '1'",
    "TRY_CAST(city AS DECIMAL(9, 2)) = 1": "TRY_CAST(city AS decimal(9,2)) = 1",
    "CAST(city AS DECIMAL) = 1": "TRY_CAST(city AS decimal(18,3)) = 1",
    "UPPER(city) = 'A'": "upper(city) = 'A'",
    "LOWER(city) = 'a'": "lower(city) = 'a'",
    "LENGTH(city) = 1": "length(city) = 1",
    "LEN(city) = 1": "length(city) = 1",
    "SUBSTR(city, 1, 2) = 'a'": "substr(city, 1, 2) = 'a'",
    "SUBSTRING(city FROM 1 FOR 2) = 'a'": "substr(city, 1, 2) = 'a'",
    "SUBSTR(city, 2) = 'a'": "substr(city, 2, 1000000) = 'a'",
    "TRIM(city) = 'a'": "trim(city) = 'a'",
    "LTRIM(city) = 'a'": "ltrim(city) = 'a'",
    "RTRIM(city) = 'a'": "rtrim(city) = 'a'",
    "LEFT(city, 1) = 'a'": "left(city, 1) = 'a'",
    "RIGHT(city, 1) = 'a'": "right(city, 1) = 'a'",
    "REPLACE(city, 'a', 'b') = 'a'": "replace(city, 'a', 'b') = 'a'",
    "city || 'x' = 'a'": "(city || 'x') = 'a'",
    "CONCAT(city, 'x') = 'a'": "(coalesce(city, '') || coalesce('x', '')) = 'a'",
    "SPLIT_PART(city, '-', 1) = 'a'": "split_part(city, '-', 1) = 'a'",
    "CONTAINS(city, 'a')": "contains(city, 'a')",
    "STARTS_WITH(city, 'a')": "starts_with(city, 'a')",
    "PREFIX(city, 'a')": "starts_with(city, 'a')",
    "ENDS_WITH(city, 'a')": "ends_with(city, 'a')",
    "SUFFIX(city, 'a')": "ends_with(city, 'a')",
    "POSITION('a' IN city) = 1": "position(city, 'a') = 1",
    "STRPOS(city, 'a') = 1": "position(city, 'a') = 1",
    "YEAR(day) = 1": "year(day) = 1",
    "QUARTER(day) = 1": "quarter(day) = 1",
    "MONTH(day) = 1": "month(day) = 1",
    "WEEK(day) = 1": "week(day) = 1",
    "WEEKOFYEAR(day) = 1": "week(day) = 1",
    "DAY(day) = 1": "day(day) = 1",
    "DAYOFMONTH(day) = 1": "day(day) = 1",
    "DAYOFWEEK(day) = 1": "mod(day_of_week(day), 7) = 1",
    "ISODOW(day) = 1": "day_of_week(day) = 1",
    "DAYOFYEAR(day) = 1": "day_of_year(day) = 1",
    "DAYNAME(day) = 'Monday'": "day_name(day) = 'Monday'",
    "MONTHNAME(day) = 'May'": "month_name(day) = 'May'",
    "STRFTIME(day, '%Y-%m') = '2026-01'": "strftime(day, '%Y-%m') = '2026-01'",
    "STRFTIME('%d', day) = '31'": "strftime(day, '%d') = '31'",
    "TO_CHAR(day, 'FMMonth YYYY') = 'May 2026'": "strftime(day, '%B %Y') = 'May 2026'",
    "DATE_FORMAT(at, 'yyyy-MM-dd HH:mm') = 'a'": "strftime(at, '%Y-%m-%d %H:%M') = 'a'",
    "DATE_FORMAT(at, '%H:%i') = '12:30'": "strftime(at, '%H:%M') = '12:30'",
    "WIDTH_BUCKET(age, 0, 100, 10) = 3": "width_bucket(age, 0, 100, 10) = 3",
    "REGEXP_MATCHES(city, '^R')": "starts_with(city, 'R')",
    "REGEXP_LIKE(city, 'r', 'i')": "contains(lower(city), 'r')",
    "REGEXP_FULL_MATCH(city, 'R.*a')": "city LIKE 'R%a'",
    "city ~ '^R.m.$'": "city LIKE 'R_m_'",
    "city ~* '^r'": "starts_with(lower(city), 'r')",
    "city SIMILAR TO 'R%|B_ri'": "starts_with(city, 'R') OR (city LIKE 'B_ri')",
    "HOUR(at) = 1": "hour(at) = 1",
    "MINUTE(at) = 1": "minute(at) = 1",
    "SECOND(at) = 1": "second(at) = 1",
    "EPOCH(at) = 1": "epoch(at) = 1",
    "EXTRACT(dow FROM day) = 1": "mod(day_of_week(day), 7) = 1",
    "DATE_PART('doy', day) = 1": "day_of_year(day) = 1",
    "DATE_TRUNC('month', day) = DATE '2026-01-01'": "date_trunc('month', day) = DATE '2026-01-01'",
    "DATE_DIFF('day', day, DATE '2026-01-01') = 1": "days_between(DATE '2026-01-01', day) = 1",
    "day + INTERVAL 3 DAY = DATE '2026-01-01'": "date_add(day, 3, 'day') = DATE '2026-01-01'",
    "day - INTERVAL '2' MONTHS = DATE '2026-01-01'": (
        "date_add(day, -2, 'month') = DATE '2026-01-01'"
    ),
    "DATE_ADD(day, INTERVAL 1 YEAR) = DATE '2026-01-01'": (
        "date_add(day, 1, 'year') = DATE '2026-01-01'"
    ),
    "(vip)": "vip",
}
"""SQL → the expression that it is."""


@pytest.mark.parametrize("text", READ)
def test_read(table: Table, text: str) -> None:
    assert lines(table, WHERE + text)[0] == f"where {READ[text]}"


def test_every_row_of_the_list_is_read_above() -> None:
    from sqlglot.dialects.duckdb import DuckDB

    visited = {
        type(node)
        for text in READ
        for tree in DuckDB().parse(WHERE + text)
        for node in (tree.walk() if tree else ())
    }
    classes = {key for key in (*SYNTAX, *spellings()) if isinstance(key, type)}
    assert classes - visited <= {exp.DateTrunc, exp.DateSub}


def test_every_function_can_be_said(table: Table) -> None:
    """All that expressions can do can be written in SQL."""
    text = " ".join(READ.values()).lower()
    assert {
        name
        for name, function in FUNCTIONS.items()
        if name.lower() not in text
        and (function.form.strip("{}01 ()-") or name).lower() not in text
    } <= {
        "cast",
        "negate",
        "case",
        "is_in",
    }


def test_types_are_those_of_columns() -> None:
    assert {Type.of(name).kind for name in TYPES.values()} == {
        "bool",
        "integer",
        "float",
        "string",
        "date",
        "timestamp",
        "uuid",
    }


def test_no_two_functions_are_spelled_alike() -> None:
    for listed in spellings().values():
        fixed = [repr(sorted(spelling.fixed.items())) for spelling in listed]
        assert len(fixed) == len(set(fixed)), listed


def test_functions_without_a_class() -> None:
    assert {key for key in (*SYNTAX, *spellings()) if isinstance(key, str)} == {
        "clamp",
        "clip",
        "date_format",
        "date_part",
        "format_datetime",
        "isfinite",
        "prefix",
        "suffix",
        "floor_div",
        "floor_mod",
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("LOG(3, spend) > 1", "sql.function"),
        ("TRIM(BOTH 'x' FROM city) = 'a'", "sql.unsupported"),
        ("city LIKE 'a' ESCAPE '!'", "sql.unsupported"),
        ("age IN (age, 1)", "sql.unsupported"),
        ("age IN (CAST(age AS INT), 1)", "sql.unsupported"),
        ("age IN ()", "sql.unsupported"),
        ("EXTRACT(century FROM day) = 1", "sql.function"),
        ("DATE_DIFF('month', day, day) = 1", "sql.function"),
        ("DATE_PART(city, day) = 1", "sql.unsupported"),
        ("DATE_PART('year') = 1", "sql.function"),
        ("day + INTERVAL age DAY > day", "sql.unsupported"),
        ("day + INTERVAL '1 day 2 hours' > day", "sql.unsupported"),
        ("DATE_TRUNC('fortnight', day) = day", "expression.constant"),
        ("CAST(age AS HUGEINT) = 1", "sql.type"),
        ("CAST(age AS DECIMAL(99, 2)) = 1", "sql.type"),
        ("CAST(age AS INT[]) = 1", "sql.unsupported"),
        ("age IS 3", "sql.unsupported"),
        ("SUBSTR(city) = 'a'", "sql.function"),
        ("DATE_ADD(day, 3) > day", "sql.function"),
        ("NOTHING(age) = 1", "sql.function"),
        ("age = ALL (SELECT 1)", "sql.subquery"),
        ("age", "stage.where"),
        ("city > 1", "expression.type"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, WHERE + text).code == code
