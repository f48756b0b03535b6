"""From mechanisms and guarantees to dominating pairs.

*Mechanism*   By its own law where that is known, else by the first of its promises that has a pair.
*Guarantee*   `Pure` and `Approx` have a worst pair, randomized response; `GDP` has one by
              definition. `ZCDP` and `Renyi` have none: no single pair dominates everything they
              allow, so they are refused. Random differential privacy is no differential privacy.
*Relation*    Carried along: what is known for one relation is not mixed with what is known for
              another.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...errors import Refused
from ...guarantees import GDP, Approx, Guarantee, Pure, Together
from ...mechanisms import Gaussian, Laplace, RandomizedResponse, Several, Subsampled
from ...mechanisms.shared.mechanism import Mechanism
from .loss_pairs import GaussianPair, LaplacePair, Pair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ROUGHEST, RoundedPair, sampled

Parts = tuple[tuple[Pair, int], ...]


def _laplace(m: Laplace) -> Pair:
    return LaplacePair(m.moves / m.scale, int(m.moves / m.step))


def _gaussian(m: Gaussian) -> Pair:
    one = m.size == 1 or (m.size is None and m.grid is not None)
    steps = m.moves_squared / m.step**2
    root = round(float(steps) ** 0.5)
    if one and root * root == steps and m.sigma / m.step <= ROUGHEST:
        return RoundedPair(root, m.sigma / m.step)
    return GaussianPair(m.moves_squared / m.sigma**2)


def _response(m: RandomizedResponse) -> Pair:
    if m.keep is None:
        return ResponsePair(m.epsilon or Fraction(0), categories=m.k)
    other = (1 - m.keep) / (m.k - 1)
    rest = (other * (m.k - 2),) if m.k > 2 else ()
    return FinitePair((m.keep, other, *rest), (other, m.keep, *rest))


PAIRS: dict[type[Mechanism], Callable[[Any], Pair]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    RandomizedResponse: _response,
    Subsampled: lambda m: sampled(pair_of(m.base), m.rate, m.how),
}
"""Mechanisms whose own law is a dominating pair."""


def pairs_of(mechanism: Mechanism) -> Parts:
    """The pairs of a mechanism: one, or those of its parts."""
    if isinstance(mechanism, Several):
        return tuple(pair for part in mechanism.parts for pair in pairs_of(part))
    return ((pair_of(mechanism), 1),)


def pair_of(mechanism: Mechanism) -> Pair:
    """The pair of a mechanism that is one release."""
    if own := PAIRS.get(type(mechanism)):
        return own(mechanism)
    for promise in mechanism.promises:
        parts = parts_of(promise)
        if parts is not None and len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
    reason = (
        f"{type(mechanism).__name__} promises "
        f"{', '.join(type(p).__name__ for p in mechanism.promises)}, of which no pair is the "
        f"worst"
    )
    raise Refused(
        "loss.no-pair",
        f"{mechanism}",
        reason,
        "a Laplace or Gaussian mechanism, or .to(sf.Approx, delta=1e-9)",
    )


def parts_of(guarantee: Guarantee) -> Parts | None:
    """The pairs of a guarantee, or None where it has none."""
    match guarantee:
        case Pure():
            return ((ResponsePair(guarantee.parameters["epsilon"]), 1),)
        case Approx():
            return (
                (ResponsePair(guarantee.parameters["epsilon"], guarantee.parameters["delta"]), 1),
            )
        case GDP():
            return ((GaussianPair(guarantee.mu_squared), 1),)
        case Together():
            found = [parts_of(part) for part in guarantee.parts]
            return (
                None
                if any(part is None for part in found)
                else tuple(pair for part in found if part is not None for pair in part)
            )
    own = getattr(guarantee, "parts", None)
    return own if isinstance(own, tuple) else None
