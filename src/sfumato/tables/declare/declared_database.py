"""The declaration of several tables: one unit, the links from rows to their unit, and the public
tables.

*Private*   Each table is a `Declaration` whose unit is the column, or the columns, that name the
            owner of a row.
*Public*    Tables without a unit: their whole content is public.
*File*      TOML, as for one table, with the name of the table before each heading; `from_toml`
            reads back an equal record.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ...guarantees.guarantee import Relation
from ...templates.summary import Summarized, Summary
from ..expr.column_names import LONGEST_NAME
from ..expr.types import Type
from . import declare_refusals as refusals
from .declaration import Declaration, is_label
from .declaration_toml import from_values, to_toml, toml_text
from .describe_columns import HEADS, describe_columns
from .ownership import Owner, find_owners, join_columns, split_column, unit_columns

VERSION = 1
_PARTS = {"sfumato", "version", "database", "links", "tables", "public"}
_BY_COLUMN = ("types", "bounds", "keys")
_BY_TABLE = ("max_rows", "max_groups", "table_rows")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseDeclaration(Summarized):
    """Checked public facts about several tables."""

    name: str
    unit: tuple[str, ...]  # "patients.id"
    tables: tuple[Declaration, ...]
    links: tuple[tuple[str, str], ...] = ()
    public: tuple[Declaration, ...] = ()

    @property
    def unit_name(self) -> str:
        return ", ".join(self.unit)

    @property
    def most_units(self) -> int | None:
        """The declared limit on the rows of all tables; None if one of them declares none."""
        limits = [table.most_units for table in self.tables]
        return sum(rows for rows in limits if rows) if None not in limits else None

    def _summary(self) -> Summary:
        rows = []
        for table in (*self.tables, *self.public):
            name = table.name if table in self.tables else f"{table.name} (public)"
            columns = describe_columns(
                table.schema, table.ranges, table.domains, table.unit, table.learned
            )
            for column in columns:
                rows.append((name, *column))
                name = ""
        public = ", ".join(table.name for table in self.public)
        return Summary(
            title=f"tables {', '.join(table.name for table in self.tables)} · unit "
            f"{self.unit_name} · {self.relation}{f' · public: {public}' if public else ''}",
            heads=("table", *HEADS),
            rows=rows,
            notes=[
                f"{table.name}: {limit}" for table in self.tables for limit in table.limits_text
            ],
        )

    @property
    def relation(self) -> Relation:
        return self.tables[0].relation

    @property
    def schema(self) -> dict[str, str]:
        """All columns of protected tables, with their types."""
        return {
            f"{table.name}.{column}": str(kind)
            for table in self.tables
            for column, kind in table.types
        }

    @property
    def owners(self) -> dict[str, Owner]:
        """The owner of the rows of each protected table."""
        schemas = {table.name: table.schema for table in self.tables}
        return find_owners(
            unit_columns(self.unit, schemas),
            self._links,
            {name: self._own_columns(name, schema) for name, schema in schemas.items()},
        )

    def join_columns(self, table: str) -> dict[str, str]:
        """The columns of a table, besides the unit, that a join may use, each with its target."""
        return join_columns(self.owners, self._links, table)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `protect` that give an equal declaration, without sources and budget."""
        first, owners = self.tables[0], self.owners
        fields: dict[str, Any] = {
            "name": self.name,
            "unit": list(self.unit),
            "links": dict(self.links),
            "relation": first.relation,
        }
        fields |= {"bounding": first.bounding, "version": first.version}
        fields |= {
            what: {
                table.name: getattr(table, what)
                for table in self.tables
                if getattr(table, what) is not None
            }
            for what in _BY_TABLE
        }
        fields |= (
            {"learned": marks}
            if (marks := {table.name: table.learned for table in self.tables if table.learned})
            else {}
        )
        listed = {table.name: table.arguments for table in (*self.tables, *self.public)}
        for what in _BY_COLUMN:
            by = {
                (name, column): value
                for name, about in listed.items()
                for column, value in about[what].items()
            }
            fields[what] = {
                f"{name}.{column}": value
                for (name, column), value in by.items()
                if isinstance(column, str) and not _is_derived(owners.get(name), column)
            }
        for table in (*self.tables, *self.public):
            for each in table.hierarchies:
                levels = tuple(f"{table.name}.{level}" for level in each.levels)
                fields["keys"][levels] = replace(each, levels=levels)
        return fields

    def to_toml(self) -> str:
        """Write TOML; `DatabaseDeclaration.from_toml` reads back an equal record."""
        lines = [
            'sfumato = "database"',
            f"version = {VERSION}",
            "",
            "[database]",
            f"name = {toml_text(self.name)}",
        ]
        lines += [
            f"unit = [{', '.join(map(toml_text, self.unit))}]",
            "",
            "[links]",
            *(f"{toml_text(source)} = {toml_text(target)}" for source, target in self.links),
        ]
        for kind, tables in (("tables", self.tables), ("public", self.public)):
            for table in tables:
                below = f"{kind}.{toml_text(table.name)}."
                lines += [
                    "",
                    *(_below(line, below) for line in to_toml(table).splitlines()[3:]),
                ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> DatabaseDeclaration:
        """Read TOML and check it like any other declaration."""
        try:
            values = tomllib.loads(text, parse_float=Decimal)
        except (tomllib.TOMLDecodeError, TypeError, AttributeError, ValueError, RecursionError):
            raise refusals.NOT_TOML(record="DatabaseDeclaration") from None
        is_database = (
            values.get("sfumato") == "database"
            and values.get("version") == VERSION
            and set(values) <= _PARTS
        )
        about = values.get("database")
        if (
            not is_database
            or not isinstance(about, dict)
            or set(about) != {"name", "unit"}
            or not isinstance(about["unit"], list)
        ):
            raise refusals.DATABASE_HEADER_MISSING(version=VERSION)
        parts = {name: values.get(name, {}) for name in ("links", "tables", "public")}
        if not parts["tables"] or not all(
            isinstance(part, dict)
            for part in (*parts.values(), *parts["tables"].values(), *parts["public"].values())
        ):
            raise refusals.DATABASE_PARTS_WRONG()
        tables = {
            kind: tuple(_read_declaration(name, table) for name, table in parts[kind].items())
            for kind in ("tables", "public")
        }
        return cls(
            name=about["name"],
            unit=tuple(about["unit"]),
            links=tuple(parts["links"].items()),
            **tables,
        ).validate()

    def validate(self) -> DatabaseDeclaration:
        """Return the declaration with the unit's name set in each table; refuse tables that do not
        belong together.
        """
        names = [table.name.lower() for table in (*self.tables, *self.public)]
        if not is_label(self.name) or not self.name.strip():
            raise refusals.NAME_NOT_PRINTABLE(name=self.name, most=LONGEST_NAME)
        if len(set(names)) < len(names):
            raise refusals.TABLE_NAMES_TWICE(names=", ".join(names))
        first = self.tables[0]
        if any(
            (table.relation, table.bounding, table.version)
            != (first.relation, first.bounding, first.version)
            for table in self.tables
        ):
            raise refusals.TABLES_DIFFER(name=self.name)
        for name, owner in self.owners.items():
            if next(table for table in self.tables if table.name == name).unit != owner.unit:
                raise refusals.UNIT_NOT_OF_LINKS(table=name, unit=list(owner.unit))
        return replace(
            self,
            tables=tuple(replace(table, database_unit=self.unit_name) for table in self.tables),
        )

    @property
    def _links(self) -> dict[tuple[str, str], tuple[str, str]]:
        names = [table.name for table in self.tables]
        return {
            split_column(source, names, "links"): split_column(target, names, "links")
            for source, target in self.links
        }

    def _own_columns(self, name: str, schema: Mapping[str, Type]) -> dict[str, Type]:
        """The columns of a table without the unit column that a link adds to it."""
        unit = next(table.unit for table in self.tables if table.name == name)
        mine = {column for (table, column), _ in self._links.items() if table == name}
        home = name == split_column(self.unit[0], [table.name for table in self.tables], "unit")[0]
        return {
            column: kind
            for column, kind in schema.items()
            if home or column in mine or column not in unit
        }


def _read_declaration(name: str, values: Mapping[str, object]) -> Declaration:
    declaration = from_values({"sfumato": "declaration", "version": 1, **values})
    if declaration.name != name:
        raise refusals.STORED_NAME_DIFFERS(table=name)
    return declaration


def _below(line: str, heading: str) -> str:
    """Put a heading of one table below that table."""
    if not line.startswith("["):
        return line
    brackets = "[[" if line.startswith("[[") else "["
    return f"{brackets}{heading}{line[len(brackets) :]}"


def _is_derived(owner: Owner | None, column: str) -> bool:
    return owner is not None and bool(owner.link_column) and column in owner.unit
