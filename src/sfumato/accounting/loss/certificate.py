"""Certified bounds on a composition, from above and below: δ at an ε, and ε at a δ.

*Upper*      The curve of the dominating lattice laws at the two lattice numbers around ε; between
             them the chord, as the true curve is convex in e^ε.
*Lower*      The curve of the dominated laws, which is a chord there.
*Positions*  Losses are known to within `slack` in total; ε is moved by it to the safe side.
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
from .compose_plan import (
    MOST,
    LatticePlan,
    Saddle,
    Uses,
    at_delta,
    at_epsilon,
    foresee_delta,
    plan,
    target_width,
)
from .loss_lattice import Halves, Integers, Measure, cut_tail, halves, lower, upper
from .loss_laws import BOTH, UNIT, Doubles, reverse
from .loss_products import multiply_out

Side = Literal["up", "down"]
Bounds = tuple[float, float]
Parts = tuple[tuple[Measure, int], ...]

_TRIES, _AGAIN, _WIDE = 10, 3, 9e-5
_ROUGH, _LOOSE = 1 << 12, 1 << 18
_GAIN = 0.5  # stop refining when a finer lattice gains less: the law has jumps
_FAR = 1 << 49  # doubles do not hold lattice numbers beyond this exactly


@dataclass(frozen=True, slots=True, eq=False)
class BoundCurve:
    """The curve of one direction, bounded from one side."""

    side: Side
    plan: LatticePlan
    sum: Sum

    @property
    def slack(self) -> float:
        mesh = self.plan.mesh
        far = mesh.h * (abs(self.plan.centre) + mesh.size)
        return self.sum.slack + 8 * UNIT * (abs(self.plan.offset) + far)

    def at(self, numbers: Integers) -> Doubles:
        return self.sum.above(numbers) if self.side == "up" else self.sum.below(numbers)

    def place(self, number: int) -> float:
        return self.plan.offset + self.plan.mesh.h * number

    def delta(self, epsilon: float) -> float:
        """Return the bound on δ at ε."""
        safe = epsilon - self.slack if self.side == "up" else epsilon + self.slack
        number = math.floor((safe - self.plan.offset) / self.plan.mesh.h)
        if abs(number) >= _FAR:  # so far out only the monotony of δ is known
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
            return min(1.0, (low + _clamp(share - doubt) * min(0.0, high - low)) * (1 + 8 * UNIT))
        return max(0.0, (low + _clamp(share + doubt) * (min(low, high) - low)) * (1 - 8 * UNIT))

    def epsilon(self, delta: float) -> float:
        """Return the bound on ε at δ."""
        number = self._crossing(delta)
        if number is None:
            return math.inf if self.side == "up" else 0.0
        low, high = (float(value) for value in self.at(np.array([number, number + 1])))
        end = high if self.side == "up" else min(high, delta)
        share = _clamp((low - delta) / (low - end)) if low > end else 1.0
        crossing = self.place(number) + math.log1p(share * math.expm1(self.plan.mesh.h))
        margin = self.slack + 64 * UNIT * (self.plan.mesh.h + abs(crossing))
        return max(0.0, crossing + margin if self.side == "up" else crossing - margin)

    def _crossing(self, delta: float) -> int | None:
        """Find a number at which the bound is above δ while at the next it is not; the end of the
        period if there is none.
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


def _clamp(share: float) -> float:
    return min(1.0, max(0.0, share))


def epsilon_bounds(
    uses: Uses,
    delta: Fraction,
    most: int = MOST,
    width: float = 1.0,
    *,
    sides: Sequence[int] = BOTH,
) -> Bounds:
    """Bound ε at δ from below and above, on a lattice of at most `most` numbers. The lattice is
    finer than usual if an interval of relative `width` needs it.
    """
    near = _safe_doubles(delta)
    return _worst_direction(
        uses,
        sides,
        lambda oriented, enough: _solve(
            oriented,
            at_delta(oriented, near["up"]),
            lambda curve: curve.epsilon(near[curve.side]),
            enough,
            most,
            width,
        ),
    )


