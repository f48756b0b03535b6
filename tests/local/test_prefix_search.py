"""The search: frequent texts are found, noise is not, and intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.local import Hitters, PrefixTree
from sfumato.local.client import END, PRIME
from sfumato.local.lib.hash_families import own_hash, to_bucket
from sfumato.local.prefix.prefix_search import continuations, support
from sfumato.testing import SeededBits

TREE = PrefixTree(epsilon=3, length=4, alphabet="abcdefgh", unit="phone")
SHARES = {"cafe": 0.35, "bad": 0.25, "ha": 0.2, "": 0.1}


def find_hitters(seed: int, n: int = 40_000) -> Hitters:
    texts = [text for text, share in SHARES.items() for _ in range(int(share * n))]
    rest = np.random.default_rng(seed).choice(list("abcdefgh"), size=(n - len(texts), 4))
    return TREE.estimate(
        TREE.perturb([*texts, *map("".join, rest.tolist())], bits=SeededBits(seed)), confidence=0.99
    )


def test_frequent_texts_are_found_and_nothing_else() -> None:
    """Six seeded surveys: all texts above twice the bound of every level are found, and no others;
    at 99 % four misses would come once in 10⁷.
    """
    missed = 0
    for seed in range(6):
        hitters = find_hitters(seed)
        assert all(level["bound"] < 0.05 for level in hitters.levels)
        missed += set(hitters.texts) != set(SHARES)
    assert missed <= 3


def test_intervals_hold_together() -> None:
    """Of ten seeded surveys at 99 %, all texts together, at most four may miss: five would come
    once in 4·10⁷. Intervals of a quarter of the width miss.
    """
    surveys = [
        [hit for hit in find_hitters(seed, 20_000) if hit.text in SHARES] for seed in range(10)
    ]
    assert (
        sum(all(hit.low <= SHARES[hit.text] <= hit.high for hit in hits) for hits in surveys) >= 6
    )
    assert (
        sum(
            all(abs(hit.frequency - SHARES[hit.text]) < (hit.high - hit.low) / 8 for hit in hits)
            for hits in surveys
        )
        < 6
    )


def test_nobody_says_anything_frequent() -> None:
    """Uniform texts of 8⁴: nothing stands out."""
    rest = np.random.default_rng(1).choice(list("abcdefgh"), size=(20_000, 4))
    hitters = TREE.estimate(TREE.perturb(list(map("".join, rest.tolist())), bits=SeededBits(1)))
    assert hitters.texts == []
    assert len(hitters) == 0


def test_few_reports_and_short_tables() -> None:
    assert len(TREE.estimate(TREE.perturb(["ha"] * 3, bits=SeededBits(1)))) == 0
    narrow = PrefixTree(epsilon=3, length=4, alphabet="abcdefgh", most=2)
    texts = ["cafe"] * 7000 + ["bad"] * 6000 + ["ha"] * 5000
    hitters = narrow.estimate(narrow.perturb(texts, bits=SeededBits(3)))
    assert set(hitters.texts) == {"cafe", "bad"}


def test_support_is_the_hash_of_each_code() -> None:
    rng = np.random.default_rng(2)
    a, b, buckets = (
        rng.integers(0, PRIME, 500),
        rng.integers(0, PRIME, 500),
        rng.integers(0, 5, 500),
    )
    codes = np.array([0, 1, PRIME - 1, 12345, 2**30])
    plain = [
        sum(
            (int(x) * int(code) + int(y)) % PRIME * 5 >> 31 == s
            for x, y, s in zip(a, b, buckets, strict=True)
        )
        for code in codes
    ]
    assert support(codes, a, b, buckets, 5).tolist() == plain
    assert plain[3] == int((to_bucket(own_hash(a, b, np.full(500, 12345)), 5) == buckets).sum())


@pytest.mark.parametrize("step", [1, 2])
def test_continuations(step: int) -> None:
    tree = PrefixTree(epsilon=1, length=2, alphabet="ab", step=step)
    assert continuations(tree, "a" + END) == [END * step]
    assert sorted(continuations(tree, "")) == sorted(
        {1: ["a", "b", END], 2: ["aa", "ab", "ba", "bb", "a" + END, "b" + END, END + END]}[step]
    )


def test_two_letters_at_a_time() -> None:
    tree = PrefixTree(epsilon=4, length=4, alphabet="abcd", step=2)
    hitters = tree.estimate(tree.perturb(["dada"] * 3000 + ["abc"] * 2000, bits=SeededBits(5)))
    assert hitters.texts == ["dada", "abc"]
    assert hitters["dada"].frequency == pytest.approx(0.6, abs=0.06)
    record = hitters.record()
    assert [row["text"] for row in record["hitters"]] == ["dada", "abc"]
    assert len(record["levels"]) == 2
    assert len(repr(hitters).splitlines()) == 5
    assert repr(hitters).endswith("letters other than abcd, and cut texts after 4 letters")
    assert [hit.text for hit in hitters] == hitters.texts
