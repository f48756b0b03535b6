"""Sensitivity by definition, over worlds small enough to try everything."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, REPLACE, hamming
from sfumato.sensitivity.brute_force import lipschitz, local

BITS = list(itertools.product((0, 1), repeat=4))


@pytest.mark.parametrize(("norm", "expected"), [(1, 5), (2, math.sqrt(5)), ("inf", 1)])
def test_five_counts_that_one_record_may_flip(norm: Any, expected: float) -> None:
    """S-080: one record answers five questions."""
    world = [(answers,) for answers in itertools.product((0, 1), repeat=5)]
    constant = lipschitz(lambda x: x[0], world, REPLACE.distance, norm=norm)
    assert expected <= constant <= expected * (1 + 1e-15)


def test_a_sum_by_two_metrics() -> None:
    """S-081: against the number of differing rows 1; against its root 2."""
    assert lipschitz(sum, BITS, hamming) == 1
    assert lipschitz(sum, BITS, lambda x, y: math.sqrt(hamming(x, y))) == 2


def test_the_largest_step_between_neighbours_is_the_lipschitz_constant() -> None:
    """Any two datasets are joined by steps, so pairs further apart never have a larger ratio."""
    for function in (sum, max, lambda x: sum(x) ** 2, lambda x: x[0] * x[1]):
        assert lipschitz(function, BITS, hamming) == max(
            local(function, x, REPLACE.neighbours(x, (0, 1))) for x in BITS
        )


@pytest.mark.parametrize(
    ("statistic", "expected"), [("mean", Fraction(6, 3)), ("max", 6), ("median", 6)]
)
def test_global_sensitivities(statistic: str, expected: Fraction) -> None:
    """S-082, at three values of [−3, 3]: 2M/n, 2M, 2M. Values at the ends and the middle are
    enough, as each statistic is largest in between or at ends.
    """
    functions: dict[str, Any] = {
        "mean": lambda x: Fraction(sum(x), len(x)),
        "max": max,
        "median": lambda x: sorted(x)[len(x) // 2],
    }
    world = list(itertools.product((-3, 0, 3), repeat=3))
    assert lipschitz(functions[statistic], world, REPLACE.distance) == expected


def test_a_vector_and_a_number() -> None:
    world = [(0,), (1,), (2,)]
    assert lipschitz(lambda x: [x[0], -2 * x[0]], world, lambda x, y: abs(x[0] - y[0])) == 3
    assert local(lambda x: x[0], (1,), [(0,), (5,)]) == 4
    assert local(lambda x: x[0], (1,), []) == 0


def test_add_remove_needs_no_order() -> None:
    world = [x for n in range(4) for x in itertools.combinations_with_replacement((0, 1), n)]
    assert lipschitz(len, world, ADD_REMOVE.distance) == 1
    assert lipschitz(sum, world, ADD_REMOVE.distance) == 1


@pytest.mark.parametrize("norm", [1, 2, "inf"])
def test_results_without_a_number_do_not_move(norm: Any) -> None:
    """The largest of no coordinates is 0, as their sum and the root of their squares are."""
    assert local(lambda _: [], (1,), [(2,)], norm=norm) == 0


def test_refusals() -> None:
    for call, code in [
        (lambda: lipschitz(sum, [(0,)], hamming), "sensitivity.world"),
        (lambda: lipschitz(sum, BITS, hamming, norm=3), "sensitivity.norm"),
        (lambda: lipschitz(sum, BITS, lambda x, y: 0), "number.not-positive"),
        (lambda: local(list, (1,), [(1, 2)]), "sensitivity.fit"),
        (lambda: lipschitz(list, [(1,), (1, 2)], hamming), "sensitivity.fit"),
    ]:
        with pytest.raises(Refused) as caught:
            call()
        assert caught.value.code == code
