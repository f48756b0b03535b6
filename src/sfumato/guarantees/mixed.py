"""The sum of guarantees of different notions. `Mixed` stores one part per notion and evaluates the
parts together.

*Compose*   one part for each notion; parts of the same notion add up.
*Curve*     the least of: the sum in each notion that every part reaches (ZCDP, GDP, Rényi) or that
            takes all of them in (Loss), and basic composition, where the parts with an ε of their
            own keep it and the others share the rest. All are true at once, so the least is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from operator import add
from typing import ClassVar, Self, cast

from ..errors import Refused
from ..exact.balls import least, up
from ..exact.numbers import Number
from . import guarantee_refusals as refusals
from .approx import Approx
from .guarantee import (
    Guarantee,
    Relation,
    by_strength,
    check_delta,
    check_epsilon,
    common_relation_and_unit,
    curves,
    notion,
    reach,
    relation_of,
    unit_of,
)
from .pure import Pure
from .random_dp import RandomDP
from .stored_guarantee import StoredFields, record, restore


@notion
@dataclass(frozen=True, slots=True, repr=False)
class Mixed(Guarantee):
    """Two or more releases with guarantees of different notions."""

    parts: tuple[Guarantee, ...]
    relation: Relation | None
    unit: str | None

    stored_name: ClassVar = "Together"

    @property
    def parameters(self) -> dict[str, object]:
        return {
            f"{type(part).__name__}.{name}": value
            for part in self.parts
            for name, value in part.parameters.items()
        }

    def delta(self, epsilon: Number) -> float:
        e = check_epsilon(epsilon)
        basic = self._basic(e)
        return min(1.0, up(basic), *(total.delta(e) for total in _sums(self.parts)))

    def epsilon(self, delta: Number = 0) -> float:
        d = check_delta(delta)
        if self.delta(0) <= d:
            return 0.0
        if d == 0:
            pure = reach(self, Pure)
            return pure.epsilon(0) if pure is not None else math.inf
        enough = min([total.epsilon(d) for total in _sums(self.parts)], default=math.inf)
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
        """δ at this ε by basic composition: Pure and Approx parts use their own ε, and the other
        parts, added up in one notion, get the ε that is left.
        """
        stated = [part for part in self.parts if isinstance(part, Pure | Approx)]
        rest = [part for part in self.parts if not isinstance(part, Pure | Approx)]
        left = epsilon - sum((part.parameters["epsilon"] for part in stated), Fraction(0))
        if left < 0:
            return Fraction(1)
        lost = sum((part.parameters.get("delta", Fraction(0)) for part in stated), Fraction(0))
        if rest:
            # none where curves share no order
            lost += Fraction(min((total.delta(left) for total in _sums(tuple(rest))), default=1.0))
        return lost

    def _check(self, relation: Relation | None) -> None:
        for part in self.parts:
            part._check(relation)

    def _plus(self, addend: Self) -> Self:
        return cast(Self, _merge_by_notion([*self.parts, *addend.parts]))

    def _times(self, count: int) -> Self:
        return type(self)(tuple(count * part for part in self.parts), None, None)

    def _implied_by(self, premise: Guarantee) -> bool:
        """Whether the premise's parts can be assigned to the parts of this guarantee so that each
        part covers the sum of those assigned to it.
        """
        theirs = premise.parts if isinstance(premise, Mixed) else (premise,)
        return any(
            all(
                _covers(
                    part, [p for p, place in zip(theirs, assignment, strict=True) if place == i]
                )
                for i, part in enumerate(self.parts)
            )
            for assignment in product(range(len(self.parts)), repeat=len(theirs))
        )

    def _meet(self, second: Self) -> Self:
        return self if second._implied_by(self) else second

    def _group(self, size: int) -> Guarantee:
        return _merge_by_notion([part.group(size) for part in self.parts])

    def _stored(self) -> dict[str, object]:
        return {"parts": [record(part) for part in self.parts]}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        """Restore parts that are of two or more notions and not mixed themselves."""
        parts = [restore(part) for part in stored["parts"]]
        total = reduce(add, parts)
        if not isinstance(total, Mixed) or any(isinstance(part, Mixed) for part in parts):
            raise KeyError("parts")
        return cls._bind(cls(total.parts, None, None), relation_of(relation), unit_of(unit))

    def __repr__(self) -> str:
        return " + ".join(repr(part) for part in self.parts)


def add_guarantees(a: Guarantee, b: Guarantee) -> Guarantee:
    """a + b."""
    relation, unit = common_relation_and_unit(a, b)
    if isinstance(a, RandomDP) != isinstance(b, RandomDP):
        raise refusals.RANDOM_DP_PLUS_DP(a=a, b=b)
    if type(a) is type(b):
        return Guarantee._bind(a._plus(b), relation, unit)
    parts = [
        part
        for summand in (a, b)
        for part in (summand.parts if isinstance(summand, Mixed) else (summand,))
    ]
    return Guarantee._bind(_merge_by_notion(parts), relation, unit)


def _covers(guarantee: Guarantee, parts: list[Guarantee]) -> bool:
    return not parts or guarantee._implied_by(reduce(add, parts))


def _merge_by_notion(parts: list[Guarantee]) -> Guarantee:
    merged = [
        reduce(add, [part for part in parts if type(part) is kind])
        for kind in by_strength({type(part) for part in parts})
    ]
    return merged[0] if len(merged) == 1 else Mixed(tuple(merged), None, None)


def _absorb_all(parts: tuple[Guarantee, ...]) -> Guarantee | None:
    """Return the sum in the notion of the first part that can absorb all the others."""
    for host in parts:
        total: Guarantee | None = host
        for part in parts:
            total = total if part is host or total is None else total._absorb(part)
        if total is not None:
            return total
    return None


@lru_cache(maxsize=256)
def _sums(parts: tuple[Guarantee, ...]) -> tuple[Guarantee, ...]:
    """Return the sum in every notion with a curve that all parts reach; a single part as it is.
    Cached: a curve needs these sums at every ε.
    """
    if len(parts) == 1:
        return parts
    sums = [_sum([reach(part, kind) for part in parts]) for kind in curves()]
    return tuple(total for total in (*sums, _absorb_all(parts)) if total is not None)


def _sum(parts: Sequence[Guarantee | None]) -> Guarantee | None:
    """Return the sum; None if a part is missing or the curves have no order in common."""
    try:
        reached = [part for part in parts if part is not None]
        return reduce(add, reached) if len(reached) == len(parts) else None
    except Refused:
        return None
