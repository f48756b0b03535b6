"""What the declaration and the question tell of the values of columns: the public keys of GROUP BY
follow from it, and which columns have one value for each unit.

*Original*     Facts are about the columns that a table, a join, a union or a sub-query per unit
               gives. A column that a later step computes has a definition on these; a condition on
               it is a condition on its definition.
*Lossless*     A set from the question holds every value that can occur. A set from the declaration
               (keys, bounds) may leave values out: it is used only where the question does not
               list the values.
*One value*    A table with one row for each unit (`max_rows=1`) gives each unit one value of each
               column. This is a limit like `max_rows` itself: nothing depends on its being true but
               accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...errors import Refused
from ..declare.declaration import Declaration, Key
from ..declare.place_hierarchy import PlaceHierarchy
from ..expr.expressions import ColumnRef, Expr, col
from ..expr.types import Type
from ..expr.value_sets import ANY, NOT_NULL, ValueSet, converted
from .conditions import Learned, join_facts, learn_from, with_arguments
from .renaming import inline_columns


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """Public facts about the values of columns."""

    types: Mapping[str, Type]  # of the original columns
    stated: Mapping[str, ValueSet] = field(default_factory=dict)  # by the owner, by a column's text
    learned: Learned = field(default_factory=dict)  # from the question
    definitions: Mapping[str, Expr | None] = field(default_factory=dict)  # None: too large
    fixed: frozenset[str] = frozenset()  # original columns with one value for each unit
    hierarchies: tuple[PlaceHierarchy, ...] = ()  # of original columns: which combinations exist

    @classmethod
    def of(cls, declaration: Declaration) -> ColumnFacts:
        """Return what the declaration of a table tells."""
        types = declaration.schema
        guessed = {*dict(declaration.learned.bounds), *declaration.placeholders}
        sets = dict.fromkeys(declaration.unit, NOT_NULL)  # other rows are left out
        sets |= {
            column: ValueSet(low=low, high=high, stated=frozenset([column]))
            for column, (low, high) in declaration.bounds
            if column not in guessed
        }
        for column, keys in declaration.domains.items():
            named = frozenset(converted(key, types[column]) for key in keys if key is not None)
            sets[column] = ValueSet(
                named, null=None in keys, stated=frozenset([column]), is_written=True
            )
        one_row = bool(declaration.unit) and declaration.max_rows == 1
        fixed = frozenset(types if one_row else declaration.unit)
        return cls(types, fixed=fixed, hierarchies=declaration.hierarchies).about(sets)

    def about(self, sets: Mapping[str, ValueSet]) -> ColumnFacts:
        """Add what is known of original columns, by their names."""
        stated = {
            col(name).text: replace(values, stated=frozenset([name]))
            for name, values in sets.items()
            if values.stated
        }
        learned = {
            col(name).text: (col(name), values)
            for name, values in sets.items()
            if not values.stated
        }
        return replace(self, stated={**self.stated, **stated}, learned=self.learned | learned)

    def narrow(self, text: str, values: ValueSet) -> ValueSet:
        """Narrow a set to what the question, and else the declaration, says of an expression."""
        is_listed = False
        if text in self.learned:
            question = self.learned[text][1]
            values, is_listed = values & question, question.values is not None
        stated = self.stated.get(text)
        has_ends = values.low is not None and values.high is not None
        if stated is None or is_listed or (stated.values is None and has_ends):
            return values
        return values & stated

    def values(self, expression: Expr) -> ValueSet:
        """Return a set that holds the values of an expression of the columns as they are now."""
        inner = self._inline(expression)
        return ANY if inner is None else inner.values(self)

    def keys(self, expression: Expr, kind: Type) -> tuple[Key, ...]:
        """Return the public keys of an expression; () if there are none. Bounds alone make no keys
        of a plain column: they clip values, and leave no row out.
        """
        inner, values = self._inline(expression), self.values(expression)
        has_bounds_alone = values.values is None and bool(values.stated)
        if inner is None or (has_bounds_alone and isinstance(inner, ColumnRef)):
            return ()
        return values.keys(kind)

    def where(self, condition: Expr) -> ColumnFacts:
        """Return the facts about the rows that meet a condition."""
        inner = self._inline(condition)
        if inner is None:
            return self
        learned = join_facts(self.learned, learn_from(inner, self.types))
        return replace(self, learned=with_arguments(learned, self.types))

    def define(self, name: str, expression: Expr) -> ColumnFacts:
        """Return the facts after a column got a new value."""
        return replace(self, definitions={**self.definitions, name: self._inline(expression)})

    def is_fixed(self, expression: Expr) -> bool:
        """Tell whether an expression has one value for each unit."""
        inner = self._inline(expression)
        return inner is not None and inner.columns <= self.fixed

    def original(self, name: str) -> str | None:
        """Return the original column whose values a column still has; None for computed ones."""
        inner = self._inline(col(name))
        return inner.name if isinstance(inner, ColumnRef) else None

    def columns(self, names: Iterable[str]) -> dict[str, ValueSet]:
        """Return what is known of columns as they are now."""
        return {name: self.values(col(name)) for name in names}

    def _inline(self, expression: Expr) -> Expr | None:
        """Write an expression on the original columns; None where that would be too large."""
        used = expression.columns & set(self.definitions)
        definitions = {
            name: definition for name in used if (definition := self.definitions[name]) is not None
        }
        if len(definitions) < len(used):
            return None
        try:
            return inline_columns(expression, definitions)
        except Refused:
            return None
