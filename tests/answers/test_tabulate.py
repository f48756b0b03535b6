"""Tables of texts: keys that do no harm, widths that line up, histograms apart."""

from __future__ import annotations

import datetime
import math
import uuid
from decimal import Decimal
from fractions import Fraction as F
from typing import Any

import pytest

from sfumato.answers.render.tabulate import (
    build_tables,
    display_width,
    key_text,
    level_text,
    printable,
)

from .examples import counted, visits


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (0.1, "0.1"),
        (1 / 3, "0.33333333333333331"),
        (math.nan, "nan"),
        (-0.0, "-0"),
        ("Roma", "Roma"),
        ("a\nb\x1b[31m\u202e", "a\\nb\\x1b[31m\\u202e"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        (Decimal("1.20"), "1.20"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02 03:04:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
    ids=repr,
)
def test_keys_as_one_reads_them(key: Any, text: str) -> None:
    assert key_text(key) == text


def test_widths() -> None:
    assert display_width("Roma") == 4
    assert display_width("北京") == 4
    assert display_width("e\u0301") == 1
    assert display_width("ｱ") == 1


def test_only_what_moves_nothing_is_printed_as_it_is() -> None:
    for code in [
        *range(0x20),
        0x7F,
        0x85,
        0x200B,
        0x200E,
        0x2028,
        0x202A,
        0x202E,
        0x2066,
        0xFEFF,
        0xD800,
    ]:
        assert chr(code) not in printable(f"a{chr(code)}b")


def test_levels() -> None:
    assert level_text(F(19, 20)) == "95 %"
    assert level_text(F(999, 1000)) == "99.9 %"


def test_histograms_have_tables_of_their_own() -> None:
    flat, bins = build_tables(visits(), 0.9, 40)
    assert flat.names == ("n", "people", "total_spend", "mean", "var", "sd", "p50")
    assert flat.keys == ("city",)
    assert bins.keys == ("city", "bin")
    assert bins.names == ("ages",)
    assert len(bins.rows) == len(bins.cells) == 12
    assert bins.rows[:2] == (("Bari", "[0, 18)"), ("Bari", "[18, 40)"))


def test_no_more_rows_than_asked_for() -> None:
    (table,) = build_tables(counted(list(range(100))), 0.95, 7)
    assert len(table.rows) == 7
    assert table.more == 93
    flat, bins = build_tables(visits(), 0.9, 2)
    assert (len(flat.rows), flat.more) == (2, 1)
    assert (len(bins.rows), bins.more) == (4, 8)


def test_numbers_stand_to_the_right() -> None:
    assert build_tables(counted([1, 2], rows=((5,), (None,))), 0.95, 9)[0].numeric == (True,)
    assert build_tables(counted([1, 2], rows=((True,), (False,))), 0.95, 9)[0].numeric == (False,)
    assert build_tables(counted([1, 2], rows=((None,), (None,))), 0.95, 9)[0].numeric == (False,)
