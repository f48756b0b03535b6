"""Accuracy first: the least cost that gives ± `within`, at a confidence.

*Search*    in the currency of the budget: ε, ρ or μ², of four decimal digits, rounded up. The error
            falls as the cost grows, so bisection finds the least cost; the final plan is checked to
            be within.
*Levels*    A confidence level holds for each cell by itself. With `simultaneous` it holds for all
            cells of a column together: the number of groups has to be public, and each cell gets
            an equal part of the probability of error.
*Honest*    The accuracy of a mean, a spread or a quotient depends on its number of rows, which is
            not public: it needs `group_size=`. A quantile is off by a number of rows, and how far
            that is in values is not public: no known cost brings it within a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from ..answers import KINDS
from ..errors import Refused
from ..exact.numbers import Number, positive, probability, shown, text
from ..guarantees import Guarantee
from ..tables.plan.query_plan import Plan
from ..tables.query.question_options import QuestionSettings, Within
from . import session_refusals as refusals
from .promises import DELTA_PARTS, promise_of

Make = Callable[[Guarantee, int], Plan]
"""Plans a question for a promise and an assumed group size."""

GROUP_SIZE = 1000
LEAST, MOST = -9, 4  # powers of ten between which a cost is looked for
_POWER = 9000  # amounts of four digits from one power of ten to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The goal of a release: a promise to keep, or an accuracy to reach at the least cost."""

    budget: Guarantee
    promise: Guarantee | None = None
    within: Within | None = None
    delta: Fraction = Fraction(0)
    confidence: Fraction = Fraction(19, 20)
    simultaneous: bool = False
    group_size: int | None = None

    @classmethod
    def of(cls, budget: Guarantee, settings: QuestionSettings) -> Goal:
        """Check the settings: exactly one of epsilon, promise or within must be given."""
        level = probability(settings.confidence, "confidence", zero=False)
        if settings.within is None:
            return cls(
                budget=budget,
                promise=promise_of(budget, settings),
                confidence=level,
                group_size=settings.group_size,
            )
        if settings.epsilon is not None or settings.promise is not None:
            raise refusals.ACCURACY_AND_PROMISE()
        spare = budget.parameters.get("delta", Fraction(0))
        spared = (
            probability(settings.delta, "delta")
            if settings.delta is not None
            else spare / DELTA_PARTS
            if isinstance(spare, Fraction)
            else Fraction(0)
        )
        return cls(
            budget=budget,
            within=settings.within,
            delta=spared,
            confidence=level,
            simultaneous=settings.simultaneous,
            group_size=settings.group_size,
        )

    def plan(self, make: Make) -> Plan:
        """Return the plan that keeps the promise, or the cheapest plan that is within."""
        size = GROUP_SIZE if self.group_size is None else self.group_size
        if self.promise is not None:
            return make(self.promise, size)
        first = make(self._promised(Fraction(1)), size)
        limits = _check_within(self.within, first, self.group_size)

        def enough(amount: Fraction) -> Plan | None:
            try:
                plan = first if amount == 1 else make(self._promised(amount), size)
            except Refused:  # with so much noise sums would leave the engine's integers
                return None
            is_within = all(
                plan.error(self._level(plan, name))[name] <= most for name, most in limits.items()
            )
            return plan if is_within else None

        return find_least(enough, _format_within(self.within))

    def _promised(self, amount: Fraction) -> Guarantee:
        return self.budget.cost_of(amount, self.delta)

    def _level(self, plan: Plan, name: str) -> Fraction:
        if not self.simultaneous:
            return self.confidence
        if not plan.query.public:
            raise refusals.ACCURACY_OF_UNKNOWN_GROUPS()
        bins = max(
            1,
            max(
                (len(column.edges) - 1 for column in plan.columns if column.name == name), default=1
            ),
        )
        return 1 - (1 - self.confidence) / (bins * plan.group_count)


def find_least(enough: Callable[[Fraction], Plan | None], within: str) -> Plan:
    """Return the plan of the least amount of four digits for which `enough` gives one."""
    low, high, best = LEAST * _POWER, MOST * _POWER, enough(_amount(MOST * _POWER))
    if best is None:
        raise refusals.ACCURACY_OUT_OF_REACH(within=within)
    # most answers cost about 1: from there down by powers of ten
    for near in range(0, low, -_POWER):
        plan = enough(_amount(near))
        if plan is None:
            low = near
            break
        high, best = near, plan
    while high - low > 1:
        middle = (low + high) // 2
        plan = enough(_amount(middle))
        low, high, best = (middle, high, best) if plan is None else (low, middle, plan)
    return best


def _amount(place: int) -> Fraction:
    """Return an amount of four digits by its place: 1.000, 1.001, …, 9.999, 10.00, 10.01, …; places
    below 0 go down from 1.
    """
    power, digits = divmod(place, _POWER)
    return Fraction(10) ** power * (1 + Fraction(9 * digits, _POWER))


def _check_within(within: Within | None, plan: Plan, group_size: int | None) -> dict[str, float]:
    """Return the largest error allowed per column; refuse what no known cost can reach."""
    kinds = plan.kinds
    first = next(iter(kinds))
    if not isinstance(within, Mapping):
        if len(kinds) != 1:
            raise refusals.ACCURACY_OF_SEVERAL_COLUMNS(
                within=shown(within), count=len(kinds), column=first
            )
        within = {first: cast("Number", within)}
    if not within:
        raise refusals.ACCURACY_WITHOUT_COLUMN(column=first)
    for name in within:
        if name not in kinds:
            raise refusals.ACCURACY_OF_UNKNOWN_COLUMN(
                name=name, columns=", ".join(kinds), column=first
            )
        error_of = KINDS[kinds[name]].error_of
        if error_of == "rank":
            raise refusals.ACCURACY_OF_QUANTILE(name=name)
        if error_of == "size" and group_size is None:
            raise refusals.ACCURACY_NEEDS_GROUP_SIZE(name=name, kind=kinds[name].replace("_", " "))
    return {name: float(positive(most, f"within[{name!r:.60}]")) for name, most in within.items()}


def _format_within(within: Within | None) -> str:
    return (
        "{…}"
        if isinstance(within, Mapping)
        else text(positive(within, "within"))
        if within is not None
        else ""
    )
