"""What a stream will cost and how accurate it will be: all known before data is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

from ..exact.numbers import Number, probability, rounded
from ..guarantees import Approx, Guarantee
from ..mechanisms.series.running_sums import RunningSums
from ..tables.plan.components import ColumnPlan
from ..templates.summary import Summarized, Summary
from .stream_table import MeasuredComponent, widths

AFTER = (1, 7, 30, 365, 1_000, 3_650)
"""The numbers of periods for which a plan shows errors."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamPlan(Summarized):
    """The cost of a stream, what it protects, and the error of its sums after some periods."""

    cost: Guarantee
    protects: str
    dataset: str
    every: str
    columns: tuple[ColumnPlan, ...]
    measures: tuple[MeasuredComponent, ...]
    released: int
    any_periods: int | None
    most_periods: int | None  # that can be measured: one call sums so many numbers

    def cost_over(self, periods: int) -> Guarantee:
        """Return what is promised about all that a unit does in so many consecutive periods, in
        the notion of the cost; of a stream with `any_periods`.
        """
        total = reduce(add, (measure.noise.promise_over(periods) for measure in self.measures))
        delta = self.cost.parameters.get("delta") or None
        return total.to(type(self.cost), delta=delta if isinstance(self.cost, Approx) else None)

    @property
    def noise(self) -> RunningSums:
        """The mechanism of the first measure, whose shape is that of all."""
        return self.measures[0].noise

    def error(
        self, after: int, *, periods: int | None = None, confidence: Number = 0.95
    ) -> dict[str, float]:
        """Return the ± of each column in the total after so many periods, or in the sum of the last
        `periods` of them. For a mean: that of its sum, to be divided by the number of rows.
        """
        level = probability(confidence, "confidence", zero=False)
        first = 1 if periods is None else max(1, after - periods + 1)
        ranges = [(first, after)]
        return {
            column.name: float(widths(column, self.measures, ranges, level)[0])
            for column in self.columns
        }

    def _summary(self) -> Summary:
        noise, every = self.noise, self.every
        few = 7 if every == "day" else 1
        kinds: list[tuple[str, int | None]] = [("total", None), (_span(few, every), few)]
        if noise.window is not None:
            kinds = [(_span(noise.window, every), noise.window)]
        # the errors of windows stay as they are from about there on
        last = noise.length if noise.window is None else 4 * noise.window
        points = list(AFTER) if last is None else [*(n for n in AFTER if n < last), last]
        rows: list[list[str]] = []
        for after in points:
            for kind, periods in kinds:
                if rows and periods is not None and periods >= after and noise.window is None:
                    continue  # the same as the total
                errors = self.error(after, periods=periods)
                rows.append(
                    [f"{after:,}".replace(",", " "), kind]
                    + [f"± {errors[column.name]:.4g}" for column in self.columns]
                )
        means = [column.name for column in self.columns if column.kind == "mean"]
        return Summary(
            title=f"stream · cost {self.cost.numbers_text} for ever · nothing is read or charged",
            heads=(f"{every}s", "sum", *(column.name for column in self.columns)),
            rows=rows,
            numbers=frozenset([0, *range(2, 2 + len(self.columns))]),
            notes=[
                self.protects,
                self._longer,
                f"paid once, by the budget of {self.dataset}",
                f"{', '.join(means)}: divide by the number of rows" if means else "",
                f"{self.released} {every}s are published" if self.released else "",
                f"so many groups can be published for {self.most_periods:,} {every}s, and no longer"
                if self.most_periods is not None
                else "",
            ],
        )

    @property
    def _longer(self) -> str:
        """What the promise comes to over four times as many periods, for a sentence."""
        if self.any_periods is None:
            return ""
        longer = 4 * self.any_periods
        cost = self.cost_over(longer)
        if isinstance(cost, Approx):
            cost = Approx(rounded(cost.parameters["epsilon"], "up", 3), cost.parameters["delta"])
        return f"over {longer} consecutive {self.every}s that promise is {cost.numbers_text}"


def _span(periods: int, every: str) -> str:
    return f"last {periods} {every}s" if periods > 1 else f"last {every}"
