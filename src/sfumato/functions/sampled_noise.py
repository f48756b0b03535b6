"""Noise scaled to a sampled sensitivity: a usual mechanism with a promise for most pairs only.

*Promise*    RandomDP(promise of the base, γ, over the oracle). Nothing else is listed, so no ledger
             accepts it and nothing converts it.
*Base*       the base mechanism would claim its promise for all pairs, which does not hold. So it is
             hidden; its public facts, law, scale and grid, are properties here.
*Records*    the pairs had n records, and the promise is about datasets of n records. Under replace
             the number of records is public, so data of another number are refused. Under
             add-remove it is not public, so nothing is compared.
*Proof*      docs/proofs/sampled-sensitivity.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import field

from ..exact.numbers import Number
from ..guarantees import Guarantee, RandomDP, Relation
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from ..noise.bits import SYSTEM, Bits
from ..noise.law import SymmetricLaw
from ..records import record
from ..sensitivity.neighbours import count
from ..sensitivity.sampled import Sampled, SampledFunction
from . import function_refusals as refusals


@record(init=False)
class SampledNoise(Mechanism):
    """A base mechanism with a sampled sensitivity, built from that sensitivity or from the
    resulting promise.
    """

    _base: Additive = field(repr=False)
    random: RandomDP

    def __init__(self, base: Additive, sampled: Sampled | RandomDP) -> None:
        object.__setattr__(self, "_base", base)
        object.__setattr__(
            self,
            "random",
            sampled if isinstance(sampled, RandomDP) else sampled.random(base.promise),
        )

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]  # the base's field, read-only
        return self._base.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]  # the base's field, read-only
        return self._base.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (self.random,)

    def perturb(self, value: object, *, bits: Bits = SYSTEM) -> Any:
        """Return the value with the base's noise."""
        return self._base.perturb(value, bits=bits)

    def error(self, confidence: Number = 0.95, *, values: int = 1) -> int | float:
        """Return the error of the base, which does not depend on the pairs."""
        return self._base.error(confidence, values=values)

    @property
    def variance(self) -> float:
        return self._base.variance

    @property
    def law(self) -> SymmetricLaw:
        """The law of the noise, in grid steps."""
        return self._base.law

    @property
    def grid(self) -> Fraction | None:
        return self._base.grid

    @property
    def size(self) -> int | None:
        return self._base.size

    @property
    def sensitivity(self) -> Fraction:
        """The sensitivity that the noise is scaled to."""
        return self._base.sensitivity

    @property
    def scale(self) -> Fraction:
        """The scale of Laplace noise, or the σ of Gaussian noise."""
        scale: Fraction = getattr(self._base, "scale" if hasattr(self._base, "scale") else "sigma")
        return scale

    def __repr__(self) -> str:
        return f"SampledNoise({type(self._base).__name__} noise, {self.random!r})"


def base_of(noise: Additive | SampledNoise) -> Additive:
    """Return the mechanism that draws the noise, for internal use."""
    return noise._base if isinstance(noise, SampledNoise) else noise


def check_records(sampled: Sampled | SampledFunction, data: object) -> None:
    """Refuse data whose number of records differs from the sampled pairs', if the relation makes
    that number public. Reads no record.
    """
    if sampled.relation != "replace":
        return
    try:
        records: int | None = count(data)
    except Exception:
        records = None
    if records != sampled.n:
        if records is None:
            raise refusals.DATA_WITHOUT_LENGTH(sampled=sampled.n)
        raise refusals.SAMPLED_BETWEEN_OTHER_SIZES(records=records, sampled=sampled.n)
