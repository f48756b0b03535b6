"""The pipeline of a session, from questions to answers: one question, or a batch of questions.

*Parse, resolve, plan*   `questions` parses each question once and resolves it against declarations;
                         `batches` plans several for one promise.
*Missing limits*         A complete question is planned as it stands. For a missing limit or missing
                         bounds the ledger's stored lesson is used, free of charge. What nobody has
                         learned yet, a release learns first, for a stated extra cost; a plan only
                         announces it.
*Fitted*                 Limits that were learned for another question are chosen anew for this one,
                         from the stored histograms: free, because it is post-processing.
*Owing*                  A share sees nothing that others learned before it has paid for it, not
                         even through a refusal. Until then its questions are planned on the owner's
                         declaration, and whether lessons and answer fit depends on public costs
                         only.
*Tried*                  Before anything is charged the question is planned with placeholders for
                         the missing limits, so whatever must be refused is refused now.
*Learn*                  `learning` releases a histogram for each missing limit, after
                         `share_payments` has checked that lessons and answer fit together.
*Charge to finish*       `release`, the door, charges, tallies, perturbs and finishes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

from ..accounting.filters import Filter
from ..answers.answer import Answer
from ..answers.render.footnote_texts import SPENT
from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import BudgetExceeded
from ..release import or_failed, release_all
from ..sql import with_working_rewrite
from ..sql.sql_plan import SqlPlan
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import LEARNABLE, Declared, MissingLimit, all_with_placeholders
from ..tables.plan.query_plan import Plan
from ..tables.query.question_options import (
    BatchReleaseOptions,
    ParameterValues,
    QuestionSettings,
    ReleaseOptions,
)
from ..tables.query.stages import Query
from . import session_refusals as refusals
from .accuracy import GROUP_SIZE, Goal
from .batches import Batch, plan_batch
from .check_limits import say_checked
from .choose_limits import Aim, histogram_share
from .learning import (
    FIRST_SHARE,
    LEARNING_SHARE,
    aim_of,
    check_learn_for,
    choose_again,
    recall_lesson,
    run_lessons,
)
from .pending_plan import PendingBatch, PendingPlan
from .question_groups import fit_groups, lacks_groups
from .questions import ResolvedQuestion, TableQuestion
from .share_payments import (
    charge_share,
    check_fits,
    has_unpaid,
    pay_lessons,
    pay_lessons_and_replan,
)
from .table_state import TableState

MOST = 256  # questions of a batch
PAID_LESSONS = "limits that others learned: charged to this share first, for what they cost"


@dataclass(frozen=True, slots=True)
class PlanAttempt:
    """The result of planning for one share.

    Either `plan` is there, or `missing` lists the limits that the declaration seen by the share
    lacks, and `unlearned` those of them that nobody has learned. `unpaid` is true if the share has
    not paid for lessons that the tables already use. `trial` is the plan with placeholders for the
    missing limits, if the cost is known.
    """

    plan: Batch | None
    missing: tuple[MissingLimit, ...]
    unlearned: tuple[MissingLimit, ...]
    declared: Declared
    unpaid: bool
    trial: Batch | None = None

    @classmethod
    def of(cls, plan: Plan, declared: Declared) -> PlanAttempt:
        """Take a plan that follows from what the share has paid for."""
        return cls(Batch.of(plan), (), (), declared, unpaid=False)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Questions about protected tables, and what their answers may cost. A single question has the
    whole promise, or an accuracy to reach; the questions of a batch share one promise.
    """

    state: TableState
    table: str
    questions: tuple[TableQuestion, ...]
    goal: Goal
    settings: QuestionSettings
    batched: bool = False
    # the questions read against the owner's declaration, once
    _original: list[ResolvedQuestion] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of_question(
        cls,
        state: TableState,
        table: str,
        query: Query | str,
        parameters: ParameterValues | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Request:
        """Make a request of one question."""
        settings = QuestionSettings(**options)
        goal = Goal.of(state.ledger.budget, settings)
        check_learn_for(settings.learn_for)
        return cls(
            state, table, (TableQuestion.ask(state, table, query, parameters),), goal, settings
        )

    @classmethod
    def of_batch(
        cls,
        state: TableState,
        table: str,
        queries: Sequence[Query | str],
        parameters: Sequence[ParameterValues | None] | None = None,
        **options: Unpack[BatchReleaseOptions],
    ) -> Request:
        """Check a list of queries, each with its own parameters, and make a batch of them."""
        settings = QuestionSettings(**options)
        goal = Goal.of(state.ledger.budget, settings)
        check_learn_for(settings.learn_for)
        if (
            isinstance(queries, str | Query | Mapping)
            or not 1 <= len(listed := list(queries)) <= MOST
        ):
            raise refusals.BATCH_SIZE(most=MOST, table=table)
        values = list(parameters) if parameters is not None else [None] * len(listed)
        if len(values) != len(listed):
            raise refusals.BATCH_PARAMETERS(count=len(values), questions=len(listed))
        questions = tuple(
            TableQuestion.ask(state, table, query, value)
            for query, value in zip(listed, values, strict=True)
        )
        if any(question.explains for question in questions):
            raise refusals.BATCH_EXPLAINED(table=table)
        return cls(state, table, questions, goal, settings, batched=True)

    @property
    def explains(self) -> bool:
        """Whether the request is an EXPLAIN PRIVACY."""
        return self.questions[0].explains

    def plan(self) -> Batch | PendingBatch:
        """Return the plan, or a pending plan if limits have to be learned first, or if a share has
        not paid for lessons of others.
        """
        attempt = self.attempt()
        if attempt.plan is not None:
            return attempt.plan
        missing, declared = (
            (attempt.missing, attempt.declared)
            if attempt.unpaid
            else (attempt.unlearned, self.state.declared)
        )
        if self.goal.promise is None:
            raise refusals.ACCURACY_NEEDS_LIMITS(missing=_words(missing), table=self.table)
        base, *larger = (
            self._plan_shown(all_with_placeholders(declared, rows=rows, size=size))
            for rows, size in ((1, 1), (2, 1), (1, 2))
        )
        learning, currency = self._learning_cost, Filter(self.state.ledger.budget)
        cost = currency.price(learning) + currency.price(self.goal.promise)
        pending = tuple(
            PendingPlan(missing, learning, cost, *plans)
            for plans in zip(base.plans, *(batch.plans for batch in larger), strict=True)
        )
        return PendingBatch(missing, learning, cost, base.promise, base.shares, pending)

    def attempt(self) -> PlanAttempt:
        """Plan on what the share has paid for; without a share, on everything learned so far. The
        ledger's stored lessons are used where limits are missing. Charges nothing: shares are
        charged once the total cost is known.
        """
        state, learn = self.state, self.settings.learn
        unpaid = self._has_unpaid()
        declared = state.original if unpaid else self._fit_limits()
        try:
            return PlanAttempt(self._plan(declared), (), (), declared, unpaid)
        except Refused as refusal:
            missing, trial = self._missing_limits(refusal, declared, learn=learn or unpaid)
        unlearned = self._recall(missing)
        if unlearned and not learn:
            self._plan_shown(declared if unpaid else state.declared)  # refuses
        unpaid = unpaid or self._has_unpaid()
        plan = None if unpaid or unlearned else self._plan_shown(self._fit_limits())
        return PlanAttempt(plan, missing, unlearned, declared, unpaid, trial)

    def release(self, attempt: PlanAttempt | None = None) -> tuple[Answer, ...]:
        """Charge a share for lessons of others, learn missing limits, charge once and answer all
        questions, in their order.
        """
        batch, notes = self.prepare(self.attempt() if attempt is None else attempt)
        others, settings = len(batch.plans) - 1, self.settings
        together = (
            f"released together with {others} other question{'s' if others > 1 else ''}: the cost "
            f"is that of all"
        )
        try:
            answers = release_all(
                batch.plans,
                batch.mechanism,
                self.state.ledger,
                (together,) if others else (),
                share=settings.share,
                fresh=settings.fresh,
                timeout=settings.timeout,
            )
        except BudgetExceeded as refusal:
            raise explain_refusal(refusal, batch, self.goal, notes) from None
        if notes:
            answers = tuple(replace(answer, rules=(*answer.rules, *notes)) for answer in answers)
        pairs = list(zip(batch.plans, answers, strict=True))
        if self.state.checks and settings.share is None:
            pairs = [(plan, say_checked(self.state, plan, answer)) for plan, answer in pairs]
        return or_failed(
            lambda: tuple(
                plan.finish(answer) if isinstance(plan, SqlPlan) else answer
                for plan, answer in pairs
            )
        )

    def prepare(self, attempt: PlanAttempt) -> tuple[Batch, tuple[str, ...]]:
        """Charge a share for lessons of others, learn missing limits, and return the plan for the
        release with notes on what was learned or charged.
        """
        share, unlearned = self.settings.share, attempt.unlearned
        notes = self._pay_lessons(attempt, share) if attempt.unpaid and share is not None else ()
        if unlearned:
            notes = (*notes, self._learn(unlearned))
        ready = attempt.plan if not attempt.unpaid else None
        batch = self._plan_shown(self._fit_limits()) if ready is None else ready
        try:
            if (
                unlearned
                and share is not None
                and pay_lessons_and_replan(
                    batch.plans, batch.mechanism, share, fresh=self.settings.fresh
                )
            ):
                batch = self._plan_shown(self._fit_limits())  # others learned it meanwhile
        except BudgetExceeded as refusal:
            raise explain_refusal(refusal, batch, self.goal, notes) from None
        return batch, notes

    def _plan(self, declared: Declared) -> Batch:
        """Resolve the questions against declarations and plan them. Nobody has checked the rewrite
        of a refusal yet.
        """
        resolved = (question.resolve(declared) for question in self.questions)
        goal = self.goal
        if self.batched:
            assert goal.promise is not None
            size = GROUP_SIZE if goal.group_size is None else goal.group_size
            return plan_batch(resolved, goal.promise, size)
        return Batch.of(goal.plan(next(resolved).plan))

    def _plan_shown(self, declared: Declared) -> Batch:
        """Plan the questions; a refusal is for the analyst to read."""
        try:
            return self._plan(declared)
        except Refused as refusal:
            raise self._with_working_rewrite(refusal, declared) from None

    def _with_working_rewrite(self, refusal: Refused, declared: Declared) -> Refused:
        """Return the refusal with a rewrite that is answered, after learning what it lacks."""
        complete = all_with_placeholders(declared) if self.settings.learn else declared
        rows = self.state.rows_of(complete)
        return with_working_rewrite(
            refusal, rows[self.table], {} if self.state.database is None else rows
        )

    def _missing_limits(
        self, refusal: Refused, declared: Declared, *, learn: bool
    ) -> tuple[tuple[MissingLimit, ...], Batch | None]:
        """Return the limits that the questions lack, each once, if learning them would help, and
        the plan with placeholders for them. If it would not, refuse.
        """
        if not learn or refusal.code not in LEARNABLE:
            raise self._with_working_rewrite(refusal, declared) from None
        filled = all_with_placeholders(declared)
        try:
            missing = {
                limit: None
                for question in self.questions
                for limit in question.missing_limits(declared)
            }
        except Refused as other:
            raise self._with_working_rewrite(other, filled) from None
        if not missing:
            raise self._with_working_rewrite(refusal, declared) from None
        queries = [question.query for question in self._resolve_original()]
        missing |= dict.fromkeys(limit for limit in map(lacks_groups, queries) if limit)
        trial = None if self.goal.promise is None else self._plan_shown(filled)
        order = ("max_rows", "bounds", "max_groups")
        return tuple(sorted(missing, key=lambda limit: order.index(limit.kind))), trial

    def _has_unpaid(self) -> bool:
        share = self.settings.share
        return share is not None and has_unpaid(self.state, share)

    def _recall(self, missing: tuple[MissingLimit, ...]) -> tuple[MissingLimit, ...]:
        """Apply the lessons stored in the ledger and return the limits that are still missing."""
        recalled = {limit: recall_lesson(self.state, limit) for limit in missing}
        self.state.apply(tuple(lesson for lesson in recalled.values() if lesson is not None))
        unlearned = [limit for limit, lesson in recalled.items() if lesson is None]
        # nobody pays for a limit of groups alone
        return () if all(limit.kind == "max_groups" for limit in unlearned) else tuple(unlearned)

    def _pay_lessons(self, attempt: PlanAttempt, share: str) -> tuple[str, ...]:
        """Charge a share for lessons of others, if they fit together with the rest of the request.
        The rest is priced without using those lessons.
        """
        state, goal = self.state, self.goal
        if attempt.unlearned:
            check_fits(state, attempt.unlearned, self._learning_cost, goal.promise, share)
            charge_share(state, share)
            return ()
        plan = attempt.plan
        try:
            pay_lessons(state, goal.promise if plan is None else plan.mechanism, share)
        except BudgetExceeded as refusal:
            raise (refusal if plan is None else explain_refusal(refusal, plan, goal, ())) from None
        return (PAID_LESSONS,) if goal.promise is None else ()

    def _learn(self, missing: tuple[MissingLimit, ...]) -> str:
        """Learn the missing limits; refuse before reading data if lessons and answer do not fit
        together.
        """
        state, settings, learning = self.state, self.settings, self._learning_cost
        check_fits(state, missing, learning, self.goal.promise, settings.share)
        lessons = run_lessons(
            state,
            missing,
            learning,
            self._aim(self._resolve_original()),
            share=settings.share,
            fresh=False,
            timeout=settings.timeout,
        )
        state.apply(lessons)
        return cost_text(learning) + SPENT + _words(missing)

    def _fit_limits(self) -> Declared:
        """Return the declarations with every learned limit as is best for these questions. The
        choice depends on the owner's declaration, the questions, their promise and the stored
        histograms: the same question gets the same limits again.
        """
        state = self.state
        if not state.lessons:
            return state.declared
        try:
            resolved = self._resolve_original()
        except Refused:
            return state.declared  # the plan refuses, with a rewrite
        lessons, _ = choose_again(state, self._aim(resolved))
        queries = [question.query for question in resolved]
        return fit_groups(
            state,
            state.with_limits(lesson for lesson in lessons if lesson.limit.kind != "max_groups"),
            lessons,
            queries,
        )

    def _resolve_original(self) -> list[ResolvedQuestion]:
        """Read the questions against the owner's declaration, with placeholders."""
        if not self._original:
            declared = all_with_placeholders(self.state.original)
            self._original.extend([question.resolve(declared) for question in self.questions])
        return self._original

    def _aim(self, resolved: Sequence[ResolvedQuestion]) -> Aim:
        """Return what limits that the questions lack have to be best for."""
        promise = self.goal.promise or histogram_share(
            self.state.ledger.budget, FIRST_SHARE / LEARNING_SHARE
        )
        pairs = [(question.query, question.components.components) for question in resolved]
        return aim_of(self.settings.learn_for, promise, pairs)

    @property
    def _learning_cost(self) -> Guarantee:
        """The extra cost of learning for this goal."""
        return (
            histogram_share(self.goal.promise, LEARNING_SHARE)
            if self.goal.promise is not None
            else histogram_share(self.state.ledger.budget, FIRST_SHARE)
        )


def explain_refusal(
    refusal: BudgetExceeded, plan: Plan | Batch, goal: Goal, notes: tuple[str, ...]
) -> BudgetExceeded:
    """Add to a budget refusal the cost of the requested accuracy and what was charged before."""
    if goal.promise is not None and not notes:
        return refusal
    cost = f"this accuracy costs {cost_text(plan.cost)}. " if goal.promise is None else ""
    paid = f" for the answer. Charged before, and kept: {'; '.join(notes)}" if notes else ""
    rewrite = "a larger within=, or a larger budget" if goal.promise is None else refusal.rewrite
    return refusal.replace(reason=f"{cost}{refusal.reason}{paid}", rewrite=rewrite)


def _words(missing: tuple[MissingLimit, ...]) -> str:
    return ", ".join(limit.words for limit in missing)
