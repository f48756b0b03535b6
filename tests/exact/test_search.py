"""Searches: the first integer whatever the beginning, none asked that must not be, and the lowest
place of a valley.
"""

from __future__ import annotations

import math
from functools import partial

import pytest

from sfumato.exact.search import first, lowest

TARGETS = [-(10**20), -1000, -2, -1, 0, 1, 2, 3, 1000, 10**20]


@pytest.mark.parametrize("near", [-(10**9), -1, 0, 1, 7, 10**9])
@pytest.mark.parametrize("target", TARGETS)
def test_first(target: int, near: int) -> None:
    assert first(lambda z: z >= target, near=near) == target


@pytest.mark.parametrize("near", [-5, 0, 1, 2, 3, 40, 1000])
@pytest.mark.parametrize("least", [-3, 0, 1, 17])
def test_none_below_the_least_is_asked(least: int, near: int) -> None:
    calls: list[int] = []

    def holds(target: int, z: int) -> bool:
        calls.append(z)
        return z >= target

    for target in (least - 10, least, least + 1, least + 2, least + 100):
        assert first(partial(holds, target), near=near, least=least) == max(least, target)
    assert min(calls) >= least


@pytest.mark.parametrize("target", TARGETS)
def test_a_search_takes_about_twice_the_digits(target: int) -> None:
    calls: list[int] = []

    def reaches(z: int) -> bool:
        calls.append(z)
        return z >= target

    first(reaches)
    assert len(calls) <= 2 * abs(target).bit_length() + 4


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 2.0, 2.9, 3.0])
def test_lowest(place: float) -> None:
    minimum = lowest(lambda x: (x - place) ** 2, 0.0, 3.0, steps=40)
    assert 0.0 < minimum < 3.0
    assert minimum == pytest.approx(place, abs=1e-7)


def test_infinite_values_count_as_rising() -> None:
    assert lowest(lambda x: 1 / x if x < 0.01 else math.inf, 0.0, 1.0, steps=60) == pytest.approx(
        0.01, rel=1e-6
    )


def test_what_is_returned_is_the_lowest_that_was_seen() -> None:
    """Also of a function that is no valley."""
    values: dict[float, float] = {}

    def rough(x: float) -> float:
        return values.setdefault(x, math.sin(40 * x) + x)

    assert rough(lowest(rough, 0.0, 3.0, steps=25)) == min(values.values())
