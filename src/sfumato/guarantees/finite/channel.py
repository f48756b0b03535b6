"""A randomized algorithm between finite sets, as the exact matrix of its probabilities.

*Law*       Row x holds P(answer = y | input = x): exact rationals, each row of sum 1.
*Promise*   ε, δ and Rényi divergence are maxima over ordered pairs of inputs: over all of them (the
            local model), or over the pairs given, each taken both ways. They are rounded up. A
            statement about no pair of different inputs is empty and is refused.
*Process*   `a.compose(b)` feeds a's answer into b, whose rows do not see the input: no divergence
            grows. `a.product(b)` publishes both answers.
*Checks*    p(y|x) ≤ e^ε·p(y|x′) for every y is the same as ε-DP; with a δ added on the right it
            would prove nothing, since an event collects one δ for each of its answers. The ratio of
            distribution functions stays within e^±ε too, but the converse is false: it only ever
            refutes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, permutations, product
from typing import NamedTuple, Self

from ...exact.balls import Rounding, ball, evaluate
from ...exact.numbers import Number, positive, probability
from .. import guarantee_refusals as refusals
from ..guarantee import check_epsilon
from ..meaning.attacker import Attacker
from .divergences import approx_max_divergence, hockey_stick, renyi
from .finite_laws import Law, Outcome, Weights, exceeds, exp_down, law, steps

Pairs = Iterable[tuple[Hashable, Hashable]]
BITS = 100
"""The precision of e^ε in a channel made from an ε: so fine that nothing is lost, and coarse enough
that `epsilon()` gives the ε back.
"""


class LossAtom(NamedTuple):
    """An atom of the privacy loss ln p(y|x)/p(y|x′): its probability under x, and e^loss; None
    stands for infinity.
    """

    mass: Fraction
    odds: Fraction | None

    @property
    def value(self) -> float:
        """The loss, to the nearest double; +∞ if x′ never gives the answer."""
        odds = self.odds
        return math.inf if odds is None else evaluate(lambda: ball(odds).log())


@dataclass(frozen=True, slots=True)
class Channel:
    """A finite row-stochastic matrix with exact rational entries."""

    rows: tuple[Weights, ...]
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]

    def __init__(
        self,
        rows: Iterable[Law] | Mapping[Outcome, Law],
        *,
        inputs: Iterable[Hashable] | None = None,
        outputs: Iterable[Hashable] | None = None,
    ) -> None:
        laws: list[Law] = list(rows.values() if isinstance(rows, Mapping) else rows)
        if not laws:
            raise refusals.NO_ROWS()
        first = laws[0] = laws[0] if isinstance(laws[0], Mapping) else list(laws[0])
        put = object.__setattr__
        put(
            self,
            "inputs",
            _labels(
                list(rows) if isinstance(rows, Mapping) and inputs is None else inputs,
                len(laws),
                "inputs",
            ),
        )
        put(
            self,
            "outputs",
            _labels(
                list(first) if isinstance(first, Mapping) and outputs is None else outputs,
                len(first),
                "outputs",
            ),
        )
        put(self, "rows", tuple(law(row, self.outputs, f"row {i}") for i, row in enumerate(laws)))

    @classmethod
    def coin_toss(cls) -> Self:
        """Warner's question with two coins: on heads the truth, on tails the result of a second
        coin. ε = ln 3.
        """
        return cls.randomized_response(odds=3, labels=("yes", "no"))

    @classmethod
    def randomized_response(
        cls,
        epsilon: Number | None = None,
        k: int = 2,
        *,
        odds: Number | None = None,
        labels: Iterable[Hashable] | None = None,
    ) -> Self:
        """Randomized response: the truth is `odds` times as likely as each of the k − 1 other
        answers. Warner 1965.

        With `epsilon`, the odds e^ε are irrational: they are rounded *down* to a rational of 100
        bits, so the channel promises ε and, but for the 30th digit, no less.
        """
        names = list(range(k)) if labels is None else list(labels)
        if (epsilon is None) == (odds is None):
            raise refusals.RESPONSE_NEEDS_EPSILON_OR_ODDS(epsilon=epsilon, odds=odds)
        if len(names) < 2:
            raise refusals.RESPONSE_NEEDS_TWO_ANSWERS(count=len(names))
        weight = (
            positive(odds, "odds")
            if epsilon is None and odds is not None
            else exp_down(check_epsilon(epsilon or 0), BITS)
        )
        total = weight + len(names) - 1
        return cls(
            [[(weight if x == y else 1) / total for y in names] for x in names],
            inputs=names,
            outputs=names,
        )

    def row(self, x: Hashable) -> Weights:
        """The law of the answer to x."""
        return self.rows[_at(self.inputs, x, "input")]

    def compose(self, after: Channel) -> Channel:
        """Feed the answer of this channel into the channel `after`."""
        if set(after.inputs) != set(self.outputs):
            raise refusals.OUTPUTS_ARE_NOT_INPUTS()
        kernel = [after.row(y) for y in self.outputs]
        rows = [
            [
                sum((p * k[j] for p, k in zip(row, kernel, strict=True)), Fraction(0))
                for j in range(len(after.outputs))
            ]
            for row in self.rows
        ]
        return Channel(rows, inputs=self.inputs, outputs=after.outputs)

    def product(self, second: Channel) -> Channel:
        """Run both channels independently on the same input; the answer is the pair of answers."""
        if set(second.inputs) != set(self.inputs):
            raise refusals.INPUTS_DIFFER()
        rows = [[p * q for p, q in product(self.row(x), second.row(x))] for x in self.inputs]
        return Channel(rows, inputs=self.inputs, outputs=product(self.outputs, second.outputs))

    def epsilon(self, delta: Number = 0, *, pairs: Pairs | None = None) -> float:
        """The least ε with (ε, δ)-DP, rounded up; infinite where none is."""
        return max(
            0.0, *(approx_max_divergence(p, q, delta, rounding="up") for p, q in self._laws(pairs))
        )

    def delta(self, epsilon: Number, *, pairs: Pairs | None = None) -> float:
        """The least δ with (ε, δ)-DP, rounded up."""
        e = check_epsilon(epsilon)
        return max(hockey_stick(p, q, e, rounding="up") for p, q in self._laws(pairs))

    def renyi(self, order: Number, *, pairs: Pairs | None = None) -> float:
        """The largest Rényi divergence of the order, rounded up."""
        return max(renyi(p, q, order, rounding="up") for p, q in self._laws(pairs))

    def losses(self, x: Hashable, neighbour: Hashable) -> tuple[LossAtom, ...]:
        """The law of the privacy loss of x against a neighbour, the largest loss first; +∞ where
        only x can give the answer.
        """
        atoms = (step for step in steps(self.row(x), self.row(neighbour)) if step.p)
        return tuple(LossAtom(s.p, None) if s.infinite else LossAtom(s.p, s.ratio) for s in atoms)

    def attacker(self, x: Hashable, neighbour: Hashable) -> Attacker:
        """The best test of x against a neighbour."""
        return Attacker(self.outputs, self.row(x), self.row(neighbour))

    def density_ratio_holds(
        self, epsilon: Number, delta: Number = 0, *, pairs: Pairs | None = None
    ) -> bool:
        """Decide for certain whether p(y|x) ≤ e^ε·p(y|x′) for every answer: this is ε-DP. Only for
        δ = 0.
        """
        if probability(delta, "delta"):
            raise refusals.DELTA_AT_EACH_ANSWER(delta=delta)
        e = check_epsilon(epsilon)
        return not any(
            b == 0 < a or (b > 0 and exceeds(a / b, e))
            for p, q in self._laws(pairs)
            for a, b in zip(p, q, strict=True)
        )

    def cdf_ratio(self, *, pairs: Pairs | None = None) -> float:
        """The largest |ln F(y|x)/F(y|x′)|, with F summed in the order of the outputs: a lower bound
        on ε, rounded down, and no upper bound.
        """
        prefixes = ((tuple(accumulate(p)), tuple(accumulate(q))) for p, q in self._laws(pairs))
        largest = Fraction(1)
        for F, G in prefixes:
            if any(b == 0 < a for a, b in zip(F, G, strict=True)):
                return math.inf
            largest = max(largest, *(a / b for a, b in zip(F, G, strict=True) if b))
        return evaluate(lambda: ball(largest).log(), "down")

    def marginal(self, prior: Law) -> dict[Hashable, Fraction]:
        """The probability of each answer under a prior over inputs."""
        held = law(prior, self.inputs, "prior")
        return {
            y: sum((w * row[j] for w, row in zip(held, self.rows, strict=True)), Fraction(0))
            for j, y in enumerate(self.outputs)
        }

    def posterior(self, prior: Law, y: Hashable) -> dict[Hashable, Fraction]:
        """The exact posterior over inputs after the answer y, by Bayes' rule."""
        held, j = law(prior, self.inputs, "prior"), _at(self.outputs, y, "output")
        joint = [w * row[j] for w, row in zip(held, self.rows, strict=True)]
        total = sum(joint, Fraction(0))
        if not total:
            possible = next(
                answer
                for answer, column in zip(self.outputs, zip(*self.rows, strict=True), strict=True)
                if any(w and p for w, p in zip(held, column, strict=True))
            )
            raise refusals.ANSWER_IMPOSSIBLE(answer=y, possible=possible)
        return {x: mass / total for x, mass in zip(self.inputs, joint, strict=True)}

    def _laws(self, pairs: Pairs | None) -> Iterator[tuple[Weights, Weights]]:
        """The two laws of each ordered pair of different inputs, at least one pair."""
        chosen = (
            permutations(self.inputs, 2)
            if pairs is None
            else ((x, y) for a, b in pairs for x, y in ((a, b), (b, a)) if a != b)
        )
        ordered = list(dict.fromkeys(chosen))
        if not ordered:
            raise refusals.NO_PAIR_OF_INPUTS()
        rows = dict(zip(self.inputs, self.rows, strict=True))
        return ((rows.get(x) or self.row(x), rows.get(y) or self.row(y)) for x, y in ordered)


def belief_shift(prior: Number, posterior: Number, *, rounding: Rounding = "nearest") -> float:
    """|ln(posterior/prior)|, how far an answer moves a belief up *or down*; ε-DP keeps it at ε or
    less. Infinite where certainty arises or is lost.
    """
    before = probability(prior, "prior", one=True)
    after = probability(posterior, "posterior", one=True)
    if not before or not after:
        return 0.0 if before == after else math.inf
    ratio = max(before / after, after / before)
    return evaluate(lambda: ball(ratio).log(), rounding)


def _labels(names: Iterable[Hashable] | None, count: int, what: str) -> tuple[Hashable, ...]:
    labels = tuple(range(count)) if names is None else tuple(names)
    if len(labels) != count or len(set(labels)) != count:
        raise refusals.LABELS_NOT_ONE_EACH(found=len(labels), what=what, count=count)
    return labels


def _at(labels: tuple[Hashable, ...], label: Hashable, what: str) -> int:
    if label not in labels:
        raise refusals.UNKNOWN_LABEL(
            what=what, label=label, names=", ".join(map(repr, labels[:5])), known=labels[0]
        )
    return labels.index(label)
