"""Sensitivity sampled over random neighbours: a number for any function, and a promise for most
pairs only.

*Steps*      m pairs of neighbours from an oracle; how far the function moves between the two; the
             k-th smallest of the m moves, in each norm.
*Promise*    with probability at least 1 − γ over the sampled pairs and one new pair from the same
             oracle, the new pair moves no further, in a norm chosen beforehand. So every promise
             made with it is `RandomDP(…, gamma=γ, over=…)`: it is silent about every dataset the
             oracle does not draw, and about a share γ of those that it does (Rubinstein & Aldà
             2017). No ledger takes it.
*Functions*  a fit that returns a function is sampled where it will be used: on the lattice of a
             Bernstein release, by `on(points)`.
*Proof*      docs/proofs/sampled-sensitivity.md, sampling_plan.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import root_up
from ..exact.numbers import is_whole, text
from ..guarantees import Guarantee, RandomDP, Relation
from ..guarantees.guarantee import relation_of
from ..keywords import spell_out
from . import sensitivity_refusals as refusals
from .kinds import Norms, Sensitivity, norm_of
from .neighbours import Dataset, Oracle, pair
from .progress import Bar
from .sampling_plan import PlanSizes, SamplingPlan
from .sampling_plan import plan as planned

Fit = Callable[[Dataset], Any]
"""A statistic: of a dataset a number, an array, or a vectorised function."""

NUMBERS = 1 << 22
"""The most numbers in a batch of datasets."""


class PlannedSensitivity(Sensitivity):
    """A sensitivity that follows a sampling plan."""

    __slots__ = ()

    plan: SamplingPlan

    @property
    def gamma(self) -> Fraction:
        """The share of pairs without a promise."""
        return self.plan.gamma

    @property
    def m(self) -> int:
        """The number of sampled pairs."""
        return self.plan.m

    @property
    def k(self) -> int:
        """The rank of the sampled move that serves as the sensitivity."""
        return self.plan.k


@dataclass(frozen=True, slots=True, repr=False)
class Sampled(PlannedSensitivity, Norms):
    """The k-th smallest of m sampled moves, in three norms; `over` names the oracle. Choose the
    norm before you look: γ is for one of them.
    """

    l1: Fraction
    l2_squared: Fraction
    sup: Fraction
    shape: tuple[int, ...]
    plan: SamplingPlan
    n: int
    over: str
    relation: Relation | None

    @property
    def value(self) -> Fraction:
        """The move of a single value: the largest coordinate's."""
        return self.sup

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def moves(self, norm: int | str, size: int = 1) -> Fraction:
        """Return the move sampled in that norm: γ does not cover bounds from other norms."""
        return {"1": self.l1, "2": root_up(self.l2_squared), "inf": self.sup}[norm_of(norm)]

    def squared(self, size: int = 1) -> Fraction:
        """Return the squared L2 move as sampled."""
        return self.l2_squared

    def random(self, promise: Guarantee) -> RandomDP:
        """Return the RandomDP promise of noise that is scaled to this sensitivity."""
        return RandomDP(promise, gamma=self.gamma, over=self.over)

    def __repr__(self) -> str:
        return (
            f"Sampled({float(self.sup):.6g}, gamma={text(self.gamma)}, m={self.m}, "
            f"k={self.k}, over={self.over!r})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class SampledFunction(PlannedSensitivity):
    """A plan to sample the sensitivity of a fit that returns functions, at points chosen later."""

    fit: Fit
    oracle: Oracle
    plan: SamplingPlan
    n: int
    over: str
    relation: Relation | None
    apart: bool = field(default=False)

    def on(self, points: NDArray[np.float64]) -> Sampled:
        """Sample the sensitivity of the values at these points: shape (n,), or (n, d) in d
        dimensions. Every call draws new pairs.
        """
        moves = _moves(
            lambda data: self.fit(data)(points),
            self.oracle,
            self.n,
            self.plan.m,
            self.relation or "replace",
            apart=self.apart,
        )
        return _sampled(moves, self.plan, self.n, self.over, self.relation)

    def __repr__(self) -> str:
        return (
            f"SampledFunction(gamma={text(self.gamma)}, m={self.m}, k={self.k}, over={self.over!r})"
        )


@spell_out(PlanSizes)
def sample_sensitivity(
    fit: Fit,
    *,
    oracle: Oracle,
    n: int,
    relation: str = "replace",
    over: str | None = None,
    plan: str = "order",
    batched: bool = False,
    apart: bool = False,
    **sizes: Unpack[PlanSizes],
) -> Sampled | SampledFunction:
    """Sample the sensitivity of `fit` over random pairs of neighbours of n records, drawn by
    `oracle`. The result holds for most pairs only.

    `fit(dataset)` returns a number, an array, or a vectorised function. With `batched` it takes
    many datasets at once, stacked along a first axis, and returns as many numbers or arrays. `over`
    names the distribution in the promise; the default is the oracle's own name.
    """
    chosen = planned(kind=plan, **sizes)
    related = relation_of(relation) or "replace"
    if not is_whole(n):
        raise refusals.RECORDS_BELOW_ONE(n=n)
    named = (
        over
        if over is not None
        else f"{n} records of {getattr(oracle, '__qualname__', type(oracle).__name__)}"
    )
    if not batched and callable(fit(pair(oracle, n, related, apart=apart)[0])):
        return SampledFunction(fit, oracle, chosen, n, named, related, apart)
    return _sampled(
        _moves(fit, oracle, n, chosen.m, related, apart=apart, batched=batched),
        chosen,
        n,
        named,
        related,
    )


def _moves(
    fit: Callable[[Dataset], object],
    oracle: Oracle,
    n: int,
    m: int,
    relation: str,
    *,
    apart: bool,
    batched: bool = False,
) -> list[NDArray[np.float64]]:
    """Compute f(D) − f(D') for m pairs."""
    moves: list[NDArray[np.float64]] = []
    with Bar("sampling sensitivity", total=m) as bar:
        while len(moves) < m:
            first = pair(oracle, n, relation, apart=apart)
            if not batched:
                moves.append(_number(fit(first[0])) - _number(fit(first[1])))
                bar.add()
                continue
            some = min(m - len(moves), max(1, NUMBERS // max(1, np.size(first[0]))))
            pairs = [first, *(pair(oracle, n, relation, apart=apart) for _ in range(some - 1))]
            a, b = (
                _number(fit(np.stack([np.asarray(datasets[side]) for datasets in pairs])))
                for side in (0, 1)
            )
            if len(a) != some or a.shape != b.shape:
                raise refusals.BATCHED_FIT_OF_OTHER_LENGTH()
            moves.extend(a - b)
            bar.add(some)
    return moves


def _number(value: object) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if not np.isfinite(numbers).all():
        raise refusals.FIT_NOT_FINITE()
    return numbers


def _sampled(
    moves: list[NDArray[np.float64]],
    plan: SamplingPlan,
    n: int,
    over: str,
    relation: Relation | None,
) -> Sampled:
    if len({move.shape for move in moves}) != 1:
        raise refusals.FIT_OF_CHANGING_SHAPE()
    table = np.abs(np.stack(moves)).reshape(len(moves), -1)
    if not table.size:
        raise refusals.FIT_EMPTY()
    up = 1 + Fraction(table.shape[1] + 8, 2**52)  # the sums below err by less, relatively
    rank = plan.k - 1
    l1, square, sup = (
        float(np.sort(norm)[rank])
        for norm in (table.sum(axis=1), np.square(table).sum(axis=1), table.max(axis=1))
    )
    if not sup > 1e-150:
        raise refusals.FIT_DOES_NOT_MOVE(k=plan.k, m=plan.m)
    if not square < math.inf:
        raise refusals.FIT_MOVES_TOO_FAR(m=plan.m)
    return Sampled(
        Fraction(l1) * up,
        Fraction(square) * up,
        Fraction(sup) * up,
        moves[0].shape,
        plan,
        n,
        over,
        relation,
    )
