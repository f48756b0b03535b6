"""Loss: a guarantee stated by the privacy loss itself, with totals that are tight and certified
from both sides.

*Promise*   The releases are dominated by pairs (P, Q) of laws, each so many times (`pairs`).
            A release without a dominating pair has no Loss.
*Compose*   Pairs are collected, not multiplied out: `a + b` and `n * a` are exact, and the curve is
            computed when it is asked for.
*Curve*     `.delta(ε)` and `.epsilon(δ)` are certified upper bounds, `.delta_lower` and
            `.epsilon_lower` certified lower ones, of the composition of the pairs: in closed form
            for Gaussian noise alone and for randomized responses, else by `certificate`.
*Order*     a ≤ b if every pair of a is covered by one of b that is known to dominate it; ≤ against
            (ε, δ) by the curve, from above. An undecided comparison is False.
*Fixed*     The total holds for laws fixed beforehand. Losses have no filter: costs that depend on
            earlier answers need another currency.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Self

from ...exact.balls import up
from ...exact.numbers import Number, is_whole, shown, text
from ...guarantees import GDP, Approx, Guarantee, Pure, Relation
from ...guarantees.guarantee import (
    check_delta,
    check_epsilon,
    check_order,
    notion,
    reach,
    relation_of,
    unit_of,
)
from ...guarantees.stored_guarantee import StoredFields
from .. import accounting_refusals as refusals
from .loss_curve import Quick, deltas, epsilons
from .loss_pairs import DominatingPair, GaussianPair
from .loss_record import integer_from, pair_from, record_of
from .pair_of_mechanism import Parts, parts_of
from .pairs_finite import ResponsePair
from .pairs_sampled import sampled

_HALVINGS = 64
MOST = 10**12 - 1
"""The most uses of one pair."""


@notion
@dataclass(frozen=True, slots=True, repr=False)
class Loss(Guarantee):
    """Dominating pairs, each with the number of its uses."""

    parts: Parts
    relation: Relation | None
    unit: str | None

    def __init__(
        self, parts: Parts, *, relation: str | None = None, unit: str | None = None
    ) -> None:
        object.__setattr__(self, "parts", _merge_parts(_check_parts(parts)))
        object.__setattr__(self, "relation", relation_of(relation))
        object.__setattr__(self, "unit", unit_of(unit))
        self._check(self.relation)

    def _check(self, relation: Relation | None) -> None:
        if relation == "replace" and not all(pair.symmetric for pair, _ in self.parts):
            raise refusals.REPLACE_NEEDS_SYMMETRIC_PAIRS(loss=self)

    @property
    def parameters(self) -> dict[str, Parts]:
        return {"parts": self.parts}

    def delta(self, epsilon: Number) -> float:
        return deltas(self.parts, check_epsilon(epsilon))[1]

    def delta_lower(self, epsilon: Number) -> float:
        """Return a certified lower bound on the δ of the pairs' own curve at ε."""
        return deltas(self.parts, check_epsilon(epsilon))[0]

    def epsilon(self, delta: Number = 0) -> float:
        return epsilons(self.parts, check_delta(delta))[1]

    def epsilon_lower(self, delta: Number = 0) -> float:
        """Return a certified lower bound on the ε of the pairs' own curve at δ."""
        return epsilons(self.parts, check_delta(delta))[0]

    def _quick(self) -> Quick:
        return Quick(self.parts)

    def renyi(self, order: Number) -> float:
        a = check_order(order)
        each = [(pair.renyi(a), count) for pair, count in self.parts]
        return (
            math.inf
            if any(math.isinf(value) for value, _ in each)
            else up(sum((count * Fraction(value) for value, count in each), Fraction(0)))
        )

    def _plus(self, addend: Self) -> Self:
        return type(self)((*self.parts, *addend.parts))

    def _times(self, count: int) -> Self:
        return type(self)(tuple((pair, count * n) for pair, n in self.parts))

    def _absorb(self, addend: Guarantee) -> Guarantee | None:
        parts = parts_of(addend)
        return None if parts is None else Loss((*self.parts, *parts))

    def _states(self, notion: type[Guarantee]) -> Guarantee | None:
        """Add up what the pairs promise in that notion; None where one of them promises nothing."""
        statements = [(pair.states(notion), count) for pair, count in self.parts]
        totals = [count * statement for statement, count in statements if statement is not None]
        if len(totals) < len(statements):
            return None
        return reduce(add, totals) if totals else reach(Pure(0), notion)

    def charged_to(self, budget: Guarantee) -> Guarantee:
        """Return what a budget is charged: of ε and δ, the point of the certified curve whose
        larger part of the budget is smallest. Its δ is that of the budget, some times halved.
        """
        if not isinstance(budget, Approx) or not all(budget.vector):
            return self.to(type(budget))
        limit, delta = budget.vector

        def part(halvings: int) -> tuple[float, Fraction]:
            return self.epsilon(delta / 2**halvings) / float(limit), Fraction(1, 2**halvings)

        # ε's part grows with the halvings, and δ's falls
        low, high = 0, min(_HALVINGS, int(delta * 2**1000).bit_length() - 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if part(middle)[0] < part(middle)[1] else (low, middle)
        points = [
            Approx(Fraction(epsilon), delta / 2**halvings)
            for halvings in (low, high)
            if not math.isinf(epsilon := self.epsilon(delta / 2**halvings))
        ]
        if (pure := reach(self, Approx)) is not None:
            points.append(pure)
        if not points:
            return self.to(Approx)
        best = min(points, key=lambda a: max(a.vector[0] / limit, a.vector[1] / delta))
        return Guarantee._bind(best, self.relation, self.unit)

    def _implied_by(self, premise: Guarantee) -> bool:
        """Whether `premise` implies the tight guarantee of some pair; else compare pair by pair,
        for `premise` and for the Approx and GDP guarantees that it implies.
        """
        tight = [pair.tight for pair, _ in self.parts]
        if any(promise is not None and promise._implied_by(premise) for promise in tight):
            return True
        statements = (premise, reach(premise, Approx), reach(premise, GDP))
        return any(
            self._covers(parts)
            for statement in statements
            if statement is not None and (parts := parts_of(statement)) is not None
        )

    def _covers(self, parts: Parts) -> bool:
        """Whether every one of these pairs is dominated by a pair of this Loss, with no pair of
        this Loss used more often than it occurs.
        """
        left = dict(self.parts)
        for pair, count in _merge_parts(parts):
            needed = count
            for mine in left:
                if needed and pair.within(mine):
                    used = min(needed, left[mine])
                    left[mine], needed = left[mine] - used, needed - used
            if needed:
                return False
        return True

    def _meet(self, second: Self) -> Self:
        return second if second._implied_by(self) is False and self._implied_by(second) else self

    def _group(self, size: int) -> Loss:
        return Loss(tuple((pair.group(size), count) for pair, count in self.parts))

    def _subsample(self, q: Fraction) -> Guarantee:
        if len(self.parts) != 1 or self.parts[0][1] != 1:
            raise refusals.SEVERAL_RELEASES_SAMPLED(guarantee=self, rate=text(q))
        return Loss(((sampled(self.parts[0][0], q, "poisson"), 1),))

    def _stored(self) -> dict[str, object]:
        return {"parts": [{"count": str(count), **record_of(pair)} for pair, count in self.parts]}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        """Read a stored Loss. Raise ValueError (Refused is one) or KeyError for other records."""
        parts = tuple((pair_from(part), integer_from(part["count"])) for part in stored["parts"])
        loss = cls(parts, relation=relation, unit=unit)
        if len(loss.parts) != len(stored["parts"]):
            raise ValueError("equal pairs stored as separate parts")
        return loss

    def __repr__(self) -> str:
        pairs = [f"{count} × {pair!r}" if count > 1 else repr(pair) for pair, count in self.parts]
        listed = pairs if len(pairs) <= 4 else [*pairs[:3], f"… {len(pairs) - 3} more"]
        return f"Loss({', '.join([' + '.join(listed) or 'nothing', *self._about()])})"


def sampled_gaussian(mu_squared: Fraction, rate: Fraction) -> Loss:
    """Return the Loss of Gaussian noise behind Poisson sampling, as `GDP.subsample` does."""
    return Loss(
        ((sampled(GaussianPair(mu_squared), rate, "poisson"), 1),) if mu_squared and rate else ()
    )


def _check_parts(parts: Parts) -> Parts:
    """Check that these are pairs, each with a number of uses."""
    for pair, count in parts:
        if not isinstance(pair, DominatingPair):
            raise refusals.PART_IS_NO_PAIR(part=pair)
        if not is_whole(count, 0, MOST):
            raise refusals.TOO_MANY_USES(count=shown(count), most=MOST)
    return tuple(parts)


def _merge_parts(parts: Parts) -> Parts:
    """Count equal pairs together, join Gaussian ones into one, and sort."""
    counts: dict[DominatingPair, int] = {}
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
