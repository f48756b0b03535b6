"""What everything with a ledger can say of its budget."""

from __future__ import annotations

from ..guarantees import Guarantee
from ..ledger import Ledger


class Budgeted:
    """Something whose answers are charged to a ledger."""

    ledger: Ledger

    @property
    def budget(self) -> Guarantee:
        """What is promised in total."""
        return self.ledger.budget

    @property
    def spent(self) -> Guarantee:
        return self.ledger.spent

    @property
    def remaining(self) -> Guarantee:
        return self.ledger.remaining
