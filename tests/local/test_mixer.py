"""The mixer: every order equally likely, nothing but the reports, and what it does not pass."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import sfumato as sf
from sfumato.local.mixer import permutation
from sfumato.local.wire_reports import Reports
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal

ORACLE = sf.local.Direct(epsilon=1, categories="abcd")
SENT = list(ORACLE.perturb(list("abcdabcd")))


class Words:
    """Bits that hand out prepared words, then those of the system."""

    def __init__(self, *words: list[int]) -> None:
        self.prepared = [np.array(each, dtype=np.uint64) for each in words]

    def words(self, count: int) -> Any:
        return self.prepared.pop(0)

    def integer(self, bits: int) -> int:
        raise AssertionError("not asked for")


def statistic(orders: list[tuple[int, ...]], size: int) -> float:
    """Pearson's statistic against equal chances of all orders."""
    counts, cells = Counter(orders), list(permutations(range(size)))
    expected = len(orders) / len(cells)
    return sum((counts[cell] - expected) ** 2 for cell in cells) / expected


def test_every_order_is_equally_likely() -> None:
    """False alarm 1e-6. The twin moves each report to a random place in turn, which favours some
    orders.
    """
    bits, rng = SeededBits(11), np.random.default_rng(11)
    limit = float(chi2.isf(1e-6, 23))
    drawn = [tuple(permutation(4, bits).tolist()) for _ in range(24_000)]
    assert statistic(drawn, 4) < limit
    twins = []
    for _ in range(24_000):
        order = [0, 1, 2, 3]
        for i in range(4):
            j = int(rng.integers(4))
            order[i], order[j] = order[j], order[i]
        twins.append(tuple(order))
    assert statistic(twins, 4) > limit


def test_equal_keys_are_drawn_again() -> None:
    """A stable sort of equal keys would keep the order in which reports came in."""
    assert permutation(3, Words([7, 7, 1], [5, 9, 2])).tolist() == [2, 0, 1]


def test_a_batch_has_the_reports_and_nothing_else() -> None:
    mixed = sf.local.shuffle(SENT)
    assert isinstance(mixed, Reports)
    assert sorted(mixed) == sorted(SENT)
    assert ORACLE.read(mixed).mark == ORACLE.mark
    assert mixed.payload.base is None, "no view of the batch in its old order"
    assert sorted(sf.local.shuffle(ORACLE.read(SENT), least=8)) == sorted(SENT)
    backwards = sf.local.shuffle(SENT, bits=Words(list(range(8, 0, -1))))
    assert list(backwards) == SENT[::-1]


def test_the_estimate_is_that_of_the_reports() -> None:
    before, after = (ORACLE.estimate(each) for each in (SENT, sf.local.shuffle(SENT)))
    assert before.frequencies.tolist() == after.frequencies.tolist()


@pytest.mark.parametrize(
    ("reports", "more", "code"),
    [
        ([], {}, "shuffle.reports"),
        ([("alice", SENT[0])], {}, "shuffle.reports"),
        ([SENT[0], ("bob", SENT[1])], {}, "shuffle.reports"),
        ([SENT[0], SENT[1] + b"from bob"], {}, "shuffle.reports"),
        (
            [SENT[0], sf.local.Direct(epsilon=2, categories="abcd").perturb(["a"])[0]],
            {},
            "shuffle.reports",
        ),
        (SENT, {"least": 9}, "shuffle.least"),
        (SENT, {"least": 0}, "shuffle.least"),
    ],
)
def test_refused(reports: Any, more: dict[str, Any], code: str) -> None:
    refusal(lambda: sf.local.shuffle(reports, **more), code)
