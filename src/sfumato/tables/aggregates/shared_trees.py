"""Decide which single quantiles of a query are read from one tree of counts.

*Choice*    m quantiles that are released one by one get a part 1/m of the promise each. A tree of
            counts costs the same for any m. All quantiles of one column, with the same bounds and
            condition, go the way with the smaller mean squared error, in rows, where values are
            spread evenly. For a quantile with an interval, half of the interval is its error.
*Errors*    A quantile without an interval errs about as Laplace noise of scale 2·Δ/ε. One with an
            interval has the noise of its bins, and a bin is a part of the bracket (`rank_ends`). A
            tree adds noise of scale levels·K/ε to every node (docs/proofs/percentiles.md). All
            scales follow ε and K alike, so neither matters to the choice.
*Never*     MIN and MAX; groups that are chosen privately, because their number is not known; more
            than MOST_CELLS cells in all groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ..query.aggregate import Aggregate
from ..query.group_keys import count_groups
from ..query.stages import Query
from .column_parts import component_name, tree_grid
from .count_tree import CountTree
from .date_quantiles import count_days
from .rank_ends import AWAY, BIN_OF_BRACKET, BRACKET, WEIGHTS, middle_square
from .tree_noise import expected_square

MOST_CELLS = 1 << 20
_HALF_WIDTH = 1.96 * math.sqrt(2)
"""The half-width at 95 % of a normal law with variance 2."""


def read_from_trees(query: Query) -> Mapping[str, str]:
    """Return the columns that are read from a tree, each with the kind "percentile"."""
    members: dict[str, dict[str, Aggregate]] = {}
    trees: dict[str, CountTree] = {}
    for name, stated in query.aggregates:
        if stated.kind in ("quantile", "percentile") and not stated.beyond:
            aggregate, is_dated = count_days(stated, query.rows)
            if is_dated and aggregate.kind == "quantile":
                continue  # a tree has a leaf for many days
            grid, _ = tree_grid(aggregate, query.rows, is_dated=bool(is_dated))
            place = component_name("tree", aggregate, grid)
            members.setdefault(place, {})[name] = aggregate
            trees[place] = CountTree.over(grid.count_marks)
    groups = count_groups(query)
    return {
        name: "percentile"
        for place, tree in trees.items()
        if query.public and groups * tree.cells <= MOST_CELLS
        if _is_tree_better(tree, members[place].values(), query)
        for name in members[place]
    }


def _is_tree_better(tree: CountTree, members: Iterable[Aggregate], query: Query) -> bool:
    """Compare the mean squared errors at ε = K = 1, but for a factor of 2. A tree that is counted
    for QUANTILES anyway is better than a part for each quantile beside it.
    """
    different = {aggregate.text: aggregate for aggregate in members}.values()
    if any(aggregate.kind == "percentile" for aggregate in different):
        return True
    swaps = 2 if query.rows.declaration.relation == "replace" else 1
    read, chosen = 0.0, 0.0
    for aggregate in different:
        assert aggregate.q is not None
        side = float(max(aggregate.q, 1 - aggregate.q))
        moved = (2 * side if query.keys else 1.0) if swaps == 2 else side
        error = 2 * moved
        if aggregate.interval:
            bracket = 2 * float(AWAY / BRACKET) * 2 * moved
            noise = swaps / float(WEIGHTS) * math.sqrt(middle_square(aggregate.q))
            error = noise + bracket * BIN_OF_BRACKET / 2 / _HALF_WIDTH
        chosen += (error * len(different)) ** 2
        read += (tree.levels * swaps) ** 2 * expected_square(tree, aggregate.q)
    return read < chosen
