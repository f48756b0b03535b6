"""Calibration of noise to a promise, for values computed in floating point, from a sensitivity and
public facts alone.

*Law*        Laplace by the L1 move for Pure; Gaussian by the L2 move for ZCDP and GDP; for Approx
             the one with the smaller variance (for a vector with a plain number or a sampled
             sensitivity the Gaussian, so that the choice depends on nothing sampled).
*Slack*      how far each coordinate, as computed, may be from the function that the sensitivity is
             of: Δ₁ + 2·slack·size, Δ₂ + 2·slack·√size. By default a 2^-20 part of the sensitivity
             in all; more where the sensitivity says how far its statistic rounds, as closed forms
             do from the magnitude of the range and the number of records; refused where that is a
             thirty-second of the sensitivity, or more. Regressions of one's own may round by
             anything. 0 where the caller gives a grid, or where the values are whole numbers.
*Grid*       none for whole numbers, which stay integers; else by default a power of two: a 2^-18
             part of the sensitivity of one value, a 2^-14 part shared among many.
*Proof*      docs/proofs/sampled-sensitivity.md for γ, docs/proofs/grid.md for the grid,
             docs/guides/functions/any-function.md for the slack
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypedDict

from ..errors import RefusalText, Refused
from ..exact.balls import sqrt_up
from ..exact.numbers import Number, non_negative, positive, power_of_two_at_least, rounded
from ..guarantees import Approx, Guarantee, Pure, RandomDP
from ..guarantees.guarantee import NoiseTarget, noise_notions, relation_of
from ..mechanisms.shared.additive import Additive, check_size
from ..mechanisms.shared.better_law import Norm, better_law, fit_noise, norms_for
from ..sensitivity.kinds import Global, Inverse, Lipschitz, Local, Norms, Sensitivity, Smooth
from ..sensitivity.sampled import Sampled, SampledFunction
from . import function_refusals as refusals
from .sampled_noise import SampledNoise

_SHARE = Fraction(1, 2**18)
_SHARED = Fraction(1, 2**14)
_FLOAT = Fraction(1, 2**20)
_MOST = Fraction(1, 32)

Stated = Number | Sensitivity
"""A number is the move in the norm of the noise: L1 for Laplace, L2 for Gaussian."""


class PromiseOptions(TypedDict, total=False):
    """The keywords that state a promise: `epsilon` (and `delta`), or `promise`; its relation and
    unit.
    """

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    relation: str | None
    unit: str | None


@dataclass(frozen=True, slots=True)
class Values:
    """The public facts about the values that get noise."""

    size: int
    grid: Number | None
    slack: Fraction | None
    relation: str | None
    unit: str | None


def noise_for(
    sensitivity: Stated,
    promise: Guarantee,
    *,
    size: int = 1,
    grid: Number | None = None,
    slack: Number | None = None,
    relation: str | None = None,
    unit: str | None = None,
) -> Additive | SampledNoise:
    """Build the mechanism for `size` coordinates; a sampled sensitivity gives RandomDP."""
    moves = check_usable(sensitivity)
    related = same_relation(moves, relation, promise)
    values = Values(
        check_size(size) or 1,
        grid,
        None if slack is None else non_negative(slack, "slack"),
        related,
        unit or promise.unit,
    )
    if isinstance(moves, Sampled) and moves.size != values.size:
        raise refusals.SAMPLED_AT_ANOTHER_SIZE(
            sensitivity=moves, sampled=moves.size, values=values.size
        )
    mechanism = _calibrate(moves, promise, values)
    return SampledNoise(mechanism, moves) if isinstance(moves, Sampled) else mechanism


def promise_from(
    epsilon: Number | None, delta: Number | None, promise: Guarantee | None, call: str
) -> Guarantee:
    """Return the promise, which a `call` states as epsilon (and delta) or as `promise`."""
    if (epsilon is None) == (promise is None) or (delta is not None and epsilon is None):
        raise refusals.PROMISE_NOT_STATED_ONCE(call=call)
    if epsilon is not None:
        return Pure(epsilon) if delta is None else Approx(epsilon, delta)
    if not isinstance(promise, Guarantee) or isinstance(promise, RandomDP):
        raise _without_noise(promise)
    return promise


def check_usable(sensitivity: Stated) -> Norms | Fraction:
    """Return a sensitivity that noise may be scaled to; refuse the other kinds by their type."""
    if isinstance(sensitivity, Norms):
        return sensitivity
    if sensitivity is None:
        raise refusals.SENSITIVITY_MISSING(sensitivity=None)
    for kind, entry in UNUSABLE.items():
        if isinstance(sensitivity, kind):
            raise entry(sensitivity=f"{kind.__name__}(…)")
    return positive(sensitivity, "sensitivity")  # type: ignore[arg-type]  # a Number by now


UNUSABLE: dict[type[Sensitivity], RefusalText] = {
    Local: refusals.SENSITIVITY_IS_LOCAL,
    Lipschitz: refusals.SENSITIVITY_PER_DISTANCE,
    SampledFunction: refusals.SENSITIVITY_OF_A_FIT,
    Smooth: refusals.SMOOTH_HAS_ITS_MECHANISM,
    Inverse: refusals.INVERSE_HAS_ITS_MECHANISM,
}
"""Kinds of sensitivity that additive noise cannot be scaled to."""


def same_relation(
    sensitivity: Norms | Fraction, relation: str | None, promise: Guarantee
) -> str | None:
    """Return the relation of sensitivity, call and promise; refuse different ones."""
    stated = None if isinstance(sensitivity, Fraction) else sensitivity.relation
    relations = {r for r in (stated, relation_of(relation), promise.relation) if r is not None}
    if len(relations) > 1:
        raise refusals.DIFFERENT_RELATIONS(
            relation=relation,
            relations=" and ".join(sorted(relations)),
            stated=stated or promise.relation,
        )
    return relations.pop() if relations else None


def _calibrate(moves: Norms | Fraction, promise: Guarantee, values: Values) -> Additive:
    target = promise.noise_target
    if target is None:
        raise _without_noise(promise)
    norms = norms_for(target)
    if values.size > 1 and isinstance(moves, Fraction | Sampled):
        norms = norms[-1:]
    return better_law(norms, partial(_fit, moves, target, values))


def _fit(moves: Norms | Fraction, target: NoiseTarget, values: Values, norm: Norm) -> Additive:
    delta = moves if isinstance(moves, Fraction) else moves.moves(int(norm[1]), values.size)
    spread = Fraction(values.size)
    if norm == "L2" and values.size > 1:
        spread = sqrt_up(spread)
    slack, grid = _slack_and_grid(moves, delta, values, spread)
    return fit_noise(
        norm,
        target,
        delta + 2 * slack * spread,
        grid=grid,
        size=values.size,
        relation=values.relation,
        unit=values.unit,
    )


def _without_noise(promise: object) -> Refused:
    *notions, last = (kind.__name__ for kind in noise_notions())
    return refusals.NOTION_WITHOUT_NOISE(
        promise=promise, notions=f"{', '.join(notions)} and {last}"
    )


def _slack_and_grid(
    moves: Norms | Fraction, delta: Fraction, values: Values, spread: Fraction
) -> tuple[Fraction, Number | None]:
    """Choose slack and grid. `spread` is the move of all coordinates relative to one, if each moves
    by the same amount: size in L1, √size in L2.
    """
    if values.grid is not None:
        return values.slack or Fraction(0), values.grid
    if isinstance(moves, Global) and moves.integer_valued and not values.slack:
        return Fraction(0), None
    slack = (
        values.slack
        if values.slack is not None
        else max(delta * _FLOAT / 2 / spread, _rounding(moves, delta, spread))
    )
    fine = delta * (_SHARE if values.size == 1 else _SHARED) / math.ceil(spread)
    return slack, power_of_two_at_least(fine) / 2


def _rounding(moves: Norms | Fraction, delta: Fraction, spread: Fraction) -> Fraction:
    """Return the rounding error of each value that the sensitivity states; refuse one so large that
    the noise would grow noticeably.
    """
    rounding = moves.rounding if isinstance(moves, Global) else Fraction(0)
    if 2 * rounding * spread > delta * _MOST:
        raise refusals.ROUNDING_TOO_LARGE(
            rounding=float(rounding), sensitivity=float(delta), slack=rounded(rounding, "up", 3)
        )
    return rounding
