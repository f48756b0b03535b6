"""Subset selection: uniform sets, the best size, and sets that nobody could have sent."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Subset
from sfumato.local.frequency_estimate import variance
from sfumato.local.subset import best_size
from sfumato.noise.bits import Words
from sfumato.testing import SeededBits

from . import simulated
from .laws import law_of


@pytest.mark.parametrize(("epsilon", "k"), [(1, 100), ("1/10", 10), (3, 40), (70, 9)])
def test_the_best_size(epsilon: int | str, k: int) -> None:
    each = {d: Subset(epsilon=epsilon, categories=range(k), size=d) for d in range(1, k)}
    assert best_size(Fraction(epsilon), k) == min(
        each,
        key=lambda d: variance(each[d].true_support, each[d].false_support, Fraction(0), 1, "data"),
    )


def test_the_client_draws_uniform_sets() -> None:
    oracle = Subset(epsilon=1, categories=range(5), size=2)
    law = law_of(oracle.question, 3)
    chances = {
        frozenset(np.flatnonzero(np.unpackbits(np.frombuffer(row, dtype=np.uint8)))): chance
        for row, chance in law.items()
    }
    assert chances == {
        frozenset(s): oracle.true_support / 4 if 3 in s else (1 - oracle.true_support) / 6
        for s in itertools.combinations(range(5), 2)
    }


class Tied:
    """Words that are all equal at first: every key ties with every other."""

    def __init__(self) -> None:
        self._bits, self.asked = SeededBits(1), 0

    def words(self, count: int) -> Words:
        self.asked += 1
        return np.zeros(count, dtype=np.uint64) if self.asked == 2 else self._bits.words(count)

    def integer(self, bits: int) -> int:
        return self._bits.integer(bits)


def test_ties_are_drawn_anew() -> None:
    oracle = Subset(epsilon=1, categories=range(6), size=3)
    bits = Tied()
    inside = np.array([True, False] * 50)
    bits.asked = 1
    sets = oracle._sets(np.arange(100) % 6, inside, bits)
    assert bits.asked > 2
    assert (sets.sum(axis=1) == 3).all()
    assert (sets[np.arange(100), np.arange(100) % 6] == inside).all()


def test_sets_in_bulk_are_uniform() -> None:
    """60 000 sets of ten kinds; χ² with 9 degrees of freedom above 55 has a chance of 10⁻⁸ (and the
    bits are seeded). A bias would be seen.
    """
    oracle = Subset(epsilon=1, categories=range(6), size=3)
    sets = oracle._sets(
        np.zeros(60_000, dtype=np.int64), np.ones(60_000, dtype=bool), SeededBits(8)
    )
    kinds = np.bincount(sets[:, 1:] @ (1 << np.arange(5)), minlength=32)
    kinds = kinds[kinds > 0]
    assert len(kinds) == 10
    assert ((kinds - 6000) ** 2 / 6000).sum() < 55
    biased = kinds + np.array([400] + [0] * 8 + [-400])
    assert ((biased - 6000) ** 2 / 6000).sum() > 40


def test_malformed() -> None:
    oracle = Subset(epsilon=1, categories=range(6), size=3)
    head = oracle.perturb(0)[0][:4]
    for wrong in (0b11111100, 0b10000000, 0b00000111, 0):
        with pytest.raises(Refused):
            oracle.read([head + bytes([wrong])])
    assert len(oracle.read([head + b"\0", head + bytes([0b11100000])], drop=True)) == 1


@pytest.mark.parametrize("size", [0, 6, True, 1.5])
def test_no_such_size(size: int) -> None:
    with pytest.raises(Refused):
        Subset(epsilon=1, categories=range(6), size=size)


def test_simulated() -> None:
    simulated.check(lambda run: Subset(epsilon=1, categories=range(9)))
