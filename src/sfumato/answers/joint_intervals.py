"""Compute intervals of formulas from the released integers themselves, each of which counts once.

*Terms*     Every column of a formula is written out in its pieces: a mean as centre + S/N, a
            variance as Q/N − (S/N)². A piece that stands in several columns is one variable, and
            columns that share draws share their noise.
*Linear*    The noise of a linear formula is a sum of known weights and draws.
*Quotient*  of two linear formulas: the set of all θ that the noise of S − θ·N allows, as for means
            (`quotient_intervals`).
*Smooth*    All pieces lie in a box but for a tenth of what may be missed. For the exact pieces x
            the noise of f is g(x)·Z, g the slopes, and a rest of second order, which is bounded
            over the box. Interval arithmetic gives values, slopes and second derivatives over the
            box. Seven tenths are left for g(x)·Z. The ends are cut to those that follow from the
            intervals of columns, which have the last two tenths.
*Proof*     docs/proofs/answer-intervals.md, "Formulas"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..noise.geometric import Geometric
from ..noise.linear_bounds import bound_sums
from ..noise.rounded_normal import RoundedNormal
from ..tables.aggregates.column_kind import Tracer
from .answer_records import Column, Draw, Noisy, law_of
from .column_kinds import KINDS
from .formula import OPERATIONS, Formula, place_in
from .quotient_intervals import QuotientNoise, solve_without_limits

Doubles = NDArray[np.float64]
Ends = tuple[Doubles, Doubles]

BOX, SLOPES, COLUMNS = Fraction(1, 10), Fraction(7, 10), Fraction(2, 10)
"""The parts of what may be missed."""

_SMOOTH = {"+", "-", "*", "/", "negate", "sqrt", "at_least_one"}
_WIDENING = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class Term(Tracer):
    """A formula over pieces: an operation, a number, a piece, or an unknown number of at most
    `slack` in size.
    """

    op: str
    args: tuple[Term, ...] = ()
    number: Fraction = Fraction(0)
    piece: int = -1

    def combine(self, op: str, *others: Tracer | Fraction | int) -> Term:
        if op == "widened":
            (slack,) = others
            assert isinstance(slack, Fraction)
            return self.combine("+", Term("slack", number=slack)) if slack else self
        return Term(op, (self, *map(_as_term, others)))


def _as_term(value: Tracer | Fraction | int) -> Term:
    if isinstance(value, Tracer):
        assert isinstance(value, Term)
        return value
    return Term("number", number=Fraction(value))


def write_out(column: Column, pieces: Sequence[Noisy]) -> Term | None:
    """Write a computed column out in its pieces; None where it has other parts."""
    assert column.formula is not None
    return _write(column.formula, column, pieces)


def write_column(column: Column, pieces: Sequence[Noisy]) -> Term | None:
    """Write a variance or a deviation out in its pieces; None for other kinds."""
    return _write_leaf(column, pieces) if "inner_slack" in column.numbers else None


def _write(formula: Formula, column: Column, pieces: Sequence[Noisy]) -> Term | None:
    if formula.column is not None:
        return _write_leaf(place_in(formula.column, column), pieces)
    if formula.number is not None:
        return Term("number", number=formula.number)
    if formula.op == "nullif":  # no value, or the first argument
        return _write(formula.args[0], column, pieces)
    if formula.op not in _SMOOTH:
        return None
    args = [_write(arg, column, pieces) for arg in formula.args]
    present = [arg for arg in args if arg is not None]
    return Term(formula.op, tuple(present)) if len(present) == len(args) else None


def _write_leaf(leaf: Column, pieces: Sequence[Noisy]) -> Term | None:
    kind = KINDS[leaf.kind]
    draws = [draw for place in leaf.pieces for draw in pieces[place].draws]
    if (
        kind.trace is None
        or leaf.processed is not None
        or any(pieces[place].values.shape[1] != 1 for place in leaf.pieces)
        or not all(isinstance(law_of(draw.mechanism), Geometric | RoundedNormal) for draw in draws)
    ):
        return None
    variables = [Term("piece", number=pieces[i].step, piece=i) for i in leaf.pieces]
    traced = kind.trace(leaf.numbers, variables)
    assert isinstance(traced, Term)
    inner = "inner_slack" in leaf.numbers  # it is part of what was traced
    slack = Fraction(0) if inner else leaf.numbers.get("slack", Fraction(0))
    return traced.combine("widened", slack)


@dataclass(frozen=True, slots=True)
class Linear:
    """Σ weights·piece + constant, and how far rounding may move it."""

    weights: Mapping[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    slack: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> Linear:
        return Linear(
            {piece: factor * weight for piece, weight in self.weights.items()},
            factor * self.constant,
            abs(factor) * self.slack,
        )

    def plus(self, summand: Linear) -> Linear:
        pieces = {**self.weights, **summand.weights}
        return Linear(
            {
                piece: self.weights.get(piece, Fraction(0))
                + summand.weights.get(piece, Fraction(0))
                for piece in pieces
            },
            self.constant + summand.constant,
            self.slack + summand.slack,
        )

    @property
    def is_constant(self) -> bool:
        return not any(self.weights.values()) and not self.slack


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient of two linear formulas of which the divisor has no slack; `slack` of itself."""

    top: Linear
    bottom: Linear
    slack: Fraction = Fraction(0)


