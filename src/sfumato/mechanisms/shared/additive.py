"""The base class of mechanisms that add noise: a record of public parameters, and `perturb`, where
data enter.

Without a grid a mechanism takes integers and returns integers. With a grid it takes floats (or
integers) and returns multiples of the grid.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import up
from ...exact.numbers import (
    Number,
    by_its_bits,
    positive,
    power_of_two,
    power_of_two_at_least,
    probability,
)
from ...guarantees import Relation
from ...guarantees.guarantee import relation_of, unit_of
from ...noise.bits import SYSTEM, Bits
from ...noise.law import SymmetricLaw
from ...records import LAST, PARTIAL, record
from ..stated.stated_laws import ShiftedNoise, as_fraction, as_integer
from . import grid as grids
from . import mechanism_refusals as refusals
from .calibrated import Way
from .mechanism import Input, InputPair, Mechanism, Neighbours

_ROUNDED = Fraction(1, 2**40)  # a neighbour of a double may be a double only nearly


def check_grid(value: Number | None) -> Fraction | None:
    """Check a grid: a power of two, or None for integers."""
    return None if value is None else Fraction(2) ** power_of_two(value, "grid")


def check_size(value: int | None, name: str = "size") -> int | None:
    """Check a number of values."""
    if value is None:
        return None
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= value <= 2**40:
        return int(value)
    raise refusals.NOT_A_SIZE(name=name, value=value)


def check_integer_sensitivity(value: Number) -> Fraction:
    """Check how far a neighbour may move exact integers: by 1 or more."""
    sensitivity = positive(value, "sensitivity")
    if sensitivity < 1:
        raise refusals.SENSITIVITY_BELOW_ONE(sensitivity=value, grid=fine_grid(sensitivity))
    return sensitivity


def check_sensitivity(value: Number, record: Additive = PARTIAL) -> Fraction:
    """Check how far a neighbour may move the exact values, which are integers or on the grid."""
    return (
        check_integer_sensitivity(value) if record.grid is None else positive(value, "sensitivity")
    )


@record(kw_only=True)
class Additive(Mechanism):
    """A mechanism that adds integer noise on a public grid."""

    grid: Fraction | None = field(default=None, converter=check_grid, metadata=LAST)
    size: int | None = field(default=None, converter=check_size, metadata=LAST)
    sensitivity: Fraction = field(converter=check_sensitivity)
    relation: Relation | None = field(default=None, converter=relation_of, metadata=LAST)
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)

    @property
    @abstractmethod
    def law(self) -> SymmetricLaw:
        """The law of the noise, in grid steps."""

    def perturb(self, value: object, *, bits: Bits = SYSTEM) -> Any:
        """Add exact noise to the value: an int for an int, a float on the grid for a float, an
        array of the same shape for an array or a list.

        >>> type(mech.Laplace(sensitivity=1, epsilon=1).perturb(1000))
        <class 'int'>
        """
        if type(value) is int or type(value) is float:
            self._check_size(1)
            return (
                value + self.law.draw(bits)
                if type(value) is int and self.grid is None
                else self._perturb_on_grid(value, bits)
            )
        if type(value).__name__ == "MaskedArray":
            raise refusals.MASKED_VALUES()
        if isinstance(value, bool | str | bytes) or value is None:
            raise refusals.NEITHER_INTEGER_NOR_FLOAT(type=type(value).__name__)
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            if value.dtype != object and (
                value.dtype.kind not in "iuf" or value.dtype.itemsize > 8
            ):
                raise refusals.NEITHER_INTEGER_NOR_FLOAT(type=value.dtype)
            return self.perturb(value.item(), bits=bits)
        return self._perturb_array(value, bits)

    def error(self, confidence: Number = 0.95, *, values: int = 1) -> int | float:
        """Half the width of the interval around an answer that holds the exact value with this
        probability: each coordinate by itself, or `values` at once.
        """
        steps = self.law.half_width(confidence, values=check_size(values, "values") or 1)
        if self.grid is None:
            return steps
        return up(self.grid * (steps + Fraction(1, 2)))  # the half step is the rounding to the grid

    def probability(self, noise: Any) -> float | NDArray[np.float64]:
        """P(noise = …), from the exact law."""
        if self.grid is None:
            chances: float | NDArray[np.float64] = self.law.pmf(noise)
            return chances
        if np.ndim(noise):
            return np.array([self.probability(z) for z in np.ravel(noise).tolist()]).reshape(
                np.shape(noise)
            )
        steps = by_its_bits(noise, "noise") / self.grid
        return self.law.pmf(steps.numerator) if steps.denominator == 1 else 0.0

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        step = float(self.step)
        return self.law.variance * step * step  # infinite where it leaves the doubles

    @property
    def step(self) -> Fraction:
        """The width of a grid step; 1 for integers."""
        return self.grid if self.grid is not None else Fraction(1)

    def _perturb_on_grid(self, value: float, bits: Bits) -> float:
        exponent = self._exponent()
        self._check_size(1)
        total = grids.snap(value, exponent) + self.law.draw(bits)
        try:
            return math.ldexp(float(total), exponent)
        except OverflowError:
            return math.copysign(math.inf, total)

    def _perturb_array(self, value: object, bits: Bits) -> NDArray[np.generic]:
        if self.grid is not None:
            exponent = self._exponent()
            steps = grids.steps(value, exponent)
            self._check_size(steps.size)
            with np.errstate(over="ignore"):
                return np.ldexp(
                    grids.add(steps, self.law.sample(steps.shape, bits)).astype(np.float64),
                    exponent,
                )
        integers = grids.whole_numbers(value)
        if integers is None:
            integers = grids.steps(value, 0)  # refuses what is no number
            if integers.size:
                self._exponent()  # refuses, as floats need a grid
        if self.size is not None:
            self._check_size(integers.size)
        noise = self.law.sample(integers.shape, bits)
        return (
            integers + noise.astype(object)
            if integers.dtype == object
            else grids.add(integers, noise)
        )

    def _exponent(self) -> int:
        if self.grid is None:
            raise refusals.FLOATS_WITHOUT_GRID(
                mechanism=type(self).__name__, grid=fine_grid(self.sensitivity)
            )
        return self.grid.numerator.bit_length() - self.grid.denominator.bit_length()

    def _check_size(self, size: int) -> None:
        expected = 1 if self.size is None else self.size
        if size != expected and size != 0:
            raise refusals.UNEXPECTED_SIZE(values=size, size=expected)

    norm: ClassVar[Literal["L1", "L2"]] = "L1"
    """The norm of the sensitivity."""

    def audit_pairs(self) -> list[InputPair]:
        move = self._largest_move
        starts: tuple[float, ...] = (
            (0, -7, -move, 1000, 2**53) if self.grid is None else (0.0, -1 / 3, -move, 1 / 3, 1e9)
        )
        return self._neighbours_among((start, start + move) for start in starts)

    def neighbours_of(self, x: Input) -> list[InputPair]:
        move = self._largest_move
        if isinstance(x, int | float | Fraction | np.integer | np.floating) and not isinstance(
            x, bool
        ):
            return self._neighbours_among((x, x + step) for step in (move, -move))
        if isinstance(x, list | tuple | np.ndarray) and len(x):
            return self._neighbours_among((x, [x[0] + step, *x[1:]]) for step in (move, -move))
        return []

    def are_neighbours(self, x: object, y: object) -> bool:
        """Whether two inputs differ by the sensitivity at most, in its norm. True for inputs
        without a distance, such as NaN, so that an audit tries them.
        """
        try:
            pairs = zip(_coordinates(x), _coordinates(y), strict=True)
            moves = [Fraction(b) - Fraction(a) for a, b in pairs]
        except (TypeError, ValueError, OverflowError):
            return True
        most = self.sensitivity * (1 + _ROUNDED)
        if self.norm == "L2":
            return sum(move * move for move in moves) <= most * most
        return sum(map(abs, moves)) <= most

    def output_laws(self, x: Input, y: Input) -> ShiftedNoise | None:
        values_x, values_y = np.asarray(x), np.asarray(y)
        if values_x.ndim or values_y.ndim:
            values_x, values_y = values_x.ravel(), values_y.ravel()
            differ = values_x != values_y if values_x.shape == values_y.shape else np.zeros(0)
            if self.grid is not None or differ.sum() != 1:
                return None
            at = int(np.argmax(differ))
            ends = as_integer(values_x[at]), as_integer(values_y[at])
            return ShiftedNoise(self.law, *ends, f"[{at}]")
        if self.grid is None:
            return ShiftedNoise(self.law, as_integer(x), as_integer(y))
        steps = [as_fraction(value) / self.grid for value in (x, y)]
        if any(step.denominator != 1 for step in steps):  # rounding to the grid decides
            return None
        return ShiftedNoise(self.law, int(steps[0]), int(steps[1]), step=float(self.grid))

    def draw_many(self, x: Input, n: int) -> NDArray[np.generic] | None:
        """Draw the noise of n equal inputs, each by itself: n outputs for one of them."""
        values = np.asarray(x)
        if self.grid is not None or self.size is not None:
            return None  # such a record says for how many numbers it is
        if values.dtype.kind not in "iu" or values.ndim > 1 or isinstance(x, bool):
            return None
        equal = (
            np.tile(values.astype(np.int64), (n, 1))
            if values.ndim
            else np.full(n, x, dtype=np.int64)
        )
        return np.asarray(self.perturb(equal))

    @property
    def _largest_move(self) -> float:
        return math.floor(self.sensitivity) if self.grid is None else float(self.sensitivity)

    def _neighbours_among(self, pairs: Iterable[InputPair]) -> list[InputPair]:
        """List the pairs that are neighbours: sums of doubles may move by more."""
        return [pair for pair in pairs if self.are_neighbours(*pair)]


def _coordinates(value: object) -> list[float | Fraction]:
    return np.asarray(value, dtype=object).ravel().tolist()


class GridOptions(Neighbours, total=False):
    """The keywords of all additive mechanisms."""

    grid: Number | None


class AdditiveOptions(GridOptions, total=False):
    """The keywords of the additive mechanisms for one number or several."""

    size: int | None


def squared_moves(record: Additive) -> Fraction:
    """The squared L2 sensitivity after rounding to the grid. For integers it is a whole number; a
    square just below a whole number counts as that number.
    """
    square = record.sensitivity**2
    if record.grid is None:
        return Fraction(
            math.ceil(square) if math.ceil(square) - square < square / 10**9 else math.floor(square)
        )
    return record.grid**2 * grids.steps_l2_squared(square / record.grid**2, record.size or 1)


def tolerance(way: Way, grid: Fraction | None) -> tuple[int, Fraction]:
    """The noise, in grid steps, that keeps an answer within a tolerated error, and the probability
    with which the noise may exceed it.
    """
    tolerated = positive(way.value, "error")
    steps = math.floor(tolerated if grid is None else tolerated / grid - Fraction(1, 2))
    if steps < 0:
        raise refusals.GRID_COARSER_THAN_ERROR(error=way.value, finer=fine_grid(tolerated))
    return steps, 1 - probability(way.confidence, "confidence", zero=False)


def fine_grid(size: Fraction) -> str:
    """Suggest a grid that is fine compared with a number of this size, as Python text."""
    return f"2**{power_of_two(power_of_two_at_least(size), 'grid') - 20}"
