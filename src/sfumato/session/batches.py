"""Several questions released together: one promise for all, one charge, one moment.

*Shares*    A question's share of the promise (of ε and δ, of ρ, of μ²) is in proportion to its
            noisy numbers: its pieces and quantiles, and one for the selection of groups. So every
            number of the batch has the same noise relative to what a row may add, as the numbers of
            one question have.
*Together*  Where the promise is (ε, δ), and only noise is added under public keys, two ways are
            compared: shares of ε and δ, or Gaussian noise for all numbers of all questions, stated
            once as (ε, δ). The second is better where there are many.
*Charge*    One entry of the ledger, before anything is read. Each answer is stored under its
            question; the same batch again gives them, for nothing.
*Learning*  What any of them lacks is learned first, once for all, for a sixth of the promise beside
            it: as for one question, and paid for in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..answers.answer import Answer
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import GDP, Approx, Guarantee
from ..guarantees.gdp import largest_mu
from ..ledger import BudgetExceeded
from ..mechanisms import Several
from ..release import or_failed, release_all
from ..sql.sql_plan import Planned
from ..tables.plan.choose_noise import spread
from ..tables.plan.explain import cost_text
from ..tables.plan.missing_limits import Declared, Lack
from ..tables.plan.query_plan import Plan
from ..tables.query.stages import Query
from .accuracy import GROUP_SIZE, Goal
from .pending_plan import Awaiting, AwaitingBatch
from .promises import shared
from .questions import Question
from .request import Asking, refused

if TYPE_CHECKING:
    from .protected_table import Table

MOST = 256


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The plans of several questions, their shares of the promise, and all of the noise as one
    entry.
    """

    plans: tuple[Plan, ...]
    shares: tuple[Fraction, ...]
    promise: Guarantee
    mechanism: Several

    @property
    def cost(self) -> Guarantee:
        """Of all together."""
        return self.mechanism.promise

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> tuple[dict[str, float], ...]:
        """Expected ± of each column of each question."""
        return tuple(plan.error(confidence, group_size=group_size) for plan in self.plans)

    def explain(self) -> str:
        """What would happen, in sentences."""
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
class Questions(Asking[Batch, AwaitingBatch]):
    """Several questions to a table, or to several, asked together."""

    table: Table
    each: tuple[Question, ...]

    @classmethod
    def of(
        cls, table: Table, asked: Sequence[Query | str], parameters: Sequence[Any] | None
    ) -> Questions:
        """Known as questions, each with its own parameters."""
        if isinstance(asked, str | Query | Mapping) or not 1 <= len(found := list(asked)) <= MOST:
            raise Refused(
                "plan.batch",
                "release_all(…)",
                f"a batch is a list of 1 to {MOST} questions",
                f"{table.name}.release_all([query, 'SELECT …'], epsilon=1)",
            )
        values = list(parameters) if parameters is not None else [None] * len(found)
        if len(values) != len(found):
            raise Refused(
                "plan.batch",
                f"{len(values)} parameters=",
                f"there are {len(found)} questions, each with its own parameters or None",
                "parameters=[…, None]",
            )
        questions = tuple(Question(table, one, own) for one, own in zip(found, values, strict=True))
        if any(question.explains for question in questions):
            raise Refused(
                "plan.batch",
                "EXPLAIN PRIVACY",
                "a batch is explained as a whole",
                f"{table.name}.plan_all([…], epsilon=1).explain()",
            )
        return cls(table, questions)

    def make(self, goal: Goal, declared: Declared | None = None) -> Batch:
        """Plan several questions for one promise. Reads nothing."""
        assert goal.promise is not None
        promise, size = goal.promise, GROUP_SIZE if goal.group_size is None else goal.group_size
        shared(promise, Fraction(1))  # refused before anything is planned
        first = [question.plan(promise, size, declared) for question in self.each]
        if len({plan.text for plan in first}) < len(first):
            raise Refused(
                "plan.batch",
                f"{len(first)} questions",
                "two of them are the same: once is enough",
                "each question once",
            )
        sizes = [
            sum(not piece.pooled for piece in plan.pieces) + (not plan.query.public)
            for plan in first
        ]
        shares = tuple(Fraction(one, sum(sizes)) for one in sizes)
        made = self._shared([shared(promise, share) for share in shares], size, declared)
        apart = Batch(made, shares, promise, Several([plan.mechanism for plan in made]))
        alone = all(
            plan.query.public and all(piece.form != "point" for piece in plan.pieces)
            for plan in first
        )
        if not alone or not isinstance(promise, Approx) or not promise.parameters["delta"]:
            return apart
        other = self._gaussian(promise, shares, size, declared)
        return apart if _spread(apart) <= _spread(other) else other

    def plans(self, made: Batch) -> tuple[Plan, ...]:
        """Of each question."""
        return made.plans

    def lacking(self, declared: Declared) -> tuple[Lack, ...]:
        """What any of them lacks: each is learned once, for all."""
        found = dict.fromkeys(lack for question in self.each for lack in question.lacking(declared))
        return tuple(sorted(found, key=lambda lack: lack.kind != "max_rows"))

    def waiting(
        self,
        lacks: tuple[Lack, ...],
        learning: Guarantee,
        cost: Guarantee,
        tried: tuple[Batch, Batch, Batch],
    ) -> AwaitingBatch:
        """What is known before learning."""
        one = tried[0]
        parts = tuple(
            Awaiting(lacks, learning, cost, *plans)
            for plans in zip(*(made.plans for made in tried), strict=True)
        )
        return AwaitingBatch(lacks, learning, cost, one.promise, one.shares, parts)

    def released(
        self, goal: Goal, *, learning: bool, share: str | None, fresh: bool, timeout: float | None
    ) -> tuple[Answer, ...]:
        """The answers, in the order of the questions, after learning what they lack."""
        made, said = self.ready(goal, learning=learning, share=share, fresh=fresh, timeout=timeout)
        others = len(made.plans) - 1
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
                made.plans,
                made.mechanism,
                self.table.ledger,
                together,
                share=share,
                fresh=fresh,
                timeout=timeout,
            )
        except BudgetExceeded as refusal:
            raise refused(refusal, made, goal, said) from None
        pairs = list(zip(made.plans, answers, strict=True))
        finished = or_failed(
            lambda: [
                plan.finish(answer) if isinstance(plan, Planned) else answer
                for plan, answer in pairs
            ]
        )
        return tuple(
            replace(answer, rules=(*answer.rules, *said)) if said else answer for answer in finished
        )

    def _shared(
        self, promises: Sequence[Guarantee], size: int, declared: Declared | None
    ) -> tuple[Plan, ...]:
        return tuple(
            question.plan(promise, size, declared)
            for question, promise in zip(self.each, promises, strict=True)
        )

    def _gaussian(
        self, promise: Approx, shares: tuple[Fraction, ...], size: int, declared: Declared | None
    ) -> Batch:
        """Gaussian noise for all, stated once."""
        epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
        square = largest_mu(epsilon, delta) ** 2
        plans = self._shared([GDP.from_square(square * share) for share in shares], size, declared)
        whole = Several(
            [part for plan in plans for part in plan.mechanism.parts], epsilon=epsilon, delta=delta
        )
        return Batch(plans, shares, promise, whole)


def _spread(made: Batch) -> float:
    return sum(spread(plan.calibration) for plan in made.plans)
