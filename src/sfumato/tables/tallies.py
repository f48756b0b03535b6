"""The engine's part: expressions that add integers. What they give is secret; nothing here is run.

*Statements*   rows: one line for each group, with the sums of all row pieces. units: the votes of every group. long: for histograms and quantiles, one
               line for each group and bin or point. All start from the same bounded rows.
*Exact*        Sums are of integers, so they are the same in every row order, on every number of threads. Where the declared number of rows could carry a
               sum beyond 62 bits it leaves the engine as a decimal of 38 digits. Which it is depends on the declaration alone.
*Doubles*      Without weights, sums of fewer than 2^53 grid steps are added as doubles: those sums are exact, too, and quicker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from operator import add, and_, or_
from typing import Any, Literal
from uuid import UUID

from .bounding import Bounding, row_weights, truncated, votes
from .declaration import Key
from .engine_values import cast, constant, number
from .expressions import Expr, col
from .per_unit import PerUnit
from .pieces import Piece
from .stages import Query
from .types import INT64, STRING, Type

Shape = Literal["rows", "units", "long", "ballot"]

NARROW = 62
_DOUBLE = 53
_FEW_KEYS = 64
_FEW_RUNS = 8
_FLAT = ("one", "value", "centred", "square", "side")


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One expression for the engine, and the pieces (by their place) that it answers. A ballot answers none: it tells which groups there are."""

    shape: Shape
    expression: Any
    pieces: tuple[int, ...] = ()


def statements(table: Any, query: Query, pieces: tuple[Piece, ...], bounding: Bounding, secret: str) -> tuple[Statement, ...]:
    """All that the engine has to compute for a query."""
    units, keys = [f"u{i}" for i in range(len(bounding.unit))], [f"k{i}" for i in range(len(query.keys))]
    base = _base(table, query, pieces, bounding, units)
    rows = base
    if bounding.truncation:
        rows = truncated(base, bounding.rows, units, secret)
    elif units:
        # a view, so that no part of the two is the same: engines would keep that part, with all its rows, in memory
        rows = row_weights(base, bounding, units, keys, owners=_base(table.view(), query, (), bounding, units))
    made = []
    if not query.public:
        ballot = replace(bounding, norm="L1")  # what a unit's votes weigh together is what counts here
        made.append(Statement("ballot", votes(base, ballot, units, keys, secret) if units else base.group_by(keys).agg(votes=lambda t: t.count())))
    flat = tuple(i for i, piece in enumerate(pieces) if piece.form in _FLAT)
    if flat:
        sums = {name: sum_ for i in flat for name, sum_ in _sums(rows, i, pieces, bounding).items()}
        made.append(Statement("rows", _by(rows, keys, sums), flat))
    made += [Statement("units", votes(base, bounding, units, keys, secret), (i,)) for i, piece in enumerate(pieces) if piece.form == "unit"]
    made += [Statement("long", _long(rows, keys, i, piece, bounding), (i,)) for i, piece in enumerate(pieces) if piece.form in ("bin", "point")]
    return tuple(made)


def wide(piece: Piece, bounding: Bounding) -> bool:
    """Whether a sum may need more than 62 bits, as far as is publicly known."""
    return bounding.sum_bits(piece) > NARROW


