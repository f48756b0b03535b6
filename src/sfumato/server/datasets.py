"""An open dataset in one process of the service: the protected table and the analysts' accounts.

*Shares*    Every analyst has a share of the budget under their name: as large as the configuration
            says, else as large as the dataset's budget. So the ledger records who asked what, and
            an analyst who is shown another's stored answer pays for it.
*Lowered*   If the configuration lowers a share below what it has spent, the share gets exactly what
            it has spent: nothing is left, and the service starts.
*Two books* One connection serves every request, another serves long reads, so that nobody waits for
            an auditor.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..ledger.exact_totals import Ratios
from ..ledger.receipts import Head
from ..ledger.stored_answers import StoredAnswer, find_answer, unpaid_costs
from ..ledger.timeline import TimelinePoints
from ..ledger.verify import Checked
from ..session import protect
from ..session.learning import storage_name
from ..session.protected_database import Database
from ..session.protected_table import Table
from ..session.table_state import LearnedLimit
from ..tables.declare.declaration import Declaration
from . import server_refusals as refusals
from .config import DatasetConfig

MOST_MOMENTS = 1000
REASON = "as the configuration of the service says"
SPENT = "as the configuration of the service says, but not below what is spent: nothing is left"


@dataclass(eq=False, slots=True, repr=False)
class Served:
    """An open dataset."""

    config: DatasetConfig
    table: Table | Database
    long: Ledger
    shares: set[str] = field(default_factory=set)
    checking: threading.Lock = field(default_factory=threading.Lock)
    # the end of the last successful check in this process
    checked: Checked = field(default_factory=Checked)
    checked_fully: float = 0.0  # time of the last full check
    _paid: set[tuple[str, tuple[LearnedLimit, ...]]] = field(default_factory=set)
    _points: TimelinePoints | None = None
    _blank: Table | Database | None = None
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def __repr__(self) -> str:
        return f"<sfumato dataset {self.name}: {self.ledger!r}>"

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def ledger(self) -> Ledger:
        return self.table.ledger

    @property
    def points(self) -> TimelinePoints:
        """The timeline of the budget, as far as this process has read it."""
        if self._points is None:
            self._points = TimelinePoints(self.long.dataset, MOST_MOMENTS)
        return self._points

    @property
    def tables(self) -> tuple[Table, ...]:
        return (
            tuple(self.table.tables.values()) if isinstance(self.table, Database) else (self.table,)
        )

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The owner's declarations, without learned limits."""
        return tuple(table.original for table in self.tables)

    @property
    def table_rows(self) -> int:
        return max(declared.table_rows for declared in self.declarations)

    @property
    def lessons(self) -> tuple[LearnedLimit, ...]:
        """The learned limits that this process knows."""
        return tuple(lesson for table in self.tables for lesson in table.lessons.values())

    def unpaid_lessons(self, who: str) -> list[Ratios]:
        """Return the costs of learned limits that an analyst has not paid yet. Until then the
        service does not show them the limits.
        """
        lessons = self.lessons
        if not lessons or (who, lessons) in self._paid:
            return []
        names = [
            storage_name(lesson.limit, table.original)
            for table in self.tables
            for lesson in table.lessons.values()
        ]
        costs = unpaid_costs(stored_for(self.ledger, name, who) for name in names)
        if not costs:
            self._paid.add((who, lessons))
        return costs

    @property
    def blank(self) -> Table | Database:
        """The same dataset without learned limits, for plans only."""
        with self._opening:
            if self._blank is None:
                self._blank = protect_dataset(self.config, ledger=None)
            return self._blank

    def share(self, who: str) -> str:
        """Return the share of an analyst; create it if there is none."""
        if who not in self.shares:
            _ensure_share(self.ledger, who, self.config.analysts.get(who), renew=False)
            self.shares.add(who)
        return who

    def close(self) -> None:
        for resource in (self.long, self.table, self._blank):
            if resource is not None:
                resource.close()


def open_dataset(config: DatasetConfig, expected_head: Head | None = None) -> Served:
    """Open a dataset and create or amend the shares that the configuration names. First refuse a
    ledger that does not contain the head in the service's records.
    """
    if expected_head is not None:
        check_head(config, expected_head)
    protected = protect_dataset(config)
    try:
        for who, amount in config.analysts.items():
            _ensure_share(protected.ledger, who, amount, renew=True)
        long = Ledger.open(config.ledger, dataset=protected.ledger.dataset)
    except BaseException:
        protected.close()
        raise
    return Served(config, protected, long, shares=set(config.analysts))


def check_head(config: DatasetConfig, expected_head: Head) -> None:
    """Refuse a ledger that is missing, or older than the service's records."""
    try:
        Ledger.open(config.ledger, dataset=config.declared["name"], head=expected_head).close()
    except Refused as refusal:
        if refusal.code not in ("ledger.head", "ledger.budget", "ledger.dataset"):
            raise
        raise refusals.LEDGER_BEHIND_RECORDS(
            dataset=config.name, number=expected_head.number
        ) from None


def stored_for(ledger: Ledger, question: str, who: str) -> StoredAnswer | None:
    """Return the stored answer to a question, and whether the analyst has to pay to see it. Charges
    nothing.
    """
    with ledger._store.reading() as tx:
        return find_answer(tx, ledger.dataset, question, who)


def protect_dataset(config: DatasetConfig, **ledger: Ledger | None) -> Table | Database:
    """Protect the table or tables; `ledger` replaces the configured one, None is in memory."""
    arguments: dict[str, Any] = {
        "budget": config.budget,
        "ledger": config.ledger,
        **config.declared,
        **ledger,
    }
    if config.public is not None:
        arguments["public"] = dict(config.public)
    protected: Table | Database = protect(config.source, **arguments)
    return protected


def _ensure_share(ledger: Ledger, who: str, amount: Guarantee | None, *, renew: bool) -> None:
    """Create a share, or amend it if `renew`. Several processes may do so at once."""
    budget = ledger.budget if amount is None else amount
    try:
        ledger.allow(who, budget)
    except Refused as refusal:
        if refusal.code != "ledger.share":
            raise
        if renew:
            _amend_share(ledger, who, budget)


def _amend_share(ledger: Ledger, who: str, budget: Guarantee) -> None:
    """Amend a share to the configured budget; if more is spent already, to the spent total, so that
    the service starts.
    """
    account = ledger.account(who)
    least = budget.from_vector(map(max, budget.vector, account.spent))
    stored = account.budget
    if stored != Guarantee._bind(1 * least, stored.relation, stored.unit):
        ledger.amend(least, REASON if least == budget else SPENT, share=who)
