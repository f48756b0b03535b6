"""The engine of our own: closed to everything but its files, the same for any number of threads and
order of rows, interruptible, and clean behind itself.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import textwrap
import threading
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import Failed
from sfumato.tables.engine import duckdb_engine as module
from sfumato.tables.engine import spills
from sfumato.tables.engine.duckdb_engine import (
    DIRECT_BITS,
    SETTINGS,
    Changed,
    DuckDBEngine,
    Engine,
    quote_name,
    quote_text,
)
from sfumato.testing.exact_checks import through_the_door

from ..refusing import refusal


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A file that the engine may read, and one that it may not."""
    for name in ("given", "other"):
        pq.write_table(pa.table({"g": [1, 2, 2], "x": [10, 20, 30]}), tmp_path / f"{name}.parquet")
    return tmp_path / "given.parquet", tmp_path / "other.parquet"


@pytest.fixture
def engine(files: tuple[Path, Path]) -> Iterator[DuckDBEngine]:
    duckdb_engine = DuckDBEngine(paths=[str(files[0])])
    duckdb_engine.connection.execute(
        f"CREATE VIEW given AS SELECT * FROM read_parquet({quote_text(str(files[0]))})"
    )
    yield duckdb_engine
    duckdb_engine.close()


def as_dict(table: Any) -> dict[str, list[Any]]:
    return table.to_pydict()


def test_an_expression_gives_arrow(engine: DuckDBEngine) -> None:
    table = engine.backend.table("given")
    result = engine.run(table.group_by("g").agg(n=table.count(), s=table.x.sum()).order_by("g"))
    assert isinstance(result, pa.Table)
    assert as_dict(result) == {"g": [1, 2], "n": [1, 2], "s": [10, 50]}


def test_the_text_is_for_reading_and_knows_no_path(
    engine: DuckDBEngine, files: tuple[Path, Path]
) -> None:
    table = engine.backend.table("given")
    text = engine.sql(table.group_by("g").agg(n=table.count()))
    assert "GROUP BY" in text
    assert '"given"' in text
    assert str(files[0].parent) not in text


def test_the_version_is_that_of_duckdb(engine: DuckDBEngine) -> None:
    assert engine.version == f"DuckDB {duckdb.__version__}"


def test_tables_of_keys_may_be_joined(engine: DuckDBEngine) -> None:
    table = engine.backend.table("given")
    keys = ibis.memtable(pa.table({"k": [2, 3]}))
    joined = (
        keys.left_join(table, keys.k == table.g)
        .group_by("k")
        .agg(n=lambda t: t.x.count())
        .order_by("k")
    )
    for _ in range(2):  # and again, on another cursor
        assert as_dict(engine.run(joined)) == {"k": [2, 3], "n": [2, 0]}


class Frame:
    """A table in memory that counts how often it is read, and whose first `failures` reads fail."""

    def __init__(self, table: Any, failures: int = 0) -> None:
        self.table, self.failures, self.loads = table, failures, 0

    def empty(self) -> Any:
        return self.table.schema.empty_table()

    def load(self) -> Any:
        self.loads += 1
        if self.loads <= self.failures:
            raise MemoryError
        return self.table


def test_a_table_in_memory_is_copied_at_the_first_question_and_once(engine: DuckDBEngine) -> None:
    frame = Frame(pa.table({"x": [1, 2]}), failures=1)
    assert engine.register_frame("frame", frame) == (("x", "BIGINT"),)
    table = engine.backend.table("frame")
    assert frame.loads == 0
    with pytest.raises(MemoryError):
        engine.run(table)
    for _ in range(3):
        assert engine.run(table).num_rows == 2
    assert frame.loads == 2, "once in vain"


