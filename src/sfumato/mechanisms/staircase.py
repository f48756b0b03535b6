"""The staircase mechanism for one number, on integers or on a public grid.

*Law*        value + Z·grid with Z a staircase law: flat steps as long as the sensitivity, each
             e^(−ε) times as high as the one before.
*Promise*    Pure(ε), for **one** number: a neighbour moves it by at most one step, so by one factor
             e^ε. Two numbers that share an L1 sensitivity may each cross a step: staircase noise on
             vectors loses up to ε per coordinate, so vectors are refused.
*Error*      The least E|Z| of all ε-private noise for one number (Geng & Viswanath 2014): on the
             real line Δ·e^(ε/2)/(e^ε − 1) at γ = 1/(1 + e^(ε/2)), the share of a step that belongs
             to the middle; on the grid the best whole number of grid steps is found exactly. For
             integers that move by 1 it is the geometric law; on fine grids it beats Laplace: 0.9595
             to 1 at ε = 1, 0.083 to 0.2 at ε = 5.
*Proof*      docs/proofs/staircase.md, docs/proofs/grid.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Unpack

from attrs import field

from ..exact.balls import ball, below, evaluate, least
from ..exact.numbers import Number, positive, probability
from ..guarantees import Guarantee, Pure
from ..keywords import spell_out
from ..noise.staircase_noise import StaircaseLaw as Law
from ..noise.staircase_noise import best_width
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.additive import Additive, GridOptions, tolerance
from .shared.calibrated import Way, choose_way, solve
from .shared.grid import steps_l1
from .stated.audit_example import AuditExample


def _check_gamma(value: Number | None) -> Fraction | None:
    return None if value is None else probability(value, "gamma", one=True)


@record(kw_only=True, init=False)
class Staircase(Additive):
    """Noise that keeps a promise of ε, or stays within an error; the middle step is the best one
    unless `gamma` names its share.
    """

    size: int | None = field(init=False, default=1, repr=False)
    _gamma: Fraction | None = field(repr=False, eq=False, converter=_check_gamma)
    epsilon: Fraction = field(converter=solve)
    width: int = field(init=False)
    law: Law = field(init=False, repr=False, eq=False)

    @spell_out(GridOptions, grid=None)
    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number | None = None,
        gamma: Number | None = None,
        error: Number | None = None,
        confidence: Number = 0.95,
        **options: Unpack[GridOptions],
    ) -> None:
        ways = {"epsilon": epsilon, "error": error}
        way = choose_way("Staircase(sensitivity=1, epsilon=0.5)", ways, confidence=confidence)
        self.__attrs_init__(sensitivity=sensitivity, gamma=gamma, epsilon=way, **options)

    def _solve(self, way: Way) -> Fraction:
        if way.name == "epsilon":
            return positive(way.value, "epsilon")
        return self._within(*tolerance(way, self.grid))

    @width.default
    def _choose_width(self) -> int:
        return self._width(self.epsilon)

    @law.default
    def _build_law(self) -> Law:
        return Law(epsilon=self.epsilon, period=self.period, width=self.width)

    @property
    def period(self) -> int:
        """How far a neighbour may move the number, in grid steps: the length of a step of the
        staircase.
        """
        return (
            math.floor(self.sensitivity)
            if self.grid is None
            else steps_l1(self.sensitivity / self.grid, 1)
        )

    @property
    def gamma(self) -> Fraction:
        """The share of a step that belongs to the middle: the width of the middle step, in steps of
        the staircase.
        """
        return Fraction(self.width, self.period)

    @property
    def mean_error(self) -> float:
        """E|noise|."""
        return self.law.mean_error * float(self.step)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, **self._neighbours),)

    def _width(self, epsilon: Fraction) -> int:
        return (
            best_width(epsilon, self.period)
            if self._gamma is None
            else max(1, round(self._gamma * self.period))
        )

    def _within(self, steps: int, missing: Fraction) -> Fraction:
        """The least ε (to 2^-50 of itself) seen to keep the noise within `steps` but for a
        probability of `missing`.
        """

        def holds(epsilon: Fraction) -> bool:
            law = Law(epsilon=epsilon, period=self.period, width=self._width(epsilon))
            return below(lambda: 2 * law._upper(steps + 1), lambda: ball(missing))

        return least(holds, max(self.period / (steps + 1.0), 2.0**-50))

    def _check_size(self, size: int) -> None:
        if size > 1:
            raise refusals.STAIRCASE_OF_SEVERAL_VALUES(values=size)

    why_no_loss_pair = "the pair of ε dominates: each step of the staircase loses ε"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample("Staircase", lambda e: cls(sensitivity=1000, epsilon=e), at_once=False)
        ]


def staircase_limit(epsilon: Number) -> tuple[float, float]:
    """The best γ and the least E|X| on the real line, for sensitivity 1: 1/(1 + e^(ε/2)) and
    e^(ε/2)/(e^ε − 1).
    """
    e = positive(epsilon, "epsilon")
    return evaluate(lambda: 1 / (1 + ball(e / 2).exp())), evaluate(
        lambda: ball(e / 2).exp() / ball(e).expm1()
    )
