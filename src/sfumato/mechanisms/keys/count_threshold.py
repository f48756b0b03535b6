"""Show the noisy count of a group if it reaches a threshold: the count that is released anyway also
decides which groups are named. For weights, over any number of groups.

*Law*        A group of weight c takes part with probability min(1, c/ramp), and is shown iff c + Z
             ≥ T, with Z the noise of the count. A group that is not shown gives nothing at all.
*Promise*    that of the noise, and δ beside it: with the noise's ε Approx(ε, δ), with its ρ ZCDP(ρ,
             δ), with its μ GDP(μ) + Approx(0, δ). A unit gives at most `most` to a group and at
             most `total` to all groups together. With p(c) = P(c + Z ≥ T), δ = (total/ramp)·F·
             p(ramp), where F = 1 unless p grows by more than e^(1/most) in a step.
*Error*      `keep_probability(n)`, exactly. Given that a group is shown, its noise is the law of Z
             given Z ≥ T − c: `answers.shown_counts` has the intervals.
*Proof*      docs/proofs/count-threshold.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ...exact.balls import Rounding, ball, below, chance, evaluate
from ...exact.numbers import Number, is_whole, open_probability, text
from ...exact.search import first
from ...guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Relation
from ...noise.bits import SYSTEM, Bits
from ...noise.law import Integers, SummableLaw
from ...records import PARTIAL, record
from ..gaussian import Gaussian
from ..laplace import Laplace
from ..shared import mechanism_refusals as refusals
from ..shared.mechanism import Input, InputPair, Mechanism, Output
from ..stated.audit_example import DELTA, AuditExample
from ..stated.stated_laws import FiniteLaws, as_integer

_CELLS = 150  # noisy counts above the threshold that a stated law lists one by one
_LARGEST = 1 << 62  # a ramp that 64 random bits can compare with


def _check_noise(value: Laplace | Gaussian) -> Laplace | Gaussian:
    if isinstance(value, Laplace | Gaussian) and value.grid is None and value.size is None:
        return value
    raise refusals.NOT_THE_NOISE_OF_COUNTS(value=value)


def _check_weight(value: int, name: str = "total") -> int:
    if is_whole(value, 1, _LARGEST):
        return value
    raise refusals.KEY_COUNT_OUT_OF_RANGE(name=name, value=value, most=_LARGEST)


def _check_ramp(value: int | None, record: CountThreshold = PARTIAL) -> int:
    """Check a ramp, or choose the power of two near which T is least: where p grows e-fold."""
    if value is None:
        return record._choose_ramp()
    if is_whole(value, 1, _LARGEST) and value & (value - 1) == 0:
        return value
    raise refusals.RAMP_NO_POWER_OF_TWO(value=value)


@record(kw_only=True)
class CountThreshold(Mechanism):
    """Shows noisy counts from a threshold on, the least that keeps δ. The noise covers the counts
    of all groups together.
    """

    noise: Laplace | Gaussian = field(converter=_check_noise)
    delta: Fraction = field(converter=open_probability)
    total: int = field(default=1, converter=_check_weight)
    most: int = field(default=1, converter=_check_weight)
    ramp: int = field(default=None, converter=_check_ramp)
    threshold: int = field(init=False)

    @threshold.default
    def _choose_threshold(self) -> int:
        self._check_sensitivity()
        missing = min(Fraction(1, 2), self.delta * self.ramp / self.total)
        return first(
            lambda t: not below(lambda: ball(self.delta), lambda: self._delta_at(t)),
            near=self.ramp + _reach(self.law, missing),
            least=self.ramp + 1,
        )

    def _check_sensitivity(self) -> None:
        """Refuse noise that does not cover what a unit may add: `total` in the L1 norm; in the L2
        norm at least what it may add to one group.
        """
        is_laplace = isinstance(self.noise, Laplace)
        least = self.total if is_laplace else min(self.most, self.total)
        if self.noise.sensitivity < least:
            raise refusals.NOISE_BELOW_COUNTS(
                noise="Laplace" if is_laplace else "Gaussian",
                sensitivity=text(self.noise.sensitivity),
                amount=least,
                where="all groups together" if is_laplace else "one group",
            )

    @property
    def law(self) -> SummableLaw:
        """The law of Z."""
        return self.noise.law

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]  # derived, not a field
        return self.noise.relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]  # derived, not a field
        return self.noise.unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return tuple(
            promise for base in self.noise.promises for promise in _with_delta(base, self.delta)
        )

    def perturb(self, count: int, *, bits: Bits = SYSTEM) -> int | None:
        """Return the noisy count if the group may be shown, else None."""
        noisy, shown = self.perturb_all(np.array([count]), bits=bits)
        return int(noisy[0]) if shown[0] else None

    def perturb_all(
        self, counts: Integers, *, bits: Bits = SYSTEM
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """Return noisy counts, and which of them may be shown. The others are secret."""
        noisy = cast("Integers", self.noise.perturb(counts, bits=bits))
        width = self.ramp.bit_length() - 1
        words = bits.words(len(counts))
        level = words >> np.uint64(64 - width) if width else np.zeros(len(counts), dtype=np.uint64)
        takes_part = np.array(counts > level.astype(np.int64), dtype=np.bool_)
        return noisy, takes_part & np.array(noisy >= self.threshold, dtype=np.bool_)

    def keep(self, counts: Integers, *, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
        """Tell which groups may be named; the noisy counts are forgotten."""
        return self.perturb_all(counts, bits=bits)[1]

    def keep_probability(self, count: int, rounding: Rounding = "nearest") -> float:
        """The probability that a group of this weight is shown."""
        return chance(lambda: self._share(count), rounding) if count > 0 else 0.0

    def count_shown_with(self, probability: Number) -> int:
        """Return the least weight that is shown with this probability."""
        level = open_probability(probability)
        return first(
            lambda c: not below(lambda: self._share(c), lambda: ball(level)),
            near=self.threshold,
            least=1,
        )

    def true_delta(self) -> float:
        """The δ beside the noise's promise, rounded up; at most the δ that is promised."""
        return chance(lambda: self._delta_at(self.threshold), "up")

    def _share(self, count: int) -> arb:
        part = ball(Fraction(min(count, self.ramp), self.ramp))
        return part * self.law._tail(self.threshold - count)

    def _delta_at(self, threshold: int) -> arb:
        """δ of a threshold: (total/ramp)·F·p(ramp)."""
        far = threshold - self.ramp
        p = self.law._tail(far)
        growth = (self.law._tail(far - 1) / p).log() * self.most
        factor = arb(1) if growth <= 1 else (growth - 1).exp() / growth
        return ball(Fraction(self.total, self.ramp)) * factor.max(arb(1)) * p

    def _choose_ramp(self) -> int:
        near = _reach(self.law, min(Fraction(1, 2), self.delta / self.total))
        growth = evaluate(lambda: (self.law._tail(near) / self.law._tail(near + 1)).log())
        return 1 << min(61, max(0, round(-math.log2(growth)))) if growth > 0 else 1

    why_no_loss_pair = "δ lies beside the promise of the noise; the promise says both"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample(
                "CountThreshold",
                lambda e: cls(noise=Laplace(sensitivity=1, epsilon=e), delta=DELTA),
                at_once=False,
            )
        ]

    def audit_pairs(self) -> list[InputPair]:
        near = self.threshold
        votes = (0, self.most, self.ramp, near - self.most, near, near + self.most, 2 * near)
        return list(dict.fromkeys((some, some + self.most) for some in votes))

    def output_laws(self, x: int, y: int) -> FiniteLaws | None:
        """The laws for one group: None, or the noisy count from the threshold on."""
        if np.ndim(x) or np.ndim(y):
            return None
        top = max(x, y, self.threshold) + _CELLS
        return FiniteLaws.between(
            self._law_up_to(top, as_integer(x)), self._law_up_to(top, as_integer(y))
        )

    def _law_up_to(self, top: int, count: int) -> dict[object, float]:
        part = min(max(count, 0), self.ramp) / self.ramp
        law: dict[object, float] = {
            k: part * float(self.law.pmf(k - count)) for k in range(self.threshold, top)
        }
        law[None] = 1 - part + part * float(self.law.cdf(self.threshold - 1 - count))
        law["more"] = part * float(self.law.tail(top - count))
        return law

    def draw_once(self, x: Input) -> Output:
        return self.perturb(x) if np.ndim(x) == 0 else tuple(self.perturb(int(v)) for v in x)


def _reach(law: SummableLaw, missing: Fraction) -> int:
    """Return the least k with P(Z > k) below `missing`."""
    return law.half_width(1 - 2 * missing) if missing < Fraction(1, 2) else 0


def _with_delta(base: Guarantee, delta: Fraction) -> tuple[Guarantee, ...]:
    """Return what holds of a mechanism that keeps `base` with probability 1 − δ."""
    neighbours = {"relation": base.relation, "unit": base.unit}
    if isinstance(base, Pure):
        return (Approx(base.parameters["epsilon"], delta, **neighbours),)
    if isinstance(base, ZCDP):
        return (ZCDP(base.rho, delta, **neighbours),)
    assert isinstance(base, GDP)
    return base + Approx(0, delta, **neighbours), ZCDP(base.mu_squared / 2, delta, **neighbours)
