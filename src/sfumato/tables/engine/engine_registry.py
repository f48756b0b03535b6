"""The engines that may read a table where it lies, and which of them a source belongs to. Each
engine's module is imported when it is first needed.

*Registry*   `ENGINES` names every engine that is accepted. The tests ask each of them the queries
             and functions of the conformance corpus (tests/engines), and fail for an engine that is
             listed here and not asked there. The connection of any other engine is refused: its
             sums may wrap, and its expressions may fail on a row.
*Capability* `protect` also has the connection at hand compute constants (`capabilities`), because
its settings and version are the owner's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import Refused
from .external import Lent

URLS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Known:
    """An engine that is accepted: the module and the class that ask it, the driver that these need,
    and the extra that installs the driver.
    """

    module: str
    name: str
    driver: str
    extra: str

    def load(self) -> Any:
        """The module."""
        from importlib import import_module

        try:
            return import_module(f".{self.module}", __package__)
        except ImportError:
            extras = "tables" if self.extra == "tables" else f"tables,{self.extra}"
            raise Refused(
                "engine.missing",
                "protect(…)",
                f"{self.driver} is not installed",
                f"pip install 'sfumato[{extras}]'",
            ) from None


ENGINES: Mapping[str, Known] = {
    "duckdb": Known("external_duckdb", "DuckDB", "duckdb", "tables"),
    "postgres": Known("external_postgres", "Postgres", "psycopg", "postgres"),
    "pyspark": Known("external_spark", "Spark", "pyspark", "spark"),
}
"""Ibis's name of an engine → how it is asked."""


def served(source: object, table: str | None) -> Any:
    """The Ibis table that a URL or a Spark DataFrame means; None for other sources."""
    if isinstance(source, str) and source.startswith(URLS):
        return ENGINES["postgres"].load().connected(source, table)
    if table is not None:
        reason = "only the database of a URL has tables to choose from"
        raise Refused(
            "table.table",
            f"table={table!r:.60}",
            reason,
            'protect("postgresql://…", table="visits", …)',
        )
    spark = sys.modules.get("pyspark.sql")
    if spark is not None and isinstance(source, spark.DataFrame):
        return ENGINES["pyspark"].load().framed(source)
    return None


def engine_of(backend: Any) -> Lent:
    """The engine of an Ibis connection; refused where it is none of those that are accepted."""
    known = ENGINES.get(backend.name)
    if known is None:
        reason = (
            f"{backend.name} is not an engine that is known to add integers without overflow "
            f"and to compute every row without an error"
        )
        rewrite = (
            'the frame itself, protect(connection.table("visits").to_pyarrow(), '
            'name="visits", …), or a Parquet file, protect("visits.parquet", …)'
        )
        raise Refused(
            "engine.unknown", f"a connection of Ibis to {backend.name!r:.40}", reason, rewrite
        )
    made: Lent = getattr(known.load(), known.name)(backend)
    return made
