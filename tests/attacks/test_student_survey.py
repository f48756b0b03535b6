"""The invented survey has every number that the source prints about its own."""

from __future__ import annotations

from collections import Counter

from sfumato.attacks.data.student_survey import COLUMNS, survey

AGES = {20: 1, 21: 6, 22: 4, 23: 4, 24: 1, 25: 2, 26: 1, 27: 4, 31: 1}
BOTH = {
    "f20": 1,
    "f21": 5,
    "m21": 1,
    "f22": 2,
    "m22": 2,
    "m23": 4,
    "f24": 1,
    "f25": 1,
    "m25": 1,
    "m26": 1,
    "f27": 2,
    "m27": 2,
    "f31": 1,
}
SHOWN = [
    (21, "f", 3, "SS2017", 1, 5, "no", "no"),
    (23, "m", 1, "WS2017", 1, 5, "yes", "yes"),
    (24, "m", 1, "WS2017", 1, 4, "no", "no"),
    (23, "f", 1, "SS2017", 1, 3, "yes", "yes"),
    (20, "f", 0, "WS2017", 1, 2, "no", "yes"),
    (21, "m", 0, "WS2017", 1, 1, "no", "yes"),
]


def rows() -> list[tuple[object, ...]]:
    table = survey()
    return list(zip(*(table[name] for name in COLUMNS), strict=True))


def test_S_141_the_counts_are_as_printed() -> None:
    table = survey()
    assert len(table["id"]) == 24
    assert Counter(table["age"]) == AGES
    assert (
        Counter(f"{sex}{age}" for sex, age in zip(table["sex"], table["age"], strict=True)) == BOTH
    )


def test_S_140_and_E_59_four_of_six_printed_rows_fit_the_counts() -> None:
    """A man of 24 and a woman of 23 are shown, where the counts have none: these two rows are left
    out.
    """
    fit = [row for row in SHOWN if BOTH.get(f"{row[1]}{row[0]}", 0)]
    assert [row for row in SHOWN if row not in fit] == [SHOWN[2], SHOWN[3]]
    assert all(row in rows() for row in fit)
    assert rows()[-1] == SHOWN[-1]


def test_a_copy_is_handed_out() -> None:
    survey()["age"].clear()
    assert len(survey()["age"]) == 24
