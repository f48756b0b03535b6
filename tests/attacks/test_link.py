"""Two tables put together again."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.link import Link, link
from sfumato.errors import Refused

from .promises import promises_hold

NAMED = {
    "name": ["Ann", "Bob", "Cid", "Dee"],
    "born": ["1980-01-02", "1981-05-06", "1990-01-01", "1970-12-31"],
    "sex": ["f", "m", "m", "f"],
}
BILLS = {
    "born": ["1980-01-02", "1981-05-06", "1981-05-06", "1970-12-30", "1970-12-31", "1955-01-01"],
    "sex": ["f", "m", "m", "f", "f", "m"],
    "item": ["flu", "asthma", "asthma", "flu", "cancer", "flu"],
}


def test_S_149_bills_without_names_get_them_back() -> None:
    result = link(NAMED, BILLS, sensitive="item")
    assert result.columns == ("born", "sex")
    assert result.many.tolist() == [1, 2, 0, 1]
    assert result.linked.tolist() == [0, -1, -1, 4]
    assert result.share == 0.5
    assert result.revealed == 0.75  # both of Bob's candidates have asthma
    assert "2 of 4 people (50 %) have exactly one row of 6" in str(result)
    assert "the sensitive value of 75 % of the people" in str(result)


def test_dates_may_be_off() -> None:
    result = link(NAMED, BILLS, tolerance={"born": 1})
    assert result.many.tolist() == [1, 2, 0, 2]
    assert result.revealed is None


def people(seed: int, n: int = 3000) -> tuple[dict[str, Any], dict[str, Any]]:
    generator = np.random.default_rng(seed)
    table = {
        "id": np.arange(n),
        "day": generator.integers(0, 20_000, n),
        "sex": generator.integers(0, 2, n),
        "zip": generator.integers(0, 50, n),
    }
    order = generator.permutation(n)
    return table, {name: column[order] for name, column in table.items()}


def test_right_links_are_counted() -> None:
    a, b = people(0)
    result = link(a, b, same="id")
    assert result.columns == ("day", "sex", "zip")
    assert result.correct == 1
    assert result.share > 0.99
    wrong = link(a, {**b, "id": np.roll(b["id"], 1)}, same="id")
    assert wrong.correct == 0
    assert wrong.numbers["linked"] == result.numbers["linked"]


def test_dates_off_by_three_days() -> None:
    a, b = people(1)
    b["day"] = b["day"] + np.random.default_rng(2).integers(-3, 4, len(b["day"]))
    exact, near = (
        link(a, b, ["day", "sex", "zip"], same="id"),
        link(a, b, ["day", "sex", "zip"], same="id", tolerance={"day": 3}),
    )
    assert exact.share < 0.2
    assert near.share > 0.98
    assert near.correct is not None
    assert near.correct > 0.99


def test_frames_of_any_kind() -> None:
    assert sf.attacks.link(pl.DataFrame(NAMED), pl.DataFrame(BILLS)).share == 0.5


def test_the_picture() -> None:
    (axes,) = link(NAMED, BILLS).plot().axes
    assert [bar.get_height() for bar in axes.patches] == [0.25, 0.5, 0.25, 0]


@pytest.mark.parametrize(("sensitive", "choices"), [(None, 2), ("item", 3)])
def test_private_counts_keep_their_promise(sensitive: str | None, choices: int) -> None:
    """Wrong with probability 10⁻⁶; exact counts, the twin, are far above what is allowed."""
    result: Link = link(NAMED, BILLS, sensitive=sensitive)
    exact, *private = result.against(("0.1", 1), trials=1000)
    assert exact.lower() > 0.98
    assert exact.chance == 1 / choices
    assert promises_hold(private)
    assert all(success.bound < 0.74 for success in private)


def test_nobody_matches() -> None:
    result = link({"a": [1, 2]}, {"a": [3]}, sensitive=None)
    assert (result.share, result.correct) == (0, None)
    assert result.against((1,), trials=200)[0].rate == 1
    assert link({"a": [1, 2]}, {"a": [3], "s": [1]}, sensitive="s").revealed == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"a": {"x": [1]}, "b": {"y": [1]}}, "attacks.columns"),
        ({"a": {"x": [1]}, "b": {"x": [1]}, "on": "x"}, "attacks.columns"),
        ({"a": {"x": [1]}, "b": {"x": [1]}, "on": ["y"]}, "attacks.columns"),
        ({"a": {"x": [1]}, "b": {"x": [1]}, "same": "y"}, "attacks.columns"),
        ({"a": {"x": [1]}, "b": {"x": [1]}, "sensitive": "y"}, "attacks.columns"),
        ({"a": {"x": [1]}, "b": 3}, "attacks.table"),
    ],
    ids=["nothing shared", "text", "unknown", "same", "sensitive", "table"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        link(**arguments)
    assert refusal.value.code == code
