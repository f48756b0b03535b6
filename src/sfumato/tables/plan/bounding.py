"""Bound what one unit may change: weights or truncation of its rows, and the sensitivities.

*Weights*       A unit with n rows (of those that reach the aggregate) has n·w of weight, w =
                (k·2^s) // max(n, k): at most k·2^s, with no row left out and nothing drawn. For the
                Gaussian, whose noise follows the Euclidean norm, w is the largest integer with w²·Σ
                c_g² ≤ k²·4^s and w ≤ 2^s, c_g the unit's rows in group g: a unit spread over many
                groups keeps more of its weight. Not so where a count selects the groups
                (`limits_total`): its rows then weigh k·2^s together, as for Laplace noise.
*Votes*         One for each group a unit is in: w = (m·2^s) // max(G, m), or for the Euclidean norm
                the largest w with w²·G ≤ m·4^s, w ≤ 2^s.
*Truncation*    instead, where declared: at most k rows of a unit (m groups), those with the
                smallest keyed hash; a row then weighs 1.
*Sensitivity*   With K = k·2^s and each row's integer in [−l, h], h and l not below 0, B = max(h,
                l):

                                one number           many cells, L1     many cells, L2
                add-remove      K·B                  K·B                K·B
                replace         K·(h + l)            2·K·B              K·√(2h² + 2l²)

*Cells*         Cells of which a row's are not negative and sum to S move by K·S together, for
                replace by 2·K·S (L1) or √2·K·S (L2): as much as the cells of one count.
*Levels*        What is measured of cells counts a row in each level of a tree, or with a column
                of a strategy: the sensitivity is that of the cells times the column's length.
*Proof*         docs/proofs/tables.md, docs/proofs/cells.md, docs/proofs/linear-queries.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ...guarantees import Relation
from ...mechanisms.shared.better_law import Norm
from ..aggregates.component import Component
from ..declare.declaration import Declaration
from ..expr import engine_values as ev
from ..expr.relational import group, select
from ..expr.types import FLOAT, INT64
from ..query.group_keys import group_limit
from ..query.stages import Query
from . import plan_refusals as refusals

if TYPE_CHECKING:
    import ibis.expr.types as ir

Rule = Literal["row", "part", "root", "drawn"]

NARROW, EXACT = 62, 53  # bits of integers that engines add as such, and of those that doubles hold
WEIGHT_BITS = 20  # a unit of n rows loses at most n/(k·2^20) of its weight to rounding
_WIDE = 1 << 31  # more rows of a unit in a group than this leave it no weight in any case


@dataclass(frozen=True, slots=True)
class Bounding:
    """The contribution bounds of a query, for noise that follows the L1 or the L2 norm."""

    unit: tuple[str, ...]
    rows: int
    groups: int
    relation: Relation
    grouped: bool
    norm: Norm
    truncation: bool
    table_rows: int
    called: str = ""  # the unit's name, if that is not the names of its columns
    limits_total: bool = False  # whether weights are those of the L1 norm, whatever the noise
    most_bits: int = WEIGHT_BITS  # fewer where the noise is on a finer grid than the weights

    @classmethod
    def of(cls, query: Query, norm: Norm) -> Bounding:
        """Return the declared limits. Refuses a table with a unit and without max_rows."""
        return replace(cls._of(query, norm), called=query.rows.declaration.database_unit)

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
            raise refusals.MAX_ROWS_MISSING(table=declared.name, unit=declared.unit_name)
        limit = group_limit(query)
        groups = declared.max_rows if limit is None else limit.count
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
        """Return s: weights are integers in units of 2^-s of a row."""
        if not self.unit or self.truncation:
            return 0
        return (
            self.most_bits
            if self.norm == "L1"
            else min(self.most_bits, 24 - max(self.rows, self.groups).bit_length())
        )

    @property
    def rule(self) -> Rule:
        """Return how rows are weighed: in full, down-weighted, by the Euclidean norm over groups,
        or truncated.
        """
        if not self.unit:
            return "row"
        return (
            "drawn"
            if self.truncation
            else "root"
            if self.norm == "L2" and self.grouped and not self.limits_total
            else "part"
        )

    @property
    def vote_bits(self) -> int:
        """Return s for votes: 0 without groups, where a vote is one integer."""
        return self.bits if self.grouped else 0

    @property
    def weight(self) -> int:
        """Return K: the most that the rows of a unit weigh together."""
        return self.rows << self.bits

    @property
    def most_votes(self) -> int:
        """Return the most that the votes of a unit weigh together."""
        return self.groups << self.vote_bits if self.grouped else 1

    def step(self, component: Component) -> Fraction:
        """Return the value of one step of a component's integers."""
        return component.step / (1 << self.component_bits(component))

    def component_bits(self, component: Component) -> int:
        """Return the bits of weight in a component's integers: 0 for different values."""
        if component.form == "distinct":
            return 0
        return self.vote_bits if component.form == "unit" else self.bits

    def l1(self, component: Component) -> int:
        """Return the L1 sensitivity of a component, over all its cells."""
        if component.form == "unit":
            return self.most_votes * (2 if self.relation == "replace" and self.grouped else 1)
        weight = self.rows << self.component_bits(component)
        if self.relation == "add-remove":
            return weight * component.largest * component.column_l1(self.norm)
        return (
            weight
            * (2 * component.largest if self._many(component) else sum(_sides(component)))
            * component.column_l1(self.norm)
        )

    def l2_squared(self, component: Component) -> int:
        """Return the squared L2 sensitivity of a component."""
        twice = self.relation == "replace"
        if component.form == "unit":
            together = self.groups if self.truncation else self.groups << 2 * self.vote_bits
            return together * (2 if twice else 1) if self.grouped else 1
        weight = self.rows << self.component_bits(component)
        if not twice:
            return (weight * component.largest) ** 2 * component.column_l2_squared(self.norm)
        above, below = _sides(component)
        return (
            weight**2
            * (2 * (above**2 + below**2) if self._many(component) else (above + below) ** 2)
            * component.column_l2_squared(self.norm)
        )

    def shared_l1(self, row: int) -> int:
        """Return the joint L1 sensitivity of cells that are not negative and of which those of a
        row sum to `row`.
        """
        return self.weight * row * (2 if self.relation == "replace" else 1)

    def shared_l2_squared(self, row: int) -> int:
        """Return the square of the joint L2 sensitivity of such cells."""
        return (self.weight * row) ** 2 * (2 if self.relation == "replace" else 1)

    def shared_variance(self, row: int) -> float:
        """Return the variance of the noise on such cells for a promise of 1."""
        return (
            2.0 * float(self.shared_l1(row)) ** 2
            if self.norm == "L1"
            else float(self.shared_l2_squared(row))
        )

    def sum_bits(self, component: Component) -> int:
        """Return the bits of the largest sum that the declared number of rows could have."""
        return self.bits + component.largest.bit_length() + (self.table_rows - 1).bit_length()

    def _many(self, component: Component) -> bool:
        """Tell whether a component has more than one number."""
        return component.cells > 1 or (self.grouped and not component.pooled)


