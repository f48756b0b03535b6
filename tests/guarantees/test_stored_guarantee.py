"""Guarantees as text: files of version 1 are read for ever, and what is no guarantee is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import Guarantee
from sfumato.guarantees.stored_guarantee import python_text, record, restore

from ..conformance.notions import EXAMPLES

STORED = Path(__file__).parents[1] / "vectors" / "stored" / "guarantees-v1.jsonl"


def test_a_file_written_by_version_1_is_still_read() -> None:
    lines = STORED.read_text(encoding="utf-8").splitlines()
    restored = [Guarantee.from_json(line) for line in lines]
    assert [a.to_json() for a in restored] == lines
    assert {type(a).__name__ for a in restored} == {*EXAMPLES, "RandomDP"}
    assert restored[0] == sf.Pure("1/3", relation="replace", unit="patient")


@pytest.mark.parametrize(
    "bad",
    [
        "{}",
        "[]",
        "3",
        "not json",
        '{"sfumato": "guarantee", "version": 2, "notion": "Pure", "epsilon": "1"}',
        '{"sfumato": "guarantee", "version": 1, "notion": "Pure"}',
        '{"sfumato": "guarantee", "version": 1, "notion": "Renyi", "curve": 3}',
    ],
)
def test_unreadable_storage_is_refused(bad: str) -> None:
    with pytest.raises(Refused):
        Guarantee.from_json(bad)


def test_a_mixed_record_has_parts_of_two_notions_that_are_not_mixed() -> None:
    mixed = record(sf.Pure(1) + sf.ZCDP(1))
    assert restore(mixed) == sf.Pure(1) + sf.ZCDP(1)
    pure, zcdp = mixed["parts"]
    for parts in ([pure, pure], [pure], [mixed, zcdp]):
        with pytest.raises(Refused, match=r"guarantee\.stored"):
            restore({**mixed, "parts": parts})


@pytest.mark.parametrize("change", [{"relation": "add-remove"}, {"unit": "visit"}])
def test_a_record_that_contradicts_its_part_is_refused(change: dict[str, str]) -> None:
    stored = record(sf.RandomDP(sf.Pure(1, relation="replace", unit="person"), "0.1", over="rows"))
    assert restore(stored).unit == "person"
    with pytest.raises(Refused, match=r"guarantee\.stored"):
        restore({**stored, **change})


@pytest.mark.parametrize(
    "guarantee",
    [
        sf.Pure("1/3", relation="add-remove", unit="user_id"),
        sf.Approx("2/7", "1e-6"),
        sf.ZCDP("1/7", "1e-9", relation="replace"),
        sf.GDP("0.3"),
        sf.Renyi({2: "1/3", "5/2": 1}),
    ],
    ids=str,
)
def test_the_python_text_builds_the_same_guarantee(guarantee: sf.Guarantee) -> None:
    built = eval(python_text(guarantee), {"sf": sf})  # the text of this test
    assert built == guarantee
    assert (built.relation, built.unit) == (guarantee.relation, guarantee.unit)
