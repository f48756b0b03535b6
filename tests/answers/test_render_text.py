"""The text form: as in the interface, aligned, and never too wide by its remarks."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.answers.render.render_text import terminal_width, wrap
from sfumato.answers.render.tabulate import display_width

from .examples import ABOUT, counted, laplace, noisy


def test_as_in_the_interface() -> None:
    answer = counted(
        [12040, 3105],
        rows=(("Roma",), ("Bari",)),
        mechanism=laplace(20),
        budget=sf.Pure(1, **ABOUT),
        left=sf.Pure("0.65", **ABOUT),
        rules=("a user_id counts for at most 4 rows",),
    )
    assert str(answer) == "\n".join(
        [
            "city    n",
            "Roma    12 040 ± 60",
            "Bari     3 105 ± 60",
            "± covers the noise, not what the limits left out (95 %, each cell)",
            "cost ε = 0.3 of 1 · 0.65 left",
            "answer.explain() tells the rule",
        ]
    )


def test_columns_line_up_whatever_the_script() -> None:
    lines = str(counted([5, 50_000, -3], rows=(("Roma",), ("北京市",), ("e\u0301",)))).splitlines()[
        1:4
    ]
    starts = [display_width(line.partition(" ±")[0]) for line in lines]
    assert len(set(starts)) == 1


def test_one_number() -> None:
    answer = counted([7], keys=(), rows=((),))
    assert str(answer).splitlines()[:2] == ["n", "7 ± 60"]


def test_what_limits_left_out_stands_in_the_line_of_the_number() -> None:
    clipped = noisy("clipped:spend [0, 64]", [[0, 10**6, 90_000]], mechanism=laplace(3))
    answer = counted([7], keys=(), rows=((),), extra=(clipped,))
    line = "7 ± 60; about 8.26 % ± 0.01 % of rows lie above the bounds of spend [0, 64]"
    assert str(answer).splitlines()[1] == line
    assert answer.text(width=50).splitlines()[1:3] == [line[:47], f"  {line[48:]}"]
    grouped = counted([7, 8], extra=(clipped,))
    assert str(grouped).splitlines()[3].startswith(line.removeprefix("7 ± 60; "))


def test_footnotes_wrap_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tuple(f"note number {i} says something of a certain length" for i in range(20))
    answer = counted([7], processing=notes)
    for columns, width in (("60", 60), ("200", 200), ("7", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        assert width - 15 < max(map(display_width, str(answer).splitlines())) <= width
    monkeypatch.delenv("COLUMNS")
    assert terminal_width() >= 40
    assert all(display_width(line) <= 72 for line in answer.text(width=72).splitlines())
    assert str(counted([7], processing=("x" * 500,))).count("x" * 500) == 1


def test_wrapped_lines_hold_the_same_words() -> None:
    text = "one two three four five 北京市 seven"
    assert wrap(text, 12) == ["one two", "  three four", "  five", "  北京市", "  seven"]
    assert wrap("", 12) == [""]


def test_long_answers_are_cut_and_say_so() -> None:
    text = str(counted(list(range(1500))))
    assert "… and 1 460 more rows: to_pandas() has all of them" in text
    assert len(text.splitlines()) < 50
    assert len(counted(list(range(1500))).text(rows=2000).splitlines()) > 1500


def test_nothing_moves_the_cursor() -> None:
    text = str(counted([1], keys=("ci\x1bty",), rows=(("\x1b[2J\u202eevil",),)))
    assert "\x1b" not in text
    assert "\u202e" not in text
