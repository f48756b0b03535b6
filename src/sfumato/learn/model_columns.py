"""Read the columns of a model: which rows, which target, and the code of each feature.

All of it is public. A number is coded by declared bounds or stated edges, a category by declared or
stated keys; a column without them is refused, as its codes would have to come from the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise

from ..exact.numbers import Number, exact
from ..session.protected_table import Table
from ..tables.declare.declaration import Key
from ..tables.expr.grids import grid_of
from ..tables.plan.codes.column_codes import CellCode, EdgeCode, KeyCode, RowCode
from ..tables.query.stages import Rows
from . import learn_refusals as refusals

Ends = Sequence[Number]
"""The lower and the upper bound of a column, or the edges of cells, three or more."""

Bounds = Mapping[str, Ends] | Ends
"""Ends by column; or one lower and one upper bound, of all numbers of the model."""

Keys = Mapping[str, Iterable[Key]]
"""By column: its public keys."""

MOST_CELLS = 100_000
CELL_BITS = 7  # of the cells of a number without stated edges


@dataclass(frozen=True, slots=True, eq=False)
class ModelColumns:
    """The rows that a model is learned from, its target and its features."""

    rows: Rows
    owner: Table
    target: str
    features: tuple[str, ...]
    bounds: Mapping[str, Ends] = field(default_factory=dict)
    keys: Keys = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: object,
        target: object,
        features: Iterable[str] | None,
        bounds: Bounds | None,
        keys: Keys | None,
        *,
        has_target: bool = True,
    ) -> ModelColumns:
        """Check the names. A model without a target has ""."""
        rows = table.rows if isinstance(table, Table) else table
        if (
            not isinstance(rows, Rows)
            or not isinstance(owner := rows.curator, Table)
            or rows.public
        ):
            raise refusals.NOT_A_PROTECTED_TABLE(kind=type(table).__name__)
        columns = ", ".join(rows.schema)
        if has_target and (not isinstance(target, str) or target not in rows.schema):
            raise refusals.TARGET_MISSING(
                target=target, columns=columns, example=nearest_column(target, rows)
            )
        name = target if isinstance(target, str) and has_target else ""
        listed = [] if features is None or isinstance(features, str) else list(features)
        rest = [each for each in rows.schema if each not in (name, *rows.declaration.unit)]
        if not listed or len(set(listed)) < len(listed) or not set(listed) <= set(rest):
            example = rest[0] if rest else name
            raise refusals.FEATURES_MISSING(features=features, columns=columns, example=example)
        columns_of_model = [name, *listed] if name else listed
        ends = _by_column(bounds, [each for each in columns_of_model if _is_number(rows, each)])
        read = cls(rows, owner, name, tuple(listed), ends, dict(keys or {}))
        for argument, stated in (("bounds", read.bounds), ("keys", read.keys)):
            for column in stated:
                if column not in columns_of_model:
                    raise refusals.NOT_FEATURES(
                        argument=argument,
                        column=column,
                        columns=", ".join(columns_of_model),
                        example=listed[0],
                        value="(0, 100)" if argument == "bounds" else "['a', 'b']",
                    )
        return read

    def code(self, name: str) -> RowCode:
        """Return the code of a feature: keys, stated edges, or cells between bounds."""
        listed = self.listed_keys(name)
        if listed:
            return KeyCode(name, self.rows.schema[name], listed)
        edges = self.edges(name)
        if len(edges) > 2:
            return EdgeCode(name, edges)
        return self.cells(name, CELL_BITS)

    def cells(self, name: str, bits: int) -> CellCode:
        """Return the code of a number: at most 2^bits + 1 cells of equal width."""
        low, high = self.ends(name)
        kind = self.rows.schema[name]
        grid = grid_of(name, kind, low, high, bits)
        steps = grid.high - grid.low + 1
        return CellCode(name, grid, 1 if grid.floating else math.ceil(steps / (1 << bits)))

    def ends(self, name: str) -> tuple[Fraction, Fraction]:
        """Return the bounds of a number."""
        edges = self.edges(name)
        return edges[0], edges[-1]

    def is_bounded_number(self, name: str) -> bool:
        """Tell whether a column is a number with bounds, declared or stated."""
        if not name or not _is_number(self.rows, name):
            return False
        declared = name in self.rows.ranges and name not in self.rows.declaration.placeholders
        return name in self.bounds or declared

    def listed_keys(self, name: str) -> tuple[Key, ...]:
        """Return the public keys of a column; () if there are none."""
        stated = {name: self.keys[name]} if name in self.keys else {}
        if not stated and name in self.bounds:
            return ()
        ((keys),) = self.rows.group_by(name, **stated).domains
        return keys

    def edges(self, name: str) -> tuple[Fraction, ...]:
        """Return the bounds of a number, or its stated edges."""
        stated: Sequence[Number] | None = self.bounds.get(name)
        kind = self.rows.schema[name]
        if not _is_number(self.rows, name):
            raise refusals.FEATURE_WITHOUT_BOUNDS(
                column=name, type=kind, rewrite=f"keys={{{name!r}: ['first', 'second']}}"
            )
        if stated is None:
            declared = self.rows.ranges.get(name)
            if declared is None or name in self.rows.declaration.placeholders:
                raise refusals.FEATURE_WITHOUT_BOUNDS(
                    column=name, type=kind, rewrite=f"bounds={{{name!r}: (0, 100)}}"
                )
            return declared
        if isinstance(stated, str) or not isinstance(stated, Sequence) or len(stated) < 2:
            raise refusals.BOUNDS_MALFORMED(column=name, bounds=stated)
        ends = tuple(exact(end, f"bounds of {name}") for end in stated)
        if not all(a < b for a, b in pairwise(ends)):
            raise refusals.BOUNDS_MALFORMED(column=name, bounds=stated)
        return ends


def _is_number(rows: Rows, name: str) -> bool:
    return rows.schema[name].kind in ("integer", "float", "decimal", "bool")


def nearest_column(name: object, rows: Rows) -> str:
    """Return the column whose name is nearest to this one, or the last."""
    columns = list(rows.schema)
    near = get_close_matches(name, columns, n=1) if isinstance(name, str) else []
    return (near or columns[-1:])[0]


def _by_column(bounds: Bounds | None, numbers: Sequence[str]) -> dict[str, Ends]:
    """Return bounds by column: one pair is that of all numbers."""
    if bounds is None or isinstance(bounds, Mapping):
        return dict(bounds or {})
    return dict.fromkeys(numbers, bounds)
