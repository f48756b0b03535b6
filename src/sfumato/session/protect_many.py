"""`protect` of several tables: from sources by name to one declaration, one engine and one
ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..tables.declare.declaration import GIVEN, Declaration, declare
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.ownership import Owner, dotted, owners, unit_columns
from ..tables.engine.relational import group, select
from ..tables.engine.sources import Source, open_sources
from ..tables.expr.renaming import beside
from .protected_database import Database

EXAMPLE = (
    "protect({'patients': …, 'visits': …}, unit='patients.id', links={'visits.patient_id': "
    "'patients.id'}, budget=2)"
)

Open = Callable[[Guarantee, DatabaseDeclaration], Ledger]


def protect_several(
    sources: Mapping[str, Any],
    public: Mapping[str, Any] | None,
    links: Mapping[str, str] | None,
    unit: Any,
    total: Guarantee,
    book: Open,
    **declared: Any,
) -> Database:
    """Tables of one unit, and public tables beside them."""
    shown = dict(public or {})
    _known(sources, shown)
    names = [*sources, *shown]
    types = _by_table("types", declared.pop("types"), names)
    opened = open_sources({**sources, **shown}, types)
    try:
        whole, ready = _declared(
            {name: opened[name] for name in sources},
            {name: opened[name] for name in shown},
            links or {},
            unit,
            **declared,
        )
        return Database(whole, ready, book(total, whole), durable=declared["ledger"] is not None)
    except BaseException:
        next(iter(opened.values())).engine.close()
        raise


def _known(sources: Mapping[str, Any], public: Mapping[str, Any]) -> None:
    if not sources or not all(isinstance(name, str) and name for name in (*sources, *public)):
        raise Refused(
            "table.public",
            "protect({…})",
            "tables are given by name, and at least one of them is protected",
            EXAMPLE,
        )
    if len({name.lower() for name in (*sources, *public)}) < len(sources) + len(public):
        raise Refused(
            "table.public",
            ", ".join([*sources, *public])[:80],
            "each table has a name of its own, whatever its capitals",
            "other names",
        )


def _declared(
    private: Mapping[str, Source],
    shown: Mapping[str, Source],
    links: Mapping[str, str],
    unit: Any,
    *,
    name: str | None,
    **declared: Any,
) -> tuple[DatabaseDeclaration, dict[str, Source]]:
    names = [*private, *shown]
    by = {what: _by_table(what, declared[what], names) for what in ("bounds", "keys")}
    limits = {
        what: _limits(what, declared[what], private)
        for what in ("max_rows", "max_groups", "table_rows")
    }
    if not isinstance(learned := declared.get("learned") or {}, Mapping):
        raise Refused(
            "table.learned",
            "learned=…",
            "of several tables these are given by table",
            "the records of Declaration.learned, by table",
        )
    schemas = {table: source.schema for table, source in private.items()}
    if not isinstance(links, Mapping):
        raise Refused(
            "table.links",
            f"links={links!s:.60}",
            "links are given by column",
            "links={'visits.patient_id': 'patients.id'}",
        )
    whose = unit_columns(unit, schemas)
    pairs = {
        dotted(one, private, "links"): dotted(other, private, "links")
        for one, other in links.items()
    }
    found = owners(whose, pairs, schemas)
    ready = dict(private)
    for table in _in_order(found):  # a table after the one that it is owned through
        if found[table].through:
            ready[table] = _owned(
                ready[table], found[table], ready[found[table].table], found[found[table].table]
            )
    tables = tuple(
        declare(
            name=table,
            unit=found[table].unit,
            bounds=by["bounds"].get(table),
            keys=by["keys"].get(table),
            schema=source.schema,
            left_out=source.left_out,
            relation=declared["relation"],
            bounding=declared["bounding"],
            version=declared["version"],
            learned=learned.get(table),
            **{what: given[table] for what, given in limits.items() if given[table] is not None},
        )
        for table, source in ready.items()
    )
    public = tuple(_public(table, source, by) for table, source in shown.items())
    whole = DatabaseDeclaration(
        name="+".join(private) if name is None else name,
        unit=tuple(".".join(pair) for pair in whose),
        tables=tables,
        links=tuple((".".join(one), ".".join(other)) for one, other in pairs.items()),
        public=public,
    ).checked()
    return whole, {**ready, **shown}


def _public(name: str, source: Source, by: Mapping[str, Mapping[str, Any]]) -> Declaration:
    return declare(
        name=name,
        bounds=by["bounds"].get(name),
        keys=by["keys"].get(name),
        schema=source.schema,
        left_out=source.left_out,
    )


def _owned(source: Source, owner: Owner, other: Source, others: Owner) -> Source:
    """The rows with their owner, who is found by the rows of another table; those that name none
    are left out.
    """
    far, mine = other.table.view(), source.table
    (whose,) = others.unit
    names = beside(
        source.schema, {"named": None, "owner": None}
    )  # names that the table does not have
    named, owned = names["named"], names["owner"]
    known = select(
        far,
        {named: far[owner.named], owned: far[whose]},
        [far[owner.named].notnull(), far[whose].notnull()],
    )
    least = group(known, [named], {owned: known[owned].min()})
    joined = mine.join(least, [mine[owner.through] == least[named]])
    columns = {name: joined[name] for name in source.schema} | {owner.unit[0]: joined[owned]}
    return replace(
        source,
        stored=None,
        table=select(joined, columns),
        schema={**source.schema, owner.unit[0]: other.schema[whose].bare},
    )


def _in_order(found: Mapping[str, Owner]) -> list[str]:
    listed: list[str] = []
    while len(listed) < len(found):
        listed += [
            table
            for table, owner in found.items()
            if table not in listed and (not owner.through or owner.table in listed)
        ]
    return listed


def _by_table(what: str, given: Any, tables: list[str]) -> dict[str, dict[str, Any]]:
    """What is given by `table.column`, table by table."""
    if given is not None and not isinstance(given, Mapping):
        raise Refused(
            GIVEN[what][0],
            f"{what}={given!s:.60}",
            f"{what} are given by table and column",
            f"{what}={{'visits.spend': …}}",
        )
    found: dict[str, dict[str, Any]] = {}
    for word, value in (given or {}).items():
        table, column = dotted(word, tables, what)
        found.setdefault(table, {})[column] = value
    return found


def _limits(what: str, given: Any, tables: Mapping[str, Any]) -> dict[str, Any]:
    """A limit for all tables, or for each its own."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(tables, given)
    for table in given:
        if table not in tables:
            raise Refused(
                "table.max-rows",
                f"{what}={{{table!r:.60}: …}}",
                "there is no protected table of that name",
                f"{what}={{{next(iter(tables))!r:.60}: 5}}",
            )
    return {table: given.get(table) for table in tables}
