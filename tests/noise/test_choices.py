"""Many choices at once: each is what `Choice` settles for its word, also for words next to
boundaries, and no group disturbs another.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.noise import choices
from sfumato.noise.choice import Choice
from sfumato.noise.choices import choose_each
from sfumato.testing import SeededBits, TapeBits

RATE = Fraction(1, 3)
GROUPS: list[tuple[list[int], list[int]]] = [
    ([0], [7]),
    ([0, -1, -2, -50], [1, 10, 1 << 40, 3]),
    ([-9, 0, 0, -3000, -9], [1, 0, 1, 1 << 61, 5]),
    ([-2401, 0, -2399], [1 << 61, 1, 1]),
    ([-(i * i % 17) for i in range(40)], [1 + i % 3 for i in range(40)]),
    ([-5, 0, -1], [0, 2, 0]),
]
"""Scores, the best of them 0, and sizes."""


def laid_out(groups: list[tuple[list[int], list[int]]]) -> tuple[Any, Any, Any, list[Choice]]:
    scores, sizes = (np.concatenate([np.array(group[side]) for group in groups]) for side in (0, 1))
    starts = np.cumsum([0, *(len(group[0]) for group in groups[:-1])])
    laws = [Choice(np.array(s), rate=RATE, prior=np.array(n)) for s, n in groups]
    return scores * float(RATE), sizes, starts, laws


def disagreements(words: list[int], groups: list[tuple[list[int], list[int]]]) -> int:
    exponents, sizes, starts, laws = laid_out(groups)
    tape = [*words, *range(1, 4000, 7)]
    chosen = choose_each(exponents, sizes, starts, laws.__getitem__, TapeBits(tape)) - starts
    return sum(
        int(index) != law.settle(word, TapeBits(tape[len(words) :]))
        for index, law, word in zip(chosen, laws, words, strict=True)
    )


def test_random_words() -> None:
    words = SeededBits(5).words(len(GROUPS) * 60).reshape(60, -1)
    assert sum(disagreements([int(w) for w in row], GROUPS) for row in words) == 0


def boundary_words() -> list[tuple[int, int]]:
    """(group, word) at and next to the ends of the parts."""
    words = []
    for group, law in enumerate(laid_out(GROUPS)[3]):
        for i in range(min(len(law.scores) - 1, 12)):
            near = int(Fraction(law.cdf(i, "down")) * (1 << 64))
            words += [
                (group, w)
                for d in (-(1 << 24), -4096, -2, -1, 0, 1, 2, 4096, 1 << 24)
                if 0 <= (w := near + d) < 1 << 64
            ]
    return words


def test_words_next_to_boundaries() -> None:
    """Each settled alone, so that it is clear which further bits it takes; all others sit in the
    middle of a part.
    """
    for group, word in boundary_words():
        words = [1 << 62] * len(GROUPS)
        words[group] = word
        exponents, sizes, starts, laws = laid_out(GROUPS)
        calm = [g for g in range(len(GROUPS)) if g != group]
        chosen = (
            choose_each(exponents, sizes, starts, laws.__getitem__, TapeBits([*words, 1234567]))
            - starts
        )
        assert chosen[group] == laws[group].settle(word, TapeBits([1234567]))
        assert [chosen[g] for g in calm] == [laws[g].settle(1 << 62, TapeBits([])) for g in calm]


@pytest.mark.parametrize(("margin", "missed"), [(choices.MARGIN, False), (-300, True)])
def test_the_margin_is_needed(monkeypatch: pytest.MonkeyPatch, margin: int, missed: bool) -> None:
    """300 candidates, whose sums round. The twin has no margin: rounded sums decide, and some words
    next to boundaries go to a neighbour.
    """
    monkeypatch.setattr(choices, "MARGIN", margin)
    group = ([-(i * 7919 % 101) for i in range(300)], [1 + i % 3 for i in range(300)])
    (law,) = laid_out([group])[3]
    ends = [int(law._ends[i] * 2.0**50) for i in range(0, 299, 9)]
    wrong = sum(
        disagreements([(end + d << 14) + 8000], [group])
        for end in ends
        for d in (-2, -1, 0, 1, 2)
        if 0 <= end + d < 1 << 50
    )
    assert (wrong > 0) == missed


def test_many_groups_do_not_round_each_other() -> None:
    """As many as one pass may hold."""
    groups = [([0, -1, -7], [1 + g % 5, 2, 3]) for g in range(choices.MOST)]
    exponents, sizes, starts, laws = laid_out(groups)
    words = SeededBits(6).words(len(groups))
    chosen = (
        choose_each(exponents, sizes, starts, laws.__getitem__, TapeBits(words.tolist())) - starts
    )
    assert chosen.tolist() == [
        law.sample(1, TapeBits([int(word)]))[0] for law, word in zip(laws, words, strict=True)
    ]


def test_what_has_no_size_is_never_chosen() -> None:
    exponents, sizes, starts, laws = laid_out([([-1, 0, -1, 0], [0, 3, 0, 0])])
    bits = SeededBits(7)
    assert {
        int(choose_each(exponents, sizes, starts, laws.__getitem__, bits)[0]) for _ in range(200)
    } == {1}
    for word in (0, 1, (1 << 64) - 1):
        assert choose_each(exponents, sizes, starts, laws.__getitem__, TapeBits([word]))[0] == 1