def _base(table: Any, query: Query, pieces: tuple[Piece, ...], bounding: Bounding, units: list[str]) -> Any:
    """The rows that meet the conditions, with the columns that are needed: units, keys, and the integer or the side of each piece."""
    import ibis

    schema = dict(query.rows.declaration.schema)
    for step in query.rows.steps:
        if isinstance(step, PerUnit):
            table, schema = step.build(table, schema), step.schema(schema)
            continue
        built = step.expression.build(_columns(table), schema)
        if step.column is None:
            table = table.filter(built)
        else:
            schema[step.column] = step.expression.type(schema)
            table = table.mutate(**{step.column: built})
    columns = _columns(table)
    made = {name: columns[column] for name, column in zip(units, query.rows.declaration.unit, strict=True)}
    made |= {f"k{i}": _key(name, columns, schema) for i, name in enumerate(query.keys)}
    for i, piece in enumerate(pieces):
        if _place(i, pieces, bounding) == i:
            made |= {f"v{i}{which}": value for which, value in _values(piece, columns, schema, bounding).items()}
    base = table.select(**(made or {"row": ibis.literal(1, "int8")}))  # nothing else: a column of the table's own may be called v0
    # Without a unit, and with all keys public, other keys are left out when the sums are read: that is cheaper, and changes no sum.
    filtered = [(f"k{i}", schema[query.keys[i]], domain) for i, domain in enumerate(query.domains) if domain and (units or not query.public)]
    for name, _, domain in filtered:
        if not _written(domain):
            base = _joined(base, name, domain)
    kept = [base[name].notnull() for name in units]
    kept += [_among(base[name], known, domain) for name, known, domain in filtered if _written(domain)]
    return base.filter(reduce(and_, kept)) if kept else base


def _columns(table: Any) -> Mapping[str, Any]:
    return {name: table[name] for name in table.columns}


def _key(name: str, columns: Mapping[str, Any], schema: Mapping[str, Type]) -> Any:
    """A key as the engine compares it: a uuid as text, a moment in UTC; of floats, NaN is no key, and −0 is 0."""
    import ibis

    value, known = col(name).build(columns, schema), schema[name]
    if known.kind == "uuid":
        return value.cast("string")
    return value + ibis.literal(0.0, value.type()) if known.kind == "float" else value


def engine_key(key: Key) -> Any:
    """A public key as the engine has it."""
    if isinstance(key, UUID):
        return str(key)
    return key.astimezone(UTC).replace(tzinfo=None) if isinstance(key, datetime) and key.tzinfo is not None else key


def _written(domain: tuple[Key, ...]) -> bool:
    """Whether keys are listed in the statement itself: there are few, or few runs of them, and no text has a NUL, which ends a statement."""
    return (len(domain) <= _FEW_KEYS and not any(isinstance(key, str) and "\0" in key for key in domain)) or 0 < len(_runs(domain)) <= _FEW_RUNS


def _among(value: Any, known: Type, domain: tuple[Key, ...]) -> Any:
    written = STRING if known.kind == "uuid" else known.bare
    named, runs = [key for key in domain if key is not None], _runs(domain)
    if 0 < len(runs) <= _FEW_RUNS:  # quicker than any list
        found = reduce(or_, (value.between(*(constant(end, written) for end in run)) for run in runs))
    else:
        found = value.isin([constant(engine_key(key), written) for key in named]) if named else value.isnull()
    return found | value.isnull() if None in domain and named else found


def _runs(domain: tuple[Key, ...]) -> list[tuple[int, int]]:
    """Of integers, the first and the last of every run without a gap; nothing of other keys."""
    numbers = [key for key in domain if isinstance(key, int) and not isinstance(key, bool)]
    if len(numbers) < len(domain) - domain.count(None):
        return []
    numbers.sort()
    after = [i for i, (one, next_) in enumerate(pairwise(numbers), 1) if next_ > one + 1]
    return [(numbers[first], numbers[last - 1]) for first, last in pairwise([0, *after, len(numbers)])] if numbers else []


def _joined(base: Any, name: str, domain: tuple[Key, ...]) -> Any:
    """The rows whose key is in a long list: by a join with it. The list is made as ibis.memtable does, which would import pandas for it."""
    import pyarrow as pa
    from ibis.expr.operations import InMemoryTable
    from ibis.expr.schema import Schema
    from ibis.formats.pyarrow import PyArrowTableProxy
    from ibis.util import gen_name

    known = base[name].type()
    keys = pa.table({name: pa.array([engine_key(key) for key in domain], type=known.to_pyarrow())})
    listed = InMemoryTable(gen_name("keys"), Schema({name: known}), PyArrowTableProxy(keys)).to_expr()
    return base.semi_join(listed, base[name].identical_to(listed[name]) if None in domain else name)


