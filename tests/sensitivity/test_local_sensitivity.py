"""Local sensitivities against brute force, and against the lecture's example."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from sfumato.guarantees.neighbour_relations import REPLACE
from sfumato.sensitivity.brute_force import local
from sfumato.sensitivity.local_sensitivity import LOCAL

DOMAIN = (-3, -1, 0, 2, 3)
STATISTICS: dict[str, Any] = {
    "mean": lambda x: Fraction(sum(x), len(x)),
    "maximum": max,
    "median": lambda x: sorted(x)[(len(x) + 1) // 2 - 1],
}


@pytest.mark.parametrize("name", LOCAL)
def test_against_every_neighbour(name: str) -> None:
    for n in (1, 2, 3):
        for x in itertools.combinations_with_replacement(DOMAIN, n):
            sensitivity = LOCAL[name](x, low=-3, high=3)
            assert sensitivity.value == local(STATISTICS[name], x, REPLACE.neighbours(x, DOMAIN))
            assert sensitivity.relation == "replace"


def test_the_lectures_example() -> None:
    """S-083."""
    x = ("-1", "0.5", "2", "0.7", "-2.5")
    assert {name: form(x, low=-3, high=3).value for name, form in LOCAL.items()} == {
        "mean": Fraction("1.1"),
        "maximum": Fraction("1.3"),
        "median": Fraction("1.5"),
    }


def test_no_values_and_values_outside() -> None:
    for form in LOCAL.values():
        assert form([], low=0, high=1).value == form([0], low=0, high=1).value
        assert form([-5, 9], low=0, high=1).value == form([0, 1], low=0, high=1).value
