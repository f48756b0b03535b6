"""Hierarchical histogram: counts of cells and of ever larger blocks of cells, for range queries.

*Law*        A tree over the cells of one column, `branching` children each: the counts of all
             blocks of b, b², … cells beside the cells themselves, each with the same noise. The
             tree is then made consistent: the least-squares cells, and blocks that are their sums.
*Promise*    A person is in one block of each of h levels: L1 = L2² = h under add-remove. Under
             replace the whole stays as it is: L1 = L2² = 2(h − 1).
*Error*      A range with indicator w has variance Var·Σ_ℓ |P_ℓ w|²/λ_ℓ, with λ_ℓ = 1 + b + … + b^ℓ
             and P_ℓ the averages over blocks of level ℓ less those of the next (Hay et al. 2010, in
             closed form); without consistency, Var times the number of blocks that make up the
             range.
*Proof*      docs/proofs/hierarchy.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, is_whole, probability, width_text
from ..guarantees import Guarantee, Relation
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..records import record
from ..templates.summary import MOST_ROWS, Summarized, Summary
from .gaussian import Gaussian
from .histogram import Histogram
from .laplace import Laplace
from .shared import mechanism_refusals as refusals
from .shared.bins import Axis, BinOptions, EdgeLists, Edges, Outside
from .shared.counting import epsilon_of, laplace_or_gaussian
from .shared.mechanism import Mechanism, PublicFields, require_relation
from .stated.audit_example import GROWN, AuditExample

R = TypeVar("R", np.int64, np.float64)


@record(kw_only=True, init=False)
class Hierarchy(Mechanism):
    """Counts of cells and of blocks of cells; the branching that serves ranges best, unless one is
    given.
    """

    axis: Axis
    branching: int
    noise: Laplace | Gaussian
    outside: Outside
    relation: Relation
    unit: str | None

    @spell_out(BinOptions, outside="clip")
    def __init__(
        self,
        *,
        edges: EdgeLists | None = None,
        categories: Iterable[Hashable] | None = None,
        epsilon: Number,
        delta: Number | None = None,
        branching: int | None = None,
        **options: Unpack[BinOptions],
    ) -> None:
        relation = require_relation(options.get("relation"), refusals.HIERARCHY_WITHOUT_RELATION)
        flat = Histogram(edges=edges, categories=categories, epsilon=epsilon, **options)
        if len(flat.axes) != 1:
            raise refusals.HIERARCHY_OF_SEVERAL_AXES(axes=len(flat.axes))
        if flat.size < 2:
            raise refusals.HIERARCHY_OF_ONE_CELL()
        cells = flat.size
        if branching is None:
            branching = best_branching(cells, epsilon=epsilon, delta=delta, relation=relation)
        if not is_whole(branching, 2, cells):
            raise refusals.BRANCHING_OUT_OF_RANGE(branching=branching, cells=cells)
        self.__attrs_init__(
            axis=flat.axes[0],
            branching=branching,
            noise=_noise(cells, branching, epsilon, delta, relation, flat.unit),
            outside=flat.outside,
            relation=relation,
            unit=flat.unit,
        )

    @property
    def cells(self) -> int:
        return len(self.axis)

    @property
    def levels(self) -> int:
        """The number of levels: the cells, blocks of b, b², … cells, and the total."""
        return height(self.cells, self.branching)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return self.noise.promises

    def perturb(self, data: Iterable[object], *, bits: Bits = SYSTEM) -> PrivateHierarchy:
        """Count all blocks, add noise, and fit consistent cells to them."""
        tree = self._tree(data)
        noisy = self.noise.perturb(np.concatenate(tree), bits=bits)
        ends = np.cumsum([len(level) for level in tree])[:-1]
        return PrivateHierarchy(
            self,
            fit_cells([part.astype(np.float64) for part in np.split(noisy, ends)], self.branching)[
                : self.cells
            ],
        )

    def variance(self, start: int, stop: int) -> float:
        """The exact variance of the released sum of the cells start, …, stop − 1."""
        _check_range(start, stop, self.cells)
        return self.noise.variance * float(range_factor(start, stop, self.cells, self.branching))

    def error(self, start: int, stop: int, confidence: Number = 0.95) -> float:
        """A bound on the noise of the released sum of the cells start, …, stop − 1 that holds with
        this probability (Chernoff).
        """
        _check_range(start, stop, self.cells)
        missing = 1 - probability(confidence, "confidence", zero=False)
        cells = np.zeros(self.branching ** (self.levels - 1))
        cells[start:stop] = 1.0
        cells = _solve(cells, self.branching, self.levels)
        weights = np.concatenate(blocks(cells, self.branching, self.levels))
        return self.noise.law.linear_error(weights, missing) * (1 + 2.0**-30)  # for the doubles

    why_no_law = (
        "a person changes a block of every level, and the published blocks are made consistent"
    )
    why_no_loss_pair = "the pair of the noise's promise"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> Hierarchy:
            return cls(edges=[0, 1, 2, 3, 4], epsilon=epsilon, branching=2, relation="add-remove")

        return [AuditExample("Hierarchy", build, GROWN)]

    def draw_once(self, x: Iterable[object]) -> NDArray[np.float64]:
        return self.perturb(x).counts

    def draw_many(self, x: Iterable[object], n: int) -> NDArray[np.generic]:
        """Draw the noisy blocks. `perturb` makes them consistent before it publishes them: that is
        post-processing, so an audit of these draws proves no more than is true of the published
        blocks, and does not see a mistake in that step.
        """
        return np.asarray(self.noise.perturb(np.tile(np.concatenate(self._tree(x)), (n, 1))))

    @classmethod
    def arguments_of(cls, public: PublicFields) -> PublicFields:
        axis, epsilon = public["axis"], epsilon_of(public["noise"])
        return {
            "epsilon": epsilon,
            **({"edges": axis.ends} if isinstance(axis, Edges) else {"categories": axis.names}),
        }

    def _tree(self, data: Iterable[object]) -> list[NDArray[np.int64]]:
        """Tally all blocks, cells first."""
        flat = Histogram(axes=[self.axis], epsilon=1, outside=self.outside, relation=self.relation)
        return blocks(flat.tally(data), self.branching, self.levels)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateHierarchy(Summarized):
    """Consistent counts: unbiased, not whole, possibly below 0. Any range is the sum of its
    cells.
    """

    mechanism: Hierarchy
    counts: NDArray[np.float64]

    @property
    def promise(self) -> Guarantee:
        return self.mechanism.promise

    def range(self, start: int, stop: int) -> float:
        """The number of rows in the cells start, …, stop − 1."""
        _check_range(start, stop, self.mechanism.cells)
        return float(self.counts[start:stop].sum())

    def between(self, low: float, high: float) -> float:
        """The number of rows between two edges."""
        axis = self.mechanism.axis
        if not isinstance(axis, Edges):
            raise refusals.BETWEEN_CATEGORIES(low=low, high=high, cells=len(axis))
        ends = axis.ends
        if low not in ends or high not in ends:
            raise refusals.BETWEEN_OTHER_NUMBERS(low=low, high=high, first=ends[0], last=ends[-1])
        return self.range(ends.index(low), ends.index(high))

    def error(self, start: int, stop: int, confidence: Number = 0.95) -> float:
        """A bound on the noise of a range that holds with this probability."""
        return self.mechanism.error(start, stop, confidence)

    def _summary(self) -> Summary:
        first, axis = self.counts[:MOST_ROWS].tolist(), self.mechanism.axis
        return Summary(
            title=f"private counts of {len(axis)} cells, for ranges · the first "
            f"{width_text(self.error(0, 1))} at 95 % · {self.promise.numbers_text}",
            heads=("cell", "count"),
            rows=[(axis.cell_name(i), f"{count:.6g}") for i, count in enumerate(first)],
            hidden=len(axis) - len(first),
            numbers=frozenset([1]),
            notes=["range(start, stop) and between(low, high) add cells with the least noise"],
        )


def height(cells: int, branching: int) -> int:
    """The least h with b^(h−1) ≥ cells: the number of levels from the cells to the total."""
    levels, size = 1, 1
    while size < cells:
        levels, size = levels + 1, size * branching
    return levels


def blocks(cells: NDArray[R], branching: int, levels: int) -> list[NDArray[R]]:
    """Sum all blocks, cells first, the total last; empty cells at the end fill the tree."""
    tree = [
        np.concatenate([cells, np.zeros(branching ** (levels - 1) - len(cells), dtype=cells.dtype)])
    ]
    for _ in range(levels - 1):
        tree.append(tree[-1].reshape(-1, branching).sum(axis=1))
    return tree


def fit_cells(tree: list[NDArray[np.float64]], branching: int) -> NDArray[np.float64]:
    """Return the cells that fit all noisy blocks best, (AᵀA)⁻¹Aᵀy."""
    sums = sum(
        (np.repeat(level, branching**depth) for depth, level in enumerate(tree)),
        np.zeros(len(tree[0])),
    )
    return _solve(sums, branching, len(tree))


def _solve(cells: NDArray[np.float64], branching: int, levels: int) -> NDArray[np.float64]:
    """(AᵀA)⁻¹: division by the eigenvalue λ_ℓ on the averages of level ℓ less those of the next."""
    solution, eigenvalue = np.zeros(len(cells)), 0
    for depth in range(levels):
        eigenvalue += branching**depth
        part = _average(cells, branching**depth) - (
            _average(cells, branching ** (depth + 1)) if depth + 1 < levels else 0.0
        )
        solution += part / eigenvalue
    return solution


def range_factor(start: int, stop: int, cells: int, branching: int) -> Fraction:
    """The variance of a range of consistent cells, in units of that of one noise: Σ_ℓ |P_ℓ
    w|²/λ_ℓ.
    """
    levels = height(cells, branching)
    lengths = []
    for depth in range(levels):
        size = branching**depth
        first, last = start // size, (stop - 1) // size
        inside = [
            min(stop, (block + 1) * size) - max(start, block * size) for block in {first, last}
        ]
        lengths.append(
            Fraction(sum(n * n for n in inside) + max(last - first - 1, 0) * size * size, size)
        )
    return _weighted(lengths, branching)


def average_factor(cells: int, branching: int) -> float:
    """`range_factor` on average over all ranges: Σ over ranges of wwᵀ has the entries (min +
    1)(cells − max), which are summed over blocks.
    """
    levels = height(cells, branching)
    at = np.arange(branching ** (levels - 1), dtype=np.float64)
    first, last = np.where(at < cells, at + 1, 0), np.maximum(cells - at, 0)
    lengths = []
    for depth in range(levels):
        a, b = first.reshape(-1, branching**depth), last.reshape(-1, branching**depth)
        before = np.cumsum(a, axis=1) - a
        lengths.append(Fraction(float((2 * before * b + a * b).sum())) / branching**depth)
    return float(_weighted(lengths, branching) / Fraction(cells * (cells + 1), 2))


def best_branching(
    cells: int, *, epsilon: Number, delta: Number | None = None, relation: Relation = "add-remove"
) -> int:
    """The branching with the least exact variance on average over all ranges; `cells` itself is the
    flat histogram with its total.
    """
    tried: list[int] = sorted(
        {b for b in (*range(2, min(cells, 32) + 1), 48, 64, 128, 256, cells) if b <= cells}
    )
    average = {
        b: _noise(cells, b, epsilon, delta, relation, None).variance * average_factor(cells, b)
        for b in tried
    }
    return min(tried, key=lambda b: average[b])


def _noise(
    cells: int,
    branching: int,
    epsilon: Number,
    delta: Number | None,
    relation: Relation,
    unit: str | None,
) -> Laplace | Gaussian:
    levels = height(cells, branching)
    moved = Fraction(levels if relation == "add-remove" else 2 * (levels - 1))
    return laplace_or_gaussian(
        l1=moved, l2_squared=moved, epsilon=epsilon, delta=delta, relation=relation, unit=unit
    )


def _weighted(lengths: list[Fraction], branching: int) -> Fraction:
    """Σ (E_ℓ − E_{ℓ+1})/λ_ℓ of the squared lengths E_ℓ of the averages over blocks of each
    level.
    """
    total, eigenvalue = Fraction(0), 0
    for depth, (here, above) in enumerate(zip(lengths, [*lengths[1:], Fraction(0)], strict=True)):
        eigenvalue += branching**depth
        total += (here - above) / eigenvalue
    return total


def _average(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.repeat(values.reshape(-1, size).mean(axis=1), size)


def _check_range(start: int, stop: int, cells: int) -> None:
    if not 0 <= start < stop <= cells:
        raise refusals.RANGE_OUTSIDE_CELLS(start=start, stop=stop, cells=cells)