def _sides(component: Component) -> tuple[int, int]:
    """Return how far above and below 0 a row's integer may lie."""
    return max(component.high, 0), max(-component.low, 0)


def row_weight(count: ir.IntegerValue, bounding: Bounding) -> ir.IntegerValue:
    """Return the weight of each row of a unit with `count` rows, for the L1 norm."""
    return _part(bounding.rows << bounding.bits, count, bounding.rows)


def row_weights(
    base: ir.Table,
    bounding: Bounding,
    units: list[str],
    keys: list[str],
    owners: ir.Table | None = None,
) -> ir.Table:
    """Add to each row its weight `w` for the norm of the noise. Where that is L2 over groups, also
    add `w1`, the L1 weight, for components pooled over groups and for quantiles. `owners` are the
    units and keys of the same rows, if the caller has them separately.
    """
    import ibis

    k, s = bounding.rows, bounding.bits
    owners = base if owners is None else owners
    if bounding.rule == "root":
        pairs = group(owners, [*units, *keys], {"c": owners.count()})
        few = ibis.least(pairs.c, _WIDE)
        counted = group(pairs, units, {"n": pairs.c.sum(), "q": (few * few).sum()})
        room = (k * k) << 2 * s
        weights = {
            "w1": row_weight(counted.n, bounding),
            "w": _root(room, ibis.least(counted.q, room + 1).cast("int64"), 1 << s),
        }
        owned = select(counted, _columns_named(counted, units) | weights)
    else:
        counted = group(owners, units, {"n": owners.count()})
        weights = {"w": row_weight(counted.n, bounding)}
        if k >= 16:  # few units are so heavy: a join with them alone is small
            owned = select(counted, _columns_named(counted, units) | weights, [counted.n > k])
            joined = base.left_join(owned, units)
            return select(
                joined,
                _columns_named(joined, base.columns)
                | {"w": ibis.coalesce(joined.w, ibis.literal(1 << s, "int64"))},
            )
        owned = select(counted, _columns_named(counted, units) | weights)
    return base.join(owned, units)


