"""Gibbs sampling: a parameter drawn from prior · e^(−β·loss), private because the losses are convex
and the prior is curved.

*Law*         θ on [low, high] with density ∝ e^(−m·(θ − centre)²/2 − β·Σ loss_i(θ)), each record's
              loss linear between the points of a public grid; published is the cell of the grid
              that holds θ.
*Promise*     (ε, δ)-DP under replace for β = ε/(2L)·√(m/(1 + 2·ln(1/δ))) and ε ≤ 1, if every
              record's loss is convex and L-Lipschitz and the prior m-strongly log-concave (Minami,
              Arai, Sato & Nakagawa 2016); and μ-GDP, μ = 2βL/√m (Gopi, Lee & Liu 2022).
*Conditions*  ε ≤ 1: beyond it the formula for β fails. m > 0 is the prior's, a normal one;
              convexity and L are checked for each record's losses. Both theorems are about
              densities: with bare points in place of cells they fail. What breaks a condition is
              refused.
*Proof*       docs/proofs/gibbs.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TypedDict, Unpack

import numpy as np
from attrs import field
from flint import arb, ctx
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.balls import ball, chance, evaluate, normal_cdf
from ..exact.numbers import Number, exact, open_probability, positive, probability
from ..guarantees import GDP, Approx, Guarantee, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.uniform import part_holding
from ..records import PARTIAL, record
from .shared import mechanism_refusals as refusals
from .shared.bounded_data import check_ends
from .shared.mechanism import Mechanism
from .shared.selection import check_count
from .stated.audit_example import AuditExample
from .stated.gibbs_examples import gibbs_examples
from .stated.stated_laws import FiniteLaws

_Losses = Sequence[Sequence[Number]]
"""A row for each record, with its loss at every point."""


class GibbsOptions(TypedDict, total=False):
    """The optional keywords: the number of cells, the centre of the prior, the unit protected."""

    cells: int
    centre: Number | None
    unit: str | None


def _choose_centre(value: Number | None, record: Gibbs = PARTIAL) -> Fraction:
    return (record.low + record.high) / 2 if value is None else exact(value, "centre")


@record(kw_only=True, init=False)
class Gibbs(Mechanism):
    """Gibbs sampling of one number, with a normal prior of variance 1/convexity around the
    centre.
    """

    epsilon: Fraction = field(converter=positive)
    delta: Fraction = field(converter=open_probability)
    lipschitz: Fraction = field(converter=positive)
    convexity: Fraction = field(converter=positive)
    low: Fraction
    high: Fraction
    cells: int = field(default=100, converter=check_count)
    centre: Fraction = field(default=None, converter=_choose_centre)
    unit: str | None = field(default=None, converter=unit_of)
    relation: Relation = field(init=False, default="replace")
    beta: Fraction = field(init=False, repr=False, eq=False)  # the inverse temperature

    @spell_out(GibbsOptions, cells=100)
    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        lipschitz: Number,
        convexity: Number,
        low: Number,
        high: Number,
        **options: Unpack[GibbsOptions],
    ) -> None:
        start, end = check_ends(low, high)
        self.__attrs_init__(
            epsilon=epsilon,
            delta=delta,
            lipschitz=lipschitz,
            convexity=convexity,
            low=start,
            high=end,
            **options,
        )

    @beta.default
    def _choose_beta(self) -> Fraction:
        return gibbs_beta(self.epsilon, self.delta, self.lipschitz, self.convexity)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        mu_squared = (2 * self.beta * self.lipschitz) ** 2 / self.convexity
        return (
            Approx(self.epsilon, self.delta, **self._neighbours),
            GDP.from_square(mu_squared, **self._neighbours),
        )

    @property
    def points(self) -> tuple[Fraction, ...]:
        """The ends of the cells: where each record's loss is to be evaluated."""
        step = (self.high - self.low) / self.cells
        return tuple(self.low + i * step for i in range(self.cells + 1))

    def choose(self, losses: Sequence[Sequence[Number]], *, bits: Bits = SYSTEM) -> float:
        """Draw a cell and return its middle. `losses` has a row for each record, with its exact
        loss at every point.
        """
        total = self._total(losses)

        def law(_: int) -> tuple[arb, list[arb]]:
            masses = self._masses(total)
            return sum(masses, arb(0)), masses

        i = part_holding(law, bits.integer(64), bits)
        return float((self.points[i] + self.points[i + 1]) / 2)

    perturb = choose

    def probabilities(self, losses: Sequence[Sequence[Number]]) -> NDArray[np.float64]:
        """The exact law over the cells, each to the nearest double."""
        total = self._total(losses)

        masses: dict[int, list[arb]] = {}  # by precision

        def share(i: int) -> arb:
            if ctx.prec not in masses:
                masses[ctx.prec] = self._masses(total)
            return masses[ctx.prec][i] / sum(masses[ctx.prec], arb(0))

        return np.array([chance(partial(share, i)) for i in range(self.cells)])

    def _total(self, losses: Sequence[Sequence[Number]]) -> list[Fraction]:
        """Check each record's losses and return their sum at every point."""
        try:
            rows = [[exact(v) for v in row] for row in losses]
        except Refused:  # its text would show a loss
            raise refusals.LOSSES_NOT_CONVEX() from None
        most = self.lipschitz * (self.high - self.low) / self.cells
        for row in rows:
            rises = [b - a for a, b in pairwise(row)]
            convex = all(a <= b for a, b in pairwise(rises))
            if len(row) != self.cells + 1 or not convex or any(abs(rise) > most for rise in rises):
                raise refusals.LOSSES_NOT_CONVEX()
        return (
            [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
            if rows
            else [Fraction(0)] * (self.cells + 1)
        )

    def _masses(self, total: list[Fraction]) -> list[arb]:
        """∫ e^(−m(θ − c)²/2 − β(u + s(θ − a))) dθ over each cell [a, b], up to a common factor: a
        normal law with its mean moved by −βs/m.
        """
        root, points = ball(self.convexity).sqrt(), self.points
        masses = []
        for (a, b), (u, v) in zip(pairwise(points), pairwise(total), strict=True):
            s = self.beta * (v - u) / (b - a)
            moved = self.centre - self.beta * (v - u) / (b - a) / self.convexity
            height = (
                s * s / (2 * self.convexity) - s * (self.centre - a) - self.beta * (u - min(total))
            )
            left, right = root * ball(a - moved), root * ball(b - moved)
            inside = (
                normal_cdf(right) - normal_cdf(left)
                if a < moved
                else normal_cdf(-left) - normal_cdf(-right)
            )
            masses.append(ball(height).exp() * inside)
        return masses

    why_no_loss_pair = "the law depends on the data; the pair of (ε, δ) dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return gibbs_examples(cls)

    def output_laws(self, x: _Losses, y: _Losses) -> FiniteLaws:
        law_x, law_y = (
            dict(zip(self._middles(), self.probabilities(losses).tolist(), strict=True))
            for losses in (x, y)
        )
        return FiniteLaws.between(law_x, law_y)

    def draw_many(self, x: _Losses, n: int) -> NDArray[np.float64]:
        """Check the losses, add them up and turn them into masses once for each precision."""
        total = self._total(x)
        laws: dict[int, tuple[arb, list[arb]]] = {}

        def law(_: int) -> tuple[arb, list[arb]]:
            if ctx.prec not in laws:
                masses = self._masses(total)
                laws[ctx.prec] = sum(masses, arb(0)), masses
            return laws[ctx.prec]

        cells = [part_holding(law, SYSTEM.integer(64), SYSTEM) for _ in range(n)]
        return np.array(self._middles())[cells]

    def _middles(self) -> list[float]:
        return [float((a + b) / 2) for a, b in pairwise(self.points)]


def gibbs_beta(epsilon: Number, delta: Number, lipschitz: Number, convexity: Number) -> Fraction:
    """ε/(2L)·√(m/(1 + 2·ln(1/δ))), rounded down: for convex L-Lipschitz losses and an m-strongly
    log-concave prior density, with ε ≤ 1, and nothing else.
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta", zero=False)
    L, m = positive(lipschitz, "lipschitz"), positive(convexity, "convexity")
    if e > 1:
        raise refusals.EPSILON_ABOVE_ONE(epsilon=epsilon)
    return Fraction(
        evaluate(lambda: ball(e / (2 * L)) * (ball(m) / (1 - 2 * ball(d).log())).sqrt(), "down")
    )
