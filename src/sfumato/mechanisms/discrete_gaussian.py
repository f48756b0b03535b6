"""The discrete Gaussian mechanism, on integers or on a public grid.

*Law*        value + Z·grid with P(Z = z) ∝ e^(−(z·grid)²/(2σ²)).
*Promise*    ρ-zCDP with ρ = Δ²/(2σ²), Δ the L2 sensitivity of the whole array after rounding to the
             grid (Canonne, Kamath & Steinke 2020). For one number its own curve, exactly: δ(ε) =
             P(Z ≤ k) − e^ε·P(Z ≤ k − D), D = Δ/grid, k = ⌊D/2 − ε·(σ/grid)²/D⌋. It is not that of a
             real normal variable, and lies above it in places: `Gaussian`, which rounds one, has
             the smaller δ at equal σ.
*Error*      P(|Z| > k), summed exactly; the variance is just below σ², by 1/12 grid step² less than
             that of `Gaussian`.
*Proof*      docs/proofs/discrete-gaussian.md, docs/proofs/grid.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Unpack

from attrs import field

from ..exact.balls import ball, below, chance, least
from ..exact.numbers import Number, non_negative, positive
from ..guarantees import ZCDP, Guarantee
from ..keywords import spell_out
from ..noise.discrete_gaussian_noise import DiscreteGaussianLaw as Law
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.additive import Additive, AdditiveOptions, squared_moves, tolerance
from .shared.calibrated import Way, choose_way, solve
from .shared.mechanism import PublicFields
from .stated.audit_example import AuditExample


@record(kw_only=True, init=False)
class DiscreteGaussian(Additive):
    """Noise of a given σ, or the σ² that keeps a promise of ρ, or that stays within an error. σ² is
    rational in each case.
    """

    sigma_squared: Fraction = field(converter=solve)
    law: Law = field(init=False, repr=False, eq=False)

    @spell_out(AdditiveOptions, grid=None, size=None)
    def __init__(
        self,
        *,
        sensitivity: Number,
        rho: Number | None = None,
        sigma: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
        **options: Unpack[AdditiveOptions],
    ) -> None:
        ways = {"rho": rho, "sigma": sigma, "error": error}
        way = choose_way("DiscreteGaussian(sensitivity=1, rho=0.1)", ways, confidence=confidence)
        self.__attrs_init__(sensitivity=sensitivity, sigma_squared=way, **options)

    def _solve(self, way: Way) -> Fraction:
        match way.name:
            case "rho":
                return self.moves_squared / (2 * positive(way.value, "rho"))
            case "sigma":
                return positive(way.value, "sigma") ** 2
        return self.step**2 * _widest(*tolerance(way, self.grid))

    @law.default
    def _build_law(self) -> Law:
        return Law(sigma_squared=self.sigma_squared / self.step**2)

    @property
    def moves_squared(self) -> Fraction:
        """The squared L2 sensitivity after rounding to the grid."""
        return squared_moves(self)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (ZCDP(self.moves_squared / (2 * self.sigma_squared), **self._neighbours),)

    def delta(self, epsilon: Number) -> float:
        """The least δ with (ε, δ)-DP for one number, from the law itself, rounded up."""
        e = non_negative(epsilon, "epsilon")
        square = self.moves_squared / self.step**2
        # floats without a size are one number
        size = self.size or (1 if self.grid is not None else None)
        if size != 1 and square >= 2:
            raise refusals.CURVE_OF_SEVERAL_VALUES(epsilon=epsilon)
        steps = math.isqrt(math.floor(square))
        return chance(lambda: self.law.excess(steps, e), "up")

    norm = "L2"
    why_no_loss_pair = (
        "no single pair dominates all that ρ-zCDP allows; that of `Gaussian` is known"
    )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> DiscreteGaussian:
            return cls(sensitivity=1, rho=Fraction(epsilon) ** 2 / 2)

        return [AuditExample("DiscreteGaussian", build)]

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        return {"rho": public["sensitivity"] ** 2 / (2 * public["sigma_squared"])}


def _widest(steps: int, missing: Fraction) -> Fraction:
    """The largest σ² (to 2^-50 of itself) at which the noise exceeds `steps` with probability at
    most `missing`.
    """
    return 1 / least(
        lambda rate: below(
            lambda: 2 * Law(sigma_squared=1 / rate)._upper(steps + 1), lambda: ball(missing)
        ),
        1 / (steps + 1.0) ** 2,
    )
