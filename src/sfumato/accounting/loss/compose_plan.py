"""Plan the lattice of a composition: its period, spacing and tilt. A bad plan makes bounds wide,
never wrong.

*Place*    ε is guessed by Chernoff's bound, min over λ of (K(λ) + ln κ(λ) + ln 1/δ)/λ, κ(λ) =
           λ^λ/(1 + λ)^(1+λ), which is not far above; or δ from ε.
*Tilt*     Of the λ up to the one that gives Chernoff's bound, and at which rare jumps do not rule
           yet, that with the shortest period.
*Period*   T covers twelve standard deviations of the tilted sum and makes e^(−λT) small beside δ.
*Width*    Splitting and joining cells of width w costs about k·w²·(λ + 1)/8 in ε, but for atoms on
           nodes. h is chosen for a certificate of 10⁻⁶ of ε if 2^14 numbers suffice, of 6·10⁻⁶ with
           2^16, else of 4·10⁻⁵, with at most 2^22: memory is bounded. What the lattice laws then
           turn out to differ by says whether it is refined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .compose_window import Mesh
from .loss_lattice import Nodes
from .loss_laws import Law
from .loss_nodes import WIDEST, breaks, nodes, spacing
from .loss_sketch import LossSketch, moments, sketch

Uses = Sequence[tuple[Law, int]]

MOST, LEAST = 1 << 22, 1 << 7
TARGET_WIDTHS: tuple[tuple[int, float], ...] = ((1 << 14, 1e-6), (1 << 16, 6e-6), (MOST, 4e-5))
"""Lattice sizes, each with the relative width of the certificate that may need so many numbers."""

_FINEST = 2.0**-50  # of the largest loss: the numbers of nodes are 64-bit integers


@dataclass(frozen=True, slots=True, eq=False)
class Saddle:
    """The expected place of the answer: ε and ln δ, the tilt, the period, and the sketches that
    they come from.
    """

    sketches: tuple[LossSketch, ...]
    epsilon: float
    size: float
    tilt: float
    period: float
    aim: float
    """The scale of the certificate: ε, or the spread of the loss where ε is near zero."""


@dataclass(frozen=True, slots=True, eq=False)
class LatticePlan:
    """A mesh, the nodes of every law, the sum of their offsets, and the lattice number near the
    answer.
    """

    mesh: Mesh
    nodes: tuple[Nodes, ...]
    offset: float
    centre: int


def target_width(number: int) -> float:
    """Return the relative width that a certificate from so many numbers may have before the lattice
    is refined.
    """
    return next((width for most, width in TARGET_WIDTHS if number < most), TARGET_WIDTHS[-1][1])


def at_delta(uses: Uses, delta: float) -> Saddle:
    """Estimate ε for this δ."""
    sketches = _sketches(uses, delta)
    tilts, log, square = _table(sketches)
    size = math.log(delta)
    epsilons = (log + _peak(tilts) - size) / tilts
    return _saddle(sketches, tilts, log, square, max(0.0, float(epsilons.min())), size)


def at_epsilon(uses: Uses, epsilon: float, delta: float) -> Saddle:
    """Estimate δ for this ε. The guess `delta` decides which losses are too rare to matter."""
    sketches = _sketches(uses, delta)
    tilts, log, square = _table(sketches)
    size = max(-700.0, min(0.0, float((log - tilts * epsilon + _peak(tilts)).min())))
    return _saddle(sketches, tilts, log, square, epsilon, size)


def foresee_delta(uses: Uses, epsilon: float, least: float) -> float:
    """Guess δ for this ε, at least `least`. The guess falls from 10⁻³ until it no longer depends on
    which losses it calls too rare.
    """
    guess = 1e-3
    while guess > least:
        size = math.exp(at_epsilon(uses, epsilon, guess).size)
        if size >= 1e-2 * guess:
            break
        guess = max(size, 1e-6 * guess, least)
    return guess


def plan(uses: Uses, saddle: Saddle, finer: float = 1.0, most: int = MOST) -> LatticePlan:
    """Plan the lattice; `finer` divides its spacing."""
    tilt, period = saddle.tilt, min(saddle.period, WIDEST * most)
    spread = sum(float(s.tilted(tilt)[: s.cells].sum()) * s.count for s in saddle.sketches)
    # the cost in ε, in units of h²
    cost = spread * (tilt + 1) / 8 + sum(breaks(s, tilt) for s in saddle.sketches) / 2
    wide = math.sqrt(saddle.aim / max(cost, 1e-300))
    steps = (LEAST, *(number for number, _ in TARGET_WIDTHS))
    h = (
        max(
            min(period / number, math.sqrt(width) * wide)
            for number, (_, width) in zip(steps, TARGET_WIDTHS, strict=False)
        )
        / finer
    )
    least = max(period / most, _FINEST * max(float(np.abs(s.loss).max()) for s in saddle.sketches))
    h = spacing(uses, max(min(h, WIDEST), least), spread=spread > 0, smallest=least, aim=saddle.aim)
    number = 1 << max(7, math.ceil(math.log2(max(1.0, period / h))))
    mesh = Mesh(h=h, size=min(number, 4 * most), tilt=min(tilt, 30.0 / h))
    budget = target_width(number // 2) * saddle.aim / (2 * len(uses) * finer * finer)
    law_nodes = tuple(
        nodes(law, s, h=h, tilt=mesh.tilt, budget=budget, aim=saddle.aim)
        for (law, _), s in zip(uses, saddle.sketches, strict=True)
    )
    offset = math.fsum(count * n.offset for (_, count), n in zip(uses, law_nodes, strict=True))
    return LatticePlan(mesh, law_nodes, offset, round((saddle.epsilon - offset) / h))


def _sketches(uses: Uses, delta: float) -> tuple[LossSketch, ...]:
    k = sum(count for _, count in uses)
    return tuple(sketch(law, count, 3e-7 * delta / k) for law, count in uses)


def _table(sketches: Sequence[LossSketch]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tilts from far below to far above the inverse standard deviation or largest loss, with
    K and the variance of the tilted sum.
    """
    deviation = math.sqrt(max(float(moments(sketches, np.zeros(1))[2][0]), 1e-24))
    far = max(deviation, *(float(s.loss.max()) for s in sketches))
    low, high = math.log10(0.1 / far), math.log10(1e5 / deviation)
    tilts = np.logspace(low, high, 1 + math.ceil(12 * (high - low)))
    log, _, square = moments(sketches, tilts)
    return tilts, log, square


def _peak(tilts: np.ndarray) -> np.ndarray:
    """Return ln κ."""
    log_peak: np.ndarray = tilts * np.log(tilts) - (1 + tilts) * np.log1p(tilts)
    return log_peak


def _saddle(
    sketches: tuple[LossSketch, ...],
    tilts: np.ndarray,
    log: np.ndarray,
    square: np.ndarray,
    epsilon: float,
    size: float,
) -> Saddle:
    deviation = np.sqrt(square)
    periods = np.maximum((18.0 - size) / tilts, 12.0 * deviation)
    steepest = int(np.argmin(log - tilts * epsilon + _peak(tilts)))
    # step back to where rare jumps do not dominate yet
    while steepest > 0 and square[steepest] > 1.3 * square[steepest - 1]:
        steepest -= 1
    best = int(np.argmin(periods[: steepest + 1]))
    aim = max(epsilon, float(deviation[0]), 1e-12)
    return Saddle(sketches, epsilon, size, float(tilts[best]), float(periods[best]), aim)
