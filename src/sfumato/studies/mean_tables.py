"""Judge the tables 4.1–4.4 and 4.5–4.7 of the thesis, which have one layout: private answers and
exact means by size and ε, and the sizes of their differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .bands import mean_of_uniforms, uniforms_below, widen
from .means import MeanRuns, Shape, cells_of, correct_row, judge
from .printed import Interval, Printed, grouped
from .repairs import Repair
from .study import StudyRow

Done = Mapping[tuple[int, int], MeanRuns]
Wrong = Mapping[int, Repair | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanTables:
    """The printed numbers by n and ε. Entries are uniform on [low, low + 1]; `size` is the band of
    the noise, and `below` the probability of a smaller one.
    """

    shapes: tuple[Shape, ...]
    low: float
    answers: Mapping[tuple[int, int], tuple[str, str]]
    errors: Mapping[tuple[int, int], str]
    tables: Mapping[int, str]
    differences: str
    erratum: str
    size: Callable[[int, int], Interval]
    below: Callable[[int, int, float], float]

    @property
    def epsilons(self) -> tuple[int, ...]:
        return tuple(self.tables)

    @property
    def names(self) -> dict[str, str]:
        """The thesis's name of each cell."""
        errors = {
            f"error ε = {e}": f"difference of {self.differences}, ε = {e}" for e in self.epsilons
        }
        return errors | {
            f"private ε = {e}": f"private answer of {table}" for e, table in self.tables.items()
        }

    def judgements(self) -> dict[int, Repair | None]:
        """Find the misprints in the tables, by n."""
        levels = {f"ε = {epsilon}": epsilon for epsilon in self.epsilons}
        repairs = {}
        for n in (shape.n for shape in self.shapes):
            answers = {
                level: (Printed(self.answers[n, e][0]), Printed(self.answers[n, e][1]))
                for level, e in levels.items()
            }
            errors = {level: Printed(self.errors[n, e]) for level, e in levels.items()}
            size = {level: self.size(n, e) for level, e in levels.items()}
            repairs[n] = judge(cells_of(n, self.low, answers, errors, size), tuple(levels))
        return repairs

    def answer_rows(self, epsilon: int, done: Done, wrong: Wrong) -> list[StudyRow]:
        """Judge the private answer and the exact mean of every size."""
        rows = []
        for n in (shape.n for shape in self.shapes):
            band, runs = mean_of_uniforms(n, self.low), done[n, epsilon]
            private, exact = (Printed(text) for text in self.answers[n, epsilon])
            row = StudyRow.drawn(
                f"n = {grouped(n)}, private answer",
                private,
                runs.private,
                widen(band, self.size(n, epsilon)[1]),
            )
            rows.append(self._corrected(row, f"private ε = {epsilon}", wrong[n]))
            rows.append(
                self._corrected(
                    StudyRow.drawn(
                        f"n = {grouped(n)}, f(D)",
                        exact,
                        runs.exact,
                        band,
                        uniforms_below(n, self.low, exact.value),
                    ),
                    f"f ε = {epsilon}",
                    wrong[n],
                )
            )
        return rows

    def error_rows(self, done: Done, wrong: Wrong) -> list[StudyRow]:
        """Judge the size of the difference, for every size and ε."""
        rows = []
        for n in (shape.n for shape in self.shapes):
            for epsilon in self.epsilons:
                printed = Printed(self.errors[n, epsilon])
                row = StudyRow.drawn(
                    f"n = {grouped(n)}, ε = {epsilon}",
                    printed,
                    done[n, epsilon].errors,
                    self.size(n, epsilon),
                    self.below(n, epsilon, printed.value),
                )
                rows.append(self._corrected(row, f"error ε = {epsilon}", wrong[n]))
        return rows

    def _corrected(self, row: StudyRow, cell: str, repaired: Repair | None) -> StudyRow:
        return correct_row(row, cell, repaired, (self.erratum,), self.names)
