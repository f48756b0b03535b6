"""Numbers and names in sentences."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.attacks.lib.attack_text import (
    at_least,
    at_most,
    epsilon_label,
    format_number,
    join_names,
    people_having,
    per_cent,
)


def test_names() -> None:
    assert epsilon_label("0.1") == "ε = 0.1"
    assert epsilon_label(Fraction(1, 3)) == "ε = 1/3"
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b", "c"]) == "a, b and c"


def test_numbers() -> None:
    assert [
        format_number(value) for value in (5, 12_040, -1234, 2.25, 1_234_567.891, 3.14159265)
    ] == [
        "5",
        "12 040",
        "-1 234",
        "2.25",
        "1 234 567.89",
        "3.14159",
    ]
    assert [people_having(count) for count in (1, 35)] == ["1 person has", "35 people have"]
    assert [per_cent(share) for share in (0.0, 0.125, 0.9999, 1.0)] == [
        "0 %",
        "12.5 %",
        "99.99 %",
        "100 %",
    ]


def test_bounds_go_up_and_limits_down() -> None:
    assert [at_least(share) for share in (0.73199, 0.9996, 0.0, 0.012349)] == [
        "73.1 %",
        "99.96 %",
        "0 %",
        "1.23 %",
    ]
    assert [
        at_most(share) for share in (1.0, 0.99989, 0.5, math.nextafter(0.01, 1), 0.99999999)
    ] == ["100 %", "99.989 %", "50 %", "1 %", "100 %"]


@pytest.mark.parametrize("share", [0.1234567, 0.5249791, 0.7310586, 0.99899, 0.9990001, 0.99995])
def test_what_is_shown_lies_outside(share: float) -> None:
    low, high = (float(result(share).split()[0]) / 100 for result in (at_least, at_most))
    assert low <= share <= high
    assert high - low < 0.0011
