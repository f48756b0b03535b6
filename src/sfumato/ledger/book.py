"""The ledger: one book for all datasets of an owner. It charges queries to budgets that hold
for any sequence of queries.

*Charge*    Price every mechanism in the currency, check `total ≤ budget` for the dataset and for
            the analyst's share, and append the entry, all in one durable transaction. Only then
            does the ledger give a receipt. Of two charges for the last of the budget, one succeeds.
*Promise*   The guarantee is the budget of the dataset, by the filter theorem of its currency, also
            against analysts who share what they learn. A share bounds what one analyst learns only
            if nobody tells them other answers. The spent total is bookkeeping.
*Identity*  The owner names a dataset; the name is never a hash of its content. All versions of a
            growing dataset share one account, and new rows refill no budget.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..accounting.filters import Filter
from ..exact.numbers import text
from ..guarantees import Guarantee, Renyi
from ..guarantees.stored_guarantee import python_text
from ..guarantees.stored_guarantee import record as guarantee_record
from . import book_queries, stored_answers
from . import ledger_refusals as refusals
from .account_view import AccountView
from .charging import Ask, charge, find_earlier_receipt
from .clock import now
from .entries import WHOLE, Account, spent_as_guarantee
from .fast_charge import FastCharge
from .ledger_refusals import Conflict
from .open_account import (
    PART,
    check_no_part,
    check_same_header,
    collect_declared,
    find_place,
    open_dataset,
)
from .pricing import Priced, Prices, Quote
from .receipts import Head, Recalled, Receipt
from .storage.book_store import BookStore
from .storage.location import open_store
from .typed_text import check_name, check_text

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction

TURNS = 5  # attempts at a charge that the server rolls back because of concurrent writers


class Ledger(AccountView):
    """The account of a dataset in a ledger: charge it, read it, verify the book."""

    def __init__(self, store: BookStore, dataset: str, last_head: Head | None = None) -> None:
        super().__init__(store, dataset)
        self._last_head = last_head  # the last head that this process read
        self._fast_charge: FastCharge | None = None  # the state after the last charge
        self._head_lock = threading.Lock()
        self._priced_for: Guarantee | None = None  # the budget as last read
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
        """Open the account of a dataset. A dataset that is not in the book yet needs a budget, a
        unit and a relation; an existing account must agree with all that the call declares.

        `path` is a file or the URL of a PostgreSQL database. Without a path, or with ":memory:",
        the book lives in memory, and ends with the process. With `head`, a head that you kept
        elsewhere, the ledger refuses a book that does not contain it: an old copy, or a book cut
        short.
        """
        if dataset is not None:
            check_name("dataset", dataset)
        declared = collect_declared(budget, unit, relation, schema)
        expected_head = Head.read(head) if isinstance(head, str) else head
        store = open_store(find_place(path, budget, dataset), begin=budget is not None)
        try:
            with store.writing() as tx:
                book_queries.begin(tx, secrets.token_hex(8))
                _check_head(tx, expected_head)
                name = open_dataset(tx, dataset, declared, now())
                last_head = book_queries.head(tx)
                account = book_queries.account(tx, name, WHOLE)
        except BaseException:
            store.close()
            raise
        ledger = cls(store, name, last_head)
        ledger._last_account = account
        return ledger

    def hold(self, head: Head) -> None:
        """Refuse if the book does not contain `head`: it is another book, or an older copy."""
        with self._store.reading() as tx:
            _check_head(tx, head)

    def agree(
        self, *, budget: Guarantee, dataset: str, unit: str, relation: str, schema: dict[str, str]
    ) -> None:
        """Refuse if the account differs from this declaration. The schema is compared only if the
        book stores one.
        """
        if dataset != self.dataset:
            raise refusals.LEDGER_OF_OTHER_DATASET(dataset=dataset, account=self.dataset)
        header = self.header
        check_same_header(
            header,
            collect_declared(budget, unit, relation, schema if header.get("schema") else None),
        )

    def charge(
        self,
        mechanisms: Priced | Sequence[Priced],
        memo: str = "",
        key: str | None = None,
        *,
        share: str | None = None,
    ) -> Receipt:
        """Charge the cost of the mechanisms durably, or refuse. The same key again returns the
        same receipt.
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
        """Charge like `charge`, but `release` may give the charge back until `use` is called, that
        is before data is read.
        """
        return self._charge("reserve", mechanisms, memo, key, share)

    def use(self, receipt: Receipt) -> None:
        """Mark a reservation as used, before data is read. It cannot be released any more."""
        self._settle_reservation(receipt, "use")

    def release(self, receipt: Receipt) -> None:
        """Give a reservation back, if no data was read."""
        self._settle_reservation(receipt, "release")

    def allow(self, share: str, budget: Guarantee) -> None:
        """Create a share of the budget for an analyst or a team. A charge to a share must fit both
        its budget and the budget of the dataset.
        """
        check_name("share", share)
        bound = self._same_currency(budget)
        with self._writing() as tx:
            if book_queries.has_account(tx, self.dataset, share):
                raise refusals.SHARE_EXISTS(share=share)
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
        """Change a budget from now on, by an entry of its own; not below what is spent. The budget
        of a part of a table stays: the table has paid for it.
        """
        check_text("reason", reason)
        if share is not None:
            check_name("share", share)
        bound = self._same_currency(budget)
        with self._writing() as tx:
            account = book_queries.account(tx, self.dataset, share or WHOLE)
            if share is None:
                check_no_part(tx, self.dataset)
            if not Account.of(bound, account.spent).fits:
                spent = spent_as_guarantee(account)
                raise refusals.BUDGET_BELOW_SPENT(
                    budget=budget, spent=spent, least=python_text(spent)
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
        version of the data, as the analyst would repeat them.
        """
        check_text("question", question)
        if not isinstance(answer, bytes):
            raise refusals.ANSWER_NOT_BYTES()
        with self._writing() as tx:
            stored_answers.remember(tx, self.dataset, question, receipt, answer, now())

    def remember_first(self, receipt: Receipt, question: str, answer: bytes) -> bytes:
        """Store an answer unless the question has one already; return the one that is stored. Of
        two processes that answer the same question, both return the answer of the first.
        """
        check_text("question", question)
        if not isinstance(answer, bytes):
            raise refusals.ANSWER_NOT_BYTES()
        with self._writing() as tx:
            stored = stored_answers.find_answer(tx, self.dataset, question, None)
            if stored is not None:
                return stored.recalled.answer
            stored_answers.remember(tx, self.dataset, question, receipt, answer, now())
        return answer

    def open_account(self, dataset: str, *, budget: Guarantee, unit: str) -> Self:
        """Open the account of another dataset of this book; a new one gets this budget, which
        protects this unit. The relation is that of this account.
        """
        check_name("dataset", dataset)
        declared = collect_declared(budget, unit, self.header["relation"], None)
        with self._writing() as tx:
            open_dataset(tx, dataset, declared, now())
        return type(self)(self._store, dataset, self._latest_head)

    def open_part(self, name: str, *, budget: Guarantee) -> Self:
        """Open the account of a part of this dataset, for whose budget this account has paid."""
        return self.open_account(
            f"{self.dataset}{PART}{name}", budget=budget, unit=self.header["unit"]
        )

    def view_account(self, dataset: str) -> Self:
        """Return the ledger of another dataset of this book, which need not be open yet."""
        check_name("dataset", dataset)
        return type(self)(self._store, dataset, self._latest_head)

    def recall(self, question: str, *, share: str | None = None) -> Recalled | None:
        """Return the stored answer to a question, or None. It costs the dataset nothing; a share
        that has not seen the answer yet pays for it.

        The call writes nothing and waits for no writer, unless the share has to pay.
        """
        answers = self.recall_all((question,), share=share)
        return None if answers is None else answers[0]

    def recall_all(
        self, questions: Sequence[str], *, share: str | None = None
    ) -> tuple[Recalled, ...] | None:
        """Return the stored answers to all questions, or None if one is missing. A share pays for
        all answers that it has not seen, or the call refuses and it pays for none.
        """
        for question in questions:
            check_text("question", question)
        if share is not None:
            check_name("share", share)
        with self._store.reading() as tx:
            _check_head(tx, self._latest_head)
            stored = [
                stored_answers.find_answer(tx, self.dataset, question, share)
                for question in questions
            ]
        if None in stored or not any(answer.due for answer in stored if answer is not None):
            return stored_answers.all_recalled(stored)
        with self._writing() as tx:
            return stored_answers.recall(tx, self.dataset, questions, share, now())

    def reprice(self, reason: str) -> Guarantee:
        """Price every charge again with the theorems of this version, in the same currency. Totals
        can only fall. Returns the spent total afterwards.
        """
        check_text("reason", reason)
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
        check_text("memo", memo)
        if key is not None:
            check_name("key", key)
        if share is not None:
            check_name("share", share)
        ask = Ask(kind, self.dataset, share, memo, key)
        receipt, turns = None, TURNS
        # prices are found before the lock is taken, for the budget as it was last seen
        while receipt is None:
            budget = self._priced_for = self._priced_for or self.budget
            price = self._prices.quote(budget, mechanisms)
            if (receipt := self._charge_fast(ask, price, budget)) is not None:
                return receipt
            fast_charge = None
            try:
                with self._store.writing() as tx:
                    account = book_queries.account(tx, self.dataset, WHOLE)
                    alone = tx.head == self._latest_head
                    if not alone:
                        _check_head(tx, self._latest_head)
                    receipt = None if key is None else find_earlier_receipt(tx, ask, price, budget)
                    self._priced_for, after = account.budget, account
                    # else it was amended meanwhile
                    if receipt is None and (account.budget is budget or account.budget == budget):
                        receipt = charge(tx, ask, price, account, now())
                        after = account.plus(price.ratios)
                        if alone and share is None and self._store.allows_fast_charge:
                            fast_charge = FastCharge(
                                book_queries.head(tx),
                                account,
                                price,
                                book_queries.load_standing(tx).state,
                            )
            except Conflict:  # the server undid it, all of it: it may be asked again
                receipt, turns = None, turns - 1
                if not turns:
                    raise
                continue
            self._note_head(tx.head)
            self._fast_charge, self._last_account = fast_charge, after
        return receipt

    def _charge_fast(self, ask: Ask, price: Quote, budget: Guarantee) -> Receipt | None:
        """Try the fast path. Returns None if it does not apply; then it stays off until the book
        has been read again.
        """
        fast_charge, receipt = self._fast_charge, None
        if fast_charge is not None:
            if ask.share is ask.key is None and ask.kind == "charge":
                receipt = fast_charge.charge(self._store, ask, price, budget)
            if receipt is None:
                self._fast_charge = None
            else:
                self._last_account = fast_charge.account
            # given up, here or by another thread meanwhile: what was written by it stays known
            if self._fast_charge is not fast_charge:
                self._note_head(fast_charge.head)
        return receipt

    def _settle_reservation(self, receipt: Receipt, kind: str) -> None:
        with self._writing() as tx:
            paid = book_queries.read_charge(tx, self.dataset, receipt.number, receipt.digest)
            if book_queries.reservation(tx, receipt.number) != "open":
                raise refusals.RESERVATION_NOT_OPEN(number=receipt.number)
            body = {
                "kind": kind,
                "dataset": self.dataset,
                "share": paid["share"],
                "entry": receipt.number,
                "when": now(),
            }
            book_queries.append(tx, body if kind == "use" else {**body, "cost": paid["cost"]})

    @contextmanager
    def _writing(self) -> Iterator[BookTransaction]:
        """Open a durable transaction. Refuse if somebody replaced the book by an older copy since
        this process last read it.
        """
        with self._store.writing() as tx:
            _check_head(tx, self._latest_head)
            yield tx
            new_head = book_queries.head(tx)
            account = book_queries.account(tx, self.dataset, WHOLE)
        self._note_head(new_head)
        self._fast_charge, self._last_account = None, account

    @property
    def _latest_head(self) -> Head | None:
        """The latest entry that this process has read or written."""
        fast_charge, last_head = self._fast_charge, self._last_head
        return (
            last_head
            if fast_charge is None
            else fast_charge.head
            if last_head is None
            else max(last_head, fast_charge.head, key=lambda head: head.number)
        )

    def _note_head(self, head: Head | None) -> None:
        """Remember the end of the book, unless another thread has read a later one."""
        with self._head_lock:
            if head is not None and (
                self._last_head is None or self._last_head.number < head.number
            ):
                self._last_head = head

    def _same_currency(self, budget: Guarantee) -> Guarantee:
        """Bind a budget to the dataset's relation and unit; refuse another currency."""
        current = self.budget
        if type(budget) is not type(current):
            raise refusals.OTHER_CURRENCY(
                declared=budget, currency=type(current).__name__, python=python_text(current)
            )
        if (
            isinstance(budget, Renyi)
            and isinstance(current, Renyi)
            and budget.orders != current.orders
        ):
            raise refusals.OTHER_ORDERS(
                declared=budget,
                orders=", ".join(map(text, current.orders)),
                python=python_text(current),
            )
        Filter(current).price(budget)  # refuses another relation or unit
        return Guarantee._bind(1 * budget, current.relation, current.unit)


def _check_head(tx: BookTransaction, expected: Head | None) -> None:
    if expected is not None and not book_queries.contains_head(tx, expected):
        raise refusals.HEAD_NOT_IN_BOOK(number=expected.number)
