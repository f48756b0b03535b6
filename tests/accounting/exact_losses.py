"""Compositions in exact arithmetic: the truth that certificates are held against.

A law on finitely many outcomes, n times, takes as many losses as there are ways to share n among
its outcomes; the laws of different steps are then convolved loss by loss, in balls of 256 bits.
Gaussian noise beside them has a closed form at each loss. Nothing is put on a lattice, tilted or
transformed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from sfumato.accounting.loss.loss_pairs import DominatingPair, GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import SampledPair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.exact.balls import ball, normal_cdf, precision

Outcomes = list[tuple[arb, arb]]
BITS = 256


@dataclass(frozen=True)
class Exact:
    """A composition: how it is written with sfumato, and what it is."""

    loss: Loss
    laws: tuple[tuple[Callable[[], Outcomes], int], ...]
    mu_squared: Fraction

    def delta(self, epsilon: Fraction) -> arb:
        """δ at ε, the worse of both directions."""
        with precision(BITS):
            per_direction = [self._delta(epsilon, swap) for swap in (False, True)]
            return per_direction[0].max(per_direction[1])

    def _delta(self, epsilon: Fraction, swap: bool) -> arb:
        sums: list[tuple[arb, arb]] = [
            (arb(1), arb(1))
        ]  # the probabilities by either law of each way the answers may come out
        for law, count in self.laws:
            atoms = list(powers(law(), count))
            sums = [(p * a, q * b) for p, q in sums for a, b in atoms]
        total, growth = arb(0), ball(epsilon).exp()
        for first, second in sums:
            p, q = (second, first) if swap else (first, second)
            total += (
                _gaussian(p, q * growth, self.mu_squared)
                if self.mu_squared
                else _positive(p - q * growth)
            )
        return total


def _positive(value: arb) -> arb:
    return value.max(arb(0))


def _gaussian(p: arb, q: arb, mu_squared: Fraction) -> arb:
    """∫(p·φ(x − μ) − q·φ(x))₊ = p·Φ(μ/2 − t/μ) − q·Φ(−μ/2 − t/μ) with t = ln(q/p)."""
    if p == 0:
        return arb(0)
    if q == 0:
        return p
    mu = ball(mu_squared).sqrt()
    t = (q / p).log()
    return p * normal_cdf(mu / 2 - t / mu) - q * normal_cdf(-mu / 2 - t / mu)


def powers(outcomes: Outcomes, count: int) -> Iterator[tuple[arb, arb]]:
    """The joint probabilities of `count` independent outcomes, those of equal counts joined."""
    for shares in _shares(count, len(outcomes)):
        ways, left = 1, count
        p, q = arb(1), arb(1)
        for share, (a, b) in zip(shares, outcomes, strict=True):
            ways *= math.comb(left, share)
            left -= share
            p, q = p * a**share, q * b**share
        yield ways * p, ways * q


def _shares(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in _shares(count - first, parts - 1):
            yield (first, *rest)


def response(epsilon: Fraction, k: int, delta: Fraction) -> Outcomes:
    e, left = ball(epsilon).exp(), ball(1 - delta)
    truth, lie = left * e / (e + k - 1), left / (e + k - 1)
    rest = [(lie * (k - 2), lie * (k - 2))] if k > 2 else []
    lost = [(ball(delta), arb(0)), (arb(0), ball(delta))] if delta else []
    return [(truth, lie), (lie, truth), *rest, *lost]


def geometric(epsilon: Fraction, steps: int) -> Outcomes:
    r = (-ball(epsilon / steps)).exp()
    inside = [(1 - r) / (1 + r) * r**z for z in range(1, steps)]
    p = [1 / (1 + r), *inside, r**steps / (1 + r)]
    return list(zip(p, reversed(p), strict=True))


def poisson(base: Callable[[], Outcomes], rate: Fraction) -> Outcomes:
    return [((1 - ball(rate)) * q + ball(rate) * p, q) for p, q in base()]


def finite(pair: FinitePair) -> Outcomes:
    return [(ball(a), ball(b)) for a, b in zip(pair.p, pair.q, strict=True)]


def random_composition(seed: int, parts: int = 20, ways: int = 400) -> Exact:
    """Up to `parts` steps of laws of all kinds, so that not more than `ways` different answers have
    to be told apart.
    """
    rng = random.Random(seed)
    laws: list[tuple[Callable[[], Outcomes], int]] = []
    pairs: list[tuple[DominatingPair, int]] = []
    left, room, directed = rng.randint(1, parts), ways, False
    while left:
        pair, law, size, one_way = _random_law(rng)
        count = rng.randint(1, left)
        while math.comb(count + size - 1, size - 1) > room and count > 1:
            count -= 1
        if math.comb(count + size - 1, size - 1) > room:
            break
        room //= math.comb(count + size - 1, size - 1)
        left -= count
        directed |= one_way
        pairs.append((pair, count))
        laws.append((law, count))
    mu_squared = Fraction(0)
    if rng.random() < 0.4:
        mu_squared = Fraction(rng.randint(1, 10**4), 10**4) * Fraction(10) ** rng.choice(
            (-2, -1, 0, 1)
        )
        pairs.append((GaussianPair(mu_squared), 1))
    return Exact(
        Loss(tuple(pairs), relation="add-remove" if directed else None), tuple(laws), mu_squared
    )


def _number(rng: random.Random) -> Fraction:
    """From tiny to large, with a short or a long denominator."""
    size = Fraction(10) ** rng.choice((-3, -2, -1, -1, 0, 0))
    return size * Fraction(rng.randint(1, 99), rng.choice((10, 10, 7, 97, 9973)))


def _random_law(rng: random.Random) -> tuple[DominatingPair, Callable[[], Outcomes], int, bool]:
    kind = rng.choice(("response", "response", "geometric", "finite", "poisson"))
    if kind == "response":
        epsilon, k, delta = (
            _number(rng),
            rng.choice((2, 2, 3, 10)),
            rng.choice((Fraction(0), Fraction(0), Fraction(1, 10**7))),
        )
        return (
            ResponsePair(epsilon, delta, k),
            lambda: response(epsilon, k, delta),
            2 + (k > 2) + 2 * bool(delta),
            False,
        )
    if kind == "geometric":
        epsilon, steps = _number(rng), rng.randint(1, 4)
        return LaplacePair(epsilon, steps), lambda: geometric(epsilon, steps), steps + 1, False
    if kind == "finite":
        pair = random_pair(rng)
        return pair, lambda: finite(pair), len(pair.p), True
    epsilon, steps, rate = _number(rng), rng.randint(1, 3), Fraction(rng.randint(1, 999), 1000)
    return (
        SampledPair(LaplacePair(epsilon, steps), rate),
        lambda: poisson(lambda: geometric(epsilon, steps), rate),
        steps + 1,
        True,
    )


def random_pair(rng: random.Random) -> FinitePair:
    size = rng.randint(2, 4)
    p, q = ([rng.randint(rng.choice((0, 1, 1, 1)), 60) for _ in range(size)] for _ in range(2))
    p[0], q[-1] = p[0] + 1, q[-1] + 1
    return FinitePair(tuple(Fraction(a, sum(p)) for a in p), tuple(Fraction(b, sum(q)) for b in q))
