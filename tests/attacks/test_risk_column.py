"""Secrets of a table's own people, from counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.attacks.lib.owner_table import columns
from sfumato.attacks.report.risk_column import PEOPLE, solved, varied
from sfumato.testing.seeded_bits import SeededBits


def test_names() -> None:
    table = columns({"s": ["a", "b", "b", "c"] * 40})
    found = solved(table, "s", [Fraction(1)], bits=SeededBits(1))
    assert found is not None
    assert (found.people, found.answers, found.what) == (PEOPLE, 4 * PEOPLE, "s = b")
    assert found.exact == PEOPLE
    assert 40 <= dict(found.private)[Fraction(1)] <= 60  # seeded; a coin for each


def test_numbers_and_missing_ones() -> None:
    found = solved(columns({"x": [float("nan"), *range(1, 20)]}), "x", [])
    assert found is not None
    assert (found.people, found.commoner, found.what) == (20, 10, "x above 9.5")
    assert found.exact == 20


def test_hardly_any_noise_tells_everything() -> None:
    """The twin: at ε = 100 000 for 160 counts, each is exact."""
    found = solved(columns({"s": ["a", "b"] * 20}), "s", [Fraction(100_000)], bits=SeededBits(2))
    assert found is not None
    assert dict(found.private)[Fraction(100_000)] == 40


@pytest.mark.parametrize("values", [["a"] * 5, ["a"]], ids=["one-value", "one-row"])
def test_nothing_to_learn(values: list[str]) -> None:
    table = columns({"s": values})
    assert not varied(table, "s")
    assert solved(table, "s", []) is None


def test_the_people_are_drawn_by_the_seed() -> None:
    table = columns({"s": np.arange(1000) % 2 == 0})
    assert solved(table, "s", [], seed=1) == solved(table, "s", [], seed=1)
