"""Loss: a promise by what is known of the privacy loss itself, and totals that are tight and
certified on both sides.

*Promise*   The releases are dominated by pairs (P, Q) of laws, each so many times (`pairs`).
            Nothing is a Loss that has no dominating pair.
*Compose*   Pairs are collected, not multiplied out: `a + b` and `n * a` are exact, and the curve is
            computed when it is asked for.
*Curve*     `.delta(ε)` and `.epsilon(δ)` are certified upper bounds, `.delta_lower` and
            `.epsilon_lower` certified lower ones, of the composition of the pairs: in closed form
            for Gaussian noise alone and for randomized responses, else by `certificate`.
*Order*     a ≤ b if every pair of a is covered by one of b that is known to dominate it; ≤ against
            (ε, δ) by the curve, from above. What is not known is False.
*Fixed*     A total over laws that were fixed beforehand. Losses have no filter: costs that depend
            on earlier answers need another currency.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, Self

from ...errors import Refused
from ...exact.balls import up
from ...exact.numbers import Number, is_whole, shown, text
from ...guarantees import GDP, Approx, Guarantee, Pure, Relation
from ...guarantees.guarantee import (
    known_delta,
    known_epsilon,
    known_order,
    reach,
    relation_of,
    unit_of,
)
from .loss_curve import Quick, deltas, epsilons
from .loss_pairs import GaussianPair, Pair
from .loss_record import pair_from, record_of, whole_from
from .pair_of_mechanism import Parts, parts_of
from .pairs_finite import ResponsePair
from .pairs_sampled import sampled

MOST = 10**12 - 1
"""Uses of one pair."""


@dataclass(frozen=True, slots=True, repr=False)
class Loss(Guarantee):
    """Dominating pairs, each with how often it is used."""

    parts: Parts
    relation: Relation | None
    unit: str | None

    def __init__(
        self, parts: Parts, *, relation: str | None = None, unit: str | None = None
    ) -> None:
        object.__setattr__(self, "parts", _merged(_known(parts)))
        object.__setattr__(self, "relation", relation_of(relation))
        object.__setattr__(self, "unit", unit_of(unit))
        self._check(self.relation)

    def _check(self, relation: Relation | None) -> None:
        if relation == "replace" and not all(pair.symmetric for pair, _ in self.parts):
            raise Refused(
                "loss.direction",
                f"{self}",
                "under replace a pair has to be symmetric, as either dataset may be the one",
                "relation='add-remove'",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"parts": self.parts}

    def delta(self, epsilon: Number) -> float:
        return deltas(self.parts, known_epsilon(epsilon))[1]

    def delta_lower(self, epsilon: Number) -> float:
        """A δ below which the pairs' own (ε, δ) curve certainly is not."""
        return deltas(self.parts, known_epsilon(epsilon))[0]

    def epsilon(self, delta: Number = 0) -> float:
        return epsilons(self.parts, known_delta(delta))[1]

    def epsilon_lower(self, delta: Number = 0) -> float:
        """An ε below which the pairs' own (ε, δ) curve certainly is not."""
        return epsilons(self.parts, known_delta(delta))[0]

    def _quick(self) -> Quick:
        return Quick(self.parts)

    def renyi(self, order: Number) -> float:
        a = known_order(order)
        each = [
            (math.inf if pair.guarantee is None else pair.guarantee.renyi(a), count)
            for pair, count in self.parts
        ]
        return (
            math.inf
            if any(math.isinf(value) for value, _ in each)
            else up(sum((count * Fraction(value) for value, count in each), Fraction(0)))
        )

    def _plus(self, other: Self) -> Self:
        return type(self)((*self.parts, *other.parts))

    def _times(self, count: int) -> Self:
        return type(self)(tuple((pair, count * n) for pair, n in self.parts))

    def _absorb(self, other: Guarantee) -> Guarantee | None:
        parts = parts_of(other)
        return None if parts is None else Loss((*self.parts, *parts))

    def _states(self, notion: type[Guarantee]) -> Guarantee | None:
        """The sum of what the pairs promise in that notion."""
        found = [
            None if pair.guarantee is None else (reach(pair.guarantee, notion), count)
            for pair, count in self.parts
        ]
        if any(one is None or one[0] is None for one in found):
            return None
        return (
            reduce(
                add, (one[1] * one[0] for one in found if one is not None and one[0] is not None)
            )
            if found
            else reach(Pure(0), notion)
        )

    def _implied_by(self, other: Guarantee) -> bool:
        """What implies the guarantee that one of the pairs stands for implies the whole. Else pair
        by pair, of the other or of what it implies.
        """
        tight = [pair.tight for pair, _ in self.parts]
        if any(one is not None and one._implied_by(other) for one in tight):
            return True
        statements = (other, reach(other, Approx), reach(other, GDP))
        return any(
            self._covers(parts)
            for one in statements
            if one is not None and (parts := parts_of(one)) is not None
        )

    def _covers(self, parts: Parts) -> bool:
        """Whether each of these pairs is within one of this, and none of this is used more often
        than it is there.
        """
        left = dict(self.parts)
        for pair, count in _merged(parts):
            needed = count
            for mine in left:
                if needed and pair.within(mine):
                    used = min(needed, left[mine])
                    left[mine], needed = left[mine] - used, needed - used
            if needed:
                return False
        return True

    def _meet(self, other: Self) -> Self:
        return other if other._implied_by(self) is False and self._implied_by(other) else self

    def _group(self, size: int) -> Loss:
        return Loss(tuple((pair.group(size), count) for pair, count in self.parts))

    def _subsample(self, q: Fraction) -> Guarantee:
        if len(self.parts) != 1 or self.parts[0][1] != 1:
            raise Refused(
                "guarantee.subsample",
                f"{self}.subsample({text(q)})",
                "one release is sampled at a time",
                "mechanism.subsample(q), then sf.compose",
            )
        return Loss(((sampled(self.parts[0][0], q, "poisson"), 1),))

    def _stored(self) -> dict[str, Any]:
        return {"parts": [{"count": str(count), **record_of(pair)} for pair, count in self.parts]}

    def __repr__(self) -> str:
        pairs = [f"{count} × {pair!r}" if count > 1 else repr(pair) for pair, count in self.parts]
        listed = pairs if len(pairs) <= 4 else [*pairs[:3], f"… {len(pairs) - 3} more"]
        return f"Loss({', '.join([' + '.join(listed) or 'nothing', *self._about()])})"


