"""The noise of what is read from a tree: exact weights, and half-widths that hold."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.noise.geometric import Geometric
from sfumato.noise.law import SummableLaw
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.tables.aggregates.count_tree import CountTree
from sfumato.tables.aggregates.tree_noise import (
    HalfWidths,
    deviations,
    expected_square,
    largest_half_width,
)

TREES = [CountTree(2, 2, 1), CountTree(11, 11, 1), CountTree(60, 4, 3), CountTree(101, 11, 2)]
PARTS = [Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def node_weights(tree: CountTree, q: Fraction, end: int) -> NDArray[np.float64]:
    """The weights of all nodes in the least-squares estimate of W_<z − q·W, by a dense solver."""
    leaves, b = tree.branching**tree.levels, tree.branching
    incidence = np.concatenate(
        [np.kron(np.eye(leaves // b**up), np.ones(b**up)) for up in range(tree.levels)]
    )
    target = (np.arange(leaves) < end) - float(q)
    weights: NDArray[np.float64] = incidence @ np.linalg.solve(incidence.T @ incidence, target)
    return weights


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize("q", PARTS, ids=str)
def test_deviations_are_those_of_least_squares(tree: CountTree, q: Fraction) -> None:
    ends = range(tree.leaves + 1)
    weights = [node_weights(tree, q, end) for end in ends]
    exact = np.array([math.sqrt((w**2).sum()) for w in weights])
    assert np.abs(deviations(tree, q) - exact).max() < 1e-6
    assert max(np.abs(w).max() for w in weights) <= 1 + 1e-12  # what the worst bound rests on


def test_least_squares_is_less_noisy_than_adding_nodes() -> None:
    """At 4,096 leaves and the median, by 1.7 at the worst leaf: 15 + 2·15 nodes are not added."""
    tree = CountTree.over(4096)
    added = math.sqrt(16 / 4 + 2 * 15)
    assert deviations(tree, Fraction(1, 2)).max() < added / 1.7


@pytest.mark.parametrize(
    "law", [Geometric(scale=2), RoundedNormal(sigma=Fraction(3, 2))], ids=["geometric", "normal"]
)
@pytest.mark.parametrize("missing", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)], ids=str)
def test_half_widths_hold_by_arithmetic(law: SummableLaw, missing: Fraction) -> None:
    """Two leaves, one level: D(z) has weights (1 − q, −q), (−q, −q) or (1 − q, 1 − q), and every
    pair of draws that matters is counted.
    """
    tree, z = CountTree(2, 2, 1), np.arange(-60, 61)
    masses = np.array([law.pmf(int(k)) for k in z])
    both = np.outer(masses, masses)
    for q in (Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)):
        widths = HalfWidths(law, tree, q, missing).at(np.arange(3))
        for end, width in enumerate(widths):
            first, second = ((1 if end > i else 0) - float(q) for i in range(2))
            noise = first * z[:, None] + second * z[None, :]
            beyond = both[noise > width].sum()
            assert beyond <= float(missing / 2)
            # and not much less: the next narrower width that a lattice allows misses more often
            assert both[noise >= width * 0.98 - 1].sum() > float(missing / 2) * 0.98


@pytest.mark.parametrize("points", [11, 121, 4096])
def test_half_widths_are_hardly_wider_than_the_noise(points: int) -> None:
    """At 95 % a normal law has 1.96; the bound may add 6 % to it. Chernoff's bound has 2.7."""
    tree, law = CountTree.over(points), Geometric(scale=30)
    widths = HalfWidths(law, tree, Fraction(1, 2), Fraction(1, 20))
    some = np.linspace(1, tree.leaves - 1, 9).astype(np.int64)
    factors = widths.at(some) / widths.spread[some]
    assert (factors >= 1.95).all()
    assert (factors <= 2.08).all()
    assert (widths.most[some] >= widths.at(some)).all()


def test_a_width_does_not_depend_on_what_else_was_computed() -> None:
    tree, law = CountTree.over(500), Geometric(scale=5)
    together = HalfWidths(law, tree, Fraction(1, 3), Fraction(1, 20)).at(np.arange(501))
    alone = HalfWidths(law, tree, Fraction(1, 3), Fraction(1, 20))
    for end in (0, 7, 250, 500):
        assert alone.at(np.array([end]))[0] == pytest.approx(together[end], rel=1e-12)


def test_deciding_is_comparing_with_the_width() -> None:
    tree, law = CountTree.over(60), Geometric(scale=5)
    lazy, eager = (HalfWidths(law, tree, Fraction(1, 2), Fraction(1, 20)) for _ in range(2))
    values = np.linspace(-60, 10, 61 * 7).reshape(7, 61)
    assert (lazy.within(values) == (values >= -eager.at(np.arange(61)))).all()


@pytest.mark.parametrize("law", [Geometric(scale=4), RoundedNormal(sigma=4)], ids=["l", "g"])
def test_rare_misses_have_a_bound_for_all_leaves(law: SummableLaw) -> None:
    """Below what doubles resolve: Chernoff's or the normal bound, of equal weights that no leaf
    exceeds.
    """
    tree, missing = CountTree(60, 4, 3), Fraction(1, 10**9)
    widths = HalfWidths(law, tree, Fraction(1, 2), missing).at(np.arange(61))
    for end in range(0, 61, 6):
        assert widths[end] >= law.linear_error(node_weights(tree, Fraction(1, 2), end), missing)
    assert largest_half_width(law, tree, Fraction(1, 2), missing) == widths.max()


def test_a_law_without_sums_is_bounded_node_by_node() -> None:
    class ConstantLaw:
        variance = 2.0

        def half_width(self, confidence: Fraction, *, values: int = 1) -> int:
            return 9

    widths = HalfWidths(ConstantLaw(), CountTree(60, 4, 3), Fraction(1, 2), Fraction(1, 20))
    exact = 9 * np.abs(node_weights(CountTree(60, 4, 3), Fraction(1, 2), 30)).sum()
    assert widths.at(np.array([30]))[0] == pytest.approx(exact)


def test_an_expected_square_is_near_the_leaf_of_an_even_spread() -> None:
    tree = CountTree.over(4096)
    squares = deviations(tree, Fraction(9, 10)) ** 2
    assert expected_square(tree, Fraction(9, 10)) == pytest.approx(
        squares[3559:3815].mean(), rel=0.05
    )
    assert expected_square(CountTree.over(2), Fraction(0)) >= 0
