"""Certified bounds on a composition: at an ε how large δ is, at a δ how large ε, from above and
from below.

*Upper*      The curve of the dominating lattice laws, at two numbers of the lattice around; between
             them the chord, as the true curve is convex in e^ε.
*Lower*      The curve of the dominated ones, which is a chord there.
*Positions*  Losses are known to within `slack`, in all; ε is moved by it to the safe side.
*Directions* Laws that are not symmetric are composed once as they are and once reversed; the worse
counts, for both bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from ...exact.numbers import double_above, double_below
from .compose_fourier import Sum, add, log_sum
from .compose_plan import MOST, Plan, Saddle, Uses, at_delta, at_epsilon, foreseen, plan, wanted
from .loss_lattice import Halves, Measure, Whole, halves, lower, shortened, upper
from .loss_laws import BOTH, UNIT, Doubles, reverse
from .loss_products import gathered

Side = Literal["up", "down"]
Bounds = tuple[float, float]
Parts = tuple[tuple[Measure, int], ...]

_TRIES, _AGAIN, _WIDE = 10, 3, 9e-5
_ROUGH, _LOOSE = 1 << 12, 1 << 18
_GAIN = 0.5  # finer lattices that gain less than this are made no finer: there are jumps in the law
_FAR = 1 << 49  # numbers of a lattice beyond it are not whole numbers to a double


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One side of one direction, ready to be asked."""

    side: Side
    plan: Plan
    sum: Sum

    @property
    def slack(self) -> float:
        mesh = self.plan.mesh
        far = mesh.h * (abs(self.plan.centre) + mesh.size)
        return self.sum.slack + 8 * UNIT * (abs(self.plan.offset) + far)

    def at(self, numbers: Whole) -> Doubles:
        return self.sum.above(numbers) if self.side == "up" else self.sum.below(numbers)

    def place(self, number: int) -> float:
        return self.plan.offset + self.plan.mesh.h * number

    def delta(self, epsilon: float) -> float:
        """The bound on δ at ε."""
        safe = epsilon - self.slack if self.side == "up" else epsilon + self.slack
        number = math.floor((safe - self.plan.offset) / self.plan.mesh.h)
        if abs(number) >= _FAR:  # nothing is known so far out, but that δ falls
            return (
                float(self.at(np.array([_FAR]))[0])
                if self.side == "up" and number > 0
                else 1.0
                if self.side == "up"
                else 0.0
            )
        low, high = (float(value) for value in self.at(np.array([number, number + 1])))
        share = math.expm1(safe - self.place(number)) / math.expm1(self.plan.mesh.h)
        doubt = 32 * UNIT * (1 + (abs(safe) + abs(self.plan.offset)) / self.plan.mesh.h)
        if self.side == "up":
            return min(1.0, (low + _clamped(share - doubt) * min(0.0, high - low)) * (1 + 8 * UNIT))
        return max(0.0, (low + _clamped(share + doubt) * (min(low, high) - low)) * (1 - 8 * UNIT))

    def epsilon(self, delta: float) -> float:
        """The bound on ε at δ."""
        number = self._crossing(delta)
        if number is None:
            return math.inf if self.side == "up" else 0.0
        low, high = (float(value) for value in self.at(np.array([number, number + 1])))
        end = high if self.side == "up" else min(high, delta)
        share = _clamped((low - delta) / (low - end)) if low > end else 1.0
        found = self.place(number) + math.log1p(share * math.expm1(self.plan.mesh.h))
        margin = self.slack + 64 * UNIT * (self.plan.mesh.h + abs(found))
        return max(0.0, found + margin if self.side == "up" else found - margin)

    def _crossing(self, delta: float) -> int | None:
        """A number at which the bound is above δ while at the next it is not; the end of the period
        where there is none.
        """
        half = self.plan.mesh.size // 2 - 1
        away = half >> np.arange(10)
        numbers = self.plan.centre + np.concatenate((-away, [0], away[::-1]))
        while True:
            over = self.at(numbers) > delta
            at = (
                int(np.argmin(over))
                if self.side == "up"
                else over.size - int(np.argmax(over[::-1]))
            )  # the first not above δ, or that after the last above it
            if over.all() or not over.any():
                return (
                    None
                    if over.all() == (self.side == "up")
                    else int(numbers[0]) - 1
                    if self.side == "up"
                    else int(numbers[-1])
                )
            if at in (0, over.size) or numbers[at] - numbers[at - 1] <= 1:
                return int(numbers[at - 1]) if at else int(numbers[0]) - 1
            numbers = np.unique(np.linspace(numbers[at - 1], numbers[at], 10).astype(np.int64))


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))


