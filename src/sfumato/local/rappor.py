"""Rappor: bits of the value, perturbed once and remembered; every report perturbs what is
remembered again.

*Law*        A value has one bit (basic), or the bits where `hashes` public functions of its cohort
             put it (a Bloom filter of `size` bits). Permanent: every bit is kept with probability 1
             − f/2, once for each value, and remembered. Instantaneous: a remembered 1 is reported
             as 1 with probability q, a 0 with p. One-time: q = 1 and p = 0. f is rounded up, q
             down, p up (Erlingsson, Pihur & Korolova 2014).
*Promise*    One report: with one = (1 − f/2)q + (f/2)p and zero = (1 − f/2)p + (f/2)q, odds =
             (one(1 − zero)/(zero(1 − one)))^h, h bits of a value. All reports together: ((1 −
             f/2)/(f/2))^(2h), `lifetime()`, between two values *that never change*; all that are
             none of the categories count as one value. The cohort is uniform and never depends on
             the value.
*Changes*    Nothing protects when a value changes, or that it returns to an earlier one: two
             reports show whether they are made of one memory. With p = 0 and q = 1 one change gives
             the moment away with certainty, and no number of reports times ε bounds the loss.
             `Panel` protects moments of change.
*Error*      Basic: own = one, other = zero. With a Bloom filter frequencies are a least-squares fit
             to the bits of all cohorts (`bloom`), unbiased for these very hash functions. A second
             report of the same person averages the instantaneous noise alone: n counts people.
*Report*     The cohort, and `size` bits.
*Proof*      docs/proofs/local-rappor.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.balls import ball
from ..exact.numbers import Number, positive, probability
from ..guarantees import Guarantee, Pure
from ..guarantees.finite.finite_laws import law
from ..mechanisms.shared.additive import only_one
from ..mechanisms.shared.response_estimate import Target
from ..noise.bits import SYSTEM, Bits
from .bloom import BloomEstimate, places, score_range, total_error, worst_variance
from .frequency_estimate import Aggregate, Estimate
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import (
    Bytes,
    below,
    clear_padding,
    column_counts,
    flags,
    packed,
    padding_is_clear,
    put_bit,
)
from .lib.dyadic_probability import ONE, down, loss, share
from .oracle import plain_categories, reports_of
from .wire_reports import Reports, from_whole_numbers, whole_numbers, width_for

_EXAMPLE = "Rappor(epsilon=1, categories=['yes', 'no']), or Rappor(f=0.5, p=0.5, q=0.75, …)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rappor(FrequencyOracle):
    """Permanent and instantaneous randomized response on the bits of a value."""

    kind = "rappor"
    keep: int  # 1 − f/2, of 2^64
    p: int  # a remembered 0 is reported as 1
    q: int  # a remembered 1 is reported as 1
    hashes: int  # 0: one bit for each category
    size: int  # bits of a report
    cohorts: int
    seed: str

    def __init__(
        self,
        *,
        categories: Iterable[Hashable],
        epsilon: Number | None = None,
        f: Number | None = None,
        p: Number = 0,
        q: Number = 1,
        hashes: int = 0,
        size: int | None = None,
        cohorts: int = 1,
        seed: str = "sfumato",
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        only_one("Rappor", _EXAMPLE, epsilon=epsilon, f=f)
        self._begin(categories, Fraction(1), relation, unit)
        _shape(hashes, size, cohorts)
        put = object.__setattr__
        for name, value in {
            "hashes": hashes,
            "size": size if hashes and size else self.k,
            "cohorts": cohorts,
            "seed": str(seed),
        }.items():
            put(self, name, value)
        if epsilon is not None:
            share_of = positive(epsilon, "epsilon") / (2 * self.per_value)
            put(self, "keep", down(lambda: 1 / (1 + (-ball(share_of)).exp())))
        elif f is not None:
            put(self, "keep", int((1 - probability(f, "f", zero=False) / 2) * ONE))
        put(self, "q", int(probability(q, "q", zero=False, one=True) * ONE))
        put(self, "p", -int(-probability(p, "p") * ONE // 1))
        if self.q <= self.p:
            raise Refused(
                "local.bits",
                f"p={p}, q={q}",
                "a remembered 1 has to be reported as 1 more often than a remembered 0",
                "p=0.5, q=0.75",
            )
        put(self, "epsilon", loss(max(self.odds, Fraction(1))))
        self._end()

    @property
    def per_value(self) -> int:
        """Bits of one value."""
        return max(1, self.hashes)

    @property
    def own(self) -> Fraction:
        """P(a bit of the value is reported as 1)."""
        return share(self.keep) * share(self.q) + (1 - share(self.keep)) * share(self.p)

    @property
    def other(self) -> Fraction:
        """P(another bit is reported as 1)."""
        return share(self.keep) * share(self.p) + (1 - share(self.keep)) * share(self.q)

    @property
    def odds(self) -> Fraction:
        return (self.own * (1 - self.other) / (self.other * (1 - self.own))) ** self.per_value

    @property
    def lifetime_odds(self) -> Fraction:
        """Of everything that is remembered about one value."""
        return (share(self.keep) / (1 - share(self.keep))) ** (2 * self.per_value)

    def lifetime(self) -> Guarantee:
        """What all reports of one person keep together, however many they are, between any two
        values that never change. It does not cover a person whose value changes: the reports show
        when it did, and for that there is no bound.
        """
        return Pure(loss(self.lifetime_odds), relation=self.relation, unit=self.unit)

    @property
    def most(self) -> int:
        return self.k

    @property
    def width(self) -> int:
        return width_for(self.cohorts) + -(-self.size // 8)

    def constants(self) -> dict[str, Any]:
        numbers = {
            "keep": str(self.keep),
            "own": str(self.q),
            "other": str(self.p),
            "lifetime": str(loss(self.lifetime_odds)),
        }
        shape = {
            "hashes": self.hashes,
            "size": self.size,
            "cohorts": self.cohorts,
            "seed": self.seed,
        }
        return {"categories": plain_categories(self.labels), **numbers, **shape}

    def made_of(self) -> dict[str, Any]:
        made = {
            "f": str(2 * (1 - share(self.keep))),
            "p": str(share(self.p)),
            "q": str(share(self.q)),
            "hashes": self.hashes,
            "cohorts": self.cohorts,
        }
        return {**made, **({"size": self.size} if self.hashes else {}), "seed": self.seed}

    def remember(self, values: Any, *, bits: Bits = SYSTEM) -> Remembered:
        """What each person keeps for life: a cohort and permanent bits. Secret; every report is
        made of it.
        """
        codes = self._codes(values, bits).ravel()
        cohort = below(self.cohorts, codes.size, bits)
        rows = packed(ONE - self.keep, codes.size * -(-self.size // 8), bits).reshape(
            codes.size, -(-self.size // 8)
        )
        clear_padding(rows, self.size)
        for i in range(self.per_value):
            put_bit(rows, places(self, cohort, codes, i), flags(self.keep, codes.size, bits))
        return Remembered(self, cohort, rows)

    def perturb(self, values: Any, *, bits: Bits = SYSTEM) -> Reports:
        """A first report for each value."""
        return self.remember(values, bits=bits).perturb(bits=bits)

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return self.remember(self.labels.array[codes], bits=bits).perturb(bits=bits).payload

    def _formed(self, payload: Bytes) -> NDArray[np.bool_]:
        head = width_for(self.cohorts)
        return (from_whole_numbers(payload[:, :head]) < self.cohorts) & padding_is_clear(
            payload[:, head:], self.size
        )

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """How many reports have each bit; with a Bloom filter a row for each cohort, and last how
        many reports it has.
        """
        head = width_for(self.cohorts)
        if not self.hashes:
            return column_counts(payload[:, head:], self.size)
        cohort = from_whole_numbers(payload[:, :head])
        each = [payload[cohort == c, head:] for c in range(self.cohorts)]
        return np.stack([np.append(column_counts(rows, self.size), len(rows)) for rows in each])

    def estimate(  # type: ignore[override]
        self, reports: Reports | Aggregate | bytes | Iterable[bytes]
    ) -> Estimate | BloomEstimate:
        counted = self._some(reports)
        return (
            BloomEstimate(self, counted.counts, counted.reports)
            if self.hashes
            else Estimate(self, counted.counts, counted.reports)
        )

    def variance(self, n: int, frequency: Number = 0, *, target: Target = "population") -> float:
        """As for every oracle; with a Bloom filter the largest over all categories and all that the
        others may have, at any frequency.
        """
        return (
            worst_variance(self, reports_of(n), target)
            if self.hashes
            else FrequencyOracle.variance(self, n, frequency, target=target)
        )

    def mse(self, frequencies: Any, n: int, *, target: Target = "population") -> float:
        if not self.hashes:
            return FrequencyOracle.mse(self, frequencies, n, target=target)
        each = np.array([float(f) for f in law(frequencies, self.categories, "frequencies")])
        return total_error(self, each, reports_of(n), target)

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """As for every oracle; with a Bloom filter by the range of what one report can add to any
        category.
        """
        if not self.hashes:
            return FrequencyOracle.influence(self, fakes, n)
        low, high = score_range(self)
        return low * reports_of(fakes) / reports_of(n), high * reports_of(fakes) / reports_of(n)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remembered:
    """Cohorts and permanent bits of some people: secret, and never drawn anew. `perturb` makes a
    report of each, as often as asked.
    """

    oracle: Rappor
    cohort: NDArray[np.int64]
    rows: Bytes

    def perturb(self, *, bits: Bits = SYSTEM) -> Reports:
        """A report of each."""
        ones, zeros = (
            packed(m, self.rows.size, bits).reshape(self.rows.shape)
            for m in (self.oracle.q, self.oracle.p)
        )
        said = (self.rows & ones) | (~self.rows & zeros)
        clear_padding(said, self.oracle.size)
        return Reports(
            self.oracle.mark,
            np.concatenate(
                [whole_numbers(self.cohort, width_for(self.oracle.cohorts)), said], axis=1
            ),
        )

    def __repr__(self) -> str:
        return f"Remembered(of {len(self.rows)} people)"


def _shape(hashes: int, size: int | None, cohorts: int) -> None:
    whole = all(
        isinstance(value, int) and not isinstance(value, bool)
        for value in (hashes, cohorts, 1 if size is None else size)
    )
    if (
        not whole
        or not 0 <= hashes <= 16
        or not 1 <= cohorts <= 4096
        or (size is not None and not 2 <= size <= 4096)
        or (hashes > 0) != (size is not None)
    ):
        reason = (
            "a Bloom filter has 1 to 16 hashes, 2 to 4096 bits and 1 to 4096 cohorts; "
            "without one, hashes and size are left out"
        )
        raise Refused(
            "local.size",
            f"hashes={hashes}, size={size}, cohorts={cohorts}",
            reason,
            "hashes=2, size=128, cohorts=32",
        )
