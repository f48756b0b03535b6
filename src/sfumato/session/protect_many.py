"""`protect` for several tables: from sources by name to one declaration, one engine and one
ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..tables.declare.declaration import BY_COLUMN, Declaration, declare
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.ownership import Owner, find_owners, split_column, unit_columns
from ..tables.engine.sources import TableSource, open_sources
from ..tables.expr.relational import group, select
from ..tables.expr.renaming import right_names
from . import session_refusals as refusals
from .protected_database import Database

EXAMPLE = (
    "protect({'patients': 'patients.parquet', 'visits': 'visits.parquet'}, unit='patients.id', "
    "links={'visits.patient_id': 'patients.id'}, budget=2)"
)

EXAMPLES = {"bounds": "(0, 100)", "keys": "[1, 2, 3]", "types": "'float64'"}
Open = Callable[[Guarantee, DatabaseDeclaration], Ledger]


def protect_many(
    sources: Mapping[str, Any],
    public: Mapping[str, Any] | None,
    links: Mapping[str, str] | None,
    unit: Any,
    total: Guarantee,
    book: Open,
    **declared: Any,
) -> Database:
    """Protect tables of one unit together, with public tables to join."""
    shown = dict(public or {})
    _check_names(sources, shown)
    names = [*sources, *shown]
    types = _by_table("types", declared.pop("types"), names)
    opened = open_sources({**sources, **shown}, types)
    try:
        database, ready = _declare_all(
            {name: opened[name] for name in sources},
            {name: opened[name] for name in shown},
            links or {},
            unit,
            **declared,
        )
        durable = declared["ledger"] is not None
        return Database(database, ready, book(total, database), durable=durable)
    except BaseException:
        next(iter(opened.values())).engine.close()
        raise


def _check_names(sources: Mapping[str, Any], public: Mapping[str, Any]) -> None:
    if not sources or not all(isinstance(name, str) and name for name in (*sources, *public)):
        raise refusals.TABLE_PUBLIC_1(EXAMPLE=EXAMPLE)
    if len({name.lower() for name in (*sources, *public)}) < len(sources) + len(public):
        raise refusals.TABLE_PUBLIC_2(value=", ".join([*sources, *public])[:80])


def _declare_all(
    private: Mapping[str, TableSource],
    shown: Mapping[str, TableSource],
    links: Mapping[str, str],
    unit: Any,
    *,
    name: str | None,
    **declared: Any,
) -> tuple[DatabaseDeclaration, dict[str, TableSource]]:
    names = [*private, *shown]
    by = {what: _by_table(what, declared[what], names) for what in ("bounds", "keys")}
    limits = {
        what: _limits(what, declared[what], private)
        for what in ("max_rows", "max_groups", "table_rows")
    }
    if not isinstance(learned := declared.get("learned") or {}, Mapping):
        raise refusals.TABLE_LEARNED_1()
    schemas = {table: source.schema for table, source in private.items()}
    if not isinstance(links, Mapping):
        raise refusals.TABLE_LINKS_2(links=links)
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
            bounds=by["bounds"].get(table),
            keys=by["keys"].get(table),
            schema=source.schema,
            left_out=source.left_out,
            relation=declared["relation"],
            bounding=declared["bounding"],
            version=declared["version"],
            learned=learned.get(table),
            **{what: limit[table] for what, limit in limits.items() if limit[table] is not None},
        )
        for table, source in ready.items()
    )
    public = tuple(_public(table, source, by) for table, source in shown.items())
    database = DatabaseDeclaration(
        name="+".join(private) if name is None else name,
        unit=tuple(".".join(pair) for pair in whose),
        tables=tables,
        links=tuple((".".join(column), ".".join(linked)) for column, linked in pairs.items()),
        public=public,
    ).validate()
    return database, {**ready, **shown}


def _public(name: str, source: TableSource, by: Mapping[str, Mapping[str, Any]]) -> Declaration:
    return declare(
        name=name,
        bounds=by["bounds"].get(name),
        keys=by["keys"].get(name),
        schema=source.schema,
        left_out=source.left_out,
    )


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


def _by_table(what: str, values: Any, tables: list[str]) -> dict[str, dict[str, Any]]:
    """Split a mapping by `table.column` into one mapping per table."""
    if values is not None and not isinstance(values, Mapping):
        raise Refused(
            BY_COLUMN[what].code,
            f"{what}={values!s:.60}",
            f"{what}= is a mapping by table.column",
            f"{what}={{'visits.spend': {EXAMPLES[what]}}}",
        )
    by_table: dict[str, dict[str, Any]] = {}
    for word, value in (values or {}).items():
        table, column = split_column(word, tables, what)
        by_table.setdefault(table, {})[column] = value
    return by_table


def _limits(what: str, values: Any, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limit of each table, from one number for all or a mapping by table."""
    if not isinstance(values, Mapping):
        return dict.fromkeys(tables, values)
    for table in values:
        if table not in tables:
            raise refusals.TABLE_MAX_ROWS_1(what=what, table=table, next=next(iter(tables)))
    return {table: values.get(table) for table in tables}
