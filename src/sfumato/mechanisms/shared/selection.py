"""The base class of mechanisms that choose among candidates: a record of public parameters, and
`choose`, where the scores, which are data, enter.

Scores are exact numbers (int, Fraction, Decimal). Floats, whose differences are not exact, need a
public grid, to which they are rounded, halves upward: a move of Δ becomes at most ⌈Δ/g⌉ steps
(docs/proofs/grid.md). `sensitivity` is the largest move of any candidate's score between
neighbours: the maximum over candidates too. A score is monotone if between neighbours all
candidates' scores move the same way, as counts do under add-remove; then half the noise is enough.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import ball, evaluate
from ...exact.numbers import Number, exact, positive, power_of_two, probability
from ...guarantees import Relation
from ...guarantees.guarantee import relation_of, unit_of
from ...noise.bits import SYSTEM, Bits
from ...noise.choice import Scores
from ...records import LAST, PARTIAL, record
from ..stated.audit_example import AuditExample
from ..stated.stated_laws import FiniteLaws
from . import mechanism_refusals as refusals
from .additive import check_grid
from .grid import finite_floats, snap_each
from .mechanism import Input, InputPair, Mechanism

C = TypeVar("C")
"""A candidate."""

Dataset = Any
"""A dataset of any kind that the score accepts."""


def check_candidates(value: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Check distinct public candidates; None if indices are enough."""
    if value is None:
        return None
    candidates = tuple(value)
    if not candidates or len(set(candidates)) != len(candidates):
        raise refusals.CANDIDATES_NOT_DISTINCT(candidates=len(candidates))
    return candidates


@record(kw_only=True)
class ScoredChoice(Mechanism):
    """The parameters of a choice among scored candidates."""

    sensitivity: Fraction = field(converter=positive)
    epsilon: Fraction = field(converter=positive)
    monotone: bool = False
    grid: Fraction | None = field(default=None, converter=check_grid)
    candidates: tuple[Hashable, ...] | None = field(
        default=None, converter=check_candidates, metadata=LAST
    )
    relation: Relation | None = field(default=None, converter=relation_of, metadata=LAST)
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)


class Selection(ScoredChoice):
    """A mechanism that chooses a candidate whose score is nearly the largest."""

    __slots__ = ()

    @abstractmethod
    def probabilities(self, scores: Sequence[Number]) -> NDArray[np.float64]:
        """The exact law of the choice at these scores, each to the nearest double."""

    @abstractmethod
    def _index(self, scores: Scores, bits: Bits) -> int:
        """One exact draw."""

    def choose(self, scores: Sequence[Number], *, bits: Bits = SYSTEM) -> Hashable:
        """Choose a candidate: return its index, or the candidate itself if the record names
        candidates.

        >>> best = mech.Exponential(sensitivity=1, epsilon=1, candidates=["tea", "coffee"])
        >>> best.perturb([3, 90])
        'coffee'
        """
        index = self._index(self._exact(scores), bits)
        return index if self.candidates is None else self.candidates[index]

    perturb = choose

    @property
    def rate(self) -> Fraction:
        """ε/(2Δ), or ε/Δ for monotone scores: probabilities fall as e^(−rate·regret), in grid steps
        where there is a grid.
        """
        moves = (
            self.sensitivity
            if self.grid is None
            else Fraction(math.ceil(self.sensitivity / self.grid))
        )
        return self.epsilon / (moves if self.monotone else 2 * moves)

    def regret(self, confidence: Number = 0.95, *, count: int) -> float:
        """How far below the best score the chosen one may lie, with this probability, among `count`
        candidates: ln(count/β)/rate, rounded up.
        """
        return self._regret(Fraction(check_count(count)), confidence)

    def _regret(self, odds: Fraction, confidence: Number) -> float:
        """ln(odds/β)/rate, and one step more on a grid: the score chosen and the best one are
        rounded by half a step each.
        """
        missing = 1 - probability(confidence, "confidence")
        step, rounding = (Fraction(1), 0) if self.grid is None else (self.grid, 1)
        return evaluate(
            lambda: ((ball(odds) / ball(missing)).log() / ball(self.rate) + rounding) * ball(step),
            "up",
        )

    def _exact(self, scores: Sequence[Number]) -> Scores:
        values = _array(scores)
        if values.ndim != 1 or values.size == 0:
            raise refusals.SCORES_OF_OTHER_SHAPE(shape=values.shape)
        if self.candidates is not None and len(values) != len(self.candidates):
            raise refusals.SCORES_UNLIKE_CANDIDATES(
                scores=len(values), candidates=len(self.candidates)
            )
        if values.dtype.kind == "i" and self.grid is None:
            return values.astype(np.int64)
        if values.dtype.kind == "f":
            if self.grid is None:
                raise refusals.FLOAT_SCORES_WITHOUT_GRID(mechanism=type(self).__name__)
            return snap_each(finite_floats(values), power_of_two(self.grid, "grid"))
        plain = values.tolist()
        if any(
            not isinstance(s, int | Fraction | Decimal)
            or isinstance(s, bool)
            or (isinstance(s, Decimal) and not s.is_finite())
            for s in plain
        ):
            raise refusals.SCORES_NOT_EXACT(type=values.dtype)
        rational = tuple(Fraction(s) for s in plain)
        return (
            rational
            if self.grid is None
            else tuple(Fraction(math.floor(s / self.grid + Fraction(1, 2))) for s in rational)
        )

    why_no_loss_pair = "the law depends on all scores; the pair of ε dominates every choice"

    def audit_pairs(self) -> list[InputPair]:
        return score_pairs(self.sensitivity, self.grid, self.candidates, monotone=self.monotone)

    def output_laws(self, x: Input, y: Input) -> FiniteLaws:
        names = range(len(x)) if self.candidates is None else self.candidates
        law_x, law_y = (
            dict(zip(names, self.probabilities(s).tolist(), strict=True)) for s in (x, y)
        )
        return FiniteLaws.between(law_x, law_y)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        build: Callable[..., Selection] = cls
        return [
            AuditExample(cls.__name__, lambda e: build(sensitivity=1, epsilon=e), at_once=False)
        ]