_ONE = Linear(constant=Fraction(1))


def as_quotient(term: Term) -> Quotient | None:
    """Write a term as a quotient of linear formulas, if it is one."""
    if term.op == "number":
        return Quotient(Linear(constant=term.number), _ONE)
    if term.op == "piece":
        return Quotient(Linear({term.piece: term.number}), _ONE)
    if term.op == "slack":
        return Quotient(Linear(), _ONE, term.number)
    parts = [as_quotient(arg) for arg in term.args]
    quotients = [part for part in parts if part is not None]
    if len(quotients) < len(parts):
        return None
    match term.op:
        case "negate":
            return _scale(quotients[0], Fraction(-1))
        case "+":
            return _add(*quotients)
        case "-":
            return _add(quotients[0], _scale(quotients[1], Fraction(-1)))
        case "*":
            first, second = quotients
            if (factor := _number(first)) is not None:
                return _scale(second, factor)
            if (factor := _number(second)) is not None:
                return _scale(first, factor)
        case "/":
            first, second = quotients
            if (divisor := _number(second)) is not None:
                return _scale(first, 1 / divisor) if divisor else None
            is_exact = not first.slack and not second.slack and not second.top.slack
            if first.bottom == second.bottom and is_exact and first.top.weights:
                return Quotient(first.top, second.top)
    return None


def _number(quotient: Quotient) -> Fraction | None:
    is_number = quotient.top.is_constant and quotient.bottom == _ONE and not quotient.slack
    return quotient.top.constant if is_number else None


def _scale(quotient: Quotient, factor: Fraction) -> Quotient:
    return Quotient(quotient.top.times(factor), quotient.bottom, abs(factor) * quotient.slack)


def _add(first: Quotient, second: Quotient) -> Quotient | None:
    slack = first.slack + second.slack
    if first.bottom == second.bottom:
        return Quotient(first.top.plus(second.top), first.bottom, slack)
    for summand, number in ((first, _number_part(second)), (second, _number_part(first))):
        if number is not None:
            top = summand.top.plus(summand.bottom.times(number))
            return Quotient(top, summand.bottom, slack)
    return None


def _number_part(quotient: Quotient) -> Fraction | None:
    """Return the number of a quotient that is a number but for slack."""
    is_number = quotient.top.is_constant and quotient.bottom == _ONE
    return quotient.top.constant if is_number else None


def quotient_interval(
    quotient: Quotient, pieces: Sequence[Noisy], rows: slice, missing: Fraction
) -> Ends:
    """Return the ends of a linear formula or of a quotient of two."""
    top, top_size = _evaluate(quotient.top, pieces, rows)
    bottom, bottom_size = _evaluate(quotient.bottom, pieces, rows)
    noise = QuotientNoise.of(
        [_draws(part, pieces) for part in (quotient.top, quotient.bottom)], missing
    )
    slack = up(quotient.slack)
    if not quotient.bottom.weights:
        assert quotient.bottom == _ONE
        at_top = Fraction(1), Fraction(0)
        bound = noise.bound(at_top, at_top) + slack
        width = bound + (top_size + bound) * _WIDENING
        return top - width, top + width
    low, high = solve_without_limits(top, bottom, noise, sizes=(top_size, bottom_size))
    return (
        low - slack - (np.abs(low) + slack) * _WIDENING,
        high + slack + (np.abs(high) + slack) * _WIDENING,
    )


def _evaluate(linear: Linear, pieces: Sequence[Noisy], rows: slice) -> tuple[Doubles, Doubles]:
    """Return a linear formula of the released integers, and the sum of the sizes of its terms."""
    terms = [
        pieces[i].values[rows, 0].astype(np.float64) * float(weight)
        for i, weight in linear.weights.items()
    ]
    count = len(pieces[0].values[rows])
    constant = np.full(count, float(linear.constant))
    return (
        np.sum([constant, *terms], axis=0),
        np.sum([np.abs(part) for part in (constant, *terms)], axis=0),
    )


