"""A prefix tree: one report, one ε, by arithmetic; the same report as the client's; what is no text
is answered.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.guarantees import Pure
from sfumato.local import PrefixTree, client, restore
from sfumato.testing import SeededBits

from .laws import largest_odds, law_of, law_of_call

TREE = PrefixTree(epsilon=1, length=3, alphabet="ab")
TEXTS = ["a", "b", "ab", "ba", "aab", "bbb", ""]


@pytest.mark.parametrize(
    "hash_function", [(0, 0), (1, 0), (123456789, 987654321), (client.PRIME - 1, 17)], ids=str
)
def test_the_promise_by_arithmetic(hash_function: tuple[int, int]) -> None:
    """Given any hash function, which is drawn whatever the text is: over all levels and buckets, ε
    once and not once for each level.
    """
    laws = [
        law_of(
            json.loads(json.dumps(TREE.question)),
            client.fill_text(TREE.question, text),
            large_draws=hash_function,
        )
        for text in TEXTS
    ]
    odds = largest_odds(laws)
    assert odds is not None
    assert odds <= TREE.odds == client.ODDS["prefix"](TREE.question, 0)
    assert below(lambda: ball(TREE.odds), lambda: ball(Fraction(1)).exp())
    for law in laws:
        levels = {
            level: sum((p for report, p in law.items() if report[0] == level), Fraction(0))
            for level in range(3)
        }
        assert set(levels.values()) == {Fraction(1, 3)}
        assert TREE._well_formed(
            np.frombuffer(b"".join(law), dtype=np.uint8).reshape(-1, TREE.width)
        ).all()
    assert TREE.promise == Pure(1)


def test_every_level_reported_would_break_it() -> None:
    """The twin: a client that reports every level tells more than ε."""
    odds = TREE.odds
    assert not below(lambda: ball(odds**3), lambda: ball(Fraction(1)).exp())


def test_support_by_arithmetic() -> None:
    """`true_support` is exact for every function; `false_support` is the mean over all functions,
    here over seeded ones, within 5 standard errors.
    """
    reports = TREE.perturb(["aab"] * 60_000, bits=SeededBits(1))
    from sfumato.local.prefix.prefix_search import support

    level, a, b, buckets = TREE.split(reports.payload)
    mine = level == 2
    n = int(mine.sum())
    counts = support(
        np.array([TREE.fingerprint("aab"), TREE.fingerprint("bbb")]),
        a[mine],
        b[mine],
        buckets[mine],
        TREE.buckets,
    )
    for count, p in zip(
        counts / n, (float(TREE.true_support), float(TREE.false_support)), strict=True
    ):
        assert abs(count - p) < 5 * (p * (1 - p) / n) ** 0.5
    assert np.bincount(level, minlength=3).min() > 19_000


def test_there_and_back() -> None:
    assert restore(json.dumps(TREE.question)) == TREE
    reports = [client.perturb(json.loads(json.dumps(TREE.question)), "ab") for _ in range(40)]
    assert len(TREE.read(reports)) == 40
    assert TREE.aggregate(reports).counts.sum() == 40
    assert len(TREE.perturb("ab")) == 1
    assert client.fill_text(TREE.question, "abab") == "aba"
    assert client.fill_text(TREE.question, "a") == "a\0\0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("c", ""),
        ("Aab", "ab"),
        ("a\0", "a"),
        ("caéb\ud800bba", "abb"),
        (3, ""),
        (None, ""),
        (b"a", ""),
    ],
    ids=["c", "A", "end", "long", "3", "None", "bytes"],
)
def test_what_is_no_text_of_the_alphabet(value: Any, text: str) -> None:
    """Its letters that the alphabet has: the law is that of this text, enumerated, and a report is
    sent.
    """
    assert client.fill_text(TREE.question, value) == text.ljust(3, client.END)
    law, same = (
        law_of_call(lambda typed=typed: client.perturb(TREE.question, typed), large_draws=(1, 5))
        for typed in (value, text)
    )
    assert law == same
    assert (
        TREE.perturb(["a", value], bits=SeededBits(1)).payload
        == TREE.perturb(["a", text], bits=SeededBits(1)).payload
    ).all()
    assert len(TREE.perturb(value)) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"length": 0}, "local.size"),
        ({"length": 5, "step": 2}, "local.size"),
        ({"length": 3, "most": 0}, "local.size"),
        ({"length": 300}, "local.size"),
        ({"length": 8, "step": 8}, "local.size"),
        ({"length": 3, "alphabet": ""}, "local.alphabet"),
        ({"length": 3, "alphabet": "aa"}, "local.alphabet"),
        ({"length": 3, "alphabet": "a\0"}, "local.alphabet"),
        ({"length": 3, "relation": "add-remove"}, "response.relation"),
        ({"length": 3, "epsilon": "1e-21"}, "local.epsilon"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        PrefixTree(**{"epsilon": 1, **arguments})
    assert refused.value.code == code


def test_malformed_reports() -> None:
    good = TREE.perturb(["a"] * 5, bits=SeededBits(1))
    for place, value in ((0, 3), (1, 255), (5, 255), (9, 255)):
        payload = good.payload.copy()
        payload[0, place] = value
        with pytest.raises(Refused) as refused:
            TREE.estimate(type(good)(good.mark, payload))
        assert refused.value.code == "local.report"
    with pytest.raises(Refused):
        TREE.estimate(TREE.aggregate(good))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(Refused):
        TREE.estimate([])


def test_fakes_choose_their_level() -> None:
    """Reports that all support "b" at the first level: the frequency moves by what was said, and no
    more.
    """
    honest = TREE.perturb(["a"] * 3000, bits=SeededBits(1))
    n = int((TREE.split(honest.payload)[0] == 0).sum())

    def frequency(supporting: int, reports: int) -> float:
        return float(
            (Fraction(supporting, reports) - TREE.false_support)
            / (TREE.true_support - TREE.false_support)
        )

    down, up = TREE.influence(30, 3 * (n + 30))
    assert frequency(30, n + 30) - frequency(0, n + 30) <= up - down + 1e-12
    assert down < 0 < up
    assert up - down == pytest.approx(30 / (n + 30) / float(TREE.true_support - TREE.false_support))


def test_variance_is_that_of_one_level() -> None:
    assert TREE.variance(300) == pytest.approx(TREE._level_variance(100))
