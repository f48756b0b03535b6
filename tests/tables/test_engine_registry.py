"""Which engine a source belongs to, and what is said where its driver is missing."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.tables.engine import engine_registry
from sfumato.tables.engine.engine_registry import (
    ENGINES,
    SupportedEngine,
    connected_table,
    engine_of,
)
from sfumato.tables.engine.external import ExternalEngine
from sfumato.tables.engine.external_duckdb import ExternalDuckDB

from ..refusing import refusal


def test_other_sources_are_not_served() -> None:
    assert connected_table("visits.parquet", None) is None
    assert connected_table(42, None) is None


def test_a_table_is_chosen_on_a_server_alone() -> None:
    with pytest.raises(sf.Refused) as caught:
        connected_table("visits.parquet", "visits")
    assert caught.value.code == "table.table"


def test_a_connection_to_duckdb_is_taken() -> None:
    assert type(engine_of(ibis.duckdb.connect())) is ExternalDuckDB


def _polars(folder: Path) -> Any:
    return ibis.polars.connect(
        {"t": pl.DataFrame({"u": range(10_000), "x": np.full(10_000, 100.0)})}
    )


def _sqlite(folder: Path) -> Any:
    with sqlite3.connect(folder / "lite.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS u, 100.0 AS x")
    connection.close()
    return ibis.sqlite.connect(folder / "lite.db")


OTHERS = {"polars": _polars, "sqlite": _sqlite}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("how", ["alone", "several"])
def test_a_connection_to_another_engine_is_refused(
    name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars wraps sums of 32-bit integers: -48531 was released where the sum is a million. SQLite
    stops at 64 bits. Nothing is read before the refusal.
    """
    connection = OTHERS[name](tmp_path)
    table = connection.table("t")
    with monkeypatch.context() as closed:
        for method in ("to_pyarrow", "to_pyarrow_batches", "execute", "raw_sql"):
            if hasattr(connection, method):
                closed.setattr(
                    type(connection),
                    method,
                    lambda *_, **__: pytest.fail("the connection was asked"),
                )
        source: Any = table if how == "alone" else {"t": table}
        refused = refusal(
            lambda: sf.protect(source, unit="u" if how == "alone" else "t.u", max_rows=1, budget=1),
            "engine.unknown",
        )
    assert name in refused.reason
    assert refused.rewrite == (
        'protect(connection.table("visits").to_pyarrow(), name="visits", unit="user_id", budget=1)'
    )
    if how == "alone":
        namespace = {"protect": sf.protect, "connection": connection}
        protected = eval(
            (
                'protect(connection.table("t").to_pyarrow(), name="t", unit="u", max_rows=1, '
                'bounds={"x": (0, 100)}, budget=sf.Pure(100))'
            ),
            namespace | {"sf": sf},
        )
        rows = 10_000 if name == "polars" else 1
        total = protected.aggregate(s=sf.sum("x")).release(epsilon=50).value()
        assert abs(total - 100 * rows) < 100, (
            "noise of 2 in the middle: more than 99 with chance e^-49"
        )


def test_every_engine_has_a_module_a_class_and_an_extra() -> None:
    import tomllib

    extras = tomllib.loads(
        (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]["optional-dependencies"]
    for entry in ENGINES.values():
        assert issubclass(getattr(entry.load(), entry.name), ExternalEngine)
        assert any(line.startswith(entry.driver) for line in extras[entry.extra])


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked: Any = None
    monkeypatch.setitem(sys.modules, "sfumato.tables.engine.external_postgres", blocked)
    with pytest.raises(sf.Refused) as caught:
        connected_table("postgresql://reader:secret@nowhere/clinic", None)
    assert caught.value.code == "engine.missing"
    assert "secret" not in str(caught.value)


def test_a_new_engine_needs_a_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toy engine, defined here: DuckDB under another name, with a URL and a frame of its own.
    Tables of its connections, its URLs and its frames are protected and answered.
    """
    from types import ModuleType

    from ibis.backends.duckdb import Backend

    class ToyBackend(Backend):
        name = "toy"

    class DataFrame:
        """The frame of the toy engine."""

    connection = ToyBackend()
    connection.do_connect()
    connection.con.execute("CREATE TABLE t AS SELECT i AS u, 1 AS x FROM range(1000) r(i)")
    module: Any = ModuleType("sfumato.tables.engine.external_toy")
    module.Toy = type("Toy", (ExternalDuckDB,), {"version": "Toy 1"})
    module.connect = lambda url, table: connection.table(table)
    module.frame_table = lambda frame: connection.table("t")
    frames: Any = ModuleType("toy_frames")
    frames.DataFrame = DataFrame
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "toy_frames", frames)
    row = SupportedEngine(
        "external_toy", "Toy", "toy", "toy", urls=("toy://",), frames="toy_frames"
    )
    monkeypatch.setattr(engine_registry, "ENGINES", {**ENGINES, "toy": row})
    sources: list[tuple[Any, dict[str, str]]] = [
        (connection.table("t"), {}),
        ("toy://somewhere", {"table": "t"}),
        (DataFrame(), {}),
    ]
    for source, chosen in sources:
        protected = sf.protect(
            source, unit="u", max_rows=1, bounds={"x": (0, 1)}, budget=100, **chosen
        )
        answer = protected.sql("SELECT SUM(x) AS total FROM t", epsilon=50)
        assert protected._source.engine.version == "Toy 1"
        assert abs(answer.value("total") - 1000) <= 1, "e^-50 at most"
