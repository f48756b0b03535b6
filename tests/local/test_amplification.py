"""Shuffled reports: the numbers of the theorem, the pair by arithmetic, and what does not count."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.local import Direct, Hadamard, Hashing, Rappor, Subset, Unary, amplification
from sfumato.local.amplification import shuffle

from .laws import law_of


def test_B_13_both_numbers() -> None:
    """The closed form as published, and the certified pair below it."""
    amplified = amplification(local=1, n=100_000, delta="1e-6")
    assert amplified.closed == pytest.approx(0.07255492488700492, abs=1e-9)
    assert amplified.epsilon_lower <= amplified.epsilon < amplified.closed / 4


@pytest.mark.parametrize(
    ("n", "pair", "closed"), [(1000, 0.1487, 0.5662), (10_000, 0.0432, 0.2140)]
)
def test_numbers_of_the_design(n: int, pair: float, closed: float) -> None:
    amplified = amplification(local=sf.Pure(1), n=n, delta="1e-6")
    assert amplified.epsilon == pytest.approx(pair, abs=6e-5)
    assert amplified.closed == pytest.approx(closed, abs=6e-5)
    assert amplified.epsilon_lower == pytest.approx(amplified.epsilon, rel=1e-2)


def delta_by_summation(epsilon0: float, n: int, epsilon: float) -> float:
    """The hockey-stick divergence of the clone pair, term by term: C clones, A of them on one side,
    and the own report on its side with odds e^ε₀.
    """
    truth = math.exp(epsilon0) / (math.exp(epsilon0) + 1)
    clone, total = 2 / (math.exp(epsilon0) + 1), 0.0
    for c in range(n):
        chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c)
        for a in range(c + 2):
            before, here = (math.comb(c, k) / 2**c if 0 <= k <= c else 0.0 for k in (a - 1, a))
            p, q = truth * before + (1 - truth) * here, (1 - truth) * before + truth * here
            total += chance * max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize(("epsilon0", "n"), [(1, 2), (1, 12), (2, 30), (0.5, 40)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_the_pair_by_arithmetic(epsilon0: float, n: int, epsilon: float) -> None:
    loss, exact = shuffle(local=sf.Pure(epsilon0), n=n), delta_by_summation(epsilon0, n, epsilon)
    assert loss.delta_lower(epsilon) <= exact * (1 + 1e-9) + 1e-15
    assert loss.delta(epsilon) >= exact * (1 - 1e-9)
    assert loss.delta(epsilon) == pytest.approx(exact, rel=1e-2, abs=1e-9)


@pytest.mark.parametrize(
    "oracle",
    [Direct(epsilon=1), Unary(epsilon=1, categories="abc"), Hashing(epsilon=1, categories="abc")],
    ids=lambda o: type(o).__name__,
)
def test_an_oracle_shuffled(oracle: Direct) -> None:
    loss = oracle.shuffled(1000)
    assert (
        loss.epsilon("1e-6")
        == shuffle(local=oracle, n=1000).epsilon("1e-6")
        == sf.shuffle(local=sf.Pure(1), n=1000).epsilon("1e-6")
    )
    assert loss.relation == "replace"


def delta_of_types(epsilon0: float, n: int, epsilon: float, p: float) -> float:
    """Step 4 of docs/proofs/shuffle.md: (1/n)·E[(X₁ + … + X_n)⁺] over the counts of three types of
    reports.
    """
    e, growth = math.exp(epsilon0), math.exp(epsilon)
    nothing = (1 - (e + 1) * p) / e
    total = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                rest = n - a - b - c
                ways = math.factorial(n) // (
                    math.factorial(a) * math.factorial(b) * math.factorial(c) * math.factorial(rest)
                )
                chance = ways * p ** (a + b) * nothing**c * (1 - 2 * p - nothing) ** rest
                total += chance * max(
                    0.0, (e - growth) * a - (e * growth - 1) * b - e * (growth - 1) * c
                )
    return total / n


@pytest.mark.parametrize(("epsilon0", "n"), [(0.5, 5), (1.0, 2), (1.0, 10), (3.0, 6)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_the_largest_p_is_the_worst(epsilon0: float, n: int, share: float) -> None:
    """Step 5, in numbers; at the largest p the sum is the clone pair's."""
    for part in (share, share + 0.1):
        deltas = [
            delta_of_types(epsilon0, n, epsilon0 * part, k / 10 / (math.exp(epsilon0) + 1))
            for k in range(11)
        ]
        assert all(a <= b * (1 + 1e-12) + 1e-15 for a, b in pairwise(deltas))
        assert deltas[-1] == pytest.approx(
            delta_by_summation(epsilon0, n, epsilon0 * part), rel=1e-9, abs=1e-15
        )


