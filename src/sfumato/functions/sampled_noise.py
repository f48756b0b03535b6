"""Noise scaled to a sampled sensitivity: the mechanism as it is, and a promise for most pairs only.

*Promise*    RandomDP(promise of the base, γ, over the oracle). Nothing else is listed, so no ledger takes it and nothing converts it.
*Base*       the mechanism whose noise it is would promise the same for all pairs, which it does not keep. So it is not handed out: what is public of it, its
             law, scale and grid, is read here.
*Proof*      docs/proofs/sampled-sensitivity.md
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..exact.numbers import Number
from ..guarantees import Guarantee, RandomDP, Relation
from ..mechanisms.additive import Additive
from ..mechanisms.base import Mechanism
from ..noise.bits import SYSTEM, Bits
from ..noise.law import SymmetricLaw
from ..sensitivity.sampled import Sampled


@dataclass(frozen=True, slots=True, repr=False)
class SampledNoise(Mechanism):
    """A base mechanism whose sensitivity was sampled; from the sampled sensitivity, or from the promise that it came to."""

    _base: Additive = field(repr=False)
    random: RandomDP

    def __init__(self, base: Additive, sampled: Sampled | RandomDP) -> None:
        object.__setattr__(self, "_base", base)
        object.__setattr__(self, "random", sampled if isinstance(sampled, RandomDP) else sampled.random(base.promise))

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]
        return self._base.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        return self._base.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (self.random,)

    def perturb(self, value: Any, *, bits: Bits = SYSTEM) -> Any:
        """The value with the base's noise."""
        return self._base.perturb(value, bits=bits)

    def error(self, confidence: Number = 0.95, *, values: int = 1) -> int | float:
        """That of the base: it does not depend on the pairs."""
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
        """What the noise is scaled to."""
        return self._base.sensitivity

    @property
    def scale(self) -> Fraction:
        """Of Laplace noise; of Gaussian noise, its σ."""
        found: Fraction = getattr(self._base, "scale" if hasattr(self._base, "scale") else "sigma")
        return found

    def __repr__(self) -> str:
        return f"SampledNoise({type(self._base).__name__} noise, {self.random!r})"


def drawn_by(noise: Additive | SampledNoise) -> Additive:
    """What draws the noise, for the library's own arithmetic."""
    return noise._base if isinstance(noise, SampledNoise) else noise
