"""The ledger: one book for the datasets of an owner, with budgets that hold whatever was asked before.

*Charge*    Price every mechanism in the currency, check `total ≤ budget` for the dataset and for the asker's share, append the entry, all in one durable
            transaction; only then is there a receipt. Two asks for the last of the budget: one is granted.
*Promise*   What is promised is the budget of the whole, by the filter theorem of its currency, against people who share what they learn. A share is a
            promise about someone who talks to nobody. What was spent is bookkeeping.
*Identity*  A name that the owner gives, never a hash of content: all versions of a growing dataset share one book, and new rows refill nothing.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from ..accounting.coordinates import Numbers, read
from ..accounting.filters import FILTERS, Filter
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..guarantees.base import relation_of, unit_of
from ..guarantees.stored import restore as restore_guarantee
from ..mechanisms.base import Mechanism
from ..mechanisms.stored import record as mechanism_record
from . import pages
from .entries import WHOLE, Account, budget_record, spent_as_guarantee
from .receipts import BudgetExceeded, Charge, Head, Recalled, Receipt, Verification
from .store import Store
from .verify import verify

Priced = Mechanism | Guarantee
_NEW = "Ledger.open(path, budget=sf.Pure(1), dataset='visits', unit='user_id', relation='add-remove')"


class Ledger:
    """A dataset's account in a book."""

    def __init__(self, store: Store, dataset: str) -> None:
        self._store = store
        self.dataset = dataset

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        budget: Guarantee | None = None,
        dataset: str | None = None,
        unit: str | None = None,
        relation: str | None = None,
        schema: dict[str, str] | None = None,
    ) -> Self:
        """A dataset's account: a new one where it is not in the book yet, which needs a budget, a unit and a relation; else the existing one, if what is
        said of it is the same.

        Without a path the book lives in memory, and ends with the process.
        """
        place = None if path is None else Path(path)
        if place is not None and (place.is_dir() or not place.parent.is_dir()):
            raise Refused("ledger.path", place.name, "a ledger is a file in a folder that exists", "visits.ledger")
        if budget is None and (place is None or not place.exists()):
            raise Refused("ledger.budget", str(dataset or "a new ledger"), "a new account needs a budget", _NEW)
        if budget is not None and type(budget) not in FILTERS:
            Filter(budget)  # refuses, with the reason
        said = _said(budget, unit, relation, schema)
        store = Store(place)
        with store.writing() as tx:
            pages.begin(tx, secrets.token_hex(8), _now())
            known = pages.datasets(tx)
            name = dataset or (known[0] if len(known) == 1 else "data" if not known else None)
            if name is None:
                raise Refused("ledger.dataset", f"{len(known)} datasets", "the book holds several: say which", f"dataset={known[0]!r}")
            if name in known:
                _same(pages.header(tx, name), said, budget is not None)
            elif budget is None or "unit" not in said or "relation" not in said:
                raise Refused("ledger.dataset", f"dataset={name!r}", "the book does not know it; a new one needs a budget, a unit and a relation", _NEW)
            else:
                pages.append(tx, {"kind": "open", "dataset": name, "header": {**said, "theorem": FILTERS[type(budget)]}, "when": _now()})
        return cls(store, name)

    @property
    def budget(self) -> Guarantee:
        return self.account().budget

    @property
    def spent(self) -> Guarantee:
        """Bookkeeping, in the currency of the budget."""
        return spent_as_guarantee(self.account())

    @property
    def remaining(self) -> Guarantee:
        account = self.account()
        return Filter(account.budget, spent_as_guarantee(account)).remaining

    @property
    def head(self) -> Head:
        """The end of the chain: keep it elsewhere."""
        with self._store.reading() as tx:
            return pages.head(tx)

    @property
    def header(self) -> dict[str, Any]:
        """What the book says of the dataset."""
        with self._store.reading() as tx:
            return pages.header(tx, self.dataset)

    def account(self, share: str | None = None) -> Account:
        """The budget and what was spent of it: of the whole, or of a share."""
        with self._store.reading() as tx:
            return pages.account(tx, self.dataset, share or WHOLE)

    def charge(self, mechanisms: Priced | Sequence[Priced], memo: str = "", key: str | None = None, *, share: str | None = None) -> Receipt:
        """Record the cost of these, durably, or refuse. The same key again returns the same receipt."""
        return self._charge("charge", mechanisms, memo, key, share)

    def reserve(self, mechanisms: Priced | Sequence[Priced], memo: str = "", key: str | None = None, *, share: str | None = None) -> Receipt:
        """Like `charge`, but may be released as long as `use` has not been called, that is before data is read."""
        return self._charge("reserve", mechanisms, memo, key, share)

    def use(self, receipt: Receipt) -> None:
        """Data is about to be read: from here on nothing is refunded."""
        self._settle(receipt, "use", {})

    def release(self, receipt: Receipt) -> None:
        """Give a reservation back. No data was read."""
        self._settle(receipt, "release", {"cost": [str(c) for c in read(receipt.cost)]})

    def allow(self, share: str, budget: Guarantee) -> None:
        """A named share of the budget, for an analyst or a team: never more than its own, never more than the whole."""
        if not share:
            raise Refused("ledger.share", "share=''", "a share has a name", "allow('alice', sf.Pure(0.5))")
        bound = self._same_currency(budget)
        with self._store.writing() as tx:
            if pages.has_account(tx, self.dataset, share):
                raise Refused("ledger.share", f"share={share!r}", "it exists; amend(budget=…, share=…) changes it", "another name")
            pages.append(tx, {"kind": "share", "dataset": self.dataset, "share": share, "budget": budget_record(bound), "when": _now()})

    def amend(self, budget: Guarantee, reason: str, *, share: str | None = None) -> None:
        """Another budget from here on, as an entry of its own; not below what is spent."""
        if not reason:
            raise Refused("ledger.reason", "amend(…)", "a changed budget needs a reason, for whoever reads the book", "amend(budget=…, reason='…')")
        bound = self._same_currency(budget)
        with self._store.writing() as tx:
            account = pages.account(tx, self.dataset, share or WHOLE)
            if not Account(bound, account.spent).fits:
                raise Refused("ledger.budget", f"{budget}", "more than that is spent already", f"at least {spent_as_guarantee(account)}")
            amended = {"kind": "amend", "dataset": self.dataset, "share": share, "budget": budget_record(bound), "reason": reason}
            pages.append(tx, {**amended, "when": _now()})

    def remember(self, receipt: Receipt, question: str, answer: bytes) -> None:
        """Store an answer under its question: the text of the query, the declaration and the version of the data, as the asker would repeat it."""
        with self._store.writing() as tx:
            pages.remember(tx, self.dataset, question, receipt, answer, _now())

    def recall(self, question: str, *, share: str | None = None) -> Recalled | None:
        """The bytes given for this question before, or None. Free for the dataset; booked against a share that has not seen it yet."""
        with self._store.writing() as tx:
            return pages.recall(tx, self.dataset, question, share, _now())

    def history(self) -> tuple[Charge, ...]:
        """Every entry about the dataset, oldest first."""
        with self._store.reading() as tx:
            return tuple(pages.history(tx, self.dataset))

    def spent_as(self, notion: type[Guarantee], *, delta: Number | None = None) -> Guarantee:
        """What was spent, in another notion. Bookkeeping: the promise is the budget, fixed beforehand."""
        return self.spent.to(notion, delta=delta)

    def verify(self, head: Head | str | None = None) -> Verification:
        """Read the whole book and check it against itself and against a head kept elsewhere."""
        with self._store.reading() as tx:
            return verify(tx, Head.read(head) if isinstance(head, str) else head)

    def reprice(self, reason: str) -> Guarantee:
        """Price every charge anew with the theorems known today, in the same currency; the totals can only fall. Returns what is spent then."""
        with self._store.writing() as tx:
            pages.reprice(tx, self.dataset, reason, _now())
        return self.spent

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _charge(self, kind: str, mechanisms: Priced | Sequence[Priced], memo: str, key: str | None, share: str | None) -> Receipt:
        asked = (mechanisms,) if isinstance(mechanisms, Mechanism | Guarantee) else tuple(mechanisms)
        if not asked or not all(isinstance(m, Mechanism | Guarantee) for m in asked):
            raise Refused("ledger.charge", "charge(…)", "what is charged are mechanisms, or guarantees", "charge([m], memo='why')")
        stored = [mechanism_record(m) if isinstance(m, Mechanism) else budget_record(m) for m in asked]
        content = {"kind": kind, "dataset": self.dataset, "share": share, "memo": memo, "mechanisms": stored}
        with self._store.writing() as tx:
            before = pages.by_key(tx, self.dataset, key) if key is not None else None
            if before is not None:
                return pages.repeated(before, content)
            whole = pages.account(tx, self.dataset, WHOLE)
            cost = price(Filter(whole.budget), asked)
            for name in {WHOLE, share or WHOLE}:
                self._fits(name, pages.account(tx, self.dataset, name), cost)
            return pages.charge(tx, {**content, "cost": [str(c) for c in cost], "when": _now()}, key, whole.budget)

    def _fits(self, name: str, account: Account, cost: Numbers) -> None:
        if not account.plus(cost).fits:
            left = Filter(account.budget, spent_as_guarantee(account)).remaining
            place = f"{self.dataset}{f' / {name}' if name else ''}"
            raise BudgetExceeded("budget.exceeded", place, f"it does not fit: {left} is left; nothing was read, nothing was spent", "a smaller cost")

    def _settle(self, receipt: Receipt, kind: str, more: dict[str, Any]) -> None:
        with self._store.writing() as tx:
            if receipt.dataset != self.dataset or pages.reservation(tx, receipt.number) != "open":
                raise Refused("ledger.reservation", f"entry {receipt.number}", "it is not an open reservation", "a receipt of reserve(…), settled once")
            body = {"kind": kind, "dataset": self.dataset, "share": receipt.share, "entry": receipt.number, "when": _now(), **more}
            pages.settle(tx, receipt.number, kind, body)

    def _same_currency(self, budget: Guarantee) -> Guarantee:
        """Another budget of this dataset: in its currency, with its relation and unit."""
        mine = self.budget
        if type(budget) is not type(mine):
            raise Refused("ledger.currency", f"{budget}", f"the book counts in {type(mine).__name__}", f"a {type(mine).__name__}")
        Filter(mine).price(budget)  # refuses another relation, unit or orders
        return Guarantee._bind(1 * budget, mine.relation, mine.unit)


