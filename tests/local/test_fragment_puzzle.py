"""A puzzle of fragments: one report, one ε, by arithmetic; the same report as the client's; every
script comes back letter by letter, and what cannot is counted.
"""

from __future__ import annotations

import json
import unicodedata
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.guarantees import Pure
from sfumato.local import FragmentPuzzle, PrefixTree, client, restore
from sfumato.testing import SeededBits

from .laws import largest_odds, law_of, law_of_call

PUZZLE = FragmentPuzzle(epsilon=1, length=3)
QUESTION = json.loads(json.dumps(PUZZLE.question))
TEXTS = ["a", "b", "ab", "é", "日", "naïve", ""]


@pytest.mark.parametrize(
    "hash_function", [(0, 0), (1, 0), (123456789, 987654321), (client.PRIME - 1, 17)], ids=str
)
def test_the_promise_by_arithmetic(hash_function: tuple[int, int]) -> None:
    """Given any hash function: over all places and buckets, ε once."""
    laws = [
        law_of(QUESTION, client.fill_bytes(QUESTION, text), large_draws=hash_function)
        for text in TEXTS
    ]
    odds = largest_odds(laws)
    assert odds is not None
    assert odds <= PUZZLE.odds == client.ODDS["fragments"](QUESTION, 0)
    assert below(lambda: ball(PUZZLE.odds), lambda: ball(Fraction(1)).exp())
    for law in laws:
        places = {
            place: sum((p for report, p in law.items() if report[0] == place), Fraction(0))
            for place in range(4)
        }
        assert set(places.values()) == {Fraction(1, 4)}
        rows = np.frombuffer(b"".join(law), dtype=np.uint8).reshape(-1, PUZZLE.width)
        assert PUZZLE._well_formed(rows).all()
    assert PUZZLE.promise == Pure(1)


def test_fragment_and_text_in_one_report_would_break_it() -> None:
    """The twin: a client that reports a fragment and the text, each with ε, tells more than ε."""

    def twice(text: str) -> bytes:
        filled = client.fill_bytes(QUESTION, text)
        codes = (client.fragment(QUESTION, filled, place) for place in (0, 3))
        return b"".join(client.hashing(QUESTION, code)[8:] for code in codes)

    laws = [
        law_of_call(lambda text=text: twice(text), large_draws=(123456789, 5, 987654321, 77))
        for text in TEXTS
    ]
    odds = largest_odds(laws)
    assert odds is not None
    assert below(lambda: ball(Fraction(1)).exp(), lambda: ball(odds))


@settings(max_examples=40)
@given(st.text(max_size=8))
def test_every_text_that_fits_comes_back(text: str) -> None:
    """Text → bytes → text is the normal form, whatever the script; what is cut or dropped is
    counted, and only that.
    """
    oracle = FragmentPuzzle(epsilon=1, length=16)
    again = oracle._read(oracle._fill(text))
    normal = unicodedata.normalize("NFC", text)
    assert (again == normal) == (oracle.count_outside([text]) == 0)
    assert normal.replace("\0", "").encode("utf-8", "ignore").decode().startswith(again)
    fits = len(normal.encode("utf-8", "ignore")) <= 16
    strange = "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
    assert (again == normal) == (fits and not strange)


def test_what_a_report_cannot_represent_is_counted() -> None:
    puzzle = FragmentPuzzle(epsilon=1, length=7)
    texts = ["naïve", "Sfumato", "日本", "日本語", "a\0", "\ud800", 3, None, "abcdefgh"]
    assert puzzle.count_outside(texts) == 6
    assert puzzle._read(puzzle._fill("日本語")) == "日本"
    assert puzzle._read(puzzle._fill("nai\u0308ve")) == "naïve"
    tree = PrefixTree(epsilon=1, length=5)
    assert tree.count_outside(["naive", "naïve", "Sfuma", "pears"]) == 2


def test_values_that_are_no_text_are_answered() -> None:
    for value in (3, None, b"a", float("nan"), object(), "x" * 10_000):
        assert len(client.perturb(QUESTION, value)) == 4 + PUZZLE.width
    assert len(PUZZLE.perturb([3, None, "é"])) == 3


def test_there_and_back() -> None:
    assert restore(json.dumps(PUZZLE.question)) == PUZZLE
    reports = [client.perturb(QUESTION, "é") for _ in range(40)]
    assert len(PUZZLE.read(reports)) == 40
    assert PUZZLE.aggregate(reports).counts.sum() == 40


def test_the_bulk_reports_what_the_client_reports() -> None:
    """The same code for every text and place, there and here."""
    for text in TEXTS:
        filled = client.fill_bytes(QUESTION, text)
        assert PUZZLE._fill(text) == filled
        codes = [PUZZLE._code(filled, place) for place in range(4)]
        assert codes == [client.fragment(QUESTION, filled, place) for place in range(4)]
        assert max(codes[:3]) < 1 << 16
        assert codes[3] < client.PRIME
        assert codes[0] >> 8 == codes[3] % 256
    reports = PUZZLE.perturb(["é"] * 40_000, bits=SeededBits(1))
    place, a, b, bucket = PUZZLE.split(reports.payload)
    filled = PUZZLE._fill("é")
    codes = np.array([PUZZLE._code(filled, level) for level in range(4)])[place]
    hits = float(((a * codes + b) % client.PRIME * PUZZLE.buckets >> 31 == bucket).mean())
    p = float(PUZZLE.true_support)
    assert abs(hits - p) < 5.5 * (p * (1 - p) / 40_000) ** 0.5  # false alarm below 10⁻⁷


@pytest.mark.parametrize(
    "arguments",
    [{"length": 0}, {"length": 65}, {"length": 2.5}, {"most": 0}, {"most": 5000}],
    ids=str,
)
def test_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        FragmentPuzzle(epsilon=1, **arguments)
    assert refused.value.code == "local.size"
