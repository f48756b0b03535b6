"""Exact intervals of quotients S/N: of means and of ratios of sums (Fieller's set).

*Set*       The exact quotient θ makes s − θ·n zero. So the released S − θ·N is noise alone: a sum
            of independent draws whose weights are known for this θ. The set of all θ for which
            |S − θ·N| is within the bound q(θ) of that noise holds the exact quotient with the
            probability asked for, whatever the number of rows is.
*Cells*     Between the limits of θ there are 64 cells. In each, q is replaced by a bound for all θ
            of the cell (`bound_between`), so the ends follow in closed form.
*Ratios*    have no limits: a θ beyond a typical size is looked at as 1/θ. Weighted means have
            limits, but the exact quotient of rounded products and rounded weights may lie beyond
            them. They are solved like ratios, and cut to the limits afterwards.
*Rounding*  The ends are computed in doubles; the bound is widened by more than their errors.
*Proof*     docs/proofs/answer-intervals.md, "Quotients"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.exact_ratios import Integers
from ..noise.weighted_sums import Between, Spread, bound_between
from .answer_records import Column, Draw, Noisy, law_of
from .column_kinds import KINDS

Doubles = NDArray[np.float64]
Ends = tuple[Doubles, Doubles]
Point = tuple[Fraction, Fraction]
"""The weights of S and N in a sum of both."""
NoiseTerm = tuple[Spread, Fraction, Fraction, int]
"""A law, the weights of its draws in S and in N, and the number of draws."""

CELLS = 64
_ROUNDING = 2.0**-44  # of the numbers that are added: more than the errors of a few operations
_NONE, _ONE = Fraction(0), Fraction(1)


def quotient_ends(
    column: Column, integers: Sequence[Integers], pieces: Sequence[Noisy], missing: Fraction
) -> Ends:
    """Return the ends of `centre` + S/N for every group, outward by `slack`."""
    top, bottom = (
        np.asarray(cells, dtype=np.float64) * float(piece.step)
        for cells, piece in zip(integers, pieces, strict=True)
    )
    noise = QuotientNoise.of(
        [[d._replace(weight=d.weight * piece.step) for d in piece.draws] for piece in pieces],
        missing,
    )
    centre, slack = (column.numbers.get(name, _NONE) for name in ("centre", "slack"))
    kind = KINDS[column.kind]
    low, high = kind.limits(column.numbers)
    ends = (
        _solve(top, bottom, low - centre, high - centre, lambda u: (_ONE, u), noise)[:2]
        if kind.keeps_limits and low is not None and high is not None
        else solve_without_limits(top, bottom, noise)
    )
    first, last = (end + float(centre) for end in ends)
    far = float(abs(centre)) + float(slack)
    return (
        first - float(slack) - (np.abs(first) + far) * 2 * _ROUNDING,
        last + float(slack) + (np.abs(last) + far) * 2 * _ROUNDING,
    )


def quotients_without_limits(
    top: Doubles, bottom: Doubles, terms: Sequence[NoiseTerm], missing: Fraction
) -> Ends:
    """Return the ends of S/N for sums with these draws; infinite where the divisor may be zero."""
    first, last = solve_without_limits(top, bottom, QuotientNoise(terms, missing))
    return first - np.abs(first) * 2 * _ROUNDING, last + np.abs(last) * 2 * _ROUNDING


class QuotientNoise:
    """The draws in S and N: for each its law, and its weights in both."""

    def __init__(self, terms: Sequence[NoiseTerm], missing: Fraction) -> None:
        self._terms, self._missing = tuple(terms), missing

    @classmethod
    def of(cls, parts: Sequence[Sequence[Draw]], missing: Fraction) -> QuotientNoise:
        """Collect the draws of both parts; their weights are in the unit of the values."""
        weights: dict[str, list[Fraction]] = {}
        laws: dict[str, Spread] = {}
        for i, draws in enumerate(parts):
            for draw in draws:
                law = law_of(draw.mechanism)
                assert law is not None
                laws[draw.name] = law
                weights.setdefault(draw.name, [_NONE, _NONE])[i] += draw.weight
        pairs = weights.items()
        return cls([(laws[name], top, bottom, 1) for name, (top, bottom) in pairs], missing)

    @property
    def typical(self) -> Fraction:
        """Return a typical quotient: of the largest weights in S and in N."""
        top = max(abs(weight) for _, weight, _, _ in self._terms)
        bottom = max(abs(weight) for _, _, weight, _ in self._terms)
        return top / bottom if top else _ONE

    def bound(self, first: Point, last: Point) -> float:
        """Bound |a·S − b·N| of the noise for any (a, b) on the line between two points."""
        return _bound_on_line(self._terms, first, last, self._missing)


@lru_cache(maxsize=4096)
def _bound_on_line(
    terms: tuple[NoiseTerm, ...], first: Point, last: Point, missing: Fraction
) -> float:
    """Answers of one plan have the same noise, and ask for the same bounds."""
    between: list[Between] = []
    for law, top, bottom, count in terms:
        ends = [a * top - b * bottom for a, b in (first, last)]
        sizes = sorted(abs(end) for end in ends)
        crosses = min(ends) < 0 < max(ends)
        between.append((law, _NONE if crosses else sizes[0], sizes[1], count))
    return up(bound_between(between, missing))


def _solve(
    a: Doubles,
    b: Doubles,
    low: Fraction,
    high: Fraction,
    point: Callable[[Fraction], Point],
    noise: QuotientNoise,
    sizes: Ends | None = None,
) -> tuple[Doubles, Doubles, NDArray[np.bool_]]:
    """Return the least and the largest u between two limits for which |a − u·b| is within its
    bound, and whether there is any. Where there is none, the quotient lies beyond a limit: the ends
    are this limit and a bound's width from it.
    """
    edges = [low + (high - low) * Fraction(i, CELLS) for i in range(CELLS + 1)]
    floors = [float(edge) for edge in edges]
    largest = noise.bound(point(low), point(high))
    size_a, size_b = (np.abs(a), np.abs(b)) if sizes is None else sizes
    rounding = _ROUNDING * (size_a + size_b * max(abs(floors[0]), abs(floors[-1])))
    first, last = np.full(a.shape, np.inf), np.full(a.shape, -np.inf)
    for i in range(CELLS):
        start, end = floors[i], floors[i + 1]
        at_start, at_end = a - start * b, a - end * b
        nearest = np.where(
            at_start * at_end <= 0, 0.0, np.minimum(np.abs(at_start), np.abs(at_end))
        )
        if not (nearest <= largest + rounding).any():
            continue
        within = noise.bound(point(edges[i]), point(edges[i + 1])) * (1 + _ROUNDING) + rounding
        holds = nearest <= within
        with np.errstate(divide="ignore", invalid="ignore"):
            from_start = (a - np.where(at_start > 0, within, -within)) / b
            from_end = (a - np.where(at_end > 0, within, -within)) / b
        entry = np.where(np.abs(at_start) <= within, start, np.clip(from_start, start, end))
        leave = np.where(np.abs(at_end) <= within, end, np.clip(from_end, start, end))
        first = np.where(holds, np.minimum(first, entry), first)
        last = np.where(holds, np.maximum(last, leave), last)
    exists = first <= last
    if exists.all():
        return first, last, exists
    start, end = floors[0], floors[-1]
    is_low = np.abs(a - start * b) <= np.abs(a - end * b)
    with np.errstate(divide="ignore"):
        width = np.minimum((largest + rounding) / np.abs(b), end - start)
    return (
        np.where(exists, first, np.where(is_low, start, end - width)),
        np.where(exists, last, np.where(is_low, start + width, end)),
        exists,
    )


def solve_without_limits(
    top: Doubles, bottom: Doubles, noise: QuotientNoise, sizes: Ends | None = None
) -> Ends:
    """Return the ends of θ; infinite where the divisor may be zero. `sizes` are those of the terms
    that were added to `top` and `bottom`.
    """
    top_size, bottom_size = (np.abs(top), np.abs(bottom)) if sizes is None else sizes
    most = noise.typical
    low, high, near = _solve(
        top, bottom, -most, most, lambda u: (_ONE, u), noise, (top_size, bottom_size)
    )
    inverse = _solve(
        bottom, top, -1 / most, 1 / most, lambda u: (u, _ONE), noise, (bottom_size, top_size)
    )
    start, end, far = inverse
    with np.errstate(divide="ignore"):
        least, largest = 1 / end, 1 / start
    first = np.where(near, np.where(far, np.minimum(low, least), low), least)
    last = np.where(near, np.where(far, np.maximum(high, largest), high), largest)
    unknown = (far & (start <= 0) & (end >= 0)) | ~(near | far)
    return np.where(unknown, -np.inf, first), np.where(unknown, np.inf, last)
