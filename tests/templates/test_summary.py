"""A summary is short lines in a terminal, and quiet HTML in a notebook; nothing in it runs."""

from __future__ import annotations

import pytest

from sfumato.templates.summary import Summarized, Summary
from sfumato.templates.text_cells import display_width

from ..answers.test_render_html import ALLOWED, EVIL, Reader


class Shown(Summarized):
    """Something with a summary."""

    def _summary(self) -> Summary:
        return Summary(
            title="prices",
            heads=("name", "price"),
            rows=[("a", "9"), ("🎈 balloon", "120")],
            numbers=frozenset([1]),
            notes=["", "in euros"],
        )


def test_columns_are_aligned() -> None:
    first, *rows, note = repr(Shown()).splitlines()
    assert (first, note) == ("prices", "in euros")
    assert rows == ["name        price", "a               9", "🎈 balloon    120"]
    assert len({display_width(row) for row in rows}) == 1


def test_html_has_the_same_words() -> None:
    page = Reader(Shown()._repr_html_())
    assert page.tags <= ALLOWED
    assert page.attributes <= {"class"}
    assert page.open == []
    for word in ("prices", "balloon", "120", "in euros"):
        assert word in page.words


@pytest.mark.parametrize("evil", [*EVIL, "\x1b[31m\r\n"])
def test_everything_is_text(evil: str) -> None:
    shown = Summary(title=evil, heads=(evil,), rows=[(evil,)], notes=[evil])
    page = Reader(shown.html)
    assert page.tags <= ALLOWED
    assert page.attributes <= {"class"}
    assert page.open == []
    assert all(line.isprintable() for line in shown.text.splitlines())
    assert len(shown.text.splitlines()) == 4


def test_long_tables_and_cells_are_cut() -> None:
    shown = Summary(title="t", heads=("n",), rows=[(str(i),) for i in range(1050)])
    assert shown.text.splitlines()[-2:] == ["39", "… and 1 010 more"]
    assert "… and 1 010 more" in Reader(shown.html).words
    assert max(map(len, Summary(title="t", heads=("n",), rows=[("x" * 999,)]).text.split())) == 72


def test_a_summary_shows_itself() -> None:
    shown = Shown()._summary()
    assert repr(shown) == shown.text == repr(Shown())
    assert shown._repr_html_() == Shown()._repr_html_()


def test_a_class_has_to_say_what_it_shows() -> None:
    with pytest.raises(NotImplementedError):
        repr(Summarized())
