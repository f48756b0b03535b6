"""Budget properties shared by protected tables and databases."""

from __future__ import annotations

from ..guarantees import Guarantee
from ..ledger import Ledger


class Budgeted:
    """An object whose answers are charged to a ledger."""

    ledger: Ledger
    _durable: bool

    @property
    def budget(self) -> Guarantee:
        """The total promise."""
        return self.ledger.budget

    @property
    def spent(self) -> Guarantee:
        return self.ledger.spent

    @property
    def remaining(self) -> Guarantee:
        """What is left: `remaining.epsilon()` is the ε beside the δ that is left."""
        return self.ledger.remaining

    @property
    def _budget_text(self) -> list[str]:
        """The budget as this process last saw it, without reading the ledger."""
        balance = self.ledger.last_balance
        memory = "" if self._durable else "the ledger lives in memory, and ends with this process"
        if balance is None:
            return [memory]
        budget, left = balance.budget.numbers_text, balance.remaining.numbers_text
        return [f"budget {budget} · left {left}", memory]
