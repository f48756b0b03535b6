"""B1, rounding: a sum of doubles rounds at every step, so that one changed row moves it by hundreds
of times its sensitivity (Casacuberta et al. 2022).
"""

from __future__ import annotations

import pytest

import sfumato as sf

from .tables import distance, tally

BASE = 2.0**50


def neighbours(n: int) -> tuple[list[float], list[float]]:
    """Values in [2^50, 2^50 + 1]; they differ in one."""
    rest = [BASE + 0.1875] * (n - 1)
    return [BASE, *rest], [BASE + 1, *rest]


@pytest.mark.parametrize(("n", "apart"), [(1024, 256), (4096, 1024), (16384, 4096)])
def test_attack_B1_moves_a_sum_of_doubles_by_hundreds(n: int, apart: int) -> None:
    first, second = (added(values) for values in neighbours(n))
    assert abs(first - second) == apart


def added(values: list[float]) -> float:
    """From left to right, as a loop does."""
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.parametrize("n", [1024, 16384])
@pytest.mark.parametrize(
    "about",
    [{}, {"table_rows": 2**15}, {"unit": "u", "max_rows": 1}],
    ids=["integers", "doubles", "weights"],
)
def test_attack_B1_moves_ours_by_one(n: int, about: dict[str, object]) -> None:
    result = [
        tally(
            {"x": values, "u": list(range(n))},
            lambda t: t.aggregate(m=sf.mean("x", low=2**50, high=2**50 + 1)),
            relation="replace",
            **about,
        )
        for values in neighbours(n)
    ]
    moved, declared = distance(*result)
    assert moved == 1
    assert moved <= declared
