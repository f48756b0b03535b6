"""The Gaussian mechanism, on integers or on a public grid.

*Law*        value + grid·⌊N + ½⌋ with N normal of standard deviation σ/grid: a processing of the
             textbook mechanism, for every σ.
*Promise*    μ-GDP with μ = Δ/σ, Δ the L2 sensitivity of the whole array after rounding to the grid;
             so μ²/2-zCDP, and (ε, δ)-DP by the exact curve Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle
             & Wang 2018; Dong, Roth & Su 2022).
*Error*      P(|Z| > k) = 2Φ(−(k + ½)·grid/σ).
*Proof*      docs/proofs/gaussian.md, docs/proofs/grid.md
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Unpack

from attrs import field

from ..exact.balls import ball, below, evaluate, least, normal_cdf, root_up
from ..exact.numbers import Number, positive, probability
from ..guarantees import GDP, Guarantee, Renyi
from ..keywords import spell_out
from ..noise.rounded_normal import RoundedNormal
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.additive import Additive, AdditiveOptions, squared_moves, tolerance
from .shared.calibrated import Way, check_delta_of, choose_way, solve, squared_mu
from .stated.audit_example import VECTORS, AuditExample
from .stated.stated_laws import ShiftedNoise

_EXAMPLE = "Gaussian(sensitivity=1, epsilon=1, delta=1e-6)"


class GaussianOptions(AdditiveOptions, total=False):
    """The keywords of additive mechanisms, with two more ways to set the noise: a tolerated error
    with its confidence, and a Rényi curve, which a mapping of orders states, too.
    """

    error: Number | None
    confidence: Number
    renyi: Renyi | Mapping[Number, Number] | None


@record(kw_only=True, init=False)
class Gaussian(Additive):
    """Noise of a given σ, or the least σ that keeps a promise, or the σ that stays within an
    error.
    """

    sigma: Fraction = field(converter=solve)
    law: RoundedNormal = field(init=False, repr=False, eq=False)

    @spell_out(GaussianOptions, error=None, confidence=0.95, renyi=None, grid=None, size=None)
    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        sigma: Number | None = None,
        **options: Unpack[GaussianOptions],
    ) -> None:
        error, confidence = options.pop("error", None), options.pop("confidence", 0.95)
        curve = options.pop("renyi", None)
        line = None if curve is None else _line_below(curve)
        fields: AdditiveOptions = options
        ways = {"epsilon": epsilon, "rho": rho, "mu": mu, "sigma": sigma, "error": error}
        ways["renyi"] = line
        way = choose_way(_EXAMPLE, ways, delta=delta, confidence=confidence)
        check_delta_of(way, _EXAMPLE)
        self.__attrs_init__(sensitivity=sensitivity, sigma=way, **fields)

    def _solve(self, way: Way) -> Fraction:
        match way.name:
            case "sigma":
                return positive(way.value, "sigma")
            case "error":
                return self.step * _widest(*tolerance(way, self.grid))
        return root_up(self.moves_squared / squared_mu(way))

    @law.default
    def _build_law(self) -> RoundedNormal:
        return RoundedNormal(sigma=self.sigma / self.step)

    @property
    def moves_squared(self) -> Fraction:
        """The squared L2 sensitivity after rounding to the grid."""
        return squared_moves(self)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (GDP.from_square(self.moves_squared / self.sigma**2, **self._neighbours),)

    norm = "L2"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample("Gaussian", lambda e: cls(sensitivity=1000, epsilon=e, delta="1e-6")),
            AuditExample(
                "Gaussian, vector", lambda e: cls(sensitivity=1, epsilon=e, delta="1e-6"), VECTORS
            ),
        ]

    def loss_pair(self) -> ShiftedNoise | None:
        """For one number that moves by whole steps; else the pair of μ-GDP dominates."""
        single = self.size == 1 or (self.size is None and self.grid is not None)
        square = self.moves_squared / self.step**2
        steps = round(float(square) ** 0.5)
        return ShiftedNoise(self.law, 0, steps) if single and steps * steps == square else None

    def scale_noise(self, factor: Fraction) -> Gaussian:
        return Gaussian(
            sensitivity=self.sensitivity,
            sigma=self.sigma * factor,
            grid=self.grid,
            size=self.size,
            **self._neighbours,
        )


def _line_below(curve: Renyi | Mapping[Number, Number]) -> Fraction:
    """Return the largest ρ of which the line ρ·α, the curve of Gaussian noise, stays within."""
    return (curve if isinstance(curve, Renyi) else Renyi(curve)).line


def classical_sigma(*, sensitivity: Number, epsilon: Number, delta: Number) -> float:
    """Δ·√(2·ln(1.25/δ))/ε (Dwork & Roth 2014), for comparison only: proved for ε < 1, and there
    larger than the analytic σ.
    """
    s = positive(sensitivity, "sensitivity")
    e = positive(epsilon, "epsilon")
    d = probability(delta, "delta", zero=False)
    if e >= 1:
        raise refusals.EPSILON_FROM_ONE(epsilon=epsilon)
    return evaluate(lambda: ball(s / e) * (2 * (ball(Fraction(5, 4)) / ball(d)).log()).sqrt(), "up")


def _widest(steps: int, missing: Fraction) -> Fraction:
    """The largest σ (to 2^-50 of itself) at which the noise exceeds `steps` with probability at
    most `missing`.
    """
    edge = Fraction(2 * steps + 1, 2)
    return 1 / least(
        lambda rate: below(lambda: 2 * normal_cdf(-ball(edge * rate)), lambda: ball(missing))
    )
