"""What comes before an answer: a question, or several together, is planned on what its asker may
know, what is lacking is learned, and all of it is paid for.

*Learning*   What is complete is planned as it is. What lacks a limit or bounds gets what was
             learned before, for nothing; what was not is learned by a release, for a stated share
             beside it, and only told by a plan.
*Owing*      Of what others learned, a share sees nothing before it is on its account, not even by
             what is refused: until then its questions are planned on what the owner declared, and
             whether lessons and answer fit is a matter of public costs.
*Tried*      before anything is paid for: with stand-ins for what is lacking there is a plan, or
             what is refused is refused now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded
from ..mechanisms import Several
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import MISSING, Declared, Lack, stand_ins
from ..tables.plan.query_plan import Plan
from .accuracy import Goal
from .choose_limits import part
from .learning import FIRST, SHARE, taught
from .share_payments import affordable, booked, owes, remembered, settle, settled

if TYPE_CHECKING:
    from .protected_table import Table

TAKEN = "what others had learned of this table: booked to this share first, for what they paid"


class Made(Protocol):
    """A plan, or several."""

    @property
    def mechanism(self) -> Several: ...

    @property
    def cost(self) -> Guarantee: ...


M = TypeVar("M", bound=Made)
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Seen(Generic[M]):
    """What there is for a share: a plan, or what it lacks on what is declared for the share; what
    of that nobody has learned; and whether others' lessons, which the tables have by now, are yet
    to be paid for.
    """

    made: M | None
    missed: tuple[Lack, ...]
    lacks: tuple[Lack, ...]
    declared: Declared
    owing: bool


class Asking(ABC, Generic[M, W]):
    """What is asked of tables; with each of its plans, and with what can be said before something
    is learned.
    """

    table: Table

    @abstractmethod
    def make(self, goal: Goal, declared: Declared | None = None) -> M:
        """The plan, of the tables as they are declared now, or otherwise; refused where something
        is missing.
        """

    @abstractmethod
    def plans(self, made: M) -> tuple[Plan, ...]:
        """Of each question."""

    @abstractmethod
    def lacking(self, declared: Declared) -> tuple[Lack, ...]:
        """What has to be learned for it."""

    @abstractmethod
    def waiting(
        self, lacks: tuple[Lack, ...], learning: Guarantee, cost: Guarantee, tried: tuple[M, M, M]
    ) -> W:
        """What is known before learning, from plans with limits of 1, with twice the rows of a
        unit, and with bounds twice as wide.
        """

    def planned(self, goal: Goal, *, learning: bool, share: str | None = None) -> M | W:
        """The plan, or what is known of it before something is learned; for a share, before it has
        paid for what others learned.
        """
        seen = self._seen(goal, share, learning=learning)
        if seen.made is not None:
            return seen.made
        lacks, declared = (
            (seen.missed, seen.declared) if seen.owing else (seen.lacks, self.table.known.declared)
        )
        if not lacks:
            return self.make(goal)
        if goal.promise is None:
            reason = (
                f"what it costs is known when this is: {'; '.join(lack.words for lack in lacks)}"
            )
            raise Refused(
                "within.learning",
                "within=…",
                reason,
                f"{self.table.name}.learn(epsilon=0.05), and then within=",
            )
        one, rows, wide = (
            self.make(goal, stand_ins(declared, rows=rows, size=wide))
            for rows, wide in ((1, 1), (2, 1), (1, 2))
        )
        own, currency = part(goal.promise, SHARE), Filter(self.table.budget)
        return self.waiting(
            lacks, own, currency.price(own) + currency.price(goal.promise), (one, rows, wide)
        )

    def ready(
        self, goal: Goal, *, learning: bool, share: str | None, fresh: bool, timeout: float | None
    ) -> tuple[M, tuple[str, ...]]:
        """The plan for a release, after booking to a share what others learned and learning what is
        lacking, and what is to be said of that.
        """
        seen = self._seen(goal, share, learning=learning)
        said = self._booked(seen, goal, share) if seen.owing and share is not None else ()
        if seen.lacks:
            said = (*said, self._learned(seen.lacks, goal, share, timeout))
        made = seen.made if seen.made is not None and not seen.owing else self.make(goal)
        try:
            if (
                seen.lacks
                and share is not None
                and settled(self.plans(made), made.mechanism, self.table.ledger, share, fresh=fresh)
            ):
                made = self.make(goal)  # others learned it meanwhile
        except BudgetExceeded as refusal:
            raise refused(refusal, made, goal, said) from None
        return made, said

    def _seen(self, goal: Goal, share: str | None, *, learning: bool) -> Seen[M]:
        """What follows from what a share has paid for; without a share, from all that is known."""
        known, ledger = self.table.known, self.table.ledger
        owing = share is not None and owes(known, ledger, share)
        declared = known.given if owing else known.declared
        made, missed = self._attempt(goal, declared if owing else None, learning=learning or owing)
        if made is not None:
            return Seen(made, (), (), declared, owing)
        lacks = self._recalled(missed)
        if lacks and not learning:
            self._attempt(goal, declared if owing else None, learning=False)  # refuses
        return Seen(
            None,
            missed,
            lacks,
            declared,
            owing or (share is not None and owes(known, ledger, share)),
        )

    def _attempt(
        self, goal: Goal, declared: Declared | None, *, learning: bool
    ) -> tuple[M | None, tuple[Lack, ...]]:
        """The plan, or what it lacks, of the tables as they are declared now, or otherwise."""
        try:
            return self.make(goal, declared), ()
        except Refused as refusal:
            now = self.table.known.declared if declared is None else declared
            if not learning or refusal.code not in MISSING or not (lacks := self.lacking(now)):
                raise
            if goal.promise is not None:
                self.make(goal, stand_ins(now))
            return None, lacks

    def _booked(self, seen: Seen[M], goal: Goal, share: str) -> tuple[str, ...]:
        """Book to a share what others learned, if that and what is to come fit; what is to come
        costs what is known of it without their lessons.
        """
        known, ledger = self.table.known, self.table.ledger
        if seen.lacks:
            affordable(
                known, ledger, seen.lacks, _learning(goal, ledger.budget), goal.promise, share
            )
            booked(known, ledger, share)
            return ()
        try:
            settle(
                known, seen.made.mechanism if seen.made is not None else goal.promise, ledger, share
            )
        except BudgetExceeded as refusal:
            raise (
                refused(refusal, seen.made, goal, ()) if seen.made is not None else refusal
            ) from None
        return (TAKEN,) if goal.promise is None else ()

    def _recalled(self, lacks: tuple[Lack, ...]) -> tuple[Lack, ...]:
        """What is still missing after looking into the ledger. Books nothing: that is done when it
        is known what all of it costs.
        """
        found = {lack: remembered(self.table.known, self.table.ledger, lack) for lack in lacks}
        self.table.known.take(tuple(one for one in found.values() if one is not None))
        return tuple(lack for lack, one in found.items() if one is None)

    def _learned(
        self, lacks: tuple[Lack, ...], goal: Goal, share: str | None, timeout: float | None
    ) -> str:
        """Learn what is missing; refused before anything is read where it does not fit together
        with what it is for.
        """
        known, ledger = self.table.known, self.table.ledger
        learning = _learning(goal, ledger.budget)
        affordable(known, ledger, lacks, learning, goal.promise, share)
        reference = goal.promise or part(ledger.budget, FIRST / SHARE)
        known.take(
            taught(
                known, ledger, lacks, learning, reference, share=share, fresh=False, timeout=timeout
            )
        )
        return (
            f"{'; '.join(lack.words for lack in lacks)}: learned first, for "
            f"{cost_text(learning)} beside this"
        )


def refused(
    refusal: BudgetExceeded, made: Made, goal: Goal, said: tuple[str, ...]
) -> BudgetExceeded:
    """A refusal of the answer, with what it would have cost if that was not given, and with what
    was paid before it.
    """
    if goal.promise is not None and not said:
        return refusal
    cost = f"this accuracy costs {cost_text(made.cost)}. " if goal.promise is None else ""
    paid = f" for the answer. Paid for before, and kept: {'; '.join(said)}" if said else ""
    rewrite = "a larger within=, or a larger budget" if goal.promise is None else refusal.rewrite
    return BudgetExceeded(refusal.code, refusal.place, f"{cost}{refusal.reason}{paid}", rewrite)


def scaled(promise: Guarantee) -> Guarantee:
    """Of a promise for learning alone: that of the release it would be a share of."""
    return part(promise, Fraction(1) / SHARE)


def _learning(goal: Goal, budget: Guarantee) -> Guarantee:
    """What is charged for learning, beside what it is for."""
    return part(goal.promise, SHARE) if goal.promise is not None else part(budget, FIRST)
