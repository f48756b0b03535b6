"""A batch: several questions released together, with one promise, one charge and one time stamp.

*Shares*    A question's share of the promise (of ε and δ, of ρ, of μ²) is in proportion to its
            noisy numbers: its components and quantiles, and one for the selection of groups. So
            every number of the batch has the same noise relative to what a row may add, as the
            numbers of one question have.
*Together*  If the promise is (ε, δ) and the batch only adds noise under public keys, the planner
            compares two ways: shares of ε and δ, or Gaussian noise for all numbers of all
            questions, stated once as (ε, δ). The second is better for many numbers.
*Charge*    One ledger entry, before anything is read. Each answer is stored under its question;
            releasing the same batch again returns the stored answers, free of charge.
*Learning*  Limits that any question lacks are learned first, once for all, for an extra sixth of
            the promise: as for one question, and charged in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ..answers.answer import Answer
from ..exact.numbers import Number
from ..guarantees import GDP, Approx, Guarantee
from ..guarantees.gdp import largest_mu
from ..ledger import BudgetExceeded
from ..mechanisms import Combined
from ..release import or_failed, release_all
from ..sql.sql_plan import SqlPlan
from ..tables.plan.choose_noise import relative_variance
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import Declared, MissingLimit
from ..tables.plan.query_plan import Plan
from ..tables.query.question_options import ParameterValues, QuestionSettings
from ..tables.query.stages import Query
from . import session_refusals as refusals
from .accuracy import GROUP_SIZE, Goal
from .pending_plan import PendingBatch, PendingPlan
from .promises import share_of
from .questions import Question
from .request import Request, explain_refusal

if TYPE_CHECKING:
    from .protected_table import Table

MOST = 256


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The plans of several questions, their shares of the promise, and their joint mechanism."""

    plans: tuple[Plan, ...]
    shares: tuple[Fraction, ...]
    promise: Guarantee
    mechanism: Combined

    @property
    def cost(self) -> Guarantee:
        """The cost of the whole batch."""
        return self.mechanism.promise

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> tuple[dict[str, float], ...]:
        """Return the expected ± of each column of each question."""
        return tuple(plan.error(confidence, group_size=group_size) for plan in self.plans)

    def explain(self) -> str:
        """Describe the release in sentences."""
        parts = [
            f"share   {share} of {cost_text(self.promise)}\n{plan.explain()}"
            for share, plan in zip(self.shares, self.plans, strict=True)
        ]
        return "\n\n".join(
            [f"batch   {len(parts)} questions, together {cost_text(self.cost)}", *parts]
        )

    def __str__(self) -> str:
        return self.explain()