def test_threads_copy_it_once(engine: DuckDBEngine) -> None:
    frame, counts = Frame(pa.table({"x": list(range(100_000))})), []
    engine.register_frame("frame", frame)
    table = engine.backend.table("frame")
    threads = [
        threading.Thread(
            target=lambda: counts.append(engine.run(table.agg(n=table.count())).to_pydict()["n"])
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [[100_000]] * 8
    assert frame.loads == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([uuid.UUID(int=i % 7).bytes for i in range(3000)], pa.uuid()),
        pa.array([1, None, 2] * 1000, pa.decimal32(9, 2)),
        pa.array(["a", None, "b"] * 1000, pa.string_view()),
        pa.array(["a", None, "b"] * 1000).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_conditions_are_not_handed_to_arrow(engine: DuckDBEngine, column: Any) -> None:
    """DuckDB filters an Arrow table by what a join has found, in Arrow's own functions, and these
    lack some types: whether that fails depends on the data.
    """
    engine.register_frame("frame", Frame(pa.table({"x": column})))
    table = engine.backend.table("frame")
    counts = table.group_by("x").agg(n=table.count())
    joined = table.join(counts.filter(counts.n > 5), "x")
    assert engine.run(joined.agg(n=joined.count())).to_pydict() == {"n": [3000 - column.null_count]}
    memory = ibis.memtable(pa.table({"k": pa.array([1, 2], pa.int64())}))
    assert engine.run(memory.cross_join(table).agg(n=lambda t: t.count())).to_pydict() == {
        "n": [6000]
    }


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_in_force_on_every_cursor(engine: DuckDBEngine, name: str) -> None:
    expected = SETTINGS[name][0].strip("'")
    (value,) = engine.connection.cursor().execute("SELECT current_setting(?)", [name]).fetchone()
    assert str(value).lower() in (
        expected.lower(),
        f"etc/{expected.lower()}",
        str(int(expected == "true")),
    )
    assert SETTINGS[name][1], "and has a reason"


ESCAPES = [
    "SELECT * FROM read_parquet({other})",
    "SELECT * FROM {other}",
    "SELECT * FROM read_csv({other})",
    "SELECT * FROM read_text({other})",
    "SELECT * FROM read_blob({other})",
    "SELECT * FROM glob('*')",
    "SELECT * FROM sniff_csv({other})",
    "SELECT * FROM parquet_metadata({other})",
    "SELECT * FROM 'https://example.org/data.parquet'",
    "COPY (SELECT 1) TO {other}",
    "EXPORT DATABASE {other}",
    "ATTACH {other} AS stolen",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD {other}",
    "SET threads = 1",
    "RESET threads",
    "SET GLOBAL enable_external_access = true",
    "SET allowed_paths = [{other}]",
    "SET allowed_directories = ['/']",
    "SET lock_configuration = false",
    "SET temp_directory = {other}",
    "SET TimeZone = 'Asia/Tokyo'",
    "SET SESSION enable_progress_bar = true",
    "PRAGMA memory_limit = '1GB'",
]


@pytest.mark.parametrize("statement", ESCAPES)
def test_nothing_else_can_be_reached(
    engine: DuckDBEngine, files: tuple[Path, Path], statement: str
) -> None:
    before = files[1].read_bytes()
    with pytest.raises(duckdb.Error, match=r"disabled|locked|[Cc]annot|configuration"):
        engine.connection.cursor().execute(
            statement.format(other=quote_text(str(files[1])))
        ).fetchall()
    assert files[1].read_bytes() == before


@pytest.mark.parametrize("statement", ESCAPES[:2])
def test_the_probe_reads_where_nothing_is_closed(files: tuple[Path, Path], statement: str) -> None:
    assert (
        len(duckdb.connect().execute(statement.format(other=quote_text(str(files[1])))).fetchall())
        == 3
    )


def test_variables_are_no_tables(engine: DuckDBEngine) -> None:
    sneaked = pa.table({"x": [1]})
    assert sneaked.num_rows == 1
    with pytest.raises(duckdb.Error):
        engine.connection.cursor().execute("SELECT * FROM sneaked").fetchall()


def test_home_has_no_part_in_it(engine: DuckDBEngine) -> None:
    assert engine.connection.execute("SELECT count(*) FROM duckdb_secrets()").fetchone() == (0,)
    with pytest.raises(duckdb.Error, match="disabled"):
        engine.connection.execute("SELECT * FROM duckdb_extensions()").fetchall()


def test_a_long_query_is_interrupted(engine: DuckDBEngine) -> None:
    pairs = table = engine.backend.table("given").select("x")
    for i in range(24):  # 3^25 rows
        pairs = pairs.cross_join(table.rename(**{f"x{i}": "x"}))
    endless = pairs.agg(s=(pairs.x * pairs.x0 + pairs.x23).sum())
    with pytest.raises(TimeoutError) as caught:
        engine.run(endless, timeout=0.2)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert as_dict(engine.run(engine.backend.table("given").count().as_table())) == {
        "CountStar(given)": [3]
    }, "the engine goes on"


def test_what_ends_in_time_is_given(engine: DuckDBEngine) -> None:
    assert engine.run(engine.backend.table("given"), timeout=600).num_rows == 3


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "5", True])
def test_a_timeout_is_a_time(engine: DuckDBEngine, timeout: Any) -> None:
    refusal(lambda: engine.run(engine.backend.table("given"), timeout=timeout), "engine.timeout")
    refusal(lambda: engine.check(timeout), "engine.timeout")


