"""Noise scaled to the smooth sensitivity: less noise for stable data, with a scale that reveals
nothing by itself.

*Law*        answer + (2S/ε)·L, rounded to the grid, with L Laplace of scale 1 and S = max_k
             e^(−βk)·A(k), A(k) the largest local sensitivity within k changes; S is at least ε/1024
             of a grid step, which no one sees and which bounds the search.
*Promise*    (ε, δ)-DP under replace (Nissim, Raskhodnikova & Smith 2007), with the largest β at
             which the exact divergence of two Laplace laws whose scales differ by e^β is at most δ
             at ε/2. Rounding is post-processing of the real mechanism; S is rounded up by less than
             β leaves room for.
*Error*      depends on the data through S, so none is published.
*Proof*      docs/proofs/smooth.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Unpack

from attrs import field
from flint import arb
from numpy.typing import ArrayLike

from ..exact.balls import above, ball, below, between, floor, least, precision
from ..exact.numbers import Number, is_whole, open_probability, positive, text
from ..guarantees import Approx, Guarantee, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..records import record
from ..sensitivity import order_statistics
from .shared import mechanism_refusals as refusals
from .shared.bounded_data import OrderOptions, Range, check_range, check_statistic, statistic_q
from .shared.mechanism import Mechanism
from .stated.audit_example import CHANGED, DELTA, AuditExample

STATISTICS = ("median", "quantile", "kth-largest")
# S is computed in double precision and raised by a quarter of this; β is lowered by all of it
_ROOM = Fraction(1, 2**30)


@record(kw_only=True, init=False)
class SmoothLaplace(Mechanism):
    """A median, quantile or k-th largest of values in a public range."""

    statistic: str
    epsilon: Fraction = field(converter=positive)
    delta: Fraction = field(converter=open_probability)
    q: Fraction | None
    k: int | None
    low: Fraction
    high: Fraction
    grid: Fraction
    unit: str | None = field(converter=unit_of)
    relation: Relation = field(init=False, default="replace")
    # the smoothness that (ε, δ) allows, with room for rounding S
    beta: Fraction = field(init=False, repr=False, eq=False)
    _range: Range = field(repr=False, eq=False)

    @spell_out(OrderOptions, grid=None, q="1/2")
    def __init__(
        self,
        statistic: str,
        *,
        epsilon: Number,
        delta: Number,
        low: Number,
        high: Number,
        k: int = 1,
        **options: Unpack[OrderOptions],
    ) -> None:
        if not is_whole(k):
            raise refusals.K_BELOW_ONE(k=k)
        place = f"SmoothLaplace({check_statistic(statistic, STATISTICS)!r})"
        ends = check_range(place, low, high, options.get("grid"))
        self.__attrs_init__(
            statistic=statistic,
            q=statistic_q(statistic, options),
            unit=options.get("unit"),
            range=ends,
            low=ends.low,
            high=ends.high,
            grid=ends.grid,
            epsilon=epsilon,
            delta=delta,
            k=k if statistic == "kth-largest" else None,
        )

    @beta.default
    def _choose_beta(self) -> Fraction:
        return largest_beta(self.epsilon, self.delta) - _ROOM

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Approx(self.epsilon, self.delta, **self._neighbours),)

    def sensitivity(self, data: ArrayLike) -> Fraction:
        """S in units of the data, rounded up. Secret."""
        x = self._range.sorted_steps(data)
        return self._smooth(x) * self._range.grid

    def perturb(self, data: ArrayLike, *, bits: Bits = SYSTEM) -> int | float:
        """A private value of the statistic."""
        x = self._range.sorted_steps(data)
        answer = int(x[self._rank(len(x)) - 1]) if len(x) else self._range.first
        scale = 2 * self._smooth(x) / self.epsilon
        return self._range.value(rounded_laplace(answer, scale, bits))

    def _rank(self, n: int) -> int:
        return (
            max(1, n - self.k + 1)
            if self.k is not None
            else order_statistics.rank_of(self.q or Fraction(0), n)
        )

    def _smooth(self, x: order_statistics.Sorted) -> Fraction:
        """S in grid steps, rounded up: e^(−βk)·A(k) at the best k."""
        least = self.epsilon / 1024
        if not len(x):
            return max(least, Fraction(self._range.last - self._range.first))
        k, reach = order_statistics.smooth(
            x,
            self._rank(len(x)),
            float(self.beta),
            self._range.first,
            self._range.last,
            float(least),
        )
        return max(least, above(lambda: (-ball(self.beta * k)).exp() * reach) * (1 + _ROOM / 4))

    why_no_law = "the scale of the noise depends on the data, and is not summed over"
    why_no_loss_pair = "the law depends on the data; the pair of (ε, δ) dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> SmoothLaplace:
            return cls("median", epsilon=epsilon, delta=DELTA, low=0, high=10, grid=1)

        return [AuditExample("SmoothLaplace", build, CHANGED, at_once=False, slow=4)]


def largest_beta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest β (to 2^-50 of itself) at which two Laplace laws whose scales differ by e^β are
    (ε/2, δ)-indistinguishable.

    Wide against narrow: e^(−t) − e^(ε/2 − t·e^β) ≤ δ at t = (ε/2 + β)/(e^β − 1), where the
    densities' ratio is e^(ε/2). Narrow against wide: β ≤ ε/2.
    """

    def fits(inverse: Fraction) -> bool:
        beta = 1 / inverse

        def divergence() -> arb:
            t = ball(epsilon / 2 + beta) / ball(beta).expm1()
            return (-t).exp() - (ball(epsilon / 2) - t * ball(beta).exp()).exp()

        return beta <= epsilon / 2 and below(divergence, lambda: ball(delta))

    beta = 1 / least(fits)
    if beta <= 2 * _ROOM:
        raise refusals.EPSILON_TOO_SMALL(epsilon=text(epsilon))
    return beta


def rounded_laplace(answer: int, scale: Fraction, bits: Bits) -> int:
    """⌊answer ± scale·(−ln V) + ½⌋, V uniform: a real Laplace variable rounded to the nearest
    integer, decided in ball arithmetic.
    """
    word = bits.integer(64)
    magnitude, length = word >> 1, 63  # the first `length` bits of V
    while True:
        if magnitude:
            with precision(length + 128 + max(0, math.ceil(scale)).bit_length()):
                shift = -between(magnitude, magnitude + 1, length).log() * ball(scale)
                noise = floor(ball(Fraction(1, 2)) + (shift if word & 1 else -shift))
            if noise is not None:
                return answer + noise
        magnitude = magnitude << 64 | bits.integer(64)
        length += 64
