"""How exact a protected table answers for the same ε, beside OpenDP, Tumult, PipelineDP and
diffprivlib.

*Data*      Made by DuckDB from hashes of row numbers, the same every time: 100,000 people with one
            row each in 20 public groups, two columns between 0 and 100, no nulls.
*Questions* Each is asked for ε = 1 in all, of every group, many times. A peer that has no joint
            question for several columns gets an equal part of ε for each: that is how its own
            tutorial does it.
*Error*     The root of the mean squared error over groups and repetitions, per column; beside it
            the mean half-width of the 95 % intervals where a side states any.
*Earlier*   With `--earlier src`, an older source tree answers the same questions: its errors and
            half-widths are given as multiples of today's.
*Peers*     live in environments that are made here and removed at the end. One that cannot be
            installed, or has no answer to a question, is left out, and the table says so.
            diffprivlib's mean and variance take the number of rows of a group as public, which is
            a weaker promise than that of the others.

Nothing fails for being inexact: the table gives ratios. `--markdown` prints it for a page.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from peers import Process, installed
from telling import as_columns, as_pipes, say, significant

GROUPS = 20
QUESTIONS: dict[str, tuple[str, ...]] = {
    "COUNT(*)": ("n",),
    "SUM(x)": ("sum_x",),
    "AVG(x)": ("avg_x",),
    "COUNT(*), AVG(x)": ("n", "avg_x"),
    "COUNT(*), SUM(x), AVG(x)": ("n", "sum_x", "avg_x"),
    "AVG(x), AVG(y)": ("avg_x", "avg_y"),
    "VAR_POP(x)": ("var_x",),
    "COUNT(*), AVG(x), VAR_POP(x)": ("n", "avg_x", "var_x"),
    "MEDIAN(x)": ("median_x",),
    "CORR(x, y)": ("corr_xy",),
}
"""The questions, and the names of their columns."""

SQL = {
    "n": "COUNT(*)",
    "sum_x": "SUM(x)",
    "avg_x": "AVG(x)",
    "avg_y": "AVG(y)",
    "var_x": "VAR_POP(x)",
    "median_x": "MEDIAN(x)",
    "corr_xy": "CORR(x, y)",
}

OURS = """
import json, sys
from importlib.metadata import version
import sfumato as sf

path, groups = sys.argv[1], int(sys.argv[2])
table = sf.protect(
    path,
    name="people",
    unit="id",
    max_rows=1,
    keys={"g": range(groups)},
    bounds={"x": (0, 100), "y": (0, 100)},
    budget=10**9,
)
print(version("sfumato"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    columns = ", ".join(f"{sql} AS {name}" for name, sql in asked["columns"].items())
    text = f"SELECT g, {columns} FROM people GROUP BY g ORDER BY g"
    runs = []
    for _ in range(asked["repeats"]):
        answer = table.sql(text, epsilon=1, fresh=True)
        widths = {}
        for name in asked["columns"]:
            low, high = answer.interval(name)
            widths[name] = float(sum((high - low) / 2) / groups)
        runs.append({"values": {n: answer[n].tolist() for n in asked["columns"]}, "widths": widths})
    print(json.dumps(runs), flush=True)
"""

OPENDP = """
import json, sys, warnings
from importlib.metadata import version
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
path, groups = sys.argv[1], int(sys.argv[2])
frame = pl.read_parquet(path).lazy()
keys = pl.LazyFrame({"g": pl.Series(range(groups), dtype=pl.Int32)})
x, y = (pl.col(name).fill_nan(0.0).fill_null(0.0) for name in "xy")
made = {
    "n": lambda: dp.len(),
    "sum_x": lambda: x.dp.sum(bounds=(0.0, 100.0)),
    "avg_x": lambda: x.dp.mean(bounds=(0.0, 100.0)),
    "avg_y": lambda: y.dp.mean(bounds=(0.0, 100.0)),
    "median_x": lambda: x.dp.median(candidates=[i / 10 for i in range(1001)]),
}

def run(columns):
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=[], max_length=10**6),
            dp.polars.Margin(by=["g"], max_groups=groups, invariant="keys"),
        ],
    )
    query = context.query().group_by("g").agg(*(made[name]().alias(name) for name in columns))
    released = query.release().collect().sort("g")
    return {"values": {name: released[name].to_list() for name in columns}, "widths": {}}