def shuffled_law(reports: list[dict[bytes, Fraction]]) -> dict[tuple[bytes, ...], Fraction]:
    """The law of the multiset of independent reports."""
    law: dict[tuple[bytes, ...], Fraction] = {(): Fraction(1)}
    for report_law in reports:
        grown: dict[tuple[bytes, ...], Fraction] = {}
        for several, chance in law.items():
            for report, more in report_law.items():
                together = tuple(sorted((*several, report)))
                grown[together] = grown.get(together, Fraction(0)) + chance * more
        law = grown
    return law


SHUFFLED = {
    "direct": (Direct(epsilon=1, categories="abc"), 5),
    "direct-two": (Direct(epsilon=1, categories="ab"), 7),
    "unary": (Unary(epsilon=1, categories="ab"), 4),
    "hadamard": (Hadamard(epsilon=2, categories="abc"), 4),
    "subset": (Subset(epsilon=1, categories="abcd", size=2), 4),
}


@pytest.mark.parametrize("name", SHUFFLED)
def test_shuffled_oracles_by_arithmetic(name: str) -> None:
    """The exact law of all multisets of reports of the real client, for several values of the
    others: within the pair at every ε.
    """
    oracle, n = SHUFFLED[name]
    laws = [law_of(oracle.question, code) for code in range(oracle.k)]
    loss = oracle.shuffled(n)
    worst = 0.0
    for others in ([0] * (n - 1), [oracle.k - 1] * (n - 1), [i % oracle.k for i in range(n - 1)]):
        ones, twos = (
            shuffled_law([laws[value], *(laws[code] for code in others)]) for value in (0, 1)
        )
        for epsilon in (0.0, 0.05, 0.2, 0.5, 0.8):
            growth = Fraction(math.exp(epsilon))
            delta = float(
                sum(
                    (
                        max(Fraction(0), p - growth * twos.get(reports, Fraction(0)))
                        for reports, p in ones.items()
                    ),
                    Fraction(0),
                )
            )
            assert delta <= loss.delta(epsilon) * (1 + 1e-9)
            worst = max(worst, delta / loss.delta(epsilon))
    if name == "direct-two":
        assert (
            worst > 0.9999
        )  # the extreme mechanism: the pair is what it is, but for the width of the certificate
        assert delta_by_summation(1, n, 0.2) > shuffle(local=oracle, n=n + 1).delta(0.2), (
            "the twin: one report too many is counted"
        )


def test_two_reports_compose() -> None:
    once, twice = Direct(epsilon=1).shuffled(1000), 2 * Direct(epsilon=1).shuffled(1000)
    assert once.epsilon("1e-6") < twice.epsilon("1e-6") < 2 * once.epsilon("1e-6") + 0.05
    assert sf.compose([(once, 2)]).epsilon("1e-6") == pytest.approx(twice.epsilon("1e-6"), rel=1e-6)


def test_alone_nothing_is_gained() -> None:
    amplified = amplification(local=1, n=1, delta="1e-6")
    assert amplified.epsilon == pytest.approx(1, abs=1e-5)
    assert amplified.epsilon <= 1
    assert amplified.closed is None
    assert "does not hold" in str(amplified)


def test_fewer_honest_reports_promise_less() -> None:
    """n counts honest, delivered reports: if a tenth are lost or invented, the promise is that of
    the rest.
    """
    assert (
        amplification(local=1, n=900, delta="1e-6").epsilon
        > amplification(local=1, n=1000, delta="1e-6").epsilon
    )


def test_where_the_closed_form_holds() -> None:
    assert amplification(local=6, n=100_000, delta="1e-6").closed is not None
    assert amplification(local="6.1", n=100_000, delta="1e-6").closed is None
    assert "closed form 0.07255" in str(amplification(local=1, n=100_000, delta="1e-6"))


@pytest.mark.parametrize(
    "local", [sf.Approx(1, 1e-6), sf.GDP(1), sf.Pure(1, relation="add-remove")], ids=str
)
def test_refused(local: sf.Guarantee) -> None:
    with pytest.raises(Refused) as refused:
        shuffle(local=local, n=10)
    assert refused.value.code == "shuffle.local"


def test_a_memory_is_shuffled_report_by_report() -> None:
    """Of RAPPOR one report is shuffled; what is remembered links them, so the loss of many is not
    that of one, n times: the lifetime stays.
    """
    oracle = Rappor(f="1/2", p="1/4", q="3/4", categories="ab")
    assert (
        oracle.shuffled(1000).epsilon("1e-6") < float(oracle.epsilon) < oracle.lifetime().epsilon()
    )


def test_no_number_of_reports() -> None:
    with pytest.raises(Refused):
        shuffle(local=sf.Pure(1), n=0)
