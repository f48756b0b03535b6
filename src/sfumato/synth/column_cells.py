"""The public cells of each column, and from cells back to values.

*Keys*     of categories and truth values: one cell for each.
*Numbers*  equal spans of the public grid between the bounds; or spans between edges. A value is
           drawn evenly from its span.
*Dates*    are days between the ends that a condition states; a timestamp counts by its date.
*Missing*  the last cell: no value, or a value that is no public key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import exact
from ..tables.aggregates.date_quantiles import FIRST
from ..tables.expr.expressions import Expr, call, col, literal
from ..tables.expr.grids import Grid, grid_of
from ..tables.expr.types import Type
from ..tables.plan.row_codes import CodedColumn
from ..tables.query.stages import Rows
from ..tables.query.synthesis_options import Bins
from . import synth_refusals as refusals
from .merge_cells import Doubles
from .scatter import Places, Scatter

if TYPE_CHECKING:
    import pyarrow as pa

SPANS = 100
"""The spans of a column without bins="""
MOST_CELLS = 10_000
MOST_COLUMNS = 128

_DAYS = Type("integer")
_DATED = ("date", "timestamp")


def read_columns(
    rows: Rows, columns: Iterable[str] | None, bins: Mapping[str, Bins] | None
) -> tuple[CodedColumn, ...]:
    """Return the columns with their cells. Refuses a column without public cells."""
    possible = [name for name in rows.schema if name not in rows.declaration.unit]
    names = possible if columns is None else _listed(columns, possible)
    if len(names) > MOST_COLUMNS:
        raise refusals.TOO_MANY_PAIRS(
            columns=len(names), most=MOST_COLUMNS, first=names[0], second=names[1]
        )
    spans = _read_bins(bins, names)
    return tuple(_cells_of(rows, name, names, spans.get(name)) for name in names)


def _listed(columns: Iterable[str], possible: Sequence[str]) -> list[str]:
    names = [] if isinstance(columns, str) or not isinstance(columns, Iterable) else list(columns)
    if not names or len(set(names)) < len(names) or not set(names) <= set(possible):
        raise refusals.COLUMNS_UNKNOWN(
            columns=columns, names=", ".join(possible), first=possible[0] if possible else "age"
        )
    return names


def _read_bins(bins: object, names: Sequence[str]) -> Mapping[str, Bins]:
    if bins is None:
        return {}
    if not isinstance(bins, Mapping) or not set(bins) <= set(names):
        raise refusals.BINS_UNKNOWN(bins=bins, column=names[0])
    return bins


def _cells_of(rows: Rows, name: str, names: Sequence[str], bins: Bins | None) -> CodedColumn:
    kind = rows.schema[name]
    is_written = rows.facts.values(col(name)).is_written
    keys = tuple(key for key in rows.public_keys(name) if key is not None)
    is_number = kind.kind in ("integer", "float", "decimal")
    if keys and bins is None and (is_written or not (is_number or kind.kind in _DATED)):
        return _check(CodedColumn(name, len(keys) + 1, keys, ordered=is_number), names)
    if kind.kind in _DATED:
        value, kind = call("days_between", col(name), literal(FIRST)), _DAYS
    elif is_number:
        value = col(name)
    else:
        raise _without_cells(name, names, rows)
    if bins is not None and not isinstance(bins, int):
        edges = _read_edges(bins, name, rows.schema[name])
        return _check(CodedColumn(name, len(edges), value=value, edges=edges), names)
    if isinstance(bins, bool) or (bins is not None and bins < 1):
        raise refusals.BINS_UNKNOWN(bins={name: bins}, column=name)
    grid = _grid(rows, name, value, kind)
    if grid is None:
        raise _without_cells(name, names, rows)
    places = grid.high - grid.low + 1
    width = -(-places // (bins or SPANS))
    return _check(
        CodedColumn(name, -(-places // width) + 1, value=value, grid=grid, width=width), names
    )


def _grid(rows: Rows, name: str, value: Expr, kind: Type) -> Grid | None:
    if rows.schema[name].kind in _DATED:
        moments = rows.facts.values(col(name)).moments
        if moments is None:
            return None
        low, high = (Fraction((moment.date() - FIRST).days) for moment in moments)
    elif name in rows.ranges:
        low, high = rows.ranges[name]
    else:
        return None
    return grid_of(value.text, kind, low, high)


def _read_edges(bins: Bins, name: str, kind: Type) -> tuple[Fraction, ...]:
    if isinstance(bins, str) or not isinstance(bins, Sequence) or len(bins) < 2:
        raise refusals.BINS_UNKNOWN(bins={name: bins}, column=name)
    edges: list[Fraction] = []
    for edge in bins:
        if isinstance(edge, date) is not (kind.kind in _DATED):
            raise refusals.BINS_UNKNOWN(bins={name: bins}, column=name)
        if isinstance(edge, date):
            day = edge.date() if isinstance(edge, datetime) else edge
            edges.append(Fraction((day - FIRST).days))
        else:
            edges.append(exact(edge, f"an edge of {name:.60}"))
    if any(second <= first for first, second in pairwise(edges)):
        raise refusals.BINS_UNKNOWN(bins={name: bins}, column=name)
    return tuple(edges)


def _check(column: CodedColumn, names: Sequence[str]) -> CodedColumn:
    if not 2 <= column.cells <= MOST_CELLS:
        raise refusals.TOO_MANY_CELLS(column=column.name, cells=column.cells, most=MOST_CELLS)
    return column


def _without_cells(name: str, names: Sequence[str], rows: Rows) -> Exception:
    kind = rows.schema[name].kind
    rewrite = (
        f"keys={{{name!r}: ['first', 'second']}} when the table is protected"
        if kind in ("string", "uuid")
        else f"bins={{{name!r}: [datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)]}}"
        if kind in _DATED
        else f"bounds={{{name!r}: (0, 100)}} when the table is protected"
    )
    rest = [each for each in names if each != name]
    if rest:
        rewrite += f"; or columns={rest!r}"
    return refusals.COLUMN_WITHOUT_CELLS(column=name, rewrite=rewrite)


def draw_values(column: CodedColumn, kind: Type, codes: Places, scatter: Scatter) -> pa.Array:
    """Return a value for each code, null for the last cell."""
    import pyarrow as pa

    missing = codes >= column.cells - 1
    arrow = kind.to_ibis().to_pyarrow()
    if column.value is None:
        keys = pa.array([str(key) if kind.kind == "uuid" else key for key in column.keys])
        values = keys.take(pa.array(np.where(missing, 0, codes), mask=missing))
        return values if kind.kind == "uuid" else values.cast(arrow)
    numbers = _draw_numbers(column, kind, np.where(missing, 0, codes), scatter)
    if kind.kind in _DATED:
        days = pa.array(numbers.astype(np.int32), mask=missing).cast(pa.date32())
        return days.cast(arrow)
    if kind.kind == "decimal":
        text = [
            None if gone else f"{x:.{kind.scale}f}"
            for x, gone in zip(numbers, missing, strict=True)
        ]
        return pa.array(text, pa.string()).cast(arrow)
    return pa.array(numbers, mask=missing).cast(arrow)


def _draw_numbers(
    column: CodedColumn, kind: Type, codes: Places, scatter: Scatter
) -> NDArray[np.int64] | Doubles:
    """Return an even draw from the span of each code."""
    part = scatter.uniform(len(codes))
    if (grid := column.grid) is not None:
        place = codes * column.width + (part * column.width).astype(np.int64)
        place = np.minimum(place, grid.high - grid.low) + grid.low
        if grid.floating or grid.step != 1:
            return np.asarray(place * float(grid.step), dtype=np.float64)
        return place
    whole_values = kind.kind in ("integer", *_DATED)
    edges = [float(math.ceil(e)) if whole_values else float(e) for e in column.edges]
    low, high = np.array(edges[:-1])[codes], np.array(edges[1:])[codes]
    values = low + part * (high - low)
    return np.asarray(np.floor(values), dtype=np.int64) if whole_values else values
