"""Cumulative counts: how many rows lie between the first of a column's public edges and each
other one.

The engine counts the cells between the edges, as for a histogram; noise is added to measurements
of these cells that serve their prefixes (`prefix_noise`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ...exact.numbers import Number
from ..expr.expressions import Expr
from ..query.aggregate import Aggregate
from ..query.stages import Rows
from .column_kind import AggregateKind, Numbers, SqlCall
from .component import Component
from .histogram_bins import bins_of, histogram
from .prefix_noise import PrefixStrategies


def cumulative(of: str | Expr, edges: Iterable[Number]) -> Aggregate:
    """The number of rows from the first edge up to each other one; those at the last edge count,
    too. Values outside are not counted.
    """
    return replace(histogram(of, edges), kind="cumulative")


def _prefixes(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    ((cells,), numbers) = bins_of(aggregate, rows)
    return [replace(cells, strategies=PrefixStrategies(cells.cells))], numbers


CUMULATIVE = AggregateKind(
    name="cumulative",  # from all measurements of its piece: see `prefix_noise`
    components=_prefixes,
    counts=True,
    assume=lambda _, __, ___: Fraction(0),
    ranks_groups=False,
    calls=(SqlCall("CUMULATIVE", "counts up to edges", "bins", cumulative, names=("cumulative",)),),
    client="CUMULATIVE({of}, [{edges}])",
    about="the number of rows up to each edge",
    example="sf.cumulative('age', edges=[0, 18, 65, 120])",
)
