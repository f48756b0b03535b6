"""The plan of a text: that of its query, with what is expected of the columns that are shown.

*Computed*   `SUM(x) / COUNT(*)` has an error that depends on the numbers themselves. It is given
             for a group of the assumed size whose values lie at the lower ends of their bounds, in
             the middle, or at the upper ends, whichever is worst: how far the result can be off
             while all its operands keep their own errors, all at once with the wanted probability.
             Infinite where a divisor may then be zero.
*Quantiles*  are off by a number of rows, and what that is in values is not public: what is computed
             from one has no expected error, and NaN says so.
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
from ..tables.plan.components import Column as Planning
from ..tables.plan.query_plan import Plan
from .answer_expressions import Released
from .postprocess import Finishing, Shown

_PLACES = (
    Fraction(0),
    Fraction(1, 2),
    Fraction(1),
)  # between the bounds: where values are assumed to lie


@dataclass(frozen=True, eq=False)
class Planned(Plan):
    """The plan of a text."""

    finish: Finishing = field(kw_only=True)

    @classmethod
    def of(cls, plan: Plan, finish: Finishing) -> Planned:
        """The plan of the query, and what is made of its answer."""
        return cls(
            plan.query,
            plan.promise,
            plan.pieces,
            plan.columns,
            plan.calibration,
            plan.source,
            plan.group_size,
            finish=finish,
        )

    @property
    def kinds(self) -> dict[str, str]:
        """Of each column that is shown."""
        own = super().kinds
        return {
            shown.name: own[shown.of.value]
            if shown.of.op == "aggregate"
            else self._kind(shown.of, own)
            for shown in self.finish.columns
        }

    def error(
        self, confidence: Number = 0.95, *, group_size: int | None = None
    ) -> dict[str, float]:
        """Expected ± of each column that is shown, at this confidence."""
        level, size = (
            probability(confidence, "confidence", zero=False),
            group_size or self.group_size,
        )
        own = super().error(confidence, group_size=size)
        return {
            shown.name: own[shown.of.value]
            if shown.of.op == "aggregate"
            else self._computed(shown, level, size)
            for shown in self.finish.columns
        }

    def about(self, name: str, error: float) -> str:
        """What is said of a column's error."""
        shown = next(column for column in self.finish.columns if column.name == name)
        chosen = (
            ", in each group before groups are chosen by noisy values"
            if self.finish.chooses
            else ""
        )
        return self._about(shown, error) + (chosen if math.isfinite(error) else "")

    def _about(self, shown: Shown, error: float) -> str:
        if shown.of.op == "aggregate":
            return super().about(shown.of.value, error)
        if math.isnan(error):
            return (
                "not known before: it is computed from a quantile, which is off by rows, and "
                "how far that is in values is not public"
            )
        if math.isinf(error):
            return (
                f"without limit in a group of {self.group_size} rows: with the noise a "
                f"divisor may be 0, or there are too few rows"
            )
        return f"± {error:.4g} in a group of {self.group_size} rows, with probability 0.95"

    @staticmethod
    def _kind(node: Released, own: dict[str, str]) -> str:
        return (
            "quantile"
            if {"quantile", "percentile"} & {own[name] for name in node.aggregates}
            else "computed"
        )

    def _computed(self, shown: Shown, level: Fraction, size: int) -> float:
        leaves = {
            column.name: column for column in self.columns if column.name in shown.of.aggregates
        }
        if any(column.kind in ("quantile", "percentile") for column in leaves.values()):
            return math.nan
        draws = len({piece for column in leaves.values() for piece in column.pieces})
        halves = {
            name: self._error(column, 1 - (1 - level) * len(column.pieces) / draws, size)
            for name, column in leaves.items()
        }
        made = Column(
            shown.name,
            "computed",
            tuple(range(len(leaves))),
            formula=_formula(shown.of, list(leaves)),
        )
        worst = 0.0
        for place in _PLACES:
            worst = max(
                worst,
                _apart(
                    made,
                    {name: _assumed(column, size, place) for name, column in leaves.items()},
                    halves,
                ),
            )
        return up(Fraction(worst)) if math.isfinite(worst) else worst


def _apart(made: Column, values: Mapping[str, float], halves: Mapping[str, float]) -> float:
    """How far a computed column may be off around these values of its operands."""
    near = formula.values(made, lambda leaf: np.array([values[leaf.name]]))
    low, high = formula.interval(
        made,
        lambda leaf: (
            np.array([values[leaf.name] - halves[leaf.name]]),
            np.array([values[leaf.name] + halves[leaf.name]]),
        ),
    )
    found = max(float(high[0] - near[0]), float(near[0] - low[0]))
    return math.inf if math.isnan(found) else found


def _assumed(column: Planning, size: int, place: Fraction) -> float:
    """What a column would say of a group of so many rows, whose values lie at this place between
    their bounds.
    """
    if column.kind in ("count", "count_units", "count_distinct"):
        return float(size)
    if column.kind == "ratio":
        top, bottom = (
            column.numbers[f"{by}low"]
            + place * (column.numbers[f"{by}high"] - column.numbers[f"{by}low"])
            for by in ("", "by_")
        )
        return float(top / bottom) if bottom else math.inf
    low, high = column.numbers["low"], column.numbers["high"]
    half = (high - low) / 2
    found = {"variance": place * half**2, "std": place * half}.get(
        column.kind, low + place * (high - low)
    )
    return float(found * size if column.kind == "sum" else found)


def _formula(node: Released, names: list[str]) -> Formula:
    if node.op == "number":
        return Formula("number", number=node.value)
    if node.op == "aggregate":
        return Formula("column", column=Column(node.value, "count", (names.index(node.value),)))
    return Formula(node.op, tuple(_formula(arg, names) for arg in node.args))
