"""The privacy ledger: a durable book of all charges. It refuses to overspend a budget, and it shows
when entries were lost, changed or rolled back.
"""

from .book import Ledger
from .ledger_refusals import BudgetExceeded
from .reader import Book, reading
from .receipts import Balance, Charge, Head, History, Recalled, Receipt, Verification
from .statement import Statement, Use, statement
from .timeline import Moment, course

__all__ = [
    "Balance",
    "Book",
    "BudgetExceeded",
    "Charge",
    "Head",
    "History",
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
