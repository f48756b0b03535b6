"""The noise of what is read from a tree of counts: deviations and half-widths, leaf by leaf.

*Estimate*  The weight below a leaf is estimated by least squares from all levels of the tree. The
            noise of D(z) = W_<z − q·W is then Σ v·Z over all nodes, with weights v that depend on
            where a node lies: on the path to z, or under a left or right sibling of a node of it.
*Width*     At each leaf the noise of D(z) exceeds its half-width, on one side, with a probability
            of at most half of what may be missed. The half-width is the first on a ladder that
            begins at that of a normal law, and for which a bound of the tail says so. A bound for
            all leaves at once ends the ladder.
*Proof*     docs/proofs/percentiles.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...noise.law import SummableLaw
from ...noise.sum_tails import REACH, integral_nodes, tail_bounds
from .count_tree import CountTree

Doubles = NDArray[np.float64]
_RARE = Fraction(1, 1 << 12)  # below it the bound of the tail is too far above it
# of the integral, by levels: panels, and the band in reciprocals of the largest deviation; few
# draws have long tails, many draws take long
_INTEGRALS = {1: (64, 128), 2: (24, 128)}
_INTEGRAL = 8, 64
_LADDER, _LEAST = 1.004, 0.25


class HasHalfWidth(Protocol):
    """A law of noise, as intervals see it."""

    @property
    def variance(self) -> float: ...

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int: ...

    def __hash__(self) -> int: ...


def deviations(tree: CountTree, q: Fraction, ends: NDArray[np.int64] | None = None) -> Doubles:
    """Return the standard deviation of the noise of W_<z − q·W, where a node's noise has variance
    1, for z = 0 … leaves, or for some of them.
    """
    squares = _sum_over_nodes(
        tree, q, np.square, np.arange(tree.leaves + 1) if ends is None else ends
    )
    return np.sqrt(np.where(squares > 1e-12, squares, 0.0))


@lru_cache(maxsize=1024)
def expected_square(tree: CountTree, q: Fraction) -> float:
    """Return the mean square of those deviations around the leaf that q is at where values are
    spread evenly.
    """
    near = max(1, tree.leaves // tree.branching)
    first = round(float(q) * tree.leaves) - near // 2
    ends = np.unique(np.clip(np.arange(first, first + near + 1), 0, tree.leaves))
    return float((deviations(tree, q, ends) ** 2).mean())


class HalfWidths:
    """Bounds of the noise of W_<z − q·W, for each z = 0 … leaves alone: all but a probability of
    `missing`, half of it on each side. They are computed where they decide something.
    """

    def __init__(self, law: HasHalfWidth, tree: CountTree, q: Fraction, missing: Fraction) -> None:
        self.law, self.tree, self.q, self.missing = law, tree, q, missing
        self.spread = deviations(tree, q) * math.sqrt(law.variance)
        self._widths = np.where(self.spread > 0, math.nan, 0.0)

    @cached_property
    def most(self) -> Doubles:
        """A bound at all ends, wider than it need be."""
        ends = np.arange(self.tree.leaves + 1)
        if isinstance(self.law, SummableLaw):
            bound = _worst_bound(self.law, self.tree, self.q, self.missing, ends)
            return np.where(self.spread > 0, bound, 0.0)
        return _union_bound(self.law, self.tree, self.q, self.missing, ends)

    @cached_property
    def least(self) -> Doubles:
        """Where the search begins: the bound of a normal law."""
        if not isinstance(self.law, SummableLaw) or self.missing < _RARE:
            return self.most
        factor = NormalDist().inv_cdf(1 - float(self.missing) / 2)
        return max(factor, _LEAST) * self.spread

    def within(self, values: Doubles) -> NDArray[np.bool_]:
        """Tell which noisy values of W_<z − q·W, a row for each group, are at least −(half-width
        at z).
        """
        bounds = self.least
        undecided = (values < -bounds) & (values >= -self.most)
        places = np.flatnonzero(undecided.any(axis=0))
        if len(places):
            bounds = bounds.copy()
            bounds[places] = np.minimum(self.at(places), self.most[places])
        decided: NDArray[np.bool_] = values >= -bounds
        return decided

    def at(self, ends: NDArray[np.int64]) -> Doubles:
        """Return the half-widths at some ends."""
        new = ends[np.isnan(self._widths[ends])]
        if len(new):
            self._widths[new] = (
                self._search(self.law, new)
                if isinstance(self.law, SummableLaw) and self.missing >= _RARE
                else self.most[new]
            )
        return self._widths[ends]

    def _search(self, law: SummableLaw, ends: NDArray[np.int64]) -> Doubles:
        """Return the first bound on a ladder of factors that holds, for each end."""
        panels, most = _INTEGRALS.get(self.tree.levels, _INTEGRAL)
        band = most / float(self.spread.max())
        angles = band * integral_nodes(panels)[0]

        def logarithms(weights: Doubles) -> Doubles:
            values = law.characteristic(np.multiply.outer(weights, angles))
            return np.log(np.maximum(values, 1e-300))  # φ > 0, but for rounding

        laws = np.exp(_sum_over_nodes(self.tree, self.q, logarithms, ends))
        goal = float(self.missing / 2) * (1 - 2.0**-40)
        bounds, places = self.least[ends], np.arange(len(ends))
        while len(places):
            tails = tail_bounds(laws[places], band, bounds[places])
            places = places[tails > goal]
            bounds[places] *= _LADDER
            # beyond the reach of the integral, as few draws of little noise may be
            is_far = bounds[places] * band > REACH * panels / 2
            if is_far.any():
                bounds[places[is_far]] = self.most[ends[places[is_far]]]
                places = places[~is_far]
        return bounds * (1 + 2.0**-40)


half_widths = lru_cache(maxsize=128)(HalfWidths)


def largest_half_width(law: HasHalfWidth, tree: CountTree, q: Fraction, missing: Fraction) -> float:
    """Return the half-width at the leaf with the largest deviation."""
    widths = half_widths(law, tree, q, missing)
    return float(widths.at(np.array([widths.spread.argmax()]))[0])


def _union_bound(
    law: HasHalfWidth, tree: CountTree, q: Fraction, missing: Fraction, ends: NDArray[np.int64]
) -> Doubles:
    """Bound every node's noise at once."""
    largest = law.half_width(1 - missing / tree.cells)
    return _sum_over_nodes(tree, q, np.abs, ends) * (largest * (1 + 2.0**-30))


