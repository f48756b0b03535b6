"""What one unit may change: weights that see to it, and the sensitivities that follow.

*Weights*       A unit with n rows (of those that reach the aggregate) has n·w of weight, w =
                (k·2^s) // max(n, k): at most k·2^s, with no row left out and nothing drawn. For the
                Gaussian, whose noise follows the Euclidean norm, w is the largest integer with w²·Σ
                c_g² ≤ k²·4^s and w ≤ 2^s, c_g the unit's rows in group g: a unit spread over many
                groups keeps more of its weight.
*Votes*         One for each group a unit is in: w = (m·2^s) // max(G, m), or for the Euclidean norm
                the largest w with w²·G ≤ m·4^s, w ≤ 2^s.
*Truncation*    instead, where declared: at most k rows of a unit (m groups), those with the
                smallest keyed hash; a row then weighs 1.
*Sensitivity*   With K = k·2^s and each row's integer in [−l, h], h and l not below 0, B = max(h,
                l):

                                one number           many cells, L1     many cells, L2
                add-remove      K·B                  K·B                K·B
                replace         K·(h + l)            2·K·B              K·√(2h² + 2l²)

*Proof*         docs/proofs/tables.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ...errors import Refused
from ...guarantees import Relation
from ..declare.declaration import Declaration
from ..engine.relational import group, select
from ..expr import engine_values as ev
from ..expr.types import FLOAT, INT64
from ..query.stages import Query
from .components import Piece

Norm = Literal["L1", "L2"]
Rule = Literal["row", "part", "root", "drawn"]

NARROW, EXACT = 62, 53  # bits of integers that engines add as such, and of those that doubles hold
WEIGHT_BITS = 20  # a unit of n rows loses at most n/(k·2^20) of its weight to rounding
_WIDE = 1 << 31  # more rows of a unit in a group than this leave it no weight in any case


@dataclass(frozen=True, slots=True)
class Bounding:
    """The limits of a query, for noise that follows one of two norms."""

    unit: tuple[str, ...]
    rows: int
    groups: int
    relation: Relation
    grouped: bool
    norm: Norm
    truncation: bool
    table_rows: int
    called: str = ""  # what the unit is called, where that is not the name of its columns

    @classmethod
    def of(cls, query: Query, norm: Norm) -> Bounding:
        """The limits that were declared; refused where there are none."""
        return replace(cls._of(query, norm), called=query.rows.declaration.among)

    @classmethod
    def _of(cls, query: Query, norm: Norm) -> Bounding:
        declared: Declaration = query.rows.declaration
        grouped = bool(query.keys)
        if not declared.unit:
            return cls((), 1, 1, declared.relation, grouped, norm, False, declared.table_rows)
        if query.rows.once:  # one row is all that a unit has
            return cls(
                declared.unit,
                1,
                1,
                declared.relation,
                grouped,
                norm,
                declared.bounding == "truncation",
                declared.table_rows,
            )
        if declared.max_rows is None:
            reason = f"without a limit one {declared.unit_name} could have any number of rows"
            raise Refused(
                "table.max-rows",
                f"protect({declared.name!r}, …)",
                reason,
                "max_rows=5 in protect(…): the rows that a unit counts for",
            )
        groups = declared.max_groups or declared.max_rows
        most = declared.table_rows * (
            declared.max_rows if query.rows.fans else 1
        )  # repeated by a join, a unit's rows still weigh no more than its limit
        return cls(
            declared.unit,
            declared.max_rows,
            groups,
            declared.relation,
            grouped,
            norm,
            declared.bounding == "truncation",
            most,
        )

    @property
    def bits(self) -> int:
        """s: weights are counted in parts of 2^-s of a row."""
        if not self.unit or self.truncation:
            return 0
        return (
            WEIGHT_BITS
            if self.norm == "L1"
            else min(WEIGHT_BITS, 24 - max(self.rows, self.groups).bit_length())
        )

    @property
    def rule(self) -> Rule:
        """How the rows of a unit are weighed: in full, each for a part, by the Euclidean norm over
        groups, or drawn.
        """
        if not self.unit:
            return "row"
        return (
            "drawn" if self.truncation else "root" if self.norm == "L2" and self.grouped else "part"
        )

    @property
    def vote_bits(self) -> int:
        """Of votes: whole ones where there is but one group."""
        return self.bits if self.grouped else 0

    @property
    def weight(self) -> int:
        """K: the most that the rows of a unit weigh together."""
        return self.rows << self.bits

    @property
    def most_votes(self) -> int:
        """The most that the votes of a unit weigh together."""
        return self.groups << self.vote_bits if self.grouped else 1

    def step(self, piece: Piece) -> Fraction:
        """What one in a piece's integers is worth."""
        return piece.step / (1 << self.piece_bits(piece))

    def piece_bits(self, piece: Piece) -> int:
        """Into how many parts a piece's integers divide what they count: different values are
        whole.
        """
        return {"unit": self.vote_bits, "distinct": 0}.get(piece.form, self.bits)

    def l1(self, piece: Piece) -> int:
        """How far a neighbour moves the integers of a piece, summed over all cells."""
        if piece.form == "unit":
            return self.most_votes * (2 if self.relation == "replace" and self.grouped else 1)
        weight = self.rows << self.piece_bits(piece)
        if self.relation == "add-remove":
            return weight * piece.largest * piece.levels
        return (
            weight * (2 * piece.largest if self._many(piece) else sum(_sides(piece))) * piece.levels
        )

    def l2_squared(self, piece: Piece) -> int:
        """The square of how far, in the Euclidean norm."""
        twice = self.relation == "replace"
        if piece.form == "unit":
            together = self.groups if self.truncation else self.groups << 2 * self.vote_bits
            return together * (2 if twice else 1) if self.grouped else 1
        weight = self.rows << self.piece_bits(piece)
        if not twice:
            return (weight * piece.largest) ** 2 * piece.levels
        above, below = _sides(piece)
        return (
            weight**2
            * (2 * (above**2 + below**2) if self._many(piece) else (above + below) ** 2)
            * piece.levels
        )

    def sum_bits(self, piece: Piece) -> int:
        """Bits of the largest sum that the declared number of rows could have."""
        return self.bits + piece.largest.bit_length() + (self.table_rows - 1).bit_length()

    def _many(self, piece: Piece) -> bool:
        """Whether a piece has more than one number."""
        return piece.cells > 1 or (self.grouped and not piece.pooled)


