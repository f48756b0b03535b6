"""The pieces of the page."""

from __future__ import annotations

import pytest

from sfumato.attacks.lib.attack_result import Success
from sfumato.attacks.report.risk_html import (
    document,
    format_answer,
    keep_digits_together,
    round_up,
    successes,
    table,
    tile,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (12_040, "12 040"), (-1234, "−1 234"), (2.25, "2.2"), (-0.75, "−0.8")],
)
def test_numbers(value: float, text: str) -> None:
    assert format_answer(value) == text


def test_bounds_are_rounded_up() -> None:
    assert round_up(2.7182818) == "2.72"
    assert round_up(73.105) == "73.11"
    assert round_up(float("inf")) == "∞"


def test_a_document_needs_nothing_beside_it() -> None:
    page = document("A title", "<h1>A title</h1>", "b { color: red }")
    assert page.startswith("<!doctype html>")
    assert "<title>A title</title><style>b { color: red }</style>" in page
    assert "<main><h1>A title</h1></main>" in page


def test_digits_stay_together() -> None:
    assert keep_digits_together("1 000 of 2 people, 50 %") == "1\u202f000 of 2 people, 50\u202f%"


def test_tables_and_tiles() -> None:
    assert table(("a",), [("1",), ("2",)], exact=1).count("class=exact") == 1
    assert tile("7", "people", is_private=True) == '<div class="tile kept"><b>7</b>people</div>'


def test_bars_show_what_is_allowed() -> None:
    exact = Success(against="exact <answers>", hits=10, trials=10, chance=0.5)
    private = Success(against="ε = 1", hits=5, trials=10, chance=0.5, bound=0.7310586)
    drawn = successes((exact, private))
    assert "exact &lt;answers&gt;" in drawn
    assert "no limit" in drawn
    assert "left:73.1%" in drawn
    assert "<td>73.2 %</td>" in drawn
    assert 'class="wide games"' in drawn
