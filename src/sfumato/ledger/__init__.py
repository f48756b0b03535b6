"""What has been promised away, durably: a book that cannot be overspent, lost or rolled back unseen."""

from .book import Ledger
from .receipts import BudgetExceeded, Charge, Head, Recalled, Receipt, Verification

__all__ = ["BudgetExceeded", "Charge", "Head", "Ledger", "Recalled", "Receipt", "Verification"]
