"""Outputs of every kind as columns: equal outputs are equal symbols, different ones are not, and
numbers are found in their places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing.canonical_outputs import MOST_NUMBERS, Error, read_both_outputs, read_outputs


@dataclass
class Point:
    x: int
    name: str


@attrs.frozen
class Spot:
    """A record whose text does not show all of it."""

    x: int
    hidden: int = attrs.field(repr=False)


class Silent:
    """Nothing to tell it by but its address."""


DIFFERENT: list[Any] = [
    0, 1, True, 0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, None, "", "a", b"", b"a",
    (), (0,), [0], [0, 1], [1, 0], {}, {"a": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1},
    {1, 2}, Fraction(1, 3), Decimal("0.1"), np.array([1, 2]), np.array([[1, 2]]),
    Point(1, "a"), Point(1, "b"), Spot(1, 1), Spot(1, 2), Error("ValueError"), Error("KeyError"),
    2**80, -(2**80), [[1], 2], [1, [2]],
]  # fmt: skip


def test_different_outputs_are_different_symbols() -> None:
    symbols = read_outputs(DIFFERENT).symbols.tolist()
    assert len(set(symbols)) == len(DIFFERENT)
    assert symbols == read_outputs(DIFFERENT).symbols.tolist()


def test_equal_outputs_are_equal_symbols() -> None:
    pairs = [
        ([1, "a", {"k": math.nan}], [1, "a", {"k": float("nan")}]),
        ({1, 2, 3}, {3, 2, 1}),
        (Silent(), Silent()),
        (np.float64(2), 2.0),
        (Point(1, "a"), Point(1, "a")),
        (Spot(1, 2), Spot(1, 2)),
    ]
    for first, second in pairs:
        assert len(set(read_outputs([first, second]).symbols.tolist())) == 1


def test_structure_leaves_values_out_but_not_what_is_no_number() -> None:
    result = read_outputs(
        [
            {"n": 1.5, "k": [1]},
            {"n": 2.5, "k": [7]},
            {"n": math.nan, "k": [1]},
            {"n": 1.5, "k": [1, 2]},
            Error("E"),
        ]
    ).structure.tolist()
    assert result[0] == result[1]
    assert len(set(result)) == 4


def test_numbers_have_their_places() -> None:
    result = read_outputs([{"n": 3, "v": [1.0, True]}, {"n": 4, "v": [2.0, False]}, "other"])
    assert result.numbers[".n"].tolist()[:2] == [3, 4]
    assert result.numbers[".v[0]"].tolist()[:2] == [1, 2]
    assert result.numbers[".v[1]"].tolist()[:2] == [1, 0]
    assert np.isnan(result.numbers[".n"][2])
    assert result.numbers[""].tolist()[2] == 5  # the length of the text


@pytest.mark.parametrize(
    "drawn",
    [
        np.array([1, 2, 2]),
        np.array([1.5, 2.5, 2.5]),
        np.array([[1, 2], [3, 4], [3, 4]]),
        np.array([[1.0, np.nan], [2.0, 3.0], [2.0, 3.0]]),
    ],
)
def test_arrays_are_read_as_they_are(drawn: Any) -> None:
    result = read_outputs(drawn)
    assert result.symbols[1] == result.symbols[2]
    assert result.symbols[0] != result.symbols[1]
    assert len(result) == 3
    assert len(result.part(1, 3)) == 2


def test_zeros_of_either_sign_and_nan_are_told_apart_in_arrays() -> None:
    result = read_outputs(np.array([0.0, -0.0, np.nan, np.nan, np.inf]))
    assert len(set(result.symbols.tolist())) == 4
    assert len(set(result.structure.tolist())) == 3


def test_many_numbers_are_bounded_and_still_symbols() -> None:
    first, second = list(range(200)), [*range(199), -1]
    result = read_outputs([first, second])
    assert len(result.numbers) == MOST_NUMBERS
    assert result.symbols[0] != result.symbols[1]


def test_an_answer_is_its_table() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for kind in (pa.table, pd.DataFrame, pl.DataFrame):
        result = read_outputs([kind({"n": [1, 2]}), kind({"n": [1, 3]})])
        assert result.numbers[".n[1]"].tolist() == [2, 3]


def test_the_message_of_an_error_is_not_looked_at() -> None:
    def raising(secret: int) -> None:
        raise ValueError(f"row {secret}")

    assert sf.audit(raising, 1, 2, claim=sf.Pure(1), samples=40).epsilon_lower == 0


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (np.array([1, 2]), [1, 2], True),
        (np.array([1, 2]), np.array([1, 2], dtype=np.int32), True),
        (np.array([1, 2], dtype=np.uint64), np.array([1, 2]), True),
        (np.array([[1.0, 2.0]]), [[1.0, 2.0]], True),
        (np.array([1.0, 2.0]), np.array([1, 2]), True),
        (np.array([True, False]), np.array([1, 0]), True),
        ([1.0, 2.0], [1, 2], False),
        (np.array([1, 2]), [Error("E"), Error("E")], False),
        (np.array([1, 2]), np.array([[1, 2], [1, 2]]), False),
    ],
    ids=str,
)
def test_outputs_of_two_inputs_are_written_in_one_way(first: Any, second: Any, equal: bool) -> None:
    a, b = read_both_outputs(first, second)
    assert a.symbols.dtype == b.symbols.dtype
    assert a.structure.dtype == b.structure.dtype
    assert (a.symbols.tolist() == b.symbols.tolist()) is equal


def test_the_first_part_does_not_know_what_only_the_second_has() -> None:
    """Else what is chosen on draws that do not count could depend on those that do."""
    result = read_outputs([{"a": 1}, {"a": 2}, {"a": 3, "b": 4}])
    assert list(result.part(0, 2).numbers) == list(read_outputs([{"a": 1}, {"a": 2}]).numbers)
    assert ".b" in result.part(2, 3).numbers


def test_numbers_beyond_doubles() -> None:
    result = read_outputs(
        [
            10**400,
            -(10**400),
            Fraction(10**400),
            Decimal("1e400"),
            Decimal("-1e400"),
            Decimal("NaN"),
            10**5000,
            -(10**5000),
        ]
    )
    assert result.numbers[""].tolist()[:5] == [math.inf, -math.inf, math.inf, math.inf, -math.inf]
    assert len(set(result.symbols.tolist())) == 8


def test_a_type_whose_text_cannot_be_made() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert len(read_outputs([Mute(), Mute()])) == 2