def _sides(piece: Piece) -> tuple[int, int]:
    """How far above and below 0 a row's integer may lie."""
    return max(piece.high, 0), max(-piece.low, 0)


def row_weight(count: Any, bounding: Bounding) -> Any:
    """The weight of each row of a unit that has so many of them, for one number or the L1 norm of
    many.
    """
    return _part(bounding.rows << bounding.bits, count, bounding.rows)


def row_weights(
    base: Any, bounding: Bounding, units: list[str], keys: list[str], owners: Any = None
) -> Any:
    """The rows with the weight `w` for the norm at hand, and, where it is another, `w1` for what is
    pooled over groups or chosen from. `owners` are the units and keys of the same rows, where these
    are known apart from them.
    """
    import ibis

    k, s = bounding.rows, bounding.bits
    owners = base if owners is None else owners
    if bounding.norm == "L2" and keys:
        pairs = group(owners, [*units, *keys], {"c": owners.count()})
        few = ibis.least(pairs.c, _WIDE)
        counted = group(pairs, units, {"n": pairs.c.sum(), "q": (few * few).sum()})
        room = (k * k) << 2 * s
        weights = {
            "w1": row_weight(counted.n, bounding),
            "w": _root(room, ibis.least(counted.q, room + 1).cast("int64"), 1 << s),
        }
        owned = select(counted, _named(counted, units) | weights)
    else:
        counted = group(owners, units, {"n": owners.count()})
        weights = {"w": row_weight(counted.n, bounding)}
        if k >= 16:  # few units are so heavy: a join with them alone is small
            owned = select(counted, _named(counted, units) | weights, [counted.n > k])
            joined = base.left_join(owned, units)
            return select(
                joined,
                _named(joined, base.columns)
                | {"w": ibis.coalesce(joined.w, ibis.literal(1 << s, "int64"))},
            )
        owned = select(counted, _named(counted, units) | weights)
    return base.join(owned, units)