def test_several_threads_ask_at_once(engine: DuckDBEngine) -> None:
    table = engine.backend.table("given")
    wrong: list[object] = []

    def ask(k: int) -> None:
        keys = ibis.memtable(pa.table({"k": [k]}))
        expression = (
            keys.cross_join(table.filter(table.g >= 1))
            .group_by("k")
            .agg(s=lambda t: (t.x + t.k).sum())
        )
        for _ in range(5):
            result = as_dict(engine.run(expression, timeout=600))
            if result != {"k": [k], "s": [60 + 3 * k]}:
                wrong.append(result)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("memory", [None, "200MB"])
def test_integers_are_the_same_for_all_threads_and_orders(
    tmp_path: Path, memory: str | None
) -> None:
    rows = (
        "SELECT (hash(i) % 977)::BIGINT AS u, (hash(i + 7) % 13)::INTEGER AS g, (hash(i + 9) "
        "% 1000003)::BIGINT - 500000 AS x FROM range(200000) t(i)"
    )
    for order in range(3):
        duckdb.connect().execute(
            f"COPY (SELECT * FROM ({rows}) ORDER BY hash(u * 7919 + x + {order})) TO "
            f"{quote_text(str(tmp_path / f'{order}.parquet'))} (ROW_GROUP_SIZE 10000)"
        )
    results = set()
    for order in range(3):
        for threads in (1, 2, 8):
            path = str(tmp_path / f"{order}.parquet")
            engine = DuckDBEngine(paths=[path], threads=threads, memory=memory)
            engine.connection.execute(
                f"CREATE VIEW t AS SELECT * FROM read_parquet({quote_text(path)})"
            )
            table = engine.backend.table("t")
            weights = table.group_by("u").agg(n=table.count())
            joined = table.join(weights, "u")
            results.add(
                str(
                    as_dict(
                        engine.run(
                            joined.group_by("g")
                            .agg(n=joined.count(), s=(joined.x * joined.n).sum())
                            .order_by("g")
                        )
                    )
                )
            )
            engine.close()
    assert len(results) == 1
    assert float("1e16") + 1 - 1e16 != 1 + (1e16 - 1e16), "as doubles they would not be"


def test_what_does_not_fit_is_spilled_to_a_private_directory_and_removed() -> None:
    engine = DuckDBEngine(threads=2, memory="100MB")
    directory = Path(engine.directory)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert directory.stat().st_uid == os.getuid()
    spilled_files: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            spilled_files.extend(
                path.name for path in directory.iterdir() if path.name != spills.LOCK
            )

    watcher = threading.Thread(target=watch)
    watcher.start()
    rows = ibis.range(3_000_000).unnest().name("i").as_table()
    wide = rows.mutate(a=(rows.i * 7919 % 3_000_017).cast("string") + "x" * 40)
    result = engine.run(wide.group_by("a").agg(n=wide.count()).agg(groups=lambda t: t.count()))
    done.set()
    watcher.join()
    assert as_dict(result) == {"groups": [3_000_000]}
    assert spilled_files, "nothing was spilled: the test has no force"
    engine.close()
    assert not directory.exists()
    refusal(engine.check, "engine.closed")


