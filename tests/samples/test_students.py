"""The ten-student table is the one printed by its source."""

import dataclasses

import pytest

from sfumato.samples import grades


def test_four_of_ten_failed_both_women_among_them() -> None:
    table = grades()
    assert len(table) == len({s.name for s in table}) == 10
    assert [s.name for s in table if s.grade == "fail"] == ["Angie", "David", "Eva", "Gang"]
    assert [(s.name, s.grade) for s in table if s.gender == "female"] == [
        ("Angie", "fail"),
        ("Eva", "fail"),
    ]


def test_it_cannot_be_changed() -> None:
    table = grades()
    assert isinstance(table, tuple)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table[0].grade = "pass"  # type: ignore[misc]  # must fail: it is frozen
