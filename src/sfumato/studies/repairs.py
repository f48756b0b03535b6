"""Printed numbers that contradict each other, and the smallest correction that reconciles them.

*Repair*    A set of cells that, taken away, leaves numbers that can all be right at once. What is
            left implies what the cells taken away ought to say.
*Rule*      Of all repairs those are admitted after which every number, left or implied, can lie in
            its band of our repetitions; of these the one with the fewest cells; of these the one
            that takes away cells derived from others (a difference before the numbers it is the
            difference of).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from .printed import EVERYTHING, Interval, meet

Implied = Mapping[str, Interval]
"""What each cell may say, given the others."""

MOST_CELLS = 3
"""A table with more misprints than this is not repaired but doubted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a printed number stands for, the band of ours, and whether it is computed from other
    cells.
    """

    printed: Interval
    band: Interval = EVERYTHING
    derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """The cells to correct, each with what it ought to say. Print alone would leave others to
    choose from: `rivals` are admitted too, `excluded` only our bands rule out.
    """

    cells: Mapping[str, Interval]
    rivals: tuple[Mapping[str, Interval], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()


def repair(
    cells: Mapping[str, Cell], implied: Callable[[Implied], Implied | None]
) -> Repair | None:
    """The repair of the rule; no cells where nothing is wrong, None where there is none. `implied`
    narrows intervals, or says that they cannot all hold.
    """
    bare = {name: Cell(printed=cell.printed) for name, cell in cells.items()}
    for count in range(MOST_CELLS + 1):
        sets = list(combinations(cells, count))
        found = [r for taken in sets if (r := _admitted(cells, taken, implied)) is not None]
        if found:
            best = min(found, key=lambda r: sum(not cells[name].derived for name in r))
            told = {tuple(r) for r in found}
            excluded = tuple(
                taken
                for taken in sets
                if taken not in told and _admitted(bare, taken, implied) is not None
            )
            return Repair(
                cells=best, rivals=tuple(r for r in found if r is not best), excluded=excluded
            )
    return None


def _admitted(
    cells: Mapping[str, Cell], taken: Sequence[str], implied: Callable[[Implied], Implied | None]
) -> dict[str, Interval] | None:
    narrowed = implied(
        {name: EVERYTHING if name in taken else cell.printed for name, cell in cells.items()}
    )
    if narrowed is None or any(
        meet(narrowed[name], cell.band) is None for name, cell in cells.items()
    ):
        return None
    return {name: narrowed[name] for name in taken}


def differences(levels: Sequence[str]) -> Callable[[Implied], Implied | None]:
    """One exact value f printed at every level (cells `f …`), a private answer (`private …`), and
    the size of their difference (`error …`).
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
    found: dict[str, Interval] = {}
    for level, sign in signed:
        private = meet(cells[f"private {level}"], _plus(f, _times(sign, cells[f"error {level}"])))
        error = meet(
            cells[f"error {level}"],
            _times(sign, _minus(cells[f"private {level}"], f)),
            (0.0, math.inf),
        )
        if private is None or error is None:
            return None
        found |= {f"f {level}": f, f"private {level}": private, f"error {level}": error}
    return found


def triangles(levels: Sequence[str]) -> Callable[[Implied], Implied | None]:
    """Mean squared distances of a private curve from a target (`target …`) and from its
    approximation (`approximation …`), whose own distance (`bias`) is one at all levels: roots of
    mean squares obey the triangle inequality.
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
    """The third side of a triangle with sides from these two."""
    apart = meet(a, b)
    return (0.0 if apart else max(a[0] - b[1], b[0] - a[1]), a[1] + b[1])


def _plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Interval, b: Interval) -> Interval:
    return _plus(a, _times(-1, b))


def _times(sign: int, a: Interval) -> Interval:
    return a if sign > 0 else (-a[1], -a[0])