SCRIPT = """
import os, sys
from sfumato.tables.engine.duckdb_engine import DuckDBEngine
engine = DuckDBEngine()
open(os.path.join(engine.directory, "spilled"), "w").write("x")
{ending}
print(engine.directory)
"""


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "import gc; path = engine.directory; del engine; gc.collect(); print(path); sys.exit()",
        "print(engine.directory); raise SystemExit(3)",
    ],
)
def test_the_directory_goes_with_the_interpreter(ending: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT).format(ending=ending)],
        capture_output=True,
        text=True,
        check=False,
    )
    directory = run.stdout.strip().splitlines()[-1]
    assert "sfumato-" in directory
    assert not Path(directory).exists()


def test_a_fork_is_refused_and_leaves_the_directory_alone(
    engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = os.getpid()
    monkeypatch.setattr(module.os, "getpid", lambda: pid + 1)  # as a forked child sees it
    refusal(engine.check, "engine.fork")
    refusal(lambda: engine.run(engine.backend.table("given")), "engine.fork")
    spills._remove(engine.directory, -1, pid)
    assert Path(engine.directory).exists()


def test_arrays_of_integer_keys_stay_within_the_memory() -> None:
    bits = {}
    for threads, memory in ((1, "8GB"), (2, "16GB"), (8, "1GB"), (64, "1GB"), (1, "10MB")):
        engine = DuckDBEngine(threads=threads, memory=memory)
        (text,) = engine.connection.execute(
            "SELECT current_setting('perfect_ht_threshold')::VARCHAR"
        ).fetchone()
        bits[threads, memory] = int(text)
        engine.close()
    assert bits[2, "16GB"] == bits[1, "8GB"] == DIRECT_BITS
    assert bits[8, "1GB"] == 18  # 2^18 places of 32 bytes for each of 8 threads: 64 MiB
    assert bits[64, "1GB"] == 15
    assert bits[1, "10MB"] == 15
    assert min(bits.values()) >= 12


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "sfumato[tables]" in refusal(DuckDBEngine, "engine.missing").rewrite


@pytest.mark.parametrize("text", ["a", "it's", 'say "no"', "'; DROP TABLE x; --", "é"])
def test_texts_and_names_stay_what_they_are(text: str) -> None:
    assert duckdb.connect().execute(f"SELECT {quote_text(text)}").fetchone() == (text,)
    assert duckdb.connect().execute(f"SELECT 1 AS {quote_name(text)}").description[0][0] == text


@pytest.mark.parametrize("version", ["1.4.4", "0.10.3", "2.0.0", "2.0.0.dev12"])
def test_another_duckdb_is_refused_before_anything_is_charged(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With DuckDB 1.4 every release from a file or a frame would be charged and fail."""
    monkeypatch.setattr(duckdb, "__version__", version)
    for source in (
        pa.table({"x": [1]}),
        ibis.duckdb.from_connection(duckdb.connect()).create_table("x", pa.table({"x": [1]})),
    ):
        refused = refusal(
            lambda source=source: sf.protect(source, name="x", budget=1), "engine.version"
        )
        assert version in refused.place
    assert refused.rewrite == f"pip install '{_declared('duckdb')}'"


@pytest.mark.parametrize("version", ["1.5.0", "1.5.6", "1.9.0.dev3"])
def test_a_duckdb_that_is_declared_is_not_refused(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "__version__", version)
    assert module.import_duckdb() is duckdb


def _declared(package: str) -> str:
    """What pyproject.toml says of a package."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (requirement,) = [
        line
        for line in tomllib.loads(text)["project"]["optional-dependencies"]["tables"]
        if line.startswith(package)
    ]
    return str(requirement)


def visits(count: int, unit: int = 1, key: str = "a") -> pa.Table:
    return pa.table({"u": [unit] * count, "k": [key] * count})


def as_csv(table: pa.Table, path: Path) -> None:
    path.write_text("u,k\n" + "".join(f"{row['u']},{row['k']}\n" for row in table.to_pylist()))


KINDS: dict[str, tuple[str, Callable[[pa.Table, Path], None], Callable[[Path], Any]]] = {
    "Parquet": ("visits.parquet", pq.write_table, lambda path: path),
    "CSV": ("visits.csv", as_csv, lambda path: path),
    "list": ("visits.parquet", pq.write_table, lambda path: [path, path.parent / "beside.parquet"]),
    "pattern": ("visits.parquet", pq.write_table, lambda path: f"{path.parent}/*.parquet"),
}
"""A kind of source → the name of its file, how it is written, and how it is given."""


@pytest.fixture(params=KINDS)
def replaced(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Any, Path, Callable[[pa.Table, Path], None]]]:
    """A protected table of a unit with one row, its file, and how the file is written."""
    name, write, make_source = KINDS[request.param]
    write(visits(1), tmp_path / name)
    pq.write_table(visits(1, unit=2), tmp_path / "beside.parquet")
    source, types = (
        make_source(tmp_path / name),
        {"types": {"u": "int64"}} if request.param == "CSV" else {},
    )
    with sf.protect(
        source, name="visits", unit="u", max_rows=1, keys={"k": ["a"]}, budget=10, **types
    ) as table:
        table._source.engine._threads = 8  # so that the engine is asked
        yield table, tmp_path / name, write


