"""Global sensitivities of common statistics in closed form: exact, under both relations, for one
record per unit and values clipped to a public range [low, high].

*Fixed n*    a mean, variance or covariance divides by the number of records, so that number has to
             be public: relation replace, with n. Under add-remove it is data, the sensitivity is
             that of the smallest datasets (of a mean, the whole range), and the closed form is
             refused. A sum divided by a public constant has one: `sum(low, high,
             relation="add-remove") / n`.
*Empty*      a statistic of no records is `low`.
*Pairs*      n²·cov = Σ_{i<j} (x_i − x_j)(y_i − y_j): one record is in n − 1 of the terms, each of
             which moves by at most the product of the ranges.
*Rounding*   NumPy adds n doubles up to M in pairs, with an error below (20 + log₂ n)·2^-53·n·M.
             Forms say how far what they are of may be off by that: noise adds it to the
             sensitivity. A sum that does not know n allows for n·(20 + log₂ n) < 2^32.
*Proof*      docs/proofs/closed-form-sensitivity.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

from ..exact.numbers import Number, exact, is_whole, probability, text
from ..guarantees.guarantee import relation_of
from . import sensitivity_refusals as refusals
from .kinds import Global

Range = tuple[Number, Number]


def count(*, relation: str) -> Global:
    """Return the sensitivity of the count of records that satisfy a condition."""
    return Global(1, relation=_check_relation(relation), integer_valued=True, formula="1")


def counts(questions: int, *, relation: str) -> Global:
    """Return the sensitivity of several counts, if a record may be in all of them."""
    k = _check_count(questions, "questions")
    return Global(
        l1=k,
        l2_squared=k,
        sup=1,
        relation=_check_relation(relation),
        integer_valued=True,
        formula="L1 k, L2 √k",
    )


def histogram(cells: int, *, relation: str) -> Global:
    """Return the sensitivity of the counts of disjoint cells: a record is in one of them."""
    both = 2 if _check_count(cells, "cells") > 1 and _check_relation(relation) == "replace" else 1
    return Global(
        l1=both,
        l2_squared=both,
        sup=1,
        relation=_check_relation(relation),
        integer_valued=True,
        formula="replace: L1 2, L2 √2; add-remove: 1",
    )


def sum(  # noqa: A001  # read as sf.sensitivity.sum
    low: Number, high: Number, *, relation: str, n: int | None = None
) -> Global:
    """Return the sensitivity of the sum of values in the range. `n`, a public bound on their
    number, limits the rounding of doubles.
    """
    a, b = _check_range(low, high)
    most = max(abs(a), abs(b))
    rounding = most * (
        Fraction(1, 2**21) if n is None else _check_count(n, "n") * _pairwise(_check_count(n, "n"))
    )
    if _check_relation(relation) == "replace":
        return Global(b - a, relation=relation, rounding=rounding, formula="high − low")
    return Global(most, relation=relation, rounding=rounding, formula="max(|low|, |high|)")


def mean(low: Number, high: Number, *, relation: str, n: int | None = None) -> Global:
    """Return the sensitivity of the mean of n values."""
    a, b = _check_range(low, high)
    size = _public(n, relation, "mean")
    return Global(
        (b - a) / size,
        relation=relation,
        rounding=_pairwise(size) * max(abs(a), abs(b)),
        formula="(high − low)/n",
    )


def variance(
    low: Number, high: Number, *, relation: str, n: int | None = None, ddof: int = 0
) -> Global:
    """Return the sensitivity of the variance of n values, Σ(x − mean)²/(n − ddof)."""
    return _second_moment((low, high), (low, high), relation, n, ddof, "variance", paired=True)


def covariance(x: Range, y: Range, *, relation: str, n: int | None = None, ddof: int = 0) -> Global:
    """Return the sensitivity of the covariance of n pairs, Σ(x − mean)(y − mean)/(n − ddof)."""
    return _second_moment(x, y, relation, n, ddof, "covariance", paired=False)


def maximum(low: Number, high: Number, *, relation: str) -> Global:
    """Return the sensitivity of the largest of values in the range: one record can decide it."""
    a, b = _check_range(low, high)
    return Global(b - a, relation=_check_relation(relation), formula="high − low")


def minimum(low: Number, high: Number, *, relation: str) -> Global:
    """Return the sensitivity of the smallest of values in the range: one record can decide it."""
    return maximum(low, high, relation=relation)


def quantile(
    q: Number, low: Number, high: Number, *, relation: str, n: int | None = None
) -> Global:
    """Return the sensitivity of a quantile of values in the range, by rank. With a public n the
    quantile is interpolated between two ranks as in `numpy.quantile`: max(g, 1 − g) of the range, g
    the fraction.
    """
    level, (a, b) = probability(q, "q", one=True), _check_range(low, high)
    if n is None:
        return Global(b - a, relation=_check_relation(relation), formula="high − low")
    size = _public(n, relation, "quantile")
    place = level * (size - 1)
    between = place - math.floor(place)
    # of the two values, and of the position between them
    rounding = (8 * max(abs(a), abs(b)) + 4 * size * (b - a)) / 2**53
    return Global(
        max(between, 1 - between) * (b - a),
        relation=relation,
        rounding=rounding,
        formula="max(g, 1 − g)·(high − low)",
    )


def median(low: Number, high: Number, *, relation: str, n: int | None = None) -> Global:
    """Return the sensitivity of the median of values in the range: the whole range; half of it for
    a public even n, as the two middle values are averaged.
    """
    return quantile("1/2", low, high, relation=relation, n=n)


def linear(matrix: Sequence[Sequence[Number]], *, relation: str) -> Global:
    """Return the sensitivity of A·h, h the histogram of the records: columns of A are the kinds of
    record. Add-remove: the largest column; replace: the largest difference of two columns.
    """
    rows = [[exact(v, "matrix") for v in row] for row in matrix]
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise refusals.RAGGED_MATRIX()
    columns = list(zip(*rows, strict=True))
    moves = (
        columns
        if _check_relation(relation) == "add-remove"
        else [tuple(p - q for p, q in zip(a, b, strict=True)) for a, b in combinations(columns, 2)]
    )
    sizes = [[abs(v) for v in move] for move in moves]
    sup = max((max(size) for size in sizes), default=Fraction(0))
    if sup == 0:
        raise refusals.MATRIX_WITHOUT_EFFECT()
    l1 = max(_total(size) for size in sizes)
    square = max(_total([v * v for v in size]) for size in sizes)
    return Global(
        l1=l1,
        l2_squared=square,
        sup=sup,
        relation=relation,
        formula="largest column, or difference of two",
    )


CLOSED_FORMS: dict[str, Callable[..., Global]] = {
    form.__name__: form
    for form in (
        count,
        counts,
        histogram,
        sum,
        mean,
        variance,
        covariance,
        maximum,
        minimum,
        quantile,
        median,
        linear,
    )
}
"""The closed forms by name."""


def _second_moment(
    x: Range, y: Range, relation: str, n: int | None, ddof: int, name: str, *, paired: bool
) -> Global:
    (a, b), (c, d), size = _check_range(*x), _check_range(*y), _public(n, relation, name)
    if not is_whole(ddof, 0, size - 1) or size < 2:
        raise refusals.TOO_FEW_RECORDS(records=size, ddof=ddof, statistic=name)
    moves = Fraction(size - 1, size * (size - ddof)) * (b - a) * (d - c)
    largest = max(abs(a), abs(b)) * max(abs(c), abs(d)) * Fraction(size, size - ddof)
    # a mean of products and two means; `np.cov` uses a dot product, added in any order
    depth = 3 * _pairwise(size) + (0 if paired else Fraction(size, 2**53))
    return Global(
        moves,
        relation=relation,
        rounding=depth * largest,
        formula="(n − 1)/(n(n − ddof)) · product of the ranges",
    )


def _pairwise(n: int) -> Fraction:
    """Bound the rounding error of a mean of n doubles up to 1, added in pairs."""
    return Fraction(20 + n.bit_length(), 2**53)


def _public(n: int | None, relation: str, name: str) -> int:
    """Check that the number of records is public under this relation."""
    if _check_relation(relation) == "add-remove":
        raise refusals.RECORDS_UNDER_ADD_REMOVE(statistic=name)
    if n is None:
        raise refusals.RECORDS_MISSING(statistic=name)
    return _check_count(n, "n")


def _check_relation(relation: str) -> str:
    if (name := relation_of(relation)) is None:
        raise refusals.RELATION_MISSING()
    return name


def _check_range(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    a, b = exact(low, "low"), exact(high, "high")
    if a >= b:
        raise refusals.EMPTY_RANGE(low=text(a), high=text(b))
    return a, b


def _check_count(value: int, name: str) -> int:
    number = exact(value, name)
    if number.denominator != 1 or number < 1:
        raise refusals.COUNT_BELOW_ONE(name=name, value=text(number))
    return int(number)


def _total(values: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)  # `sum` is a sensitivity here
    for value in values:
        total += value
    return total
