"""Many linear queries over one or two ordered columns, through a strategy made for them.

*Law*        An integer matrix A of the counts x of public cells, by `choose_strategy`: y = A·x + z,
             each z a draw of `Laplace` or `Gaussian` noise by itself. The answers are W·A⁺·y, the
             least squares fit: post-processing.
*Promise*    A unit moves one cell by 1 under add-remove, two under replace (or cells by
             `sensitivity` in total), so A·x by the length of a column or of the difference of two:
             integers, computed exactly. The noise keeps its promise for that length.
*Error*      Query w has the weights v = (A⁺)ᵀw on the draws, known before data: variance |v|²·Var,
             an exact law, and an interval by it (`answer_errors`).
*Choice*     The least weighted sum of variances over identity, trees, square root and an optimised
             matrix, for either law. `ratio` compares with a lower bound over all strategies.
*Proof*      docs/proofs/linear-queries.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import ArrayLike, NDArray

from ...exact.balls import sqrt_up
from ...exact.numbers import Number, exact, is_whole, probability
from ...guarantees import Guarantee, Relation
from ...guarantees.guarantee import NoiseTarget, unit_of
from ...keywords import spell_out
from ...noise.bits import SYSTEM, Bits
from ...noise.law import Integers
from ...records import LAST, record
from ...templates.summary import MOST_ROWS, Summarized, Summary
from ..gaussian import Gaussian
from ..laplace import Laplace
from ..shared import grid as grids
from ..shared import mechanism_refusals as refusals
from ..shared.better_law import Norm, fit_noise, norms_for
from ..shared.calibrated import choose_way, squared_mu
from ..shared.mechanism import Mechanism, Neighbours, require_relation
from ..stated.audit_example import AuditExample, fixed
from .answer_errors import answer_error
from .axis_strategies import (
    AxisStrategy,
    measure_axes,
    moved_by_unit,
    solve_axes,
    spread_axes,
)
from .choose_strategy import ChosenStrategies, choose_strategy
from .query_blocks import Doubles
from .workloads import Workload, WorkloadTerm, matrix

Query = ArrayLike | slice | tuple[slice, ...]
"""A linear query: a number for each cell, or a slice of the cells of each axis."""

MOST_ANSWERS = 10_000_000
"""The most answers that are written out."""


@record(kw_only=True, init=False)
class LinearQueries(Mechanism):
    """Answers to all queries of a workload, from one measurement of the best strategy found."""

    workload: Workload
    sensitivity: int
    noise: Laplace | Gaussian
    relation: Relation | None = field(default=None, metadata=LAST)
    unit: str | None = field(default=None, metadata=LAST)
    choice: ChosenStrategies = field(repr=False, eq=False)

    @spell_out(Neighbours)
    def __init__(
        self,
        workload: Workload | ArrayLike,
        *,
        sensitivity: Number = 1,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        **neighbours: Unpack[Neighbours],
    ) -> None:
        example = "LinearQueries(mech.prefixes(100), epsilon=1, relation='add-remove')"
        queries = workload if isinstance(workload, Workload) else matrix(workload)
        way = choose_way(example, {"epsilon": epsilon, "rho": rho, "mu": mu}, delta=delta)
        if way.name != "epsilon" and delta is not None:
            raise refusals.EPSILON_AND_DELTA_APART(mechanism="LinearQueries", example=example)
        relation = require_relation(
            neighbours.get("relation"), refusals.LINEAR_QUERIES_WITHOUT_RELATION
        )
        most = exact(sensitivity, "sensitivity")
        if not is_whole(int(most) if most.denominator == 1 else None, 1, 1 << 40):
            raise refusals.LINEAR_SENSITIVITY_NOT_WHOLE(sensitivity=sensitivity)
        unit = unit_of(neighbours.get("unit"))
        target = NoiseTarget(
            epsilon=epsilon,
            delta=delta,
            mu_squared=None if way.name == "epsilon" else squared_mu(way),
        )
        noise, choice = min(
            (_fit(queries, norm, target, int(most), relation, unit) for norm in norms_for(target)),
            key=lambda fitted: fitted[0].variance * fitted[1].total,
        )
        self.__attrs_init__(
            workload=queries,
            sensitivity=int(most),
            noise=noise,
            relation=relation,
            unit=unit,
            choice=choice,
        )

    @property
    def strategy(self) -> str:
        """The name of the strategy, for two axes that of each."""
        return " × ".join(axis.name for axis in self.choice.axes)

    @property
    def axes(self) -> tuple[AxisStrategy, ...]:
        """The strategy of each axis."""
        return self.choice.axes

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return self.noise.promises

    def perturb(self, counts: object, *, bits: Bits = SYSTEM) -> PrivateLinearQueries:
        """Measure the strategy on the counts of all cells, add noise, and fit the cells."""
        noisy = np.asarray(self.noise.perturb(self.measure(counts), bits=bits))
        cells = solve_axes(self.axes, noisy.astype(np.float64))
        return PrivateLinearQueries(self, cells)

    def measure(self, counts: object) -> Integers:
        """The exact measurements A·x. Secret: this is data, not an answer."""
        cells = grids.whole_numbers(counts)
        if cells is None or cells.shape != self.workload.shape:
            shape = type(counts).__name__ if cells is None else cells.shape
            raise refusals.COUNTS_OF_OTHER_SHAPE(given=shape, shape=self.workload.shape)
        return measure_axes(self.axes, cells)

    def variance(self, query: Query) -> float:
        """The variance of the answer to a query that the workload spans, but for rounding in
        double precision.
        """
        return self.noise.variance * float((self._weights(query) ** 2).sum())

    def error(self, query: Query, confidence: Number = 0.95) -> float:
        """A bound on the noise of the answer to a query that holds with this probability."""
        missing = 1 - probability(confidence, "confidence", zero=False)
        return answer_error(self.noise.law, self._weights(query).ravel(), missing)

    def variances(self, term: int = 0) -> Doubles:
        """The variances of all queries of a term of the workload."""
        queries = self._term(term)
        if queries.queries > MOST_ANSWERS:
            raise refusals.TOO_MANY_ANSWERS(queries=queries.queries, most=MOST_ANSWERS)
        factors = [
            block.variances(axis.spread)
            for axis, block in zip(self.axes, queries.blocks, strict=True)
        ]
        product = factors[0] if len(factors) == 1 else np.multiply.outer(*factors)
        return np.asarray(self.noise.variance * product)

    @property
    def rmse(self) -> float:
        """The root of the mean variance of all queries, weighted as the workload weighs them."""
        mean = self.choice.total / float(self.workload.weighted_queries)
        return math.sqrt(self.noise.variance * mean)

    @property
    def bound(self) -> float | None:
        """A lower bound of `rmse`: no strategy with noise of this law has less at this price. None
        under replace, where the bound that is known does not hold.
        """
        if self.relation != "add-remove":
            return None
        l1, square = moved_by_unit(self.axes, self.relation)
        moved = float(l1) ** 2 if isinstance(self.noise, Laplace) else float(square)
        mean = self.choice.bound / moved / float(self.workload.weighted_queries)
        return math.sqrt(self.noise.variance * mean)

    @property
    def ratio(self) -> float | None:
        """`rmse` over its lower bound. For Laplace noise the bound is that of the L2 norm, and may
        be out of reach.
        """
        bound = self.bound
        return self.rmse / bound if bound else None

    def __repr__(self) -> str:
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return (
            f"LinearQueries({self.workload!r}, strategy={self.strategy!r}, noise={self.noise!r}, "
            f"relation={self.relation!r}{unit})"
        )

    why_no_law = "a unit changes many measurements, and the published answers combine them"
    why_no_loss_pair = "the pair of the noise's promise"
    why_not_restored = "the ledger stores the workload as text, and not its strategy"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        pairs = fixed(
            ([0] * 4, [1, 0, 0, 0]),
            ([0] * 4, [0, 1, 0, 0]),
            ([0] * 4, [0, 0, 0, 1]),
            ([5, 5, 5, 5], [5, 6, 5, 5]),
            ([9, 0, 0, 9], [9, 0, 1, 9]),
        )

        def build(epsilon: float) -> LinearQueries:
            workload = matrix([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
            return cls(workload, epsilon=epsilon, relation="add-remove")

        return [AuditExample("LinearQueries", build, pairs)]

    def draw_once(self, x: object) -> Doubles:
        return np.asarray(self.perturb(x).answers)

    def draw_many(self, x: object, n: int) -> NDArray[np.generic]:
        """Draw the noisy measurements. The answers are a public function of them, so an audit of
        these draws proves no more than is true of the answers.
        """
        return np.asarray(self.noise.perturb(np.tile(self.measure(x).ravel(), (n, 1))))

    def _term(self, term: int) -> WorkloadTerm:
        if not is_whole(term, 0, len(self.workload.terms) - 1):
            raise refusals.NO_SUCH_TERM(term=term, terms=len(self.workload.terms))
        return self.workload.terms[term]

    def _weights(self, query: Query) -> Doubles:
        """Return the weights of the draws in the answer to a query."""
        cells = query_array(query, self.workload.shape)
        for place, axis in enumerate(self.axes):
            if not axis.spans(np.moveaxis(cells, place, -1).reshape(-1, axis.cells)):
                raise refusals.QUERY_OUTSIDE_WORKLOAD(workload=self.workload)
        return spread_axes(self.axes, cells)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateLinearQueries(Summarized):
    """The fitted cells, from which all answers follow. They are unbiased, not whole, possibly below
    0, and agree with each other.
    """

    mechanism: LinearQueries
    cells: Doubles

    @property
    def promise(self) -> Guarantee:
        return self.mechanism.promise

    @property
    def answers(self) -> Doubles:
        """The answers to the queries of the first term of the workload."""
        return self.term(0)

    def term(self, term: int) -> Doubles:
        """The answers to the queries of a term: for two axes, a row for each query of the first."""
        queries = self.mechanism._term(term)
        if queries.queries > MOST_ANSWERS:
            raise refusals.TOO_MANY_ANSWERS(queries=queries.queries, most=MOST_ANSWERS)
        values = self.cells
        for place, block in enumerate(queries.blocks):
            values = np.moveaxis(block.answers(np.moveaxis(values, place, -1)), -1, place)
        return values

    def answer(self, query: Query) -> float:
        """The answer to a query: a number for each cell, or a slice of the cells of each axis."""
        self.mechanism._weights(query)
        return float((query_array(query, self.cells.shape) * self.cells).sum())

    def error(self, query: Query, confidence: Number = 0.95) -> float:
        """A bound on the noise of the answer to a query that holds with this probability."""
        return self.mechanism.error(query, confidence)

    def rising(self) -> Doubles:
        """Cumulative counts that never fall and are not below 0: the nearest to the answers, by
        weighted least squares. No longer unbiased. Of one axis.
        """
        if self.cells.ndim != 1:
            raise refusals.RISING_OF_TWO_AXES()
        return rising(np.cumsum(self.cells))

    def _summary(self) -> Summary:
        flat = self.cells.ravel()[:MOST_ROWS].tolist()
        places = [np.unravel_index(i, self.cells.shape) for i in range(len(flat))]
        rows = [
            (", ".join(str(int(k)) for k in place), f"{value:.6g}")
            for place, value in zip(places, flat, strict=True)
        ]
        return Summary(
            title=f"private linear queries over {self.cells.size} cells · strategy "
            f"{self.mechanism.strategy} · a query errs by {self.mechanism.rmse:.3g} "
            f"(root mean square) · {self.promise.numbers_text}",
            heads=("cell", "count"),
            rows=rows,
            hidden=self.cells.size - len(flat),
            numbers=frozenset([1]),
            notes=["answers has all queries; answer(slice(a, b)) adds cells a, …, b − 1"],
        )


@lru_cache(maxsize=64)
def _fit(
    workload: Workload,
    norm: Norm,
    target: NoiseTarget,
    most: int,
    relation: Relation,
    unit: str | None,
) -> tuple[Laplace | Gaussian, ChosenStrategies]:
    """Return the noise of one norm that keeps a promise, and the strategy that it is added to."""
    choice = choose_strategy(workload, norm, relation)
    l1, square = moved_by_unit(choice.axes, relation)
    moved = Fraction(most * l1) if norm == "L1" else sqrt_up(Fraction(most**2 * square))
    return fit_noise(norm, target, moved, relation=relation, unit=unit), choice


def rising(sums: Doubles) -> Doubles:
    """Return the nearest sums, in the sum of squares, that never fall and are not below 0."""
    from scipy.optimize import isotonic_regression

    return np.maximum(np.asarray(isotonic_regression(sums).x), 0.0)


def query_array(query: Query, shape: tuple[int, ...]) -> Doubles:
    """Write a query as a number for each cell."""
    slices = (query,) if isinstance(query, slice) else query
    if isinstance(slices, tuple) and slices and all(isinstance(part, slice) for part in slices):
        array = np.zeros(shape)
        if len(slices) == len(shape):
            array[slices] = 1.0
        if not array.any():
            raise refusals.QUERY_OF_OTHER_SHAPE(given=query, shape=shape)
        return array
    array = np.asarray(query, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise refusals.QUERY_OF_OTHER_SHAPE(given=array.shape, shape=shape)
    return array
