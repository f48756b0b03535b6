"""The sides of bench/accuracy.py: programs that answer a question many times, each in the best way
that its documentation shows.

*Talk*      A side prints its version, then one line for each question: its runs, or `null` if it
            cannot answer. `--` arguments are the table and the number of its groups.
*Split*     A library without a joint question gets an equal part of ε for each column: that is how
            its own tutorial does it.
*By hand*   is what a careful user can do with any of them: a count, and sums of values from the
            middle of their bounds, with equal parts of ε; everything else is arithmetic on these.
            OpenDP makes the noise.
*Numbers of rows*  diffprivlib's mean and variance take the number of rows of a group as public,
            which is a weaker promise than that of the others.
"""

from __future__ import annotations

QUESTIONS: dict[str, tuple[str, ...]] = {
    "COUNT(*)": ("n",),
    "SUM(x)": ("sum_x",),
    "AVG(x)": ("avg_x",),
    "COUNT(*), AVG(x)": ("n", "avg_x"),
    "COUNT(*), SUM(x)": ("n", "sum_x"),
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

SFUMATO = """
import json, re, sys
from importlib.metadata import version
import sfumato as sf

path, groups, nulls = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "nulls"
def text_of(sql):
    return sql if nulls else re.sub(r"\\b[xy]\\b", r"CLIP(\\g<0>, 0, 100)", sql)

table = sf.protect(
    path,
    types={} if nulls else {"x": "float64 not null", "y": "float64 not null"},
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
    columns = ", ".join(f"{text_of(sql)} AS {name}" for name, sql in asked["columns"].items())
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

_OPENDP_CONTEXT = """
import json, sys, warnings
from importlib.metadata import version
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
path, groups = sys.argv[1], int(sys.argv[2])
x, y = (pl.col(name).fill_nan(0.0).fill_null(0.0) for name in "xy")

def release(frame, expressions, *, states=True):
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=[], max_length=500_000),
            dp.polars.Margin(by=["g"], max_length=2_000, max_groups=groups, invariant="keys"),
        ],
    )
    query = context.query().group_by("g").agg(*expressions)
    stated = query.summarize(alpha=0.05) if states else None
    return query.release().collect().sort("g"), stated
"""

OPENDP = (
    _OPENDP_CONTEXT
    + """
frame = pl.scan_parquet(path)  # a frame in memory would be copied for every question
ways = {
    "n": lambda: dp.len(),
    "sum_x": lambda: x.dp.sum(bounds=(0.0, 100.0)),
    "avg_x": lambda: x.dp.mean(bounds=(0.0, 100.0)),
    "avg_y": lambda: y.dp.mean(bounds=(0.0, 100.0)),
    "median_x": lambda: x.dp.median(candidates=[i / 10 for i in range(1001)]),
}

def run(columns, states):
    expressions = [ways[name]().alias(name) for name in columns]
    table, stated = release(frame, expressions, states=states)
    widths = {}
    for name, rows in () if stated is None else stated.group_by("column"):
        if len(rows) == 1 and rows["accuracy"][0] is not None and name[0] in ("n", "sum_x"):
            widths[name[0]] = rows["accuracy"][0]
    return {"values": {name: table[name].to_list() for name in columns}, "widths": widths}

