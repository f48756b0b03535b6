"""The invented ward is 5-anonymous, and has a group of five with one disease."""

from __future__ import annotations

from collections import Counter

from sfumato.attacks.data.ward import patients


def test_five_of_each_kind() -> None:
    table = patients()
    assert set(Counter(zip(table["age"], table["area"], strict=True)).values()) == {5}
    alike = {
        (age, area)
        for age, area in set(zip(table["age"], table["area"], strict=True))
        if len(diseases(age, area)) == 1
    }
    assert len(alike) == 1


def diseases(age: str, area: str) -> set[str]:
    table = patients()
    return {disease for a, b, disease in zip(*table.values(), strict=True) if (a, b) == (age, area)}
