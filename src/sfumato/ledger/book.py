"""The ledger: one book for the datasets of an owner, with budgets that hold whatever was asked
before.

*Charge*    Price every mechanism in the currency, check `total ≤ budget` for the dataset and for
            the asker's share, append the entry, all in one durable transaction; only then is there
            a receipt. Two asks for the last of the budget: one is granted.
*Promise*   What is promised is the budget of the whole, by the filter theorem of its currency,
            against people who share what they learn. A share is a promise about someone who talks
            to nobody. What was spent is bookkeeping.
*Identity*  A name that the owner gives, never a hash of content: all versions of a growing dataset
            share one book, and new rows refill nothing.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee, Renyi
from ..guarantees.stored_guarantee import record as guarantee_record
from . import book_queries, stored_answers
from .account_view import Readings
from .charging import Ask, charge, given_before
from .clock import now
from .entries import WHOLE, Account, spent_as_guarantee
from .fast_charge import Following
from .open_account import opened, place_of, said_of, same
from .pricing import Priced, Prices, Quote
from .receipts import Head, Recalled, Receipt
from .storage.location import store_at
from .storage.sqlite_store import Conflict, Store
from .typed_text import named, told

TURNS = 5  # how often a charge is tried that a server undoes because of others


class Ledger(Readings):
    """A dataset's account in a book."""

    def __init__(self, store: Store, dataset: str, seen: Head | None = None) -> None:
        super().__init__(store, dataset)
        self._seen = seen  # the book as this process last knew it, or
        self._following: Following | None = None  # as the last of several charges in a row left it
        self._knowing = threading.Lock()
        self._priced_for: Guarantee | None = None  # the budget as it was last seen
        self._prices = Prices()

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
        head: Head | str | None = None,
    ) -> Self:
        """A dataset's account: a new one where it is not in the book yet, which needs a budget, a
        unit and a relation; else the existing one, if what is said of it is the same.

        The path is that of a file, or the URL of a PostgreSQL database. Without one the book lives
        in memory, and ends with the process. With a head that was kept elsewhere, a book that does
        not contain it (an old copy, a book cut short) is refused.
        """
        if dataset is not None:
            named("dataset", dataset)
        said = said_of(budget, unit, relation, schema)
        known = Head.read(head) if isinstance(head, str) else head
        store = store_at(place_of(path, budget, dataset), begin=budget is not None)
        try:
            with store.writing() as tx:
                book_queries.begin(tx, secrets.token_hex(8))
                _holds(tx, known)
                name = opened(tx, dataset, said, now())
                seen = book_queries.head(tx)
        except BaseException:
            store.close()
            raise
        return cls(store, name, seen)

    def hold(self, head: Head) -> None:
        """Refuse to be another book than the one whose head was kept, or an older copy of it."""
        with self._store.reading() as tx:
            _holds(tx, head)

    def agree(
        self, *, budget: Guarantee, dataset: str, unit: str, relation: str, schema: dict[str, str]
    ) -> None:
        """Refuse to be the book of something else than this; of a schema, where the book knows
        one.
        """
        if dataset != self.dataset:
            raise Refused(
                "ledger.dataset",
                f"dataset={dataset!r:.60}",
                "the account is another dataset's",
                f"Ledger.open(…, dataset={dataset!r:.60})",
            )
        header = self.header
        same(header, said_of(budget, unit, relation, schema if header.get("schema") else None))

    def charge(
        self,
        mechanisms: Priced | Sequence[Priced],
        memo: str = "",
        key: str | None = None,
        *,
        share: str | None = None,
    ) -> Receipt:
        """Record the cost of these, durably, or refuse. The same key again returns the same
        receipt.
        """
        return self._charge("charge", mechanisms, memo, key, share)

    def reserve(
        self,
        mechanisms: Priced | Sequence[Priced],
        memo: str = "",
        key: str | None = None,
        *,
        share: str | None = None,
    ) -> Receipt:
        """Like `charge`, but may be released as long as `use` has not been called, that is before
        data is read.
        """
        return self._charge("reserve", mechanisms, memo, key, share)

    def use(self, receipt: Receipt) -> None:
        """Data is about to be read: from here on nothing is refunded."""
        self._settle(receipt, "use")

    def release(self, receipt: Receipt) -> None:
        """Give a reservation back. No data was read."""
        self._settle(receipt, "release")

    def allow(self, share: str, budget: Guarantee) -> None:
        """A named share of the budget, for an analyst or a team: never more than its own, never
        more than the whole.
        """
        named("share", share)
        bound = self._same_currency(budget)
        with self._writing() as tx:
            if book_queries.has_account(tx, self.dataset, share):
                raise Refused(
                    "ledger.share",
                    f"share={share!r}",
                    "it exists; amend(budget=…, share=…) changes it",
                    "another name",
                )
            book_queries.append(
                tx,
                {
                    "kind": "share",
                    "dataset": self.dataset,
                    "share": share,
                    "budget": guarantee_record(bound),
                    "when": now(),
                },
            )

    def amend(self, budget: Guarantee, reason: str, *, share: str | None = None) -> None:
        """Another budget from here on, as an entry of its own; not below what is spent."""
        told("reason", reason)
        if share is not None:
            named("share", share)
        bound = self._same_currency(budget)
        with self._writing() as tx:
            account = book_queries.account(tx, self.dataset, share or WHOLE)
            if not Account.of(bound, account.spent).fits:
                raise Refused(
                    "ledger.budget",
                    f"{budget}",
                    "more than that is spent already",
                    f"at least {spent_as_guarantee(account)}",
                )
            amended = {
                "kind": "amend",
                "dataset": self.dataset,
                "share": share,
                "budget": guarantee_record(bound),
                "reason": reason,
            }
            book_queries.append(tx, {**amended, "when": now()})

    def remember(self, receipt: Receipt, question: str, answer: bytes) -> None:
        """Store an answer under its question: the text of the query, the declaration and the
        version of the data, as the asker would repeat it.
        """
        told("question", question)
        if not isinstance(answer, bytes):
            raise Refused(
                "ledger.text", "answer=…", "an answer is stored as bytes", "answer.encode()"
            )
        with self._writing() as tx:
            stored_answers.remember(tx, self.dataset, question, receipt, answer, now())

    def recall(self, question: str, *, share: str | None = None) -> Recalled | None:
        """The bytes given for this question before, or None. Free for the dataset; booked against a
        share that has not seen it yet.

        Nothing is written, and no writer waited for, unless there is something to book.
        """
        found = self.recall_all((question,), share=share)
        return None if found is None else found[0]

    def recall_all(
        self, questions: Sequence[str], *, share: str | None = None
    ) -> tuple[Recalled, ...] | None:
        """The bytes given for all of these before, or None where one of them is missing. A share
        pays for all that it has not seen, or for none of it.
        """
        for question in questions:
            told("question", question)
        if share is not None:
            named("share", share)
        with self._store.reading() as tx:
            _holds(tx, self._known)
            several = [
                stored_answers.found(tx, self.dataset, question, share) for question in questions
            ]
        if None in several or not any(one.due for one in several if one is not None):
            return stored_answers.all_of(several)
        with self._writing() as tx:
            return stored_answers.recall(tx, self.dataset, questions, share, now())

    def reprice(self, reason: str) -> Guarantee:
        """Price every charge anew with the theorems known today, in the same currency; the totals
        can only fall. Returns what is spent then.
        """
        told("reason", reason)
        with self._writing() as tx:
            stored_answers.reprice(tx, self.dataset, reason, now())
        return self.spent

    def _charge(
        self,
        kind: str,
        mechanisms: Priced | Sequence[Priced],
        memo: str,
        key: str | None,
        share: str | None,
    ) -> Receipt:
        told("memo", memo)
        if key is not None:
            named("key", key)
        if share is not None:
            named("share", share)
        ask = Ask(kind, self.dataset, share, memo, key)
        receipt, turns = None, TURNS
        while (
            receipt is None
        ):  # prices are found before the lock is taken, for the budget as it was last seen
            budget = self._priced_for = self._priced_for or self.budget
            price = self._prices.quote(budget, mechanisms)
            if (
                self._following is not None
                and (receipt := self._followed(ask, price, budget)) is not None
            ):
                return receipt
            following = None
            try:
                with self._store.writing() as tx:
                    whole = book_queries.account(tx, self.dataset, WHOLE)
                    alone = tx.head == self._known
                    if not alone:
                        _holds(tx, self._known)
                    receipt = None if key is None else given_before(tx, ask, price, budget)
                    self._priced_for = whole.budget
                    if receipt is None and (
                        whole.budget is budget or whole.budget == budget
                    ):  # else it was amended meanwhile
                        receipt = charge(tx, ask, price, whole, now())
                        if alone and share is None and self._store.follows:
                            following = Following(
                                book_queries.head(tx), whole, price, book_queries.stand(tx).state
                            )
            except Conflict:  # the server undid it, all of it: it may be asked again
                receipt, turns = None, turns - 1
                if not turns:
                    raise
                continue
            self._learn(tx.head)
            self._following = following
        return receipt

    def _followed(self, ask: Ask, price: Quote, budget: Guarantee) -> Receipt | None:
        """A charge in the short way; None where that way is closed, now and until the book has been
        looked at.
        """
        following, receipt = self._following, None
        if following is not None:
            if ask.share is ask.key is None and ask.kind == "charge":
                receipt = following.charge(self._store, ask, price, budget)
            if receipt is None:
                self._following = None
            if (
                self._following is not following
            ):  # given up, here or by another thread meanwhile: what was written by it stays known
                self._learn(following.head)
        return receipt

    def _settle(self, receipt: Receipt, kind: str) -> None:
        with self._writing() as tx:
            paid = book_queries.paid(tx, self.dataset, receipt.number, receipt.digest)
            if book_queries.reservation(tx, receipt.number) != "open":
                raise Refused(
                    "ledger.reservation",
                    f"entry {receipt.number}",
                    "it is not an open reservation",
                    "a receipt of reserve(…), settled once",
                )
            body = {
                "kind": kind,
                "dataset": self.dataset,
                "share": paid["share"],
                "entry": receipt.number,
                "when": now(),
            }
            book_queries.append(tx, body if kind == "use" else {**body, "cost": paid["cost"]})

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """A durable transaction on the book as this process knows it: an older copy put in its
        place meanwhile is refused.
        """
        with self._store.writing() as tx:
            _holds(tx, self._known)
            yield tx
            seen = book_queries.head(tx)
        self._learn(seen)
        self._following = None

    @property
    def _known(self) -> Head | None:
        """The latest entry that this process has seen."""
        following, seen = self._following, self._seen
        return (
            seen
            if following is None
            else following.head
            if seen is None
            else max(seen, following.head, key=lambda head: head.number)
        )

    def _learn(self, head: Head | None) -> None:
        """The end of the book as a thread has just seen it, which may be before what another has
        seen.
        """
        with self._knowing:
            if head is not None and (self._seen is None or self._seen.number < head.number):
                self._seen = head

    def _same_currency(self, budget: Guarantee) -> Guarantee:
        """Another budget of this dataset: in its currency, with its relation and unit."""
        mine = self.budget
        if type(budget) is not type(mine) or (
            isinstance(budget, Renyi) and isinstance(mine, Renyi) and budget.orders != mine.orders
        ):
            raise Refused(
                "ledger.currency",
                f"{budget}",
                f"the book counts in {type(mine).__name__}, at the orders it began with",
                "the same currency",
            )
        Filter(mine).price(budget)  # refuses another relation or unit
        return Guarantee._bind(1 * budget, mine.relation, mine.unit)


def _holds(tx: Any, known: Head | None) -> None:
    if known is not None and not book_queries.holds(tx, known):
        reason = (
            "the book does not contain the head that was kept: it was cut, rewritten, or is "
            "another or an older copy; nothing was accepted"
        )
        raise Refused(
            "ledger.head",
            f"entry {known.number}",
            reason,
            "the right file; verify(head=…) says more",
        )
