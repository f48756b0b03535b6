"""What an aggregate needs from the engine: pieces, which are columns of exact integers with a known
range for each row.

*Shared*    Aggregates that need the same piece share it: a count and a mean of the same rows are
            two pieces, not three.
*Centred*   Means and spreads take values from the middle of their bounds: that halves what a row
            may add, and quarters its square.
*Squares*   are divided by a power of two, each row's by itself and rounded to the nearest, so that
            they have about as many steps as the values.
*Care*      Of every clipped column three counts are kept, below, inside and above the bounds, so
            that the answer can say how much was clipped; not where the bounds were learned, which
            told it already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from ...errors import Refused
from ...exact import effort
from ...exact.balls import sqrt_up
from ...exact.numbers import text
from ..expr.expressions import Column as Name
from ..expr.expressions import Expr
from ..expr.grids import BITS, Grid, as_number, grid_of
from ..query.aggregates import Aggregate
from ..query.stages import Query, Rows, Step
from .count_tree import TREE_BITS, Tree

Form = Literal[
    "one", "value", "centred", "square", "side", "unit", "bin", "point", "tree", "distinct"
]

FLAT: tuple[Form, ...] = ("one", "value", "centred", "square", "side")
"""Those with one line for each group."""

QUANTILE_BITS = 16  # a histogram of so many points is all that a quantile needs
NOTHING: Mapping[str, Fraction] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Integers for every group: in each cell the sum over rows of something between `low` and
    `high`, times the row's weight.
    """

    name: str
    form: Form
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    of: Expr | None = None
    where: Expr | None = None
    grid: Grid | None = None
    shift: int = 0
    cells: int = 1
    edges: tuple[Fraction, ...] = ()
    pooled: bool = False  # over all groups together
    filled: bool = False  # a missing value is taken for the lower end
    aggregate: Aggregate | None = None  # of a point: the quantile that is asked for
    tree: Tree | None = None  # of a tree: how its cells are counted
    rule: str = ""  # what is said of it, where that is not that a column is clipped

    @property
    def key(self) -> tuple[object, ...]:
        """All of it, as something that can be compared: expressions by their texts."""
        texts = tuple(
            "" if one is None else one.text for one in (self.of, self.where, self.aggregate)
        )
        numbers = self.low, self.high, self.step, self.shift, self.cells, self.edges
        return (
            self.name,
            self.form,
            *texts,
            *numbers,
            self.grid,
            self.pooled,
            self.filled,
            self.tree,
        )

    @property
    def largest(self) -> int:
        return max(abs(self.low), abs(self.high))

    @property
    def levels(self) -> int:
        """How many times a row is counted."""
        return 1 if self.tree is None else self.tree.levels


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of the answer: which pieces it is made of, and the public numbers that finishing
    needs.
    """

    name: str
    kind: str
    pieces: tuple[int, ...]
    text: str
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    edges: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pieces of a query, each once, and the columns made of them."""

    pieces: tuple[Piece, ...]
    columns: tuple[Column, ...]


def wanted(query: Query) -> Wanted:
    """What a query needs; refused here is what lacks bounds or has no number."""
    found: dict[str, Piece] = {}
    columns = []
    for name, aggregate in query.aggregates:
        effort.check()
        pieces, numbers = PIECES[aggregate.kind](aggregate, query.rows)
        for piece in pieces:
            found.setdefault(piece.name, piece)
        places = list(found)
        columns.append(
            Column(
                name,
                aggregate.kind,
                tuple(places.index(piece.name) for piece in pieces),
                aggregate.text,
                numbers,
                aggregate.edges,
            )
        )
    for piece in [*found.values()]:
        if (
            piece.form in ("value", "centred")
            and not piece.rule
            and learned_column(piece, query.rows) is None
        ):
            side = _side(piece)
            found.setdefault(side.name, side)
    return Wanted(tuple(found.values()), tuple(columns))


