"""Divide the cost of a census among levels and tables: exact shares that sum to 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..exact.numbers import Number, exact
from . import census_refusals as refusals
from .census_options import Weighted
from .marginal_parts import Subset

Shares = dict[tuple[int, Subset], Fraction]
"""Level and table → its share of the cost; only shares above 0."""


def divide_cost(
    tables: Weighted | Mapping[str, Weighted] | None,
    levels: Mapping[str, Number] | None,
    names: Sequence[str],
    geography: Sequence[str],
) -> Shares:
    """Return the share of every table at every level. Without weights, levels count alike, and so
    do the tables of a level: the total, each attribute alone, and all attributes together.
    """
    by_level = _level_weights(levels, geography)
    every = tuple(range(len(names)))
    shares: Shares = {}
    for level, weight in enumerate(by_level):
        of_level = _of_level(tables, geography, level)
        weights = (
            dict.fromkeys([(), *([(i,) for i in every] if len(every) > 1 else []), every], 1)
            if of_level is None
            else _table_weights(of_level, names)
        )
        parts = {
            table: _weight(" × ".join(names[i] for i in table) or "total", number, geography)
            for table, number in weights.items()
        }
        total = sum(parts.values())
        if not total:
            raise refusals.TABLES_MISSING(tables=tables)
        if level == len(by_level) - 1 and not parts.get(every):
            raise refusals.DETAIL_MISSING(level=geography[level])
        shares |= {
            (level, table): weight * part / total for table, part in parts.items() if weight * part
        }
    return shares


def _level_weights(levels: Mapping[str, Number] | None, geography: Sequence[str]) -> list[Fraction]:
    if levels is None:
        return [Fraction(1, len(geography))] * len(geography)
    if not isinstance(levels, Mapping):
        raise refusals.LEVEL_UNKNOWN(
            argument="levels", level=levels, levels=", ".join(geography), first=geography[0]
        )
    for level in levels:
        if level not in geography:
            raise refusals.LEVEL_UNKNOWN(
                argument="levels", level=level, levels=", ".join(geography), first=geography[0]
            )
    weights = [_weight(level, levels.get(level, 0), geography) for level in geography]
    if not weights[-1]:
        raise refusals.WEIGHT_NOT_POSITIVE(name=geography[-1], weight=0, level=geography[-1])
    return [weight / sum(weights) for weight in weights]


def _weight(name: object, value: Number, geography: Sequence[str]) -> Fraction:
    weight = exact(value, f"the weight of {name!s:.60}")
    if weight < 0:
        raise refusals.WEIGHT_NOT_POSITIVE(name=name, weight=value, level=geography[-1])
    return weight


def _of_level(
    tables: Weighted | Mapping[str, Weighted] | None, geography: Sequence[str], level: int
) -> Weighted | None:
    """Return the tables of a level, where the levels have tables of their own."""
    if not isinstance(tables, Mapping) or not tables or not set(tables) <= set(geography):
        return tables
    of_level: object = tables.get(geography[level])
    if isinstance(of_level, str) or not isinstance(of_level, Iterable):
        raise refusals.TABLES_MISSING(tables=tables)
    return of_level


def _table_weights(tables: object, names: Sequence[str]) -> dict[Subset, Number]:
    if isinstance(tables, str) or not isinstance(tables, Iterable):
        raise refusals.TABLES_MISSING(tables=tables)
    weights: dict[Subset, Number] = {}
    listed = tables.items() if isinstance(tables, Mapping) else ((table, 1) for table in tables)
    for table, weight in listed:
        subset = read_table(table, names)
        if subset in weights:
            raise refusals.TABLES_MISSING(tables=tables)
        weights[subset] = weight
    if not weights:
        raise refusals.TABLES_MISSING(tables=tables)
    return weights


def read_table(table: object, names: Sequence[str]) -> Subset:
    """Return the attributes of a table that is named like an argument."""
    if table == "total" and "total" not in names:
        return ()
    if table == "detail" and "detail" not in names:
        return tuple(range(len(names)))
    listed = (table,) if isinstance(table, str) else table
    if (
        not isinstance(listed, tuple | list)
        or len(set(listed)) < len(listed)
        or not set(listed) <= set(names)
    ):
        raise refusals.TABLE_UNKNOWN(table=table, names=", ".join(names), first=names[0])
    return tuple(sorted(names.index(name) for name in listed))