def epsilon_bounds(
    uses: Uses,
    delta: Fraction,
    most: int = MOST,
    width: float = 1.0,
    *,
    sides: Sequence[int] = BOTH,
) -> Bounds:
    """ε at δ, from below and from above, on a lattice of `most` numbers at most; finer than usual
    if an interval of `width`, in parts of ε, needs it.
    """
    near = _doubles(delta)
    return _worst(
        uses,
        sides,
        lambda one, high: _solve(
            one,
            at_delta(one, near["up"]),
            lambda curve: curve.epsilon(near[curve.side]),
            high,
            most,
            width,
        ),
    )


def delta_bounds(
    uses: Uses, epsilon: Fraction, most: int = MOST // 4, *, sides: Sequence[int] = BOTH
) -> Bounds:
    """δ at ε, from below and from above, on a lattice of `most` numbers at most."""
    near = _doubles(epsilon)
    return _worst(uses, sides, lambda one, high: _delta_bounds(one, near, high, most))


def _doubles(value: Fraction) -> dict[Side, float]:
    """A double not above a number, at which upper bounds are asked for, and one not below it, for
    lower ones.
    """
    return {"up": double_below(value), "down": double_above(value)}


def _worst(uses: Uses, sides: Sequence[int], solve: Callable[[Uses, float], Bounds]) -> Bounds:
    """The laws as they are and, unless all are symmetric, reversed: the worse of both bounds. A
    reversed sum that surely loses less is not refined.
    """
    low, high = 0.0, 0.0
    for side in sides[:1] if all(law.symmetric for law, _ in uses) else sides:
        one = _narrowed(
            uses if side == 0 else tuple((reverse(law), count) for law, count in uses), solve, high
        )
        low, high = max(low, one[0]), max(high, one[1])
    return low, high


def _narrowed(uses: Uses, solve: Callable[[Uses, float], Bounds], enough: float) -> Bounds:
    """Both bounds; where they are far apart because atoms fit no lattice, also those of the same
    laws multiplied out: both hold.
    """
    low, high = solve(uses, enough)
    if (
        high - low <= _WIDE * high
        or high <= enough
        or math.isinf(high)
        or (other := gathered(uses)) is uses
    ):
        return low, high
    again = solve(other, enough)
    return max(low, again[0]), min(high, again[1])


def _delta_bounds(uses: Uses, epsilon: dict[Side, float], enough: float, most: int) -> Bounds:
    """What is too rare to matter depends on δ itself, which is first found roughly: as foreseen,
    then from a small lattice.
    """
    guess = foreseen(uses, epsilon["up"], max(1e-250, 1e-6 * enough))
    for _ in range(4):
        rough = _solve(
            uses,
            at_epsilon(uses, epsilon["up"], guess),
            lambda curve: curve.delta(epsilon[curve.side]),
            0.0,
            min(most, _ROUGH),
        )[1]
        before, guess = guess, max(min(guess, rough), 1e-250)
        if guess >= 1e-2 * before:
            break
    saddle = at_epsilon(uses, epsilon["up"], guess)
    return _solve(
        uses,
        saddle,
        lambda curve: curve.delta(epsilon[curve.side]),
        enough,
        most,
        unit=max(1.0, saddle.tilt * saddle.aim),
    )


