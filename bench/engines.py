"""The same question on PostgreSQL and on Spark, beside the plain query on the same engine. Part of
bench/queries.py, or by itself.

*Data*    The table of bench/queries.py: copied into a PostgreSQL server from the `pgserver` wheel,
          and read as Parquet by a Spark of two threads.
*Row*     Each row is a person: count and sum by 1,000 public keys, the goal is at most 3 times the
          plain query. *Unit*: users of at most five rows, reported.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import queries
from telling import say

SIDE = """
import json, os, resource, sys, time, warnings
warnings.simplefilter("ignore")
import sfumato as sf

where, place, rows, what = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
plain = "SELECT category, COUNT(*), SUM(value) FROM visits GROUP BY category"
if where == "postgres":
    import psycopg
    connection = psycopg.connect(place, autocommit=True)
    said, source = f"PostgreSQL {connection.info.server_version // 10000}", place
    more = {"table": "visits"}
    ask = lambda: connection.execute(plain).fetchall()
else:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession
    options = {"spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    options |= {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    options |= {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    said, source, more = f"Spark {session.version}", session.read.parquet(place), {}
    source.createOrReplaceTempView("visits")
    ask = lambda: session.sql(plain).toArrow()
if what != "plain":
    unit = {"unit": "user_id", "max_rows": 5} if what == "unit" else {}
    declared = dict(
        name="visits",
        budget=sf.Approx(10**6, "1/2"),
        bounds={"value": (0, 100)},
        keys={"category": range(1000)},
        table_rows=10 * rows,
    )
    table = sf.protect(source, **more, **unit, **declared)

    def ask():
        query = table.group_by("category").aggregate(n=sf.count(), total=sf.sum("value"))
        return query.release(promise=sf.Pure(1), fresh=True)

print(said, flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    ask()
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": took, "peak": peak, "plans": {}}), flush=True)
"""


def on_engines(
    path: Path, rows: int, rounds: int, which: Sequence[str] = ("postgres", "spark")
) -> tuple[list[queries.Figure], set[str]]:
    """Two figures for each engine."""
    figures, versions = [], set[str]()
    for where in which:
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            place = served(path, Path(folder)) if where == "postgres" else str(path)
            say(f"{rows:,} rows on {where}")
            plain, row, unit = (
                queries.Side(sys.executable, SIDE, where, place, rows, what)
                for what in ("plain", "row", "unit")
            )
            queries.turns((plain, row, unit), rounds)
            name, work = plain.version, "count and sum by 1,000 public keys"
            about = {"rows": rows, "beside": f"plain {name}", "other": plain.seconds}
            figures.append(
                queries.Figure(work=f"{name}: {work}", ours=row.seconds, goal=3, **about)
            )
            figures.append(
                queries.Figure(
                    work=f"{name}: {work}, a user counts for ≤ 5 rows", ours=unit.seconds, **about
                )
            )
            versions.add(name)
            if where == "postgres":
                stopped(Path(folder))
    return figures, versions


def served(path: Path, folder: Path) -> str:
    """The table on a server of its own; the URL."""
    import warnings

    import duckdb
    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

    folder.chmod(0o755)
    url = str(pgserver.get_server(folder / "data").get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits (user_id bigint, category integer, value double "
            "precision, item integer)"
        )
        reader = duckdb.connect().execute(
            "SELECT user_id, category, value, item FROM read_parquet(?)", [str(path)]
        )
        with connection.cursor() as cursor, cursor.copy("COPY visits FROM STDIN") as copy:
            while lines := reader.fetchmany(100_000):
                copy.write("".join("\t".join(map(str, line)) + "\n" for line in lines))
        connection.execute("VACUUM ANALYZE visits")
    return url


def stopped(folder: Path) -> None:
    import pgserver

    pgserver.get_server(folder / "data").cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Speed of a protected table on PostgreSQL and Spark, against plain queries."
    )
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--markdown",
        dest="show",
        action="store_const",
        const=queries.as_markdown,
        default=queries.as_text,
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        path = Path(place) / "visits.parquet"
        queries.make(path, chosen.rows, 10**5)
        figures, versions = on_engines(path, chosen.rows, chosen.rounds)
    print(
        chosen.show(
            queries.Report(
                setting=f"{', '.join(sorted(versions))}; best of {chosen.rounds} rounds",
                figures=tuple(figures),
            )
        )
    )


if __name__ == "__main__":
    main()
