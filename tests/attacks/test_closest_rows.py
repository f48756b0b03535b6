"""Copies give everybody away; rows with a promise do not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import closest_rows

from ..refusing import refusal

RANDOM = np.random.default_rng(3)
PEOPLE = pa.table(
    {
        "city": RANDOM.choice(["Bari", "Pisa", "Roma"], 600),
        "vip": RANDOM.random(600) < 0.3,
        "age": RANDOM.integers(0, 100, 600),
        "spend": pa.array(RANDOM.random(600), mask=RANDOM.random(600) < 0.1),
    }
)


def synthesize(rows: pa.Table) -> pa.Table:
    with sf.protect(
        rows,
        name="people",
        each_row_a_person=True,
        budget=sf.Approx(1, "1e-6"),
        keys={"city": ["Bari", "Pisa", "Roma"]},
        bounds={"age": (0, 99), "spend": (0, 1)},
    ) as table:
        return sf.synthesize(table, epsilon=1, delta="1e-6").to_arrow()


def test_copies_give_everybody_away() -> None:
    result = closest_rows(PEOPLE, lambda rows: rows, promise=sf.Approx(1, "1e-6"))
    assert result.copied == 1
    assert result.roc.area > 0.99
    assert not result.holds
    assert "BROKEN" in str(result)


def test_synthetic_rows_keep_their_promise() -> None:
    """The right guesses of 600 coins are within what ε = 1 allows; no more than half as far from
    guessing as that, but for a chance below 1e-6: the rows hardly depend on anybody.
    """
    result = closest_rows(PEOPLE, synthesize, promise=sf.Approx(1, "1e-6"))
    (success,) = result.successes
    assert result.holds
    assert success.bound is not None
    assert success.rate < (0.5 + success.bound) / 2
    assert result.copied < 0.05
    assert "kept" in str(result)
    assert result.plot().axes


def test_missing_values_are_near_missing_values() -> None:
    rows = {"x": [None, 1.0] * 30, "y": ["a", None] * 30}
    result = closest_rows(rows, lambda table: table)
    assert result.copied == 1
    assert result.successes[0].bound is None


def test_refusals() -> None:
    assert refusal(lambda: closest_rows({"x": [1, 2]}, lambda rows: rows), "attacks.few")
    assert refusal(
        lambda: closest_rows({"x": list(range(60))}, lambda rows: {"y": [1]}), "attacks.columns"
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_the_draw_is_repeatable(seed: int) -> None:
    first, second = (closest_rows(PEOPLE, lambda rows: rows, seed=seed) for _ in range(2))
    assert first.numbers == second.numbers
