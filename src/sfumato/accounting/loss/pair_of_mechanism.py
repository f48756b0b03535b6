"""Find the dominating pairs of mechanisms and guarantees.

*Mechanism*   By its own law if that is known, else by the first of its promises that has a pair.
*Guarantee*   `Pure` and `Approx` have a worst pair, randomized response; `GDP` has one by
              definition. `ZCDP` and `Renyi` have none: no single pair dominates everything they
              allow, so they are refused. Random differential privacy is no differential privacy.
*Relation*    Kept: a statement for one relation is never mixed with one for another.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...guarantees import GDP, Approx, Guarantee, Mixed, Pure
from ...mechanisms import Combined, Gaussian, Laplace, RandomizedResponse, Subsampled
from ...mechanisms.shared.mechanism import Mechanism
from .. import accounting_refusals as refusals
from .loss_pairs import GaussianPair, LaplacePair, Pair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ROUGHEST, RoundedPair, sampled

Parts = tuple[tuple[Pair, int], ...]


def _laplace(m: Laplace) -> Pair:
    return LaplacePair(m.moves / m.scale, int(m.moves / m.step))


def _gaussian(m: Gaussian) -> Pair:
    single = m.size == 1 or (m.size is None and m.grid is not None)
    steps = m.moves_squared / m.step**2
    root = round(float(steps) ** 0.5)
    if single and root * root == steps and m.sigma / m.step <= ROUGHEST:
        return RoundedPair(root, m.sigma / m.step)
    return GaussianPair(m.moves_squared / m.sigma**2)


def _response(m: RandomizedResponse) -> Pair:
    if m.keep is None:
        return ResponsePair(m.epsilon or Fraction(0), categories=m.k)
    lie = (1 - m.keep) / (m.k - 1)
    rest = (lie * (m.k - 2),) if m.k > 2 else ()
    return FinitePair((m.keep, lie, *rest), (lie, m.keep, *rest))


PAIRS: dict[type[Mechanism], Callable[[Any], Pair]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    RandomizedResponse: _response,
    Subsampled: lambda m: sampled(pair_of(m.base), m.rate, m.how),
}
"""Mechanisms whose own law is a dominating pair."""


def pairs_of(mechanism: Mechanism) -> Parts:
    """Return the pairs of a mechanism: one, or those of its parts."""
    if isinstance(mechanism, Combined):
        return tuple(pair for part in mechanism.parts for pair in pairs_of(part))
    return ((pair_of(mechanism), 1),)


def pair_of(mechanism: Mechanism) -> Pair:
    """Return the pair of a mechanism that is a single release."""
    if build := PAIRS.get(type(mechanism)):
        return build(mechanism)
    for promise in mechanism.promises:
        parts = parts_of(promise)
        if parts is not None and len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
    raise refusals.MECHANISM_WITHOUT_PAIR(
        mechanism=mechanism,
        kind=type(mechanism).__name__,
        notions=", ".join(type(p).__name__ for p in mechanism.promises),
    )


def parts_of(guarantee: Guarantee) -> Parts | None:
    """Return the pairs of a guarantee, or None if it has none."""
    match guarantee:
        case Pure():
            return ((ResponsePair(guarantee.parameters["epsilon"]), 1),)
        case Approx():
            return (
                (ResponsePair(guarantee.parameters["epsilon"], guarantee.parameters["delta"]), 1),
            )
        case GDP():
            return ((GaussianPair(guarantee.mu_squared), 1),)
        case Mixed():
            pairs = [parts_of(part) for part in guarantee.parts]
            return (
                None
                if any(part is None for part in pairs)
                else tuple(pair for part in pairs if part is not None for pair in part)
            )
    parts = getattr(guarantee, "parts", None)
    return parts if isinstance(parts, tuple) else None
