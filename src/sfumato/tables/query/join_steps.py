"""Two tables as one: the steps of a query that bring in other rows.

*Join*     Every row with every row of the other table that fits it. Between protected tables a row
           fits only one of the same unit, whatever else was asked: the joined row is that unit's,
           and a function of its rows alone. Public rows are constants.
*Match*    Rows for which there is such a row (semi), or none (anti): none is repeated.
*Union*    Rows of the one and rows of the other, which belong to whom they belonged.
*Proof*    docs/proofs/joins.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..engine.relational import select
from ..expr.column_names import free
from ..expr.expressions import Expr, call, col
from ..expr.promotion import common, convert
from ..expr.renaming import beside, renamed
from ..expr.types import Type
from .owned_rows import Schema, columns_of, engine_rows, text_of

if TYPE_CHECKING:
    from .stages import Rows

Pairs = tuple[tuple[Expr, Expr], ...]
"""What is equal: an expression on the rows here, and one on the other rows."""

On = str | Iterable[str] | Mapping[str, str]
"""The same as it is written: a column that both have, several, or for columns here their names
there.
"""

Kept = Literal["inner", "left", "cross"]
Kind = Literal["semi", "anti"]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The rows of another table beside these. `columns` are those that are kept of the other, each
    with its name here.
    """

    how: Kept
    right: Rows
    unit: tuple[str, ...]  # of the rows here; () if the other rows are public
    pairs: Pairs
    where: Expr | None  # on the columns of both
    columns: tuple[tuple[str, str], ...]
    # joined rows of a unit: those of one with more find no match; 0 where there cannot be many
    most: int = 0

    @property
    def text(self) -> str:
        brought = ", ".join(
            col(new).text if new == old else f"{col(new).text} = {col(old).text}"
            for new, old in self.columns
        )
        return (
            f"{self.how} join ({text_of(self.right)}){_on(self.pairs, self.where)} with {brought}"
        )

    @property
    def rules(self) -> tuple[str, ...]:
        return _rules(
            self.unit, self.right, f"with more than {self.most:,} joined rows" if self.most else ""
        )

    def schema(self, before: Schema) -> dict[str, Type]:
        """The columns of both."""
        other = self.right.schema
        return {
            **before,
            **{
                new: replace(other[old], nullable=True) if self.how == "left" else other[old]
                for new, old in self.columns
            },
        }

    def build(self, table: Any, before: Schema, again: Any) -> Any:
        """The same rows for an engine."""
        table, other, conditions = _fitting(self, table, before, again)
        if conditions:
            made = table.join(other, conditions, how="left" if self.how == "left" else "inner")
        else:
            made = (
                table.join(other, [_true()], how="left")
                if self.how == "left"
                else table.cross_join(other)
            )
        return select(made, {name: made[name] for name in self.schema(before)})


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Rows that fit some row of another table, or none. With `nulls`, a null on either side counts
    as fitting, as NOT IN has it.
    """

    kind: Kind
    right: Rows
    unit: tuple[str, ...]
    pairs: Pairs
    where: Expr | None
    nulls: bool = False
    # pairs of rows of a unit that are compared: those of one with more find no match; 0 where there
    # cannot be many
    most: int = 0

    @property
    def text(self) -> str:
        return (
            f"{self.kind} join "
            f"({text_of(self.right)}){_on(self.pairs, self.where)}{' or null' if self.nulls else ''}"
        )

    @property
    def rules(self) -> tuple[str, ...]:
        return _rules(
            self.unit,
            self.right,
            f"with more than {self.most:,} pairs of rows to compare" if self.most else "",
        )

    def schema(self, before: Schema) -> dict[str, Type]:
        return dict(before)

    def build(self, table: Any, before: Schema, again: Any) -> Any:
        """The same rows for an engine."""
        if self.nulls:
            return select(
                table, columns_of(table), [~_listed(table, before, self.right, *self.pairs[0])]
            )
        table, other, conditions = _fitting(self, table, before, again)
        made = (table.semi_join if self.kind == "semi" else table.anti_join)(
            other, conditions or [_true()]
        )
        return select(
            made, {name: made[name] for name in before}
        )  # a step of its own, which Ibis does not draw into the joins that follow


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """Rows here and rows of another table: the unit, and columns that each side has in its own
    way.
    """

    right: Rows
    unit: tuple[tuple[str, str], ...]  # here and there
    columns: tuple[tuple[str, Expr, Expr], ...]

    @property
    def text(self) -> str:
        both = ", ".join(
            f"{col(name).text} = {one.text} | {other.text}" for name, one, other in self.columns
        )
        return f"union ({text_of(self.right)}) with {both}".removesuffix(" with ")

    @property
    def rules(self) -> tuple[str, ...]:
        return ()

    @property
    def both(self) -> tuple[tuple[str, Expr, Expr], ...]:
        """All columns, the unit's first."""
        return (*((here, col(here), col(there)) for here, there in self.unit), *self.columns)

    def schema(self, before: Schema) -> dict[str, Type]:
        """The columns, each of a type that holds the values of both sides."""
        return {name: self._type(one, other, before) for name, one, other in self.both}

    def build(self, table: Any, before: Schema, again: Any) -> Any:
        """The same rows for an engine."""
        other, there = engine_rows(self.right)
        known = self.schema(before)
        first = select(
            table, {name: _as(one, table, before, known[name]) for name, one, _ in self.both}
        )
        second = select(
            other, {name: _as(two, other, there, known[name]) for name, _, two in self.both}
        )
        return first.union(second, distinct=False)

    def _type(self, one: Expr, other: Expr, before: Schema) -> Type:
        return common(
            [one._known(before, {}), other._known(self.right.schema, {})],
            f"{one.text} and {other.text}",
        )


