"""Secrets of a table's own people, from counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.attacks.lib.owner_table import read_columns
from sfumato.attacks.report.risk_column import PEOPLE, has_two_values, reconstruct_column
from sfumato.testing.seeded_bits import SeededBits


def test_names() -> None:
    table = read_columns({"s": ["a", "b", "b", "c"] * 40})
    result = reconstruct_column(table, "s", [Fraction(1)], bits=SeededBits(1))
    assert result is not None
    assert (result.people, result.answers, result.what) == (PEOPLE, 4 * PEOPLE, "s = b")
    assert result.exact == PEOPLE
    assert 40 <= dict(result.private)[Fraction(1)] <= 60  # seeded; a coin for each


def test_numbers_and_missing_ones() -> None:
    result = reconstruct_column(read_columns({"x": [float("nan"), *range(1, 20)]}), "x", [])
    assert result is not None
    assert (result.people, result.commoner, result.what) == (20, 10, "x above 9.5")
    assert result.exact == 20


def test_hardly_any_noise_tells_everything() -> None:
    """The twin: at ε = 100 000 for 160 counts, each is exact."""
    result = reconstruct_column(
        read_columns({"s": ["a", "b"] * 20}), "s", [Fraction(100_000)], bits=SeededBits(2)
    )
    assert result is not None
    assert dict(result.private)[Fraction(100_000)] == 40


@pytest.mark.parametrize("values", [["a"] * 5, ["a"]], ids=["one-value", "one-row"])
def test_nothing_to_learn(values: list[str]) -> None:
    table = read_columns({"s": values})
    assert not has_two_values(table, "s")
    assert reconstruct_column(table, "s", []) is None


def test_the_people_are_drawn_by_the_seed() -> None:
    table = read_columns({"s": np.arange(1000) % 2 == 0})
    assert reconstruct_column(table, "s", [], seed=1) == reconstruct_column(table, "s", [], seed=1)
