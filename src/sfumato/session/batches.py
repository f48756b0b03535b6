"""A batch: several questions released together, with one promise, one charge and one time stamp.

*Shares*    A question's share of the promise (of ε and δ, of ρ, of μ²) is in proportion to its
            measurements: its blocks of cells, its other components and quantiles, and one for the
            selection of groups. So each of them in the batch has the same noise relative to what a
            row may add.
*Together*  If the promise is (ε, δ) and the batch only adds noise under public keys, the planner
            compares two ways: shares of ε and δ, or Gaussian noise for all numbers of all
            questions, stated once as (ε, δ). The second is better for many numbers.
*Charge*    One ledger entry, before anything is read. Each answer is stored under its question;
            releasing the same batch again returns the stored answers, free of charge.
*Learning*  Limits that any question lacks are learned first, once for all, for an extra sixth of
            the promise: as for one question, and charged in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ..exact.numbers import Number
from ..guarantees import GDP, Approx, Guarantee
from ..guarantees.gdp import largest_mu
from ..mechanisms import Combined
from ..tables.plan.choose_noise import relative_variance
from ..tables.plan.explain import cost_text
from ..tables.plan.explain_groupings import compare_report
from ..tables.plan.query_plan import Plan
from ..templates.summary import ShownText, Summarized, Summary
from . import session_refusals as refusals
from .promises import share_of
from .questions import ResolvedQuestion


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch(Summarized):
    """The plans of several questions, their shares of the promise, and their joint mechanism."""

    plans: tuple[Plan, ...]
    shares: tuple[Fraction, ...]
    promise: Guarantee
    mechanism: Combined

    @classmethod
    def of(cls, plan: Plan) -> Batch:
        """Return one plan as a batch."""
        return cls((plan,), (Fraction(1),), plan.promise, plan.mechanism)

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
        title = f"batch   {len(parts)} questions, together {cost_text(self.cost)}"
        report = compare_report(self.plans) if len(parts) > 1 else ""
        return ShownText("\n\n".join(["\n".join(filter(None, [title, report])), *parts]))

    def __str__(self) -> str:
        return self.explain()

    def _summary(self) -> Summary:
        return summarize_batch(self.cost, self.shares, self.plans)


class QuestionPlan(Protocol):
    """A plan of one question, as a summary needs it."""

    @property
    def text(self) -> str: ...

    def error(self) -> Mapping[str, float | str]: ...


def summarize_batch(
    cost: Guarantee,
    shares: Sequence[Fraction],
    plans: Sequence[QuestionPlan],
    notes: Sequence[str] = (),
) -> Summary:
    """Summarize a batch: its cost, and the share and the expected errors of each question."""
    rows = []
    for share, plan in zip(shares, plans, strict=True):
        errors = [
            f"{name} {error if isinstance(error, str) else f'± {error:.4g}'}"
            for name, error in plan.error().items()
        ]
        rows.append((plan.text.replace("\n", " · "), str(share), ", ".join(errors)))
    return Summary(
        title=f"plan of {len(plans)} questions · cost {cost.numbers_text} · nothing is read or "
        f"charged",
        heads=("question", "share", "expected error"),
        rows=rows,
        notes=[*notes, "explain() says it in full"],
    )


def plan_batch(resolved: Iterable[ResolvedQuestion], promise: Guarantee, size: int) -> Batch:
    """Plan questions for one promise, with groups of an assumed size. Reads no data."""
    share_of(promise, Fraction(1))  # refuses a promise that cannot be split
    questions, first = zip(
        *((question, question.plan(promise, size)) for question in resolved), strict=True
    )
    if len({plan.text for plan in first}) < len(first):
        raise refusals.BATCH_WITH_EQUAL_QUESTIONS(count=len(first))
    sizes = [
        sum(not plan.components[block.places[0]].pooled for block in plan.calibration.blocks)
        + (not plan.query.public)
        for plan in first
    ]
    shares = tuple(Fraction(number, sum(sizes)) for number in sizes)
    plans = _plan_each(questions, [share_of(promise, share) for share in shares], size)
    apart = Batch(plans, shares, promise, Combined([plan.mechanism for plan in plans]))
    only_noise = all(
        plan.query.public and all(piece.form != "point" for piece in plan.components)
        for plan in first
    )
    if not only_noise or not isinstance(promise, Approx) or not promise.parameters["delta"]:
        return apart
    gaussian = _plan_gaussian(questions, promise, shares, size)
    return apart if _spread(apart) <= _spread(gaussian) else gaussian


def _plan_each(
    questions: Sequence[ResolvedQuestion], promises: Sequence[Guarantee], size: int
) -> tuple[Plan, ...]:
    return tuple(
        question.plan(promise, size) for question, promise in zip(questions, promises, strict=True)
    )


def _plan_gaussian(
    questions: Sequence[ResolvedQuestion], promise: Approx, shares: tuple[Fraction, ...], size: int
) -> Batch:
    """Plan with Gaussian noise for all questions, stated once as (ε, δ)."""
    epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
    square = largest_mu(epsilon, delta) ** 2
    plans = _plan_each(questions, [GDP.from_square(square * share) for share in shares], size)
    mechanism = Combined(
        [part for plan in plans for part in plan.mechanism.parts], epsilon=epsilon, delta=delta
    )
    return Batch(plans, shares, promise, mechanism)


def _spread(batch: Batch) -> float:
    return sum(relative_variance(plan.calibration, plan.columns) for plan in batch.plans)
