"""Randomized response: each person randomizes their own report, which is true with a fixed
probability.

*Law*        Of k categories the true one is reported with probability t, each other one with f = (1
             − t)/(k − 1); t = e^ε/(e^ε + k − 1), or any rational `keep`. k = 2 is Warner 1965;
             truth on heads and a second coin on tails is keep = 3/4.
*Promise*    ε = |ln(t/f)| for every report, whatever the others are. A row is one report; the
             relation is left open, because a report exists only if its row does: the promise is
             about replacing a row. Add-remove, under which the number of reports would be secret,
             is refused.
*Error*      An estimated frequency is within √(ln(2/β)/(2n))/(t − f) of the true one but for a
             chance of β (Hoeffding 1963); the sum of the variances is Σ P_j(1 − P_j)/(n(t − f)²),
             P_j = f + (t − f)·p_j.
*Proof*      docs/proofs/randomized-response.md
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Self, Unpack

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import Rounding, above, ball, chance, evaluate
from ..exact.numbers import Number, is_whole, open_probability, positive, probability, text
from ..guarantees import Guarantee, Pure, Relation
from ..guarantees.finite.channel import Channel
from ..guarantees.finite.finite_laws import Law, law
from ..guarantees.guarantee import relation_of, unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.choice import Choice
from ..records import LAST, record
from .shared import mechanism_refusals as refusals
from .shared.calibrated import choose_way
from .shared.categories import Labels, is_same
from .shared.mechanism import Input, InputPair, Mechanism, Neighbours, Output, PublicFields
from .shared.response_estimate import ResponseEstimate, Target, radius, variance
from .stated.audit_example import AuditExample
from .stated.response_laws import draw_responses, response_examples, response_laws
from .stated.stated_laws import FiniteLaws, ResponseOdds

_EXAMPLE = "RandomizedResponse(epsilon=1, categories=['yes', 'no'])"


def check_reported_relation(value: str | None) -> Relation | None:
    """Check the relation of reports. Add-remove is refused: the collector sees their number."""
    relation = relation_of(value)
    if relation == "add-remove":
        raise refusals.ADD_REMOVE_OF_REPORTS()
    return relation


@record(kw_only=True, init=False)
class RandomizedResponse(Mechanism):
    """Reports that keep ε, or that are true with a given probability, or whose estimates stay
    within an error.
    """

    labels: Labels
    relation: Relation | None = field(converter=check_reported_relation, metadata=LAST)
    unit: str | None = field(converter=unit_of, metadata=LAST)
    epsilon: Fraction | None
    keep: Fraction | None
    _law: Choice = field(init=False)

    @spell_out(Neighbours)
    def __init__(
        self,
        *,
        categories: Iterable[Hashable] = ("yes", "no"),
        epsilon: Number | None = None,
        keep: Number | None = None,
        error: Number | None = None,
        reports: int | None = None,
        confidence: Number = 0.95,
        **neighbours: Unpack[Neighbours],
    ) -> None:
        choose_way(_EXAMPLE, {"epsilon": epsilon, "keep": keep, "error": error})
        labels = Labels(categories, least=2)
        if (error is None) != (reports is None):
            raise refusals.ERROR_AND_REPORTS_APART()
        if error is not None and reports is not None:
            epsilon = _epsilon_for_error(
                positive(error, "error"),
                _reports(reports),
                1 - open_probability(confidence, "confidence"),
                len(labels),
            )
        self.__attrs_init__(
            labels=labels,
            relation=neighbours.get("relation"),
            unit=neighbours.get("unit"),
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
            keep=None if keep is None else _check_keep(keep, len(labels)),
        )

    @_law.default
    def _build_law(self) -> Choice:
        if self.keep is None:
            return Choice([self.epsilon or 0] + [Fraction(0)] * (self.k - 1))
        others = [(1 - self.keep) / (self.k - 1)] * (self.k - 1)
        return Choice([0] * self.k, prior=[self.keep, *others])

    @classmethod
    def coin_toss(
        cls, categories: Iterable[Hashable] = ("yes", "no"), *, unit: str | None = None
    ) -> Self:
        """On heads the truth, on tails the result of a second fair coin: the truth with probability
        3/4, ε = ln 3.
        """
        return cls(categories=categories, keep=Fraction(3, 4), unit=unit)

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.labels.names

    @property
    def k(self) -> int:
        """How many categories there are."""
        return len(self.labels.names)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        keep = self.keep
        if keep is None:
            return (Pure(self.epsilon or 0, **self._neighbours),)
        odds = keep * (self.k - 1) / (1 - keep)
        return (Pure(above(lambda: ball(max(odds, 1 / odds)).log()), **self._neighbours),)

    @property
    def channel(self) -> Channel:
        """The exact matrix of probabilities; where they are irrational, odds of e^ε rounded down to
        100 bits.
        """
        keep, k = self.keep, self.k
        if keep is None:
            return Channel.randomized_response(self.epsilon, k, labels=self.categories)
        rows = [[keep if x == y else (1 - keep) / (k - 1) for y in range(k)] for x in range(k)]
        return Channel(rows, inputs=self.categories, outputs=self.categories)

    def probability(
        self, report: Hashable, truth: Hashable, rounding: Rounding = "nearest"
    ) -> float:
        """P(report | truth), from the exact law."""
        same = self.labels.index(report) == self.labels.index(truth)
        return chance(self.truth if same else self.false_report, rounding)

    def perturb(self, values: Any, *, bits: Bits = SYSTEM) -> Any:
        """Randomize each value: a category gives a category, a list a list, an array an array. A
        value that is no category is refused.
        """
        if self.labels.is_single_value(values):
            return self.categories[(self.labels.index(values) + self._law.draw(bits)) % self.k]
        codes = self.labels.codes(values)
        codes += self._law.sample(codes.shape, bits)
        codes %= self.k
        return (
            self.labels.array[codes]
            if isinstance(values, np.ndarray)
            else [self.categories[c] for c in codes.tolist()]
        )

    def estimate(self, reports: Iterable[object]) -> ResponseEstimate:
        """Estimate the frequencies of the true categories without bias. The reports are public, so
        this is post-processing.
        """
        codes = self.labels.codes(reports).ravel()
        if not codes.size:
            raise refusals.NO_REPORTS()
        return ResponseEstimate(
            self, tuple(np.bincount(codes, minlength=self.k).tolist()), int(codes.size)
        )

    def error(self, confidence: Number = 0.95, *, reports: int, values: int = 1) -> float:
        """Hoeffding's radius around one estimated frequency, or around `values` of them at once;
        for the population and for these people.
        """
        missing = (1 - probability(confidence, "confidence", zero=False)) / _reports(
            values, "values"
        )
        return radius(self, _reports(reports), missing)

    def reports_for(self, error: Number, confidence: Number = 0.95) -> int:
        """How many reports keep one estimated frequency within an error."""
        alpha = positive(error, "error")
        missing = 1 - probability(confidence, "confidence", zero=False)
        return math.ceil(
            evaluate(
                lambda: ball(2 / missing).log() / (2 * (ball(alpha) * self.spread()) ** 2), "up"
            )
        )

    def variance(self, frequency: Number, *, reports: int, target: Target = "population") -> float:
        """The exact variance of one estimated frequency: over people drawn from a population and
        their coins, or (target="data") over the coins alone.
        """
        p, n = probability(frequency, "frequency", one=True), _reports(reports)
        return evaluate(lambda: variance(self, p, n, target))

    def mse(self, frequencies: Law, *, reports: int, target: Target = "population") -> float:
        """E‖estimated − true frequencies‖², exactly: the sum of the variances."""
        each, n = law(frequencies, self.categories, "frequencies"), _reports(reports)
        return evaluate(lambda: sum((variance(self, p, n, target) for p in each), arb(0)))

    def deniability(self, prior: Number | Law) -> dict[Hashable, dict[Hashable, float]]:
        """For each report, how likely each truth is to someone who held the prior: a law, or for
        two categories the frequency of the first.
        """
        if isinstance(prior, str) or not isinstance(prior, Iterable):
            first = probability(prior, "prior", one=True)
            prior = [first, 1 - first]
        held = law(prior, self.categories, "prior")

        def named(y: int) -> arb:
            return sum(
                (
                    ball(p) * (self.truth() if x == y else self.false_report())
                    for x, p in enumerate(held)
                ),
                arb(0),
            )

        def posterior(x: int, y: int) -> arb:
            return ball(held[x]) * (self.truth() if x == y else self.false_report()) / named(y)

        places = dict(enumerate(self.categories))
        return {
            report: {truth: chance(partial(posterior, x, y)) for x, truth in places.items()}
            for y, report in places.items()
        }

    def truth(self) -> arb:
        """The probability of a true report."""
        return ball(self.keep) if self.keep is not None else 1 / (1 + (self.k - 1) * self._less())

    def false_report(self) -> arb:
        """The probability of each false report."""
        return (
            ball((1 - self.keep) / (self.k - 1))
            if self.keep is not None
            else self._less() * self.truth()
        )

    def spread(self) -> arb:
        """truth − false_report."""
        return (
            ball((self.k * self.keep - 1) / (self.k - 1))
            if self.keep is not None
            else -(-ball(self.epsilon or 0)).expm1() * self.truth()
        )

    def _less(self) -> arb:
        return (-ball(self.epsilon or 0)).exp()

    def __repr__(self) -> str:
        how = (
            f"epsilon={text(self.epsilon)}"
            if self.epsilon is not None
            else f"keep={text(self.keep or Fraction(0))}"
        )
        about = [
            f"{name}={value!r}"
            for name, value in (("relation", self.relation), ("unit", self.unit))
            if value is not None
        ]
        arguments = [f"categories={list(self.categories)!r}", how, *about]
        return f"RandomizedResponse({', '.join(arguments)})"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return response_examples(cls)

    def audit_pairs(self) -> list[InputPair]:
        first, *others = self.categories
        return [(first, name) for name in others[:5]] + [(name, first) for name in others[5:][-1:]]

    def neighbours_of(self, x: Input) -> list[InputPair]:
        return [(x, name) for name in self.categories[:6] if not is_same(x, name)]

    def output_laws(self, x: Input, y: Input) -> FiniteLaws | None:
        return response_laws(self, x, y)

    def draw_once(self, x: Input) -> Output:
        """Draw the report's place among the categories; of several people, their places."""
        report = self.perturb(x)
        if not self.labels.is_single_value(x):
            return self.labels.codes(report, drop=True)
        return self.categories.index(report) if report in self.categories else report

    def draw_many(self, x: Input, n: int) -> NDArray[np.int64] | None:
        return draw_responses(self, x, n)

    def loss_pair(self) -> FiniteLaws | ResponseOdds:
        if self.keep is None:
            return ResponseOdds(self.epsilon or Fraction(0), self.k)
        lie = (1 - self.keep) / (self.k - 1)
        rest = (lie * (self.k - 2),) if self.k > 2 else ()
        return FiniteLaws(range(2 + len(rest)), (self.keep, lie, *rest), (lie, self.keep, *rest))

    def scale_noise(self, factor: Fraction) -> RandomizedResponse:
        if self.epsilon is None:
            raise refusals.RESPONSE_WITHOUT_EPSILON(mechanism=self)
        epsilon = self.epsilon / factor
        return RandomizedResponse(categories=self.categories, epsilon=epsilon, **self._neighbours)

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        return {"categories": public["labels"].names}


def _check_keep(keep: Number, k: int) -> Fraction:
    share = probability(keep, "keep", zero=False)
    if share == Fraction(1, k):
        raise refusals.KEEP_SAYS_NOTHING(keep=keep)
    return share


def _reports(value: int, name: str = "reports") -> int:
    if not is_whole(value, 1, 2**60):
        raise refusals.NOT_A_REPORT_COUNT(name=name, value=value)
    return value


def _epsilon_for_error(error: Fraction, reports: int, missing: Fraction, k: int) -> Fraction:
    """The ε at which Hoeffding's radius is the error: (e^ε + k − 1)/(e^ε − 1) = error/λ, so e^ε = 1
    + k/(error/λ − 1); rounded up.
    """

    def lam() -> arb:
        return (ball(2 / missing).log() / (2 * reports)).sqrt()

    if evaluate(lam, "up") >= error:
        enough = evaluate(lambda: ball(2 / missing).log() / ball(error) ** 2, "up")  # twice as many
        raise refusals.TOO_FEW_REPORTS(error=text(error), enough=math.ceil(enough))
    return above(lambda: (k / (ball(error) / lam() - 1)).log1p())