def _as(expression: Expr, table: Any, schema: Schema, known: Type) -> Any:
    value = convert(expression.build(table, schema), expression._known(schema, {}), known)
    return (
        value.cast(known.to_ibis()) if known.kind != "timestamp" else value
    )  # an engine may take a sum of integers for narrower ones


def _fitting(
    step: Join | Match, table: Any, before: Schema, again: Any
) -> tuple[Any, Any, list[Any]]:
    """The rows, the other rows under names that are not taken here, and what makes two rows fit. Of
    protected rows that is first of all the unit.
    """
    import ibis

    right, unit = step.right, step.unit
    other, known = engine_rows(right)
    names = beside(before, known)
    owners = (
        [(col(here), col(there)) for here, there in zip(unit, right.declaration.unit, strict=True)]
        if unit
        else []
    )
    equal = list({(one.text, two.text): (one, two) for one, two in (*owners, *step.pairs)}.values())
    flag, schema = "", dict(before)
    if step.most:
        taken = {name.lower() for name in (*before, *names.values())}
        table, flag, equal = _gated(step, table, schema, other, known, again, equal, taken)
    other = select(other, {names[name]: other[name] for name in known})
    columns: Mapping[str, Any] = columns_of(table) | columns_of(other)
    schema |= {names[name]: kind for name, kind in known.items()}
    conditions = [call("=", one, renamed(two, names)).build(columns, schema) for one, two in equal]
    if step.where is not None:
        condition = step.where.build(columns, schema)
        conditions.append(ibis.cases((columns[flag].isnull(), condition)) if flag else condition)
    return table, other, conditions


def _gated(
    step: Join | Match,
    table: Any,
    schema: dict[str, Type],
    other: Any,
    known: Schema,
    again: Any,
    equal: list[tuple[Expr, Expr]],
    taken: set[str],
) -> tuple[Any, str, list[tuple[Expr, Expr]]]:
    """The rows with a flag on those of heavy units, and every value that has to be equal as a
    column that is null there.

    An engine may join tables in any order. So that it cannot multiply the rows of a heavy unit
    first and leave them out then, each condition of the join reads the flag. Pairs are counted by
    the unit, and by what has to be equal and has one type.
    """
    import ibis

    from .unit_work import heavy_units

    mine, units = again(), [f"u{i}" for i in range(len(step.unit))]
    counted = equal[: len(units)] + [
        (one, two)
        for one, two in equal[len(units) :]
        if _same_type(one.type(schema), two.type(known))
    ]
    sides = [
        (mine, [one.build(mine, schema) for one, _ in counted]),
        (other, [two.build(other, known) for _, two in counted]),
    ]
    here, there = (
        select(
            side, dict(zip([*units, *(f"k{i}" for i in range(len(counted)))], values, strict=False))
        )
        for side, values in sides
    )
    heavy = heavy_units(here, there, units, step.most)
    flag, *own = _free(
        ["heavy", *(f"heavy {name}" for name in units), *(f"heavy {i}" for i in range(len(equal)))],
        taken,
    )
    owners, gated = own[: len(units)], own[len(units) :]
    named = select(heavy, dict(zip(owners, (heavy[name] for name in units), strict=True)))
    found = table.left_join(
        named, [table[here] == named[name] for here, name in zip(step.unit, owners, strict=True)]
    )
    flagged = select(found, {name: found[name] for name in schema} | {flag: found[owners[0]]})
    values = {
        name: ibis.cases((flagged[flag].isnull(), one.build(flagged, schema)))
        for name, (one, _) in zip(gated, equal, strict=True)
    }
    table = select(flagged, columns_of(flagged) | values)
    schema |= {
        name: replace(one.type(schema), nullable=True)
        for name, (one, _) in zip(gated, equal, strict=True)
    }
    return table, flag, [(col(name), two) for name, (_, two) in zip(gated, equal, strict=True)]


def _free(names: Iterable[str], taken: set[str]) -> list[str]:
    """Names like these that nobody has, each another."""
    found = []
    for name in names:
        found.append(free(name, taken))
        taken.add(found[-1].lower())
    return found


def _same_type(one: Type, two: Type) -> bool:
    """Whether equal values are the same value. Of floats 0 equals −0."""
    return one.bare == two.bare and one.kind != "float"


def _listed(table: Any, before: Schema, right: Rows, one: Expr, two: Expr) -> Any:
    """Whether a value is in a column of the other rows: null where a null leaves that open."""
    other, there = engine_rows(right)
    mine, theirs = one._known(before, {}), two._known(there, {})
    known = common([mine, theirs], f"{one.text} and {two.text}")
    listed = select(other, {"value": convert(two.build(other, there), theirs, known)})
    return convert(one.build(table, before), mine, known).isin(listed["value"])


def _true() -> Any:
    import ibis

    return ibis.literal(True)


def _on(pairs: Pairs, where: Expr | None) -> str:
    said = [f"{one.text} = {two.text}" for one, two in pairs]
    said += [] if where is None else [where.text]
    return f" on {' and '.join(said)}" if said else ""


def _rules(unit: tuple[str, ...], right: Rows, heavy: str) -> tuple[str, ...]:
    if not unit:
        return ()
    joined = (
        f"rows are joined with those of {right.declaration.name} that belong to the same "
        f"unit, and with no others"
    )
    return (joined, f"the rows of a unit {heavy} find no match") if heavy else (joined,)
