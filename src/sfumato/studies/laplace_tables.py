"""Tables 4.1–4.4 of the thesis: the mean of a matrix of uniform numbers with Laplace noise, at ε =
1, 2 and 5.

*Set-up*    n = rows × columns entries from [0, 1], sensitivity 1/n, noise of scale 1/(nε): every
            entry is taken for a person (E-04).
*Right*     The unit is a row, as the thesis defines it; noise for one number is staircase, which no
            ε-private noise beats (Geng & Viswanath 2014).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial

from .. import mechanisms as mech
from .band_pictures import strips
from .bands import laplace_below, laplace_size
from .mean_tables import MeanTables
from .means import GRID, MeanRuns, Shape, matrix_means, release
from .printed import grouped, shown
from .repairs import Repair
from .study import Comparison, Study, StudyResult, StudyRow

SHAPES = (Shape(rows=1000, columns=1000), Shape(rows=100, columns=100), Shape(rows=10, columns=10))
EPSILONS = (1, 2, 5)

ANSWERS = {
    (1_000_000, 1): ("4.995e-1", "4.995e-1"),
    (10_000, 1): ("5.013e-1", "5.014e-1"),
    (100, 1): ("5.221e-1", "5.234e-1"),
    (1_000_000, 2): ("4.995e-1", "4.995e-1"),
    (10_000, 2): ("5.106e-1", "5.015e-1"),
    (100, 2): ("5.254e-1", "5.237e-1"),
    (1_000_000, 5): ("4.995e-1", "4.995e-1"),
    (10_000, 5): ("5.014e-1", "5.015e-1"),
    (100, 5): ("5.243e-1", "5.234e-1"),
}
"""Private answer and f(D) of tables 4.1 (ε = 1), 4.2 (ε = 2) and 4.3 (ε = 5)."""

ERRORS = {
    (1_000_000, 1): "1.224e-6",
    (1_000_000, 2): "2.491e-7",
    (1_000_000, 5): "8.226e-8",
    (10_000, 1): "8.775e-5",
    (10_000, 2): "7.532e-6",
    (10_000, 5): "2.236e-5",
    (100, 1): "1.305e-3",
    (100, 2): "1.992e-3",
    (100, 5): "9.017e-4",
}
"""Table 4.4."""

TABLES = {1: "table 4.1", 2: "table 4.2", 5: "table 4.3"}
PRINTED = MeanTables(
    shapes=SHAPES,
    low=0.0,
    answers=ANSWERS,
    errors=ERRORS,
    tables=TABLES,
    differences="table 4.4",
    erratum="E-33",
    size=lambda n, epsilon: laplace_size(1 / (n * epsilon)),
    below=lambda n, epsilon, error: laplace_below(1 / (n * epsilon), error),
)

ADD_REMOVE = (
    "The thesis speaks of adding or removing an individual (E-75): then n is itself "
    "secret and 1/n is not the sensitivity of a mean; with n public, as here, "
    "the promise is about replacing."
)


@lru_cache(maxsize=2)
def runs(repetitions: int, seed: int) -> dict[tuple[int, int], MeanRuns]:
    """Return the repetitions by n and ε, with the same matrices at every ε, as in the thesis."""
    runs_by_cell = {}
    for shape in SHAPES:
        means = matrix_means(shape, 0.0, repetitions, seed)
        for epsilon in EPSILONS:
            runs_by_cell[shape.n, epsilon] = release(
                means,
                mech.Laplace(
                    sensitivity=Fraction(1, shape.n), epsilon=epsilon, grid=GRID, relation="replace"
                ).perturb,
            )
    return runs_by_cell


@lru_cache(maxsize=1)
def judgements() -> dict[int, Repair | None]:
    """Find the misprints in the four tables, by n."""
    return PRINTED.judgements()


def _answers(epsilon: int, repetitions: int, seed: int) -> StudyResult:
    rows = PRINTED.answer_rows(epsilon, runs(repetitions, seed), judgements())
    rows += [_promise(shape, epsilon) for shape in SHAPES]
    sentence = (
        f"A row of the matrix is a person by the thesis's own definition 2.0.1, but its "
        f"noise hides one entry. {ADD_REMOVE}"
    )
    drawn = [row for row in rows if row.band is not None]
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=tuple(_right(epsilon)),
        figures={TABLES[epsilon]: strips(drawn, title=f"The mean of a matrix, ε = {epsilon}")},
    )


def _promise(shape: Shape, epsilon: int) -> StudyRow:
    """Judge the promise to a whole row: the mean moves by 1/rows if one row is replaced."""
    noise = mech.Laplace(
        sensitivity=Fraction(1, shape.rows),
        scale=Fraction(1, shape.n * epsilon),
        grid=Fraction(1, 2**56),
    )
    real = float(noise.promise.epsilon())
    return StudyRow.promise(
        f"n = {grouped(shape.n)}, promise to a row",
        f"ε = {epsilon}",
        f"ε = {shown(real)}",
        is_kept=real <= epsilon * (1 + 1e-9),
        value=real,
        errata=("E-04",),
        sentence=f"Replacing one of {shape.rows} rows moves the mean by up to 1/{shape.rows}, "
        f"{shape.columns} times what the noise is for.",
    )


def _right(epsilon: int) -> list[Comparison]:
    """Compare the mean size of the error of the printed set-up and of the right ways, from the
    exact laws.
    """
    comparisons = []
    for shape in SHAPES:
        faithful = 1 / (shape.n * epsilon)
        # a step of the staircase is a few thousand grid steps
        grid = Fraction(1, 2 ** (12 + shape.n.bit_length()))
        stairs = mech.Staircase(
            sensitivity=Fraction(1, shape.n), epsilon=epsilon, grid=grid, relation="replace"
        ).mean_error
        rows = mech.Staircase(
            sensitivity=Fraction(1, shape.rows), epsilon=epsilon, grid=grid, relation="replace"
        ).mean_error
        comparisons.append(
            Comparison(
                what=f"n = {grouped(shape.n)}: staircase noise for an entry",
                measure="mean |error|",
                faithful=faithful,
                right=stairs,
            )
        )
        comparisons.append(
            Comparison(
                what=f"n = {grouped(shape.n)}: staircase noise for a row",
                measure="mean |error|",
                faithful=faithful,
                right=rows,
                remark="the price of the promise that was printed",
            )
        )
    return comparisons


def _errors(repetitions: int, seed: int) -> StudyResult:
    rows = PRINTED.error_rows(runs(repetitions, seed), judgements())
    small = SHAPES[-1].n
    comparisons = tuple(
        Comparison(
            what=f"n = {grouped(small)}, ε = {epsilon}: discrete Laplace on a grid of 2⁻⁴⁰",
            measure="mean |error|",
            faithful=1 / (small * epsilon),
            right=_mean_size(small, epsilon),
            remark="the same error, and no holes in floating point through which to see the mean",
        )
        for epsilon in EPSILONS
    )
    sentence = (
        "All nine errors are ordinary draws of Laplace noise of scale 1/(nε). They "
        "shrink with n because an entry was taken for a person (E-04), not because "
        "privacy became cheap."
    )
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=comparisons,
        figures={"table 4.4": strips(rows, title="|private − f(D)|, Laplace noise", log=True)},
    )


def _mean_size(n: int, epsilon: int) -> float:
    """Compute E|noise| of the two-sided geometric law on the grid: 1/sinh(1/scale) steps."""
    law = mech.Laplace(sensitivity=Fraction(1, n), epsilon=epsilon, grid=GRID).law
    return float(GRID) / math.sinh(1 / float(law.scale))


STUDIES = (
    *(
        Study(
            name=TABLES[e].replace(" ", "-"),
            title=f"Mean with Laplace noise, ε = {e}",
            source=f"thesis, {TABLES[e]}",
            items=("S-170",),
            run=partial(_answers, e),
        )
        for e in EPSILONS
    ),
    Study(
        name="table-4.4",
        title="Errors of Laplace noise",
        source="thesis, table 4.4",
        items=("S-171",),
        run=_errors,
    ),
)
