"""Release the mean of a matrix of uniform numbers with noise: shared by tables 4.1–4.7 of the
thesis and the survey's first run.

*Data*      Seeded, one matrix for each repetition: `matrix_means`. It describes no real person.
*Noise*     From the operating system, on a grid of 2⁻⁴⁰ or finer.
*Cells*     A table of private answers and exact means, and a table of the sizes of their
            differences, are judged together: see `repairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .bands import mean_of_uniforms, widen
from .printed import Interval, Printed, shown
from .repairs import PrintedCell, Repair, differences, repair
from .study import StudyRow

GRID = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of a matrix of the sources, which count every entry as a person."""

    rows: int
    columns: int

    @property
    def n(self) -> int:
        return self.rows * self.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRuns:
    """The exact and private means of all repetitions at one size and one ε."""

    exact: tuple[float, ...]
    private: tuple[float, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        return tuple(abs(p - f) for p, f in zip(self.private, self.exact, strict=True))


def matrix_means(shape: Shape, low: float, repetitions: int, seed: int) -> tuple[float, ...]:
    """Draw matrices of uniform numbers from [low, low + 1] and return their means."""
    generator = np.random.Generator(np.random.Philox(key=[seed, shape.n]))
    return tuple(
        float(generator.random((shape.rows, shape.columns)).mean()) + low
        for _ in range(repetitions)
    )


def release(exact: Sequence[float], perturb: Callable[[float], float]) -> MeanRuns:
    """Release every mean once."""
    return MeanRuns(exact=tuple(exact), private=tuple(float(perturb(f)) for f in exact))


def cells_of(
    n: int,
    low: float,
    answers: Mapping[str, tuple[Printed, Printed]],
    errors: Mapping[str, Printed],
    size: Mapping[str, Interval],
) -> dict[str, PrintedCell]:
    """Return the printed cells of one n, by level of ε: private answer, exact mean, and the size of
    their difference with the band of the noise.
    """
    band = mean_of_uniforms(n, low)
    cells: dict[str, PrintedCell] = {}
    for level, (private, exact) in answers.items():
        cells[f"private {level}"] = PrintedCell(
            printed=private.interval, band=widen(band, size[level][1])
        )
        cells[f"f {level}"] = PrintedCell(printed=exact.interval, band=band)
        cells[f"error {level}"] = PrintedCell(
            printed=errors[level].interval, band=size[level], derived=True
        )
    return cells


def judge(cells: Mapping[str, PrintedCell], levels: Sequence[str]) -> Repair | None:
    """Find the smallest correction that reconciles the cells with each other and with the noise
    law.
    """
    return repair(cells, differences(levels))


def correct_row(
    row: StudyRow,
    cell: str,
    repaired: Repair | None,
    errata: tuple[str, ...],
    names: Mapping[str, str],
) -> StudyRow:
    """Mark the row as a misprint if the repair corrects its cell."""
    if repaired is None or cell not in repaired.cells:
        return row
    low, high = repaired.cells[cell]
    words = [f"The other printed numbers leave {shown(low, 5)} to {shown(high, 5)}."]
    words += [
        f"A wrong {names[name]} would explain it too: print alone does not tell."
        for rival in repaired.rivals
        for name in rival
    ]
    words += [
        f"A wrong {names[name]} would explain it too, but noise of that size has no chance."
        for removed in repaired.excluded
        for name in removed
    ]
    return row.misprinted(" ".join(words), errata)