@dataclass(frozen=True, slots=True, eq=False)
class Questions(Request[Batch, PendingBatch]):
    """A request of several questions to protected tables, released as one batch."""

    table: Table
    each: tuple[Question, ...]

    @classmethod
    def of(
        cls,
        table: Table,
        queries: Sequence[Query | str],
        parameters: Sequence[ParameterValues | None] | None,
    ) -> Questions:
        """Check a list of queries, each with its own parameters, and make a batch of them."""
        if (
            isinstance(queries, str | Query | Mapping)
            or not 1 <= len(listed := list(queries)) <= MOST
        ):
            raise refusals.BATCH_SIZE(most=MOST, table=table.name)
        values = list(parameters) if parameters is not None else [None] * len(listed)
        if len(values) != len(listed):
            raise refusals.BATCH_PARAMETERS(count=len(values), questions=len(listed))
        questions = tuple(
            Question(table, query, value) for query, value in zip(listed, values, strict=True)
        )
        if any(question.explains for question in questions):
            raise refusals.BATCH_EXPLAINED(table=table.name)
        return cls(table, questions)

    def make(self, goal: Goal, declared: Declared | None = None) -> Batch:
        """Plan all questions for one promise. Reads no data."""
        assert goal.promise is not None
        promise, size = goal.promise, GROUP_SIZE if goal.group_size is None else goal.group_size
        share_of(promise, Fraction(1))  # refuses a promise that cannot be split
        first = [question.plan(promise, size, declared) for question in self.each]
        if len({plan.text for plan in first}) < len(first):
            raise refusals.BATCH_WITH_EQUAL_QUESTIONS(count=len(first))
        sizes = [
            sum(not piece.pooled for piece in plan.components) + (not plan.query.public)
            for plan in first
        ]
        shares = tuple(Fraction(number, sum(sizes)) for number in sizes)
        plans = self._plan_each([share_of(promise, share) for share in shares], size, declared)
        apart = Batch(plans, shares, promise, Combined([plan.mechanism for plan in plans]))
        only_noise = all(
            plan.query.public and all(piece.form != "point" for piece in plan.components)
            for plan in first
        )
        if not only_noise or not isinstance(promise, Approx) or not promise.parameters["delta"]:
            return apart
        gaussian = self._gaussian(promise, shares, size, declared)
        return apart if _spread(apart) <= _spread(gaussian) else gaussian

    def plans(self, plan: Batch) -> tuple[Plan, ...]:
        """Return the plan of each question."""
        return plan.plans

    def missing_limits(self, declared: Declared) -> tuple[MissingLimit, ...]:
        """List the limits that any question lacks; each is learned once, for all."""
        missing = dict.fromkeys(
            limit for question in self.each for limit in question.missing_limits(declared)
        )
        return tuple(sorted(missing, key=lambda limit: limit.kind != "max_rows"))

    def pending(
        self,
        missing: tuple[MissingLimit, ...],
        learning: Guarantee,
        cost: Guarantee,
        tried: tuple[Batch, Batch, Batch],
    ) -> PendingBatch:
        """Describe the batch before learning."""
        base = tried[0]
        parts = tuple(
            PendingPlan(missing, learning, cost, *plans)
            for plans in zip(*(batch.plans for batch in tried), strict=True)
        )
        return PendingBatch(missing, learning, cost, base.promise, base.shares, parts)

    def release(self, goal: Goal, settings: QuestionSettings) -> tuple[Answer, ...]:
        """Learn missing limits, charge once and answer all questions, in their order."""
        batch, notes = self.prepare(goal, settings)
        others = len(batch.plans) - 1
        together = (
            (
                (
                    f"released together with {others} other "
                    f"question{'s' if others > 1 else ''}: the cost is that of all"
                ),
            )
            if others
            else ()
        )
        try:
            answers = release_all(
                batch.plans,
                batch.mechanism,
                self.table.ledger,
                together,
                share=settings.share,
                fresh=settings.fresh,
                timeout=settings.timeout,
            )
        except BudgetExceeded as refusal:
            raise explain_refusal(refusal, batch, goal, notes) from None
        pairs = list(zip(batch.plans, answers, strict=True))
        finished = or_failed(
            lambda: [
                plan.finish(answer) if isinstance(plan, SqlPlan) else answer
                for plan, answer in pairs
            ]
        )
        return tuple(
            replace(answer, rules=(*answer.rules, *notes)) if notes else answer
            for answer in finished
        )

    def _plan_each(
        self, promises: Sequence[Guarantee], size: int, declared: Declared | None
    ) -> tuple[Plan, ...]:
        return tuple(
            question.plan(promise, size, declared)
            for question, promise in zip(self.each, promises, strict=True)
        )

    def _gaussian(
        self, promise: Approx, shares: tuple[Fraction, ...], size: int, declared: Declared | None
    ) -> Batch:
        """Plan with Gaussian noise for all questions, stated once as (ε, δ)."""
        epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
        square = largest_mu(epsilon, delta) ** 2
        plans = self._plan_each(
            [GDP.from_square(square * share) for share in shares], size, declared
        )
        mechanism = Combined(
            [part for plan in plans for part in plan.mechanism.parts], epsilon=epsilon, delta=delta
        )
        return Batch(plans, shares, promise, mechanism)


def _spread(batch: Batch) -> float:
    return sum(relative_variance(plan.calibration) for plan in batch.plans)
