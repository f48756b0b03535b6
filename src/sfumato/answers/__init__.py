"""Answers: released values with confidence intervals, cost and a release card.

Everything in this package post-processes noisy integers and public records. It reads no data and
costs nothing.
"""

from .answer import Answer
from .answer_records import Column, Noisy, Paid, Weighing
from .cards.card import Card, card_schema
from .column_kinds import KINDS
from .merge import merge
from .proportions import Share

__all__ = [
    "KINDS",
    "Answer",
    "Card",
    "Column",
    "Noisy",
    "Paid",
    "Share",
    "Weighing",
    "card_schema",
    "merge",
]
