"""The public description of a dataset: what the owner declared, and nothing that was learned."""

from __future__ import annotations

from fractions import Fraction

from ..exact.numbers import text
from ..session.protected_database import Database
from ..tables.declare.declaration import Declaration
from .config import Config
from .datasets import Served
from .http.encode_replies import key
from .http.response_models import ColumnSchemaModel, SchemaModel, ShortModel, TableSchemaModel


def summarize(served: Served) -> ShortModel:
    """Describe a dataset in one line of a list."""
    declared = served.table.declaration
    return ShortModel(
        name=served.name,
        unit=declared.unit_name,
        relation=declared.relation,
        about=served.config.about,
    )


def describe(served: Served, config: Config) -> SchemaModel:
    """Describe a dataset with its tables and columns."""
    first = served.declarations[0]
    return SchemaModel(
        **summarize(served).model_dump(),
        max_rows=first.max_rows,
        max_groups=first.max_groups,
        table_rows=first.table_rows,
        version=first.version,
        tables=[
            TableSchemaModel(
                name=declared.name, columns=_columns(declared), declaration=declared.to_toml()
            )
            for declared in served.declarations
        ],
        # links and public tables
        database=(served.table.original.to_toml() if isinstance(served.table, Database) else None),
        example=_example(served.declarations),
        deadlines=list(config.deadlines),
    )


def _columns(declared: Declaration) -> list[ColumnSchemaModel]:
    ranges, domains = declared.ranges, declared.domains
    return [
        ColumnSchemaModel(
            name=name,
            type=str(kind),
            bounds=[_end(end) for end in ranges[name]] if name in ranges else None,
            keys=[key(value) for value in domains[name]] if name in domains else None,
        )
        for name, kind in declared.types
    ]


def _end(value: Fraction) -> int | str:
    """Return a bound: a number if JSON represents it exactly, else text."""
    return int(value) if value.denominator == 1 and abs(value) < 2**53 else text(value)


def _example(declarations: tuple[Declaration, ...]) -> str:
    """Return an example query, grouped by the first column with public keys if there is one."""
    for declared in declarations:
        for column, _ in declared.keys:
            return (
                f"SELECT {_quoted(column)}, COUNT(*) AS n FROM {_quoted(declared.name)} "
                f"GROUP BY {_quoted(column)}"
            )
    return f"SELECT COUNT(*) AS n FROM {_quoted(declarations[0].name)}"


def _quoted(name: str) -> str:
    return (
        name
        if name.isascii() and name.isidentifier() and name.islower()
        else '"' + name.replace('"', '""') + '"'
    )
