"""Choose the strategy of each axis of a workload: public numbers alone, without randomness.

*Candidates*  The cells; trees of every branching; the queries themselves; the square root of the
              prefixes; and a matrix that is optimised for the workload, up to MOST_DENSE cells.
*Gaussian*    The sum of variances is tr(V·X⁻¹) for X = AᵀA and V = WᵀW, columns of length 1. For
              weights d of the cells that sum to 1 it is at least tr((D^½VD^½)^½)², and the best d
              attains it (Yuan et al. 2016). The optimiser multiplies d by the squared length of
              each column until the bound and the strategy meet (after Denisov et al. 2022).
*Laplace*     The cells beside the upper blocks of a tree, all their weights optimised
              (the p-identity strategies of McKenna, Miklau, Hay & Machanavajjhala 2018).
*Trees*       For the L2 norm the best weights of the levels have a closed form.
*Two axes*    Each axis in turn, with the other axis as it is.
*Proof*       docs/proofs/linear-queries.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from ...exact import effort
from ...guarantees import Relation
from ..hierarchy import height
from ..shared.better_law import Norm
from .axis_strategies import (
    SCALE_BITS,
    AxisStrategy,
    CellStrategy,
    DenseStrategy,
    MergedStrategy,
    RootStrategy,
    TreeStrategy,
    moved_by_unit,
    tree_energies,
)
from .query_blocks import Doubles, MatrixBlock, QueryBlock, TotalBlock
from .workloads import Workload

MOST_DENSE = 1024
"""The most cells of an axis for which a matrix is optimised for Gaussian noise."""
MOST_LAPLACE = 256
"""The same for Laplace noise, where it takes longer."""
_MOST_ROWS = 4096  # queries that may be a strategy themselves
_STEPS = ((128, 24), (256, 12), (512, 6), (1024, 4))  # of the optimiser, by cells
_LEVEL_BITS = 12  # of the weights of a tree's levels
_NEAR = 1.002  # the optimiser stops where the sum of variances is so near its bound
_SWEEPS = 2
_PRIME = (1 << 61) - 1

Weighted = tuple[tuple[float, QueryBlock], ...]
"""The blocks of an axis, with their weights."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenStrategies:
    """The strategies of all axes, the weighted sum of variances in units of one draw's, and a lower
    bound of (that sum times the squared sensitivity) over all strategies.
    """

    axes: tuple[AxisStrategy, ...]
    total: float
    bound: float


@lru_cache(maxsize=64)
def choose_strategy(workload: Workload, norm: Norm, relation: Relation) -> ChosenStrategies:
    """Return the strategies with the least weighted sum of variances for noise of a norm."""
    axes = len(workload.shape)
    weights = [float(term.weight) for term in workload.terms]
    blocks = [[term.blocks[axis] for term in workload.terms] for axis in range(axes)]
    strategies: list[AxisStrategy] = [CellStrategy(cells) for cells in workload.shape]
    bounds = [math.inf] * axes
    for _ in range(_SWEEPS if len(weights) > 1 and axes > 1 else 1):
        for axis in range(axes):
            others = [
                math.prod(strategies[k].total(blocks[k][t]) for k in range(axes) if k != axis)
                for t in range(len(weights))
            ]
            targets = tuple(
                (weight * rest, block)
                for weight, rest, block in zip(weights, others, blocks[axis], strict=True)
            )
            strategies[axis], bounds[axis] = choose_for_axis(targets, norm, relation)
    totals = [
        math.prod(strategies[axis].total(blocks[axis][t]) for axis in range(axes))
        for t in range(len(weights))
    ]
    if axes == 1:
        bound = bounds[0]
    else:  # of each term alone: the singular values of a product are products
        bound = sum(
            weight * math.prod(_nuclear_bound(block) for block in term.blocks)
            for weight, term in zip(weights, workload.terms, strict=True)
        )
    total = sum(w * t for w, t in zip(weights, totals, strict=True))
    return ChosenStrategies(tuple(strategies), total, bound)


def choose_for_axis(
    targets: Weighted, norm: Norm, relation: Relation
) -> tuple[AxisStrategy, float]:
    """Return the best strategy for the blocks of one axis, and the lower bound."""
    merged, groups = _merge(targets)
    if groups is not None:
        inner, bound = choose_for_axis(merged, norm, relation)
        return MergedStrategy(len(groups), inner, groups), bound
    candidates, bound = list(_structured(targets, norm)), 0.0
    optimised, bound = _optimise(targets, norm, candidates)
    candidates += optimised

    def loss(strategy: AxisStrategy) -> float:
        l1, square = moved_by_unit((strategy,), relation)
        moved = float(l1) ** 2 if norm == "L1" else float(square)
        return moved * sum(weight * strategy.total(block) for weight, block in targets)

    return min(candidates, key=loss), bound


