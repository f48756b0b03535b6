"""Sums over a stream that has no last period: since the beginning, or over windows.

*Law*        Period t publishes y_t = Σ_j r_j·x_{t−j} + z_t: integer weights r_j near 2^s·c_j, with
             c_j = C(2j, j)/4^j, and rounded normal noise z_t. Sums of consecutive periods are a
             fixed function of y, to the nearest integer. Which r_j: without a last period, those of
             stretches of 4,096 and then 2^20 periods, damped so that the noise after 365 periods is
             within 5 % of that of a stream of 365; with `length`, those of one stretch; with
             `window`=w, the first w, so that a period is forgotten after w.
*Promise*    μ-GDP. Neighbours differ in up to `periods` consecutive periods, or in any `periods`
             ones, each by at most Δ (Euclidean, over all columns): stretches have
             σ² = Δ²·Σ_{i,j<periods} g_|i−j|/μ², g_d = Σ_j r_j·r_{j+d}, and no entry of R is
             negative, so neighbouring columns are the worst. Also when x_t is chosen in the light
             of what was published before (Denisov, McMahan, Rush, Smith & Thakurta 2022).
*Error*      σ·√(Σ_j (ℓ_j − ℓ_{j−n})²) for a sum of n periods, ℓ the inverse series: known before
             any data, and the same for every unbiased way to read that sum from y.
*Proof*      docs/proofs/running-sums.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import ball, below, least, normal_cdf, sqrt_up
from ...exact.numbers import Number, is_whole, probability
from ...guarantees import GDP, Guarantee, Relation
from ...guarantees.guarantee import relation_of, unit_of
from ...keywords import spell_out
from ...noise.bits import SYSTEM, Bits
from ...noise.rounded_normal import RoundedNormal
from ...records import LAST, record
from ..shared import grid as grids
from ..shared import mechanism_refusals as refusals
from ..shared.additive import check_integer_sensitivity
from ..shared.calibrated import Way, check_delta_of, choose_way, solve, squared_mu
from ..shared.mechanism import Input, Mechanism, Neighbours, Output
from ..stated.audit_example import STREAMS, AuditExample, fixed
from .running_roots import FINE, Root, convolve

FIRST_STRETCH, STRETCH = 1 << 12, 1 << 20
"""Periods of the first stretch of a stream without an end, and of every later one."""
_FALL, _AFTER = Fraction(2, 5), 365  # damping of the first stretch; later ones in proportion
# the noise has about 2^36 steps; weights have 24 bits, fewer where the sampler's range ends
_STEPS, _FEWEST_BITS, _LARGEST_NOISE = 36, 24, 54
_SLACK = 1 + 2.0**-40  # for sums of doubles

Numbers = NDArray[np.object_]


def _check_periods(value: int | None, name: str = "") -> int | None:
    if value is None or is_whole(value, 1, STRETCH):
        return value
    raise refusals.PERIODS_OUT_OF_RANGE(name=name, value=value, most=STRETCH)


class StreamShape(Neighbours, total=False):
    """The keywords that say which sums a stream serves and what a neighbour changes."""

    length: int | None
    window: int | None
    periods: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the stream with weights of its own: where it begins, and where it ends, if it
    does. `sigma` is the deviation of its noise, in units of the integers that are summed.
    """

    first: int
    last: int | None
    root: Root
    sigma: Fraction

    @property
    def law(self) -> RoundedNormal:
        """The noise of its measurements, in steps of 2^-bits."""
        return RoundedNormal(sigma=self.sigma * (1 << self.root.bits))

    def first_read(self, period: int) -> int:
        """The earliest period that the measurement of this period weighs."""
        return max(self.first, period - self.root.count + 1)


