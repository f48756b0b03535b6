"""Noise beside √n: the same curve for every n."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.attacks.threshold import threshold
from sfumato.errors import Refused
from sfumato.testing.seeded_bits import SeededBits


def test_S_158_the_curves_lie_on_each_other_and_on_the_law() -> None:
    """30 runs of n bits at each level, seeded. The law is an approximation, so the test allows a
    distance of 0.04.
    """
    result = threshold(
        (32, 64), ("0.1", "0.3", 1, 4), runs=30, epsilons=(), people=8, bits=SeededBits(1)
    )
    assert np.abs(result.wrong - result.expected).max() < 0.04
    assert (result.wrong[:, 0] < 0.01).all()
    assert (result.wrong[:, -1] > 0.35).all()
    assert (np.diff(result.wrong, axis=1) > 0).all()


def test_noise_that_does_not_grow_protects_fewer_and_fewer() -> None:
    """Noise of 3 for all: at 16 people it hides much, at 256 nothing."""
    small, large = (
        threshold((n,), (3 / n**0.5,), runs=10, epsilons=(), people=8).wrong[0, 0]
        for n in (16, 256)
    )
    assert small > 0.2
    assert large < 0.05


def test_linear_programming_too() -> None:
    result = threshold(
        (32,), ("0.05", 4), runs=3, method="linear programming", epsilons=(), people=8
    )
    assert result.wrong[0, 0] < 0.02
    assert result.wrong[0, 1] > 0.25


def test_the_promise_is_kept() -> None:
    result = threshold((16,), (1,), runs=10, people=32, bits=SeededBits(2))
    assert result.holds
    assert result.successes[0].rate == 1
    assert result.successes[0].lower() > result.successes[3].bound
    assert result.plot().axes[0].get_xscale() == "log"
    assert "The curves for different numbers of people" in str(result)
    assert result.numbers["wrong, n = 16, noise 1·√n"] == result.wrong[0, 0]


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [((1,), (1,)), ((), (1,)), ((32,), ()), ("ab", (1,)), (32, (1,)), ((32,), 1)],
    ids=str,
)
def test_sizes_and_levels_are_lists_of_numbers(sizes: Any, levels: Any) -> None:
    with pytest.raises(Refused) as refused:
        threshold(sizes, levels)
    assert refused.value.code == "attacks.trials"
