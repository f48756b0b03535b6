"""Files: what a path means, which files are one table, and what is said of those that are none. No
row is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.tables.engine.duckdb_engine import DuckDBEngine
from sfumato.tables.engine.source_files import SUFFIXES, find_files

from ..refusing import refusal

TABLE = pa.table({"user_id": [1, 2], "city": ["Roma", "Bari"]})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        pq.write_table(TABLE, tmp_path / f"{name}.parquet")
    (tmp_path / "x.csv").write_text("user_id,city\n1,Roma\n")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    pq.write_table(TABLE, tmp_path / "deep" / "er" / "d.parquet")
    with duckdb.connect(str(tmp_path / "one.duckdb")) as con:
        con.execute("CREATE TABLE visits AS SELECT 1 AS user_id")
    with duckdb.connect(str(tmp_path / "many.db")) as con:
        con.execute(
            "CREATE TABLE visits AS SELECT 1 AS user_id; CREATE TABLE people AS SELECT 2 "
            "AS user_id; CREATE VIEW seen AS SELECT * FROM visits"
        )
        con.execute("CREATE SCHEMA old; CREATE TABLE old.visits AS SELECT 3 AS user_id")


def rows(source: Any) -> list[tuple[Any, ...]]:
    files = find_files(source)
    engine = DuckDBEngine(
        paths=[] if files.attached else list(files.paths), attached=files.attached
    )
    try:
        return (
            engine.connection.cursor()
            .execute(f"SELECT user_id FROM {files.relation(engine)} ORDER BY ALL")
            .fetchall()
        )
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("source", "expected", "name"),
    [
        ("a.parquet", ["a.parquet"], "a"),
        (Path("a.parquet"), ["a.parquet"], "a"),
        ("*.parquet", ["a.parquet", "b.parquet", "c.parquet"], None),
        ("[ab].parquet", ["a.parquet", "b.parquet"], None),
        ("**/d.parquet", ["d.parquet"], None),
        (["c.parquet", Path("a.parquet")], ["c.parquet", "a.parquet"], None),
        (("a.parquet", "deep/*/*.parquet"), ["a.parquet", "d.parquet"], None),
        ("x.csv", ["x.csv"], "x"),
        ("one.duckdb", ["one.duckdb"], "one"),
        ("many.db::visits", ["many.db"], "visits"),
        ("many.db::old.visits", ["many.db"], "visits"),
    ],
)
def test_what_a_path_means(source: Any, expected: list[str], name: str | None) -> None:
    files = find_files(source)
    assert [Path(path).name for path in files.paths] == expected
    assert all(os.path.isabs(path) for path in files.paths)
    assert files.name == name


def test_a_tilde_is_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_files("~/a.parquet").paths == (str(tmp_path / "a.parquet"),)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_ending_means_its_kind_in_either_case(tmp_path: Path, suffix: str) -> None:
    for name in (f"e{suffix}", f"E{suffix.upper()}"):
        (tmp_path / name).write_bytes(
            b"" if SUFFIXES[suffix] != "CSV" or suffix.endswith("gz") else b"a\n"
        )
        if not (SUFFIXES[suffix] == "CSV" and suffix.endswith("gz")):
            assert find_files(name).kind == SUFFIXES[suffix]
            assert find_files(name).name in ("e", "E")


def test_a_pattern_is_expanded_once(tmp_path: Path) -> None:
    files = find_files("*.parquet")
    pq.write_table(TABLE, tmp_path / "z.parquet")
    assert len(files.paths) == 3


def test_a_name_with_a_quote_is_a_name(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "it's.parquet")
    assert rows("it's.parquet") == [(1,), (2,)]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "a\0.parquet",
        "none.parquet",
        "none-*.parquet",
        "deep",
        "a.txt",
        "a",
        "https://example.org/a.parquet",
        "s3://bucket/a.parquet",
        ["a.parquet", "x.csv"],
        ["a.parquet", "none.parquet"],
        ["one.duckdb", "many.db"],
        "*.d*b::visits",
    ],
)
def test_what_is_no_file_is_refused(source: Any) -> None:
    refusal(lambda: find_files(source), "table.path")


def test_a_folder_is_refused_with_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    assert "*.parquet" in refusal(lambda: find_files("folder.parquet"), "table.path").rewrite


def test_a_name_that_looks_like_a_pattern_is_refused(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "what?.parquet")
    refusal(lambda: find_files("what?.parquet"), "table.path")


def test_a_file_that_may_not_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refusal(lambda: find_files("a.parquet"), "table.path")


def test_files_are_read_together() -> None:
    assert rows("*.parquet") == [(1,)] * 3 + [(2,)] * 3
    assert (
        rows("one.duckdb")
        == rows("one.duckdb::visits")
        == rows("one.duckdb::main.visits")
        == [(1,)]
    )
    assert rows("many.db::people") == [(2,)]
    assert rows("many.db::old.visits") == [(3,)]


def test_folders_are_no_columns(tmp_path: Path) -> None:
    (tmp_path / "year=2026").mkdir()
    pq.write_table(TABLE, tmp_path / "year=2026" / "p.parquet")
    files = find_files("year=*/p.parquet")
    engine = DuckDBEngine(paths=list(files.paths))
    assert [name for name, _ in engine.describe(files.relation(engine))] == ["user_id", "city"]
    engine.close()


@pytest.mark.parametrize(
    "second_table",
    [
        pa.table({"user_id": [1.5], "city": ["Roma"]}),
        pa.table({"city": ["Roma"], "user_id": [1]}),
        pa.table({"user_id": [1]}),
        pa.table({"user_id": [1], "city": ["Roma"], "more": [1]}),
        pa.table({"user_id": pa.array([1], pa.int32()), "city": ["Roma"]}),
    ],
)
def test_files_that_differ_in_their_columns_are_refused(tmp_path: Path, second_table: Any) -> None:
    pq.write_table(second_table, tmp_path / "other.parquet")
    refusal(lambda: rows("*.parquet"), "table.files")


@pytest.mark.parametrize("name", ["bad.parquet", "bad.duckdb"])
def test_a_file_of_another_kind_is_refused_without_the_engines_words(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"Ada Lovelace, 1815" * 1000)
    refused = refusal(lambda: rows(name), "table.file")
    assert "Ada" not in str(refused)
    assert refused.__cause__ is None
    assert refused.__suppress_context__


@pytest.mark.parametrize(
    "source",
    [
        "many.db",
        "many.db::seen",
        "many.db::nobody",
        "many.db::old.people",
        "many.db::visits; DROP TABLE visits",
    ],
)
def test_which_table_is_meant_must_be_clear(source: str) -> None:
    refused = refusal(lambda: rows(source), "table.table")
    assert refused.rewrite == "protect('many.db::people', unit=\"user_id\", budget=1)"


def test_a_database_that_is_being_written_is_refused() -> None:
    with duckdb.connect("one.duckdb") as writer:
        writer.execute("INSERT INTO visits VALUES (7)")
        refusal(lambda: rows("one.duckdb"), "table.file")
    assert rows("one.duckdb") == [(1,), (7,)]


def test_a_database_cannot_be_changed() -> None:
    files = find_files("one.duckdb")
    engine = DuckDBEngine(attached=files.attached)
    with pytest.raises(duckdb.Error, match="read-only"):
        engine.connection.cursor().execute(f"INSERT INTO {files.relation(engine)} VALUES (2)")
    engine.close()


def test_only_the_footer_is_read(tmp_path: Path) -> None:
    """A file whose pages are destroyed, and whose footer is whole, can still be declared."""
    path = tmp_path / "torn.parquet"
    pq.write_table(pa.table({"user_id": list(range(100_000))}), path, compression="snappy")
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little") + 8
    data[4 : len(data) - footer] = b"\xff" * (len(data) - footer - 4)
    path.write_bytes(data)
    files = find_files("torn.parquet")
    engine = DuckDBEngine(paths=list(files.paths))
    relation = files.relation(engine)
    assert engine.describe(relation) == (("user_id", "BIGINT"),)
    with pytest.raises(duckdb.Error):
        engine.connection.cursor().execute(f"SELECT sum(user_id) FROM {relation}").fetchall()
    engine.close()
