"""Ledger entries and their hash chain: canonical text, digests, and `apply`, which says what an
entry does to the accounts.

*Chain*     The digest of an entry is SHA-256 of the digest before it, its canonical text, and what
            it carries. The first entry follows from the id of the book. Changing, dropping or
            reordering an entry changes every later digest, and so the head.
*Carried*   Every entry carries the total of its dataset after it, and the digest of all accounts
            and open reservations as the tables store them. So the head vouches for every number
            that the next charge is compared with, and the ledger detects an edited table without
            reading the whole chain.
*Lag*       An entry does not write the account row of its dataset: the last entry has that total.
            The ledger updates the row before it writes an entry about another dataset. So a charge
            writes one page.
*Rule*      Both the ledger, when it writes, and `verify`, when it reads, use `apply`. Only a charge
            is written without `apply`, for speed, with the same sums; `verify` compares it with
            this rule.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, NotRequired, TypedDict

from ..guarantees import Guarantee
from ..guarantees.guarantee import Numbers, Relation
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from .exact_totals import (
    Ratios,
    fractions,
    minus,
    parse_ratios,
    parts,
    plus,
    ratios,
    within,
    write_totals,
)

WHOLE = ""  # the name of a dataset's own account among its shares
EntryBody = dict[str, Any]  # an entry as JSON; its kind says which keys it has
quoted = json.encoder.encode_basestring  # as the encoder below writes a string
_EMPTY = hashlib.sha256()
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Header(TypedDict):
    """The header of a dataset, from its opening entry."""

    unit: str
    relation: Relation
    currency: str
    budget: dict[str, object]  # the record of a guarantee
    theorem: str
    schema: NotRequired[dict[str, str]]


@dataclass(slots=True)
class Account:
    """A budget and what has been spent of it, exactly; `limits` are the numbers of the budget."""

    budget: Guarantee
    totals: Ratios
    limits: Ratios

    @classmethod
    def of(cls, budget: Guarantee, spent: Numbers) -> Account:
        return cls(budget, ratios(spent), ratios(budget.vector))

    @property
    def spent(self) -> Numbers:
        return fractions(self.totals)

    @property
    def fits(self) -> bool:
        return within(self.totals, self.limits)

    @property
    def sums(self) -> tuple[str, int]:
        """The spent totals as the tables store them, and the part of the budget they use."""
        return write_totals(self.totals), parts(self.totals, self.limits)

    def plus(self, cost: Ratios) -> Account:
        return Account(self.budget, plus(self.totals, cost), self.limits)

    def minus(self, cost: Ratios) -> Account:
        return Account(self.budget, minus(self.totals, cost), self.limits)


class Reservation(NamedTuple):
    """A charge that may be released: its share, its cost, its state (open, use or release)."""

    share: str
    cost: list[str]
    state: str


@dataclass(slots=True)
class DatasetState:
    """The state of a dataset after its entries. The ledger loads the part that an entry touches,
    `verify` all of it.
    """

    header: Header | None = None
    accounts: dict[str, Account] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    # by question digest: the entry that paid, the fingerprint of the answer
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    # by question digest: the shares that have seen its answer
    shown: dict[str, tuple[str, ...]] = field(default_factory=dict)


def canonical(body: object) -> str:
    """Return the canonical JSON text of an entry body, or of a part of one."""
    return _CANONICAL.encode(body)


def digest(previous: str, text: str) -> str:
    hashed = _EMPTY.copy()  # faster than a new one
    hashed.update(f"{previous}\n{text}".encode())
    return hashed.hexdigest()


def seal_entry(previous: str, text: str, dataset: str, spent: str, state: str) -> str:
    """Return the digest of an entry and what it carries. The text is JSON in one line, and the name
    of the dataset comes last, so no two entries share one input.
    """
    return digest(previous, f"{text}\n{state} {spent} {dataset}")


def genesis(book: str) -> str:
    """Return the digest that the first entry follows."""
    return digest("sfumato ledger", book)


def numbers(values: Iterable[Fraction]) -> list[str]:
    return [str(value) for value in values]


def new_account(budget: Guarantee) -> Account:
    if budget.theorem is None:  # the book refuses this with a reason; here it is a broken file
        raise ValueError("no filter")
    return Account.of(budget, tuple(Fraction(0) for _ in budget.vector))


def in_currency(budget: Guarantee, cost: Numbers) -> Guarantee:
    """Return the numbers as a guarantee in the currency, relation and unit of a budget."""
    return Guarantee._bind(budget.from_vector(cost), budget.relation, budget.unit)


def spent_as_guarantee(account: Account) -> Guarantee:
    """Return the spent total of an account as a guarantee."""
    return in_currency(account.budget, account.spent)


def apply(datasets: dict[str, DatasetState], number: int, body: EntryBody) -> set[str]:
    """Apply an entry to the datasets and return the names of the accounts it touches. Raises
    KeyError or ValueError if the ledger cannot have written the entry.
    """
    name = body["dataset"]
    if body["kind"] == "open":
        if name in datasets:
            raise ValueError("opened twice")
        datasets[name] = DatasetState(
            body["header"], {WHOLE: new_account(restore_guarantee(body["header"]["budget"]))}
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
            accounts[share] = new_account(restore_guarantee(body["budget"]))
        case "charge" | "reserve":
            touched = {WHOLE, share}
            for account in touched:
                accounts[account] = accounts[account].plus(parse_ratios(body["cost"]))
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
                accounts[account] = accounts[account].minus(parse_ratios(reserved.cost))
        case "answer":
            dataset.answers[body["question"]] = (body["entry"], body["answer"])
            # shares that saw an older answer have not seen this one
            dataset.shown[body["question"]] = (share,)
        case "recall":
            touched = {share}
            accounts[share] = accounts[share].plus(parse_ratios(body["cost"]))
            shares_shown = dataset.shown.get(body["question"], ())
            dataset.shown[body["question"]] = (
                shares_shown if share in shares_shown else (*shares_shown, share)
            )
        case "amend":
            touched = {share}
            accounts[share] = Account.of(restore_guarantee(body["budget"]), accounts[share].spent)
        case "reprice":
            touched = set(body["spent"])
            for account, spent in body["spent"].items():
                lower, before = parse_ratios(spent), accounts[account]
                if not within(lower, before.totals) or any(n < 0 for n, _ in lower):
                    raise ValueError("a total that rises")
                accounts[account] = Account(before.budget, lower, before.limits)
        case "upgrade":
            pass
        case other:
            raise ValueError(other)
    return touched


def is_written(share: str, kind: str) -> bool:
    """Whether an entry writes the row of an account it touches. Entries carry the dataset's own
    account instead, unless its budget is new.
    """
    return share != WHOLE or kind in ("open", "amend")


class AccountRow(NamedTuple):
    """A row of the table `balance`."""

    dataset: str
    share: str
    budget: str
    spent: str
    parts: int

    @classmethod
    def of(cls, dataset: str, share: str, account: Account) -> AccountRow:
        return cls(dataset, share, budget_text(account.budget), *account.sums)


class Standing:
    """The accounts and open reservations as the tables store them, and their digest, which entries
    carry.
    """

    __slots__ = ("_digests", "_state", "carried", "open", "rows")

    def __init__(
        self,
        rows: Iterable[AccountRow] = (),
        open_: Iterable[int] = (),
        carried: AccountRow | None = None,
    ) -> None:
        self.rows: dict[tuple[str, str], AccountRow] = {}
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

    def put(self, row: AccountRow) -> None:
        place = row[:2]
        new = place not in self.rows
        self.rows[place] = row
        self._digests[place] = hashlib.sha256("\0".join(row[:4]).encode()).digest()
        if new and len(self._digests) > 1:
            self._digests = dict(sorted(self._digests.items()))
        self._state = ""

    def settle(self, entry: int, state: str) -> None:
        """Record the new state of a reservation."""
        (self.open.add if state == "open" else self.open.discard)(entry)
        self._state = ""

    def pending_rows(self, dataset: str) -> list[AccountRow]:
        """Return the row to write before an entry about another dataset than the last one."""
        if (
            self.carried is None
            or self.carried.dataset == dataset
            or self.rows[self.carried[:2]] == self.carried
        ):
            return []
        return [self.carried]

    def account(self, dataset: str, share: str) -> AccountRow | None:
        """Return the current row of an account."""
        carried = self.carried
        return (
            carried
            if share == WHOLE and carried is not None and carried.dataset == dataset
            else self.rows.get((dataset, share))
        )


class Replay:
    """The state of a book, built entry by entry."""

    def __init__(self) -> None:
        self.datasets: dict[str, DatasetState] = {}
        self.standing: Standing | None = None  # from the first entry on that carries a state
        self.touched: list[Account] = []  # by the last entry
        self._rows: dict[tuple[str, str], tuple[Account, AccountRow]] = {}

    def count(self, number: int, body: EntryBody, *, carries: bool) -> tuple[str, int, str | None]:
        """Apply an entry and return what it must carry: the total of its dataset, the part of the
        budget this uses, and the state digest of the tables.
        """
        name, kind = body["dataset"], body["kind"]
        # books of older versions were brought up to date before their first such entry
        if carries and self.standing is None:
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
        total_row, standing = self._row(name, WHOLE), self.standing
        if not carries or standing is None:
            return total_row.spent, total_row.parts, None
        for row in standing.pending_rows(name):
            standing.put(row)
        for share in touched:
            if is_written(share, kind):
                standing.put(self._row(name, share))
        if kind in ("reserve", "use", "release"):
            standing.settle(*((number, "open") if kind == "reserve" else (body["entry"], kind)))
        standing.carried = total_row
        return total_row.spent, total_row.parts, standing.state

    def _row(self, dataset: str, share: str) -> AccountRow:
        """Return the table row of an account, from a cache."""
        account = self.datasets[dataset].accounts[share]
        before, row = self._rows.get((dataset, share), (None, None))
        if row is None or before is None or before.budget is not account.budget:
            row = AccountRow.of(dataset, share, account)
        elif before is not account:
            row = AccountRow(dataset, share, row.budget, *account.sums)
        self._rows[dataset, share] = account, row
        return row


@lru_cache(maxsize=64)
def budget_text(budget: Guarantee) -> str:
    """Return a budget as the table `balance` stores it."""
    return canonical(guarantee_record(budget))
