"""Oracles for frequencies: a report supports some categories, and how likely it supports the true
one and another is known exactly.

*Support*    `own` = P(a report supports v | the value is v), `other` = P(it supports v | the value
             is another), the same for every other; both exact rationals. Whatever has these two is
             estimated alike (`estimate`), with the same exact variance (a *pure protocol*, Wang et
             al. 2017).
*Others*     A value that is none of the categories is reported as a uniform one of them: every
             frequency is that of the category and 1/k of that of all others, and they add up to
             one. Name a category for all others, and replace them by it beforehand, if their number
             is wanted.
*Influence*  Whoever lies, or sends many reports, moves an estimate: m fake reports among n by at
             most `influence(m, n)`. No local protocol can do without.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.numbers import Number, probability
from ..guarantees import Relation
from ..guarantees.finite.finite_laws import law
from ..guarantees.guarantee import relation_of, unit_of
from ..mechanisms.randomized_response import refuse_added
from ..mechanisms.shared.categories import Labels
from ..mechanisms.shared.response_estimate import Target
from ..noise.bits import SYSTEM, Bits
from .frequency_estimate import Aggregate, Estimate, variance
from .oracle import Oracle, every_code, reports_of
from .wire_reports import Reports


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, init=False)
class FrequencyOracle(Oracle):
    """An oracle for how frequent each of some public categories is. A report supports categories;
    `own` and `other` are how likely it does, exactly.
    """

    labels: Labels
    epsilon: Fraction
    relation: Relation | None
    unit: str | None

    @property
    @abstractmethod
    def own(self) -> Fraction:
        """P(a report supports v | the value is v)."""

    @property
    @abstractmethod
    def other(self) -> Fraction:
        """P(a report supports v | the value is another), the same for every other."""

    @property
    @abstractmethod
    def most(self) -> int:
        """How many categories one well-formed report can support at once, if its sender lies."""

    def _begin(
        self,
        categories: Iterable[Hashable],
        epsilon: Fraction,
        relation: str | None,
        unit: str | None,
    ) -> None:
        """What all constructors begin with."""
        put = object.__setattr__
        put(self, "labels", Labels(categories, least=2))
        put(self, "epsilon", epsilon)
        put(self, "relation", relation_of(relation))
        put(self, "unit", unit_of(unit))
        refuse_added(self.relation)

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.labels.names

    @property
    def k(self) -> int:
        """How many categories there are."""
        return len(self.labels)

    def _codes(self, values: Any, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        return every_code(self.labels, values, bits)

    def estimate(self, reports: Reports | Aggregate | bytes | Iterable[bytes]) -> Estimate:
        counted = self._some(reports)
        return Estimate(self, counted.counts, counted.reports)

    def variance(self, n: int, frequency: Number = 0, *, target: Target = "population") -> float:
        """The exact variance of one estimated frequency, at a true frequency, rounded up: over
        people drawn from a population and their coins, or (target="data") over the coins alone.
        """
        f = probability(frequency, "frequency", one=True)
        return up(self._exact_variance(reports_of(n), f, target))

    def mse(self, frequencies: Any, n: int, *, target: Target = "population") -> float:
        """E‖estimated − true frequencies‖², exactly, rounded up: the sum of the variances."""
        each = law(frequencies, self.categories, "frequencies")
        return up(
            sum((self._exact_variance(reports_of(n), f, target, each) for f in each), Fraction(0))
        )

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """How far `fakes` well-formed but invented reports among n can move one estimated
        frequency, down and up, against honest reports that never came.

        A fake report supports a category or not: it adds at most (1 − q)/(p − q)/n, and takes at
        most q/(p − q)/n. It does so to at most `most` at once.
        """
        m, spread = Fraction(reports_of(fakes), reports_of(n)), self.own - self.other
        return -up(m * self.other / spread), up(m * (1 - self.other) / spread)

    def _exact_variance(
        self, n: int, f: Fraction, target: Target, frequencies: tuple[Fraction, ...] | None = None
    ) -> Fraction:
        return variance(self.own, self.other, f, n, target)

    def _slack(self, missing: Fraction) -> tuple[Fraction, Fraction]:
        """What is left of a chance of error, and by how much hashing that all share moves an
        estimate at most but for the rest of it.
        """
        return missing, Fraction(0)

    def _shared_variance(self) -> float:
        """Of hashing that all share: it does not shrink with the number of reports."""
        return 0.0

    def __repr__(self) -> str:
        names = list(self.categories)
        listed = (
            repr(names) if len(names) <= 6 else f"[{names[0]!r}, …, {names[-1]!r}: {len(names)}]"
        )
        made = {name: value for name, value in self.made_of().items() if name != "categories"}
        return (
            f"{type(self).__name__}(categories={listed}, "
            f"{', '.join(f'{name}={value}' for name, value in made.items())})"
        )
