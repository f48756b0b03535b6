"""Sensitivity by trying every dataset of a finite world: slow, and correct by definition. For
tests, for small domains, and to check a formula.

*Lipschitz*  sup over x ≠ x' of ‖f(x) − f(x')‖_p / distance(x, x'). With the number of rows that
             differ as distance this is the global sensitivity; with another metric it is what
             metric privacy needs.
*Local*      sup over the neighbours x' of x alone. It depends on the data: noise scaled to it gives
             them away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from ..exact.balls import sqrt_up
from ..exact.numbers import Number, exact, positive
from . import sensitivity_refusals as refusals
from .kinds import norm_of

D = TypeVar("D")
"""A dataset."""

Result = Number | Sequence[Number]


def lipschitz(
    function: Callable[[D], Result],
    datasets: Iterable[D],
    distance: Callable[[D, D], Number],
    *,
    norm: int | str = 1,
) -> Fraction:
    """Return the Lipschitz constant over a finite world: exact, or for norm 2 a double not below
    it.
    """
    world = [(x, _vector(function(x))) for x in datasets]
    ratios = [
        _norm(a, b, norm) / positive(distance(x, y), "distance")
        for (x, a), (y, b) in combinations(world, 2)
        if x != y
    ]
    if not ratios:
        raise refusals.WORLD_TOO_SMALL(datasets=len(world))
    return max(ratios)


def local(
    function: Callable[[D], Result], x: D, neighbours: Iterable[D], *, norm: int | str = 1
) -> Fraction:
    """Return the largest move from x to any of its neighbours."""
    here = _vector(function(x))
    return max((_norm(here, _vector(function(y)), norm) for y in neighbours), default=Fraction(0))


def _vector(value: Result) -> tuple[Fraction, ...]:
    return (
        tuple(exact(v, "value") for v in value)
        if isinstance(value, Sequence) and not isinstance(value, str)
        else (exact(value, "value"),)
    )


def _norm(a: tuple[Fraction, ...], b: tuple[Fraction, ...], norm: int | str) -> Fraction:
    """Return the distance of two results in a norm; zero for results without numbers."""
    if len(a) != len(b):
        raise refusals.RESULTS_OF_DIFFERENT_LENGTH(first=len(a), second=len(b))
    moves, how = [abs(p - q) for p, q in zip(a, b, strict=True)], norm_of(norm)
    if how == "inf":
        return max(moves, default=Fraction(0))
    return (
        sum(moves, Fraction(0)) if how == "1" else sqrt_up(sum((m * m for m in moves), Fraction(0)))
    )
