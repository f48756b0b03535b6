"""Find the dominating pairs of mechanisms and guarantees.

*Mechanism*   By the law that its class states, else by the first of its promises that has a pair.
*Guarantee*   `Pure` and `Approx` have a worst pair, randomized response; `GDP` has one by
              definition. `ZCDP` and `Renyi` have none: no single pair dominates everything they
              allow, so they are refused. Random differential privacy is no differential privacy.
*Relation*    Kept: a statement for one relation is never mixed with one for another.
"""

from __future__ import annotations

from fractions import Fraction

from ...guarantees import GDP, Approx, Guarantee, Mixed, Pure
from ...mechanisms.shared.mechanism import Mechanism, states
from ...mechanisms.stated.stated_laws import (
    FiniteLaws,
    LossPair,
    ResponseOdds,
    SampledRelease,
    ShiftedNoise,
)
from ...noise.geometric import Geometric
from ...noise.rounded_normal import RoundedNormal
from .. import accounting_refusals as refusals
from .loss_pairs import DominatingPair, GaussianPair, LaplacePair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ROUGHEST, RoundedPair, sampled

Parts = tuple[tuple[DominatingPair, int], ...]


def pairs_of(mechanism: Mechanism) -> Parts:
    """Return the pairs of a mechanism: one, or those of its parts."""
    return tuple((pair_of(release), 1) for release in mechanism.releases())


def pair_of(mechanism: Mechanism) -> DominatingPair:
    """Return the pair of a mechanism that is a single release."""
    stated = mechanism.loss_pair() if states(mechanism, "loss_pair") else None
    if (pair := interpret_loss_pair(stated)) is not None:
        return pair
    for promise in mechanism.promises:
        parts = parts_of(promise)
        if parts is not None and len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
    raise refusals.MECHANISM_WITHOUT_PAIR(
        mechanism=mechanism,
        kind=type(mechanism).__name__,
        notions=", ".join(type(p).__name__ for p in mechanism.promises),
    )


def interpret_loss_pair(stated: LossPair | None) -> DominatingPair | None:
    """Return the pair that a mechanism states; None if there is none for it here."""
    match stated:
        case ShiftedNoise(law=Geometric() as law, x=x, y=y):
            return LaplacePair(abs(y - x) / law.scale, abs(y - x))
        case ShiftedNoise(law=RoundedNormal() as law, x=x, y=y):
            steps = abs(y - x)
            if law.sigma <= ROUGHEST:
                return RoundedPair(steps, law.sigma)
            return GaussianPair(steps**2 / law.sigma**2)
        case FiniteLaws(p=p, q=q):
            return FinitePair(tuple(Fraction(a) for a in p), tuple(Fraction(b) for b in q))
        case ResponseOdds(epsilon, categories):
            return ResponsePair(epsilon, categories=categories)
        case SampledRelease(base, rate, how):
            return sampled(pair_of(base), rate, how)
    return None


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
