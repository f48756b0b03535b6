"""Constants and parameters: values, never text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from sfumato.errors import Refused
from sfumato.session import Table

from .asking import lines, refused, under

WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("age > 18", "age > 18"),
        ("age > -18", "age > -18"),
        ("spend > 0.5", "spend > 0.5"),
        ("spend > .5", "spend > 0.5"),
        ("spend > 1e2", "spend > 100.0"),
        ("city = 'it''s'", "city = 'it''s'"),
        ("city = $$it's$$", "city = 'it''s'"),
        ("vip = TRUE", "vip = TRUE"),
        ("day = DATE '2026-01-31'", "day = DATE '2026-01-31'"),
        ("day = '2026-01-31'::DATE", "day = DATE '2026-01-31'"),
        ("at > TIMESTAMP '2026-01-31 10:00:00'", "at > TIMESTAMP '2026-01-31 10:00:00'"),
        ("COALESCE(city, NULL) = 'x'", "coalesce(city, NULL) = 'x'"),
    ],
)
def test_constants(table: Table, text: str, condition: str) -> None:
    assert lines(table, WHERE + text)[0] == f"where {condition}"


@pytest.mark.parametrize(
    ("text", "parameters", "condition"),
    [
        ("age > ?", [18], "age > 18"),
        (
            "age > ? AND city = ?",
            [18, "x' OR 1 = 1 --"],
            "(age > 18) AND (city = 'x'' OR 1 = 1 --')",
        ),
        ("age > $2 AND age < $1", [90, 18], "(age > 18) AND (age < 90)"),
        ("age > $low AND age < $high", {"low": 18, "high": 90}, "(age > 18) AND (age < 90)"),
        ("age > :low", {"low": 18}, "age > 18"),
        ("day >= ?", [date(2026, 1, 31)], "day >= DATE '2026-01-31'"),
        ("amount > ?", [Decimal("1.50")], "amount > DECIMAL '1.50'"),
        ("spend > ?", [Fraction(1, 2)], "spend > 0.5"),
        ("city IN (?, ?)", ["a", "b"], "city IN ('a', 'b')"),
        ("vip = $x OR $x", {"x": True}, "(vip = TRUE) OR TRUE"),
    ],
)
def test_parameters(table: Table, text: str, parameters: object, condition: str) -> None:
    assert lines(table, WHERE + text, parameters)[0] == f"where {condition}"


def test_public_numbers_may_be_parameters(table: Table) -> None:
    text = (
        "SELECT QUANTILE(age, $q) AS a, SUM(CLAMP(amount, 0, $top)) AS b, HISTOGRAM(age, [0, "
        "$edge]) AS h FROM visits LIMIT $few"
    )
    result = lines(table, text, {"q": "0.1" and Fraction(1, 10), "top": 7, "edge": 30, "few": 1})
    assert result == [
        "a = quantile(age, 0.1, confidence=0.95)",
        "b = sum(amount, low=0, high=7)",
        "h = histogram(age, edges=[0, 30])",
    ]


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("age > ?", None),
        ("age > ?", []),
        ("age > ?", {"a": 1}),
        ("age > $a", [1]),
        ("age > $a", {"b": 1}),
        ("age > $2", [1]),
        ("age > ?", [1, 2]),
        ("age > $a", {"a": 1, "b": 2}),
        ("age > 1", [1]),
        ("age > ?", "1"),
        ("age > ?", 7),
        ("age > ? AND age > ?", [1]),
        ("age > $999999999", [1]),
    ],
)
def test_every_parameter_has_a_value_and_every_value_a_parameter(
    table: Table, text: str, parameters: object
) -> None:
    assert refused(table, WHERE + text, parameters).code == "sql.parameter"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (object(), "expression.literal"),
        (float("nan"), "expression.literal"),
        ("\0", "expression.literal"),
        ([1], "expression.literal"),
    ],
)
def test_odd_values_are_refused(table: Table, value: object, code: str) -> None:
    assert refused(table, WHERE + "note = ?", [value]).code == code


@pytest.mark.parametrize(
    "text", ["day > DATE '2026-02-30'", "at > TIMESTAMP 'soon'", "day > DATE ''"]
)
def test_moments_that_are_none(table: Table, text: str) -> None:
    refusal = refused(table, WHERE + text)
    assert refusal.code == "expression.literal"
    assert under(refusal).startswith("'")


def test_numbers_are_exact_as_written(table: Table) -> None:
    assert lines(table, "SELECT SUM(CLAMP(amount, 0.1, 0.30000000000000004)) AS s FROM visits") == [
        "s = sum(amount, low=0.1, high=0.30000000000000004)"
    ]


def test_a_moment_with_a_tab_is_told_without_it(table: Table) -> None:
    with pytest.raises(Refused) as caught:
        table.plan("SELECT COUNT(*) AS n FROM visits WHERE day = DATE '2026\t-01-31'", epsilon=1)
    assert caught.value.code == "expression.literal"
    assert "\t" not in str(caught.value)
