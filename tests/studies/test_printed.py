"""What a printed number stands for."""

from __future__ import annotations

import math

import pytest

from sfumato.studies.printed import Printed, grouped, meet, shown


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("5.014e-1", (0.50135, 0.5014, 0.50149), (0.5013, 0.5016)),
        ("-6.912e-5", (-6.9115e-5, -6.9129e-5), (-6.91e-5, -6.914e-5)),
        ("2.99", (2.9957, 2.985), (3.001, 2.98)),
        ("0.43", (0.425, 0.439), (0.42424,)),
        ("285", (285.0,), (284.0, 287.0)),
    ],
)
def test_a_number_stands_for_what_rounds_or_is_cut_off_to_it(
    text: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    assert all(Printed(text).stands_for(x) for x in inside)
    assert not any(Printed(text).stands_for(x) for x in outside)


def test_numbers_are_shown_as_one_prints_them() -> None:
    assert str(Printed("-6.912e-5")) == "−6.912 · 10⁻⁵"
    assert str(Printed("2.605")) == "2.605"
    assert [shown(x) for x in (0.0, 0.12345, 1e-6, -2.5e-7, 1000.0, math.inf)] == [
        "0",
        "0.1235",
        "1.000 · 10⁻⁶",
        "−2.500 · 10⁻⁷",
        "1000",
        "∞",
    ]
    assert grouped(1_000_000) == "1\u202f000\u202f000"


def test_meet() -> None:
    assert meet((0, 2), (1, 3)) == (1, 2)
    assert meet((0, 1), (2, 3)) is None