def truncate_rows(base: ir.Table, limit: int, units: list[str], secret: str) -> ir.Table:
    """Keep at most `limit` rows of each unit: those with the smallest keyed hash of all columns, so
    that the choice depends on the unit's own rows alone.

    Rows with the same hash may still differ in the last digits of floats: their texts decide, so
    that the engine has no choice.
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


def _words(column: ir.Value) -> list[ir.StringValue]:
    """Write a value in texts that are the same in every engine. Engines write floats differently,
    so a float becomes integers: its whole part and twice 52 bits of its fraction.
    """
    if not column.type().is_floating():
        return [column.cast("string")]
    part, words = ev.cast(column, FLOAT), []
    for _ in range(3):
        below = ev.floor(part)
        words.append(ev.try_cast(below, INT64).cast("string"))
        part = (part - below) * ev.number(2.0**52)
    return words


def votes(
    base: ir.Table, bounding: Bounding, units: list[str], keys: list[str], secret: str
) -> ir.Table:
    """Sum the weights of units in every group: one row for each group, with the column `votes`."""
    pairs = select(base, _columns_named(base, [*units, *keys]), distinct=True)
    if not keys:
        return group(pairs, (), {"votes": pairs.count()})
    m, s = bounding.groups, bounding.vote_bits
    if bounding.truncation:
        truncated = truncate_rows(pairs, m, units, secret)
        return group(truncated, keys, {"votes": truncated.count()})
    counted = group(pairs, units, {"n": pairs.count()})
    weight = (
        _part(m << s, counted.n, m)
        if bounding.rule != "root"
        else _root(m << 2 * s, counted.n, 1 << s)
    )
    joined = pairs.join(select(counted, _columns_named(counted, units) | {"w": weight}), units)
    return group(joined, keys, {"votes": joined.w.sum()})


def _columns_named(table: ir.Table, names: Iterable[str]) -> dict[str, ir.Value]:
    return {name: table[name] for name in names}


def _part(total: int, count: ir.IntegerValue, least: int) -> ir.IntegerValue:
    """Return total // max(count, least). Engines divide in doubles: exact, as total < 2^52."""
    import ibis

    assert total < 1 << 52
    return (ibis.literal(total, "int64") // ibis.greatest(count, least)).cast(
        "int32" if total // least < 1 << 31 else "int64"
    )


def _root(room: int, count: ir.IntegerValue, most: int) -> ir.IntegerValue:
    """Return the largest integer w ≤ most with w²·count ≤ room: a root in doubles, corrected by
    comparing integers.
    """
    import ibis

    assert room < 1 << 50
    part = (ibis.literal(room, "int64") // ibis.greatest(count, 1)).cast("int64")
    near = part.cast("float64").sqrt().floor().cast("int64")
    down = ibis.cases((near * near > part, near - 1), else_=near)
    up = ibis.cases(((down + 1) * (down + 1) <= part, down + 1), else_=down)
    return ibis.least(up, most)
