"""HTML: everything that was typed or stored is text; nothing runs, nothing is fetched."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from .examples import counted, visits

EVIL = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "\"'><svg onload=alert(1)>",
    "</style><script>1</script>",
    "javascript:alert(1)",
    "a & b < c",
    "\u202egnp",
]
ALLOWED = {
    "div",
    "style",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "li",
    "bdi",
    "h1",
    "h2",
    "p",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
}
PAGE = {"html", "head", "body", "meta", "title"}


class Reader(HTMLParser):
    """The elements and attributes of a page, whether they are closed, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words += data


@pytest.mark.parametrize("evil", EVIL)
def test_what_is_typed_or_stored_is_text(evil: str) -> None:
    answer = visits(
        (evil, "b", "c"),
        keys=(evil,),
        rules=(evil,),
        processing=(evil,),
        facts={"question": evil, "dataset": evil, "declaration": {evil: [evil]}},
    )
    for page, tags in (
        (answer._repr_html_(), ALLOWED),
        (answer.card()._repr_html_(), ALLOWED),
        (answer.card(name=evil).to_html(), ALLOWED | PAGE),
    ):
        read = Reader(page)
        assert read.tags <= tags
        assert read.attributes <= {"class", "colspan", "charset", "name", "content", "lang"}
        assert not read.open
        assert "script>" not in page.replace("&lt;/script&gt;", "").replace("&lt;script&gt;", "")
        assert "url(" not in page
        assert "http" not in page
        assert "\u202e" not in page
    assert evil.replace("\u202e", "\\u202e") in Reader(answer._repr_html_()).words


def test_numbers_and_margins() -> None:
    read = Reader(counted([12040])._repr_html_())
    assert "12 040" in read.words
    assert "± 60" in read.words
    assert "cost ε = 0.3" in read.words


def test_long_answers_are_cut() -> None:
    page = counted(list(range(500)))._repr_html_()
    assert page.count("<tr>") == 202
    assert "300 more rows" in page


def test_text_runs_its_own_way() -> None:
    page = visits(keys=("שלום",))._repr_html_()
    assert "<th><bdi>שלום</bdi></th>" in page
