"""Subjects that arithmetic decides: exact laws, accountants, sensitivities, probabilities of
failure. A false alarm has probability 0.

*Laws*         the law of the answer on both of two neighbours: hockey-stick and Rényi divergences,
               both ways, beside what the promise allows.
*Total*        an accountant beside the certified lower bound of the same schedule, and of every
               order of it.
*Moves*        a statistic on every pair of neighbours of a small world, beside the sensitivity that
               is stated.
*Misses*       the exact probability that something stated does not hold, beside the one that is
               stated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from sfumato import Pure, compose
from sfumato.guarantees import Guarantee, Renyi
from sfumato.guarantees.finite.divergences import hockey_stick, renyi
from sfumato.sensitivity.brute_force import local

from .case import How

SLACK = 1e-9
"""Laws that are computed in doubles sum to 1 within 1e-12 here; nothing below this counts."""
EPSILONS = (0, "0.1", "0.5", 1, 2, 4)
ORDERS = ("1.5", 2, 4, 8, 16, 64)

Law = Mapping[Hashable, Any]


@dataclass(frozen=True, kw_only=True)
class Laws:
    """A mechanism whose law can be written down: input → probability of each answer."""

    law: Callable[[Any], Law]
    pairs: Sequence[tuple[Any, Any]]
    claim: Guarantee
    how: ClassVar[How] = "arithmetic"

    def alarm(self) -> str:
        stated = self.claim.parameters.get("epsilon")
        epsilons = [Fraction(e) for e in EPSILONS] if stated is None else [stated]
        orders = (
            self.claim.orders if isinstance(self.claim, Renyi) else [Fraction(a) for a in ORDERS]
        )
        for x, y in self.pairs:
            first, second = (exactly(self.law(of)) for of in (x, y))
            for P, Q in (aligned(first, second), aligned(second, first)):
                for epsilon in epsilons:
                    result, allowed = (
                        hockey_stick(P, Q, epsilon, rounding="down"),
                        self.claim.delta(epsilon),
                    )
                    if result > allowed + SLACK:
                        return (
                            f"δ = {result:.3g} at ε = {float(epsilon):g}, where {allowed:.3g} "
                            f"is promised"
                        )
                for order in orders if stated is None else ():
                    result, allowed = renyi(P, Q, order, rounding="down"), self.claim.renyi(order)
                    if result > allowed + SLACK:
                        return (
                            f"divergence {result:.3g} at order {float(order):g}, where "
                            f"{allowed:.3g} is promised"
                        )
        return ""


def laws(
    law: Callable[[Any], Law], claim: Guarantee, pairs: Sequence[tuple[Any, Any]] = ((0, 1),)
) -> Laws:
    return Laws(law=law, claim=claim, pairs=pairs)


def exactly(law: Law) -> dict[Hashable, Fraction]:
    """Exact probabilities of sum 1; an answer that cannot occur is left out."""
    values = {outcome: Fraction(p) for outcome, p in law.items() if p}
    total = sum(values.values(), Fraction(0))
    assert abs(total - 1) < Fraction(1, 10**11), float(total)
    return {outcome: p / total for outcome, p in values.items()}


def aligned(
    P: Mapping[Hashable, Fraction], Q: Mapping[Hashable, Fraction]
) -> tuple[list[Fraction], list[Fraction]]:
    outcomes = {**P, **Q}
    return [P.get(o, Fraction(0)) for o in outcomes], [Q.get(o, Fraction(0)) for o in outcomes]


@dataclass(frozen=True, kw_only=True)
class Total:
    """An accountant: the ε that it states for a schedule of mechanisms, in whatever order they
    come, at a δ.
    """

    total: Callable[[list[Any], float], float]
    schedules: Sequence[tuple[list[Any], float]]
    how: ClassVar[How] = "arithmetic"

    def alarm(self) -> str:
        for schedule, delta in self.schedules:
            truth = Fraction(_truth(schedule, delta))
            for order in (schedule, schedule[::-1], schedule[1:] + schedule[:1]):
                stated = self.total(order, delta)
                if math.isnan(stated) or stated < truth:
                    return (
                        f"ε = {float(stated):.16g} for {len(schedule)} releases at δ = "
                        f"{delta:g}, which is {float(truth):.6g} for certain"
                    )
        return ""


def _truth(schedule: list[Any], delta: float) -> float | Fraction:
    """A certified lower bound; without δ the exact sum, which releases with Laplace noise of their
    own reach.
    """
    if delta == 0:
        return sum((m.to(Pure).parameters["epsilon"] for m in schedule), Fraction(0))
    return compose(list(Counter(schedule).items())).epsilon_lower(Fraction(str(delta)))


@dataclass(frozen=True, kw_only=True)
class Moves:
    """A statistic with a stated sensitivity, on a world of datasets in which the neighbours of
    every one can be listed.
    """

    statistic: Callable[[Any], Any]
    stated: Callable[[], Any]
    world: Sequence[Any]
    neighbours: Callable[[Any], Iterable[Any]]
    norm: int | str = 1
    how: ClassVar[How] = "arithmetic"

    def alarm(self) -> str:
        stated = Fraction(self.stated())
        for data in self.world:
            moved = local(self.statistic, data, self.neighbours(data), norm=self.norm)
            if moved > stated:
                return (
                    f"a neighbour moves it by {float(moved):.4g}, where {float(stated):.4g} "
                    f"is stated"
                )
        return ""


def tuples(domain: Sequence[Any], *sizes: int) -> list[tuple[Any, ...]]:
    """All datasets of these sizes."""
    return [data for size in sizes for data in product(domain, repeat=size)]


def replaced(domain: Sequence[Any]) -> Callable[[tuple[Any, ...]], Iterable[tuple[Any, ...]]]:
    """The neighbours that differ in one record."""
    return lambda data: (
        (*data[:i], second, *data[i + 1 :])
        for i in range(len(data))
        for second in domain
        if second != data[i]
    )


def removed(data: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """The neighbours with one record less; those with one more have this one as theirs."""
    return ((*data[:i], *data[i + 1 :]) for i in range(len(data)))


def pairs_of(
    world: Sequence[Any], neighbours: Callable[[Any], Iterable[Any]]
) -> list[tuple[Any, Any]]:
    return [(data, second) for data in world for second in neighbours(data)]


@dataclass(frozen=True, kw_only=True)
class Misses:
    """Statements that may fail with a stated probability: for each, what it is about, the exact
    probability with which it fails, and the stated one.
    """

    statements: Callable[[], Iterable[tuple[str, float | Fraction, float | Fraction]]]
    how: ClassVar[How] = "arithmetic"

    def alarm(self) -> str:
        for about, result, stated in self.statements():
            if Fraction(result) > Fraction(stated):
                return (
                    f"{about}: fails with probability {float(result):.3g}, where "
                    f"{float(stated):.3g} is stated"
                )
        return ""


# Laws of integer noise, in doubles, cut to a window by clamping the answer: processing, which can
# only hide something.


def geometric(scale: float) -> Callable[[int], float]:
    """P(Z ≤ z) of the two-sided geometric law."""
    q = math.exp(-1 / scale)
    return lambda z: q**-z / (1 + q) if z < 0 else 1 - q ** (z + 1) / (1 + q)


def rounded_normal(sigma: float) -> Callable[[int], float]:
    return lambda z: math.erfc(-(z + 0.5) / sigma / math.sqrt(2)) / 2


def shifted(
    cdf: Callable[[int], float], value: int, low: int = -60, high: int = 60
) -> dict[Hashable, float]:
    """The law of value + Z, clamped to a window. Masses right of the middle are taken from the
    other side, so that the far tail keeps its digits.
    """

    def between(a: int, b: int) -> float:  # P(a ≤ Z ≤ b)
        return cdf(-a) - cdf(-b - 1) if a > 0 else cdf(b) - cdf(a - 1)

    inside: dict[Hashable, float] = {z: between(z - value, z - value) for z in range(low + 1, high)}
    return {low: cdf(low - value), **inside, high: cdf(-(high - value))}


def both(first: Law, second: Law) -> dict[Hashable, Any]:
    """The law of two independent answers."""
    return {(a, b): p * q for (a, p), (b, q) in product(first.items(), second.items())}


def mixed(*parts: tuple[Any, Law]) -> dict[Hashable, Any]:
    """A mixture of laws."""
    result: dict[Hashable, Any] = {}
    for weight, law in parts:
        for outcome, p in law.items():
            result[outcome] = result.get(outcome, 0) + weight * p
    return result