print(version("opendp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(ways):
        print("null", flush=True)
        continue
    # what it states before a release is the same for each: it is asked once
    print(json.dumps([run(asked["columns"], not i) for i in range(asked["repeats"])]), flush=True)
"""
)

BY_HAND = (
    _OPENDP_CONTEXT
    + """
u, v = x - 50.0, y - 50.0
file = path + ".sums"
pl.read_parquet(path).with_columns(
    u=u, v=v, uu=u * u - 1250.0, vv=v * v - 1250.0, uv=u * v
).write_parquet(file)
frame = pl.scan_parquet(file)
halves = {"u": 50.0, "v": 50.0, "uu": 1250.0, "vv": 1250.0, "uv": 2500.0}
needs = {
    "n": "", "sum_x": "u", "avg_x": "u", "avg_y": "v", "var_x": "u uu", "corr_xy": "u v uu vv uv"
}

def total(name):
    # centred sums: a row moves them by half of the range
    half = halves[name]
    return pl.col(name).fill_nan(0.0).fill_null(0.0).dp.sum(bounds=(-half, half)).alias(name)

def run(columns):
    if columns == ["sum_x"]:
        expressions = [x.dp.sum(bounds=(0.0, 100.0)).alias("sum_x")]
        table, _ = release(frame, expressions, states=False)
        return {"values": {"sum_x": table["sum_x"].to_list()}, "widths": {}}
    sums = sorted({sum_ for name in columns for sum_ in needs[name].split()})
    table, _ = release(frame, [dp.len().alias("n"), *map(total, sums)], states=False)
    noisy = {name: table[name].cast(pl.Float64).to_numpy() for name in ["n", *sums]}
    n = noisy["n"]
    mean = {name: noisy[name] / n for name in sums}
    var = lambda a: mean[2 * a] + 1250.0 - mean[a] ** 2
    read = {
        "n": lambda: n,
        "sum_x": lambda: noisy["u"] + 50.0 * n,
        "avg_x": lambda: mean["u"] + 50.0,
        "avg_y": lambda: mean["v"] + 50.0,
        "var_x": lambda: var("u"),
        "corr_xy": lambda: (mean["uv"] - mean["u"] * mean["v"]) / (var("u") * var("v")) ** 0.5,
    }
    return {"values": {name: read[name]().tolist() for name in columns}, "widths": {}}

print(version("opendp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    columns = list(asked["columns"])
    if not set(columns) <= set(needs):
        print("null", flush=True)
        continue
    print(json.dumps([run(columns) for _ in range(asked["repeats"])]), flush=True)
"""
)

DIFFPRIVLIB = """
import json, sys, warnings
from importlib.metadata import version
import numpy as np, pyarrow.parquet as pq
from diffprivlib import tools
from diffprivlib.mechanisms import Geometric

warnings.simplefilter("ignore")
path, groups = sys.argv[1], int(sys.argv[2])
data = pq.read_table(path)
g, x, y = (data[name].to_numpy() for name in "gxy")
parts = [(x[g == i], y[g == i]) for i in range(groups)]
ends = {"bounds": (0.0, 100.0)}
ways = {
    # its count_nonzero is cut to the number of rows, which it takes as public
    "n": lambda x, y, e: Geometric(epsilon=e, sensitivity=1).randomise(len(x)),
    "sum_x": lambda x, y, e: tools.sum(x, epsilon=e, **ends),
    "avg_x": lambda x, y, e: tools.mean(x, epsilon=e, **ends),
    "avg_y": lambda x, y, e: tools.mean(y, epsilon=e, **ends),
    "var_x": lambda x, y, e: tools.var(x, epsilon=e, **ends),
    "median_x": lambda x, y, e: tools.median(x, epsilon=e, **ends),
}

def run(columns):
    e = 1.0 / len(columns)
    values = {n: [float(ways[n](*part, e)) for part in parts] for n in columns}
    return {"values": values, "widths": {}}

print(version("diffprivlib"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(ways):
        print("null", flush=True)
        continue
    print(json.dumps([run(asked["columns"]) for _ in range(asked["repeats"])]), flush=True)
"""

PIPELINEDP = """
import json, sys
from importlib.metadata import version
import pipeline_dp as pdp, pyarrow.parquet as pq

path, groups = sys.argv[1], int(sys.argv[2])
data = pq.read_table(path, columns=["g", "x", "y"])
rows = list(zip(*(data[name].to_pylist() for name in "gxy")))
metrics = {
    "n": ("COUNT", 1), "sum_x": ("SUM", 1), "avg_x": ("MEAN", 1), "avg_y": ("MEAN", 2),
    "var_x": ("VARIANCE", 1),
}

def run(columns):
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=0)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    results = {}
    for place in sorted({metrics[name][1] for name in columns}):
        names = [name for name in columns if metrics[name][1] == place]
        parameters = pdp.AggregateParams(
            noise_kind=pdp.NoiseKind.LAPLACE,
            metrics=[getattr(pdp.Metrics, metrics[name][0]) for name in names],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            min_value=0.0,
            max_value=100.0,
            contribution_bounds_already_enforced=True,  # a unit has one row
        )
        extract = pdp.DataExtractors(
            partition_extractor=lambda row: row[0],
            value_extractor=lambda row, place=place: row[place],
        )
        results[place] = engine.aggregate(
            rows, parameters, extract, public_partitions=list(range(groups))
        )
    accountant.compute_budgets()
    released = {place: dict(result) for place, result in results.items()}
    values = {}
    for name in columns:
        metric, place = metrics[name]
        values[name] = [getattr(released[place][i], metric.lower()) for i in range(groups)]
    return {"values": values, "widths": {}}

print(version("pipeline-dp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(metrics):
        print("null", flush=True)
        continue
    repeats = max(1, asked["repeats"] * 7 // 10)  # a run takes many seconds
    print(json.dumps([run(asked["columns"]) for _ in range(repeats)]), flush=True)
"""

TUMULT = """
import json, os, sys, warnings
from importlib.metadata import version
os.environ["PYSPARK_PYTHON"] = sys.executable
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

path, groups = sys.argv[1], int(sys.argv[2])
frame = spark.read.parquet(path).select("g", "x", "y").cache()
keys = KeySet.from_dict({"g": list(range(groups))})
ways = {
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
        query = ways[name](QueryBuilder("people").groupby(keys))
        released = session.evaluate(query, PureDPBudget(1 / len(columns))).collect()
        cells = {row["g"]: float(row[name]) for row in released}
        values[name] = [cells[i] for i in range(groups)]
    return {"values": values, "widths": {}}

print(version("tmlt.analytics"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not set(asked["columns"]) <= set(ways):
        print("null", flush=True)
        continue
    repeats = max(1, asked["repeats"] * 7 // 10)  # a run takes seconds
    print(json.dumps([run(asked["columns"]) for _ in range(repeats)]), flush=True)
"""

PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "OpenDP": (OPENDP, ("opendp[polars]==0.16.*",)),
    "PipelineDP": (PIPELINEDP, ("pipeline-dp==0.3.1", "pyarrow", "setuptools<81")),
    "diffprivlib": (DIFFPRIVLIB, ("diffprivlib==0.6.6", "pyarrow", "scikit-learn<1.7")),
    "Tumult": (TUMULT, ("tmlt.analytics==0.21.*", "setuptools<81")),
    "by hand": (BY_HAND, ("opendp[polars]==0.16.*",)),
}
"""The program of each peer, and the packages that it needs."""
