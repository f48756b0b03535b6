"""The registry of supported external engines. It finds the engine of a source, and imports the
engine's module when it is first needed.

*Registry*   `ENGINES` names every supported engine. The tests run the queries and functions of the
             conformance corpus (tests/engines) on each of them, and fail for an engine that is
             listed here and not tested there. Connections of other engines are refused: their sums
             may wrap, and their expressions may fail on a row.
*Capability* `protect` also lets the connection compute constants (`capabilities`), because its
             settings and version are the owner's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from . import engine_refusals as refusals
from .external import ExternalEngine

if TYPE_CHECKING:
    import ibis.expr.types as ir
    from ibis.backends import BaseBackend


@dataclass(frozen=True, slots=True)
class SupportedEngine:
    """A supported engine: the module and class that run it, the driver they need, and the extra
    that installs the driver.

    `urls` are the beginnings of its URLs; its module has `connect(url, table)` for them. `frames`
    is the module of its own class DataFrame; its module has `frame_table(frame)` for that class.
    """

    module: str
    name: str
    driver: str
    extra: str
    urls: tuple[str, ...] = ()
    frames: str = ""

    def load(self) -> ModuleType:
        """Import the engine's module."""
        from importlib import import_module

        try:
            return import_module(f".{self.module}", __package__)
        except ImportError:
            extras = "tables" if self.extra == "tables" else f"tables,{self.extra}"
            raise refusals.PACKAGE_NOT_INSTALLED(package=self.driver, extras=extras) from None


ENGINES: Mapping[str, SupportedEngine] = {
    "duckdb": SupportedEngine("external_duckdb", "ExternalDuckDB", "duckdb", "tables"),
    "postgres": SupportedEngine(
        "external_postgres",
        "Postgres",
        "psycopg",
        "postgres",
        urls=("postgresql://", "postgres://"),
    ),
    "pyspark": SupportedEngine("external_spark", "Spark", "pyspark", "spark", frames="pyspark.sql"),
}
"""Ibis's name of an engine → the module and class that run it."""


def connected_table(source: object, table: str | None) -> ir.Table | None:
    """Return the Ibis table of a URL or of an engine's own frame; None for other sources."""
    for engine in ENGINES.values():
        if isinstance(source, str) and engine.urls and source.startswith(engine.urls):
            return engine.load().connect(source, table)
    if table is not None:
        raise refusals.TABLE_ARGUMENT_WITHOUT_URL(table=table)
    for engine in ENGINES.values():
        frames = sys.modules.get(engine.frames)
        if frames is not None and isinstance(source, frames.DataFrame):
            return engine.load().frame_table(source)
    return None


def engine_of(backend: BaseBackend) -> ExternalEngine:
    """Return the engine of an Ibis connection; refuse an unsupported engine."""
    supported = ENGINES.get(backend.name)
    if supported is None:
        raise refusals.ENGINE_UNSUPPORTED(engine=backend.name)
    engine: ExternalEngine = getattr(supported.load(), supported.name)(backend)
    return engine