def price(filter_: Filter, asked: Iterable[Priced]) -> Numbers:
    """What these cost together, in the currency: the best of each mechanism's promises, converted before adding."""
    total: list[Any] | None = None
    for one in asked:
        promises = one.promises if isinstance(one, Mechanism) else (one,)
        priced = [read(p) for p in map(_try(filter_), promises) if p is not None]
        if not priced:
            filter_.price(promises[0])  # refuses, with the reason
        best = min(priced, key=lambda numbers: tuple(reversed(numbers)))
        total = list(best) if total is None else [a + b for a, b in zip(total, best, strict=True)]
    return tuple(total or ())


def _try(filter_: Filter) -> Any:
    def attempt(promise: Guarantee) -> Guarantee | None:
        try:
            return filter_.price(promise)
        except Refused as refusal:
            if refusal.code in ("guarantee.relation", "guarantee.unit"):
                raise
            return None

    return attempt


def _said(budget: Guarantee | None, unit: str | None, relation: str | None, schema: dict[str, str] | None) -> dict[str, Any]:
    """What the caller says of the dataset; what he leaves out is not compared."""
    bound = relation_of(relation) or (budget.relation if budget else None)
    name = unit_of(unit) or (budget.unit if budget else None)
    said: dict[str, Any] = {"unit": name, "relation": bound, "schema": schema}
    if budget is not None:
        said["budget"] = budget_record(Guarantee._bind(1 * budget, bound, name))
        said["currency"] = type(budget).__name__
    return {key: value for key, value in said.items() if value is not None}


def _same(header: dict[str, Any], said: dict[str, Any], budgeted: bool) -> None:
    for what in ("unit", "relation", "schema", "currency", *(("budget",) if budgeted else ())):
        if what in said and said[what] != header.get(what):
            given, kept = (restore_guarantee(w) if what == "budget" else w for w in (said[what], header.get(what)))
            raise Refused(f"ledger.{what}", f"{what}={given!r:.80}", f"the book says {kept!r:.80}", "open it as it is; amend(…) changes a budget")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
