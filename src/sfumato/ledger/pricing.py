"""What a charge costs in the currency of a book: every promise of a mechanism is converted first, the best is taken, then costs are added.

*Best*      Promises may be incomparable, as (1, 0) and (½, 10⁻⁹) are. The one whose largest part of the budget is smallest is taken; never one that another
            undercuts in every number. The choice depends on the mechanism and the budget alone, not on what has been spent.
*Rényi*     Curves without δ that hold of the same release are taken at their lowest, order by order. Numbers of different statements are mixed nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..accounting.coordinates import Numbers, read
from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee, Renyi
from ..guarantees.stored import record as guarantee_record
from ..guarantees.stored import restore as restore_guarantee
from ..mechanisms.base import Mechanism
from ..mechanisms.stored import promises as stored_promises
from ..mechanisms.stored import record
from .entries import in_currency, numbers

Priced = Mechanism | Guarantee


def sequence_of(mechanisms: object) -> tuple[Priced, ...]:
    """What is asked for, one or several."""
    asked = (mechanisms,) if isinstance(mechanisms, Mechanism | Guarantee) else tuple(mechanisms) if isinstance(mechanisms, Sequence) else ()
    if not asked or not all(isinstance(m, Mechanism | Guarantee) for m in asked):
        raise Refused("ledger.charge", "charge(…)", "what is charged are mechanisms, or guarantees", "charge([m], memo='why')")
    return asked


@dataclass(frozen=True, slots=True)
class Quote:
    """What is asked for, as the book keeps it, and what it costs together: as exact numbers, as text, and as a guarantee, where there can be one."""

    stored: tuple[dict[str, Any], ...]
    numbers: Numbers
    texts: list[str]
    cost: Guarantee | None


def quote(budget: Guarantee, asked: tuple[Priced, ...]) -> Quote:
    """Kept for a while: the same mechanism is often used again."""
    try:
        return _kept(budget, asked)
    except TypeError:  # candidates that cannot be hashed
        return _quote(budget, asked)


def price(budget: Guarantee, asked: Iterable[Priced]) -> Numbers:
    """What these cost together."""
    return _sum(budget, (one.promises if isinstance(one, Mechanism) else (one,) for one in asked))


def price_stored(budget: Guarantee, stored: Iterable[dict[str, Any]]) -> Numbers:
    """What recorded mechanisms cost together, by what was promised then and what is known of them today."""
    return _sum(budget, (stored_promises(one) if one["sfumato"] == "mechanism" else (restore_guarantee(one),) for one in stored))


def best(budget: Guarantee, costs: Iterable[Numbers]) -> Numbers:
    """One of these costs of the same thing: that which takes the smallest part of the budget."""
    return min(costs, key=lambda cost: _weight(read(budget), cost))


def _weight(budget: Numbers, cost: Numbers) -> tuple[bool, Fraction, Fraction, Numbers]:
    parts = [c / b for c, b in zip(cost, budget, strict=True) if b]
    impossible = any(c and not b for c, b in zip(cost, budget, strict=True))
    return impossible, max(parts, default=Fraction(0)), sum(parts, Fraction(0)), cost


def _quote(budget: Guarantee, asked: tuple[Priced, ...]) -> Quote:
    total, cost = price(budget, asked), None
    with suppress(Refused):  # a sum of δ that comes to 1 promises nothing, and fits into no budget
        cost = in_currency(budget, total)
    return Quote(tuple(record(one) if isinstance(one, Mechanism) else guarantee_record(one) for one in asked), total, numbers(total), cost)


_kept = lru_cache(maxsize=256)(_quote)


def _sum(budget: Guarantee, releases: Iterable[tuple[Guarantee, ...]]) -> Numbers:
    costs = [_cost(budget, promises) for promises in releases]
    return costs[0] if len(costs) == 1 else tuple(sum(numbers, Fraction(0)) for numbers in zip(*costs, strict=True))


def _cost(budget: Guarantee, promises: tuple[Guarantee, ...]) -> Numbers:
    filter_ = Filter(budget)
    costs: list[Numbers] = []
    refusals: list[Refused] = []
    for promise in promises:
        try:
            costs.append(read(filter_.price(promise)))
        except Refused as refusal:
            if refusal.code in ("guarantee.relation", "guarantee.unit"):
                raise
            refusals.append(refusal)
    if not costs:
        raise refusals[0]
    sure = [cost for cost in costs if cost[-1] == 0]
    if isinstance(budget, Renyi) and len(sure) > 1:
        costs.append(tuple(map(min, *sure)))
    return best(budget, costs)
