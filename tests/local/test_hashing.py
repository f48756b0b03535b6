"""Optimised local hashing: buckets, support over the whole family, and the fast count beside the
plain one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Hashing
from sfumato.local.client import PRIME, bucket
from sfumato.local.frequency_estimate import variance
from sfumato.local.hashing import best_buckets
from sfumato.local.lib.hash_families import bucket_ends
from sfumato.testing import SeededBits

from . import simulated


@pytest.mark.parametrize(("epsilon", "g"), [(1, 4), ("1/10", 2), (3, 21), (20, 65536)])
def test_the_best_number_of_buckets(epsilon: int | str, g: int) -> None:
    assert best_buckets(Fraction(epsilon)) == g
    if g < 1000:
        each = {b: Hashing(epsilon=epsilon, categories="ab", buckets=b) for b in range(2, 3 * g)}
        assert (
            min(
                each,
                key=lambda b: variance(
                    each[b].true_support, each[b].false_support, Fraction(0), 1, "data"
                ),
            )
            == g
        )


def test_support_over_the_whole_family() -> None:
    """The two hashes of two values are independent and uniform on [0, P); so the chance that the
    reported bucket holds the other is a sum.
    """
    oracle = Hashing(epsilon=1, categories="abc", buckets=3)
    sizes = [Fraction(int(size), PRIME) for size in np.diff(bucket_ends(3))]
    lie = (1 - oracle.true_support) / 2
    false_support = sum(
        sizes[h] * sizes[y] * (oracle.true_support if h == y else lie)
        for h in range(3)
        for y in range(3)
    )
    assert false_support == oracle.false_support
    assert sum(sizes[h] * oracle.true_support for h in range(3)) == oracle.true_support


def test_the_fast_count_is_the_plain_one() -> None:
    oracle = Hashing(epsilon=1, categories=range(37))
    reports = oracle.perturb(np.arange(37).repeat(20), bits=SeededBits(3))
    plain = [0] * 37
    for row in reports.payload:
        a, b, reported = (
            int.from_bytes(row[:4].tobytes(), "big"),
            int.from_bytes(row[4:8].tobytes(), "big"),
            int(row[8]),
        )
        for code in range(37):
            plain[code] += bucket((a * code + b) % PRIME, 4) == reported
    assert oracle.aggregate(reports).counts.tolist() == plain


def test_the_count_at_the_ends_of_the_field() -> None:
    """a and b at the edges, where a sum wraps around."""
    oracle = Hashing(epsilon=1, categories=range(50), buckets=3)
    rows = []
    for a in (0, 1, PRIME - 1, PRIME // 2, PRIME // 2 + 1):
        for b in (0, 1, PRIME - 1):
            rows += [
                a.to_bytes(4, "big") + b.to_bytes(4, "big") + bytes([reported])
                for reported in range(3)
            ]
    payload = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 9)
    assert oracle._well_formed(payload).all()
    assert (
        oracle._tally(payload).tolist() == [15] * 50
    )  # each (a, b) with each bucket: every value is in one of the three


def test_malformed() -> None:
    oracle = Hashing(epsilon=1, categories="abc", buckets=3)
    good = oracle.perturb("a")
    for place, value in (
        (slice(0, 4), PRIME.to_bytes(4, "big")),
        (slice(4, 8), PRIME.to_bytes(4, "big")),
        (slice(8, 9), b"\3"),
    ):
        row = bytearray(good.payload[0].tobytes())
        row[place] = value
        with pytest.raises(Refused):
            oracle.read([good[0][:4] + bytes(row)])


def test_simulated() -> None:
    simulated.check(lambda run: Hashing(epsilon=1, categories=range(6)))
    with pytest.raises(Refused):
        Hashing(epsilon=1, categories="ab", buckets=1)
