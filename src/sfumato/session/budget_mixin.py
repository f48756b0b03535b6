"""Budget properties shared by protected tables and databases."""

from __future__ import annotations

from ..guarantees import Guarantee
from ..ledger import Ledger


class Budgeted:
    """An object whose answers are charged to a ledger."""

    ledger: Ledger

    @property
    def budget(self) -> Guarantee:
        """The total promise."""
        return self.ledger.budget

    @property
    def spent(self) -> Guarantee:
        return self.ledger.spent

    @property
    def remaining(self) -> Guarantee:
        return self.ledger.remaining
