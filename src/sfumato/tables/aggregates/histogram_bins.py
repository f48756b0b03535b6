"""Histograms: the number of rows in each bin of a column."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from ...errors import Refused
from ...exact.numbers import Number, exact
from ..expr.expressions import ColumnRef, Expr, as_expr, python_text
from ..expr.types import Type
from ..query.aggregate import Aggregate
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .column_kind import AggregateKind, Numbers, SqlCall
from .column_parts import NOTHING, check_condition_type
from .component import Component

MOST_EDGES = 10_001


def histogram(of: str | Expr, edges: Iterable[Number]) -> Aggregate:
    """The number of rows in each bin [e₀, e₁), [e₁, e₂), …; the last bin is closed. Values outside
    are in no bin.
    """
    ends = tuple(exact(edge, "edge") for edge in edges)
    if not 2 <= len(ends) <= MOST_EDGES or any(a >= b for a, b in pairwise(ends)):
        raise refusals.EDGES_NOT_INCREASING(count=len(ends), most=MOST_EDGES)
    return Aggregate("histogram", as_expr(of), edges=ends)


def bins_of(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    """Return the counts of the cells between edges."""
    assert aggregate.of is not None
    column_type = aggregate.of.type(rows.schema)
    check_condition_type(aggregate, rows)
    if not column_type.numeric:
        raise _refuse_histogram(aggregate.of, column_type)
    return [
        Component(
            aggregate.text,
            "bin",
            of=aggregate.of,
            where=aggregate.where,
            cells=len(aggregate.edges) - 1,
            edges=aggregate.edges,
        )
    ], NOTHING


def _refuse_histogram(of: Expr, column_type: Type) -> Refused:
    """Build the refusal of a histogram of values that are no numbers."""
    if column_type.kind == "string":
        return refusals.HISTOGRAM_OF_TEXT(of=of.text, python=python_text(of))
    grouped = (
        f"group_by({of.name!r})"
        if isinstance(of, ColumnRef)
        else f"mutate(value={python_text(of)}).group_by('value')"
    )
    return refusals.HISTOGRAM_OF_NO_NUMBER(of=of.text, type=column_type, grouped=grouped)


HISTOGRAM = AggregateKind(
    name="histogram",
    components=bins_of,
    counts=True,
    adds=True,
    assume=lambda _, __, ___: Fraction(0),
    ranks_groups=False,
    calls=(SqlCall("HISTOGRAM", "counts by bins", "bins", histogram, names=("histogram",)),),
    client="HISTOGRAM({of}, [{edges}])",
    about="the number of rows in each bin",
    example="sf.histogram('age', edges=[0, 18, 65, 120])",
)