def _values(piece: Piece, columns: Mapping[str, Any], schema: Mapping[str, Type], bounding: Bounding) -> dict[str, Any]:
    """What a row adds to a piece, or the bin or point it falls in; null where it is left out. Nothing where every row counts one. Of a side, the three
    rare cases, apart: engines that know a column's least and largest value then need not look."""
    import ibis

    where = None if piece.where is None else piece.where.build(columns, schema)
    if piece.of is None:
        return {} if where is None else {"": ibis.cases((where, ibis.literal(1, "int64")))}
    value = piece.of.build(columns, schema) if piece.form == "bin" else piece.of.raw(columns, schema)
    absent = value.isnull() | value.isnan() if value.type().is_floating() else value.isnull()
    if piece.form == "side":
        assert piece.grid is not None
        below, above = piece.grid.outside(value)
        if where is None:
            return {"_below": below, "_above": above, "_absent": absent}
        return {"_below": below & where, "_above": above & where, "_absent": absent | ~where.fill_null(False)}
    if piece.form == "one":
        made: Any = ibis.cases((~absent, ibis.literal(1, "int64")))
    elif piece.form == "bin":
        made = _bin(value, piece)
    else:
        made = _integer(piece, value, doubles=as_doubles(piece, bounding))
    return {"": made if where is None else ibis.cases((where, made))}


def _place(place: int, pieces: tuple[Piece, ...], bounding: Bounding) -> int:
    """Of pieces that are sums over the same integers (a sum, a mean, a spread), the first: its column serves them all."""
    asked = _source(pieces[place], bounding)
    return place if asked is None else next(i for i, piece in enumerate(pieces) if _source(piece, bounding) == asked)


def _source(piece: Piece, bounding: Bounding) -> tuple[Any, ...] | None:
    if piece.form not in ("value", "centred", "square"):
        return None
    assert piece.of is not None
    return piece.of.text, _text(piece.where), piece.grid, piece.filled, as_doubles(piece, bounding)


def _text(condition: Expr | None) -> str:
    return "" if condition is None else condition.text


def _integer(piece: Piece, value: Any, *, doubles: bool) -> Any:
    """The integer of a row; or, in doubles, its multiple of the grid's step."""
    grid = piece.grid
    assert grid is not None
    if piece.form == "point":
        return grid.places(value).fill_null(0) if piece.filled else grid.places(value)
    found, low = (grid.doubles(value), float(grid.low * grid.step)) if doubles else (grid.integers(value), grid.low)
    return found.fill_null(low) if piece.filled else found


