"""What a book says of a dataset: its budget, what was spent, every entry, and whether the book is
whole.
"""

from __future__ import annotations

from typing import Any

from ..accounting.certified_total import Tight, certified_total
from ..accounting.filters import Filter
from ..exact.numbers import Number
from ..guarantees import Guarantee
from . import book_queries
from .entries import WHOLE, Account, spent_as_guarantee
from .receipts import Charge, Head, Verification
from .storage.sqlite_store import Store
from .typed_text import named
from .verify import Checked, verify


class Readings:
    """A dataset's account, to be looked at."""

    def __init__(self, store: Store, dataset: str) -> None:
        self._store = store
        self.dataset = dataset

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
            return book_queries.head(tx)

    @property
    def header(self) -> dict[str, Any]:
        """What the book says of the dataset."""
        with self._store.reading() as tx:
            return book_queries.header(tx, self.dataset)

    def account(self, share: str | None = None) -> Account:
        """The budget and what was spent of it: of the whole, or of a share."""
        if share is not None:
            named("share", share)
        with self._store.reading() as tx:
            return book_queries.account(tx, self.dataset, share or WHOLE)

    def history(self) -> tuple[Charge, ...]:
        """Every entry about the dataset, oldest first."""
        with self._store.reading() as tx:
            return tuple(book_queries.history(tx, self.dataset))

    def spent_as(self, notion: type[Guarantee], *, delta: Number | None = None) -> Guarantee:
        """What was spent, in another notion. Bookkeeping: the promise is the budget, fixed
        beforehand.
        """
        return self.spent.to(notion, delta=delta)

    def tight(self, delta: Number, *, fixed_beforehand: bool | None = None) -> Tight:
        """The certified total of the laws that were charged, at a δ. It is a promise only where
        they were fixed before the first answer: so it is for a single charge, and where the owner
        says so.
        """
        with self._store.reading() as tx:
            charges = [
                one
                for one in book_queries.history(tx, self.dataset)
                if one.mechanisms and book_queries.reservation(tx, one.number) != "release"
            ]
        fixed = len(charges) <= 1 if fixed_beforehand is None else fixed_beforehand
        return certified_total(
            [record for one in charges for record in one.mechanisms], delta, fixed_beforehand=fixed
        )

    def verify(
        self, head: Head | str | None = None, *, since: Checked | None = None
    ) -> Verification:
        """Read the whole book and check it against itself and against a head kept elsewhere; or
        what is new since a check, which then goes on to here.
        """
        with self._store.reading() as tx:
            return verify(tx, Head.read(head) if isinstance(head, str) else head, since)

    def to_csv(self) -> str:
        """Every entry as a line for a spreadsheet, oldest first, below a line of names."""
        from .export import to_csv

        return to_csv(self)

    def to_json(self) -> str:
        """What is promised, spent and left, of the whole and of every share, and every entry: for a
        program, every number exact.
        """
        from .export import to_json

        return to_json(self)

    def close(self) -> None:
        """Close the file."""
        self._store.close()
