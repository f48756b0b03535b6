"""Calibration of a schedule: the least factor on all of its noise for which the certified total
keeps a promise.

*Scaled*    Laplace scales and Gaussian σ are multiplied by the factor, the ε of randomized
            responses divided by it; sampling stays as it is.
*Least*     Bisection on the certified total finds the factor, to 10⁻⁴ of itself by default, and
            checks the promise at the factor returned: it holds for certain.
*Promise*   (ε, δ) is compared with the certified curve; a Rényi curve, ρ or μ with the sum of what
            the steps promise in that notion.
*Why*       Splitting ε evenly among k steps makes noise grow with k; the tight total lets it grow
            with √k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..exact.numbers import Number, positive, text
from ..guarantees import Guarantee
from ..guarantees.guarantee import noise_notions
from ..mechanisms.shared.mechanism import Mechanism, with_scaled_noise
from . import accounting_refusals as refusals
from .compose import ScheduleStep, compose
from .composition import count_of
from .loss.privacy_loss import Loss

_ROOM = 2.0**30


@dataclass(frozen=True, slots=True)
class CalibratedSchedule:
    """A schedule with scaled noise, its factor, the promise, and the certified total."""

    schedule: tuple[tuple[Mechanism, int], ...]
    factor: Fraction
    promise: Guarantee
    total: Loss

    def __repr__(self) -> str:
        return (
            f"CalibratedSchedule(noise × {float(self.factor):.6g} for {self.promise}: "
            f"{', '.join(f'{count} × {m}' for m, count in self.schedule)})"
        )


def calibrate(
    schedule: Iterable[ScheduleStep], promise: Guarantee, *, precision: Number = "1e-4"
) -> CalibratedSchedule:
    """Scale all noise of a schedule by the least factor for which its certified total keeps the
    promise.
    """
    if not isinstance(promise, Guarantee) or promise.noise_target is None:
        *notions, last = (kind.__name__ for kind in noise_notions())
        raise refusals.SCHEDULE_WITHOUT_NOISE(
            promise=promise, notions=f"{', '.join(notions)} or {last}"
        )
    steps = [step if isinstance(step, tuple) else (step, 1) for step in schedule]
    if not steps or not all(isinstance(m, Mechanism) for m, _ in steps):
        raise refusals.STEP_IS_NO_MECHANISM()
    tolerance = 1 + positive(precision, "precision")
    fixed = [(m, count_of(count, "count")) for m, count in steps if isinstance(m, Mechanism)]

    def try_factor(factor: Fraction) -> CalibratedSchedule | None:
        scaled_steps = tuple((with_scaled_noise(m, factor), count) for m, count in fixed)
        total = compose(scaled_steps)
        return (
            CalibratedSchedule(scaled_steps, factor, promise, total) if total <= promise else None
        )

    low, high, best = _bracket(try_factor)
    while high / low > tolerance:
        middle = _round_factor(math.sqrt(float(low) * float(high)))
        if (better := try_factor(middle)) is None:
            low = middle
        else:
            high, best = middle, better
    return best


def _bracket(
    try_factor: Callable[[Fraction], CalibratedSchedule | None],
) -> tuple[Fraction, Fraction, CalibratedSchedule]:
    """Return a factor that is too small, a larger one that is enough, and the latter's schedule."""
    factor, step = Fraction(1), Fraction(2)
    fitting = try_factor(factor)
    while fitting is not None and factor > Fraction(1, 2**30):
        below = try_factor(factor / step)
        if below is None:
            return factor / step, factor, fitting
        factor, fitting = factor / step, below
    while fitting is None and factor < _ROOM:
        before, factor = factor, factor * step
        fitting = try_factor(factor)
        if fitting is not None:
            return before, factor, fitting
    raise refusals.NO_NOISE_KEEPS_PROMISE(factor=text(factor))


def _round_factor(value: float) -> Fraction:
    """Round a factor to seven digits, as it is printed and stored."""
    return Fraction(f"{value:.7g}")
