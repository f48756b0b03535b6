"""A dataset behind the wall, as one process has it: the protected table, and the accounts of those
who may ask.

*Shares*    Every analyst has a share of the budget under the own name: as the configuration says,
            else as large as the whole. So the ledger itself says who asked what, and whoever is
            shown another's stored answer has it on the account.
*Lowered*   A share that the configuration lowers below what it has spent is lowered to that: it has
            nothing left, and the service starts. *Two books* One connection for what is asked at
            every request, one for what may take long, so that nobody waits for an auditor.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from ..accounting.budget_vector import make, read
from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..ledger.exact_totals import Ratios
from ..ledger.receipts import Head
from ..ledger.stored_answers import Found, found, owed
from ..ledger.timeline import Points
from ..ledger.verify import Checked
from ..session import protect
from ..session.learning import name_of
from ..session.protected_database import Database
from ..session.protected_table import Table
from ..tables.declare.declaration import Declaration
from .config import Dataset

MOST_MOMENTS = 1000
REASON = "as the configuration of the service says"
SPENT = "as the configuration of the service says, but not below what is spent: nothing is left"


@dataclass(eq=False, slots=True)
class Served:
    """An open dataset."""

    config: Dataset
    table: Table | Database
    long: Ledger
    shares: set[str] = field(default_factory=set)
    checking: threading.Lock = field(default_factory=threading.Lock)
    checked: Checked = field(
        default_factory=Checked
    )  # how far this process has read the book and found it whole
    checked_fully: float = 0.0  # when it last began at the first entry
    _paid: set[tuple[Any, ...]] = field(default_factory=set)
    _points: Points | None = None
    _blank: Table | Database | None = None
    _opening: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def ledger(self) -> Ledger:
        return self.table.ledger

    @property
    def points(self) -> Points:
        """The course of the budget, as far as this process has read it."""
        if self._points is None:
            self._points = Points(self.long.dataset, MOST_MOMENTS)
        return self._points

    @property
    def tables(self) -> tuple[Table, ...]:
        return (
            tuple(self.table.tables.values()) if isinstance(self.table, Database) else (self.table,)
        )

    @property
    def given(self) -> tuple[Declaration, ...]:
        """What the owner declared; nothing that was learned."""
        return tuple(table.given for table in self.tables)

    @property
    def table_rows(self) -> int:
        return max(declared.table_rows for declared in self.given)

    @property
    def lessons(self) -> tuple[Any, ...]:
        """What was learned, as far as this process knows."""
        return tuple(one for table in self.tables for one in table.lessons.values())

    def owed(self, who: str) -> list[Ratios]:
        """What somebody has yet to pay for what was learned of the dataset: until then it is not
        shown to them.
        """
        known = self.lessons
        if not known or (who, known) in self._paid:
            return []
        names = [
            name_of(one.lack, table.given)
            for table in self.tables
            for one in table.lessons.values()
        ]
        costs = owed(stored_for(self.ledger, name, who) for name in names)
        if not costs:
            self._paid.add((who, known))
        return costs

    @property
    def blank(self) -> Table | Database:
        """The same dataset, of which nothing was ever learned; for plans only."""
        with self._opening:
            if self._blank is None:
                self._blank = table(self.config, ledger=None)
            return self._blank

    def share(self, who: str) -> str:
        """The share of an analyst, which is made where there is none yet."""
        if who not in self.shares:
            _allowed(self.ledger, who, self.config.analysts.get(who), renew=False)
            self.shares.add(who)
        return who

    def close(self) -> None:
        for one in (self.long, self.table, self._blank):
            if one is not None:
                one.close()


def opened(config: Dataset, kept: Head | None = None) -> Served:
    """Open a dataset, and see that the book has the shares that the configuration names. Before
    anything is written, a book that does not contain the head that was kept of it is refused.
    """
    if kept is not None:
        held(config, kept)
    made = table(config)
    try:
        for who, amount in config.analysts.items():
            _allowed(made.ledger, who, amount, renew=True)
        long = Ledger.open(config.ledger, dataset=made.ledger.dataset)
    except BaseException:
        made.close()
        raise
    return Served(config, made, long, shares=set(config.analysts))


def held(config: Dataset, kept: Head) -> None:
    """Refuse a book that is older than the service's own records, or is gone."""
    try:
        Ledger.open(config.ledger, dataset=config.declared["name"], head=kept).close()
    except Refused as refusal:
        if refusal.code not in ("ledger.head", "ledger.budget", "ledger.dataset"):
            raise
        reason = (
            f"the service has answered up to entry {kept.number}, and the book at its place "
            f"does not contain it: it is older, another, or gone"
        )
        rewrite = (
            "the ledger as it was last; or, if it is lost, what is said about going back to "
            "a backup, and new records: tokens = …"
        )
        raise Refused(
            "ledger.head", f"the ledger of {config.name!r:.60}", reason, rewrite
        ) from None


def stored_for(ledger: Ledger, question: str, who: str) -> Found | None:
    """What the ledger has stored under a question, and whether somebody is yet to pay for seeing
    it. Books nothing.
    """
    with ledger._store.reading() as tx:
        return found(tx, ledger.dataset, question, who)


def table(config: Dataset, **ledger: Ledger | None) -> Table | Database:
    """The protected table, or tables; on another book, if one is given: None is memory."""
    said: dict[str, Any] = {
        "budget": config.budget,
        "ledger": config.ledger,
        **config.declared,
        **ledger,
    }
    if config.public is not None:
        said["public"] = dict(config.public)
    made: Table | Database = protect(config.source, **said)
    return made


def _allowed(ledger: Ledger, who: str, amount: Guarantee | None, *, renew: bool) -> None:
    """See to a share: several processes may do so at once."""
    wanted = ledger.budget if amount is None else amount
    try:
        ledger.allow(who, wanted)
    except Refused as refusal:
        if refusal.code != "ledger.share":
            raise
        if renew:
            _amended(ledger, who, wanted)


def _amended(ledger: Ledger, who: str, wanted: Guarantee) -> None:
    """Bring a share to what the configuration says; where more than that is spent, to what is
    spent, so that nothing is left of it and the service starts.
    """
    account = ledger.account(who)
    least = make(wanted, map(max, read(wanted), account.spent))
    if not _same(account.budget, least):
        ledger.amend(least, REASON if least == wanted else SPENT, share=who)


def _same(kept: Guarantee, wanted: Guarantee) -> bool:
    return kept == Guarantee._bind(1 * wanted, kept.relation, kept.unit)