@record(kw_only=True, init=False)
class RunningSums(Mechanism):
    """Measurements of a stream, one for each period, from which its sums follow."""

    length: int | None = field(converter=_check_periods)
    window: int | None = field(converter=_check_periods)
    periods: int = field(converter=_check_periods)
    sensitivity: Fraction = field(converter=check_integer_sensitivity)
    mu_squared: Fraction = field(converter=solve)
    relation: Relation | None = field(default=None, converter=relation_of, metadata=LAST)
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)

    @spell_out(StreamShape, periods=1)
    def __init__(
        self,
        *,
        sensitivity: Number = 1,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu_squared: Number | None = None,
        **shape: Unpack[StreamShape],
    ) -> None:
        example = "RunningSums(epsilon=1, delta=1e-6)"
        ways = {"epsilon": epsilon, "rho": rho, "mu_squared": mu_squared}
        way = choose_way(example, ways, delta=delta)
        check_delta_of(way, example)
        length, window = shape.get("length"), shape.get("window")
        if length is not None and window is not None:
            raise refusals.LENGTH_AND_WINDOW(length=length, window=window)
        self.__attrs_init__(
            length=length,
            window=window,
            periods=shape.get("periods", 1),
            sensitivity=sensitivity,
            mu_squared=way,
            relation=shape.get("relation"),
            unit=shape.get("unit"),
        )

    def _solve(self, way: Way) -> Fraction:
        return squared_mu(way)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (GDP.from_square(self.mu_squared, **self._neighbours),)

    def promise_over(self, periods: int) -> GDP:
        """The promise for a change in so many periods, which may be more than `periods`: as many
        groups of these, or, where each period has noise of its own, the sum of their squares.
        """
        times = -(-periods // self.periods)
        squares = Fraction(periods, self.periods) if self.window == 1 else Fraction(times**2)
        return GDP.from_square(self.mu_squared * max(squares, Fraction(1)), **self._neighbours)

    def stretch(self, number: int) -> Stretch:
        """The stretch of this number, from 0."""
        return _stretch(self, number)

    def stretches(self, first: int, last: int) -> list[Stretch]:
        """The stretches that hold the periods first, …, last; refuses periods after the end."""
        if self.length is not None and last > self.length:
            raise refusals.STREAM_FULL(length=self.length)
        number = 0 if first <= FIRST_STRETCH else 1 + (first - 1 - FIRST_STRETCH) // STRETCH
        held = [self.stretch(number if self._ends else 0)]
        while (end := held[-1].last) is not None and end < last:
            number += 1
            held.append(self.stretch(number))
        return held

    def first_read(self, period: int) -> int:
        """The earliest period whose values the measurement of this period needs."""
        return self.stretches(period, period)[0].first_read(period)

    def perturb(self, sums: object, *, after: int = 0, bits: Bits = SYSTEM) -> Numbers:
        """Measure the periods after + 1, after + 2, …: noisy integers, for each column of `sums`.

        `sums` has a row of exact integers for each period from `first_read(after + 1)` on.
        """
        exact = grids.whole_numbers(sums)
        if exact is None or exact.ndim not in (1, 2):
            raise refusals.NOT_A_ROW_OF_INTEGERS(name="sums", type=type(sums).__name__)
        begin = self.first_read(after + 1)
        last = begin + len(exact) - 1
        if last <= after:
            raise refusals.NO_NEW_PERIOD(after=after, last=last)
        table = exact.reshape(len(exact), -1)
        measured = []
        for stretch in self.stretches(after + 1, last):
            to = last if stretch.last is None else min(last, stretch.last)
            new = max(after + 1, stretch.first)
            start = max(begin, stretch.first)
            rows = table[start - begin : to - begin + 1]
            noise = stretch.law.sample((to - new + 1, table.shape[1]), bits).astype(object)
            for column in range(table.shape[1]):
                values = [int(value) for value in rows[:, column]]
                noise[:, column] += convolve(stretch.root.weights, values, new - start)
            measured.append(noise)
        return np.concatenate(measured).reshape(-1, *exact.shape[1:])

    def totals(self, measurements: Numbers) -> Numbers:
        """The sums since the beginning, for all periods measured so far, to the nearest integer."""
        if not len(measurements):
            return np.zeros(measurements.shape, dtype=object)
        table = measurements.reshape(len(measurements), -1)
        totals = np.zeros(table.shape, dtype=object)
        for stretch in self.stretches(1, len(table)):
            here = slice(stretch.first - 1, stretch.last)
            count = len(table[here])
            shift = FINE + stretch.root.bits
            for column in range(table.shape[1]):
                sums = convolve(stretch.root.inverse(count), [int(y) for y in table[here, column]])
                before = int(totals[stretch.first - 2, column]) if stretch.first > 1 else 0
                totals[here, column] = [
                    before + ((total + (1 << (shift - 1))) >> shift) for total in sums
                ]
        return totals.reshape(measurements.shape)

    def deviation(self, last: int, first: int = 1) -> float:
        """The standard deviation of the noise in the sum of the periods first, …, last, before it
        is rounded to an integer. Rounded up.
        """
        return math.sqrt(self._variance(first, last)) * _SLACK

    def error(self, last: int, first: int = 1, confidence: Number = 0.95) -> int:
        """Half the width of an interval that holds the exact sum of these periods with this
        probability, by itself.
        """
        width = normal_width(probability(confidence, "confidence"))
        return math.floor(width * Fraction(self.deviation(last, first)) + self.slack(last, first))

    def slack(self, last: int, first: int = 1) -> Fraction:
        """How far rounding may move the sum of these periods beyond its normal noise."""
        noise = Fraction(0)
        for stretch in self.stretches(first, last):
            gains = self._gains(stretch, first, last)
            noise += Fraction(float(np.abs(gains).sum()) * _SLACK) / (2 << stretch.root.bits)
        roundings = sum(1 for _ in self.stretches(1, last)) + (
            sum(1 for _ in self.stretches(1, first - 1)) if first > 1 else 0
        )
        return noise + Fraction(roundings, 2) + Fraction(1, 1 << 20)

    @property
    def _ends(self) -> bool:
        """Whether its stretches end, so that there is more than one."""
        return self.length is None and self.window is None

    def _variance(self, first: int, last: int) -> float:
        """The variance of the noise in the sum of the periods first, …, last."""
        return sum(
            float(stretch.sigma) ** 2 * float((self._gains(stretch, first, last) ** 2).sum())
            for stretch in self.stretches(first, last)
        )

    def _gains(self, stretch: Stretch, first: int, last: int) -> NDArray[np.float64]:
        """The weights of a stretch's noise in the sum of these periods, the latest first."""
        to = last if stretch.last is None else min(last, stretch.last)
        count = to - stretch.first + 1
        since = to - max(first, stretch.first) + 1
        gains = stretch.root.gains(count)
        if since == count:
            return gains
        return np.concatenate([gains[:since], gains[since:] - gains[: count - since]])

    why_no_law = "the noise of all sums is correlated, and no place differs by itself"
    why_no_loss_pair = "the pair of μ-GDP dominates"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        pairs = fixed(*(([0] * 4, [int(i in (a, a + 1)) for i in range(4)]) for a in range(-1, 4)))
        return [
            AuditExample(
                "RunningSums",
                lambda e: cls(epsilon=e, delta="1e-6"),
                STREAMS,
                at_once=False,
                slow=4,
            ),
            AuditExample(
                "RunningSums, windows of two",
                lambda e: cls(window=2, periods=2, epsilon=e, delta="1e-6"),
                pairs,
                at_once=False,
                slow=4,
            ),
        ]

    def draw_once(self, x: Input) -> Output:
        return self.totals(self.perturb(x)).astype(np.float64)


@lru_cache(maxsize=64)
def normal_width(confidence: Fraction) -> Fraction:
    """The w for which a standard normal variable lies within ±w with this probability."""
    missing = 1 - confidence
    if missing >= 1:
        return Fraction(0)
    return least(lambda x: below(lambda: 2 * normal_cdf(-ball(x)), lambda: ball(missing)))


@lru_cache(maxsize=32)
def _stretch(mechanism: RunningSums, number: int) -> Stretch:
    """Find the noise of a stretch: the least σ that keeps the promise."""
    # stored streams rest on these integers: no later version may choose others
    about = float(mechanism.sensitivity) * 2 * mechanism.periods / math.sqrt(mechanism.mu_squared)
    size = math.ceil(math.log2(about))
    bits = max(1, min(max(_FEWEST_BITS, _STEPS - size), _LARGEST_NOISE - size))
    fixed_count = mechanism.length if mechanism.window is None else mechanism.window
    if fixed_count is not None:
        first, last, root = 1, mechanism.length, Root(fixed_count, bits)
    elif number == 0:
        first, last = 1, FIRST_STRETCH
        root = Root(FIRST_STRETCH, bits, _FALL, _AFTER)
    else:
        first = 1 + FIRST_STRETCH + (number - 1) * STRETCH
        last = first + STRETCH - 1
        root = Root(STRETCH, bits, _FALL, _AFTER * STRETCH // FIRST_STRETCH)
    m, products = mechanism.periods, root.products(mechanism.periods)
    moves = m * products[0] + 2 * sum((m - d) * g for d, g in enumerate(products) if d)
    moves_squared = mechanism.sensitivity**2 * Fraction(moves, 1 << 2 * bits)
    return Stretch(first, last, root, sqrt_up(moves_squared / mechanism.mu_squared))
