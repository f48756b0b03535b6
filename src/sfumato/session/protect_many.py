"""`protect` for several tables: from sources by name to one declaration, one engine and one
ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from ..errors import RefusalText
from ..ledger import Ledger
from ..tables.declare.declaration import TABLE_ROWS, declare
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.ownership import Owner, find_owners, split_column, unit_columns
from ..tables.declare.place_hierarchy import ColumnNames, DeclaredKeys, KeysOrPlaces, split_keys
from ..tables.engine.sources import TableSource, open_sources
from ..tables.expr.relational import group, select
from ..tables.query.renaming import right_names
from . import session_refusals as refusals
from .protect_options import Limit, ProtectSettings, Source
from .protected_database import Database

T = TypeVar("T")
NOT_MAPPING: Mapping[str, RefusalText] = {
    "types": refusals.TYPES_NOT_MAPPING,
    "bounds": refusals.BOUNDS_NOT_MAPPING,
    "keys": refusals.KEYS_NOT_MAPPING,
}
"""Argument by `table.column` → the refusal of a value that is no mapping."""


def protect_many(
    sources: Mapping[str, Source],
    unit: str | Iterable[str] | None,
    settings: ProtectSettings,
    open_ledger: Callable[[DatabaseDeclaration], Ledger],
) -> Database:
    """Protect tables of one unit together, with public tables to join."""
    shown = dict(settings.public or {})
    if settings.table is not None:
        raise refusals.ONE_TABLE_OF_MANY(table=settings.table)
    _check_names(sources, shown)
    types = _by_table("types", settings.types, [*sources, *shown])
    opened = open_sources({**sources, **shown}, types)
    try:
        database, ready = _declare_all(
            {name: opened[name] for name in sources},
            {name: opened[name] for name in shown},
            unit,
            settings,
        )
        durable = settings.ledger is not None
        return Database(database, ready, open_ledger(database), durable=durable)
    except BaseException:
        next(iter(opened.values())).engine.close()
        raise


def _check_names(sources: Mapping[str, Source], public: Mapping[str, Source]) -> None:
    if not sources or not all(isinstance(name, str) and name for name in (*sources, *public)):
        raise refusals.TABLES_WITHOUT_NAMES()
    if len({name.lower() for name in (*sources, *public)}) < len(sources) + len(public):
        raise refusals.TABLE_NAME_TWICE(tables=", ".join([*sources, *public]))


def _declare_all(
    private: Mapping[str, TableSource],
    shown: Mapping[str, TableSource],
    unit: str | Iterable[str] | None,
    settings: ProtectSettings,
) -> tuple[DatabaseDeclaration, dict[str, TableSource]]:
    names = [*private, *shown]
    bounds = _by_table("bounds", settings.bounds, names)
    keys = _keys_by_table(settings.keys, names)
    max_rows = _limits("max_rows", settings.max_rows, private)
    max_groups = _limits("max_groups", settings.max_groups, private)
    table_rows = _limits("table_rows", settings.table_rows, private)
    links, learned = settings.links or {}, settings.learned or {}
    if not isinstance(learned, Mapping):
        raise refusals.LEARNED_NOT_MAPPING()
    schemas = {table: source.schema for table, source in private.items()}
    if not isinstance(links, Mapping):
        raise refusals.LINKS_NOT_MAPPING(links=links)
    whose = unit_columns(unit, schemas)
    pairs = {
        split_column(column, private, "links"): split_column(linked, private, "links")
        for column, linked in links.items()
    }
    owner_of = find_owners(whose, pairs, schemas)
    ready = dict(private)
    for table in _in_order(owner_of):  # a table after the one that it is owned through
        owner = owner_of[table]
        if owner.link_column:
            ready[table] = _with_owner(
                ready[table], owner, ready[owner.target_table], owner_of[owner.target_table]
            )
    tables = tuple(
        declare(
            name=table,
            unit=owner_of[table].unit,
            bounds=bounds.get(table),
            keys=keys.get(table),
            max_rows=max_rows[table],
            max_groups=max_groups[table],
            table_rows=TABLE_ROWS if (rows := table_rows[table]) is None else rows,
            schema=source.schema,
            left_out=source.left_out,
            relation=settings.relation,
            bounding=settings.bounding,
            version=settings.version,
            learned=learned.get(table),
        )
        for table, source in ready.items()
    )
    public = tuple(
        declare(
            name=table,
            bounds=bounds.get(table),
            keys=keys.get(table),
            schema=source.schema,
            left_out=source.left_out,
        )
        for table, source in shown.items()
    )
    database = DatabaseDeclaration(
        name="+".join(private) if settings.name is None else settings.name,
        unit=tuple(".".join(pair) for pair in whose),
        tables=tables,
        links=tuple((".".join(column), ".".join(linked)) for column, linked in pairs.items()),
        public=public,
    ).validate()
    return database, {**ready, **shown}


def _with_owner(
    source: TableSource, owner: Owner, parent: TableSource, parent_owner: Owner
) -> TableSource:
    """Add to each row its unit, looked up in the parent table; drop rows without a unit."""
    far, mine = parent.table.view(), source.table
    (whose,) = parent_owner.unit
    # names that the table does not have
    names = right_names(source.schema, {"named": None, "owner": None})
    named, owned = names["named"], names["owner"]
    owned_keys = select(
        far,
        {named: far[owner.target_column], owned: far[whose]},
        [far[owner.target_column].notnull(), far[whose].notnull()],
    )
    least = group(owned_keys, [named], {owned: owned_keys[owned].min()})
    joined = mine.join(least, [mine[owner.link_column] == least[named]])
    columns = {name: joined[name] for name in source.schema} | {owner.unit[0]: joined[owned]}
    return replace(
        source,
        stored=None,
        table=select(joined, columns),
        schema={**source.schema, owner.unit[0]: parent.schema[whose].bare},
    )


def _in_order(owner_of: Mapping[str, Owner]) -> list[str]:
    """Order tables so that each comes after the table that it is owned through."""
    listed: list[str] = []
    while len(listed) < len(owner_of):
        listed += [
            table
            for table, owner in owner_of.items()
            if table not in listed and (not owner.link_column or owner.target_table in listed)
        ]
    return listed


def _by_table(
    what: str, values: Mapping[str, T] | None, tables: list[str]
) -> dict[str, dict[str, T]]:
    """Split a mapping by `table.column` into one mapping per table."""
    if values is not None and not isinstance(values, Mapping):
        raise NOT_MAPPING[what](values=values)
    by_table: dict[str, dict[str, T]] = {}
    for word, value in (values or {}).items():
        table, column = split_column(word, tables, what)
        by_table.setdefault(table, {})[column] = value
    return by_table


def _keys_by_table(
    keys: DeclaredKeys | None, tables: list[str]
) -> dict[str, dict[ColumnNames, KeysOrPlaces]]:
    """Split public keys by table. The levels of a hierarchy are columns of one table."""
    single, hierarchies = split_keys(keys)
    by_table: dict[str, dict[ColumnNames, KeysOrPlaces]] = {}
    for table, listed in _by_table("keys", single, tables).items():
        by_table[table] = cast("dict[ColumnNames, KeysOrPlaces]", listed)
    for each in hierarchies:
        parts = [split_column(level, tables, "keys") for level in each.levels]
        homes, columns = {table for table, _ in parts}, tuple(column for _, column in parts)
        if len(homes) != 1:
            raise refusals.HIERARCHY_OF_TWO_TABLES(columns=", ".join(each.levels))
        by_table.setdefault(homes.pop(), {})[columns] = replace(each, levels=columns)
    return by_table


def _limits(what: str, values: Limit | None, tables: Iterable[str]) -> dict[str, int | None]:
    """Return the limit of each table, from one number for all or a mapping by table."""
    if not isinstance(values, Mapping):
        return dict.fromkeys(tables, values)
    for table in values:
        if table not in tables:
            raise refusals.LIMIT_OF_UNKNOWN_TABLE(
                argument=what, table=table, near=next(iter(tables))
            )
    return {table: values.get(table) for table in tables}