def structured_strategy(targets: Weighted, norm: Norm) -> AxisStrategy:
    """Return the best strategy that a few whole numbers describe, for add-remove."""

    def loss(strategy: AxisStrategy) -> float:
        moved = float(strategy.column_l1) ** 2 if norm == "L1" else strategy.column_l2_squared
        return moved * sum(weight * strategy.total(block) for weight, block in targets)

    return min(_structured(targets, norm), key=loss)


def _merge(targets: Weighted) -> tuple[Weighted, NDArray[np.int64] | None]:
    """Merge cells that no query tells apart, and leave out those that none counts; None if there
    are no such cells.
    """
    if not _may_span_less(targets):
        return targets, None
    rows = np.concatenate([block.rows(0, block.queries) for _, block in targets])
    distinct, first, groups = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    if distinct.shape[1] == rows.shape[1] and np.abs(rows).any(axis=0).all():
        return targets, None
    used = np.flatnonzero(np.abs(distinct).any(axis=0))
    if not len(used):
        return targets, None
    used = used[np.argsort(first[used])]  # in the order of the cells
    names = np.full(distinct.shape[1], -1, dtype=np.int64)
    names[used] = np.arange(len(used))
    places = first[used].tolist()
    merged = tuple(
        (
            weight,
            MatrixBlock(
                len(places),
                tuple(tuple(row[k] for k in places) for row in _integers(block)),
                _denominator(block),
            ),
        )
        for weight, block in targets
    )
    return merged, names[groups.ravel()]


def _integers(block: QueryBlock) -> tuple[tuple[int, ...], ...]:
    return block.integers if isinstance(block, MatrixBlock) else ((1,) * block.cells,)


def _structured(targets: Weighted, norm: Norm) -> Iterable[AxisStrategy]:
    cells = targets[0][1].cells
    yield CellStrategy(cells)
    for branching in _branchings(cells):
        effort.check()
        yield weighted_tree(targets, branching, norm)
    if norm == "L2" and cells > 1:
        yield RootStrategy(cells)


def _branchings(cells: int) -> list[int]:
    if cells < 2:
        return []
    return sorted({b for b in (*range(2, 17), 24, 32, 64, cells) if b <= cells})


