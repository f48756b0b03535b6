"""Accuracy first: the least cost that gives ± `within`, at a confidence.

*Search*    in the currency of the budget: ε, ρ or μ², of four decimal digits, rounded up. The error
            falls as the cost grows, so halving finds the least; the plan that is found is checked
            to be within.
*Levels*    hold for each cell by itself. With `simultaneous`, for all cells of a column together:
            the number of groups has to be public, and each cell may miss with its part of what all
            may miss.
*Honest*    How exact a mean, a spread or a quotient is depends on how many rows it is of, which is
            not public: it needs `group_size=`. A quantile is off by rows, and how far that is in
            values is not public: no cost is known to bring it within a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..errors import Refused
from ..exact.numbers import Number, positive, probability, shown, text
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from ..tables.plan.query_plan import Plan
from .promises import PART, promise_of

Within = Number | Mapping[str, Number]
Make = Callable[[Guarantee, int], Plan]
"""The plan of a question for a promise and an assumed size of groups."""

GROUP_SIZE = 1000
LEAST, MOST = -9, 4  # powers of ten between which a cost is looked for
_POWER = 9000  # amounts of four digits from one power of ten to the next
ADDITIVE = frozenset({"count", "count_units", "count_distinct", "sum", "histogram"})
"""Kinds of columns whose error is that of their noise."""
RANKED = frozenset({"quantile", "percentile"})
"""Kinds whose error is a number of rows. Of all others it depends on how many rows they are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted of an answer: a promise, or an accuracy at any cost that is left."""

    budget: Guarantee
    promise: Guarantee | None = None
    within: Within | None = None
    delta: Fraction = Fraction(0)
    confidence: Fraction = Fraction(19, 20)
    simultaneous: bool = False
    group_size: int | None = None

    @classmethod
    def of(
        cls,
        budget: Guarantee,
        *,
        epsilon: Number | None,
        delta: Number | None,
        promise: Guarantee | None,
        within: Within | None,
        confidence: Number,
        simultaneous: bool,
        group_size: int | None,
    ) -> Goal:
        """Said in one way; refused where it is said in two."""
        level = probability(confidence, "confidence", zero=False)
        if within is None:
            return cls(
                budget=budget,
                promise=promise_of(budget, epsilon, delta, promise),
                confidence=level,
                group_size=group_size,
            )
        if epsilon is not None or promise is not None:
            raise Refused(
                "within.promise",
                "epsilon=…, within=…",
                "either the cost is given or the accuracy",
                "within=25",
            )
        spare = budget.parameters.get("delta", Fraction(0))
        own = (
            probability(delta, "delta")
            if delta is not None
            else spare / PART
            if isinstance(spare, Fraction)
            else Fraction(0)
        )
        return cls(
            budget=budget,
            within=within,
            delta=own,
            confidence=level,
            simultaneous=simultaneous,
            group_size=group_size,
        )

    def plan(self, make: Make) -> Plan:
        """The plan that keeps the promise, or the cheapest that is within."""
        size = GROUP_SIZE if self.group_size is None else self.group_size
        if self.promise is not None:
            return make(self.promise, size)
        first = make(self._promised(Fraction(1)), size)
        wanted = _wanted(self.within, first, self.group_size)

        def enough(amount: Fraction) -> Plan | None:
            try:
                made = first if amount == 1 else make(self._promised(amount), size)
            except Refused:  # with so much noise sums would leave the engine's integers
                return None
            return (
                made
                if all(
                    made.error(self._level(made, name))[name] <= most
                    for name, most in wanted.items()
                )
                else None
            )

        return least(enough, f"within={_said(self.within)}")

    def _promised(self, amount: Fraction) -> Guarantee:
        return CURRENCIES.get(type(self.budget), _epsilon)(amount, self.delta)

    def _level(self, plan: Plan, name: str) -> Fraction:
        if not self.simultaneous:
            return self.confidence
        if not plan.query.public:
            reason = (
                "how many groups there are is not public, so what each of them may miss is "
                "not known"
            )
            raise Refused(
                "within.groups",
                "simultaneous=True",
                reason,
                "keys={…} in protect(…), or without simultaneous",
            )
        bins = max(
            1,
            max(
                (len(column.edges) - 1 for column in plan.columns if column.name == name), default=1
            ),
        )
        return 1 - (1 - self.confidence) / (
            bins * math.prod(len(domain) for domain in plan.query.domains)
        )


def _epsilon(amount: Fraction, delta: Fraction) -> Guarantee:
    return Approx(amount, delta) if delta else Pure(amount)


CURRENCIES: dict[type[Guarantee], Callable[[Fraction, Fraction], Guarantee]] = {
    Pure: _epsilon,
    Approx: _epsilon,
    ZCDP: lambda amount, delta: ZCDP(amount, delta) if delta else ZCDP(amount),
    GDP: lambda amount, delta: GDP.from_square(amount),
}
"""A cost of this amount, in the currency of a budget."""


def least(enough: Callable[[Fraction], Plan | None], place: str) -> Plan:
    """The plan of the least amount of four digits for which there is one."""
    low, high, best = LEAST * _POWER, MOST * _POWER, enough(_amount(MOST * _POWER))
    if best is None:
        reason = "no cost is high enough: the grid of the values alone moves the answer further"
        raise Refused(
            "within.reach",
            place,
            reason,
            "a larger within=, narrower bounds, or a smaller max_rows=",
        )
    for near in range(
        0, low, -_POWER
    ):  # most answers cost about 1: from there down by powers of ten
        found = enough(_amount(near))
        if found is None:
            low = near
            break
        high, best = near, found
    while high - low > 1:
        middle = (low + high) // 2
        found = enough(_amount(middle))
        low, high, best = (middle, high, best) if found is None else (low, middle, found)
    return best


def _amount(place: int) -> Fraction:
    """1.000, 1.001, …, 9.999, 10.00, 10.01, … and down from 1 likewise: every amount of four
    digits, by its place.
    """
    power, digits = divmod(place, _POWER)
    return Fraction(10) ** power * (1 + Fraction(9 * digits, _POWER))


def _wanted(within: Within | None, plan: Plan, group_size: int | None) -> dict[str, float]:
    """How exact which columns are to be; refused where no cost is known to bring that about."""
    kinds = plan.kinds
    if not isinstance(within, Mapping):
        if len(kinds) != 1:
            rewrite = f"within={{{next(iter(kinds))!r:.60}: {shown(within)}}}"
            raise Refused(
                "within.columns",
                f"within={shown(within)}",
                f"there are {len(kinds)} columns: say which of them",
                rewrite,
            )
        within = {next(iter(kinds)): within}  # type: ignore[dict-item]
    if not within:
        raise Refused(
            "within.columns",
            "within={}",
            "no column is named",
            f"within={{{next(iter(kinds))!r:.60}: 25}}",
        )
    for name in within:
        if name not in kinds:
            raise Refused(
                "within.columns",
                f"within={{{name!r:.60}: …}}",
                f"the answer has {', '.join(kinds)}",
                f"within={{{next(iter(kinds))!r:.60}: 25}}",
            )
        if kinds[name] not in ADDITIVE | RANKED and group_size is None:
            reason = (
                f"how exact a {kinds[name].replace('_', ' ')} is depends on how many rows it "
                f"is of, which is not public: assume a number"
            )
            raise Refused(
                "within.group-size",
                f"within={{{name!r:.60}: …}}",
                reason,
                "group_size=1000: the rows of the smallest group that matters",
            )
        if kinds[name] in RANKED:
            reason = (
                "a quantile is off by a number of rows; how far that is in values depends on "
                "the values around it"
            )
            raise Refused(
                "within.quantile",
                f"within={{{name!r:.60}: …}}",
                reason,
                "epsilon=0.1: plan(…).error() says how many rows that is",
            )
    return {name: float(positive(most, f"within[{name!r:.60}]")) for name, most in within.items()}


def _said(within: Within | None) -> str:
    return (
        "{…}"
        if isinstance(within, Mapping)
        else text(positive(within, "within"))
        if within is not None
        else ""
    )
