"""Tables that lie on a server or a cluster: which engine reads them. Each engine's module is imported when it is first needed."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import Refused
from .lent import Lent

URLS = ("postgresql://", "postgres://")


def served(source: object, table: str | None) -> Any:
    """The Ibis table that a URL or a Spark DataFrame means; None for other sources."""
    if isinstance(source, str) and source.startswith(URLS):
        return _module("engine_postgres", "psycopg", "postgres").connected(source, table)
    if table is not None:
        reason = "only the database of a URL has tables to choose from"
        raise Refused("table.table", f"table={table!r:.60}", reason, 'protect("postgresql://…", table="visits", …)')
    spark = sys.modules.get("pyspark.sql")
    if spark is not None and isinstance(source, spark.DataFrame):
        return _module("engine_spark", "pyspark", "spark").framed(source)
    return None


def engine_of(backend: Any) -> Lent:
    """The engine of an Ibis connection."""
    made: Lent
    if backend.name == "postgres":
        made = _module("engine_postgres", "psycopg", "postgres").Postgres(backend)
    elif backend.name == "pyspark":
        made = _module("engine_spark", "pyspark", "spark").Spark(backend)
    else:
        made = Lent(backend)
    return made


def _module(name: str, needs: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f".{name}", __package__)
    except ImportError:
        raise Refused("engine.missing", "protect(…)", f"{needs} is not installed", f"pip install 'sfumato[tables,{extra}]'") from None
