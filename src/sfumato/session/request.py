"""Prepare a release: plan the question, learn missing limits, charge for both.

A request is one question or a batch of questions. Both go through the same steps.

*Learning*   A complete question is planned as it stands. For a missing limit or missing bounds the
             ledger's stored lesson is used, free of charge. What nobody has learned yet, a release
             learns first, for a stated extra cost; a plan only announces it.
*Owing*      A share sees nothing that others learned before it has paid for it, not even through a
             refusal. Until then its questions are planned on the owner's declaration, and whether
             lessons and answer fit depends on public costs only.
*Tried*      Before anything is charged the question is planned with placeholders for the missing
             limits, so whatever must be refused is refused now.
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
from ..mechanisms import Combined
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import LEARNABLE, Declared, MissingLimit, all_with_placeholders
from ..tables.plan.query_plan import Plan
from ..tables.query.question_options import QuestionSettings
from . import session_refusals as refusals
from .accuracy import Goal
from .choose_limits import histogram_share
from .learning import FIRST_SHARE, LEARNING_SHARE, run_lessons
from .share_payments import (
    charge_share,
    check_fits,
    has_unpaid,
    pay_lessons,
    pay_lessons_and_replan,
    recall_lesson,
)

if TYPE_CHECKING:
    from .protected_table import Table

PAID_LESSONS = "limits that others learned: charged to this share first, for what they cost"


class HasMechanism(Protocol):
    """A plan or a batch: anything with one mechanism and one cost."""

    @property
    def mechanism(self) -> Combined: ...

    @property
    def cost(self) -> Guarantee: ...


M = TypeVar("M", bound=HasMechanism)
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class PlanAttempt(Generic[M]):
    """The result of planning for one share.

    Either `plan` is there, or `missing` lists the limits that the declaration seen by the share
    lacks, and `unlearned` those of them that nobody has learned. `unpaid` is true if the share has
    not paid for lessons that the tables already use.
    """

    plan: M | None
    missing: tuple[MissingLimit, ...]
    unlearned: tuple[MissingLimit, ...]
    declared: Declared
    unpaid: bool


class Request(ABC, Generic[M, W]):
    """One question or a batch: M is its plan, W its plan before learning."""

    table: Table

    @abstractmethod
    def make(self, goal: Goal, declared: Declared | None = None) -> M:
        """Plan the request on these declarations, or on the current ones; refuse where a limit is
        missing.
        """

    @abstractmethod
    def plans(self, plan: M) -> tuple[Plan, ...]:
        """Return the plan of each question."""

    @abstractmethod
    def missing_limits(self, declared: Declared) -> tuple[MissingLimit, ...]:
        """List the limits that have to be learned for the request."""

    @abstractmethod
    def pending(
        self,
        missing: tuple[MissingLimit, ...],
        learning: Guarantee,
        cost: Guarantee,
        tried: tuple[M, M, M],
    ) -> W:
        """Describe the request before learning, from three plans: with limits of 1, with twice the
        rows per unit, and with bounds twice as wide.
        """

    def plan_or_pending(self, goal: Goal, *, learning: bool, share: str | None = None) -> M | W:
        """Return the plan, or a pending plan if limits have to be learned first, or if a share has
        not paid for lessons of others.
        """
        attempt = self._attempt(goal, share, learning=learning)
        if attempt.plan is not None:
            return attempt.plan
        missing, declared = (
            (attempt.missing, attempt.declared)
            if attempt.unpaid
            else (attempt.unlearned, self.table.state.declared)
        )
        if not missing:
            return self.make(goal)
        if goal.promise is None:
            raise refusals.ACCURACY_NEEDS_LIMITS(missing=_words(missing), table=self.table.name)
        base, more_rows, wider = (
            self.make(goal, all_with_placeholders(declared, rows=rows, size=size))
            for rows, size in ((1, 1), (2, 1), (1, 2))
        )
        cost, currency = histogram_share(goal.promise, LEARNING_SHARE), Filter(self.table.budget)
        return self.pending(
            missing,
            cost,
            currency.price(cost) + currency.price(goal.promise),
            (base, more_rows, wider),
        )

    def prepare(self, goal: Goal, settings: QuestionSettings) -> tuple[M, tuple[str, ...]]:
        """Charge a share for lessons of others, learn missing limits, and return the plan for the
        release with notes on what was learned or charged.
        """
        share = settings.share
        attempt = self._attempt(goal, share, learning=settings.learn)
        notes = (
            self._pay_lessons(attempt, goal, share) if attempt.unpaid and share is not None else ()
        )
        if attempt.unlearned:
            notes = (*notes, self._learn(attempt.unlearned, goal, share, settings.timeout))
        plan = attempt.plan if attempt.plan is not None and not attempt.unpaid else self.make(goal)
        try:
            if (
                attempt.unlearned
                and share is not None
                and pay_lessons_and_replan(
                    self.plans(plan), plan.mechanism, self.table.ledger, share, fresh=settings.fresh
                )
            ):
                plan = self.make(goal)  # others learned it meanwhile
        except BudgetExceeded as refusal:
            raise explain_refusal(refusal, plan, goal, notes) from None
        return plan, notes

    def _attempt(self, goal: Goal, share: str | None, *, learning: bool) -> PlanAttempt[M]:
        """Plan on what a share has paid for; without a share, on everything learned so far."""
        state, ledger = self.table.state, self.table.ledger
        unpaid = share is not None and has_unpaid(state, ledger, share)
        declared = state.original if unpaid else state.declared
        plan, missing = self._try_make(
            goal, declared if unpaid else None, learning=learning or unpaid
        )
        if plan is not None:
            return PlanAttempt(plan, (), (), declared, unpaid)
        unlearned = self._recall(missing)
        if unlearned and not learning:
            self._try_make(goal, declared if unpaid else None, learning=False)  # refuses
        return PlanAttempt(
            None,
            missing,
            unlearned,
            declared,
            unpaid or (share is not None and has_unpaid(state, ledger, share)),
        )

    def _try_make(
        self, goal: Goal, declared: Declared | None, *, learning: bool
    ) -> tuple[M | None, tuple[MissingLimit, ...]]:
        """Return the plan on these declarations (or the current ones), or the limits they lack."""
        try:
            return self.make(goal, declared), ()
        except Refused as refusal:
            now = self.table.state.declared if declared is None else declared
            if (
                not learning
                or refusal.code not in LEARNABLE
                or not (missing := self.missing_limits(now))
            ):
                raise
            if goal.promise is not None:
                self.make(goal, all_with_placeholders(now))
            return None, missing

    def _pay_lessons(self, attempt: PlanAttempt[M], goal: Goal, share: str) -> tuple[str, ...]:
        """Charge a share for lessons of others, if they fit together with the rest of the request.
        The rest is priced without using those lessons.
        """
        state, ledger = self.table.state, self.table.ledger
        if attempt.unlearned:
            check_fits(
                state,
                ledger,
                attempt.unlearned,
                _learning_cost(goal, ledger.budget),
                goal.promise,
                share,
            )
            charge_share(state, ledger, share)
            return ()
        try:
            pay_lessons(
                state,
                attempt.plan.mechanism if attempt.plan is not None else goal.promise,
                ledger,
                share,
            )
        except BudgetExceeded as refusal:
            raise (
                explain_refusal(refusal, attempt.plan, goal, ())
                if attempt.plan is not None
                else refusal
            ) from None
        return (PAID_LESSONS,) if goal.promise is None else ()

    def _recall(self, missing: tuple[MissingLimit, ...]) -> tuple[MissingLimit, ...]:
        """Apply the lessons stored in the ledger and return the limits that are still missing.
        Charges nothing: shares are charged once the total cost is known.
        """
        recalled = {
            limit: recall_lesson(self.table.state, self.table.ledger, limit) for limit in missing
        }
        self.table.state.apply(tuple(lesson for lesson in recalled.values() if lesson is not None))
        return tuple(limit for limit, lesson in recalled.items() if lesson is None)

    def _learn(
        self,
        missing: tuple[MissingLimit, ...],
        goal: Goal,
        share: str | None,
        timeout: float | None,
    ) -> str:
        """Learn the missing limits; refuse before reading data if lessons and answer do not fit
        together.
        """
        state, ledger = self.table.state, self.table.ledger
        learning = _learning_cost(goal, ledger.budget)
        check_fits(state, ledger, missing, learning, goal.promise, share)
        reference = goal.promise or histogram_share(ledger.budget, FIRST_SHARE / LEARNING_SHARE)
        state.apply(
            run_lessons(
                state,
                ledger,
                missing,
                learning,
                reference,
                share=share,
                fresh=False,
                timeout=timeout,
            )
        )
        return f"learned first, for an extra {cost_text(learning)}: {_words(missing)}"


def explain_refusal(
    refusal: BudgetExceeded, plan: HasMechanism, goal: Goal, notes: tuple[str, ...]
) -> BudgetExceeded:
    """Add to a budget refusal the cost of the requested accuracy and what was charged before."""
    if goal.promise is not None and not notes:
        return refusal
    cost = f"this accuracy costs {cost_text(plan.cost)}. " if goal.promise is None else ""
    paid = f" for the answer. Charged before, and kept: {'; '.join(notes)}" if notes else ""
    rewrite = "a larger within=, or a larger budget" if goal.promise is None else refusal.rewrite
    return refusal.replace(reason=f"{cost}{refusal.reason}{paid}", rewrite=rewrite)


def release_promise_of(learning: Guarantee) -> Guarantee:
    """Return the promise of a release whose learning share would be `learning`."""
    return histogram_share(learning, Fraction(1) / LEARNING_SHARE)


def _learning_cost(goal: Goal, budget: Guarantee) -> Guarantee:
    """Return the extra cost of learning for this goal."""
    return (
        histogram_share(goal.promise, LEARNING_SHARE)
        if goal.promise is not None
        else histogram_share(budget, FIRST_SHARE)
    )


def _words(missing: tuple[MissingLimit, ...]) -> str:
    return ", ".join(limit.words for limit in missing)