def weighted_tree(targets: Weighted, branching: int, norm: Norm) -> TreeStrategy:
    """Return the tree of a branching with the best weights of its levels."""
    cells = targets[0][1].cells
    levels = height(cells, branching)
    energies = sum(
        (weight * tree_energies(block, branching, levels) for weight, block in targets),
        np.zeros(levels),
    )
    sizes = np.array([float(branching**depth) for depth in range(levels)])
    real = _gaussian_levels(energies, sizes) if norm == "L2" else _laplace_levels(energies, sizes)
    scaled = [round(float(w) * (1 << _LEVEL_BITS) / float(real.max())) for w in real]
    weights = (max(scaled[0], 1), *scaled[1:])
    common = math.gcd(*weights)
    return TreeStrategy(cells, branching, tuple(weight // common for weight in weights))


def _gaussian_levels(energies: Doubles, sizes: Doubles) -> Doubles:
    """Minimise Σ e_ℓ/λ_ℓ where the squared weights (λ_ℓ − λ_{ℓ−1})/b^ℓ sum to 1: λ_ℓ is
    √(e_ℓ/k_ℓ), k_ℓ what λ_ℓ adds to the sum, averaged where it would fall.
    """
    costs = 1 / sizes - np.append(1 / sizes[1:], 0.0)
    floor = 1e-12 * float(energies.max())
    pools: list[tuple[float, float, int]] = []
    for energy, cost in zip(np.maximum(energies, floor).tolist(), costs.tolist(), strict=True):
        pool = (energy, cost, 1)
        while pools and pools[-1][0] / pools[-1][1] >= pool[0] / pool[1]:
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    values = np.concatenate([np.full(count, math.sqrt(e / k)) for e, k, count in pools])
    return np.asarray(np.sqrt(np.diff(values, prepend=0.0) / sizes))


def _laplace_levels(energies: Doubles, sizes: Doubles) -> Doubles:
    """Minimise the same where the weights themselves sum to 1, by SciPy."""
    from scipy.optimize import minimize

    def loss(logs: Doubles) -> tuple[float, Doubles]:
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        values = np.cumsum(shares**2 * sizes)
        parts = energies / values
        by_value = -parts / values
        after = np.cumsum(by_value[::-1])[::-1]  # a weight is in all eigenvalues from its own on
        by_share = after * 2 * shares * sizes
        total = float(parts.sum())
        gradient = shares * (by_share - float((by_share * shares).sum()))
        return math.log(total), gradient / total

    best = minimize(loss, np.zeros(len(sizes)), jac=True, method="L-BFGS-B")
    shares: Doubles = np.exp(best.x - best.x.max())
    return np.where(shares < 1e-4, 0.0, shares)


def _optimise(
    targets: Weighted, norm: Norm, candidates: Sequence[AxisStrategy]
) -> tuple[list[AxisStrategy], float]:
    """Return the dense candidates, and a lower bound for the L2 norm, which is one for L1, too."""
    cells = targets[0][1].cells
    simple = sum(weight * _nuclear_bound(block) for weight, block in targets)
    dense: list[AxisStrategy] = []
    if (rows := _whole_rows(targets)) is not None:
        dense.append(_from_rows("the queries", rows))
    if rows is not None and len(rows) < cells and len(rows) <= MOST_DENSE and norm == "L2":
        optimised, bound = _optimise_rows(targets, rows)
        return dense + optimised, max(bound, simple)
    if cells > MOST_DENSE:
        return dense, simple
    gram = _weighted_gram(targets)
    if _may_span_less(targets) and np.linalg.matrix_rank(gram) < cells:
        if rows is None or norm == "L1":
            return dense, simple
        optimised, bound = _optimise_rows(targets, rows)
        return dense + optimised, max(bound, simple)
    root, bound = _optimise_gaussian(gram)
    if norm == "L2":
        dense.append(_round_square(root))
    elif 2 < cells <= MOST_LAPLACE:
        trees = [s for s in candidates if isinstance(s, TreeStrategy)]
        dense.append(_optimise_laplace(gram, trees))
    return dense, max(bound, simple)


def _optimise_gaussian(gram: Doubles) -> tuple[Doubles, float]:
    """Return a symmetric A with columns of length at most 1, and a lower bound of tr(V·X⁻¹)."""
    cells = len(gram)
    most = next(steps for size, steps in _STEPS if cells <= size)
    weights, bound, least = np.ones(cells), 0.0, math.inf
    best = np.eye(cells)
    for _ in range(most):
        effort.check()
        root = np.sqrt(weights)
        values, vectors = np.linalg.eigh(root[:, None] * gram * root[None, :])
        values = np.maximum(values, float(values.max()) * 1e-14)
        halves = vectors * values**0.25
        squares = (halves**2).sum(axis=1) / weights
        trace = float(np.sqrt(values).sum())
        bound = max(bound, trace**2 / float(weights.sum()))
        if trace * float(squares.max()) < least:
            least = trace * float(squares.max())
            best = (halves.T / root) / math.sqrt(float(squares.max()))
        if least < _NEAR**2 * bound:
            break
        weights = weights * squares**2
        weights /= weights.mean()
    return best, bound * (1 - 2.0**-30)


def _round_square(root: Doubles) -> DenseStrategy:
    """Scale and round a square matrix; its columns are independent, exactly."""
    integers = np.rint(root * (1 << SCALE_BITS)).astype(np.int64)
    residues = nmod_mat(
        len(integers), len(integers), [int(v) % _PRIME for v in integers.ravel()], _PRIME
    )
    if residues.rank() != len(integers):
        raise AssertionError("the rounded strategy lost a column")
    inverse: Doubles = np.linalg.inv(integers.astype(np.float64))
    return DenseStrategy(root.shape[1], "optimised", integers, inverse)


def _optimise_rows(targets: Weighted, rows: Doubles) -> tuple[list[AxisStrategy], float]:
    """Optimise for queries that span less than all cells: whole-number combinations of their rows,
    so that the strategy spans what they span, exactly.
    """
    scales = np.concatenate(
        [np.full(b.queries, math.sqrt(weight) / _denominator(b)) for weight, b in targets]
    )
    weighted = scales[:, None] * rows
    weights, bound, least = np.ones(rows.shape[1]), 0.0, math.inf
    mixed = np.eye(len(rows))
    for _ in range(_STEPS[0][1]):
        effort.check()
        scaled = weighted * np.sqrt(weights)
        eigenvalues, vectors = np.linalg.eigh(scaled @ scaled.T)
        present = eigenvalues > eigenvalues[-1] * 1e-13
        left, values = vectors[:, present], np.sqrt(eigenvalues[present])
        right = left.T @ scaled / values[:, None]
        squares = (values[:, None] * right**2).sum(axis=0) / weights
        trace = float(values.sum())
        bound = max(bound, trace**2 / float(weights.sum()))
        if trace * float(squares.max()) < least:
            least = trace * float(squares.max())
            mixed = (left / np.sqrt(values * float(squares.max()))).T * scales
        if least < _NEAR**2 * bound:
            break
        weights = np.maximum(weights * squares**2, 1e-9)
        weights /= weights.mean()
    size = float(np.abs(mixed).max() * np.abs(rows).max())
    bits = SCALE_BITS - math.ceil(math.log2(max(size, 1.0)))
    combined = np.rint(mixed * (1 << max(bits, 4))) @ rows
    if np.abs(combined).max() >= 1 << 21:
        return [], bound
    strategy = _from_rows("optimised", combined)
    return ([strategy] if _spans(strategy, rows) else []), bound * (1 - 2.0**-30)


def _spans(strategy: DenseStrategy, rows: Doubles) -> bool:
    """Tell whether a strategy, made of combinations of rows, spans them all: the ranks agree."""
    targets = fmpz_mat([[int(v) for v in row] for row in rows])
    return int(fmpz_mat(strategy.matrix.tolist()).rank()) == int(targets.rank())


def _optimise_laplace(gram: Doubles, trees: Sequence[TreeStrategy]) -> DenseStrategy:
    """Optimise the weights of the cells and of further rows, which begin as the blocks of a tree
    with about as many blocks as each has cells.
    """
    from scipy.optimize import minimize

    cells = len(gram)
    start = max(math.isqrt(cells), min(16, cells // 2))
    tree = min(trees, key=lambda t: (abs(t.branching - start), t.branching))
    levels = tree.measure(np.eye(cells, dtype=np.int64)).T[tree.filled :].astype(np.float64)
    upper = levels[np.abs(levels).sum(axis=1) > 0] / tree.weights[0]
    if not len(upper):
        upper = np.ones((1, cells)) / 8

    def loss(flat: Doubles) -> tuple[float, Doubles]:
        """By Woodbury: (I + ΘᵀΘ)⁻¹ = I − ΘᵀG with G = (I + ΘΘᵀ)⁻¹Θ."""
        effort.check()
        theta = flat.reshape(upper.shape)
        sums = 1 + theta.sum(axis=0)
        small = np.linalg.solve(np.eye(len(theta)) + theta @ theta.T, theta)
        scaled = gram * sums[:, None] * sums[None, :]
        product = small @ scaled
        total = float(np.trace(scaled) - (product * theta).sum())
        by_rows = -2 * (product - (product @ theta.T) @ small)
        by_sums = 2 * (
            np.diag(gram) * sums - ((small @ (gram * sums[:, None])) * theta).sum(axis=0)
        )
        return math.log(total), ((by_rows + by_sums[None, :]) / total).ravel()

    most = 200 if cells <= 128 else 60
    best = minimize(
        loss,
        upper.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * upper.size,
        options={"maxiter": most},
    )
    theta = best.x.reshape(upper.shape)
    real = np.vstack([np.eye(cells), theta]) / (1 + theta.sum(axis=0))
    integers = np.rint(real * (1 << SCALE_BITS)).astype(np.int64)
    used = integers[np.abs(integers).sum(axis=1) > 0]
    # the cells are rows of their own, so the columns are independent
    inverse: Doubles = np.linalg.pinv(used.astype(np.float64))
    return DenseStrategy(cells, "optimised", used, inverse)


def _from_rows(name: str, matrix: Doubles) -> DenseStrategy:
    """Build a strategy of whole-number rows."""
    inverse = np.asarray(np.linalg.pinv(matrix, rcond=1e-12), dtype=np.float64)
    return DenseStrategy(matrix.shape[1], name, matrix.astype(np.int64), inverse)


def _may_span_less(targets: Weighted) -> bool:
    """Tell whether the queries may span less than all cells."""
    return all(isinstance(block, MatrixBlock | TotalBlock) for _, block in targets)


def _denominator(block: QueryBlock) -> int:
    return block.denominator if isinstance(block, MatrixBlock) else 1


def _whole_rows(targets: Weighted) -> Doubles | None:
    """Return the queries as whole numbers where all are written out, few and small."""
    blocks = [block for _, block in targets]
    if not _may_span_less(targets) or sum(block.queries for block in blocks) > _MOST_ROWS:
        return None
    rows = np.concatenate([np.array(_integers(block), dtype=np.float64) for block in blocks])
    return rows if np.abs(rows).max() < 1 << 20 else None


def _weighted_gram(targets: Weighted) -> Doubles:
    cells = targets[0][1].cells
    return sum((weight * block.gram() for weight, block in targets), np.zeros((cells, cells)))


@lru_cache(maxsize=256)
def _nuclear_bound(block: QueryBlock) -> float:
    """Return (Σ singular values)²/n, rounded down; 0 for a large matrix without a formula."""
    nuclear = block.nuclear()
    if nuclear is None:
        if block.cells > MOST_DENSE:
            return 0.0
        values = np.linalg.eigvalsh(block.gram())
        nuclear = float(np.sqrt(np.maximum(values, 0.0)).sum())
    return nuclear**2 / block.cells * (1 - 2.0**-30)
