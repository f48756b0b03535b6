"""Find the smallest correction that reconciles printed numbers that contradict each other.

*Repair*    A set of cells whose removal leaves numbers that can all be right at once. The remaining
            numbers imply what the removed cells ought to say.
*Rule*      Of all repairs those are admitted after which every number, left or implied, can lie in
            its band of our repetitions; of these the one with the fewest cells; of these the one
            that removes cells derived from others (a difference before the numbers it is the
            difference of).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from .printed import EVERYTHING, Interval, meet

Implied = Mapping[str, Interval]
"""The interval of each cell that the other cells imply."""

MOST_CELLS = 3
"""A table with more misprints than this is not repaired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCell:
    """The interval that a printed number stands for, our band, and whether the number is computed
    from other cells.
    """

    printed: Interval
    band: Interval = EVERYTHING
    derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """The cells to correct, each with the interval that it ought to show. `rivals` are repairs that
    are admitted too; `excluded` are repairs that only our bands rule out.
    """

    cells: Mapping[str, Interval]
    rivals: tuple[Mapping[str, Interval], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()


def repair(
    cells: Mapping[str, PrintedCell], implied: Callable[[Implied], Implied | None]
) -> Repair | None:
    """Find the repair that the rule selects: without cells if nothing is wrong, None if there is
    none. `implied` narrows intervals, or returns None if they cannot all hold.
    """
    bare = {name: PrintedCell(printed=cell.printed) for name, cell in cells.items()}
    for count in range(MOST_CELLS + 1):
        sets = list(combinations(cells, count))
        admitted = [r for removed in sets if (r := _admit(cells, removed, implied)) is not None]
        if admitted:
            best = min(admitted, key=lambda r: sum(not cells[name].derived for name in r))
            admitted_cells = {tuple(r) for r in admitted}
            excluded = tuple(
                removed
                for removed in sets
                if removed not in admitted_cells and _admit(bare, removed, implied) is not None
            )
            return Repair(
                cells=best, rivals=tuple(r for r in admitted if r is not best), excluded=excluded
            )
    return None


def _admit(
    cells: Mapping[str, PrintedCell],
    removed: Sequence[str],
    implied: Callable[[Implied], Implied | None],
) -> dict[str, Interval] | None:
    narrowed = implied(
        {name: EVERYTHING if name in removed else cell.printed for name, cell in cells.items()}
    )
    if narrowed is None or any(
        meet(narrowed[name], cell.band) is None for name, cell in cells.items()
    ):
        return None
    return {name: narrowed[name] for name in removed}


def differences(levels: Sequence[str]) -> Callable[[Implied], Implied | None]:
    """Relate one exact value f printed at every level (cells `f …`), a private answer
    (`private …`), and the size of their difference (`error …`).
    """

    def implied(cells: Implied) -> Implied | None:
        ways = [
            way
            for signs in product((1, -1), repeat=len(levels))
            if (way := _with_signs(cells, levels, signs)) is not None
        ]
        return (
            {name: (min(w[name][0] for w in ways), max(w[name][1] for w in ways)) for name in cells}
            if ways
            else None
        )

    return implied


def _with_signs(cells: Implied, levels: Sequence[str], signs: Sequence[int]) -> Implied | None:
    signed = list(zip(levels, signs, strict=True))
    candidates = [cells[f"f {level}"] for level in levels]
    candidates += [
        _minus(cells[f"private {level}"], _times(sign, cells[f"error {level}"]))
        for level, sign in signed
    ]
    f = meet(*candidates)
    if f is None:
        return None
    narrowed: dict[str, Interval] = {}
    for level, sign in signed:
        private = meet(cells[f"private {level}"], _plus(f, _times(sign, cells[f"error {level}"])))
        error = meet(
            cells[f"error {level}"],
            _times(sign, _minus(cells[f"private {level}"], f)),
            (0.0, math.inf),
        )
        if private is None or error is None:
            return None
        narrowed |= {f"f {level}": f, f"private {level}": private, f"error {level}": error}
    return narrowed


def triangles(levels: Sequence[str]) -> Callable[[Implied], Implied | None]:
    """Relate the mean squared distances of a private curve from a target (`target …`) and from its
    approximation (`approximation …`). The distance of these two (`bias`) is the same at all levels,
    and roots of mean squares obey the triangle inequality.
    """

    def implied(cells: Implied) -> Implied | None:
        roots = {
            name: (math.sqrt(max(low, 0.0)), math.sqrt(high)) for name, (low, high) in cells.items()
        }
        bias = meet(
            roots["bias"],
            *(
                _between(roots[f"target {level}"], roots[f"approximation {level}"])
                for level in levels
            ),
        )
        if bias is None:
            return None
        for level in levels:
            target = meet(roots[f"target {level}"], _between(bias, roots[f"approximation {level}"]))
            approximation = meet(
                roots[f"approximation {level}"], _between(bias, roots[f"target {level}"])
            )
            if target is None or approximation is None:
                return None
            roots |= {f"target {level}": target, f"approximation {level}": approximation}
        return {name: (low**2, high**2) for name, (low, high) in (roots | {"bias": bias}).items()}

    return implied


def _between(a: Interval, b: Interval) -> Interval:
    """Return the interval of a triangle's third side, given the intervals of the other two."""
    apart = meet(a, b)
    return (0.0 if apart else max(a[0] - b[1], b[0] - a[1]), a[1] + b[1])


def _plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Interval, b: Interval) -> Interval:
    return _plus(a, _times(-1, b))


def _times(sign: int, a: Interval) -> Interval:
    return a if sign > 0 else (-a[1], -a[0])
