"""Decide which single quantiles of a query are read from one tree of counts.

*Choice*    m quantiles that are chosen one by one get a part 1/m of the promise each, and half of
            that pays for an interval. A tree of counts costs the same for any m. All quantiles of
            one column, with the same bounds and condition, go the way with the smaller mean squared
            error, in rows, where values are spread evenly.
*Errors*    A chosen quantile errs about as Laplace noise of scale 2·Δ/ε; a tree adds noise of scale
            levels·K/ε to every node (docs/proofs/percentiles.md). Both scales follow ε and K alike,
            so neither matters to the choice.
*Never*     MIN and MAX; groups that are chosen privately, because their number is not known; more
            than MOST_CELLS cells in all groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ..query.aggregate import Aggregate
from ..query.stages import Query
from .column_parts import component_name, grid_for
from .count_tree import TREE_BITS, CountTree
from .tree_noise import expected_square

MOST_CELLS = 1 << 20


def read_from_trees(query: Query) -> Mapping[str, str]:
    """Return the columns that are read from a tree, each with the kind "percentile"."""
    members: dict[str, dict[str, Aggregate]] = {}
    trees: dict[str, CountTree] = {}
    for name, aggregate in query.aggregates:
        if aggregate.kind in ("quantile", "percentile") and not aggregate.beyond:
            grid, _ = grid_for(aggregate, query.rows, TREE_BITS)
            place = component_name("tree", aggregate, grid)
            members.setdefault(place, {})[name] = aggregate
            trees[place] = CountTree.over(grid.high - grid.low + 1)
    groups = math.prod(len(domain) for domain in query.domains)
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
    is_replace = query.rows.declaration.relation == "replace"
    read, chosen = 0.0, 0.0
    for aggregate in different:
        assert aggregate.q is not None
        side = float(max(aggregate.q, 1 - aggregate.q))
        moved = (2 * side if query.keys else 1.0) if is_replace else side
        parts = len(different) * (2 if aggregate.interval else 1)
        chosen += (2 * moved * parts) ** 2
        scale = tree.levels * (2 if is_replace else 1)
        read += scale**2 * expected_square(tree, aggregate.q)
    return read < chosen
