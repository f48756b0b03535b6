"""Examples for audits of `Gibbs`, at every ε.

Its (ε, δ) is proved for ε ≤ 1, and it refuses to be built for more. Its μ has no such end: so it is
here a second time, built for the μ that gives (ε, 10⁻⁸).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ...exact.balls import ball, evaluate
from ...guarantees import GDP
from ...guarantees.gdp import largest_mu
from .audit_example import AuditExample, fixed

if TYPE_CHECKING:
    from ..gibbs import Gibbs

CELLS = 8
# deviations of the prior: a range in which two records at its ends are told apart as well as any
FAR = 4
HALF = Fraction(1, 2)


def gibbs_examples(kind: type[Gibbs]) -> list[AuditExample]:
    """List an example in (ε, δ) and one in μ."""

    def build(epsilon: float) -> Gibbs:
        return kind(
            epsilon=epsilon, delta="1e-6", lipschitz=1, convexity=1, low=0, high=1, cells=CELLS
        )

    def build_in_mu(epsilon: float) -> Gibbs:
        """μ = ε'/√(1 + 2·ln(1/δ')) of its own ε' ≤ 1 and δ', rounded down."""
        delta, mu = Fraction(99, 100), largest_mu(Fraction(epsilon), Fraction(1, 10**8))
        most = evaluate(lambda: ball(Fraction(mu)) * (1 - 2 * ball(delta).log()).sqrt(), "down")
        return kind(
            epsilon=Fraction(most),
            delta=delta,
            lipschitz=1,
            convexity=1,
            low=-FAR,
            high=FAR,
            cells=CELLS,
        )

    near = fixed(
        (losses(0), losses(1)),
        (losses(0, 0), losses(0, 1)),
        (losses(HALF), losses(0)),
        (losses(HALF, HALF), losses(HALF, 1)),
        (losses(0, 1), losses(1, 1)),
    )
    far = fixed(
        (_far_losses(-FAR), _far_losses(FAR)),
        (_far_losses(0), _far_losses(FAR)),
        (_far_losses(0, FAR), _far_losses(0, -FAR)),
        (_far_losses(1, 1), _far_losses(1, -1)),
        (_far_losses(-FAR, 0, FAR), _far_losses(-FAR, FAR, FAR)),
    )
    return [
        AuditExample("Gibbs", build, near, at_once=False, most=1.0),
        AuditExample("Gibbs, in μ", build_in_mu, far, at_once=False, claim=lambda m: m.to(GDP)),
    ]


def losses(*points: int | Fraction, low: int = 0, high: int = 1) -> list[list[Fraction]]:
    """Compute |θ − x| for each record x, at the ends of the cells of the range."""
    ends = [low + Fraction(i * (high - low), CELLS) for i in range(CELLS + 1)]
    return [[abs(end - x) for end in ends] for x in points]


def _far_losses(*points: int) -> list[list[Fraction]]:
    return losses(*points, low=-FAR, high=FAR)
