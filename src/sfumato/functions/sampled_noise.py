"""Noise scaled to a sampled sensitivity: the mechanism as it is, and a promise for most pairs only.

*Promise*    RandomDP(promise of the base, γ, over the oracle). Nothing else is listed, so no ledger takes it and nothing converts it.
*Proof*      docs/proofs/sampled-sensitivity.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..exact.numbers import Number
from ..guarantees import Guarantee, Relation
from ..mechanisms.additive import Additive
from ..mechanisms.base import Mechanism
from ..noise.bits import SYSTEM, Bits
from ..sensitivity.sampled import Sampled


@dataclass(frozen=True, slots=True, repr=False)
class SampledNoise(Mechanism):
    """A base mechanism whose sensitivity was sampled."""

    base: Additive
    sampled: Sampled

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]
        return self.base.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        return self.base.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (self.sampled.random(self.base.promise),)

    def perturb(self, value: Any, *, bits: Bits = SYSTEM) -> Any:
        """The value with the base's noise."""
        return self.base.perturb(value, bits=bits)

    def error(self, confidence: Number = 0.95, *, values: int = 1) -> int | float:
        """That of the base: it does not depend on the pairs."""
        return self.base.error(confidence, values=values)

    @property
    def variance(self) -> float:
        return self.base.variance
