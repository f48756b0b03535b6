"""Read a dataset's account: its budget, spent total, history and statement; verify the book."""

from __future__ import annotations

from ..accounting.certified_total import Tight, certified_total
from ..accounting.filters import Filter
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..templates.summary import Summary
from . import book_queries, stored_answers
from .entries import WHOLE, Account, Header, spent_as_guarantee
from .receipts import Balance, Head, History, Recalled, Verification
from .storage.book_store import BookStore
from .typed_text import check_name
from .verify import Checked, verify


class AccountView:
    """The account of a dataset, for reading."""

    def __init__(self, store: BookStore, dataset: str) -> None:
        self._store = store
        self.dataset = dataset
        self._last_account: Account | None = None  # the dataset's own, as this process last saw it

    @property
    def budget(self) -> Guarantee:
        return self.account().budget

    @property
    def spent(self) -> Guarantee:
        """The spent total, in the currency of the budget. Bookkeeping, not a guarantee."""
        return spent_as_guarantee(self.account())

    @property
    def remaining(self) -> Guarantee:
        account = self.account()
        return Filter(account.budget, spent_as_guarantee(account)).remaining

    @property
    def last_balance(self) -> Balance | None:
        """The budget and the spent total as this process last saw them, without reading the
        book.
        """
        account = self._last_account
        return None if account is None else Balance(account.budget, spent_as_guarantee(account))

    @property
    def head(self) -> Head:
        """The end of the chain. Keep a copy elsewhere."""
        with self._store.reading() as tx:
            return book_queries.head(tx)

    @property
    def header(self) -> Header:
        """The header of the dataset: unit, relation, schema, theorem, current budget."""
        with self._store.reading() as tx:
            return book_queries.header(tx, self.dataset)

    def account(self, share: str | None = None) -> Account:
        """Return the budget and spent total of the dataset, or of a share."""
        if share is not None:
            check_name("share", share)
        with self._store.reading() as tx:
            account = book_queries.account(tx, self.dataset, share or WHOLE)
        if share is None:
            self._last_account = account
        return account

    def history(self) -> History:
        """Return all entries about the dataset, oldest first."""
        with self._store.reading() as tx:
            return History(book_queries.history(tx, self.dataset))

    def answers(self, *, share: str | None = None) -> tuple[Recalled, ...]:
        """Return all stored answers about the dataset, oldest charge first; with a share, those
        that it has seen. Costs nothing.
        """
        if share is not None:
            check_name("share", share)
        with self._store.reading() as tx:
            return stored_answers.read_answers(tx, self.dataset, share)

    def spent_as(self, notion: type[Guarantee], *, delta: Number | None = None) -> Guarantee:
        """Convert the spent total to another notion. Bookkeeping: the guarantee is the budget,
        fixed beforehand.
        """
        return self.spent.to(notion, delta=delta)

    def tight(self, delta: Number, *, fixed_beforehand: bool | None = None) -> Tight:
        """Return the certified total of the charged noise laws at a δ. It is a guarantee only if
        the laws were fixed before the first answer: for a single charge, or if the owner says so
        (`fixed_beforehand`).
        """
        with self._store.reading() as tx:
            charges = [
                entry
                for entry in book_queries.history(tx, self.dataset)
                if entry.mechanisms and book_queries.reservation(tx, entry.number) != "release"
            ]
        fixed = len(charges) <= 1 if fixed_beforehand is None else fixed_beforehand
        return certified_total(
            [record for entry in charges for record in entry.mechanisms],
            delta,
            fixed_beforehand=fixed,
        )

    def verify(
        self, head: Head | str | None = None, *, since: Checked | None = None
    ) -> Verification:
        """Check the whole book against itself and against a head kept elsewhere; with `since`, only
        what is new since that check, which is then updated.
        """
        with self._store.reading() as tx:
            return verify(tx, Head.read(head) if isinstance(head, str) else head, since)

    def to_csv(self) -> str:
        """Return the history as CSV for a spreadsheet, oldest first, below the column names."""
        from .export import to_csv

        return to_csv(self)

    def to_json(self) -> str:
        """Return budget, spent and remaining of the dataset and every share, and the history, as
        JSON with exact numbers.
        """
        from .export import to_json

        return to_json(self)

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _repr_html_(self) -> str:
        """Show the account as this process last saw it, without reading the book."""
        balance = self.last_balance
        if balance is None:
            return Summary(title=repr(self)).html
        budget = balance.budget
        return Summary(
            title=f"ledger of {self.dataset} in {self._store._name} · unit {budget.unit} · "
            f"{budget.relation}",
            heads=("", "privacy loss"),
            rows=[
                ("budget", budget.numbers_text),
                ("spent", balance.spent.numbers_text),
                ("left", balance.remaining.numbers_text),
            ],
            notes=["history() lists the entries"],
        ).html

    def __repr__(self) -> str:
        """Describe the account as this process last saw it, without reading the book."""
        from .export import bare

        place = f"<sfumato ledger of {self.dataset} in {self._store._name}"
        account = self._last_account
        if account is None:
            return f"{place}>"
        budget, spent = account.budget, spent_as_guarantee(account)
        return f"{place}: {budget.unit}, {budget.relation} · spent {bare(spent)} of {bare(budget)}>"
