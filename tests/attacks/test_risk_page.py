"""The page: in words, with pictures, and nothing in it that runs or is fetched."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from sfumato.attacks.lib.attack_result import Success
from sfumato.attacks.lib.attack_text import at_most, per_cent
from sfumato.attacks.report.risk import risk_report
from sfumato.attacks.report.risk_page import (
    format_answer,
    keep_digits_together,
    page,
    round_up,
)
from sfumato.templates.fill_template import fill_template
from sfumato.testing.seeded_bits import SeededBits

EVIL = '<script>alert("x")</script>'
VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Tags in order, and whether every one is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html() -> str:
    n = 60
    frame = pd.DataFrame(
        {
            EVIL: [i % 7 for i in range(n)],
            "age": range(n),
            "illness": [EVIL if i % 2 else "none" for i in range(n)],
        }
    )
    return page(
        risk_report(
            frame, [EVIL, "age"], sensitive="illness", name=EVIL, trials=200, bits=SeededBits(1)
        )
    )


def test_it_is_whole_and_nothing_runs(html: str) -> None:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    tags = {tag for tag, _ in reader.seen}
    assert not tags & {"script", "link", "iframe", "object", "form", "a"}
    assert all(not name.startswith("on") for _, attributes in reader.seen for name in attributes)
    assert all(
        (attributes["src"] or "").startswith("data:image/png;base64,")
        for tag, attributes in reader.seen
        if tag == "img"
    )
    assert not re.search(r"url\(|@import|https?:", html)


def test_what_came_from_data_is_escaped(html: str) -> None:
    assert EVIL not in html
    assert "&lt;script&gt;" in html


def test_it_says_what_it_is(html: str) -> None:
    assert "This report is about the raw data, and is not private itself." in html
    assert "do not publish it" in html


@pytest.mark.parametrize(
    "title",
    [
        "Who can be recognised?",
        "Does it help to be one of several?",
        "Two harmless questions",
        "Many harmless questions",
        "What does ε buy?",
        "What to do",
    ],
)
def test_its_parts(html: str, title: str) -> None:
    assert f"<h2>{title}</h2>" in html


def test_pictures_have_words(html: str) -> None:
    reader = Reader()
    reader.feed(html)
    images = [attributes for tag, attributes in reader.seen if tag == "img"]
    assert len(images) == 3
    assert all(len(image["alt"] or "") > 20 for image in images)


def test_a_belief_is_bounded_for_whom_it_is_bounded(html: str) -> None:
    """Somebody who thinks that people have what their relatives have learns from the relatives,
    too.
    """
    assert "whatever else he knows" not in html
    assert (
        html.count("knows everybody else&#39;s data, or thinks that these data say nothing") == 2
    )  # in the caption, and for those who do not see the picture
    assert (
        "knows everybody else's data, or thinks that they say nothing about the person, no answer"
        in html
    )


def test_a_name_stands_in_quotes(html: str) -> None:
    assert "<h1>How exposed are the people in “&lt;script&gt;" in html
    assert "<h1>How exposed are the people in the table?</h1>" in page(
        risk_report({"a": ["x", "y"]}, ["a"], epsilons=(), trials=10)
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


def test_digits_stay_together(html: str) -> None:
    assert keep_digits_together("1 000 of 2 people, 50 %") == "1\u202f000 of 2 people, 50\u202f%"
    assert "\u202f%" in html


def test_exact_answers_and_the_promise_look_different(html: str) -> None:
    assert html.count('<tr class="exact">') == 4
    assert html.count('class="tile"') == 3
    assert html.count('class="tile kept"') == 1


def test_bars_show_what_is_allowed() -> None:
    exact = Success(against="exact <answers>", hits=10, trials=10, chance=0.5)
    private = Success(against="ε = 1", hits=5, trials=10, chance=0.5, bound=0.7310586)
    drawn = fill_template(
        "risk_bars.html", successes=(exact, private), per_cent=per_cent, at_most=at_most
    )
    assert "exact &lt;answers&gt;" in drawn
    assert "no limit" in drawn
    assert "left:73.1%" in drawn
    assert "<td>73.2 %</td>" in drawn
    assert 'class="wide games"' in drawn


@pytest.mark.browser
def test_in_a_browser(html: str, tmp_path: Path) -> None:
    """It fits the width of a telephone, asks for nothing, and complains of nothing."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "risk.html").write_text(html, encoding="utf-8")
    address = (tmp_path / "risk.html").as_uri()
    requested: list[str] = []
    text: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for width in (390, 1100):
            view = browser.new_page(viewport={"width": width, "height": 800})
            view.on("request", lambda request: requested.append(request.url))
            view.on("console", lambda message: text.append(message.text))
            view.goto(address)
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            columns = (
                "[...document.querySelectorAll('.games th')].filter(cell => cell.offsetWidth "
                "&& cell.getBoundingClientRect().right <= innerWidth)"
            )
            shown = view.evaluate(f"{columns}.map(cell => cell.textContent)")
            assert [name for name in shown if name] == [
                "answers",
                "the attacker is right",
                "allowed at most",
                "by guessing",
            ]
            assert ("" in shown) == (width > 600)
            assert (
                view.evaluate("[...document.images].filter(image => !image.naturalWidth).length")
                == 0
            )
        browser.close()
    assert [url for url in requested if not url.startswith("data:")] == [address] * 2
    assert text == []
