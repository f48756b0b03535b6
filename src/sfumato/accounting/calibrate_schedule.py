"""Noise for a whole schedule: the least factor by which all noise has to grow, or may shrink, for
the total to keep a promise.

*Scaled*    Laplace scales and Gaussian σ are multiplied by the factor, the ε of randomized
            responses divided by it; sampling stays as it is.
*Least*     Found by bisection on the certified total, to 10⁻⁴ of itself by default, and checked at
            the factor returned: the promise holds for certain.
*Why*       Splitting ε evenly among k steps makes noise grow with k; the tight total lets it grow
            with √k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import Refused
from ..exact.numbers import Number, positive, text
from ..guarantees import Approx, Guarantee, Pure
from ..mechanisms import Gaussian, Laplace, RandomizedResponse, Subsampled
from ..mechanisms.shared.mechanism import Mechanism
from .compose import Step, compose
from .composition import count_of
from .loss.privacy_loss import Loss

_ROOM = 2.0**30


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The schedule with its noise scaled, the factor, the promise that was asked for, and the
    certified total that keeps it.
    """

    schedule: tuple[tuple[Mechanism, int], ...]
    factor: Fraction
    promise: Guarantee
    total: Loss

    def __repr__(self) -> str:
        return (
            f"Calibrated(noise × {float(self.factor):.6g} for {self.promise}: "
            f"{', '.join(f'{count} × {m}' for m, count in self.schedule)})"
        )


def _laplace(m: Laplace, factor: Fraction) -> Mechanism:
    return Laplace(
        sensitivity=m.sensitivity,
        scale=m.scale * factor,
        grid=m.grid,
        size=m.size,
        relation=m.relation,
        unit=m.unit,
    )


def _gaussian(m: Gaussian, factor: Fraction) -> Mechanism:
    return Gaussian(
        sensitivity=m.sensitivity,
        sigma=m.sigma * factor,
        grid=m.grid,
        size=m.size,
        relation=m.relation,
        unit=m.unit,
    )


def _response(m: RandomizedResponse, factor: Fraction) -> Mechanism:
    if m.epsilon is None:
        raise Refused(
            "calibrate.mechanism",
            f"{m}",
            "a response with a fixed share of truth has no noise to scale",
            "RandomizedResponse(epsilon=…)",
        )
    return RandomizedResponse(
        categories=m.categories, epsilon=m.epsilon / factor, relation=m.relation, unit=m.unit
    )


SCALED: dict[type[Mechanism], Callable[[Any, Fraction], Mechanism]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    RandomizedResponse: _response,
    Subsampled: lambda m, factor: Subsampled(base=scaled(m.base, factor), rate=m.rate, how=m.how),
}
"""How the noise of each mechanism is scaled."""


def scaled(mechanism: Mechanism, factor: Fraction) -> Mechanism:
    """The mechanism with its noise multiplied."""
    if (how := SCALED.get(type(mechanism))) is None:
        rewrite = "Laplace, Gaussian, RandomizedResponse, or one of these behind sampling"
        raise Refused(
            "calibrate.mechanism",
            f"{mechanism}",
            "the noise of this mechanism has no one scale",
            rewrite,
        )
    return how(mechanism, factor)


def calibrate(
    schedule: Iterable[Step], promise: Guarantee, *, precision: Number = "1e-4"
) -> Calibrated:
    """The schedule with the least noise, scaled by one factor, whose certified total keeps the
    promise.
    """
    if not isinstance(promise, Pure | Approx):
        raise Refused(
            "calibrate.promise",
            f"{promise!r:.60}",
            "a total of losses is compared with (ε, δ)",
            "sf.Approx(1, 1e-6)",
        )
    steps = [step if isinstance(step, tuple) else (step, 1) for step in schedule]
    if not steps or not all(isinstance(m, Mechanism) for m, _ in steps):
        raise Refused(
            "composition.schedule",
            "calibrate(…)",
            "a schedule to calibrate holds mechanisms, or pairs of one and how often",
            "[(mechanism, 100)]",
        )
    fine = 1 + positive(precision, "precision")
    fixed = [(m, count_of(count, "count")) for m, count in steps if isinstance(m, Mechanism)]

    def at(factor: Fraction) -> Calibrated | None:
        made = tuple((scaled(m, factor), count) for m, count in fixed)
        total = compose(made)
        return Calibrated(made, factor, promise, total) if total <= promise else None

    low, high, found = _around(at)
    while high / low > fine:
        middle = _short(math.sqrt(float(low) * float(high)))
        if (better := at(middle)) is None:
            low = middle
        else:
            high, found = middle, better
    return found


def _around(at: Callable[[Fraction], Calibrated | None]) -> tuple[Fraction, Fraction, Calibrated]:
    """A factor that is too small, a larger one that is enough, and what it gives."""
    factor, step = Fraction(1), Fraction(2)
    found = at(factor)
    while found is not None and factor > Fraction(1, 2**30):
        below = at(factor / step)
        if below is None:
            return factor / step, factor, found
        factor, found = factor / step, below
    while found is None and factor < _ROOM:
        before, factor = factor, factor * step
        found = at(factor)
        if found is not None:
            return before, factor, found
    raise Refused(
        "calibrate.promise",
        f"noise × {text(factor)}",
        "no amount of noise near the schedule's own fits the promise",
        "a larger δ or ε",
    )


def _short(value: float) -> Fraction:
    """A factor of six digits or so: it is written down."""
    return Fraction(f"{value:.7g}")
