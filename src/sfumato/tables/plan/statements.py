"""The engine's part: expressions that add integers. What they give is secret; nothing here is run.

*Statements*   rows: one line for each group, with the sums of all row pieces. units: the votes, or
               the different values, of every group. long: for histograms and quantiles, one line
               for each group and bin or point. All start from the same bounded rows.
*Exact*        Sums are of integers, so they are the same in every row order, on every number of
               threads. Where the declared number of rows could carry a sum beyond 62 bits it leaves
               the engine as a decimal of 38 digits. Which it is depends on the declaration alone.
*Doubles*      Without weights, sums of fewer than 2^53 grid steps are added as doubles: those sums
               are exact, too, and quicker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..engine.parquet_sums import PlainSums, Stored, plain_sums
from ..engine.relational import group, select
from ..expr.engine_values import cast, number
from ..expr.expressions import Expr
from ..expr.nodes import Columns
from ..expr.types import INT64, Type
from ..query.owned_rows import built, columns_of
from ..query.stages import Query
from .bounding import EXACT, NARROW, Bounding, row_weight, row_weights, truncated, votes
from .components import FLAT, Piece
from .count_distinct import counted
from .engine_keys import among_keys, compared, joined, key, written

Shape = Literal["rows", "units", "long", "ballot"]


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """One expression for the engine, and the pieces (by their place) that it answers. A ballot
    answers none: it tells which groups there are.
    """

    shape: Shape
    expression: Any
    pieces: tuple[int, ...] = ()
    plain: PlainSums | None = None  # the same, where it is no more than sums over columns of files


def statements(
    table: Any,
    query: Query,
    pieces: tuple[Piece, ...],
    bounding: Bounding,
    secret: str,
    stored: Stored | None = None,
) -> tuple[Statement, ...]:
    """All that the engine has to compute for a query."""
    units, keys = (
        [f"u{i}" for i in range(len(bounding.unit))],
        [f"k{i}" for i in range(len(query.keys))],
    )
    rows = _base(table, query, pieces, bounding, units)
    flat = tuple(i for i, piece in enumerate(pieces) if piece.form in FLAT)
    at_once = _at_once(pieces, bounding, keys)
    if bounding.truncation:
        rows = truncated(rows, bounding.rows, units, secret)
    elif units and not at_once:
        # a view, so that no part of the two is the same: engines would keep that part, with all its
        # rows, in memory
        owners = _base(table.view(), query, (), bounding, units, keyed=bounding.norm == "L2")
        rows = row_weights(rows, bounding, units, keys, owners=owners)
    made = []
    voters: Any = (
        _base(table, query, (), bounding, units)
        if not query.public or any(piece.form == "unit" for piece in pieces)
        else None
    )
    if not query.public:
        ballot = replace(
            bounding, norm="L1"
        )  # what a unit's votes weigh together is what counts here
        made.append(
            Statement(
                "ballot",
                votes(voters, ballot, units, keys, secret)
                if units
                else group(voters, keys, {"votes": voters.count()}),
            )
        )
    if flat:
        sums = {
            name: sum_
            for i in flat
            for name, sum_ in _sums(rows, i, pieces, bounding, weighed=not at_once).items()
        }
        added = (
            _weighed(group(rows, units, {"n": rows.count(), **sums}), bounding)
            if at_once
            else group(rows, keys, sums)
        )
        made.append(Statement("rows", added, flat, plain_sums(stored, query, pieces, bounding)))
    made += [
        Statement("units", votes(voters, bounding, units, keys, secret), (i,))
        for i, piece in enumerate(pieces)
        if piece.form == "unit"
    ]
    made += [
        Statement("long", _long(rows, keys, i, piece, bounding), (i,))
        for i, piece in enumerate(pieces)
        if piece.form in ("bin", "point", "tree")
    ]
    for i, piece in enumerate(pieces):
        if piece.form == "distinct":
            valued = _base(table, query, (piece,), bounding, units)
            made.append(
                Statement("units", counted(valued, bounding.rows, units, keys, secret), (i,))
            )
    return tuple(made)


def wide(piece: Piece, bounding: Bounding) -> bool:
    """Whether a sum may need more than 62 bits, as far as is publicly known."""
    return bounding.sum_bits(piece) > NARROW


def _at_once(pieces: tuple[Piece, ...], bounding: Bounding, keys: list[str]) -> bool:
    """Whether every unit's rows are added first, and then weighed: where there are no groups that
    is the same sum, in one pass and without a join.
    """
    if (
        keys
        or not bounding.unit
        or bounding.truncation
        or not all(piece.form in (*FLAT, "unit", "distinct") for piece in pieces)
    ):
        return False
    return not any(wide(piece, bounding) for piece in pieces if piece.form in FLAT)


def _weighed(units: Any, bounding: Bounding) -> Any:
    """The sums of units with their number of rows `n`, each times the weight of its unit, all
    together.
    """
    weight = cast(row_weight(units.n, bounding), INT64)
    return group(
        units,
        (),
        {
            name: cast((weight * units[name]).sum(), INT64)
            for name in units.columns
            if name.startswith("s")
        },
    )


def _base(
    table: Any,
    query: Query,
    pieces: tuple[Piece, ...],
    bounding: Bounding,
    units: list[str],
    *,
    keyed: bool = True,
) -> Any:
    """The rows that meet the conditions, with the columns that are needed: units, keys, and the
    integer or the side of each piece.
    """
    import ibis

    table, schema, kept = built(table, query.rows.declaration.schema, query.rows.steps)
    # Without a unit, and with all keys public, other keys are left out when the sums are read: that
    # is cheaper, and changes no sum.
    among = {
        name: domain
        for name, domain in zip(query.keys, query.domains, strict=True)
        if domain and (units or not query.public)
    }
    by = {name: key(name, table, schema) for name in query.keys if keyed or name in among}
    listed = {
        f"k{i}": among[name]
        for i, name in enumerate(query.keys)
        if name in among and not written(among[name])
    }
    made = {
        name: table[column] for name, column in zip(units, query.rows.declaration.unit, strict=True)
    }
    kept += [owner.notnull() for owner in made.values()]
    kept += [
        among_keys(by[name], schema[name], domain)
        for name, domain in among.items()
        if written(domain)
    ]
    made |= {f"k{i}": by[name] for i, name in enumerate(query.keys) if keyed or f"k{i}" in listed}
    for i, piece in enumerate(pieces):
        if _place(i, pieces, bounding) == i:
            made |= {
                f"v{i}{which}": value
                for which, value in _values(
                    piece, _beside(piece, pieces, bounding), table, schema, bounding
                ).items()
            }
    base = select(
        table, made or {"row": ibis.literal(1, "int8")}, kept
    )  # nothing else: a column of the table's own may be called v0
    for name, domain in listed.items():
        base = joined(base, name, domain, schema[query.keys[int(name[1:])]])
    return base


def _values(
    piece: Piece,
    beside: int | None,
    columns: Columns,
    schema: Mapping[str, Type],
    bounding: Bounding,
) -> dict[str, Any]:
    """What a row adds to a piece, or the bin or point it falls in; null where it is left out.
    Nothing where every row counts one, or where a column beside it tells. Of a side, the rare
    cases, apart: engines that know a column's least and largest value then need not look.
    """
    import ibis

    where = None if piece.where is None else piece.where.build(columns, schema)
    if piece.of is None:
        return {} if where is None else {"": ibis.cases((where, ibis.literal(1, "int64")))}
    if piece.form == "one" and beside is not None:
        return {}
    if piece.form == "distinct":
        value = compared(piece.of.build(columns, schema), piece.of.type(schema))
        return {"": value if where is None else ibis.cases((where, value))}
    value = (
        piece.of.build(columns, schema) if piece.form == "bin" else piece.of.raw(columns, schema)
    )
    absent = value.isnull() | value.isnan() if value.type().is_floating() else value.isnull()
    if piece.form == "side":
        assert piece.grid is not None
        below, above = piece.grid.outside(value)
        if where is not None:
            below, above, absent = below & where, above & where, absent | ~where.fill_null(False)
        return {"_below": below, "_above": above} | ({"_absent": absent} if beside is None else {})
    if piece.form == "one":
        made: Any = ibis.cases((~absent, ibis.literal(1, "int64")))
    elif piece.form == "bin":
        made = _bin(value, piece)
    else:
        made = _integer(piece, value, doubles=as_doubles(piece, bounding))
    return {"": made if where is None else ibis.cases((where, made))}


def _place(place: int, pieces: tuple[Piece, ...], bounding: Bounding) -> int:
    """Of pieces that are sums over the same integers (a sum, a mean, a spread), the first: its
    column serves them all.
    """
    asked = _source(pieces[place], bounding)
    return (
        place
        if asked is None
        else next(i for i, piece in enumerate(pieces) if _source(piece, bounding) == asked)
    )


def _source(piece: Piece, bounding: Bounding) -> tuple[Any, ...] | None:
    if piece.form not in ("value", "centred", "square"):
        return None
    assert piece.of is not None
    return piece.of.text, _text(piece.where), piece.filled, piece.grid, as_doubles(piece, bounding)


def _text(condition: Expr | None) -> str:
    return "" if condition is None else condition.text


def _integer(piece: Piece, value: Any, *, doubles: bool) -> Any:
    """The integer of a row; or, in doubles, its multiple of the grid's step."""
    grid = piece.grid
    assert grid is not None
    if piece.form in ("point", "tree"):
        return grid.places(value).fill_null(0) if piece.filled else grid.places(value)
    found, low = (
        (grid.doubles(value), float(grid.low * grid.step))
        if doubles
        else (grid.integers(value), grid.low)
    )
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
    return (square + (1 << piece.shift >> 1)) >> piece.shift if piece.shift else square


