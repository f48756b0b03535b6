"""What a charge costs in the currency of a book: every promise of a mechanism is converted first,
the best is taken, then costs are added.

*Best*      Promises may be incomparable, as (1, 0) and (½, 10⁻⁹) are. The one whose largest part of
            the budget is smallest is taken; never one that another undercuts in every number. The
            choice depends on the mechanism and the budget alone, not on what has been spent.
*Rényi*     Curves without δ that hold of the same release are taken at their lowest, order by
            order. Numbers of different statements are mixed nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import is_
from typing import Any

from ..accounting.budget_vector import Numbers, read
from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee, Renyi
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.shared.stored_mechanism import promises as stored_promises
from ..mechanisms.shared.stored_mechanism import record
from .entries import canonical, in_currency, numbers
from .exact_totals import Ratios, ratios
from .typed_text import encodable

Priced = Mechanism | Guarantee


def sequence_of(mechanisms: object) -> tuple[Priced, ...]:
    """What is asked for, one or several."""
    if isinstance(mechanisms, Mechanism | Guarantee):
        return (mechanisms,)
    asked = tuple(mechanisms) if isinstance(mechanisms, Sequence) else ()
    if not asked or not all(isinstance(m, Mechanism | Guarantee) for m in asked):
        raise Refused(
            "ledger.charge",
            "charge(…)",
            "what is charged are mechanisms, or guarantees",
            "charge([m], memo='why')",
        )
    return asked


@dataclass(frozen=True, slots=True)
class Quote:
    """What is asked for and what it costs together, both as the canonical text of an entry, made
    once for all charges of the same; the cost also as exact numbers and, where there can be one, as
    a guarantee.
    """

    stored: str
    texts: str
    ratios: Ratios
    cost: Guarantee | None


class Prices:
    """What charges to a book cost. Prices are kept for a while, the last one at hand: the same
    mechanism is often used again.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Guarantee, tuple[Priced, ...], Quote] | None = None

    def quote(self, budget: Guarantee, mechanisms: object) -> Quote:
        """What these, one or several, cost together; refused if they are anything else than
        mechanisms and guarantees.
        """
        if (last := self._last) is not None and last[0] is budget:
            several = mechanisms if isinstance(mechanisms, list | tuple) else (mechanisms,)
            if len(last[1]) == len(several) and all(map(is_, last[1], several)):
                return last[2]
        asked = sequence_of(mechanisms)
        if not all(_lasting(type(one)) for one in asked):
            return _quote(budget, asked)
        try:
            price = _kept(budget, asked)
        except TypeError:  # candidates that cannot be hashed, and so may change under the same name
            return _quote(budget, asked)
        self._last = (budget, asked, price)
        return price


@lru_cache(maxsize=256)
def _lasting(kind: type) -> bool:
    """Whether things of this kind are frozen records, which are what they are equal to: only their
    prices may be kept. Others may promise less tomorrow.
    """
    made = vars(kind).get("__dataclass_params__")
    return made is not None and bool(made.frozen and made.eq)


def price(budget: Guarantee, asked: Iterable[Priced]) -> Numbers:
    """What these cost together."""
    return _sum(budget, (one.promises if isinstance(one, Mechanism) else (one,) for one in asked))


def price_stored(budget: Guarantee, stored: Iterable[dict[str, Any]]) -> Numbers:
    """What recorded mechanisms cost together, by what was promised then and what is known of them
    today.
    """
    return _sum(
        budget,
        (
            stored_promises(one) if one["sfumato"] == "mechanism" else (restore_guarantee(one),)
            for one in stored
        ),
    )


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
    stored = canonical(
        [record(one) if isinstance(one, Mechanism) else guarantee_record(one) for one in asked]
    )
    if not encodable(stored):
        raise Refused(
            "ledger.charge",
            "charge(…)",
            "it has a name that cannot be written down: half of a character",
            "names that can be printed",
        )
    return Quote(stored, canonical(numbers(total)), ratios(total), cost)


_kept = lru_cache(maxsize=256)(_quote)


def _sum(budget: Guarantee, releases: Iterable[tuple[Guarantee, ...]]) -> Numbers:
    costs = [_cost(budget, promises) for promises in releases]
    return (
        costs[0]
        if len(costs) == 1
        else tuple(sum(numbers, Fraction(0)) for numbers in zip(*costs, strict=True))
    )


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
