"""What has been promised away, durably: a book that cannot be overspent, lost or rolled back
unseen.
"""

from .book import Ledger
from .reader import Book, reading
from .receipts import BudgetExceeded, Charge, Head, Recalled, Receipt, Verification
from .statement import Balance, Statement, Use, statement
from .timeline import Moment, course

__all__ = [
    "Balance",
    "Book",
    "BudgetExceeded",
    "Charge",
    "Head",
    "Ledger",
    "Moment",
    "Recalled",
    "Receipt",
    "Statement",
    "Use",
    "Verification",
    "course",
    "reading",
    "statement",
]
