"""Linear queries: variances and answers against dense least squares, the exact promise by
enumeration of neighbours, the law of an answer against convolution, and lower bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees import Relation
from sfumato.mechanisms.linear.axis_strategies import (
    AxisStrategy,
    CellStrategy,
    DenseStrategy,
    MergedStrategy,
    RootStrategy,
    TreeStrategy,
    moved_by_unit,
)
from sfumato.mechanisms.linear.choose_strategy import choose_strategy, weighted_tree
from sfumato.mechanisms.linear.query_blocks import (
    IdentityBlock,
    PrefixBlock,
    QueryBlock,
    RangeBlock,
    TotalBlock,
    matrix_block,
)
from sfumato.mechanisms.linear.workloads import WorkloadTerm
from sfumato.noise.geometric import Geometric
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusing

GIVEN = [[1, 2, 0, 0, -1, 0, 1], ["1/2", 0, 1, 1, 0, 0, 1], [0, 0, 3, 1, 0, 0, 0]]
BLOCKS: list[QueryBlock] = [
    IdentityBlock(7),
    TotalBlock(7),
    PrefixBlock(7),
    RangeBlock(7),
    matrix_block(GIVEN),
]
DENSE = np.array([[4, 1, 0, 0, 0, 2, 1], *np.diag([3, 2, 5, 1, 2, 3, 4]).tolist()])
STRATEGIES: list[AxisStrategy] = [
    CellStrategy(7),
    TreeStrategy(7, 2, (5, 0, 3, 7)),
    TreeStrategy(7, 3, (2, 1, 0)),
    RootStrategy(7),
    DenseStrategy(7, "optimised", DENSE, np.linalg.pinv(DENSE.astype(float))),
]


def dense(strategy: AxisStrategy) -> np.ndarray:
    """A, written out, with the columns of the empty cells of a tree."""
    if isinstance(strategy, TreeStrategy):
        full = TreeStrategy(strategy.filled, strategy.branching, strategy.weights)
        return full.measure(np.eye(full.cells, dtype=np.int64)).T.astype(float)
    return strategy.measure(np.eye(strategy.cells, dtype=np.int64)).T.astype(float)


@pytest.mark.parametrize("block", BLOCKS, ids=repr)
def test_blocks_are_their_matrices(block: QueryBlock) -> None:
    rows = block.rows(0, block.queries)
    assert rows.shape == (block.queries, 7)
    np.testing.assert_allclose(block.answers(np.eye(7)), rows.T)
    np.testing.assert_allclose(block.gram(), rows.T @ rows)
    for run in (1, 2, 3, 7):
        means = np.array([np.convolve(w, np.ones(run))[run - 1 :: run] for w in pad(rows, run)])
        assert block.energy(run) == pytest.approx((means**2).sum() / run)
    if (nuclear := block.nuclear()) is not None:
        assert nuclear == pytest.approx(np.linalg.svd(rows, compute_uv=False).sum())


def pad(rows: np.ndarray, run: int) -> np.ndarray:
    return np.pad(rows, [(0, 0), (0, -rows.shape[1] % run)])


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_strategies_are_least_squares(strategy: AxisStrategy) -> None:
    a = dense(strategy)
    y = np.random.default_rng(1).normal(size=len(a))
    best, *_ = np.linalg.lstsq(a, y, rcond=None)
    np.testing.assert_allclose(strategy.solve(y), best[:7], atol=1e-9)
    inverse = np.linalg.inv(a.T @ a)[:7, :7]
    for block in BLOCKS:
        rows = block.rows(0, block.queries)
        expected = ((rows @ inverse) * rows).sum(axis=1)
        np.testing.assert_allclose(block.variances(strategy.spread), expected, rtol=1e-7)
        assert strategy.total(block) == pytest.approx(expected.sum(), rel=1e-7)
    assert strategy.measured == len(a)
    assert strategy.most >= np.abs(a[:, :7]).sum(axis=1).max()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_sensitivity_by_enumeration(strategy: AxisStrategy, relation: Relation) -> None:
    """Over all pairs of columns; a replaced row may also enter or leave the cells."""
    columns = dense(strategy)[:, :7].T.astype(int)
    moves = list(columns)
    if relation == "replace":
        moves += [a - b for a in columns for b in columns]
    l1 = max(np.abs(m).sum() for m in moves)
    square = max((m * m).sum() for m in moves)
    stated = moved_by_unit((strategy,), relation)
    assert stated[0] >= l1
    assert stated[1] >= square
    if relation == "add-remove":
        assert stated == (l1, square)
        pair = moved_by_unit((strategy, STRATEGIES[1]), relation)
        assert pair == (l1 * 15, square * 83)


def test_a_forgotten_column_is_seen() -> None:
    """The twin: the largest column left out of the norm promises less than neighbours show."""
    squares = (DENSE**2).sum(axis=0)
    lame = np.where(squares == squares.max(), 0, DENSE)
    stated = DenseStrategy(7, "lame", lame, np.zeros((7, 8))).column_l2_squared
    assert stated < squares.max() == STRATEGIES[-1].column_l2_squared


@pytest.mark.parametrize("way", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}, {"mu": 1}])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_promise_covers_all_neighbours(way: dict[str, Any], relation: Relation) -> None:
    workload = mech.prefixes(5) + 3 * mech.identity(5)
    m = mech.LinearQueries(workload, relation=relation, **way)
    ones = [m.measure(row).astype(object) for row in np.eye(5, dtype=int)]
    moves = [*ones, *([a - b for a in ones for b in ones] if relation == "replace" else [])]
    if isinstance(m.noise, mech.Laplace):
        most = max(sum(map(abs, move)) for move in moves)
        assert Fraction(int(most)) / m.noise.scale <= 1
        assert m.promise == sf.Pure(1, relation=relation)
    else:
        square = Fraction(int(max((move * move).sum() for move in moves)))
        assert isinstance(m.promise, sf.GDP)
        assert square / m.noise.sigma**2 <= m.promise.mu_squared <= (1 if "mu" in way else 9)


@pytest.mark.parametrize(
    ("workload", "most"),
    [
        (mech.prefixes(32), 1.01),
        (mech.all_ranges(32), 1.003),
        (mech.identity(9), 1.000001),
        (mech.prefixes(1500), 1.07),
        (mech.rectangles(12, 5), 1.05),
        (mech.matrix([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]), 1.003),
        (mech.total(40), 1.000001),
    ],
    ids=repr,
)
def test_gaussian_strategies_are_near_the_lower_bound(workload: mech.Workload, most: float) -> None:
    m = mech.LinearQueries(workload, mu=1, relation="add-remove")
    assert m.ratio is not None
    assert 1 - 1e-6 <= m.ratio <= most
    assert len(workload.shape) == 2 or m.rmse**2 * workload.queries == pytest.approx(
        m.variances().sum()
    )


def test_optimised_strategies_are_unbiased() -> None:
    """W·A⁺·A = W, though A is rounded; also where the queries span less than all cells."""
    for norm_name in ("L1", "L2"):
        for block in (*BLOCKS, matrix_block([[1, 1, 1, 0], [0, 0, 1, 1], [1, 1, 2, 1]])):
            workload = mech.Workload((WorkloadTerm((block,)),))
            (axis,) = choose_strategy(workload, norm_name, "add-remove").axes
            rows = block.rows(0, block.queries)
            measured = axis.measure(np.eye(block.cells, dtype=np.int64)).astype(float)
            np.testing.assert_allclose(axis.spread(rows) @ measured.T, rows, atol=1e-8)
            assert axis.spans(rows)


def test_trees_have_the_best_weights() -> None:
    """No other weights of the levels have a smaller loss."""
    block = RangeBlock(27)
    for norm_name, power in (("L1", 1), ("L2", 2)):
        best = weighted_tree(((1.0, block),), 3, norm_name)

        def loss(tree: TreeStrategy, power: int = power) -> float:
            moved = tree.column_l1**2 if power == 1 else tree.column_l2_squared
            return moved * tree.total(block)

        for level in range(4):
            for factor in (0.9, 1.1):
                weights = list(best.weights)
                weights[level] = round(weights[level] * factor)
                assert loss(TreeStrategy(27, 3, tuple(weights))) >= loss(best) * (1 - 1e-5)


def test_cells_that_no_query_tells_apart_are_merged() -> None:
    m = mech.LinearQueries([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0]], epsilon=1, relation="replace")
    (axis,) = m.axes
    assert isinstance(axis, MergedStrategy)
    assert axis.groups.tolist() == [0, 1, 2, -1, -1]
    assert m.measure([5, 6, 7, 1000, 1000]).tolist() == [5, 6, 7]
    with refusing("linear.query"):
        m.variance(slice(3, 4))


def test_released_answers() -> None:
    """400 releases: mean and variance of an answer within six standard errors, false alarm below
    1e-6; the interval holds as often as it says; the answers agree with each other.
    """
    bits, x = SeededBits(4), np.arange(32)
    query = slice(5, 20)
    for way in ({"epsilon": 1}, {"mu": 1}):
        m = mech.LinearQueries(mech.all_ranges(32), relation="add-remove", **way)
        off = np.array([m.perturb(x, bits=bits).answer(query) for _ in range(400)]) - x[query].sum()
        assert abs(off.mean()) < 6 * math.sqrt(m.variance(query) / 400)
        assert abs(off.var() / m.variance(query) - 1) < 6 * math.sqrt(5 / 400)
        assert (np.abs(off) <= m.error(query, "0.8")).sum() >= 265
        released = m.perturb(x, bits=bits)
        answers = released.answers
        assert answers[RangeBlock(32).place(5, 20)] == pytest.approx(released.answer(query))
        rising = released.rising()
        assert (np.diff(rising) >= 0).all()
        assert rising[0] >= 0


def test_the_law_of_an_answer() -> None:
    """Two Laplace draws with weights 1: the error is that of the convolution of their laws, or more
    by Chernoff; a Gaussian answer's is the normal quantile and half a step for each draw.
    """
    m = mech.LinearQueries(mech.identity(2), epsilon=1, relation="add-remove")
    law = m.noise.law
    assert isinstance(law, Geometric)
    z = np.arange(-60, 61)
    both = np.convolve(law.pmf(z), law.pmf(z))
    tails = {k: both[np.abs(np.arange(-120, 121)) > k].sum() for k in range(20)}
    exact = min(k for k in tails if tails[k] <= 0.05)
    assert exact <= m.error([1, 1], "0.95") <= 1.6 * exact
    normal = mech.LinearQueries(mech.prefixes(16), mu=1, relation="add-remove")
    width = norm.ppf(0.975) * math.sqrt(normal.variance(slice(0, 9)))
    assert width <= normal.error(slice(0, 9), "0.95") <= width * 1.0001


def test_large_counts_and_grids() -> None:
    """Counts that need more than 64 bits on the way: the noisy sums saturate, nothing is raised."""
    m = mech.LinearQueries(mech.rectangles(4, 4), mu=1, relation="add-remove")
    counts = np.full((4, 4), 2**40)
    assert m.measure(counts).dtype == object
    assert m.measure(counts).sum() == sum(map(int, m.measure(counts).ravel()))
    assert np.isfinite(m.perturb(np.full((4, 4), 2**62)).cells).all()
    assert m.perturb(np.zeros((4, 4), dtype=int)).answers.shape == (10, 10)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("mechanism.relation", lambda: mech.LinearQueries(mech.total(3), epsilon=1)),
        ("linear.queries", lambda: mech.matrix([[1, 2], [1]])),
        ("linear.queries", lambda: mech.matrix([[2**40, 1]])),
        ("linear.cells", lambda: mech.prefixes(0)),
        ("linear.shape", lambda: mech.prefixes(3) + mech.prefixes(4)),
        ("linear.axes", lambda: mech.rectangles(2, 2) @ mech.total(2)),
        ("linear.sensitivity", lambda: small(sensitivity="1/2")),
        ("linear.counts", lambda: small().perturb([1, 2])),
        ("linear.query", lambda: small().variance([1, 2])),
        ("linear.term", lambda: small().variances(1)),
        ("linear.answers", lambda: mech.LinearQueries(
            mech.rectangles(100, 100), mu=1, relation="replace").variances()),
    ],
)  # fmt: skip
def test_refusals(code: str, call: Any) -> None:
    with refusing(code):
        call()


def small(**options: Any) -> mech.LinearQueries:
    return mech.LinearQueries(mech.total(3), epsilon=1, relation="add-remove", **options)
