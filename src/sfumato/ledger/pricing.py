"""The cost of a charge in the currency of a book: convert every guarantee of a mechanism, take the
best, add the costs.

*Best*      Guarantees may be incomparable, such as (1, 0) and (½, 10⁻⁹). The ledger takes the one
            whose largest fraction of the budget is smallest, and never one that another undercuts
            in every number. The choice depends on the mechanism and the budget alone, not on what
            is spent.
*Fixed*     Releases of one charge that promise a `Loss` are composed by their certified curve:
            the charge fixes them all. Between charges, which may depend on answers, costs add up.
*Rényi*     Of several curves without δ for the same release, the ledger takes the lowest value at
            each order. It mixes numbers of different guarantees nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add, is_

from ..accounting.filters import Filter
from ..accounting.loss.privacy_loss import Loss
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.guarantee import Numbers
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.shared.stored_mechanism import promises as stored_promises
from ..mechanisms.shared.stored_mechanism import record
from ..records import is_frozen_record
from . import ledger_refusals as refusals
from .entries import canonical, in_currency, numbers
from .exact_totals import Ratios, ratios
from .typed_text import is_encodable

Priced = Mechanism | Guarantee


def as_sequence(mechanisms: object) -> tuple[Priced, ...]:
    """Return one or several mechanisms and guarantees as a tuple; refuse anything else."""
    if isinstance(mechanisms, Mechanism | Guarantee):
        return (mechanisms,)
    priced = tuple(mechanisms) if isinstance(mechanisms, Sequence) else ()
    if not priced or not all(isinstance(m, Mechanism | Guarantee) for m in priced):
        raise refusals.NOT_MECHANISMS()
    return priced


@dataclass(frozen=True, slots=True)
class Quote:
    """Mechanisms and their total cost, both as canonical text for an entry. The cost is also given
    as exact ratios and, where possible, as a guarantee.
    """

    stored: str
    texts: str
    ratios: Ratios
    cost: Guarantee | None


class Prices:
    """Prices charges to a book. It caches quotes, and keeps the last one at hand: callers often
    use the same mechanism again.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Guarantee, tuple[Priced, ...], Quote] | None = None

    def quote(self, budget: Guarantee, mechanisms: object) -> Quote:
        """Return the total cost of one or several mechanisms and guarantees; refuse anything
        else.
        """
        if (last := self._last) is not None and last[0] is budget:
            several = mechanisms if isinstance(mechanisms, list | tuple) else (mechanisms,)
            if len(last[1]) == len(several) and all(map(is_, last[1], several)):
                return last[2]
        priced = as_sequence(mechanisms)
        if not all(is_frozen_record(type(item)) for item in priced):
            # others may change their guarantees
            return _quote(budget, priced)
        try:
            price = _cached_quote(budget, priced)
        except TypeError:  # candidates that cannot be hashed, and so may change under the same name
            return _quote(budget, priced)
        self._last = (budget, priced, price)
        return price


def price(budget: Guarantee, priced: Iterable[Priced]) -> Numbers:
    """Return the total cost."""
    return _sum(
        budget, (item.promises if isinstance(item, Mechanism) else (item,) for item in priced)
    )


def price_stored(budget: Guarantee, stored: Iterable[dict[str, object]]) -> Numbers:
    """Return the total cost of stored mechanisms, from their stored guarantees and those that this
    version derives.
    """
    return _sum(
        budget,
        (
            stored_promises(record_)
            if record_["sfumato"] == "mechanism"
            else (restore_guarantee(record_),)
            for record_ in stored
        ),
    )


def best(budget: Guarantee, costs: Iterable[Numbers]) -> Numbers:
    """Return the one of several costs of the same release that uses the least of the budget."""
    return min(costs, key=lambda cost: _weight(budget.vector, cost))


def _weight(budget: Numbers, cost: Numbers) -> tuple[bool, Fraction, Fraction, Numbers]:
    parts = [c / b for c, b in zip(cost, budget, strict=True) if b]
    impossible = any(c and not b for c, b in zip(cost, budget, strict=True))
    return impossible, max(parts, default=Fraction(0)), sum(parts, Fraction(0)), cost


def _quote(budget: Guarantee, priced: tuple[Priced, ...]) -> Quote:
    total, cost = price(budget, priced), None
    with suppress(Refused):  # a sum of δ that comes to 1 promises nothing, and fits into no budget
        cost = in_currency(budget, total)
    stored = canonical(
        [record(item) if isinstance(item, Mechanism) else guarantee_record(item) for item in priced]
    )
    if not is_encodable(stored):
        raise refusals.MECHANISM_NOT_ENCODABLE()
    return Quote(stored, canonical(numbers(total)), ratios(total), cost)


_cached_quote = lru_cache(maxsize=256)(_quote)


def _sum(budget: Guarantee, releases: Iterable[tuple[Guarantee, ...]]) -> Numbers:
    costs = [_cost(budget, promises) for promises in _join_losses(releases)]
    return (
        costs[0]
        if len(costs) == 1
        else tuple(sum(numbers, Fraction(0)) for numbers in zip(*costs, strict=True))
    )


def _join_losses(releases: Iterable[tuple[Guarantee, ...]]) -> list[tuple[Guarantee, ...]]:
    """Add up the releases that promise a `Loss` alone: all are fixed by the charge, so their curve
    is that of the composition.
    """
    several = list(releases)
    losses = [promises for promises in several if len(promises) == 1 and _is_loss(promises[0])]
    if len(losses) < 2:
        return several
    rest = [promises for promises in several if promises not in losses]
    return [*rest, (reduce(add, (promise for (promise,) in losses)),)]


def _is_loss(promise: Guarantee) -> bool:
    return isinstance(promise, Loss)


def _cost(budget: Guarantee, promises: tuple[Guarantee, ...]) -> Numbers:
    filter_ = Filter(budget)
    costs: list[Numbers] = []
    refused: list[Refused] = []
    for promise in promises:
        try:
            costs.append(filter_.price(promise).vector)
        except Refused as refusal:
            if refusal.code in ("guarantee.relation", "guarantee.unit"):
                raise
            refused.append(refusal)
    if not costs:
        raise refused[0]
    sure = [cost for cost in costs if cost[-1] == 0]
    if len(sure) > 1 and len(sure[0]) > 2:  # curves: each order has its own least bound
        costs.append(tuple(map(min, *sure)))
    return best(budget, costs)