def delta_bounds(
    uses: Uses, epsilon: Fraction, most: int = MOST // 4, *, sides: Sequence[int] = BOTH
) -> Bounds:
    """Bound δ at ε from below and above, on a lattice of at most `most` numbers."""
    near = _safe_doubles(epsilon)
    return _worst_direction(
        uses, sides, lambda oriented, enough: _delta_bounds(oriented, near, enough, most)
    )


def _safe_doubles(value: Fraction) -> dict[Side, float]:
    """Return a double not above a number for upper bounds, and one not below it for lower."""
    return {"up": double_below(value), "down": double_above(value)}


def _worst_direction(
    uses: Uses, sides: Sequence[int], solve: Callable[[Uses, float], Bounds]
) -> Bounds:
    """Return the worse bounds of the two directions; one direction is enough if all laws are
    symmetric. A reversed sum that surely loses less is not refined.
    """
    low, high = 0.0, 0.0
    for side in sides[:1] if all(law.symmetric for law, _ in uses) else sides:
        bounds = _narrow(
            uses if side == 0 else tuple((reverse(law), count) for law, count in uses), solve, high
        )
        low, high = max(low, bounds[0]), max(high, bounds[1])
    return low, high


def _narrow(uses: Uses, solve: Callable[[Uses, float], Bounds], enough: float) -> Bounds:
    """Return both bounds. If they are far apart because atoms fit no lattice, solve again with the
    laws multiplied out, and take the better of each bound: all of them hold.
    """
    low, high = solve(uses, enough)
    if (
        high - low <= _WIDE * high
        or high <= enough
        or math.isinf(high)
        or (multiplied := multiply_out(uses)) is uses
    ):
        return low, high
    again = solve(multiplied, enough)
    return max(low, again[0]), min(high, again[1])


def _delta_bounds(uses: Uses, epsilon: dict[Side, float], enough: float, most: int) -> Bounds:
    """Bound δ at ε. Which losses are too rare to matter depends on δ itself, so δ is first
    estimated: by Chernoff's bound, then on a small lattice.
    """
    guess = foresee_delta(uses, epsilon["up"], max(1e-250, 1e-6 * enough))
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
    ask: Callable[[BoundCurve], float],
    enough: float,
    most: int,
    width: float = 1.0,
    unit: float = 1.0,
) -> Bounds:
    """Return both bounds, refined while they are farther apart than planned. Stop after the first
    upper bound if that is at most `enough`.
    """
    if enough:
        first = plan(uses, saddle, most=most)
        rough = ask(BoundCurve("up", first, add(_measures(upper, _halve(uses, first)), first.mesh)))
        if rough <= enough:
            return 0.0, rough
    finer, low, high, before = 1.0, 0.0, math.inf, math.inf
    for _ in range(_AGAIN):
        chosen, down, up, finer = _lattice(uses, saddle, most, width, finer)
        low = max(low, ask(BoundCurve("down", chosen, add(down, chosen.mesh))))
        high = min(high, ask(BoundCurve("up", chosen, add(up, chosen.mesh))))
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
) -> tuple[LatticePlan, Parts, Parts, float]:
    """Return a plan, its laws from below and from above, and how fine it is. Refine until the laws
    are close or the lattice has enough numbers.
    """
    cut = 1e-5 * math.exp(saddle.size) / sum(count for _, count in uses)
    # an atom between nodes costs in proportion to h, not to its square: no spacing would be enough
    tried, loose = 0, False
    best: tuple[float, LatticePlan, Parts, Parts, float] | None = None
    while tried < _TRIES:
        chosen = plan(uses, saddle, finer, most if not loose else min(most, _LOOSE))
        laid = _halve(uses, chosen)
        down, up = _measures(lower, laid), _measures(upper, laid)
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
        enough = min(target_width(best[1].mesh.size), width) * saddle.aim
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
        tuple((cut_tail(measure, cut), count) for measure, count in best[2]),
        best[3],
        best[4],
    )


def _halve(uses: Uses, chosen: LatticePlan) -> list[tuple[Halves, int]]:
    return [
        (halves(law, nodes), count) for (law, count), nodes in zip(uses, chosen.nodes, strict=True)
    ]


def _measures(make: Callable[[Halves], Measure], laid: list[tuple[Halves, int]]) -> Parts:
    return tuple((make(half), count) for half, count in laid)
