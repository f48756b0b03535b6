"""What the owner declares of several tables: one unit, the links by which rows belong to it, and
the tables that are public.

*Private*   Each table is a `Declaration` whose unit is the column, or the columns, that say whose a
            row is.
*Public*    Tables without a unit: anybody may know all of them.
*File*      TOML, as of one table, with the name of the table before each heading; read back as an
            equal record.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ...errors import Refused
from ...guarantees.guarantee import Relation
from .declaration import Declaration
from .declaration_toml import from_said, to_toml, toml_text
from .ownership import Owner, dotted, owners, unit_columns, words

VERSION = 1
_PARTS = {"sfumato", "version", "database", "links", "tables", "public"}
_BY_COLUMN = ("types", "bounds", "keys")
_BY_TABLE = ("max_rows", "max_groups", "table_rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDeclaration:
    """Public facts about several tables, checked."""

    name: str
    unit: tuple[str, ...]  # "patients.id"
    tables: tuple[Declaration, ...]
    links: tuple[tuple[str, str], ...] = ()
    public: tuple[Declaration, ...] = ()

    @property
    def unit_name(self) -> str:
        return ", ".join(self.unit)

    @property
    def relation(self) -> Relation:
        return self.tables[0].relation

    @property
    def schema(self) -> dict[str, str]:
        """All columns of protected tables, with their types."""
        return {
            f"{table.name}.{column}": str(known)
            for table in self.tables
            for column, known in table.types
        }

    @property
    def owners(self) -> dict[str, Owner]:
        """Whose the rows of each protected table are."""
        schemas = {table.name: table.schema for table in self.tables}
        return owners(
            unit_columns(self.unit, schemas),
            self._links,
            {name: self._read(name, schema) for name, schema in schemas.items()},
        )

    def words(self, table: str) -> dict[str, str]:
        """Columns of a table that a join may be on, beside the unit, each with what it names."""
        return words(self.owners, self._links, table)

    @property
    def arguments(self) -> dict[str, Any]:
        """What `protect` takes, beside sources and budget, to declare the same."""
        first, found = self.tables[0], self.owners
        given: dict[str, Any] = {
            "name": self.name,
            "unit": list(self.unit),
            "links": dict(self.links),
            "relation": first.relation,
        }
        given |= {"bounding": first.bounding, "version": first.version}
        given |= {
            what: {
                table.name: getattr(table, what)
                for table in self.tables
                if getattr(table, what) is not None
            }
            for what in _BY_TABLE
        }
        given |= (
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
            given[what] = {
                f"{name}.{column}": value
                for (name, column), value in by.items()
                if not _made(found.get(name), column)
            }
        return given

    def to_toml(self) -> str:
        """As a file, exact: `DatabaseDeclaration.from_toml` reads back an equal record."""
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
            *(f"{toml_text(one)} = {toml_text(other)}" for one, other in self.links),
        ]
        for kind, tables in (("tables", self.tables), ("public", self.public)):
            for table in tables:
                below = f"[{kind}.{toml_text(table.name)}."
                lines += [
                    "",
                    *(
                        f"{below}{line[1:]}" if line.startswith("[") else line
                        for line in to_toml(table).splitlines()[3:]
                    ),
                ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> DatabaseDeclaration:
        """From a file, checked like any other declaration."""
        try:
            said = tomllib.loads(text, parse_float=Decimal)
        except (tomllib.TOMLDecodeError, TypeError, AttributeError, ValueError, RecursionError):
            raise _unreadable("this is not TOML") from None
        known = (
            said.get("sfumato") == "database"
            and said.get("version") == VERSION
            and set(said) <= _PARTS
        )
        about = said.get("database")
        if (
            not known
            or not isinstance(about, dict)
            or set(about) != {"name", "unit"}
            or not isinstance(about["unit"], list)
        ):
            raise _unreadable(
                f"it does not begin as a declaration of several tables, of version {VERSION}"
            )
        parts = {name: said.get(name, {}) for name in ("links", "tables", "public")}
        if not parts["tables"] or not all(
            isinstance(part, dict)
            for part in (*parts.values(), *parts["tables"].values(), *parts["public"].values())
        ):
            raise _unreadable(
                "it has [links], [tables.….table], [tables.….columns.…] and "
                "[public.….table], [public.….columns.…]"
            )
        made = {
            kind: tuple(_declared(name, table) for name, table in parts[kind].items())
            for kind in ("tables", "public")
        }
        return cls(
            name=about["name"],
            unit=tuple(about["unit"]),
            links=tuple(parts["links"].items()),
            **made,
        ).checked()

    def checked(self) -> DatabaseDeclaration:
        """The same, with each table told what the unit is called; refused where tables do not
        belong together.
        """
        names = [table.name.lower() for table in (*self.tables, *self.public)]
        if (
            not isinstance(self.name, str)
            or not self.name.isprintable()
            or not self.name.strip()
            or len(self.name) > 200
        ):
            raise Refused(
                "table.name",
                f"name={self.name!r:.60}",
                "this is printable text of at most 200 letters",
                "name='clinic'",
            )
        if len(set(names)) < len(names):
            raise Refused(
                "table.public",
                ", ".join(names)[:80],
                "each table has a name of its own, whatever its capitals",
                "other names",
            )
        first = self.tables[0]
        if any(
            (table.relation, table.bounding, table.version)
            != (first.relation, first.bounding, first.version)
            for table in self.tables
        ):
            raise Refused(
                "table.links",
                self.name,
                (
                    "tables that are protected together have one relation, one bounding and "
                    "one version"
                ),
                "say the same of all",
            )
        for name, owner in self.owners.items():
            if next(table for table in self.tables if table.name == name).unit != owner.unit:
                raise Refused(
                    "table.unit",
                    name,
                    "whose rows they are follows from the links",
                    f"unit = {list(owner.unit)}",
                )
        return replace(
            self, tables=tuple(replace(table, among=self.unit_name) for table in self.tables)
        )

    @property
    def _links(self) -> dict[tuple[str, str], tuple[str, str]]:
        names = [table.name for table in self.tables]
        return {
            dotted(one, names, "links"): dotted(other, names, "links") for one, other in self.links
        }

    def _read(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that a table has of its own: one that a link is from has no other column of
        the unit.
        """
        unit = next(table.unit for table in self.tables if table.name == name)
        mine = {column for (one, column), _ in self._links.items() if one == name}
        home = name == dotted(self.unit[0], [table.name for table in self.tables], "unit")[0]
        return {
            column: known
            for column, known in schema.items()
            if home or column in mine or column not in unit
        }


def _declared(name: str, said: dict[str, Any]) -> Declaration:
    found = from_said({"sfumato": "declaration", "version": 1, **said})
    if found.name != name:
        raise _unreadable(f"table {name!r:.60} is called otherwise below")
    return found


def _made(owner: Owner | None, column: str) -> bool:
    return owner is not None and bool(owner.through) and column in owner.unit


def _unreadable(reason: str) -> Refused:
    return Refused(
        "table.stored", "DatabaseDeclaration.from_toml(…)", reason, "the text of to_toml()"
    )
