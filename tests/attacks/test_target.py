"""Whom an attack is after: found, or refused."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.lib.owner_table import read_columns
from sfumato.attacks.lib.target import (
    condition,
    describe_values,
    find_target,
    negation,
    rows_matching,
)
from sfumato.errors import Refused

TABLE = {
    "name": ["Ada", "Bea", "Cid", None],
    "day": [datetime.date(2020, 1, n) for n in (1, 2, 2, 3)],
    "sick": [True, False, True, False],
}


@pytest.mark.parametrize(
    "kind",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["dictionary", "pandas", "polars", "arrow"],
)
def test_any_table(kind: type) -> None:
    result = find_target(kind(TABLE), {"name": "Bea"}, value=True)
    assert (result.row, result.secret, result.name) == (1, "sick", "Bea")
    assert result.others.tolist() == [True, False, True, True]
    assert result.having.tolist() == [True, False, True, False]


def test_what_is_asked_about_is_the_persons_own_value_unless_said() -> None:
    by_default, by_value = find_target(TABLE, {"name": "Bea"}), find_target(TABLE, 1, value=True)
    assert (by_default.value, by_value.value) == (False, True)
    assert by_default.having.tolist() == [not has for has in by_value.having]
    assert by_default.about.text == "sick = FALSE"


def test_the_number_of_a_row() -> None:
    result = find_target(TABLE, 2)
    assert result.person == {"name": "Cid", "day": datetime.date(2020, 1, 2)}
    assert result.name == "the one with name = Cid, day = 2020-01-02"


def test_a_missing_value_is_a_value() -> None:
    assert find_target(TABLE, {"name": None}).row == 3


@pytest.mark.parametrize(
    ("person", "secret", "code"),
    [
        ({"name": "Zoe"}, None, "attacks.person"),
        ({"day": datetime.date(2020, 1, 2)}, None, "attacks.person"),
        ({"name": "Ada"}, "name", "attacks.person"),
        (7, None, "attacks.person"),
        (True, None, "attacks.person"),
        ("Ada", None, "attacks.person"),
        ({"nobody": 1}, None, "attacks.columns"),
        ({"name": "Ada"}, "grade", "attacks.columns"),
        ({"name": 3.5}, None, "attacks.values"),
    ],
    ids=[
        "nobody",
        "two",
        "secret-known",
        "no-row",
        "bool",
        "text",
        "no-column",
        "no-secret",
        "type",
    ],
)
def test_refusals(person: object, secret: str | None, code: str) -> None:
    with pytest.raises(Refused) as refused:
        find_target(TABLE, person, secret)
    assert refused.value.code == code


def test_categories_are_values() -> None:
    frame = pd.DataFrame({"name": pd.Categorical(["Ada", "Bea"]), "sick": [True, False]})
    assert find_target(frame, {"name": "Bea"}).row == 1


@pytest.mark.parametrize(
    "values",
    [
        {"name": "Ada"},
        {"name": None},
        {"name": "Ada", "sick": True},
        {"day": datetime.date(2020, 1, 2), "sick": False},
    ],
    ids=describe_values,
)
def test_conditions_of_a_session_say_the_same(values: dict[str, object]) -> None:
    """Asked with an ε at which noise is 0 but with probability below 1e-20."""
    result = read_columns(TABLE)
    with sf.protect(result.arrow, name="t", budget=sf.Pure(1000), relation="replace") as table:
        counts = [
            int(table.where(c).aggregate(n=sf.count()).release(epsilon=50)["n"][0])
            for c in (condition(values), negation(values))
        ]
    fits = rows_matching(result, values)
    assert counts == [int(fits.sum()), int((~fits).sum())]


def test_guesses_cost_what_they_say() -> None:
    from fractions import Fraction

    whom = find_target(TABLE, {"name": "Ada"})
    first, second = whom.guesses(
        [(1, None), (-1, negation(whom.person))], [Fraction(1), Fraction(100)]
    )
    assert (first.epsilon, len(first.answers)) == (1, 2)
    assert first.sd > second.sd
    assert second.value == 1
    assert np.isclose(first.sd**2, 2 * sf.mechanisms.Laplace(sensitivity=1, epsilon="1/2").variance)


@pytest.mark.parametrize("person", [{}, 0], ids=["nothing", "row"])
def test_something_has_to_be_known(person: Any) -> None:
    with pytest.raises(Refused) as refused:
        find_target({"s": ["u"]}, person, "s")
    assert refused.value.code == "attacks.person"


def test_a_row_may_be_a_number_of_numpy() -> None:
    table = {"name": ["Ada", "Eva"], "s": ["u", "v"]}
    assert find_target(table, np.int64(1), "s").value == "v"
    with pytest.raises(Refused):
        find_target(table, np.float64(1), "s")


def test_the_nearest_column_is_suggested() -> None:
    with pytest.raises(Refused) as refused:
        find_target({"city": ["a", "b"], "born": [1, 2], "s": ["u", "v"]}, {"bron": 1}, "s")
    assert refused.value.rewrite == "'born'"
