"""The steps of a query that bring in other rows: joins, semi and anti joins, unions.

*Join*     pairs every row with every matching row of the other table. Between protected tables a
           row matches only rows of the same unit, whatever the condition is: the joined row is that
           unit's, and a function of its rows alone. Public rows are constants.
*Match*    keeps rows that have such a row (semi), or none (anti): no row is repeated.
*Union*    has the rows of both tables; each row keeps its owner.
*Proof*    docs/proofs/joins.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..expr.column_names import unused_name
from ..expr.expressions import Expr, call, col
from ..expr.promotion import common_type, convert
from ..expr.relational import select
from ..expr.types import Type
from .owned_rows import Schema, columns_of, engine_rows, text_of
from .renaming import rename_columns, right_names

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from .stages import Rows

ReadAgain: TypeAlias = "Callable[[], ir.Table]"
"""Builds the rows before a step a second time."""

Pairs = tuple[tuple[Expr, Expr], ...]
"""Expressions that a join makes equal: one on the left rows, one on the right rows."""

On = str | Iterable[str] | Mapping[str, str]
"""The `on` argument of a join: a column that both sides have, several columns, or a dictionary from
left columns to right columns.
"""

JoinKind = Literal["inner", "left", "cross"]
MatchKind = Literal["semi", "anti"]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Join the rows of another table. `columns` are the columns taken from it, each as (new name,
    old name).
    """

    how: JoinKind
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
        """Return the columns of both tables."""
        right_schema = self.right.schema
        return {
            **before,
            **{
                new: replace(right_schema[old], nullable=True)
                if self.how == "left"
                else right_schema[old]
                for new, old in self.columns
            },
        }

    def build(self, table: ir.Table, before: Schema, again: ReadAgain) -> ir.Table:
        """Build the step for an engine."""
        table, right, conditions = _join_conditions(self, table, before, again)
        if conditions:
            joined = table.join(right, conditions, how="left" if self.how == "left" else "inner")
        else:
            joined = (
                table.join(right, [_true()], how="left")
                if self.how == "left"
                else table.cross_join(right)
            )
        return select(joined, {name: joined[name] for name in self.schema(before)})


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Keep the rows that match some row of another table, or none. With `nulls`, a null on either
    side matches, as in NOT IN.
    """

    kind: MatchKind
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
        conditions = _on(self.pairs, self.where) + (" or null" if self.nulls else "")
        return f"{self.kind} join ({text_of(self.right)}){conditions}"

    @property
    def rules(self) -> tuple[str, ...]:
        return _rules(
            self.unit,
            self.right,
            f"with more than {self.most:,} pairs of rows to compare" if self.most else "",
        )

    def schema(self, before: Schema) -> dict[str, Type]:
        return dict(before)

    def build(self, table: ir.Table, before: Schema, again: ReadAgain) -> ir.Table:
        """Build the step for an engine."""
        if self.nulls:
            return select(
                table, columns_of(table), [~_is_listed(table, before, self.right, *self.pairs[0])]
            )
        table, right, conditions = _join_conditions(self, table, before, again)
        matched = (table.semi_join if self.kind == "semi" else table.anti_join)(
            right, conditions or [_true()]
        )
        return select(
            matched, {name: matched[name] for name in before}
        )  # a step of its own, which Ibis does not draw into the joins that follow


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """Add the rows of another table: the unit, and columns with an expression for each side."""

    right: Rows
    unit: tuple[tuple[str, str], ...]  # here and there
    columns: tuple[tuple[str, Expr, Expr], ...]

    @property
    def text(self) -> str:
        both = ", ".join(
            f"{col(name).text} = {ours.text} | {theirs.text}" for name, ours, theirs in self.columns
        )
        return f"union ({text_of(self.right)}) with {both}".removesuffix(" with ")

    @property
    def rules(self) -> tuple[str, ...]:
        return ()

    @property
    def both(self) -> tuple[tuple[str, Expr, Expr], ...]:
        """Return all columns with both expressions, the unit's first."""
        return (*((here, col(here), col(there)) for here, there in self.unit), *self.columns)

    def schema(self, before: Schema) -> dict[str, Type]:
        """Return the columns, each of a type that holds the values of both sides."""
        return {name: self._type(ours, theirs, before) for name, ours, theirs in self.both}

    def build(self, table: ir.Table, before: Schema, again: ReadAgain) -> ir.Table:
        """Build the step for an engine."""
        right, there = engine_rows(self.right)
        types = self.schema(before)
        first = select(
            table,
            {name: _build_as(ours, table, before, types[name]) for name, ours, _ in self.both},
        )
        second = select(
            right,
            {name: _build_as(theirs, right, there, types[name]) for name, _, theirs in self.both},
        )
        return first.union(second, distinct=False)

    def _type(self, ours: Expr, theirs: Expr, before: Schema) -> Type:
        return common_type(
            [ours._resolve(before, {}), theirs._resolve(self.right.schema, {})],
            f"{ours.text} and {theirs.text}",
        )


def _build_as(expression: Expr, table: ir.Table, schema: Schema, target: Type) -> ir.Value:
    value = convert(expression.build(table, schema), expression._resolve(schema, {}), target)
    return (
        value.cast(target.to_ibis()) if target.kind != "timestamp" else value
    )  # an engine may take a sum of integers for narrower ones


