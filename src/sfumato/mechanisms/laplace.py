"""The Laplace mechanism, on integers or on a public grid.

*Law*        value + Z·grid with Z two-sided geometric: P(Z = z) ∝ e^(−|z|·grid/scale).
*Promise*    ε = Δ/scale, Δ the L1 sensitivity of the whole array after rounding to the grid (Dwork
             et al. 2006; Ghosh et al. 2009). Also ρ-zCDP with ρ the law's Kullback–Leibler
             divergence (Harrison & Manurangsi 2026), below ε·tanh(ε/2).
*Error*      P(|Z| > k) = 2q^(k+1)/(1 + q), q = e^(−grid/scale).
*Proof*      docs/proofs/laplace.md, docs/proofs/grid.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Unpack

from attrs import field
from flint import arb

from ..exact.balls import above, ball, below, least
from ..exact.numbers import Number, positive
from ..guarantees import ZCDP, Guarantee, Pure
from ..keywords import spell_out
from ..noise.geometric import Geometric
from ..records import record
from .shared.additive import Additive, AdditiveOptions, tolerance
from .shared.calibrated import Way, choose_way, solve
from .shared.grid import steps_l1
from .stated.audit_example import VECTORS, AuditExample
from .stated.stated_laws import ShiftedNoise


@record(kw_only=True, init=False)
class Laplace(Additive):
    """Noise of a given scale, or the scale that keeps a promise of ε, or that stays within an
    error.
    """

    scale: Fraction = field(converter=solve)
    law: Geometric = field(init=False, repr=False, eq=False)

    @spell_out(AdditiveOptions, grid=None, size=None)
    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number | None = None,
        scale: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
        **options: Unpack[AdditiveOptions],
    ) -> None:
        ways = {"epsilon": epsilon, "scale": scale, "error": error}
        way = choose_way("Laplace(sensitivity=1, epsilon=0.5)", ways, confidence=confidence)
        self.__attrs_init__(sensitivity=sensitivity, scale=way, **options)

    def _solve(self, way: Way) -> Fraction:
        match way.name:
            case "epsilon":
                return self.moves / positive(way.value, "epsilon")
            case "scale":
                return positive(way.value, "scale")
        return self.step * _widest(*tolerance(way, self.grid))

    @law.default
    def _build_law(self) -> Geometric:
        return Geometric(scale=self.scale / self.step)

    @property
    def moves(self) -> Fraction:
        """The L1 sensitivity after rounding to the grid; integers move by whole numbers."""
        return (
            Fraction(math.floor(self.sensitivity))
            if self.grid is None
            else self.grid * steps_l1(self.sensitivity / self.grid, self.size or 1)
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        epsilon = self.moves / self.scale
        return (
            Pure(epsilon, **self._neighbours),
            ZCDP(_divergence(epsilon, self.scale / self.step), **self._neighbours),
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample("Laplace", lambda e: cls(sensitivity=1, epsilon=e)),
            AuditExample("Laplace, wide", lambda e: cls(sensitivity=1000, epsilon=e)),
            AuditExample(
                "Laplace, on a grid",
                lambda e: cls(sensitivity=1, epsilon=e, grid=2**-20),
                at_once=False,
            ),
            AuditExample("Laplace, vector", lambda e: cls(sensitivity=1, epsilon=e), VECTORS),
        ]

    def loss_pair(self) -> ShiftedNoise:
        """Noise on several numbers that share an L1 sensitivity is dominated by noise on one that
        has it all.
        """
        return ShiftedNoise(self.law, 0, int(self.moves / self.step))

    def scale_noise(self, factor: Fraction) -> Laplace:
        return Laplace(
            sensitivity=self.sensitivity,
            scale=self.scale * factor,
            grid=self.grid,
            size=self.size,
            **self._neighbours,
        )


@lru_cache(maxsize=4096)
def _divergence(epsilon: Fraction, scale: Fraction) -> Fraction:
    """The law's Kullback–Leibler divergence from its shift by ε·scale steps: ε − (2q/(1 − q²))·(1 −
    q^(ε·scale))/scale, rounded up.
    """

    def formula() -> arb:
        q = (-ball(1 / scale)).exp()
        one_minus_square = -(-ball(2 / scale)).expm1()
        return ball(epsilon) + 2 * q / one_minus_square * (-ball(epsilon)).expm1() / ball(scale)

    return above(formula)


def _widest(steps: int, missing: Fraction) -> Fraction:
    """The largest scale (to 2^-50 of itself) at which the noise exceeds `steps` with probability at
    most `missing`.
    """

    def tail(rate: Fraction) -> arb:
        return 2 * (-ball(rate * (steps + 1))).exp() / (1 + (-ball(rate)).exp())

    return 1 / least(lambda rate: below(lambda: tail(rate), lambda: ball(missing)))