def meanwhile(table: Any, do: Callable[[], None]) -> Any:
    """A release during which something is done to a file: after the engine has given its sums, and
    before they are used.
    """
    engine, true = table._source.engine, table._source.engine.run

    def run(expression: Any, *, timeout: float | None = None) -> Any:
        result = true(expression, timeout=timeout)
        do()
        return result

    engine.run = run
    try:
        return table.group_by("k").aggregate(n=sf.count()).release(epsilon=1, fresh=True)
    finally:
        del engine.run


def test_a_file_that_changes_during_a_question_fails_the_release(replaced: Any) -> None:
    """A file replaced, written in place, put back or removed during a question: charged, and the
    constant text.
    """
    table, path, write = replaced
    new, backup = path.with_name("new"), path.with_name("backup")

    def replace() -> None:
        write(visits(1000), new)
        os.replace(new, path)

    def write_in_place() -> None:
        write(visits(2), new)
        path.write_bytes(new.read_bytes())

    def put_back() -> None:
        """The very file, after another one had its name for a while."""
        os.replace(path, backup)
        replace()
        os.replace(backup, path)

    def set_back() -> None:
        """Written in place, with its former size and time."""
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        path.write_bytes(path.read_bytes())
        os.utime(path, ns=times)

    for step, do in enumerate((replace, write_in_place, put_back, set_back), 1):
        with pytest.raises(Failed) as failed:
            meanwhile(table, do)
        assert str(failed.value) == str(Failed())
        assert [entry.kind for entry in table.ledger.history()].count("charge") == step
    assert len(meanwhile(table, lambda: None)) == 1, "what has stopped changing is read"
    with pytest.raises(Failed):
        meanwhile(table, path.unlink)
    refused = refusal(lambda: meanwhile(table, lambda: None), "table.path")
    assert path.name in refused.place
    assert [entry.kind for entry in table.ledger.history()].count("charge") == 6, (
        "a file that is gone is seen before the charge"
    )


def test_a_file_that_is_replaced_between_questions_is_read_anew(replaced: Any) -> None:
    table, path, write = replaced
    plan = table.group_by("k").aggregate(n=sf.count()).plan(epsilon=1)
    before = int(through_the_door(plan).integers("count")[0][0])
    write(visits(1, key="b"), path.with_name("new"))
    os.replace(path.with_name("new"), path)
    pq.write_table(
        visits(5, unit=9), path.with_name("later.parquet")
    )  # a pattern was expanded when the table was declared
    assert int(through_the_door(plan).integers("count")[0][0]) == before - (1 << 20)


OTHERS = {
    "CSV": lambda path: path.write_text("k,u\na,1\n"),
    "Parquet": lambda path: pq.write_table(pa.table({"u": ["1"], "k": ["a"]}), path),
    "list": lambda path: pq.write_table(pa.table({"k": ["a"], "u": [1]}), path),
    "pattern": lambda path: path.write_text("no Parquet"),
}