def _count(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    _check_where(aggregate, rows)
    return [_ones(aggregate, rows)], NOTHING


def _count_units(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    if aggregate.where is not None:
        raise Refused(
            "aggregate.units",
            aggregate.text,
            "units are counted over all rows of the query",
            "where(…) before aggregate(…)",
        )
    return [Piece("units", "unit") if rows.declaration.unit else Piece("count", "one")], NOTHING


def _sum(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows)
    name = _named("sum", aggregate, grid)
    piece = Piece(
        name,
        "value",
        grid.low,
        grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
    )
    return [piece], _ends(grid)


def _mean(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows)
    low, high = grid.low - grid.centre, grid.high - grid.centre
    name = _named("centred sum", aggregate, grid)
    centred = Piece(
        name, "centred", low, high, grid.step, aggregate.of, aggregate.where, grid, filled=filled
    )
    return [centred, _ones(aggregate, rows)], {
        **_ends(grid),
        "centre": grid.centre * grid.step,
        **_slack(_half(grid)),
    }


def _spread(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    (centred, ones), numbers = _mean(aggregate, rows)
    assert centred.grid is not None
    shift = max(0, 2 * centred.largest.bit_length() - BITS)
    largest = (centred.largest**2 + (1 << shift >> 1)) >> shift
    name = _named("squares", aggregate, centred.grid)
    step = centred.grid.step**2 * 2**shift
    squares = Piece(
        name,
        "square",
        0,
        largest,
        step,
        aggregate.of,
        aggregate.where,
        centred.grid,
        shift,
        filled=centred.filled,
    )
    half, lost = _half(centred.grid), step / 2 if shift else Fraction(0)
    far = centred.largest * centred.grid.step
    slack = (
        4 * far * half + lost
        if aggregate.kind == "variance"
        else half + (sqrt_up(lost) if lost else 0)
    )
    return [squares, centred, ones], {**numbers, **_slack(slack)}


def _quantile(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows, QUANTILE_BITS)
    piece = Piece(
        aggregate.text,
        "point",
        grid.low,
        grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
        aggregate=aggregate,
    )
    return [piece], {**_ends(grid), "confidence": aggregate.confidence, **_slack(_half(grid))}


def _histogram(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    assert aggregate.of is not None
    known = aggregate.of.type(rows.schema)
    _check_where(aggregate, rows)
    if not known.numeric:
        rewrite = (
            as_number(aggregate.of.text)
            if known.kind == "string"
            else "group_by(…) counts values as they are"
        )
        raise Refused(
            "aggregate.type",
            aggregate.of.text,
            f"a column of type {known} has no place between edges",
            rewrite,
        )
    return [
        Piece(
            aggregate.text,
            "bin",
            of=aggregate.of,
            where=aggregate.where,
            cells=len(aggregate.edges) - 1,
            edges=aggregate.edges,
        )
    ], NOTHING


def _distinct(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    assert aggregate.of is not None
    _check_where(aggregate, rows)
    if aggregate.of.columns & set(rows.declaration.unit):
        raise Refused(
            "aggregate.units",
            aggregate.text,
            "units are counted each once, and with less noise",
            "sf.count_units()",
        )
    about = "" if aggregate.where is None else f" where {aggregate.where.text}"
    return [
        Piece(
            f"different {aggregate.of.text}{about}",
            "distinct",
            of=aggregate.of,
            where=aggregate.where,
        )
    ], NOTHING


def _ratio(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    """Two sums, each of the rows that have a value of it."""
    (top,), ends = _sum(aggregate, rows)
    (bottom,), others = _sum(replace(aggregate, of=aggregate.by, low=None, high=None), rows)
    return [top, bottom], {**ends, "by_low": others["low"], "by_high": others["high"]}


def _weighted_mean(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    """The sum of weight times value, measured from the middle of the bounds, and the sum of weights
    of rows that have a value.
    """
    assert aggregate.of is not None
    assert aggregate.by is not None
    grid, _ = _grid(aggregate, rows)
    (weights,), ends = _sum(
        replace(aggregate, of=aggregate.by, low=None, high=None).filter(~aggregate.of.is_null()),
        rows,
    )
    assert weights.grid is not None
    if weights.grid.low < 0:
        reason = f"bounds of {aggregate.by.text} that reach below 0 are none of a weight"
        raise Refused(
            "aggregate.weight",
            aggregate.text,
            reason,
            f"CLIP({aggregate.by.text}, 0, 5) as the weight",
        )
    value, weight = (
        of.clip(*(grid.constant(end) for end in (grid.low, grid.high)))
        for of, grid in ((aggregate.of, grid), (aggregate.by, weights.grid))
    )
    product = weight * (value - grid.constant(grid.centre))
    far = max(grid.high - grid.centre, grid.centre - grid.low) * grid.step * ends["high"]
    made = replace(aggregate, of=product, low=-far, high=far)
    (products,), _ = _sum(made, rows)
    said = (
        f"{aggregate.of.text} clipped to [{text(grid.low * grid.step)}, "
        f"{text(grid.high * grid.step)}] before it is weighted"
    )
    own = replace(
        products,
        name=_named("weighted sum", aggregate, grid) + f" by {aggregate.by.text}",
        rule=said,
    )
    return [own, weights], {
        **_ends(grid),
        "centre": grid.centre * grid.step,
        "by_low": ends["low"],
        "by_high": ends["high"],
    }


def _percentile(aggregate: Aggregate, rows: Rows) -> tuple[list[Piece], Mapping[str, Fraction]]:
    grid, filled = _grid(aggregate, rows, TREE_BITS)
    assert aggregate.q is not None
    tree = Tree.over(grid.high - grid.low + 1)
    name = _named("tree", aggregate, grid)
    piece = Piece(
        name,
        "tree",
        step=Fraction(1),
        of=aggregate.of,
        where=aggregate.where,
        grid=grid,
        cells=tree.cells,
        filled=filled,
        tree=tree,
    )
    shape = {
        "step": grid.step,
        **{
            name: Fraction(getattr(tree, name))
            for name in ("leaves", "branching", "levels", "shift")
        },
    }
    return [piece], {**_ends(grid), "q": aggregate.q, **shape, **_slack(_half(grid))}


PIECES: dict[str, Callable[[Aggregate, Rows], tuple[list[Piece], Mapping[str, Fraction]]]] = {
    "count": _count,
    "count_units": _count_units,
    "count_distinct": _distinct,
    "sum": _sum,
    "ratio": _ratio,
    "mean": _mean,
    "weighted_mean": _weighted_mean,
    "variance": _spread,
    "std": _spread,
    "quantile": _quantile,
    "percentile": _percentile,
    "histogram": _histogram,
}
"""The pieces of every kind of aggregate, in the order in which finishing takes them."""


def _ones(aggregate: Aggregate, rows: Rows) -> Piece:
    """How many rows there are, or how many of them have a value."""
    of = aggregate.of
    if of is not None and not of.type(rows.schema).nullable:
        of = None
    about = ([] if of is None else [of.text]) + (
        [] if aggregate.where is None else [f"where {aggregate.where.text}"]
    )
    return Piece(" ".join(["count", *about]), "one", of=of, where=aggregate.where)


def _side(piece: Piece) -> Piece:
    """Where the values lie: below, inside or above the bounds."""
    assert piece.of is not None
    assert piece.grid is not None
    ends = f"[{text(piece.grid.low * piece.grid.step)}, {text(piece.grid.high * piece.grid.step)}]"
    about = "" if piece.where is None else f" where {piece.where.text}"
    return Piece(
        f"clipped:{piece.of.text} {ends}{about}",
        "side",
        of=piece.of,
        where=piece.where,
        grid=piece.grid,
        cells=3,
        pooled=True,
    )


def learned_column(piece: Piece, rows: Rows) -> str | None:
    """The column of the table that a piece is of, where its bounds were learned: that told how much
    they clip. None for all others.
    """
    name = piece.of.name if isinstance(piece.of, Name) else None
    if name is None or piece.grid is None or name not in dict(rows.declaration.learned.bounds):
        return None
    if not all(isinstance(step, Step) and step.column != name for step in rows.steps):
        return None  # it may have been written anew
    low, high = rows.declaration.ranges[name]
    near = low - piece.grid.low * piece.grid.step, high - piece.grid.high * piece.grid.step
    return (
        name if max(map(abs, near)) < piece.grid.step else None
    )  # other ends may have been given with the aggregate


def _grid(aggregate: Aggregate, rows: Rows, bits: int = BITS) -> tuple[Grid, bool]:
    """The grid of what is aggregated, between its ends, and whether a missing value is taken for
    the lower one.
    """
    assert aggregate.of is not None
    place, known = aggregate.of.text, aggregate.of.type(rows.schema)
    _check_where(aggregate, rows)
    low, high = aggregate.low, aggregate.high
    if low is None or high is None:
        ends = (
            (Fraction(0), Fraction(1)) if known.kind == "bool" else aggregate.of.range(rows.ranges)
        )
        if ends is None:
            if not known.numeric:
                return grid_of(
                    place, known, Fraction(0), Fraction(1)
                ), False  # refuses: the type is the matter
            rewrite = f"bounds={{{place!r}: (0, 100)}} in protect(…), or low=0, high=100 here"
            raise Refused(
                "aggregate.bounds",
                aggregate.text,
                f"without public bounds of {place} one row could move the answer by any amount",
                rewrite,
            )
        low, high = ends
    return grid_of(place, known, low, high, bits), not known.nullable


def _check_where(aggregate: Aggregate, rows: Rows) -> None:
    if aggregate.of is not None:
        aggregate.of.type(rows.schema)
    if aggregate.where is not None and aggregate.where.type(rows.schema).kind != "bool":
        raise Refused(
            "aggregate.where",
            aggregate.text,
            "a condition is true or false of a row",
            "count_if(sf.col('age') >= 18)",
        )


def _ends(grid: Grid) -> Mapping[str, Fraction]:
    return {"low": grid.low * grid.step, "high": grid.high * grid.step}


def _half(grid: Grid) -> Fraction:
    """What rounding to the grid may have moved a value by."""
    return grid.step / 2 if grid.floating else Fraction(0)


def _slack(by: Fraction) -> Mapping[str, Fraction]:
    """What intervals are widened by, so that they also cover what rounding to the grid has
    moved.
    """
    return {"slack": by} if by else NOTHING


def _named(what: str, aggregate: Aggregate, grid: Grid) -> str:
    assert aggregate.of is not None
    ends = f"[{text(grid.low * grid.step)}, {text(grid.high * grid.step)}]"
    return " ".join(
        [
            what,
            aggregate.of.text,
            ends,
            *(["where", aggregate.where.text] if aggregate.where is not None else []),
        ]
    )
