"""A mechanism on a sample of the units.

*Law*        The base mechanism, run on a sample that nobody sees: every unit enters independently
             with probability q (Poisson), or m of n units do (fixed).
*Promise*    Poisson, under add-remove: Pure and Approx become ln(1 + q(e^ε − 1)) and qδ (Balle,
             Barthe & Gaboardi 2018), GDP a Rényi curve (Mironov, Talwar & Zhang 2019). Of a fixed
             size, under replace: Pure and Approx likewise with q = m/n; GDP as it was: only the law
             says how much it gains. `sf.compose` knows that law, and both of its directions.
*Sampling*   is the caller's: the sample is drawn anew for every use, is not published, and its
             size, if Poisson, is not either.
*Proof*      docs/proofs/subsampled.md
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from ..errors import Refused
from ..exact.numbers import Number, probability, text
from ..guarantees import GDP, Guarantee, Relation
from ..guarantees.renyi import subsampled_gaussian
from ..noise.bernoulli import Bernoulli
from ..noise.choice import Choice
from ..records import record
from .laplace import Laplace
from .randomized_response import RandomizedResponse
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Mechanism, Output, with_scaled_noise
from .stated.audit_example import AuditExample, fixed
from .stated.stated_laws import SampledRelease

BINDS: dict[str, Relation] = {"poisson": "add-remove", "fixed": "replace"}
"""The relation that each way of sampling is about."""


@record(kw_only=True, init=False)
class Subsampled(Mechanism):
    """A base mechanism behind sampling at a rate."""

    base: Mechanism
    rate: Fraction
    how: Literal["poisson", "fixed"]
    relation: Relation | None
    unit: str | None

    def __init__(self, *, base: Mechanism, rate: Number, how: str = "poisson") -> None:
        if how not in BINDS:
            raise refusals.UNKNOWN_SAMPLING(how=how)
        if isinstance(base, Subsampled):
            raise refusals.SAMPLED_TWICE(mechanism=base)
        if isinstance(base, RandomizedResponse) and how == "poisson":
            raise refusals.REPORTS_SAMPLED(mechanism=base)
        relation = BINDS[how]
        if base.relation not in (None, relation):
            refusal = (
                refusals.POISSON_UNDER_REPLACE
                if how == "poisson"
                else refusals.FIXED_SIZE_UNDER_ADD_REMOVE
            )
            raise refusal(mechanism=base)
        self.__attrs_init__(
            base=base,
            rate=probability(rate, "q", zero=False, one=True),
            how="poisson" if how == "poisson" else "fixed",
            relation=relation,
            unit=base.unit,
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        amplified = [self._amplified(promise) for promise in self.base.promises]
        return tuple(promise for promise in amplified if promise is not None) or tuple(
            self._bound(1 * promise) for promise in self.base.promises
        )

    def _amplified(self, promise: Guarantee) -> Guarantee | None:
        # GDP becomes a curve that a ledger's filter can add up; `sf.compose` uses the exact law
        if isinstance(promise, GDP):
            return (
                self._bound(subsampled_gaussian(self.rate, promise.mu_squared))
                if self.how == "poisson"
                else None
            )
        try:
            return self._bound(self._bound(1 * promise, free=True).subsample(self.rate))
        except Refused:  # not amplified by sampling
            return None

    def _bound(self, promise: Guarantee, *, free: bool = False) -> Guarantee:
        return Guarantee._bind(promise, None if free else self.relation, self.unit)

    def __repr__(self) -> str:
        return (
            f"{self.base}.subsample({text(self.rate)}{'' if self.how == 'poisson' else ', fixed'})"
        )

    why_no_law = "the law of the sample is not summed over"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        rows = fixed(
            ([], [1]),
            ([1], [1, 1]),
            ([0, 1], [0, 1, 1]),
            ([1] * 4, [1] * 5),
            ([0] * 3, [0] * 3 + [-1]),
        )
        return [
            AuditExample(
                "Subsampled",
                lambda e: Laplace(sensitivity=1, epsilon=e).subsample("1/2"),
                rows,
                at_once=False,
            )
        ]

    def draw_once(self, x: Iterable[int]) -> Output:
        """Draw an output of the base mechanism at the sum of a fresh sample of the rows."""
        rows = list(x)
        if self.how == "poisson":
            coins = Bernoulli(p=self.rate).sample(len(rows)).tolist()
            return self.base.draw_once(
                sum(row for row, keep in zip(rows, coins, strict=True) if keep)
            )
        size = round(self.rate * len(rows))
        return self.base.draw_once(
            sum(rows.pop(Choice([0] * len(rows)).draw()) for _ in range(size))
        )

    def loss_pair(self) -> SampledRelease:
        return SampledRelease(self.base, self.rate, self.how)

    def scale_noise(self, factor: Fraction) -> Subsampled:
        base = with_scaled_noise(self.base, factor)
        return Subsampled(base=base, rate=self.rate, how=self.how)


def fixed_rate(size: int, of: int) -> Fraction:
    """m/n for a sample of m out of n units."""
    if (
        any(isinstance(v, bool) or not isinstance(v, int) for v in (size, of))
        or not 1 <= size <= of
    ):
        raise refusals.SAMPLE_OUT_OF_RANGE(size=size, of=of)
    return Fraction(size, of)
