"""Several questions released together: one promise for all, one charge, one moment.

*Shares*    A question's share of the promise (of ε and δ, of ρ, of μ²) is in proportion to its noisy numbers: its pieces and quantiles, and one for the
            selection of groups. So every number of the batch has the same noise relative to what a row may add, as the numbers of one question have.
*Together*  Where the promise is (ε, δ), and only noise is added under public keys, two ways are compared: shares of ε and δ, or Gaussian noise for all
            numbers of all questions, stated once as (ε, δ). The second is better where there are many.
*Charge*    One entry of the ledger, before anything is read. Each answer is stored under its question; the same batch again gives them, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..answers.answer import Answer
from ..errors import Refused
from ..exact.numbers import Number
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from ..guarantees.gdp import largest_mu
from ..mechanisms import Several
from ..release import release_all
from ..sql.planned import Planned
from ..tables.calibrate import spread
from ..tables.plan import Plan
from ..tables.sentences import cost_text
from ..tables.stages import Query
from .payments import settled
from .questions import Question

if TYPE_CHECKING:
    from .table import Table

MOST = 256

SHARED: dict[type[Guarantee], Callable[[Guarantee, Fraction], Guarantee]] = {
    Pure: lambda promise, share: Pure(promise.parameters["epsilon"] * share),
    Approx: lambda promise, share: Approx(promise.parameters["epsilon"] * share, promise.parameters["delta"] * share),
    ZCDP: lambda promise, share: ZCDP(promise.parameters["rho"] * share, promise.parameters.get("delta", Fraction(0)) * share),
    GDP: lambda promise, share: GDP.from_square(promise.mu_squared * share),  # type: ignore[attr-defined]
}
"""A share of a promise, by its notion."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The plans of several questions, their shares of the promise, and all of the noise as one entry."""

    plans: tuple[Plan, ...]
    shares: tuple[Fraction, ...]
    promise: Guarantee
    mechanism: Several

    @property
    def cost(self) -> Guarantee:
        """Of all together."""
        return self.mechanism.promise

    def error(self, confidence: Number = 0.95, *, group_size: int | None = None) -> tuple[dict[str, float], ...]:
        """Expected ± of each column of each question."""
        return tuple(plan.error(confidence, group_size=group_size) for plan in self.plans)

    def explain(self) -> str:
        """What would happen, in sentences."""
        parts = [f"share   {share} of {cost_text(self.promise)}\n{plan.explain()}" for share, plan in zip(self.shares, self.plans, strict=True)]
        return "\n\n".join([f"batch   {len(parts)} questions, together {cost_text(self.cost)}", *parts])

    def __str__(self) -> str:
        return self.explain()


def batch(table: Table, asked: Sequence[Query | str], promise: Guarantee, group_size: int, parameters: Sequence[Any] | None) -> Batch:
    """Plan several questions for one promise. Reads nothing."""
    questions = _known(table, asked, parameters)
    if type(promise) not in SHARED:
        kinds = ", ".join(f"sf.{notion.__name__}" for notion in SHARED)
        raise Refused("plan.promise", f"{promise}", "a promise of one number, or of one and a δ, can be shared out", f"promise= one of {kinds}")
    first = [question.plan(promise, group_size) for question in questions]
    if len({plan.text for plan in first}) < len(first):
        raise Refused("plan.batch", f"{len(first)} questions", "two of them are the same: once is enough", "each question once")
    sizes = [sum(not piece.pooled for piece in plan.pieces) + (not plan.query.public) for plan in first]
    shares = tuple(Fraction(size, sum(sizes)) for size in sizes)
    plans = tuple(question.plan(SHARED[type(promise)](promise, share), group_size) for question, share in zip(questions, shares, strict=True))
    made = Batch(plans, shares, promise, Several([plan.mechanism for plan in plans]))
    other = _gaussian(questions, first, shares, promise, group_size)
    return made if other is None or _spread(made) <= _spread(other) else other


def released(table: Table, planned: Callable[[], Batch], share: str | None, *, fresh: bool, timeout: float | None) -> tuple[Answer, ...]:
    """The answers, in the order of the questions; a share also pays for what they show of what others learned."""
    made = planned()
    if share is not None and settled(made.plans, made.mechanism, table.ledger, share, fresh=fresh):
        made = planned()
    others = len(made.plans) - 1
    said = (f"released together with {others} other question{'s' if others > 1 else ''}: the cost is that of all",) if others else ()
    answers = release_all(made.plans, made.mechanism, table.ledger, said, share=share, fresh=fresh, timeout=timeout)
    return tuple(plan.finish(answer) if isinstance(plan, Planned) else answer for plan, answer in zip(made.plans, answers, strict=True))


def _known(table: Table, asked: Sequence[Query | str], parameters: Sequence[Any] | None) -> list[Question]:
    if isinstance(asked, str | Query | Mapping) or not 1 <= len(found := list(asked)) <= MOST:
        raise Refused(
            "plan.batch", "release_all(…)", f"a batch is a list of 1 to {MOST} questions", f"{table.name}.release_all([query, 'SELECT …'], epsilon=1)"
        )
    values = list(parameters) if parameters is not None else [None] * len(found)
    if len(values) != len(found):
        raise Refused(
            "plan.batch", f"{len(values)} parameters=", f"there are {len(found)} questions, each with its own parameters or None", "parameters=[…, None]"
        )
    questions = [Question(table, one, own) for one, own in zip(found, values, strict=True)]
    if any(question.explains for question in questions):
        raise Refused("plan.batch", "EXPLAIN PRIVACY", "a batch is explained as a whole", f"{table.name}.plan_all([…], epsilon=1).explain()")
    return questions


def _gaussian(questions: list[Question], first: list[Plan], shares: tuple[Fraction, ...], promise: Guarantee, group_size: int) -> Batch | None:
    """Gaussian noise for all, stated once; None where a part of it is something else, or the promise has no δ."""
    alone = all(plan.query.public and all(piece.form != "point" for piece in plan.pieces) for plan in first)
    if not isinstance(promise, Approx) or not promise.parameters["delta"] or not alone:
        return None
    epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
    square = largest_mu(epsilon, delta) ** 2
    plans = [question.plan(GDP.from_square(square * share), group_size) for question, share in zip(questions, shares, strict=True)]
    whole = Several([part for plan in plans for part in plan.mechanism.parts], epsilon=epsilon, delta=delta)
    return Batch(tuple(plans), shares, promise, whole)


def _spread(made: Batch) -> float:
    return sum(spread(plan.pieces, plan.calibration) for plan in made.plans)
