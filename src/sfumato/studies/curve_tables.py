"""Tables 4.8 and 4.9 of the thesis: mean squared error of a privately released regression curve, ε
= 1 and 3.

*Misprint*  Roots of mean squares obey the triangle inequality: the distances of a private curve
            from the target and from its Bernstein polynomial bound the distance of those two, which
            is the same in both tables. One printed cell does not fit (E-34).
*Unsafe*    The sampled S is not the sensitivity: with |y| ≤ 1 the lattice can move by far more, and
            the real ε is that move over the noise's scale (E-38).
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from .band_pictures import strips
from .bands import prediction_band, prediction_below
from .curves import EPSILONS, SIZES, CurveRun, errors, runs, worst_move
from .printed import EVERYTHING, Printed, grouped, shown
from .repairs import PrintedCell, Repair, repair, triangles
from .study import Comparison, Study, StudyResult, StudyRow

PRINTED = {
    (5000, 1): ("2.359e-2", "6.806e-4"),
    (500, 1): ("1.165e-1", "8.258e-2"),
    (100, 1): ("2.605", "2.392"),
    (5000, 3): ("2.360e-4", "4.075e-5"),
    (500, 3): ("2.445e-2", "3.601e-3"),
    (100, 3): ("1.409", "1.337"),
}
"""Mean squared error to the target and to the Bernstein approximation."""

TABLES = {1: "table 4.8", 3: "table 4.9"}
LEVELS = tuple(f"ε = {epsilon}" for epsilon in EPSILONS)
REMARKS = {
    "L1": "the L1 move of the whole lattice instead of 26 times the largest",
    "normalised": "the right kernel: the curve and its error shrink by √(2π), the square by 2π",
    "normalised, L1": "both; errors are to the Bernstein curve, in the mean",
    "all data": (
        "a sensitivity for all data with |y| ≤ 1.5, gaps counted to 10/N: a real ε, not a "
        "sampled one"
    ),
}


@lru_cache(maxsize=2)
def judgements(repetitions: int, seed: int) -> dict[int, Repair | None]:
    """Find the misprints in the two tables, by N."""
    repairs = {}
    for n, done in runs(repetitions, seed).items():
        cells = {
            "bias": PrintedCell(
                printed=EVERYTHING, band=prediction_band([run.bias for run in done])
            )
        }
        for level, epsilon in zip(LEVELS, EPSILONS, strict=True):
            target, approximation = (Printed(text) for text in PRINTED[n, epsilon])
            cells[f"target {level}"] = PrintedCell(
                printed=target.interval, band=prediction_band(errors(done, epsilon, to="target"))
            )
            cells[f"approximation {level}"] = PrintedCell(
                printed=approximation.interval, band=prediction_band(errors(done, epsilon))
            )
        repairs[n] = repair(cells, triangles(LEVELS))
    return repairs


def _table(epsilon: int, repetitions: int, seed: int) -> StudyResult:
    done, wrong = runs(repetitions, seed), judgements(repetitions, seed)
    rows = []
    for n in SIZES:
        target, approximation = (Printed(text) for text in PRINTED[n, epsilon])
        for name, printed, draws in (
            ("target", target, errors(done[n], epsilon, to="target")),
            ("approximation", approximation, errors(done[n], epsilon)),
        ):
            row = StudyRow.drawn(
                f"N = {grouped(n)}, error to the {_NAMES[name]}",
                printed,
                draws,
                prediction_band(draws),
                prediction_below(draws, printed.value),
            )
            rows.append(_correct_row(row, f"{name} ε = {epsilon}", printed, wrong[n]))
    drawn = list(rows)
    rows += [_promise(n, epsilon, done[n]) for n in SIZES]
    measure = "squared error"
    comparisons = tuple(
        Comparison(
            what=f"N = {grouped(n)}: {way}",
            measure=measure,
            faithful=_mean(done[n], epsilon, "faithful"),
            right=_mean(done[n], epsilon, way),
            remark=remark,
        )
        for n in SIZES
        for way, remark in REMARKS.items()
    )
    sentence = (
        "The target is √(2π) times too high, because its kernel lacks the 1/√(2π) "
        "(E-43), so every error to it is on the wrong scale. "
        "The promise is random DP at best, over a law "
        "that is not the data's (E-38). " + _UNLIKE
    )
    return StudyResult(
        rows=tuple(rows),
        sentence=sentence,
        comparisons=comparisons,
        figures={
            TABLES[epsilon]: strips(
                drawn, title=f"Error of the private curve, ε = {epsilon}", log=True
            )
        },
    )


_NAMES = {"target": "target", "approximation": "Bernstein curve"}
_UNLIKE = (
    "The thesis concludes that there is “not a great difference in the results of the "
    "three processes” and that pure privacy is "
    "unreliable (E-70): it compares a mean of a million "
    "entries with one of 5000 and with a whole curve, at different n and sensitivities; "
    "nothing follows about the definitions."
)


def _mean(done: tuple[CurveRun, ...], epsilon: int, way: str) -> float:
    return float(np.mean(errors(done, epsilon, way)))


def _correct_row(row: StudyRow, cell: str, printed: Printed, repaired: Repair | None) -> StudyRow:
    """Mark the row as a misprint if the repair corrects its cell; try a slipped exponent first."""
    if repaired is None or cell not in repaired.cells:
        return row
    low, high = repaired.cells[cell]
    mantissa, _, exponent = printed.text.partition("e")
    slips = [f"{mantissa}e{int(exponent or 0) + step}" for step in (-2, -1, 1, 2)]
    fits = [slip for slip in slips if low <= Printed(slip).value <= high]
    right = f"{Printed(fits[0])} fits" if len(fits) == 1 else "no power of ten repairs it"
    return row.misprinted(
        (
            f"By the triangle inequality the other printed numbers leave {shown(low)} to "
            f"{shown(high)}: {right}."
        ),
        ("E-34",),
    )


def _promise(n: int, epsilon: int, done: tuple[CurveRun, ...]) -> StudyRow:
    """Judge the promise by the ε that the noise keeps between two datasets with |y| ≤ 1, at the
    median of the sampled scales.
    """
    largest, together = worst_move(n)
    real = together / float(np.median([run.scale[epsilon] for run in done]))
    sampled = float(np.median([run.sensitivity for run in done]))
    return StudyRow.promise(
        f"N = {grouped(n)}, promise",
        f"ε = {epsilon}",
        f"ε = {shown(real)} at worst",
        is_kept=real <= epsilon,
        value=real,
        errata=("E-38",),
        sentence=f"The sampler found S = {shown(sampled)}; with |y| ≤ 1 a lattice value can move "
        f"by {shown(largest)}, all of them "
        f"together by {shown(together)}. "
        "With normal y there is no bound at all.",
    )


STUDIES = tuple(
    Study(
        name=TABLES[e].replace(" ", "-"),
        title=f"A private regression curve, ε = {e}",
        source=f"thesis, {TABLES[e]}",
        items=(item,),
        run=partial(_table, e),
    )
    for e, item in zip(EPSILONS, ("S-176", "S-177"), strict=True)
)
