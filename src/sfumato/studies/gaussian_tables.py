"""Tables 4.5–4.7 of the thesis: the mean of a matrix with Gaussian noise, ε = 1 and 3, δ = 10⁻⁴.

*Set-up*    n = rows × columns entries from [−½, ½], sensitivity 1/n, and the classical σ =
            √(2·ln(1.25/δ))/(nε), handed over as `sigma=`: its theorem ends before ε = 1 (E-02), an
            entry is not a person (E-04), and δ is not small beside n (E-68).
*Right*     The analytic σ (Balle & Wang 2018); and for one number Laplace noise, which has no δ at
            all (E-69).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial

from .. import mechanisms as mech
from ..noise.continuous import Normal
from .band_pictures import strips
from .bands import normal_below, normal_size
from .mean_tables import MeanTables
from .means import GRID, MeanRuns, Shape, matrix_means, release
from .printed import grouped, shown
from .repairs import Repair
from .study import Comparison, Study, StudyResult, StudyRow

SHAPES = (Shape(rows=100, columns=50), Shape(rows=10, columns=50), Shape(rows=10, columns=10))
EPSILONS = (1, 3)
DELTA = Fraction(1, 10**4)

ANSWERS = {
    (5000, 1): ("1.738e-3", "1.213e-4"),
    (500, 1): ("4.047e-3", "2.059e-2"),
    (100, 1): ("-3.190e-2", "-1.763e-2"),
    (5000, 3): ("-6.912e-5", "1.213e-4"),
    (500, 3): ("2.451e-2", "2.059e-2"),
    (100, 3): ("-1.992e-2", "-1.763e-2"),
}
"""Private answer and f(D) of tables 4.5 (ε = 1) and 4.6 (ε = 3)."""

ERRORS = {
    (5000, 1): "1.617e-3",
    (5000, 3): "3.073e-4",
    (500, 1): "1.654e-2",
    (500, 3): "3.917e-3",
    (100, 1): "1.427e-2",
    (100, 3): "2.292e-3",
}
"""Table 4.7."""

TABLES = {1: "table 4.5", 3: "table 4.6"}
PRINTED = MeanTables(
    shapes=SHAPES,
    low=-0.5,
    answers=ANSWERS,
    errors=ERRORS,
    tables=TABLES,
    differences="table 4.7",
    erratum="E-32",
    size=lambda n, epsilon: normal_size(classical(n, epsilon)),
    below=lambda n, epsilon, error: normal_below(classical(n, epsilon), error),
)


def classical(n: int, epsilon: int, dimensions: int = 1) -> float:
    """Return the σ of the thesis, at any ε: √d/n·√(2·ln(1.25/δ))/ε. `mechanisms.classical_sigma`
    refuses it from ε = 1 on.
    """
    return math.sqrt(dimensions) / n * math.sqrt(2 * math.log(1.25 / float(DELTA))) / epsilon


@lru_cache(maxsize=2)
def runs(repetitions: int, seed: int) -> dict[tuple[int, int], MeanRuns]:
    """Return the repetitions by n and ε."""
    runs_by_cell = {}
    for shape in SHAPES:
        means = matrix_means(shape, -0.5, repetitions, seed)
        for epsilon in EPSILONS:
            noise = mech.Gaussian(
                sensitivity=Fraction(1, shape.n),
                sigma=classical(shape.n, epsilon),
                grid=GRID,
                relation="replace",
            )
            runs_by_cell[shape.n, epsilon] = release(means, noise.perturb)
    return runs_by_cell


@lru_cache(maxsize=1)
def judgements() -> dict[int, Repair | None]:
    """Find the misprints in the three tables, by n."""
    return PRINTED.judgements()


def _answers(epsilon: int, repetitions: int, seed: int) -> StudyResult:
    rows = PRINTED.answer_rows(epsilon, runs(repetitions, seed), judgements())
    drawn = list(rows)
    for shape in SHAPES:
        rows += [_promise(shape, epsilon), _failures(shape)]
    sentence = (
        f"The σ here is classical, whose theorem holds for ε < 1 only (E-02); at ε = "
        f"{epsilon} it happens to keep the promise to an "
        "entry, with noise to spare. "
        "It keeps none to a row. The wording “addition or removal” would make n secret, "
        "and 1/n wrong (E-75)."
    )
    figures = {
        TABLES[epsilon]: strips(drawn, title=f"The mean of a matrix, Gaussian noise, ε = {epsilon}")
    }
    return StudyResult(
        rows=tuple(rows), sentence=sentence, comparisons=tuple(_right(epsilon)), figures=figures
    )


def _promise(shape: Shape, epsilon: int) -> StudyRow:
    """Judge the promise to a whole row, by δ at the printed ε: the mean moves by 1/rows."""
    sigma = Fraction(classical(shape.n, epsilon))
    real = Normal(sigma=sigma).delta(epsilon, shift=Fraction(1, shape.rows))
    mu = Fraction(1, shape.rows) / sigma
    return StudyRow.promise(
        f"n = {grouped(shape.n)}, promise to a row",
        f"δ = 10⁻⁴ at ε = {epsilon}",
        f"δ = {real:.10f}" if real < 0.99999999995 else "δ > 0.9999999999",
        is_kept=real <= DELTA,
        value=real,
        errata=("E-04",),
        sentence=f"Replacing one of {shape.rows} rows moves the mean by up to 1/{shape.rows}: "
        f"{shown(float(mu))} standard deviations of the noise.",
    )


def _failures(shape: Shape) -> StudyRow:
    """Judge δ by the number of people that a mechanism may reveal: the thesis asks for a δ far
    below every power of 1/n, and so at least below the second.
    """
    expected = shape.n * DELTA
    return StudyRow.promise(
        f"n = {grouped(shape.n)}, size of δ",
        "δ = 10⁻⁴",
        f"n·δ = {shown(float(expected))}",
        is_kept=Fraction(1, shape.n**2) > DELTA,
        value=float(expected),
        errata=("E-68",),
        sentence=f"A mechanism that publishes each person with probability δ keeps this promise, "
        f"and gives away {shown(float(expected))} people on average. "
        f"The thesis's own rule asks for δ far below every power of 1/n; 1/n² is "
        f"{shown(1 / shape.n**2)}.",
    )


def _right(epsilon: int) -> list[Comparison]:
    """Compare the mean size of the error, from the exact laws."""
    comparisons = []
    for shape in SHAPES:
        faithful = math.sqrt(2 / math.pi) * classical(shape.n, epsilon)
        analytic = mech.Gaussian(
            sensitivity=Fraction(1, shape.n),
            epsilon=epsilon,
            delta=DELTA,
            grid=GRID,
            relation="replace",
        )
        comparisons.append(
            Comparison(
                what=f"n = {grouped(shape.n)}: analytic σ, the same (ε, δ)",
                measure="mean |error|",
                faithful=faithful,
                right=math.sqrt(2 / math.pi) * float(analytic.sigma),
            )
        )
        comparisons.append(
            Comparison(
                what=f"n = {grouped(shape.n)}: Laplace noise, δ = 0",
                measure="mean |error|",
                faithful=faithful,
                right=1 / (shape.n * epsilon),
                remark="one number needs no δ",
            )
        )
    return comparisons


def _errors(repetitions: int, seed: int) -> StudyResult:
    rows = PRINTED.error_rows(runs(repetitions, seed), judgements())
    ratio = math.sqrt(2 / math.pi) * classical(1, 1)
    sentence = (
        "The thesis lays the larger error to “the introduction of δ” and calls pure "
        "privacy less accurate (E-69). For one number it is "
        "the other way round: at equal n "
        f"and ε this Gaussian noise is {shown(ratio)} times as large as Laplace noise. "
        f"Gaussian noise wins when many numbers are released."
    )
    comparisons = tuple(b for epsilon in EPSILONS for b in _right(epsilon)[-2:])
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=comparisons,
        figures={"table 4.7": strips(rows, title="|private − f(D)|, Gaussian noise", log=True)},
    )


STUDIES = (
    *(
        Study(
            name=TABLES[e].replace(" ", "-"),
            title=f"Mean with Gaussian noise, ε = {e}",
            source=f"thesis, {TABLES[e]}",
            items=("S-172",),
            run=partial(_answers, e),
        )
        for e in EPSILONS
    ),
    Study(
        name="table-4.7",
        title="Errors of Gaussian noise",
        source="thesis, table 4.7",
        items=("S-173",),
        run=_errors,
    ),
)
