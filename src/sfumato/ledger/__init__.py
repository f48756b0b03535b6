"""The privacy ledger: a durable book of all charges. It refuses to overspend a budget, and it shows
when entries were lost, changed or rolled back.
"""

from .book import Ledger
from .ledger_refusals import BudgetExceeded
from .reader import Book, reading
from .receipts import Charge, Head, Recalled, Receipt, Verification
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
