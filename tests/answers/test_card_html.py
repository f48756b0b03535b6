"""The card as a page, as a part of one, and as lines."""

from __future__ import annotations

from .examples import visits
from .test_render_html import Reader


def test_the_page_is_a_document() -> None:
    page = visits().card().to_html()
    assert page.startswith("<!doctype html>")
    read = Reader(page)
    for words in (
        "Statistics of visits",
        "Who is protected, and how much",
        "user_id",
        "ε = 0.3 of 1",
        "The release, exactly",
        "ab" * 32,
        "3/10",
    ):
        assert words in read.words


def test_a_part_of_a_page_is_no_document() -> None:
    part = visits().card()._repr_html_()
    assert "<html" not in part
    assert "<body" not in part
    assert Reader(part).words in Reader(visits().card().to_html()).words


def test_lines() -> None:
    text = str(visits().card())
    assert text.splitlines()[:2] == ["Statistics of visits", "release card, version 1"]
    assert "\n  privacy unit: user_id\n" in text
    assert "\n    epsilon: 3/10\n" in text
    assert "\x1b" not in str(visits(rules=("\x1b[31m",)).card())


def test_empty_lists_are_a_dash() -> None:
    assert "\n  processing: –\n" in str(visits().card())
