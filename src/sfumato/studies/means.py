"""The mean of a matrix of uniform numbers, released with noise: what tables 4.1–4.7 of the thesis
and the survey's first run share.

*Data*      Seeded, one matrix for each repetition: `matrix_means`. Nobody is in it.
*Noise*     From the operating system, on a grid of 2⁻⁴⁰ or finer.
*Cells*     A table of private answers and exact means, and a table of the sizes of their
            differences, are judged together: see `repairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .bands import mean_of_uniforms, widened
from .printed import Interval, Printed, shown
from .repairs import Cell, Repair, differences, repair
from .study import Row

GRID = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A matrix of the sources: each of its entries was taken for a person."""

    rows: int
    columns: int

    @property
    def n(self) -> int:
        return self.rows * self.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The repetitions at one size and one ε."""

    exact: tuple[float, ...]
    private: tuple[float, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        return tuple(abs(p - f) for p, f in zip(self.private, self.exact, strict=True))


def matrix_means(shape: Shape, low: float, repetitions: int, seed: int) -> tuple[float, ...]:
    """The means of so many matrices of uniform numbers from [low, low + 1]."""
    generator = np.random.Generator(np.random.Philox(key=[seed, shape.n]))
    return tuple(
        float(generator.random((shape.rows, shape.columns)).mean()) + low
        for _ in range(repetitions)
    )


def release(exact: Sequence[float], perturb: Callable[[float], float]) -> Runs:
    """Every mean, released once."""
    return Runs(exact=tuple(exact), private=tuple(float(perturb(f)) for f in exact))


def cells_of(
    n: int,
    low: float,
    answers: Mapping[str, tuple[Printed, Printed]],
    errors: Mapping[str, Printed],
    size: Mapping[str, Interval],
) -> dict[str, Cell]:
    """The printed cells of one n, by level of ε: private answer and exact mean, and the size of the
    difference with the band of the noise.
    """
    band = mean_of_uniforms(n, low)
    cells: dict[str, Cell] = {}
    for level, (private, exact) in answers.items():
        cells[f"private {level}"] = Cell(
            printed=private.interval, band=widened(band, size[level][1])
        )
        cells[f"f {level}"] = Cell(printed=exact.interval, band=band)
        cells[f"error {level}"] = Cell(
            printed=errors[level].interval, band=size[level], derived=True
        )
    return cells


def judge(cells: Mapping[str, Cell], levels: Sequence[str]) -> Repair | None:
    """The smallest correction that reconciles the cells with each other and with the law of the
    noise.
    """
    return repair(cells, differences(levels))


def corrected(
    row: Row, cell: str, found: Repair | None, errata: tuple[str, ...], names: Mapping[str, str]
) -> Row:
    """The row, with its misprint if it has one."""
    if found is None or cell not in found.cells:
        return row
    low, high = found.cells[cell]
    words = [f"The other printed numbers leave {shown(low, 5)} to {shown(high, 5)}."]
    words += [
        f"A wrong {names[name]} would explain it too: print alone does not tell."
        for rival in found.rivals
        for name in rival
    ]
    words += [
        f"A wrong {names[name]} would explain it too, but noise of that size has no chance."
        for taken in found.excluded
        for name in taken
    ]
    return row.misprinted(" ".join(words), errata)
