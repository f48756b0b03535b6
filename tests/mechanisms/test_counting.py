"""Counts: sensitivities by enumeration, and the better of two noises by exact variance."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.neighbour_relations import RELATIONS

from ..refusing import refusal


def test_the_better_mechanism_is_returned() -> None:
    assert mech.counts(epsilon=1) == mech.Laplace(sensitivity=1, epsilon=1)
    chosen = {k: mech.counts(k=k, epsilon=1, delta=1e-6) for k in (1, 8, 9, 20, 49)}
    assert [type(m).__name__ for m in chosen.values()] == [
        "Laplace",
        "Laplace",
        "Gaussian",
        "Gaussian",
        "Gaussian",
    ]
    assert chosen[20].promise.delta(1) <= 1e-6
    assert chosen[20].moves_squared == 20
    assert chosen[49] == mech.Gaussian(sensitivity=7, epsilon=1, delta=1e-6)
    for k, m in chosen.items():
        alternative: Any = (
            mech.Laplace(sensitivity=k, epsilon=1)
            if isinstance(m, mech.Gaussian)
            else mech.Gaussian(sensitivity=k**0.5, epsilon=1, delta=1e-6)
        )
        assert m.variance <= alternative.variance


def test_without_delta_only_laplace() -> None:
    assert mech.counts(
        k=1000, epsilon="1/2", unit="patient", relation="replace"
    ).promise == sf.Pure("1/2", unit="patient", relation="replace")


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=str)
def test_sensitivity_by_enumeration(relation: Any) -> None:
    """Three conditions on rows of three bits: over every pair of neighbours the counts move by at
    most 3 in L1 and √3 in L2, and by so much somewhere.
    """
    domain = tuple(itertools.product((0, 1), repeat=3))

    def tally(x: Any) -> list[int]:
        return [sum(row[i] for row in x) for i in range(3)]

    moved = [
        [abs(a - b) for a, b in zip(tally(x), tally(y), strict=True)]
        for x, y in relation.pairs(domain, 2)
    ]
    assert max(sum(m) for m in moved) == 3
    assert max(sum(d * d for d in m) for m in moved) == 3


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_is_a_number_of_counts(k: Any) -> None:
    refusal(lambda: mech.counts(k=k, epsilon=1), "mechanism.size")