def _join_conditions(
    step: Join | Match, table: ir.Table, before: Schema, again: ReadAgain
) -> tuple[ir.Table, ir.Table, list[ir.BooleanValue]]:
    """Return the left rows, the right rows under free names, and the conditions under which two
    rows match. Between protected rows the first condition is the unit.
    """
    import ibis

    right, unit = step.right, step.unit
    right_table, right_schema = engine_rows(right)
    names = right_names(before, right_schema)
    owners = (
        [(col(here), col(there)) for here, there in zip(unit, right.declaration.unit, strict=True)]
        if unit
        else []
    )
    equal = list(
        {
            (ours.text, theirs.text): (ours, theirs) for ours, theirs in (*owners, *step.pairs)
        }.values()
    )
    flag, schema = "", dict(before)
    if step.most:
        used_names = {name.lower() for name in (*before, *names.values())}
        table, flag, equal = _flag_heavy_units(
            step, table, schema, right_table, right_schema, again, equal, used_names
        )
    right_table = select(right_table, {names[name]: right_table[name] for name in right_schema})
    columns: Mapping[str, ir.Value] = columns_of(table) | columns_of(right_table)
    schema |= {names[name]: kind for name, kind in right_schema.items()}
    conditions = [
        call("=", ours, rename_columns(theirs, names)).build(columns, schema)
        for ours, theirs in equal
    ]
    if step.where is not None:
        condition = step.where.build(columns, schema)
        conditions.append(ibis.cases((columns[flag].isnull(), condition)) if flag else condition)
    return table, right_table, conditions


def _flag_heavy_units(
    step: Join | Match,
    table: ir.Table,
    schema: dict[str, Type],
    right_table: ir.Table,
    right_schema: Schema,
    again: ReadAgain,
    equal: list[tuple[Expr, Expr]],
    used_names: set[str],
) -> tuple[ir.Table, str, list[tuple[Expr, Expr]]]:
    """Flag the rows of heavy units, and add every value that has to be equal as a column that is
    null for them.

    An engine may join tables in any order. So that it cannot first multiply the rows of a heavy
    unit and then leave them out, each condition of the join reads the flag. Pairs are counted by
    the unit, and by the equal values that have one type.
    """
    import ibis

    from .unit_work import heavy_units

    mine, units = again(), [f"u{i}" for i in range(len(step.unit))]
    counted = equal[: len(units)] + [
        (ours, theirs)
        for ours, theirs in equal[len(units) :]
        if _same_type(ours.type(schema), theirs.type(right_schema))
    ]
    sides = [
        (mine, [ours.build(mine, schema) for ours, _ in counted]),
        (right_table, [theirs.build(right_table, right_schema) for _, theirs in counted]),
    ]
    here, there = (
        select(
            side, dict(zip([*units, *(f"k{i}" for i in range(len(counted)))], values, strict=False))
        )
        for side, values in sides
    )
    heavy = heavy_units(here, there, units, step.most)
    flag, *new_names = _free_names(
        ["heavy", *(f"heavy {name}" for name in units), *(f"heavy {i}" for i in range(len(equal)))],
        used_names,
    )
    owners, gated = new_names[: len(units)], new_names[len(units) :]
    named = select(heavy, dict(zip(owners, (heavy[name] for name in units), strict=True)))
    matched = table.left_join(
        named, [table[here] == named[name] for here, name in zip(step.unit, owners, strict=True)]
    )
    flagged = select(matched, {name: matched[name] for name in schema} | {flag: matched[owners[0]]})
    values = {
        name: ibis.cases((flagged[flag].isnull(), ours.build(flagged, schema)))
        for name, (ours, _) in zip(gated, equal, strict=True)
    }
    table = select(flagged, columns_of(flagged) | values)
    schema |= {
        name: replace(ours.type(schema), nullable=True)
        for name, (ours, _) in zip(gated, equal, strict=True)
    }
    return (
        table,
        flag,
        [(col(name), theirs) for name, (_, theirs) in zip(gated, equal, strict=True)],
    )


def _free_names(names: Iterable[str], used_names: set[str]) -> list[str]:
    """Return free names like these, all different."""
    free_names = []
    for name in names:
        free_names.append(unused_name(name, used_names))
        used_names.add(free_names[-1].lower())
    return free_names


def _same_type(first: Type, second: Type) -> bool:
    """Tell whether equal values are the same value. Floats are not: 0 equals −0."""
    return first.bare == second.bare and first.kind != "float"


def _is_listed(
    table: ir.Table, before: Schema, right: Rows, value: Expr, listed_value: Expr
) -> ir.BooleanValue:
    """Build the condition that a value is in a column of the right rows: null if a null leaves that
    open.
    """
    right_table, there = engine_rows(right)
    mine, theirs = value._resolve(before, {}), listed_value._resolve(there, {})
    shared_type = common_type([mine, theirs], f"{value.text} and {listed_value.text}")
    listed = select(
        right_table, {"value": convert(listed_value.build(right_table, there), theirs, shared_type)}
    )
    return convert(value.build(table, before), mine, shared_type).isin(listed["value"])


def _true() -> ir.BooleanScalar:
    import ibis

    return ibis.literal(True)


def _on(pairs: Pairs, where: Expr | None) -> str:
    conditions = [f"{ours.text} = {theirs.text}" for ours, theirs in pairs]
    conditions += [] if where is None else [where.text]
    return f" on {' and '.join(conditions)}" if conditions else ""


def _rules(unit: tuple[str, ...], right: Rows, heavy: str) -> tuple[str, ...]:
    if not unit:
        return ()
    joined = (
        f"a join pairs rows only with rows of {right.declaration.name} that belong to the same unit"
    )
    return (joined, f"the rows of a unit {heavy} find no match") if heavy else (joined,)
