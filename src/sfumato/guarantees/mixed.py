"""The sum of guarantees of different notions: both parts are kept, and evaluated together.

*Compose*   one part for each notion; parts of the same notion add up.
*Curve*     the least of: the sum in each notion that every part reaches (ZCDP, GDP, Rényi) or that
            takes all of them in (Loss), and basic composition, where the parts with an ε of their
            own keep it and the others share the rest. All are true at once, so the least is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from operator import add
from typing import Any, Self, cast

from ..errors import Refused
from ..exact.balls import least, up
from ..exact.numbers import Number
from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee, Relation, known_delta, known_epsilon, reach, settle
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .zcdp import ZCDP

NOTIONS: tuple[type[Guarantee], ...] = (Pure, Approx, GDP, ZCDP, Renyi)
"""The notions of differential privacy, in the order in which parts are kept."""


@dataclass(frozen=True, slots=True, repr=False)
class Together(Guarantee):
    """Two or more releases with guarantees of different notions."""

    parts: tuple[Guarantee, ...]
    relation: Relation | None
    unit: str | None

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            f"{type(part).__name__}.{name}": value
            for part in self.parts
            for name, value in part.parameters.items()
        }

    def delta(self, epsilon: Number) -> float:
        e = known_epsilon(epsilon)
        basic = self._basic(e)
        return min(1.0, up(basic), *(whole.delta(e) for whole in _sums(self.parts)))

    def epsilon(self, delta: Number = 0) -> float:
        d = known_delta(delta)
        if self.delta(0) <= d:
            return 0.0
        if d == 0:
            whole = reach(self, Pure)
            return whole.epsilon(0) if whole is not None else math.inf
        enough = min([whole.epsilon(d) for whole in _sums(self.parts)], default=math.inf)
        within = self._basic(Fraction(2) ** 20) <= d
        return min(enough, float(least(lambda e: self._basic(e) <= d))) if within else enough

    def renyi(self, order: Number) -> float:
        total = sum(
            (
                Fraction(value)
                for value in (part.renyi(order) for part in self.parts)
                if not math.isinf(value)
            ),
            Fraction(0),
        )
        return math.inf if any(math.isinf(part.renyi(order)) for part in self.parts) else up(total)

    def _basic(self, epsilon: Fraction) -> Fraction:
        """Basic composition, with one part without an ε of its own (the others brought into its
        notion) taking what the rest leave.
        """
        own = [part for part in self.parts if isinstance(part, Pure | Approx)]
        rest = [part for part in self.parts if not isinstance(part, Pure | Approx)]
        left = epsilon - sum((part.parameters["epsilon"] for part in own), Fraction(0))
        if left < 0:
            return Fraction(1)
        lost = sum((part.parameters.get("delta", Fraction(0)) for part in own), Fraction(0))
        if rest:
            lost += Fraction(
                min((whole.delta(left) for whole in _sums(tuple(rest))), default=1.0)
            )  # none where curves share no order
        return lost

    def _check(self, relation: Relation | None) -> None:
        for part in self.parts:
            part._check(relation)

    def _plus(self, other: Self) -> Self:
        return cast(Self, _kept([*self.parts, *other.parts]))

    def _times(self, count: int) -> Self:
        return type(self)(tuple(count * part for part in self.parts), None, None)

    def _implied_by(self, other: Guarantee) -> bool:
        """The other's parts can be shared out so that each part of this covers what falls to it."""
        theirs = other.parts if isinstance(other, Together) else (other,)
        return any(
            all(
                _covers(
                    mine, [part for part, share in zip(theirs, shares, strict=True) if share == i]
                )
                for i, mine in enumerate(self.parts)
            )
            for shares in product(range(len(self.parts)), repeat=len(theirs))
        )

    def _meet(self, other: Self) -> Self:
        return self if other._implied_by(self) else other

    def _group(self, size: int) -> Guarantee:
        return _kept([part.group(size) for part in self.parts])

    def __repr__(self) -> str:
        return " + ".join(repr(part) for part in self.parts)


def together(a: Guarantee, b: Guarantee) -> Guarantee:
    """a + b."""
    relation, unit = settle(a, b)
    if isinstance(a, RandomDP) != isinstance(b, RandomDP):
        raise Refused(
            "guarantee.random",
            f"{a} + {b}",
            "random DP does not add to differential privacy: it holds for most pairs only",
            "keep the two apart",
        )
    if type(a) is type(b):
        return Guarantee._bind(a._plus(b), relation, unit)
    parts = [
        part
        for whole in (a, b)
        for part in (whole.parts if isinstance(whole, Together) else (whole,))
    ]
    return Guarantee._bind(_kept(parts), relation, unit)


def _covers(whole: Guarantee, parts: list[Guarantee]) -> bool:
    return not parts or whole._implied_by(reduce(add, parts))


def _kept(parts: list[Guarantee]) -> Guarantee:
    further = tuple(
        sorted({type(part) for part in parts} - set(NOTIONS), key=lambda notion: notion.__name__)
    )
    merged = [
        reduce(add, same)
        for notion in (*NOTIONS, *further)
        if (same := [part for part in parts if type(part) is notion])
    ]
    return merged[0] if len(merged) == 1 else Together(tuple(merged), None, None)


def _taken_in(parts: tuple[Guarantee, ...]) -> Guarantee | None:
    """The sum in the notion of one part that can take in all others."""
    for one in parts:
        found: Guarantee | None = one
        for other in parts:
            found = found if other is one or found is None else found._absorb(other)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=256)
def _sums(parts: tuple[Guarantee, ...]) -> tuple[Guarantee, ...]:
    """The sum in every notion with a curve that all parts reach; the part itself if there is one
    only. Kept, as a curve asks for them at every ε.
    """
    if len(parts) == 1:
        return parts
    sums = [_sum([reach(part, notion) for part in parts]) for notion in (GDP, ZCDP, Renyi)]
    return tuple(whole for whole in (*sums, _taken_in(parts)) if whole is not None)


def _sum(parts: list[Any]) -> Guarantee | None:
    """The sum, where every part is there and curves have an order in common."""
    try:
        return None if None in parts else reduce(add, parts)
    except Refused:
        return None
