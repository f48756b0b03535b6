"""Estimate frequencies from randomized reports: unbiased, with exact variance and with confidence
intervals.

*Steps*      A report names a category with probability t if it is the true one and f if it is not.
             Of n reports the share d̂ names it; then (d̂ − f)/(t − f) is an unbiased estimate of
             its frequency.
*Error*      About a population from which the n people are drawn: Var = P(1 − P)/(n·(t − f)²), P =
             f + (t − f)·p. About these n people themselves only the coins count: Var = (p·t(1 − t)
             + (1 − p)·f(1 − f))/(n·(t − f)²).
*Interval*   "exact": Clopper & Pearson 1934 for P, then the straight line to p; holds for the
             population. "hoeffding": ± √(ln(2/β)/(2n))/|t − f|; holds for the population and for
             these people. "normal": ± z standard errors; approximate.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.balls import Rounding, ball, below, evaluate
from ...exact.numbers import Number, interval_text, probability
from ...templates.summary import Summarized, Summary
from . import mechanism_refusals as refusals
from .project_simplex import project

Method = Literal["exact", "hoeffding", "normal"]
METHODS: tuple[Method, ...] = ("exact", "hoeffding", "normal")
Target = Literal["population", "data"]

# the part of itself by which a limit, computed in double precision, is moved outward before it is
# proved
_WIDER = Fraction(1, 10**10)


class Response(Protocol):
    """A law of reports: the probability that a report names the true category, and that it names a
    given false one.
    """

    @property
    def categories(self) -> tuple[Hashable, ...]: ...

    def truth(self) -> arb: ...

    def false_report(self) -> arb: ...

    def spread(self) -> arb:
        """truth − false_report, without cancellation."""


@dataclass(frozen=True, slots=True, repr=False)
class ResponseEstimate(Summarized):
    """Counts of the reports of each category, and the frequencies estimated from them, in the order
    of the categories.
    """

    response: Response
    counts: tuple[int, ...]
    reports: int

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.response.categories

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Unbiased, hence of sum 1, and possibly below 0 or above 1."""
        return np.array([self._at(share) for share in self._shares()])

    @property
    def projected(self) -> NDArray[np.float64]:
        """The nearest frequencies in [0, 1] of sum 1: never farther from the truth in total squared
        error, and no longer unbiased.
        """
        return project(self.frequencies)

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """√(d̂(1 − d̂)/n)/|t − f|: the population's, with the observed share put in for P."""
        sizes = [share * (1 - share) / self.reports for share in self._shares()]
        return np.sqrt([float(size) for size in sizes]) / evaluate(
            lambda: abs(self.response.spread())
        )

    def interval(
        self, confidence: Number = 0.95, *, method: Method = "exact", simultaneous: bool = False
    ) -> NDArray[np.float64]:
        """A lower and an upper end for each frequency; with `simultaneous`, all of them hold
        together (union bound).
        """
        if method not in METHODS:
            raise refusals.UNKNOWN_INTERVAL(method=method, methods=", ".join(METHODS))
        missing = (1 - probability(confidence, "confidence", zero=False)) / (
            len(self.counts) if simultaneous else 1
        )
        if method == "normal":
            from scipy.special import ndtri

            half = -ndtri(float(missing) / 2) * self.standard_error
            ends = np.stack([self.frequencies - half, self.frequencies + half], axis=1)
        elif method == "hoeffding":
            width = Fraction(radius(self.response, self.reports, missing))
            ends = np.array(
                [
                    (self._at(share, -width, "down"), self._at(share, width, "up"))
                    for share in self._shares()
                ]
            )
        else:
            ends = np.array([self._exact(c, missing / 2) for c in self.counts])
        return np.clip(ends, 0.0, 1.0)

    def _summary(self) -> Summary:
        cells = zip(
            self.categories, self.frequencies.tolist(), self.interval().tolist(), strict=True
        )
        return Summary(
            title=f"estimate from {self.reports} reports",
            heads=("category", "frequency", "95 % interval"),
            rows=[(str(c), f"{f:.4f}", interval_text(*ends)) for c, f, ends in cells],
            numbers=frozenset([1]),
        )

    def _exact(self, count: int, missing: Fraction) -> tuple[float, float]:
        low = limit(count, self.reports, missing, upper=False)
        high = limit(count, self.reports, missing, upper=True)
        if self.response.spread() < 0:
            low, high = high, low
        return self._at(low, rounding="down"), self._at(high, rounding="up")

    def _shares(self) -> list[Fraction]:
        return [Fraction(count, self.reports) for count in self.counts]

    def _at(
        self, share: Fraction, shift: Fraction = Fraction(0), rounding: Rounding = "nearest"
    ) -> float:
        """The frequency at which this share of reports is expected, plus `shift`."""
        return evaluate(
            lambda: (
                (ball(share) - self.response.false_report()) / self.response.spread() + ball(shift)
            ),
            rounding,
        )


def variance(response: Response, frequency: Fraction, reports: int, target: Target) -> arb:
    """The exact variance of the estimate of one frequency."""
    t, f, p = response.truth(), response.false_report(), ball(frequency)
    if target == "data":
        per_report = p * t * (1 - t) + (1 - p) * f * (1 - f)
    else:
        named = f + response.spread() * p
        per_report = named * (1 - named)
    return per_report / (reports * response.spread() ** 2)


def radius(response: Response, reports: int, missing: Fraction) -> float:
    """√(ln(2/β)/(2n))/|t − f|, rounded up."""
    return evaluate(
        lambda: (ball(2 / missing).log() / (2 * reports)).sqrt() / abs(response.spread()), "up"
    )


def limit(count: int, reports: int, missing: Fraction, *, upper: bool) -> Fraction:
    """One end of the interval of Clopper & Pearson: computed in double precision, moved outward,
    and proved in ball arithmetic.
    """
    if count == (reports if upper else 0):
        return Fraction(int(upper))
    from scipy.special import betaincinv

    # of 1 − P, or of P
    a, b = (reports - count, count + 1) if upper else (count, reports - count + 1)
    at, wider = Fraction(float(betaincinv(a, b, float(missing)))), _WIDER

    def is_outside(end: Fraction) -> bool:
        return below(lambda: ball(end).beta_lower(a, b, 1), lambda: ball(missing))

    while not is_outside(at * (1 - wider)):
        wider *= 16
        if wider >= 1:
            return Fraction(int(upper))
    end = at * (1 - wider)
    return 1 - end if upper else end
