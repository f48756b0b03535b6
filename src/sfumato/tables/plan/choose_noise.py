"""From a promise to noise: how it is split over the parts of a query, and which law gives the
smaller error.

*Split*     Every piece, every quantile and the selection of groups has an equal share: then the
            noise of each piece, relative to what a row may add to it, is the same, and the sum of
            these relative variances is least. What tells how much was clipped or withheld has a
            twentieth in all.
*Shares*    are of ε (and add up to it), of μ² or of ρ, whichever the promise is in. Of a quantile,
            half pays for its interval.
*Law*       Laplace where the promise is an ε alone; the Gaussian where it is ρ or μ. Where it is
            (ε, δ), whichever has the smaller sum of relative variances: the Gaussian wins when many
            pieces, or units in many groups, are released at once. With a selection it then leaves
            it half of δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from ...accounting.largest_epsilon import largest_epsilon
from ...errors import Refused
from ...exact.balls import sqrt_up
from ...guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Relation
from ...guarantees.gdp import largest_mu
from ...mechanisms import Gaussian, Laplace, OptimalSelection, Several, WeightedQuantile
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.mechanism import Mechanism
from ..query.stages import Query
from .bounding import Bounding
from .components import Piece

CARE = Fraction(1, 20)
TOTAL = "total"
"""The number of all rows, of every group: against it the withheld part is estimated."""

MOST_GROUPS = 1 << 12  # of one unit, where groups are selected privately

Noise = tuple[Mechanism, ...]
"""The mechanisms of a piece: one law of noise; of a quantile its own, and those of the ends of its
interval.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The noise of every piece, the selection of groups, and all of it as one entry."""

    pieces: tuple[Piece, ...]
    bounding: Bounding
    noise: tuple[Noise, ...]
    selection: OptimalSelection | None
    whole: Several


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """The same before it is decided upon: what is left of the promise for the selection, and where
    Gaussian noise is stated as (ε, δ).
    """

    pieces: tuple[Piece, ...]
    bounding: Bounding
    noise: tuple[Noise, ...]
    selection: tuple[Fraction, Fraction] | None
    stated: tuple[Fraction, Fraction] | tuple[None, None]


def calibrate(query: Query, pieces: tuple[Piece, ...], promise: Guarantee) -> Calibration:
    """The noise that keeps a promise with the smallest error."""
    makers = MAKERS.get(type(promise))
    if makers is None:
        kinds = ", ".join(f"sf.{notion.__name__}" for notion in MAKERS)
        raise Refused(
            "plan.promise",
            f"{promise}",
            "noise is fitted to a promise of one number, or of one and a δ",
            f"promise= one of {kinds}",
        )
    if not query.public and not _delta(promise):
        reason = "keys that come from the data can be named only with a δ, however small"
        raise Refused(
            "plan.keys",
            f"{promise}",
            reason,
            f"keys={{{query.keys[0]!r}: […]}} in protect(…), or delta=1e-9",
        )
    drafts = [draft for maker in makers if (draft := maker(query, pieces, promise)) is not None]
    made = _finished(query, min(drafts, key=spread))
    if not _kept(made.whole, promise):
        raise AssertionError("the noise does not keep the promise it was fitted to")
    return made


def shares(query: Query, pieces: tuple[Piece, ...]) -> tuple[list[Fraction], Fraction]:
    """The share of each piece, and that of the selection."""
    care = sum(piece.pooled for piece in pieces)
    selected = 0 if query.public else 1
    main = (1 - (CARE if care else Fraction(0))) / (len(pieces) - care + selected)
    return [CARE / care if piece.pooled else main for piece in pieces], main * selected


def _laplace(query: Query, pieces: tuple[Piece, ...], promise: Guarantee) -> Draft:
    """Shares of ε."""
    bounding, epsilon = Bounding.of(query, "L1"), promise.parameters["epsilon"]
    pieces = _comparable(pieces, bounding)

    def added(piece: Piece, share: Fraction) -> Laplace:
        return Laplace(sensitivity=bounding.l1(piece), epsilon=epsilon * share, **_about(bounding))

    return _made(
        query,
        pieces,
        bounding,
        added,
        lambda share: epsilon * share,
        lambda share: epsilon * share,
        _delta(promise),
    )


def _gaussian(query: Query, pieces: tuple[Piece, ...], promise: Guarantee) -> Draft | None:
    """Shares of ε for what is chosen; the rest, and δ, for the Gaussian noise of all pieces
    together.
    """
    epsilon, delta = promise.parameters["epsilon"], _delta(promise)
    bounding = Bounding.of(query, "L2")
    pieces = _comparable(pieces, bounding)
    parts, chosen = shares(query, pieces)
    rest = sum(
        (share for piece, share in zip(pieces, parts, strict=True) if piece.form != "point"),
        Fraction(0),
    )
    if not delta or not rest:
        return None
    own = delta / 2 if chosen else delta
    square = _mu(epsilon * rest, own) ** 2
    added = partial(_normal, bounding, square / rest)
    return _made(
        query,
        pieces,
        bounding,
        added,
        lambda share: epsilon * share,
        lambda share: epsilon * share,
        delta - own,
        (epsilon * rest, own),
    )


def _zcdp(query: Query, pieces: tuple[Piece, ...], promise: Guarantee) -> Draft:
    """Shares of ρ."""
    bounding, rho = Bounding.of(query, "L2"), promise.parameters["rho"]
    pieces = _comparable(pieces, bounding)
    added = partial(_normal, bounding, 2 * rho)
    ranged, chosen = (
        (lambda share: largest_epsilon(ZCDP(rho * share), ranged=True)),
        (lambda share: largest_epsilon(ZCDP(rho * share))),
    )
    return _made(query, pieces, bounding, added, ranged, chosen, _delta(promise))


def _gdp(query: Query, pieces: tuple[Piece, ...], promise: Guarantee) -> Draft:
    """Shares of μ²."""
    assert isinstance(promise, GDP)
    bounding, square = Bounding.of(query, "L2"), promise.mu_squared
    pieces = _comparable(pieces, bounding)
    epsilon = lambda share: largest_epsilon(GDP.from_square(square * share))  # noqa: E731
    return _made(
        query, pieces, bounding, partial(_normal, bounding, square), epsilon, epsilon, Fraction(0)
    )


Maker = Callable[[Query, tuple[Piece, ...], Guarantee], Draft | None]
MAKERS: dict[type[Guarantee], tuple[Maker, ...]] = {
    Pure: (_laplace,),
    Approx: (_laplace, _gaussian),
    ZCDP: (_zcdp,),
    GDP: (_gdp,),
}
"""The ways to keep a promise, by its notion."""


def _made(
    query: Query,
    pieces: tuple[Piece, ...],
    bounding: Bounding,
    added: Callable[[Piece, Fraction], Mechanism],
    ranged: Callable[[Fraction], Fraction],
    chosen: Callable[[Fraction], Fraction],
    delta: Fraction,
    stated: tuple[Fraction, Fraction] | tuple[None, None] = (None, None),
) -> Draft:
    """Noise for each share: `added` to a piece, the ε of a quantile (`ranged`) and of the selection
    (`chosen`).
    """
    parts, rest = shares(query, pieces)
    noise = tuple(
        _points(piece, bounding, share, ranged) if piece.form == "point" else (added(piece, share),)
        for piece, share in zip(pieces, parts, strict=True)
    )
    return Draft(pieces, bounding, noise, (chosen(rest), delta) if rest else None, stated)


def _comparable(pieces: tuple[Piece, ...], bounding: Bounding) -> tuple[Piece, ...]:
    """Without the number of all rows where groups weigh rows by the Euclidean norm: no total has
    these weights, so none could be compared with the groups.
    """
    return (
        tuple(piece for piece in pieces if piece.name != TOTAL)
        if bounding.rule == "root"
        else pieces
    )


def _finished(query: Query, draft: Draft) -> Calibration:
    selection = None if draft.selection is None else _selection(query, *draft.selection)
    whole = [
        *([] if selection is None else [selection]),
        *(mechanism for mechanisms in draft.noise for mechanism in mechanisms),
    ]
    return Calibration(
        draft.pieces,
        draft.bounding,
        draft.noise,
        selection,
        Several(whole, epsilon=draft.stated[0], delta=draft.stated[1]),
    )


def _normal(bounding: Bounding, mu_squared: Fraction, piece: Piece, share: Fraction) -> Gaussian:
    square = bounding.l2_squared(piece)
    root = math.isqrt(square)
    return Gaussian(
        sensitivity=root if root * root == square else sqrt_up(Fraction(square)),
        rho=mu_squared * share / 2,
        **_about(bounding),
    )


def _points(
    piece: Piece, bounding: Bounding, share: Fraction, epsilon: Callable[[Fraction], Fraction]
) -> Noise:
    """A quantile, with the ends of its interval where that is wanted: half for the one, a quarter
    for each of the others.
    """
    asked = piece.aggregate
    assert asked is not None
    assert asked.q is not None
    own = epsilon(share / 2 if asked.interval and not asked.beyond else share)
    common = {
        "q": asked.q,
        "low": piece.low,
        "high": piece.high,
        "weight": bounding.weight,
        "groups": bounding.grouped,
        **_about(bounding),
    }
    value = WeightedQuantile(epsilon=own, **common)
    if (
        asked.beyond
    ):  # one point that is a bound of the extreme: the other end of its interval is public
        below, above = value.ends(asked.confidence)
        return (below if asked.beyond == "max" else above,)
    if not asked.interval:
        return (value,)
    return (
        value,
        *WeightedQuantile(epsilon=epsilon(share / 4), **common).ends((1 + asked.confidence) / 2),
    )


def _selection(query: Query, epsilon: Fraction, delta: Fraction) -> OptimalSelection:
    bounding = Bounding.of(query, "L1")
    if bounding.groups > MOST_GROUPS:
        reason = (
            f"a unit may count in {bounding.groups} groups: more than {MOST_GROUPS} cannot "
            f"be selected among"
        )
        raise Refused("plan.groups", "max_groups", reason, "max_groups=10 in protect(…)")
    return _chosen(epsilon, delta, bounding.groups, 1 << bounding.vote_bits, **_about(bounding))


@lru_cache(maxsize=256)
def _mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A search in ball arithmetic, by public numbers alone: done once for each pair."""
    return largest_mu(epsilon, delta)