print(version("opendp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(made):
        print("null", flush=True)
        continue
    repeats = max(1, asked["repeats"] // 4)  # a run takes a second
    print(json.dumps([run(asked["columns"]) for _ in range(repeats)]), flush=True)
"""

DIFFPRIVLIB = """
import json, sys, warnings
from importlib.metadata import version
import numpy as np, pyarrow.parquet as pq
from diffprivlib import tools
from diffprivlib.mechanisms import Laplace

warnings.simplefilter("ignore")
path, groups = sys.argv[1], int(sys.argv[2])
data = pq.read_table(path)
g, x, y = (data[name].to_numpy() for name in "gxy")
parts = [(x[g == i], y[g == i]) for i in range(groups)]
ends = {"bounds": (0.0, 100.0)}
made = {
    "n": lambda x, y, e: Laplace(epsilon=e, sensitivity=1).randomise(float(len(x))),
    "sum_x": lambda x, y, e: tools.sum(x, epsilon=e, **ends),
    "avg_x": lambda x, y, e: tools.mean(x, epsilon=e, **ends),
    "avg_y": lambda x, y, e: tools.mean(y, epsilon=e, **ends),
    "var_x": lambda x, y, e: tools.var(x, epsilon=e, **ends),
    "median_x": lambda x, y, e: tools.median(x, epsilon=e, **ends),
}

def run(columns):
    e = 1.0 / len(columns)
    values = {n: [float(made[n](*part, e)) for part in parts] for n in columns}
    return {"values": values, "widths": {}}

print(version("diffprivlib"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(made):
        print("null", flush=True)
        continue
    print(json.dumps([run(asked["columns"]) for _ in range(asked["repeats"])]), flush=True)
"""

PIPELINEDP = """
import json, sys
from importlib.metadata import version
import pipeline_dp as pdp, pyarrow.parquet as pq

path, groups = sys.argv[1], int(sys.argv[2])
rows = pq.read_table(path).to_pylist()
metrics = {"n": "COUNT", "sum_x": "SUM", "avg_x": "MEAN", "var_x": "VARIANCE"}
fields = {"n": "count", "sum_x": "sum", "avg_x": "mean", "var_x": "variance"}

def run(columns):
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-12)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    parameters = pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.LAPLACE,
        metrics=[getattr(pdp.Metrics, metrics[name]) for name in columns],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0.0,
        max_value=100.0,
    )
    extract = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row["id"],
        partition_extractor=lambda row: row["g"],
        value_extractor=lambda row: row["x"],
    )
    result = engine.aggregate(rows, parameters, extract, public_partitions=list(range(groups)))
    accountant.compute_budgets()
    found = dict(result)
    values = {n: [getattr(found[i], fields[n]) for i in range(groups)] for n in columns}
    return {"values": values, "widths": {}}

print(version("pipeline-dp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(metrics):
        print("null", flush=True)
        continue
    repeats = max(1, asked["repeats"] // 4)  # a run takes seconds
    print(json.dumps([run(asked["columns"]) for _ in range(repeats)]), flush=True)
"""

TUMULT = """
import json, os, sys, warnings
from importlib.metadata import version
os.environ["PYSPARK_PYTHON"] = sys.executable
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

path, groups = sys.argv[1], int(sys.argv[2])
frame = spark.read.parquet(path).select("g", "x", "y").cache()
keys = KeySet.from_dict({"g": list(range(groups))})
made = {
    "n": lambda q: q.count(name="n"),
    "sum_x": lambda q: q.sum("x", 0, 100, name="sum_x"),
    "avg_x": lambda q: q.average("x", 0, 100, name="avg_x"),
    "avg_y": lambda q: q.average("y", 0, 100, name="avg_y"),
    "var_x": lambda q: q.variance("x", 0, 100, name="var_x"),
    "median_x": lambda q: q.median("x", 0, 100, name="median_x"),
}

def run(columns):
    session = Session.from_dataframe(
        PureDPBudget(1), "people", frame, protected_change=AddOneRow()
    )
    values = {}
    for name in columns:
        query = made[name](QueryBuilder("people").groupby(keys))
        released = session.evaluate(query, PureDPBudget(1 / len(columns))).collect()
        cells = {row["g"]: float(row[name]) for row in released}
        values[name] = [cells[i] for i in range(groups)]
    return {"values": values, "widths": {}}

print(version("tmlt.analytics"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(made):
        print("null", flush=True)
        continue
    repeats = max(1, asked["repeats"] // 8)  # a run takes seconds
    print(json.dumps([run(asked["columns"]) for _ in range(repeats)]), flush=True)
"""

PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "OpenDP": (OPENDP, ("opendp[polars]==0.16.*",)),
    "PipelineDP": (PIPELINEDP, ("pipeline-dp", "pyarrow", "setuptools<81")),
    "diffprivlib": (DIFFPRIVLIB, ("diffprivlib", "pyarrow", "scikit-learn<1.7")),
    "Tumult": (TUMULT, ("tmlt.analytics", "setuptools<81")),
}
EARLIER = "earlier"


Run = dict[str, Any]
"""One answer: `values` by column and group, `widths` by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The errors of one column of one question: of ours and of each peer (None: no answer)."""

    question: str
    column: str
    ours: float
    half_width: float
    earlier_half_width: float | None
    peers: dict[str, float | None]


def build_people(path: Path, rows: int) -> dict[str, list[float]]:
    """Write the table and return its exact answers by column."""
    connection = duckdb.connect()
    connection.execute(
        f"""COPY (SELECT i AS id, (hash(i) % {GROUPS})::INTEGER AS g,
            100 * pow((hash(i + 1000003) % 1000000) / 1e6, 2) AS x,
            50 + 25 * sin((hash(i + 2000003) % 1000000) / 1e5) AS y
            FROM range({rows}) t(i)) TO '{path}' (FORMAT PARQUET)"""
    )
    columns = ", ".join(f"{sql} AS {name}" for name, sql in SQL.items())
    frame = connection.execute(
        f"SELECT {columns} FROM read_parquet('{path}') GROUP BY g ORDER BY g"
    ).to_arrow_table()
    return {name: [float(v) for v in frame[name].to_pylist()] for name in SQL}


def root_mean_square(runs: Sequence[Run], name: str, exact: Sequence[float]) -> float:
    """Return the root of the mean squared error of a column over all groups and repetitions."""
    errors = [
        (value - truth) ** 2
        for run in runs
        for value, truth in zip(run["values"][name], exact, strict=True)
    ]
    return math.sqrt(sum(errors) / len(errors))


def half_width(runs: Sequence[Run], name: str) -> float:
    """Return the mean half-width of a column's intervals."""
    return sum(float(run["widths"][name]) for run in runs) / len(runs)


def measure(
    rows: int, repeats: int, names: Sequence[str], earlier: Path | None
) -> tuple[list[Figure], list[str]]:
    """Ask every side every question; return the figures and the versions of the sides."""
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        path = Path(place) / "people.parquet"
        exact = build_people(path, rows)
        runs = {"sfumato": ask(sys.executable, OURS, path, repeats, "sfumato")}
        if earlier is not None:
            source = {"PYTHONPATH": str(earlier)}
            runs[EARLIER] = ask(sys.executable, OURS, path, repeats, EARLIER, source)
        for name in names:
            if name == EARLIER:
                continue
            script, packages = PEERS[name]
            with installed(name, *packages) as python:
                if python is not None:
                    runs[name] = ask(python, script, path, repeats, name)
    figures = []
    for question, columns in QUESTIONS.items():
        ours = runs["sfumato"][1][question]
        assert ours is not None
        for column in columns:
            peers: dict[str, float | None] = {}
            for name in names:
                answered = runs[name][1][question] if name in runs else None
                peers[name] = (
                    None if answered is None else root_mean_square(answered, column, exact[column])
                )
            figures.append(
                Figure(
                    question=question,
                    column=column,
                    ours=root_mean_square(ours, column, exact[column]),
                    half_width=half_width(ours, column),
                    earlier_half_width=(
                        half_width(before, column)
                        if EARLIER in runs and (before := runs[EARLIER][1][question]) is not None
                        else None
                    ),
                    peers=peers,
                )
            )
    return figures, [f"{name} {version}" for name, (version, _) in runs.items()]


def ask(
    python: str | Path,
    script: str,
    path: Path,
    repeats: int,
    name: str,
    environment: dict[str, str] | None = None,
) -> tuple[str, dict[str, list[Run] | None]]:
    """Ask one side every question; return its version and its answers, None where it has none."""
    say(f"{name}: asking")
    side = Process(python, script, path, GROUPS, quiet=name != "sfumato", environment=environment)
    answers: dict[str, list[Run] | None] = {}
    for question, columns in QUESTIONS.items():
        request = {"columns": {column: SQL[column] for column in columns}, "repeats": repeats}
        answers[question] = json.loads(side.told(json.dumps(request)))
    side.close()
    return side.version, answers


def as_table(figures: Sequence[Figure], names: Sequence[str]) -> list[list[str]]:
    """Lay the figures out: our error, our interval, and each peer's error as a multiple of ours."""
    head = ["question", "column", "error", "95 % half-width", *(f"{name}, ×" for name in names)]
    if EARLIER in names:
        head.append("earlier half-width, ×")
    rows = [head]
    for figure in figures:
        ratios = [
            "–" if peer is None else significant(peer / figure.ours)
            for peer in (figure.peers[name] for name in names)
        ]
        rows.append(
            [
                figure.question,
                figure.column,
                significant(figure.ours),
                significant(figure.half_width),
                *ratios,
                *(
                    []
                    if figure.earlier_half_width is None
                    else [significant(figure.earlier_half_width / figure.half_width)]
                ),
            ]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors for the same ε, beside the peers.")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--earlier", type=Path, help="the src folder of an older version")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    names = [*([] if given.earlier is None else [EARLIER]), *given.peers]
    figures, versions = measure(given.rows, given.repeats, names, given.earlier)
    rows = as_table(figures, names)
    print(", ".join(versions))
    print(
        as_pipes(rows, {"question", "column"}) if given.markdown else as_columns(rows),
    )


if __name__ == "__main__":
    main()
