"""Entries and their chain: canonical text, digests, and the one function that says what an entry does to the rest of the book.

An entry's digest is SHA-256 of the digest before it and of its own canonical text; the first follows from the name of the book. Whoever changes, drops or
reorders an entry changes every digest after it, and so the head. `apply` is used twice, by the book when it writes and by `verify` when it reads. Only a charge
is written without it, for speed, by the same sums; `verify` holds it against the rule here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ..accounting.coordinates import Numbers, make, read
from ..accounting.filters import FILTERS
from ..guarantees import Guarantee
from ..guarantees.stored import restore as restore_guarantee
from .totals import Ratios, exact, fractions, minus, parts, plus, ratios, within, written

WHOLE = ""  # the name of a dataset's own account among its shares
quoted = json.encoder.encode_basestring  # as the encoder below writes a string
_EMPTY = hashlib.sha256()
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@dataclass(slots=True)
class Account:
    """A budget and what has been spent of it, exactly; `limits` are the numbers of the budget."""

    budget: Guarantee
    totals: Ratios
    limits: Ratios

    @classmethod
    def of(cls, budget: Guarantee, spent: Numbers) -> Account:
        return cls(budget, ratios(spent), ratios(read(budget)))

    @property
    def spent(self) -> Numbers:
        return fractions(self.totals)

    @property
    def fits(self) -> bool:
        return within(self.totals, self.limits)

    @property
    def sums(self) -> tuple[str, int]:
        """What is spent, as the tables have it: the totals, and the parts of the budget that they are."""
        return written(self.totals), parts(self.totals, self.limits)

    def plus(self, cost: Ratios) -> Account:
        return Account(self.budget, plus(self.totals, cost), self.limits)

    def minus(self, cost: Ratios) -> Account:
        return Account(self.budget, minus(self.totals, cost), self.limits)


class Reservation(NamedTuple):
    """A charge that may be given back: whose, how much, and whether it is open, used or released."""

    share: str
    cost: list[str]
    state: str


@dataclass(slots=True)
class Dataset:
    """What the entries about a dataset come to; the book holds the part of it that an entry touches, `verify` all of it."""

    header: dict[str, Any] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)  # question: the entry that paid, the fingerprint of the answer
    shown: set[tuple[str, str]] = field(default_factory=set)  # question and share


def canonical(body: object) -> str:
    """One text for one body, or for a part of one."""
    return _CANONICAL.encode(body)


def digest(previous: str, text: str) -> str:
    hashed = _EMPTY.copy()  # which is quicker than to begin one
    hashed.update(f"{previous}\n{text}".encode())
    return hashed.hexdigest()


def genesis(book: str) -> str:
    """What the first entry follows from."""
    return digest("sfumato ledger", book)


def numbers(values: Iterable[Fraction]) -> list[str]:
    return [str(value) for value in values]


def open_account(budget: Guarantee) -> Account:
    if type(budget) not in FILTERS:  # the book refuses this with a reason; here it would be a broken file
        raise ValueError("no filter")
    return Account.of(budget, tuple(Fraction(0) for _ in read(budget)))


def in_currency(budget: Guarantee, cost: Numbers) -> Guarantee:
    """Numbers in the currency of a budget, with its relation and unit."""
    return Guarantee._bind(make(budget, cost), budget.relation, budget.unit)


def spent_as_guarantee(account: Account) -> Guarantee:
    """What was spent of a budget."""
    return in_currency(account.budget, account.spent)


def apply(datasets: dict[str, Dataset], number: int, body: dict[str, Any]) -> None:
    """What an entry does; raises KeyError or ValueError where it cannot have been written by the book."""
    name = body["dataset"]
    if body["kind"] == "open":
        if name in datasets:
            raise ValueError("opened twice")
        datasets[name] = Dataset(body["header"], {WHOLE: open_account(restore_guarantee(body["header"]["budget"]))})
        return
    dataset = datasets[name]
    accounts, share = dataset.accounts, body.get("share") or WHOLE
    match body["kind"]:
        case "share":
            if share in accounts:
                raise ValueError("shared twice")
            accounts[share] = open_account(restore_guarantee(body["budget"]))
        case "charge" | "reserve":
            for account in {WHOLE, share}:
                accounts[account] = accounts[account].plus(exact(body["cost"]))
            if body["kind"] == "reserve":
                dataset.reservations[number] = Reservation(share, body["cost"], "open")
        case "use" | "release":
            reserved = dataset.reservations[body["entry"]]
            if (reserved.state, reserved.share) != ("open", share) or body.get("cost", reserved.cost) != reserved.cost:
                raise ValueError("not an open reservation")
            dataset.reservations[body["entry"]] = reserved._replace(state=body["kind"])
            for account in {WHOLE, share} if body["kind"] == "release" else ():
                accounts[account] = accounts[account].minus(exact(reserved.cost))
        case "answer":
            dataset.answers[body["question"]] = (body["entry"], body["answer"])
            dataset.shown -= {seen for seen in dataset.shown if seen[0] == body["question"]}  # whoever saw an older answer has not seen this one
            dataset.shown.add((body["question"], share))
        case "recall":
            accounts[share] = accounts[share].plus(exact(body["cost"]))
            dataset.shown.add((body["question"], share))
        case "amend":
            accounts[share] = Account.of(restore_guarantee(body["budget"]), accounts[share].spent)
        case "reprice":
            for account, spent in body["spent"].items():
                lower, before = exact(spent), accounts[account]
                if not within(lower, before.totals) or any(n < 0 for n, _ in lower):
                    raise ValueError("a total that rises")
                accounts[account] = Account(before.budget, lower, before.limits)
        case other:
            raise ValueError(other)


class Replay:
    """What all entries of a book come to, counted in one by one."""

    def __init__(self) -> None:
        self.datasets: dict[str, Dataset] = {}
        self._waiting: tuple[str, Account] | None = None  # the dataset whose last charges carry their total, and its own account before these

    def count(self, number: int, body: dict[str, Any]) -> tuple[str, int] | tuple[None, None]:
        """Count an entry in, and say which total it carries: that of a charge or a reservation to the dataset's own account alone."""
        name = body["dataset"]
        before = self.datasets[name].accounts[WHOLE] if name in self.datasets else None
        apply(self.datasets, number, body)
        if body["kind"] not in ("charge", "reserve") or body["share"] is not None or before is None:
            self._waiting = None
            return None, None
        if self._waiting is None or self._waiting[0] != name:
            self._waiting = name, before
        return self.datasets[name].accounts[WHOLE].sums

    def balances(self) -> dict[tuple[str, str], Account]:
        """The accounts as their table has them: without what the last charges carry."""
        found = {(name, share): account for name, dataset in self.datasets.items() for share, account in dataset.accounts.items()}
        if self._waiting is not None:
            name, before = self._waiting
            found[name, WHOLE] = before
        return found
