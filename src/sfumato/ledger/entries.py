"""Entries and their chain: canonical text, digests, and the one function that says what an entry
does to the rest of the book.

*Chain*     An entry's digest is SHA-256 of the digest before it, of its own canonical text, and of
            what it carries; the first follows from the name of the book. Whoever changes, drops or
            reorders an entry changes every digest after it, and so the head.
*Carried*   Every entry carries what its dataset's own account comes to after it, and the digest of
            all accounts and open reservations as the tables have them. So the head vouches for
            every number that the next charge is held against, and an edited table is refused
            without reading the whole chain.
*Lag*       The row of a dataset's own account is not written by each entry: the last entry of the
            book has that total, and the row is brought up to date before an entry about another
            dataset. So a charge writes one page.
*Rule*      `apply` is used twice, by the book when it writes and by `verify` when it reads. Only a
            charge is written without it, for speed, by the same sums; `verify` compares it with the
            rule here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from ..accounting.budget_vector import Numbers, make, read
from ..accounting.filters import FILTERS
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from .exact_totals import Ratios, exact, fractions, minus, parts, plus, ratios, within, written

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
        """What is spent, as the tables have it: the totals, and the parts of the budget that they
        are.
        """
        return written(self.totals), parts(self.totals, self.limits)

    def plus(self, cost: Ratios) -> Account:
        return Account(self.budget, plus(self.totals, cost), self.limits)

    def minus(self, cost: Ratios) -> Account:
        return Account(self.budget, minus(self.totals, cost), self.limits)


class Reservation(NamedTuple):
    """A charge that may be given back: whose, how much, and whether it is open, used or
    released.
    """

    share: str
    cost: list[str]
    state: str


@dataclass(slots=True)
class Dataset:
    """What the entries about a dataset come to; the book holds the part of it that an entry
    touches, `verify` all of it.
    """

    header: dict[str, Any] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    answers: dict[str, tuple[int, str]] = field(
        default_factory=dict
    )  # question: the entry that paid, the fingerprint of the answer
    shown: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # question: the shares that have seen its answer


def canonical(body: object) -> str:
    """One text for one body, or for a part of one."""
    return _CANONICAL.encode(body)


def digest(previous: str, text: str) -> str:
    hashed = _EMPTY.copy()  # which is quicker than to begin one
    hashed.update(f"{previous}\n{text}".encode())
    return hashed.hexdigest()


def sealed(previous: str, text: str, dataset: str, spent: str, state: str) -> str:
    """The digest of an entry with what it carries. Its text is JSON in one line, and the name of
    the dataset comes last, so no two entries share one input.
    """
    return digest(previous, f"{text}\n{state} {spent} {dataset}")


def genesis(book: str) -> str:
    """What the first entry follows from."""
    return digest("sfumato ledger", book)


def numbers(values: Iterable[Fraction]) -> list[str]:
    return [str(value) for value in values]


def open_account(budget: Guarantee) -> Account:
    if (
        type(budget) not in FILTERS
    ):  # the book refuses this with a reason; here it would be a broken file
        raise ValueError("no filter")
    return Account.of(budget, tuple(Fraction(0) for _ in read(budget)))


def in_currency(budget: Guarantee, cost: Numbers) -> Guarantee:
    """Numbers in the currency of a budget, with its relation and unit."""
    return Guarantee._bind(make(budget, cost), budget.relation, budget.unit)


def spent_as_guarantee(account: Account) -> Guarantee:
    """What was spent of a budget."""
    return in_currency(account.budget, account.spent)


def apply(datasets: dict[str, Dataset], number: int, body: dict[str, Any]) -> set[str]:
    """Do what an entry does, and name the accounts that it touches. Raises KeyError or ValueError
    where the book cannot have written the entry.
    """
    name = body["dataset"]
    if body["kind"] == "open":
        if name in datasets:
            raise ValueError("opened twice")
        datasets[name] = Dataset(
            body["header"], {WHOLE: open_account(restore_guarantee(body["header"]["budget"]))}
        )
        return {WHOLE}
    dataset = datasets[name]
    accounts, share = dataset.accounts, body.get("share") or WHOLE
    touched: set[str] = set()
    match body["kind"]:
        case "share":
            if share in accounts:
                raise ValueError("shared twice")
            touched = {share}
            accounts[share] = open_account(restore_guarantee(body["budget"]))
        case "charge" | "reserve":
            touched = {WHOLE, share}
            for account in touched:
                accounts[account] = accounts[account].plus(exact(body["cost"]))
            if body["kind"] == "reserve":
                dataset.reservations[number] = Reservation(share, body["cost"], "open")
        case "use" | "release":
            reserved = dataset.reservations[body["entry"]]
            if (reserved.state, reserved.share) != ("open", share) or body.get(
                "cost", reserved.cost
            ) != reserved.cost:
                raise ValueError("not an open reservation")
            dataset.reservations[body["entry"]] = reserved._replace(state=body["kind"])
            touched = {WHOLE, share} if body["kind"] == "release" else set()
            for account in touched:
                accounts[account] = accounts[account].minus(exact(reserved.cost))
        case "answer":
            dataset.answers[body["question"]] = (body["entry"], body["answer"])
            dataset.shown[body["question"]] = (
                share,
            )  # whoever saw an older answer has not seen this one
        case "recall":
            touched = {share}
            accounts[share] = accounts[share].plus(exact(body["cost"]))
            seen = dataset.shown.get(body["question"], ())
            dataset.shown[body["question"]] = seen if share in seen else (*seen, share)
        case "amend":
            touched = {share}
            accounts[share] = Account.of(restore_guarantee(body["budget"]), accounts[share].spent)
        case "reprice":
            touched = set(body["spent"])
            for account, spent in body["spent"].items():
                lower, before = exact(spent), accounts[account]
                if not within(lower, before.totals) or any(n < 0 for n, _ in lower):
                    raise ValueError("a total that rises")
                accounts[account] = Account(before.budget, lower, before.limits)
        case "upgrade":
            pass
        case other:
            raise ValueError(other)
    return touched


def is_written(share: str, kind: str) -> bool:
    """Whether an entry that touches an account also writes its row: a dataset's own account is
    carried instead, unless its budget is new.
    """
    return share != WHOLE or kind in ("open", "amend")


class Row(NamedTuple):
    """An account as the table has it."""

    dataset: str
    share: str
    budget: str
    spent: str
    parts: int

    @classmethod
    def of(cls, dataset: str, share: str, account: Account) -> Row:
        return cls(dataset, share, budget_text(account.budget), *account.sums)


class Standing:
    """The accounts and open reservations as the tables have them, and the digest of them that
    entries carry.
    """

    __slots__ = ("_digests", "_state", "carried", "open", "rows")

    def __init__(
        self, rows: Iterable[Row] = (), open_: Iterable[int] = (), carried: Row | None = None
    ) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self.open = set(open_)
        self.carried = carried  # a dataset's own account as the last entry has it
        self._digests: dict[tuple[str, str], bytes] = {}
        self._state = ""
        for row in rows:
            self.put(row)

    @property
    def state(self) -> str:
        if not self._state:
            hashed = hashlib.sha256(b"%d\n" % len(self._digests))
            hashed.update(b"".join(self._digests.values()))
            hashed.update(",".join(map(str, sorted(self.open))).encode())
            self._state = hashed.hexdigest()
        return self._state

    def put(self, row: Row) -> None:
        place = row[:2]
        new = place not in self.rows
        self.rows[place] = row
        self._digests[place] = hashlib.sha256("\0".join(row[:4]).encode()).digest()
        if new and len(self._digests) > 1:
            self._digests = dict(sorted(self._digests.items()))
        self._state = ""

    def settle(self, entry: int, state: str) -> None:
        """What became of a reservation."""
        (self.open.add if state == "open" else self.open.discard)(entry)
        self._state = ""

    def settled(self, dataset: str) -> list[Row]:
        """The row to write before an entry about another dataset than the last one."""
        if (
            self.carried is None
            or self.carried.dataset == dataset
            or self.rows[self.carried[:2]] == self.carried
        ):
            return []
        return [self.carried]

    def account(self, dataset: str, share: str) -> Row | None:
        """What an account comes to."""
        carried = self.carried
        return (
            carried
            if share == WHOLE and carried is not None and carried.dataset == dataset
            else self.rows.get((dataset, share))
        )


class Replay:
    """What all entries of a book come to, counted in one by one."""

    def __init__(self) -> None:
        self.datasets: dict[str, Dataset] = {}
        self.standing: Standing | None = None  # from the first entry on that carries a state
        self.touched: list[Account] = []  # by the last entry
        self._rows: dict[tuple[str, str], tuple[Account, Row]] = {}

    def count(
        self, number: int, body: dict[str, Any], *, carries: bool
    ) -> tuple[str, int, str | None]:
        """Count an entry in, and say what it carries: the total of its dataset, the parts of the
        budget that this is, and the state of the tables.
        """
        name, kind = body["dataset"], body["kind"]
        if (
            carries and self.standing is None
        ):  # books of older versions were brought up to date before their first such entry
            rows = [
                self._row(dataset, share)
                for dataset, about in self.datasets.items()
                for share in about.accounts
            ]
            open_ = [
                entry
                for about in self.datasets.values()
                for entry, reserved in about.reservations.items()
                if reserved.state == "open"
            ]
            self.standing = Standing(rows, open_)
        touched = apply(self.datasets, number, body)
        accounts = self.datasets[name].accounts
        self.touched = [accounts[share] for share in touched]
        whole, standing = self._row(name, WHOLE), self.standing
        if not carries or standing is None:
            return whole.spent, whole.parts, None
        for row in standing.settled(name):
            standing.put(row)
        for share in touched:
            if is_written(share, kind):
                standing.put(self._row(name, share))
        if kind in ("reserve", "use", "release"):
            standing.settle(*((number, "open") if kind == "reserve" else (body["entry"], kind)))
        standing.carried = whole
        return whole.spent, whole.parts, standing.state

    def _row(self, dataset: str, share: str) -> Row:
        """An account as the table has it: written once for each account, and its budget once for
        each budget.
        """
        account = self.datasets[dataset].accounts[share]
        before, row = self._rows.get((dataset, share), (None, None))
        if row is None or before is None or before.budget is not account.budget:
            row = Row.of(dataset, share, account)
        elif before is not account:
            row = Row(dataset, share, row.budget, *account.sums)
        self._rows[dataset, share] = account, row
        return row


@lru_cache(maxsize=64)
def budget_text(budget: Guarantee) -> str:
    """As the table of accounts has it."""
    return canonical(guarantee_record(budget))