def _worst_bound(
    law: SummableLaw, tree: CountTree, q: Fraction, missing: Fraction, ends: NDArray[np.int64]
) -> float:
    """Bound the noise at all ends by that of equal weights: no weight is above 1, so as many of
    weight 1 as have the largest sum of squares; or so many that the sums of squares and of sizes
    are the largest.
    """
    square, total = (
        float(_sum_over_nodes(tree, q, f, ends).max()) * (1 + 2.0**-30) for f in (np.square, np.abs)
    )
    return max(
        law.linear_error(np.full(math.ceil(square / weight**2), weight), missing)
        for weight in (1.0, square / total)
    )


def _sum_over_nodes(
    tree: CountTree, q: Fraction, f: Callable[[Doubles], Doubles], ends: NDArray[np.int64]
) -> Doubles:
    """Sum f over the weights of all nodes in the estimate of W_<z − q·W, for each end z.

    Nodes under the same sibling of the path to z have equal weights on each level. Below the first
    level the weights depend on z modulo the leaves of a node of that level alone.
    """
    b, top = tree.branching, tree.levels - 1
    digits, (inner, places) = (
        ends // b**top,
        np.unique(ends % b**top, return_inverse=True),
    )
    strength = [(b ** (level + 1) - 1) // (b - 1) for level in range(top + 1)]
    part = [inner % b**level / b**level for level in range(top + 1)]
    part.append(np.full(len(inner), float(q)))
    above = [np.zeros(len(inner))]  # the parts of the weights that the levels from here on add
    for level in range(top, -1, -1):
        above.insert(0, above[0] + (part[level] - part[level + 1]) / strength[level])
    total = sum((f(b**level * above[level]) for level in range(1, top + 1)), f(above[0]))
    flat = [1] * (total.ndim - 1)
    for split in range(top):
        digit = inner // b**split % b
        for side, count in ((1, digit), (0, b - 1 - digit)):
            weight = (side - part[split + 1]) / strength[split] + above[split + 1]
            for level in range(split + 1):
                nodes = (count * b ** (split - level)).reshape(-1, *flat)
                total += nodes * f(b**level * weight)
    left, right = (
        sum(
            b ** (top - level) * f(np.array([b**level * (side - float(q)) / strength[top]]))
            for level in range(top + 1)
        )
        for side in (1, 0)
    )
    digits = digits.reshape(-1, *flat)
    sums: Doubles = total[places] + digits * left + (b - 1 - digits) * right
    return sums