def score_pairs(
    sensitivity: Fraction,
    grid: Fraction | None,
    candidates: tuple[Hashable, ...] | None,
    *,
    monotone: bool,
) -> list[InputPair]:
    """List neighbouring scores: one moves against all others, or all move one way if monotone."""
    step = sensitivity if grid is None else grid * math.floor(sensitivity / grid)
    k = len(candidates) if candidates is not None else 4
    nothing = 0 * step
    up, down = step, (0 if monotone else -step)
    pairs: list[InputPair] = [
        ([nothing] * k, [up] + [down] * (k - 1)),
        ([nothing] * k, [nothing] + [up] * (k - 1)),
        ([nothing] * k, [up] + [nothing] * (k - 1)),
    ]
    if k > 1:
        rest = [nothing] * (k - 2)
        pairs += [
            ([step, nothing, *rest], [step if monotone else nothing, step, *rest]),
            ([3 * step, nothing, *rest], [3 * step + down] + [up] * (k - 1)),
        ]
    return pairs


def _array(scores: object) -> NDArray[np.generic]:
    """Return the scores as an array. NumPy would turn integers beyond 64 bits into floats if a
    score is negative or a float: these stay Python integers.
    """
    if isinstance(scores, np.ndarray):
        return scores
    # a dictionary would pass its keys for scores, and a set has no order
    if not isinstance(scores, Iterable) or isinstance(scores, Mapping | Set):
        raise refusals.SCORES_WITHOUT_ORDER(type=type(scores).__name__)
    plain = list(scores)
    if any(isinstance(s, list | tuple | str | bytes | np.ndarray) for s in plain):
        raise refusals.SCORES_NOT_NUMBERS()
    integers = [s for s in plain if isinstance(s, int) and not isinstance(s, bool)]
    if integers and any(abs(s) >= 2**53 for s in integers):
        try:
            return (
                np.array(plain, dtype=np.int64)
                if len(integers) == len(plain)
                else np.array(plain, dtype=object)
            )
        except OverflowError:
            return np.array(plain, dtype=object)
    return np.array(plain)


def check_count(value: object, name: str = "count") -> int:
    """Check a number of candidates."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise refusals.COUNT_BELOW_ONE(name=name, value=value)
    return int(value)


def check_prior_weights(
    value: Sequence[Number] | None, record: ScoredChoice = PARTIAL
) -> tuple[Fraction, ...] | None:
    """Check positive public weights, one for each candidate."""
    if value is None:
        return None
    prior = tuple(positive(p, "prior") for p in value)
    candidates = record.candidates
    if candidates is not None and len(prior) != len(candidates):
        raise refusals.PRIOR_UNLIKE_CANDIDATES(weights=len(prior), candidates=len(candidates))
    return prior


def score_sensitivity(
    score: Callable[[Dataset, C], Number],
    datasets: Iterable[Dataset],
    candidates: Sequence[C],
    are_neighbours: Callable[[Dataset, Dataset], bool],
) -> Fraction:
    """The largest move of any candidate's score between neighbours, by brute force over a finite
    world (the maximum over candidates too).
    """
    world = [x if isinstance(x, Hashable) else tuple(x) for x in datasets]
    scores = [[exact(score(x, c), "score") for c in candidates] for x in world]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(world)), 2)
        if are_neighbours(world[i], world[j]) and world[i] != world[j]
    ]
    if not pairs:
        raise refusals.WORLD_WITHOUT_NEIGHBOURS(datasets=len(world))
    return max(abs(a - b) for i, j in pairs for a, b in zip(scores[i], scores[j], strict=True))