def _bin(value: Any, piece: Piece) -> Any:
    """The place of the bin that holds a value, found by halving. Integers are compared with
    integers, edges beyond all of them not at all.
    """
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
        return ibis.cases(
            (x < number_of(ends[middle]), within(low, middle)), else_=within(middle, high)
        )

    return ibis.cases((x.between(number_of(first), number_of(last)), within(0, piece.cells)))


def _sums(
    rows: Any, place: int, pieces: tuple[Piece, ...], bounding: Bounding, *, weighed: bool = True
) -> dict[str, Any]:
    """The sums of a piece's cells, by name."""
    import ibis

    piece = pieces[place]
    weight = _weight(rows, bounding, pooled=piece.pooled) if weighed else None
    beside, name = _beside(piece, pieces, bounding), f"v{_place(place, pieces, bounding)}"

    def where(condition: Any) -> Any:
        """How much weight there is where something holds."""
        return condition.sum() if weight is None else ibis.cases((condition, weight)).sum()

    def there(value: Any) -> Any:
        """How much weight there is where something is not null."""
        return value.count() if weight is None else where(value.notnull())

    total = (
        there(rows[f"v{beside}"])
        if beside is not None
        else rows.count()
        if weight is None
        else weight.sum()
    )
    if piece.form == "side":
        total = (
            total if beside is not None else total - ibis.coalesce(where(rows[f"{name}_absent"]), 0)
        )
        cells = [
            where(rows[f"{name}_below"]),
            total,
            where(rows[f"{name}_above"]),
        ]  # what of the second lies inside is found when it is read
    elif name not in rows.columns:
        cells = [total]
    elif piece.form == "one":
        cells = [there(rows[name])]
    elif as_doubles(piece, bounding):
        cells = [_measured(piece, rows[name], doubles=True).sum() * float(1 / piece.step)]
    else:
        number_ = _measured(piece, rows[name], doubles=False)
        cells = [number_.sum() if weight is None else (cast(weight, INT64) * number_).sum()]
    return {f"s{place}_{cell}": _whole(sum_, piece, bounding) for cell, sum_ in enumerate(cells)}


