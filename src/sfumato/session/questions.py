"""A question to a table, as text or as a query, that can be asked again when more is known of the table.

*Learning*   A question that is complete is planned as it is. One that lacks a limit or bounds gets what was learned before, for nothing; what was not is
             learned by a release, for a stated share beside it, and only told by a plan.
*Owing*      Of what others learned, a share sees nothing before it is on its account, not even by what is refused: until then its questions are planned on
             what the owner declared, and whether lessons and answer fit is a matter of public costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..accounting.filters import Filter
from ..answers.answer import Answer
from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded
from ..release import release
from ..tables.declaration import Declaration
from ..tables.lacking import MISSING, Lack, filled, lacking, redeclared, repeatable, unbounded
from ..tables.plan import Plan, plan
from ..tables.sentences import cost_text
from ..tables.stages import Query
from .accuracy import GROUP_SIZE, Goal
from .awaiting import Awaiting
from .learning import FIRST, SHARE, recalled, taught
from .limits import part
from .payments import affordable, booked, owes, settle, settled

if TYPE_CHECKING:
    from .table import Table

TAKEN = "what others had learned of this table: booked to this share first, for what they paid"


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is of a question for a share: a plan, or what it lacks on what is declared for the share; what of that nobody has learned; and whether
    others' lessons, which the table has by now, are yet to be paid for."""

    made: Plan | tuple[Lack, ...]
    lacks: tuple[Lack, ...]
    declared: Declaration
    owing: bool


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of a table."""

    table: Table
    of: Query | str
    parameters: Sequence[Any] | Mapping[str, Any] | None = None

    def asked(self, declaration: Declaration | None = None) -> Any:
        """Of a text: what it asks, of the table as it is declared now, or otherwise."""
        from ..sql import read

        assert isinstance(self.of, str)
        rows = self.table.rows if declaration is None else self.table.rows_of(declaration)
        return read(self.of, rows, self.parameters, self.table.others)

    @property
    def explains(self) -> bool:
        """Whether a text asks only to be explained."""
        from ..sql import explains

        return isinstance(self.of, str) and explains(self.of)

    def query(self, declaration: Declaration | None = None) -> Query:
        """The query, of the table as it is declared now, or otherwise."""
        if isinstance(self.of, str):
            found: Query = self.asked(declaration).query
            return found
        own = self.table._own(self.of)
        declared = declaration or self.table.declaration
        if own.rows.declaration is declared or own.rows.curator is not self.table or not self._alone or not repeatable(own):
            return own
        return redeclared(own, self.table.rows_of(declared))

    def plan(self, promise: Guarantee, group_size: int, declaration: Declaration | None = None) -> Plan:
        """The plan for a promise; refused where something is missing."""
        if not isinstance(self.of, str):
            query = self.query(declaration)
            return plan(query, promise, self.table._source_of(query), group_size)
        asked = self.asked(declaration)
        query = self.table._own(asked.query)
        made: Plan = asked.planned(plan(query, promise, self.table._source_of(query), group_size))
        return made

    def planned(self, goal: Goal, *, learning: bool, share: str | None = None) -> Plan | Awaiting:
        """The plan, or what is known of it before something is learned; for a share, before it has paid for what others learned."""
        seen = self._seen(goal, share, learning=learning)
        if isinstance(seen.made, Plan):
            return seen.made
        lacks, declared = (seen.made, seen.declared) if seen.owing else (seen.lacks, self.table.declaration)
        if not lacks:
            return goal.plan(self.plan)
        if goal.promise is None:
            reason = f"what it costs is known when this is: {'; '.join(lack.words for lack in lacks)}"
            raise Refused("within.learning", "within=…", reason, f"{self.table.name}.learn(epsilon=0.05), and then within=")
        free, share_of = unbounded(declared), part(goal.promise, SHARE)
        size = GROUP_SIZE if goal.group_size is None else goal.group_size
        tried = (filled(declared, free, rows=rows, size=wide) for rows, wide in ((1, 1), (2, 1), (1, 2)))
        one, rows, wide = (self.plan(goal.promise, size, declaration) for declaration in tried)
        currency = Filter(self.table.budget)
        return Awaiting(lacks, share_of, currency.price(share_of) + currency.price(goal.promise), one, rows, wide)

    def ready(self, goal: Goal, *, learning: bool, share: str | None, fresh: bool, timeout: float | None) -> tuple[Plan, tuple[str, ...]]:
        """The plan for a release, after booking to a share what others learned and learning what is lacking, and what is to be said of that."""
        seen = self._seen(goal, share, learning=learning)
        said = self._booked(seen, goal, share) if seen.owing and share is not None else ()
        if seen.lacks:
            said = (*said, self._learned(seen.lacks, goal, share, timeout))
        made = seen.made if isinstance(seen.made, Plan) and not seen.owing else goal.plan(self.plan)
        try:
            if seen.lacks and share is not None and settled((made,), made.mechanism, self.table.ledger, share, fresh=fresh):  # others learned it meanwhile
                made = goal.plan(self.plan)
        except BudgetExceeded as refusal:
            raise _refused(refusal, made, goal, said) from None
        return made, said

    def released(self, goal: Goal, *, learning: bool, share: str | None, fresh: bool, timeout: float | None) -> tuple[Plan, Answer]:
        """The answer, after learning what it lacks, and the plan that it was made by."""
        made, said = self.ready(goal, learning=learning, share=share, fresh=fresh, timeout=timeout)
        try:
            answer = release(made, self.table.ledger, share=share, fresh=fresh, timeout=timeout)
        except BudgetExceeded as refusal:
            raise _refused(refusal, made, goal, said) from None
        return made, replace(answer, rules=(*answer.rules, *said)) if said else answer

    @property
    def _alone(self) -> bool:
        """Whether the table stands by itself: of several together nothing is learned."""
        origin = self.table.rows.origin
        return origin is None or origin.whole is None

    def _seen(self, goal: Goal, share: str | None, *, learning: bool) -> Seen:
        """What follows from what a share has paid for; without a share, from all that is known."""
        owing = share is not None and owes(self.table, share)
        given, declared = (self.table.given,) * 2 if owing else (None, self.table.declaration)
        made = self._attempt(goal, given, learning=learning or owing)
        if isinstance(made, Plan):
            return Seen(made, (), declared, owing)
        lacks = self._recalled(made)
        if lacks and not learning:
            self._attempt(goal, given, learning=False)  # refuses
        return Seen(made, lacks, declared, owing or (share is not None and owes(self.table, share)))

    def _attempt(self, goal: Goal, declared: Declaration | None, *, learning: bool) -> Plan | tuple[Lack, ...]:
        """The plan, or what it lacks, of the table as it is declared now, or otherwise."""
        try:
            return goal.plan(lambda promise, size: self.plan(promise, size, declared))
        except Refused as refusal:
            if not learning or refusal.code not in MISSING or not self._alone or not (lacks := lacking(self.query, declared or self.table.declaration)):
                raise
            return lacks

    def _booked(self, seen: Seen, goal: Goal, share: str) -> tuple[str, ...]:
        """Book to a share what others learned, if that and what is to come fit; what is to come costs what is known of it without their lessons."""
        if seen.lacks:
            affordable(self.table, seen.lacks, _learning(goal, self.table.budget), goal.promise, share)
            booked(self.table, share)
            return ()
        try:
            settle((self.table,), seen.made.mechanism if isinstance(seen.made, Plan) else goal.promise, self.table.ledger, share)
        except BudgetExceeded as refusal:
            raise (_refused(refusal, seen.made, goal, ()) if isinstance(seen.made, Plan) else refusal) from None
        return (TAKEN,) if goal.promise is None else ()

    def _recalled(self, lacks: tuple[Lack, ...]) -> tuple[Lack, ...]:
        """What is still missing after looking into the ledger. Books nothing: that is done when it is known what all of it costs."""
        found = {lack: recalled(self.table.ledger, self.table.given, lack) for lack in lacks}
        self.table.take(tuple(one for one in found.values() if one is not None))
        return tuple(lack for lack, one in found.items() if one is None)

    def _learned(self, lacks: tuple[Lack, ...], goal: Goal, share: str | None, timeout: float | None) -> str:
        """Learn what is missing; refused before anything is read where it does not fit together with what it is for."""
        learning = _learning(goal, self.table.budget)
        affordable(self.table, lacks, learning, goal.promise, share)
        reference = goal.promise or part(self.table.budget, FIRST / SHARE)
        self.table.take(taught(self.table, lacks, learning, reference, share=share, fresh=False, timeout=timeout))
        return f"{'; '.join(lack.words for lack in lacks)}: learned first, for {cost_text(learning)} beside this"


def _learning(goal: Goal, budget: Guarantee) -> Guarantee:
    """What is charged for learning, beside what it is for."""
    return part(goal.promise, SHARE) if goal.promise is not None else part(budget, FIRST)


def _refused(refusal: BudgetExceeded, made: Plan, goal: Goal, said: tuple[str, ...]) -> BudgetExceeded:
    """A refusal of the answer, with what it would have cost if that was not given, and with what was paid before it."""
    if goal.promise is not None and not said:
        return refusal
    cost = f"this accuracy costs {cost_text(made.cost)}. " if goal.promise is None else ""
    paid = f" for the answer. Paid for before, and kept: {'; '.join(said)}" if said else ""
    rewrite = "a larger within=, or a larger budget" if goal.promise is None else refusal.rewrite
    return BudgetExceeded(refusal.code, refusal.place, f"{cost}{refusal.reason}{paid}", rewrite)


def scaled(promise: Guarantee) -> Guarantee:
    """Of a promise for learning alone: that of the release it would be a share of."""
    return part(promise, Fraction(1) / SHARE)