def truncated(base: Any, limit: int, units: list[str], secret: str) -> Any:
    """At most `limit` rows of each unit: those with the smallest keyed hash of all that they hold,
    so that the choice depends on the unit's own rows.

    Rows that look alike to the hash may still differ in the last digits of floats: their texts
    decide, so that no choice is left to the engine.
    """
    import ibis

    mixed, floats = ibis.literal(secret), []
    for name in base.columns:
        column = base[name]
        if column.type().is_floating():
            floats.append(column.cast("string"))
        for word in _words(column):
            mixed = mixed.concat(
                ",", ibis.coalesce(word.length().cast("string").concat(":", word), "-")
            )  # with its length, so that no two rows look alike
    place = ibis.row_number().over(
        group_by=[base[name] for name in units], order_by=[mixed.hexdigest("sha256"), *floats]
    )
    ranked = base.mutate(place=place)
    return ranked.filter(ranked.place < limit).drop("place")


def _words(column: Any) -> list[Any]:
    """A value in texts that are the same in every engine. Each writes floats in its own way, so
    these are told by integers: the whole part and twice 52 bits of what follows the point.
    """
    if not column.type().is_floating():
        return [column.cast("string")]
    part, words = ev.cast(column, FLOAT), []
    for _ in range(3):
        below = ev.floor(part)
        words.append(ev.try_cast(below, INT64).cast("string"))
        part = (part - below) * ev.number(2.0**52)
    return words


def votes(base: Any, bounding: Bounding, units: list[str], keys: list[str], secret: str) -> Any:
    """The weight of units in every group: one row for each group, with the column `votes`."""
    pairs = select(base, _named(base, [*units, *keys]), distinct=True)
    if not keys:
        return group(pairs, (), {"votes": pairs.count()})
    m, s = bounding.groups, bounding.vote_bits
    if bounding.truncation:
        kept = truncated(pairs, m, units, secret)
        return group(kept, keys, {"votes": kept.count()})
    counted = group(pairs, units, {"n": pairs.count()})
    weight = (
        _part(m << s, counted.n, m)
        if bounding.norm == "L1"
        else _root(m << 2 * s, counted.n, 1 << s)
    )
    joined = pairs.join(select(counted, _named(counted, units) | {"w": weight}), units)
    return group(joined, keys, {"votes": joined.w.sum()})


def _named(table: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: table[name] for name in names}


def _part(whole: int, count: Any, least: int) -> Any:
    """whole // max(count, least). Engines divide in doubles: exact, as `whole` is below 2^52."""
    import ibis

    assert whole < 1 << 52
    return (ibis.literal(whole, "int64") // ibis.greatest(count, least)).cast(
        "int32" if whole // least < 1 << 31 else "int64"
    )


def _root(room: int, count: Any, most: int) -> Any:
    """The largest integer w ≤ most with w²·count ≤ room: a root in doubles, corrected by comparing
    integers.
    """
    import ibis

    assert room < 1 << 50
    part = (ibis.literal(room, "int64") // ibis.greatest(count, 1)).cast("int64")
    near = part.cast("float64").sqrt().floor().cast("int64")
    down = ibis.cases((near * near > part, near - 1), else_=near)
    up = ibis.cases(((down + 1) * (down + 1) <= part, down + 1), else_=down)
    return ibis.least(up, most)