def _draws(linear: Linear, pieces: Sequence[Noisy]) -> list[Draw]:
    """Return the draws in a linear formula, with their weights in it."""
    return [
        draw._replace(weight=draw.weight * weight)
        for i, weight in linear.weights.items()
        for draw in pieces[i].draws
    ]


@dataclass(frozen=True, slots=True)
class _Taylor:
    """Over a box: the values of a term, its slopes by variable, and its second derivatives by pairs
    of variables.
    """

    ends: Ends
    slopes: Mapping[int, Ends] = field(default_factory=dict)
    bends: Mapping[tuple[int, int], Ends] = field(default_factory=dict)


def smooth_interval(
    term: Term, pieces: Sequence[Noisy], used: Sequence[int], rows: slice, missing: Fraction
) -> Ends:
    """Return the ends of a smooth formula of some pieces. They miss with all but the last part of
    `missing`, which is left for other ends.
    """
    inside = 1 - missing * BOX / len(used)
    halves = {i: float(pieces[i].half_width(inside)) for i in used}
    numbers = {i: pieces[i].values[rows, 0].astype(np.float64) for i in halves}
    around = {i: _outward(numbers[i] - halves[i], numbers[i] + halves[i]) for i in halves}
    with np.errstate(all="ignore"):
        centre = _Box({i: (z, z) for i, z in numbers.items()}, has_slack=False).trace(term).ends
        box = _Box(around, has_slack=True)
        over = box.trace(term)
        laws, weights, rest = _noise_of(over, pieces, {**halves, **box.slacks})
        bound = bound_sums(laws, weights, missing * SLOPES) + rest
        low = np.maximum(centre[0] - bound * (1 + _WIDENING), over.ends[0])
        high = np.minimum(centre[1] + bound * (1 + _WIDENING), over.ends[1])
    # what is not known has the ends of the box, or none
    return (
        np.where(np.isnan(low), over.ends[0], low),
        np.where(np.isnan(high), over.ends[1], high),
    )


def _noise_of(
    over: _Taylor, pieces: Sequence[Noisy], halves: Mapping[int, float]
) -> tuple[list[Geometric | RoundedNormal], list[Doubles], Doubles]:
    """Return the law and the largest weight of each draw, and the rest: what slack and the second
    order may add.
    """
    laws: dict[str, Geometric | RoundedNormal] = {}
    weights: dict[str, Ends] = {}
    rest = np.zeros(len(over.ends[0]))
    for (i, j), bend in over.bends.items():
        times = 0.5 if i == j else 1.0
        rest = rest + _size(bend) * (times * halves[i] * halves[j])
    for i, slope in over.slopes.items():
        if i < 0:  # slack is no noise
            rest = rest + _size(slope) * halves[i]
            continue
        for draw in pieces[i].draws:
            law = law_of(draw.mechanism)
            assert isinstance(law, Geometric | RoundedNormal)
            laws[draw.name] = law
            part = _apply("*", slope, _constant(draw.weight, rest))
            weights[draw.name] = _sum(weights.get(draw.name), part)
    sizes = [np.nan_to_num(_size(weight), nan=np.inf) for weight in weights.values()]
    return list(laws.values()), sizes, rest


def _size(ends: Ends) -> Doubles:
    return np.maximum(np.abs(ends[0]), np.abs(ends[1]))


def _sum(first: Ends | None, second: Ends) -> Ends:
    return second if first is None else _apply("+", first, second)


Bends = dict[tuple[int, int], Ends]


