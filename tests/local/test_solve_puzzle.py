"""Solved puzzles: frequent texts of any script are found, noise is not, and intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.local import FragmentPuzzle, Hitters
from sfumato.local.hashing import count_run
from sfumato.local.prefix import solve_puzzle
from sfumato.local.prefix.prefix_search import support
from sfumato.local.prefix.solve_puzzle import next_bytes, open_character
from sfumato.testing import SeededBits

PUZZLE = FragmentPuzzle(epsilon=4, length=8)
SHARES = {"naïve": 0.3, "Sfumato": 0.2, "日本": 0.15, "👍🏽": 0.12}


def survey(seed: int, n: int = 10_000) -> Hitters:
    texts = [text for text, share in SHARES.items() for _ in range(int(share * n))]
    rest = np.random.default_rng(seed).integers(0, 10**6, n - len(texts))
    return PUZZLE.estimate(
        PUZZLE.perturb([*texts, *map(str, rest.tolist())], bits=SeededBits(seed)), confidence=0.99
    )


def test_frequent_texts_of_every_script_are_found_and_nothing_else() -> None:
    """Three seeded surveys whose texts are above `sure` at every place; at 99 % each."""
    for seed in range(3):
        hitters = survey(seed)
        assert max(level["sure"] for level in hitters.levels) < 0.12
        assert set(hitters.texts) == set(SHARES)
        assert all(hit.low <= SHARES[hit.text] <= hit.high for hit in hitters)


def test_what_the_reader_is_told() -> None:
    hitters = survey(1)
    assert "devices cut texts after 8 bytes of UTF-8" in repr(hitters)
    assert hitters.record()["note"] == PUZZLE.texts_note
    assert {level["marks_dropped"] for level in hitters.levels[:-1]} == {0}


def test_nobody_says_anything_frequent() -> None:
    """Texts that nobody shares: nothing stands out."""
    rest = np.random.default_rng(1).integers(0, 10**12, 10_000)
    texts = [f"{number:x}"[:8] for number in rest.tolist()]
    assert survey_of(texts).texts == []
    assert survey_of(["a"] * 20).texts == []


def survey_of(texts: list[str]) -> Hitters:
    return PUZZLE.estimate(PUZZLE.perturb(texts, bits=SeededBits(2)))


def test_the_bound_is_a_quantile_of_the_noise() -> None:
    """Bin(m, q) exceeds it with at most β/(levels·c); one support less, with more."""
    hitters = survey(3)
    p, q = float(PUZZLE.true_support), float(PUZZLE.false_support)
    for level in hitters.levels:
        most = round((level["bound"] * (p - q) + q) * level["reports"])
        alpha = 0.01 / PUZZLE.levels / level["candidates"]
        assert binom.sf(most, level["reports"], q) <= alpha * (1 + 1e-9)
        assert binom.sf(most - 1, level["reports"], q) > alpha
        sure = level["sure"] * (p - q) + q
        chance = binom.cdf(most, level["reports"], sure)
        assert chance == pytest.approx(0.01 / PUZZLE.levels, rel=1e-6)


def test_texts_of_one_mark_are_told_apart() -> None:
    """Three texts with the same mark: their pieces join to 27 mixtures, and marks and the reports
    about whole texts keep those that people have.
    """
    puzzle = FragmentPuzzle(epsilon=4, length=3)
    first = puzzle.fingerprint(puzzle._fill("cat")) % 256
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    same = [
        text
        for text in (x + y + z for x in "dpq" for y in alphabet for z in alphabet)
        if puzzle.fingerprint(puzzle._fill(text)) % 256 == first
    ]
    words = ["cat", same[0], same[-1]]
    assert len({word[0] for word in words}) == 3
    hitters = puzzle.estimate(puzzle.perturb(words * 2000, bits=SeededBits(1)))
    assert set(hitters.texts) == set(words)


def test_runs_are_counted_like_single_codes() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 2**31 - 1, 40_000) for _ in range(2))
    bucket = rng.integers(0, 5, 40_000)
    codes = range(70_000, 70_010)
    assert (
        count_run(a, b, bucket, 5, codes).tolist()
        == support(np.array(codes), a, b, bucket, 5).tolist()
    )


def test_bytes_that_may_follow() -> None:
    assert next_bytes(b"a\0") == {0}
    assert len(next_bytes(b"")) == 128 + 51  # ASCII with the end sign, and first bytes
    assert next_bytes("é".encode()[:1]) == set(range(0x80, 0xC0))
    assert 0 not in next_bytes("日".encode()[:2])
    assert open_character("a日".encode()[:3]) == "日".encode()[:2]


def test_too_many_mixtures_are_dropped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_puzzle, "MOST_TEXTS", 2)
    hitters = survey(1)
    assert sum(level.get("marks_dropped", 0) for level in hitters.levels) > 0
    assert set(hitters.texts) < set(SHARES)