def _beside(piece: Piece, pieces: tuple[Piece, ...], bounding: Bounding) -> int | None:
    """The place of a column that is null exactly where a count, or a side, has no value: that of
    the same values, clipped.
    """
    if piece.form not in ("one", "side") or piece.of is None:
        return None
    asked = piece.of.text, _text(piece.where), False
    found = (
        _place(i, pieces, bounding)
        for i, other in enumerate(pieces)
        if (source := _source(other, bounding)) is not None and source[:3] == asked
    )
    return next(found, None)


def _long(rows: Any, keys: list[str], place: int, piece: Piece, bounding: Bounding) -> Any:
    """How much weight falls on every bin or point, and, in a line of its own that is not read, on
    none.
    """
    weight = _weight(rows, bounding, pooled=piece.form == "point")
    total = rows.count() if weight is None else weight.sum()
    name = f"v{place}"
    found = group(rows, [*keys, name], {f"s{place}_0": _whole(total, Piece("", "one"), bounding)})
    return (
        found
        if piece.grid is None
        else select(found, columns_of(found) | {name: found[name].cast("int64") + piece.grid.low})
    )


def as_doubles(piece: Piece, bounding: Bounding) -> bool:
    """Whether sums of doubles are exact, for all that is publicly known."""
    return (
        piece.grid is not None
        and piece.grid.floating
        and piece.form in ("value", "centred")
        and not bounding.unit
        and bounding.sum_bits(piece) <= EXACT
    )


def _whole(total: Any, piece: Piece, bounding: Bounding) -> Any:
    return total.cast("decimal(38, 0)" if wide(piece, bounding) else "int64")


def _weight(rows: Any, bounding: Bounding, *, pooled: bool) -> Any:
    """The weight of a row: none where it is 1."""
    if not bounding.unit or bounding.truncation:
        return None
    return rows.w1 if pooled and "w1" in rows.columns else rows.w
