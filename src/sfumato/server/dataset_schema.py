"""What is public of a dataset: what the owner declared of it, and nothing that was learned."""

from __future__ import annotations

from typing import Any

from ..exact.numbers import text
from ..session.protected_database import Database
from ..tables.declare.declaration import Declaration
from .config import Config
from .datasets import Served
from .http.encode_replies import key


def short(served: Served) -> dict[str, Any]:
    """A dataset in a list."""
    declared = served.table.declaration
    return {
        "name": served.name,
        "unit": declared.unit_name,
        "relation": declared.relation,
        "about": served.config.about,
    }


def public(served: Served, config: Config) -> dict[str, Any]:
    """A dataset with its tables and columns."""
    first = served.given[0]
    limits = {
        name: getattr(first, name) for name in ("max_rows", "max_groups", "table_rows", "version")
    }
    tables = [
        {"name": declared.name, "columns": _columns(declared), "declaration": declared.to_toml()}
        for declared in served.given
    ]
    whole = (
        served.table.given.to_toml() if isinstance(served.table, Database) else None
    )  # links and public tables
    return {
        **short(served),
        **limits,
        "tables": tables,
        "database": whole,
        "example": _example(served.given),
        "deadlines": list(config.deadlines),
    }


def _columns(declared: Declaration) -> list[dict[str, Any]]:
    ranges, domains = declared.ranges, declared.domains
    return [
        {
            "name": name,
            "type": str(kind),
            "bounds": [_end(end) for end in ranges[name]] if name in ranges else None,
            "keys": [key(one) for one in domains[name]] if name in domains else None,
        }
        for name, kind in declared.types
    ]


def _end(value: Any) -> Any:
    """An end of bounds: a number where JSON has it exactly, else its text."""
    return int(value) if value.denominator == 1 and abs(value) < 2**53 else text(value)


def _example(given: tuple[Declaration, ...]) -> str:
    """A question that can be asked: by the first column with public keys, where there is one."""
    for declared in given:
        for column, _ in declared.keys:
            return (
                f"SELECT {_quoted(column)}, COUNT(*) AS n FROM {_quoted(declared.name)} "
                f"GROUP BY {_quoted(column)}"
            )
    return f"SELECT COUNT(*) AS n FROM {_quoted(given[0].name)}"


def _quoted(name: str) -> str:
    return (
        name
        if name.isascii() and name.isidentifier() and name.islower()
        else '"' + name.replace('"', '""') + '"'
    )