def _solve(
    uses: Uses,
    saddle: Saddle,
    ask: Callable[[Curve], float],
    enough: float,
    most: int,
    width: float = 1.0,
    unit: float = 1.0,
) -> Bounds:
    """Both bounds, refined again if they are farther apart than was foreseen; only a first upper
    one if that is at most `enough`.
    """
    if enough:
        first = plan(uses, saddle, most=most)
        rough = ask(Curve("up", first, add(_laid(upper, _halved(uses, first)), first.mesh)))
        if rough <= enough:
            return 0.0, rough
    finer, low, high, before = 1.0, 0.0, math.inf, math.inf
    for _ in range(_AGAIN):
        chosen, down, up, finer = _lattice(uses, saddle, most, width, finer)
        low, high = (
            max(low, ask(Curve("down", chosen, add(down, chosen.mesh)))),
            min(high, ask(Curve("up", chosen, add(up, chosen.mesh)))),
        )
        apart = (high - low) / max(high, 1e-300) / unit if math.isfinite(high) else 0.0
        vain = apart > _GAIN * before and chosen.mesh.size >= _LOOSE
        if (
            apart <= _WIDE
            or vain
            or chosen.mesh.size >= most
            or any((nodes.on < 0).any() for nodes in chosen.nodes)
        ):
            break
        before = apart
        finer *= min(4.0, max(1.5, math.sqrt(2 * apart / _WIDE)))
    return low, high


def _lattice(
    uses: Uses, saddle: Saddle, most: int = MOST, width: float = 1.0, finer: float = 1.0
) -> tuple[Plan, Parts, Parts, float]:
    """A plan, its laws from below and from above, and how fine it is: refined until the laws are
    close, or enough numbers are spent.
    """
    cut = 1e-5 * math.exp(saddle.size) / sum(count for _, count in uses)
    tried, loose = (
        0,
        False,
        # an atom between nodes costs in proportion to h, not to its square: as much as can be had
        # would
        # not do
    )
    best: tuple[float, Plan, Parts, Parts, float] | None = None
    while tried < _TRIES:
        chosen = plan(uses, saddle, finer, most if not loose else min(most, _LOOSE))
        laid = _halved(uses, chosen)
        down, up = _laid(lower, laid), _laid(upper, laid)
        slope = chosen.mesh.tilt * chosen.mesh.h
        gap = (
            sum(
                k * (log_sum(b, slope) - log_sum(a, slope))
                for (a, k), (b, _) in zip(down, up, strict=True)
            )
            / chosen.mesh.tilt
        )
        vain = best is not None and gap > _GAIN * best[0] and chosen.mesh.size >= _LOOSE
        if best is None or gap < best[0]:
            best = (gap, chosen, down, up, finer)
        enough = min(wanted(best[1].mesh.size), width) * saddle.aim
        tried += 1
        if best[0] <= 1.25 * enough or vain:
            break
        if best[1].mesh.size >= (most if not loose else min(most, _LOOSE)):
            tried = _TRIES
        else:
            loose = any((nodes.on < 0).any() for nodes in best[1].nodes)
            finer *= max(
                1.5, min(best[0] / enough, 64.0) if loose else min(math.sqrt(best[0] / enough), 2.0)
            )
    assert best is not None
    return (
        best[1],
        tuple((shortened(measure, cut), count) for measure, count in best[2]),
        best[3],
        best[4],
    )


def _halved(uses: Uses, chosen: Plan) -> list[tuple[Halves, int]]:
    return [
        (halves(law, nodes), count) for (law, count), nodes in zip(uses, chosen.nodes, strict=True)
    ]


def _laid(make: Callable[[Halves], Measure], laid: list[tuple[Halves, int]]) -> Parts:
    return tuple((make(half), count) for half, count in laid)