def _measured(piece: Piece, value: Any, *, doubles: bool) -> Any:
    """What is added: an integer as it is, from the middle, or its square from the middle."""
    grid = piece.grid
    assert grid is not None
    if piece.form == "value":
        return value
    if piece.form == "centred":
        return value - (float(grid.centre * grid.step) if doubles else grid.centre)
    centred = cast(value, INT64) - grid.centre
    square = centred * centred
    return ((square + (1 << piece.shift >> 1)) // (1 << piece.shift)).cast("int64") if piece.shift else square


def _bin(value: Any, piece: Piece) -> Any:
    """The place of the bin that holds a value, found by halving. Integers are compared with integers, edges beyond all of them not at all."""
    import ibis

    least, most = (-(2**63), 2**63 - 1) if value.type().is_integer() else (-math.inf, math.inf)
    whole = value.type().is_integer()
    x = value if whole else value.cast("float64")
    ends = [math.ceil(edge) if whole else float(edge) for edge in piece.edges]
    first, last = max(ends[0], least), min(math.floor(piece.edges[-1]) if whole else ends[-1], most)
    if first > last:
        return ibis.null("int64")

    def number_of(end: float) -> Any:
        return ibis.literal(end, "int64") if whole else number(end)

    def within(low: int, high: int) -> Any:
        if high - low == 1:
            return ibis.literal(low, "int64")
        middle = (low + high) // 2
        if not least < ends[middle] <= most:
            return within(low, middle) if ends[middle] > most else within(middle, high)
        return ibis.cases((x < number_of(ends[middle]), within(low, middle)), else_=within(middle, high))

    return ibis.cases((x.between(number_of(first), number_of(last)), within(0, piece.cells)))


def _sums(rows: Any, place: int, pieces: tuple[Piece, ...], bounding: Bounding) -> dict[str, Any]:
    """The sums of a piece's cells, by name."""
    import ibis

    piece = pieces[place]
    weight = _weight(rows, bounding, pooled=piece.pooled)
    name = f"v{_place(place, pieces, bounding)}"
    value = rows[name] if name in rows.columns else None
    if piece.form == "side":
        rare = [rows[f"v{place}_{which}"] for which in ("below", "above", "absent")]
        sums = [one.sum() if weight is None else ibis.cases((one, weight)).sum() for one in rare]
        total = rows.count() if weight is None else weight.sum()
        # its values, null where there is none, stand beside it: to count those is quicker
        if weight is None and (beside := _beside(piece, pieces, bounding)) is not None:
            total, sums = rows[f"v{beside}"].count(), sums[:2]
        cells = [sums[0], total - reduce(add, (ibis.coalesce(one, 0) for one in sums)), sums[1]]
    elif value is None:
        cells = [rows.count() if weight is None else weight.sum()]
    elif piece.form == "one":
        cells = [value.count() if weight is None else (cast(weight, INT64) * value).sum()]
    elif as_doubles(piece, bounding):
        cells = [_measured(piece, value, doubles=True).sum() * float(1 / piece.step)]
    else:
        number_ = _measured(piece, value, doubles=False)
        cells = [number_.sum() if weight is None else (cast(weight, INT64) * number_).sum()]
    return {f"s{place}_{cell}": _whole(total, piece, bounding) for cell, total in enumerate(cells)}


def _beside(side: Piece, pieces: tuple[Piece, ...], bounding: Bounding) -> int | None:
    """The place of the column whose clipped values a side is about."""
    assert side.of is not None
    asked = side.of.text, _text(side.where), side.grid, False
    found = (i for i, piece in enumerate(pieces) if (source := _source(piece, bounding)) is not None and source[:4] == asked)
    return next((_place(i, pieces, bounding) for i in found), None)


def _long(rows: Any, keys: list[str], place: int, piece: Piece, bounding: Bounding) -> Any:
    """How much weight falls on every bin or point, and, in a line of its own that is not read, on none."""
    weight = _weight(rows, bounding, pooled=piece.form == "point")
    total = rows.count() if weight is None else weight.sum()
    name = f"v{place}"
    found = rows.group_by([*keys, name]).agg(**{f"s{place}_0": _whole(total, Piece("", "one"), bounding)})
    return found if piece.grid is None else found.mutate(**{name: found[name].cast("int64") + piece.grid.low})


def as_doubles(piece: Piece, bounding: Bounding) -> bool:
    """Whether sums of doubles are exact, for all that is publicly known."""
    return piece.grid is not None and piece.grid.floating and piece.form in ("value", "centred") and not bounding.unit and bounding.sum_bits(piece) <= _DOUBLE


def _whole(total: Any, piece: Piece, bounding: Bounding) -> Any:
    return total.cast("decimal(38, 0)" if wide(piece, bounding) else "int64")


def _weight(rows: Any, bounding: Bounding, *, pooled: bool) -> Any:
    """The weight of a row: none where it is 1."""
    if not bounding.unit or bounding.truncation:
        return None
    return rows.w1 if pooled else rows.w


def _by(rows: Any, keys: list[str], sums: dict[str, Any]) -> Any:
    return rows.group_by(keys).agg(**sums) if keys else rows.agg(**sums)