def sampled_gaussian(mu_squared: Fraction, rate: Fraction) -> Loss:
    """Gaussian noise behind Poisson sampling: what `GDP.subsample` gives."""
    return Loss(
        ((sampled(GaussianPair(mu_squared), rate, "poisson"), 1),) if mu_squared and rate else ()
    )


def restore(stored: dict[str, Any], *, relation: str | None, unit: str | None) -> Loss:
    """A stored Loss again; a ValueError, of which Refused is one, or a KeyError where it is
    none.
    """
    found = Loss(
        tuple((pair_from(part), whole_from(part["count"])) for part in stored["parts"]),
        relation=relation,
        unit=unit,
    )
    if len(found.parts) != len(stored["parts"]):
        raise ValueError("parts that are written together, or not at all")
    return found


def _known(parts: Parts) -> Parts:
    """Pairs, each with how often it is used."""
    for pair, count in parts:
        if not isinstance(pair, Pair):
            raise Refused(
                "loss.number",
                f"{pair!r:.60}",
                "a Loss is made of dominating pairs",
                "sf.compose([(mechanism, 100)])",
            )
        if not is_whole(count, 0, MOST):
            raise Refused(
                "loss.number",
                f"{shown(count)} uses",
                f"a release is used {MOST} times at most",
                "a smaller count",
            )
    return tuple(parts)


def _merged(parts: Parts) -> Parts:
    """Equal pairs counted together, Gaussian ones as one, in one order."""
    counts: dict[Pair, int] = {}
    square = Fraction(0)
    for pair, count in parts:
        if isinstance(pair, GaussianPair):
            square += count * pair.mu_squared
        elif count and not (isinstance(pair, ResponsePair) and pair.epsilon == pair.delta == 0):
            counts[pair] = counts.get(pair, 0) + count
    if square:
        counts[GaussianPair(square)] = 1
    return tuple(
        sorted(
            counts.items(), key=lambda item: (item[0].kind, repr(item[0]), str(item[0].numbers()))
        )
    )