def test_a_file_with_other_columns_than_declared_is_refused_before_the_charge(
    replaced: Any, request: pytest.FixtureRequest
) -> None:
    """The unit of a CSV file whose columns were exchanged would be another one."""
    table, path, _ = replaced
    kind = request.node.callspec.params["replaced"]
    OTHERS[kind](path)
    codes = {"list": "table.files", "pattern": "table.file"}
    refusal(
        lambda: table.group_by("k").aggregate(n=sf.count()).release(epsilon=1),
        codes.get(kind, "table.changed"),
    )
    assert {entry.kind for entry in table.ledger.history()} == {"open"}


def test_a_database_that_is_replaced_is_refused(tmp_path: Path) -> None:
    """The engine has the former file open, and would go on reading it."""
    for name in ("clinic.duckdb", "new"):
        with duckdb.connect(tmp_path / name) as connection:
            connection.execute("CREATE TABLE visits(u INTEGER)")
    with sf.protect(tmp_path / "clinic.duckdb", unit="u", max_rows=1, budget=1) as table:
        assert len(table.aggregate(n=sf.count()).release(epsilon="0.1")) == 1
        os.replace(tmp_path / "new", tmp_path / "clinic.duckdb")
        refusal(
            lambda: table.aggregate(n=sf.count()).release(epsilon="0.1", fresh=True),
            "table.changed",
        )


class ManyFiles:
    """A table of many files, so that each of two looks takes a while; the last one is replaced
    meanwhile by a thread, and nothing of sfumato is touched.
    """

    FILES = 60

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "last.parquet"
        for i in range(self.FILES):
            pq.write_table(visits(1, unit=i + 2), folder / f"{i:04}.parquet")
        for name, count in (("one", 1), ("many", 1000)):
            pq.write_table(visits(count), folder / name)
        shutil.copy(folder / "one", self._path)
        self._table = sf.protect(
            f"{folder}/*.parquet", name="visits", unit="u", max_rows=1, keys={"k": ["a"]}, budget=1
        )
        self._table._source.engine._threads = 8  # so that the engine is asked
        self._plan = self._table.group_by("k").aggregate(n=sf.count()).plan(epsilon=1)

    def weight(self) -> float:
        """Of the one unit that changes, in units of what it may have."""
        return int(through_the_door(self._plan).integers("count")[0][0]) / (1 << 20) - self.FILES

    def weigh_during_changes(
        self, enough: Callable[[list[float | None]], bool]
    ) -> list[float | None]:
        """What comes of questions during each of which the unit gets a thousand rows; None where
        there is no answer. Ends with a weight above 1, or when there are enough; a busy machine may
        need many attempts to change the file in time.
        """
        weights = list[float | None]()
        while not enough(weights) and len(weights) < 1000:
            if len(weights) % 20 == 0:  # how long a question takes, as busy as the machine is now
                self._put("one")
                begun = time.monotonic()
                self.weight()
                duration = time.monotonic() - begun
            self._put("one")
            timer = threading.Timer(
                duration * (0.1 + 0.9 * (len(weights) % 20) / 20), lambda: self._put("many")
            )
            timer.start()
            try:
                weights.append(self.weight())
            except (Changed, sf.Refused, duckdb.Error):  # an error of the engine fails a release
                weights.append(None)
            timer.join()
            if weights[-1] is not None and weights[-1] > 1:
                break
        return weights

    def _put(self, name: str) -> None:
        shutil.copy(self._folder / name, self._folder / "new")
        os.replace(self._folder / "new", self._path)


def test_a_file_that_a_thread_replaces_gives_no_unit_more_weight_than_it_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look that counts a unit's rows and the one that adds them; and a twin without the
    comparison, which gives it a thousand times as much.
    """
    files = ManyFiles(tmp_path)
    weights = files.weigh_during_changes(lambda tried: len(tried) >= 20 and None in tried)
    assert None in weights
    assert all(weight is None or weight <= 1 for weight in weights)
    monkeypatch.setattr(Engine, "unchanged", lambda _: nullcontext())
    assert files.weigh_during_changes(lambda _: False)[-1] == 1000