@lru_cache(maxsize=256)
def _chosen(
    epsilon: Fraction, delta: Fraction, groups: int, quanta: int, relation: Relation, unit: str
) -> OptimalSelection:
    """Likewise."""
    return OptimalSelection(
        epsilon=epsilon, delta=delta, groups=groups, quanta=quanta, relation=relation, unit=unit
    )


def _about(bounding: Bounding) -> dict[str, Any]:
    return {
        "relation": bounding.relation,
        "unit": bounding.called or ", ".join(bounding.unit) or "row",
    }


def _delta(promise: Guarantee) -> Fraction:
    delta = promise.parameters.get("delta", Fraction(0))
    return delta if isinstance(delta, Fraction) else Fraction(0)


def spread(draft: Draft | Calibration) -> float:
    """The sum of the pieces' variances, each relative to the square of what a row may add."""
    total = 0.0
    for piece, (first, *_) in zip(draft.pieces, draft.noise, strict=True):
        if isinstance(first, Additive) and not piece.pooled:
            total += first.variance / float(piece.largest << draft.bounding.piece_bits(piece)) ** 2
    return total


def _kept(whole: Several, promise: Guarantee) -> bool:
    """The one check: what all parts cost together is not more than what was promised, number by
    number.
    """
    if isinstance(promise, Approx):
        wanted = promise.parameters["epsilon"], promise.parameters["delta"]
        stated = [known.parameters for known in whole.promises if isinstance(known, Pure | Approx)]
        return any(
            one["epsilon"] <= wanted[0] and one.get("delta", 0) <= wanted[1] for one in stated
        )
    return whole.to(type(promise)) <= promise
