"""The text form: as in the interface, aligned, and never too wide by its remarks."""

from __future__ import annotations

import sfumato as sf
from sfumato.answers.render.render_text import WIDE
from sfumato.answers.render.tabulate import display_width

from .examples import ABOUT, counted, laplace, visits


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
            "Roma    12 040 ± 60      95 % intervals for the bounded values, each cell",
            "Bari     3 105 ± 60",
            "cost ε = 0.3 of 1 · 0.65 left · a user_id counts for at most 4 rows",
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
    assert str(answer).splitlines()[:2] == [
        "n",
        "7 ± 60      95 % intervals for the bounded values, each cell",
    ]


def test_remarks_are_broken() -> None:
    rules = tuple(f"rule number {i} says something of a certain length" for i in range(20))
    lines = str(counted([7], rules=rules)).splitlines()
    assert all(display_width(line) <= WIDE for line in lines)
    assert sum("rule number" in line for line in lines) > 5
    assert str(counted([7], rules=("x" * 500,))).count("x" * 500) == 1


def test_long_answers_are_cut_and_say_so() -> None:
    text = str(counted(list(range(1500))))
    assert "… and 1 460 more rows: to_pandas() has all of them" in text
    assert len(text.splitlines()) < 50
    assert len(counted(list(range(1500))).text(rows=2000).splitlines()) > 1500


def test_a_wide_table_has_its_level_below() -> None:
    text = str(visits())
    assert "\n95 % intervals" in text
    assert "bin" in text


def test_nothing_moves_the_cursor() -> None:
    text = str(counted([1], keys=("ci\x1bty",), rows=(("\x1b[2J\u202eevil",),)))
    assert "\x1b" not in text
    assert "\u202e" not in text
