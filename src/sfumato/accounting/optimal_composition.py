"""Optimal composition: the best theorem for steps of which only ε and δ are known.

*Worst*      Each (ε, δ)-DP step is a processing of: with probability δ betray the input, else
             answer by randomized response with odds e^ε. So k steps, even chosen adversarially, are
             a processing of the k-fold product of these, whose own curve is therefore the least
             bound (Kairouz, Oh & Viswanath 2015): δ(t) = 1 − Π(1 − δᵢ)·(1 − δ'(t)), δ'(t) = Σ over
             signs s with L > t of P(s)·(1 − e^(t − L)), L = Σ sᵢεᵢ. The parameters are fixed
             beforehand.
*Equal*      k equal steps have k + 1 different losses, with binomial counts.
*Different*  In general there are 2^k, and the curve is #P-hard (Murtagh & Vadhan 2016). It is exact
             here where the losses lie on a common grid of moderate size, or are few; otherwise an
             upper bound (`optimal_losses`, docs/proofs/optimal-composition.md).
*Curve*      With A and B the probabilities of {L > t} under either input, δ'(t) = A − e^t·B:
             between two losses linear in e^t, so its inverse is one logarithm. Rounded up.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx

from ..exact.balls import ball, evaluate, precision, up
from ..exact.numbers import Number, probability
from ..guarantees import Approx, Guarantee, Pure, Relation
from ..guarantees.guarantee import check_epsilon, common_relation_and_unit
from . import accounting_refusals as refusals
from .composition import count_of
from .optimal_losses import Losses, Multiplicities, losses

CompositionStep = Guarantee | tuple[Guarantee, int]
"""A guarantee that is or implies one (ε, δ) pair, alone or with the number of releases."""

_FEW = 64  # factors 1 − δᵢ that are multiplied out


class Tails(NamedTuple):
    """The losses, largest first, and the probabilities p and q of at least that loss under either
    input.
    """

    loss: tuple[Fraction, ...]
    p: tuple[arb, ...]
    q: tuple[arb, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """The worst composition of steps, as a curve."""

    epsilons: Multiplicities  # ε > 0 and how often
    deltas: Multiplicities  # δ > 0 and how often
    relation: Relation | None = None
    unit: str | None = None

    @property
    def exact(self) -> bool:
        """Whether the curve is the least one, rather than an upper bound on it."""
        return _spectrum(self.epsilons).exact

    @property
    def total(self) -> Fraction:
        """Σεᵢ, the ε of basic composition."""
        return sum((e * n for e, n in self.epsilons), Fraction(0))

    def delta(self, epsilon: Number) -> float:
        """Return the least δ with (ε, δ)-DP, rounded up."""
        t = check_epsilon(epsilon)
        return min(1.0, evaluate(lambda: self.curve(t), "up"))

    def curve(self, epsilon: Fraction) -> arb:
        """Return δ at ε, as a ball."""
        if epsilon >= self.total:
            return self._betrayed()
        tails = _tails(self.epsilons, ctx.prec)
        # the least loss above ε
        last = bisect_left(tails.loss, -epsilon, key=lambda loss: -loss) - 1
        rest = tails.p[last] - ball(epsilon).exp() * tails.q[last]
        return self._betrayed() + (1 - self._betrayed()) * rest

    def epsilon(self, delta: Number = 0) -> float:
        """Return the least ε with (ε, δ)-DP, rounded up; infinite where the steps betray the input
        with probability above δ.
        """
        d = probability(delta, "delta")
        order = self._compare(d)
        if order < 0:
            return math.inf
        if order == 0:
            return up(self.total)
        if self.delta(0) <= d:
            return 0.0

        def inverse() -> arb:
            rest = (ball(d) - self._betrayed()) / (1 - self._betrayed())
            tail = _locate(_tails(self.epsilons, ctx.prec), rest)
            return arb("nan") if tail is None else ((tail[0] - rest) / tail[1]).log()

        return min(max(0.0, evaluate(inverse, "up")), up(self.total))

    def approx(self, delta: Number) -> Approx:
        """Return the (ε, δ) guarantee at one δ."""
        if self._compare(probability(delta, "delta")) == 0:
            return Approx(self.total, delta, relation=self.relation, unit=self.unit)
        epsilon = self.epsilon(delta)
        if math.isinf(epsilon):
            raise refusals.DELTA_BELOW_THAT_OF_STEPS(delta=delta)
        return Approx(Fraction(epsilon), delta, relation=self.relation, unit=self.unit)

    def _betrayed(self) -> arb:
        """Return 1 − Π(1 − δᵢ), the chance that a step betrays the input; exact for few steps."""
        if sum(n for _, n in self.deltas) <= _FEW:
            return ball(1 - math.prod(((1 - d) ** n for d, n in self.deltas), start=Fraction(1)))
        return -sum((n * ball(-d).log1p() for d, n in self.deltas), arb(0)).expm1()

    def _compare(self, delta: Fraction) -> int:
        """Return the sign of δ − (1 − Π(1 − δᵢ)), by whole numbers where balls cannot decide it."""
        for bits in (128, 1024):
            with precision(bits):
                gap = ball(delta) - self._betrayed()
                if gap > 0 or gap < 0:
                    return 1 if gap > 0 else -1
        hidden = (
            math.prod((d.denominator - d.numerator) ** n for d, n in self.deltas)
            * delta.denominator
        )
        allowed = math.prod(d.denominator**n for d, n in self.deltas) * (
            delta.denominator - delta.numerator
        )
        return int(hidden > allowed) - int(hidden < allowed)


def optimal(epsilon: Number, k: int, *, delta: Number, step_delta: Number = 0) -> Approx:
    """Compose k steps, each (ε, step_delta)-DP, to the least ε at δ that any composition theorem
    can prove (Kairouz, Oh & Viswanath 2015).
    """
    return optimal_curve([(Approx(epsilon, step_delta), k)]).approx(delta)


def optimal_curve(steps: Iterable[CompositionStep]) -> Composition:
    """Return the curve of steps that need not be equal: guarantees, or pairs (guarantee, count)."""
    epsilons: Counter[Fraction] = Counter()
    deltas: Counter[Fraction] = Counter()
    first: Guarantee | None = None
    for step in steps:
        guarantee, count = step if isinstance(step, tuple) else (step, 1)
        statement = guarantee if isinstance(guarantee, Pure | Approx) else guarantee.to(Approx)
        first = (
            statement
            if first is None
            else Guarantee._bind(Approx(0, 0), *common_relation_and_unit(first, statement))
        )
        epsilons[statement.parameters["epsilon"]] += count_of(count)
        deltas[statement.parameters.get("delta", Fraction(0))] += count
    if first is None:
        raise refusals.NOTHING_RELEASED(function="optimal_curve")
    del epsilons[Fraction(0)], deltas[Fraction(0)]
    return Composition(
        tuple(sorted(epsilons.items())), tuple(sorted(deltas.items())), first.relation, first.unit
    )


@lru_cache(maxsize=16)
def _spectrum(epsilons: Multiplicities) -> Losses:
    return losses(epsilons)


@lru_cache(maxsize=4)
def _tails(epsilons: Multiplicities, bits: int) -> Tails:
    """Compute the tails over all positive losses, as balls of this precision."""
    p, q = arb(0), arb(0)
    tails: list[tuple[Fraction, arb, arb]] = []
    with precision(bits):
        for loss, mass in _spectrum(epsilons).positive():
            p, q = p + mass, q + mass * ball(-loss).exp()
            tails.append((loss, p, q))
    return Tails(*zip(*tails, strict=True))


def _locate(tails: Tails, delta: arb) -> tuple[arb, arb] | None:
    """Return the probabilities A and B of {L > t} for the t at which A − e^t·B is δ; None if the
    precision does not decide it.
    """
    # the curve is at most δ at the loss numbered `low`, and more at the one numbered `high` or at 0
    low, high = 0, len(tails.loss)
    while high - low > 1:
        middle = (low + high) // 2
        value = tails.p[middle - 1] - ball(tails.loss[middle]).exp() * tails.q[middle - 1]
        if value > delta:
            high = middle
        elif value < delta:
            low = middle
        else:
            return None
    return tails.p[low], tails.q[low]