class _Box:
    """A box of pieces, and the numbers of slack that appear in a term over it."""

    def __init__(self, pieces: Mapping[int, Ends], *, has_slack: bool) -> None:
        self._pieces, self._has_slack = pieces, has_slack
        self._shape = next(iter(pieces.values()))[0]
        self._one = np.ones_like(self._shape), np.ones_like(self._shape)
        self.slacks: dict[int, float] = {}

    def trace(self, term: Term) -> _Taylor:
        """Return values and derivatives of a term over the box."""
        match term.op:
            case "number":
                return _Taylor(_constant(term.number, self._shape))
            case "piece":
                step = _constant(term.number, self._shape)
                return _Taylor(_apply("*", self._pieces[term.piece], step), {term.piece: step})
            case "slack":
                variable = -1 - len(self.slacks)
                self.slacks[variable] = size = up(term.number) if self._has_slack else 0.0
                ends = self._one[0] * -size, self._one[0] * size
                return _Taylor(ends, {variable: self._one})
        parts = [self.trace(arg) for arg in term.args]
        ends = _apply_guarded(term.op, [part.ends for part in parts])
        match term.op:
            case "at_least_one":
                return _Taylor(ends, parts[0].slopes, parts[0].bends)
            case "negate":
                return self._linear(ends, parts, ["negate"])
            case "+":
                return self._linear(ends, parts, ["", ""])
            case "-":
                return self._linear(ends, parts, ["", "negate"])
            case "*":
                return self._product(ends, *parts)
            case "/":
                return self._quotient(ends, *parts)
        return self._root(ends, *parts)

    def _linear(self, ends: Ends, parts: Sequence[_Taylor], signs: Sequence[str]) -> _Taylor:
        slopes: dict[int, Ends] = {}
        bends: Bends = {}
        for part, sign in zip(parts, signs, strict=True):
            for variable, slope in part.slopes.items():
                slopes[variable] = _sum(
                    slopes.get(variable), _apply(sign, slope) if sign else slope
                )
            for pair, bend in part.bends.items():
                bends[pair] = _sum(bends.get(pair), _apply(sign, bend) if sign else bend)
        return _Taylor(ends, slopes, bends)

    def _product(self, ends: Ends, a: _Taylor, b: _Taylor) -> _Taylor:
        """(ab)' = a'b + ab', (ab)'' = a''b + ab'' + a'b' + b'a'."""
        sums = self._linear(ends, [_times(a, b.ends), _times(b, a.ends)], ["", ""])
        bends = dict(sums.bends)
        _add_crossed(bends, a.slopes, b.slopes)
        return _Taylor(ends, sums.slopes, bends)

    def _quotient(self, ends: Ends, a: _Taylor, b: _Taylor) -> _Taylor:
        """q = a/b: q' = (a' − q·b')/b, q'' = (a'' − q·b'' − q'b' − b'q')/b."""
        inverse = _apply("/", self._one, b.ends)
        rest = self._linear(ends, [a, _times(b, ends)], ["", "negate"])
        slopes = {i: _apply("*", slope, inverse) for i, slope in rest.slopes.items()}
        crossed: Bends = {}
        _add_crossed(crossed, slopes, b.slopes)
        bends = dict(rest.bends)
        for pair, bend in crossed.items():
            bends[pair] = _sum(bends.get(pair), _apply("negate", bend))
        return _Taylor(
            ends, slopes, {pair: _apply("*", bend, inverse) for pair, bend in bends.items()}
        )

    def _root(self, ends: Ends, a: _Taylor) -> _Taylor:
        """r = √a: r' = a'/(2r), r'' = (a''/2 − r'r')/r."""
        inverse = _apply("/", self._one, ends)
        half = _constant(Fraction(1, 2), self._shape)
        halved = _times(a, half)
        slopes = {i: _apply("*", slope, inverse) for i, slope in halved.slopes.items()}
        bends = dict(halved.bends)
        crossed: Bends = {}
        _add_crossed(crossed, slopes, slopes)  # twice each product
        for pair, bend in crossed.items():
            bends[pair] = _sum(bends.get(pair), _apply("negate", _apply("*", bend, half)))
        return _Taylor(
            ends, slopes, {pair: _apply("*", bend, inverse) for pair, bend in bends.items()}
        )


def _times(part: _Taylor, factor: Ends) -> _Taylor:
    """Multiply all derivatives of a term by a factor."""
    return _Taylor(
        part.ends,
        {i: _apply("*", slope, factor) for i, slope in part.slopes.items()},
        {pair: _apply("*", bend, factor) for pair, bend in part.bends.items()},
    )


def _add_crossed(bends: Bends, first: Mapping[int, Ends], second: Mapping[int, Ends]) -> None:
    """Add first_i·second_j + first_j·second_i to all pairs."""
    for i, slope in first.items():
        for j, factor in second.items():
            pair = (min(i, j), max(i, j))
            product = _apply("*", slope, factor)
            bends[pair] = _sum(bends.get(pair), product)
            if i == j:
                bends[pair] = _sum(bends[pair], product)


def _apply_guarded(op: str, args: list[Ends]) -> Ends:
    """Apply an operation; nothing is known outside of where it is smooth."""
    if op == "at_least_one":  # the identity from 1 on
        (low, high) = args[0]
        is_sure = low >= 1
        return np.where(is_sure, low, -np.inf), np.where(is_sure, high, np.inf)
    if op == "sqrt":
        low, high = _apply(op, *args)
        return np.where(args[0][0] > 0, low, 0.0), high
    return _apply(op, *args)


def _apply(op: str, *args: Ends) -> Ends:
    return OPERATIONS[op][1](args)


def _constant(number: Fraction, shape: Doubles) -> Ends:
    near = np.full_like(shape, float(number))
    return (near, near) if Fraction(float(number)) == number else _outward(near, near)


def _outward(low: Doubles, high: Doubles) -> Ends:
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
