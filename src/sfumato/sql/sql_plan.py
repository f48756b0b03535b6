"""Plan a text: the plan of its query, with the expected errors of the columns that the text shows.

*Computed*   The error of `SUM(x) / COUNT(*)` depends on the numbers themselves. The plan assumes a
             group of `group_size` rows whose values lie at the lower ends of their bounds, in the
             middle, or at the upper ends, whichever is worst: how far the result can be off while
             all its operands keep their own errors, all at once with the requested probability.
             The error is infinite if a divisor may then be zero.
*Groups*     A window, or an aggregate over released groups, has no expected error: it depends on
             the groups, so the plan says NaN.
*Quantiles*  are off by a number of rows, and the distance in values is not public: a column
             computed from one has no expected error, and the plan says NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ..answers import formula
from ..answers.answer_records import Column
from ..answers.formula import Formula
from ..exact.balls import up
from ..exact.numbers import Number, probability
from ..tables.aggregates import KINDS
from ..tables.plan.components import ColumnPlan as Planning
from ..tables.plan.query_plan import Plan
from .answer_expressions import AnswerExpression
from .postprocess import PostProcessing
from .released.answer_columns import ShownColumn

_PLACES = (
    Fraction(0),
    Fraction(1, 2),
    Fraction(1),
)  # between the bounds: where values are assumed to lie


@dataclass(frozen=True, eq=False, repr=False)
class SqlPlan(Plan):
    """The plan of a text: the plan of its query, and its post-processing."""

    finish: PostProcessing = field(kw_only=True)

    @classmethod
    def of(cls, plan: Plan, finish: PostProcessing) -> SqlPlan:
        """Add the post-processing of a text to the plan of its query."""
        return cls(
            plan.query,
            plan.promise,
            plan.components,
            plan.columns,
            plan.calibration,
            plan.source,
            plan.group_size,
            plan.workload,
            finish=finish,
        )

    @property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each column that the text shows."""
        aggregate_kinds = super().kinds
        return {
            shown.name: aggregate_kinds[of.value]
            if of is not None and of.op == "aggregate"
            else self._kind(of, aggregate_kinds)
            for shown, of in self._shown
        }

    @property
    def _shown(self) -> list[tuple[ShownColumn, AnswerExpression | None]]:
        """Return the columns that the text shows, in terms of the released query; None for columns
        across groups.
        """
        return [(shown, self.finish.released(shown.of)) for shown in self.finish.columns]

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float]:
        """Return the expected ± of each column that the text shows, at this confidence."""
        level, size = (
            probability(confidence, "confidence", zero=False),
            group_size or self.group_size,
        )
        aggregate_errors = super().error(confidence, group_size=size)
        return {
            shown.name: math.nan
            if of is None
            else aggregate_errors[of.value]
            if of.op == "aggregate"
            else self._computed(shown.name, of, level, size)
            for shown, of in self._shown
        }

    def about(self, name: str, error: float) -> str:
        """Describe the expected error of a column."""
        shown = next(column for column in self.finish.columns if column.name == name)
        chosen = (
            ", in each group before groups are chosen by noisy values"
            if self.finish.chooses
            else ""
        )
        return self._about(shown, error) + (chosen if math.isfinite(error) else "")

    def _about(self, shown: ShownColumn, error: float) -> str:
        of = self.finish.released(shown.of)
        if of is None:
            return (
                "follows from the released groups, for nothing; its interval comes with the answer"
            )
        if of.op == "aggregate":
            return super().about(of.value, error)
        if math.isnan(error):
            return (
                "not known before: it is computed from a quantile, whose error is known in rows, "
                "not in values"
            )
        if math.isinf(error):
            return (
                f"without limit in a group of {self.group_size} rows: the noise may make a "
                f"divisor 0, or the group is too small"
            )
        return f"± {error:.4g} in a group of {self.group_size} rows, with probability 0.95"

    @staticmethod
    def _kind(node: AnswerExpression | None, kinds: dict[str, str]) -> str:
        return (
            "quantile"
            if node is not None
            and "rank" in {KINDS[kinds[name]].error_of for name in node.aggregates}
            else "computed"
        )

    def _computed(self, name: str, of: AnswerExpression, level: Fraction, size: int) -> float:
        leaves = {column.name: column for column in self.columns if column.name in of.aggregates}
        if any(KINDS[column.kind].error_of == "rank" for column in leaves.values()):
            return math.nan
        halves = {
            name: max(
                table._error(column, 1 - (1 - level) / len(leaves), size)
                for table in self.tables or (self,)
            )
            for name, column in leaves.items()
        }
        computed = Column(
            name,
            "computed",
            tuple(range(len(leaves))),
            formula=_formula(of, list(leaves)),
        )
        worst = 0.0
        for place in _PLACES:
            worst = max(
                worst,
                _worst_distance(
                    computed,
                    {name: _assumed_value(column, size, place) for name, column in leaves.items()},
                    halves,
                ),
            )
        return up(Fraction(worst)) if math.isfinite(worst) else worst


def _worst_distance(
    column: Column, values: Mapping[str, float], halves: Mapping[str, float]
) -> float:
    """Return how far a computed column may be off around these values of its operands."""
    near = formula.values(column, lambda leaf: np.array([values[leaf.name]]))
    low, high = formula.interval(
        column,
        lambda leaf: (
            np.array([values[leaf.name] - halves[leaf.name]]),
            np.array([values[leaf.name] + halves[leaf.name]]),
        ),
    )
    distance = max(float(high[0] - near[0]), float(near[0] - low[0]))
    return math.inf if math.isnan(distance) else distance


def _assumed_value(column: Planning, size: int, place: Fraction) -> float:
    """Return the value of a column for a group of `size` rows, if all values lie at `place` between
    their bounds.
    """
    value = KINDS[column.kind].assume(column.numbers, size, place)
    return math.inf if value is None else float(value)


def _formula(node: AnswerExpression, names: list[str]) -> Formula:
    if node.op == "number":
        return Formula("number", number=node.value)
    if node.op == "aggregate":
        return Formula("column", column=Column(node.value, "count", (names.index(node.value),)))
    return Formula(node.op, tuple(_formula(arg, names) for arg in node.args))
