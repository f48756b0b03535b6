"""The laws of the mechanisms that choose, written a second time from their definitions, and the
divergences between two laws.

Everything is a ball of ball arithmetic, so that "exceeds" is decided for certain. Nothing here asks
the product's own law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb
from scipy import stats

from sfumato.exact.balls import ball

BITS = 256
"""Working precision, set by a fixture of the tests."""
ORDERS = [
    1 + Fraction(1, 2**20),
    Fraction(11, 10),
    Fraction(3, 2),
    Fraction(2),
    Fraction(4),
    Fraction(16),
    Fraction(64),
    Fraction(256),
]
FALSE_ALARM = 1e-6
"""A sound sampler fails each fit with this probability."""

Law = list[arb]


def exponential(scores: Sequence[Any], rate: Fraction, prior: Sequence[Any] | None = None) -> Law:
    """prior_i·e^(rate·s_i), divided by the sum."""
    weights = [
        ball(Fraction(p)) * ball(rate * Fraction(s)).exp()
        for s, p in zip(scores, prior or [1] * len(scores), strict=True)
    ]
    return [w / sum(weights, arb(0)) for w in weights]


def permute_and_flip(scores: Sequence[Any], rate: Fraction) -> Law:
    """Every order of the candidates, each as likely as any other: the first whose coin falls on
    heads.
    """
    heads = [ball(rate * (Fraction(s) - Fraction(max(scores)))).exp() for s in scores]
    out = [arb(0)] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = arb(1) / len(orders)
        for i in order:
            out[i] += reached * heads[i]
            reached *= 1 - heads[i]
    return out


@cache
def _geometric(rate: Fraction) -> tuple[list[arb], list[arb]]:
    """q^k and q^k/(1 + q) for k = 0, 1, …, up to 2^-150."""
    q = (-ball(rate)).exp()
    powers = [(-ball(rate * k)).exp() for k in range(math.ceil(150 * Fraction(7, 10) / rate) + 2)]
    return [p * (1 - q) / (1 + q) for p in powers], [p / (1 + q) for p in powers]


def noisy_max(scores: Sequence[int], rate: Fraction) -> Law:
    """The sum over every outcome of one's noise, but for 2^-150 of the law, of the probability that
    no other is larger: the first of the largest wins.
    """
    masses, tails = _geometric(rate)

    def cdf(z: int) -> arb:
        k = -z if z < 0 else z + 1
        beyond = tails[k] if k < len(tails) else arb(0).union(arb(2) ** -150)
        return beyond if z < 0 else 1 - beyond

    out = []
    for i, s in enumerate(scores):
        total = arb(0).union(arb(2) ** -149)
        for z in range(1 - len(masses), len(masses)):
            term = masses[abs(z)]
            for j, score in enumerate(scores):
                if j != i:
                    term *= cdf(z + s - score - (j < i))
            total += term
        out.append(total)
    return out


def loss(P: Law, Q: Law) -> arb:
    """max |ln p/q|: the ε that is needed."""
    return max(
        (abs((p / q).log()) for p, q in zip(P, Q, strict=True)), key=lambda x: float(x.mid())
    )


def renyi(P: Law, Q: Law, order: Fraction) -> arb:
    a = ball(order)
    return sum((q * ((p / q).log() * a).exp() for p, q in zip(P, Q, strict=True)), arb(0)).log() / (
        a - 1
    )


def hockey_stick(P: Law, Q: Law, epsilon: Fraction) -> arb:
    factor = ball(epsilon).exp()
    return sum((d for p, q in zip(P, Q, strict=True) if not (d := p - factor * q) < 0), arb(0))


def agree(doubles: Iterable[float], law: Law, relative: float = 2.0**-52) -> bool:
    """Whether doubles are the exact law, rounded."""
    return all(
        abs(arb(float(p)) - truth) <= truth * arb(relative) + arb(2) ** -140
        for p, truth in zip(doubles, law, strict=True)
    )


def fit(sample: Iterable[int], law: Sequence[float]) -> float:
    """The p-value of Pearson's test; outcomes expected fewer than 8 times are one."""
    chances = np.array([float(p) for p in law])
    counts = np.bincount(np.array(list(sample), dtype=np.int64), minlength=len(chances)).astype(
        np.float64
    )
    rare = chances * counts.sum() < 8
    if rare.any():
        counts, chances = (
            np.append(counts[~rare], counts[rare].sum()),
            np.append(chances[~rare], chances[rare].sum()),
        )
    expected = chances * counts.sum()
    possible = expected > 0
    assert not counts[~possible].any()
    return float(
        stats.chi2.sf(
            ((counts - expected)[possible] ** 2 / expected[possible]).sum(),
            max(1, possible.sum() - 1),
        )
    )


def pairs(
    bases: Iterable[tuple[int, ...]], moves: Iterable[tuple[int, ...]]
) -> Iterable[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Scores and what a neighbour may make of them."""
    steps = list(moves)
    return (
        (base, tuple(b + m for b, m in zip(base, move, strict=True)))
        for base in bases
        for move in steps
    )


BASES = [(0, 0, 0), (0, 0, -9), (0, -9, -9), (0, -1, -3), (-9, 2, 0)]
ANY_WAY = list(itertools.product((-1, 0, 1), repeat=3))
ONE_WAY = [move for move in ANY_WAY if min(move) >= 0 or max(move) <= 0]
"""Moves of three scores of sensitivity 1; of monotone ones."""


def violations(
    law: Callable[[Sequence[int], Fraction], Law],
    rate: Fraction,
    epsilon: Fraction,
    moves: list[tuple[int, ...]],
) -> list[str]:
    """Neighbouring scores between which the law loses more than ε, for certain."""
    laws: dict[tuple[int, ...], Law] = {}
    messages = []
    for a, b in pairs(BASES, moves):
        for scores in (a, b):
            if scores not in laws:
                laws[scores] = law(scores, rate)
        if loss(laws[a], laws[b]) > ball(epsilon):
            messages.append(f"{a} and {b}")
    return messages
