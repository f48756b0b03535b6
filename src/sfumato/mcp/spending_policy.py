"""How much a program may spend without asking a person.

*Ledger*   The ledger of the service protects the people in the data, and a share limits what a
           token can spend. This policy stands before both: it keeps a program from spending its
           share unseen.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fractions import Fraction

from ..exact.numbers import Number, exact
from ..guarantees import Guarantee
from . import mcp_refusals as refusals

DELTA = Fraction(1, 10**6)
"""The δ at which a cost in ρ or μ is compared with the limits."""


@dataclass
class SpendingPolicy:
    """The ε of one question, and of all questions together, that need no person's consent."""

    per_question: Fraction
    in_all: Fraction
    spent: Fraction = field(default=Fraction(0), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @classmethod
    def of(cls, per_question: Number, in_all: Number) -> SpendingPolicy:
        """Read the limits. With 0 a person is asked each time."""
        limits = exact(per_question, "per_question"), exact(in_all, "in_all")
        for name, limit in zip(("per_question", "in_all"), limits, strict=True):
            if limit < 0:
                raise refusals.LIMIT_BELOW_ZERO(name=name, limit=limit)
        return cls(*limits)

    def allows(self, epsilon: Fraction) -> bool:
        """Return whether a question of this ε needs no consent."""
        return epsilon <= self.per_question and self.spent + epsilon <= self.in_all

    def reserve(self, epsilon: Fraction) -> bool:
        """Count a question of this ε as spent without consent; return False if it needs one. If the
        service refuses the question later, it still counts: a part may have been charged.
        """
        with self._lock:
            if not self.allows(epsilon):
                return False
            self.spent += epsilon
            return True


def epsilon_of(cost: Guarantee) -> Fraction:
    """Return the ε of a cost: its own, or that at δ = 10⁻⁶ of a cost in ρ or μ, rounded up."""
    stated = cost.parameters.get("epsilon")
    return Fraction(cost.epsilon(DELTA)) if stated is None else Fraction(stated)
