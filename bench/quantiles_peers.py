"""How far off m quantiles are for one ε: sfumato, OpenDP and diffprivlib on the same rows.

*Data*      Made from a fixed seed, as in bench/quantiles.py: n rows between 0 and 1, spread evenly,
            or skewed (a log-normal law). One row each, no groups.
*Questions* The quantiles 1/(m+1), …, m/(m+1), for ε = 1 together.
*Sides*     sfumato with intervals, as `PERCENTILE` in SQL or `sf.quantile`; sfumato without;
            OpenDP's `quantile` for each of m, by its exponential mechanism, with 4,097 candidates
            (2,049 for m = 9, 257 for more: closer ones would be far below its error); OpenDP's
            b-ary tree of counts, made consistent, with 4,096 leaves and the branching that it
            recommends; diffprivlib's `quantile` with a list.
*Error*     In rows: how many are missing for the answer to be a quantile. Root of the mean square
            over quantiles and repetitions; beside it the mean number of rows in the 95 % interval,
            where a side states any.
*Peers*     live in environments that are made here and removed at the end, or in `--venvs`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from peers import Process, installed
from quantiles import SPREADS
from telling import as_columns, as_pipes, say, significant

SFUMATO = """
import json, sys
from importlib.metadata import version
import sfumato as sf

tables = {}
interval = sys.argv[1] == "intervals"
print(version("sfumato"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    path, m = asked["path"], asked["m"]
    if path not in tables:
        tables[path] = sf.protect(
            path, name="t", bounds={"x": (0, 1)}, budget=10**9, each_row_a_person=True
        )
    qs = {f"q{i}": sf.quantile("x", f"{i}/{m + 1}", interval=interval) for i in range(1, m + 1)}
    runs = []
    for _ in range(asked["repeats"]):
        answer = tables[path].aggregate(**qs).release(epsilon=1, fresh=True)
        run = {"values": [float(answer[name][0]) for name in qs]}
        if interval:
            run["ends"] = [[float(end[0]) for end in answer.interval(name)] for name in qs]
        runs.append(run)
    print(json.dumps(runs), flush=True)
"""

OPENDP = """
import json, sys, warnings
from importlib.metadata import version
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
LEAVES = 4096
edges = [i / LEAVES for i in range(LEAVES + 1)]
branching = dp.t.choose_branching_factor(size_guess=LEAVES)
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
counts = (
    space
    >> dp.t.then_find_bin(edges=edges[1:-1])
    >> dp.t.then_count_by_categories(categories=list(range(LEAVES)), null_category=False, TOA=int)
    >> dp.t.then_b_ary_tree(leaf_count=LEAVES, branching_factor=branching)
)
measure = dp.binary_search_chain(lambda s: counts >> dp.m.then_laplace(scale=s), 1, 1.0)
consistent = dp.t.make_consistent_b_ary_tree(branching_factor=branching)
x = pl.col("x").fill_nan(0.0).fill_null(0.0)

def tree(values, qs):
    read = dp.t.make_quantiles_from_counts(bin_edges=edges, alphas=qs)
    return list(read(consistent(measure(values))))

def choose(frame, qs):
    # fewer candidates where there is less of ε for each quantile
    steps = {1: 1 << 12, 3: 1 << 12, 9: 1 << 11}.get(len(qs), 1 << 8)
    candidates = [k / steps for k in range(steps + 1)]
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=[], max_length=200_000)],
    )
    columns = [x.dp.quantile(q, candidates=candidates).alias(f"q{i}") for i, q in enumerate(qs)]
    return list(context.query().select(*columns).release().collect().row(0))

print(version("opendp"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    frame, m = pl.read_parquet(asked["path"]), asked["m"]
    qs, values = [i / (m + 1) for i in range(1, m + 1)], frame["x"].to_list()
    release = (lambda: tree(values, qs)) if sys.argv[1] == "tree" else (
        lambda: choose(pl.scan_parquet(asked["path"]), qs)
    )
    print(json.dumps([{"values": release()} for _ in range(asked["repeats"])]), flush=True)
"""

DIFFPRIVLIB = """
import json, sys, warnings
from importlib.metadata import version
import numpy as np, pyarrow.parquet as pq
from diffprivlib import tools

warnings.simplefilter("ignore")
print(version("diffprivlib"), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    x, m = pq.read_table(asked["path"])["x"].to_numpy(), asked["m"]
    qs = [i / (m + 1) for i in range(1, m + 1)]
    runs = [
        {"values": np.ravel(tools.quantile(x, qs, epsilon=1.0, bounds=(0.0, 1.0))).tolist()}
        for _ in range(asked["repeats"])
    ]
    print(json.dumps(runs), flush=True)
"""

_OPENDP_PACKAGES = ("opendp[polars]==0.16.*",)
_DIFFPRIVLIB_PACKAGES = ("diffprivlib==0.6.6", "pyarrow", "scikit-learn<1.7")
SIDES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "sfumato": (SFUMATO, "intervals", ()),
    "sfumato, no intervals": (SFUMATO, "values", ()),
    "OpenDP, each": (OPENDP, "each", _OPENDP_PACKAGES),
    "OpenDP, tree": (OPENDP, "tree", _OPENDP_PACKAGES),
    "diffprivlib": (DIFFPRIVLIB, "each", _DIFFPRIVLIB_PACKAGES),
}
"""The program of each side, its argument, and its packages."""


def rank_errors(rows: NDArray[np.float64], values: list[float]) -> NDArray[np.float64]:
    """Return how many rows are missing for each value to be its quantile; `rows` are sorted."""
    m, n = len(values), len(rows)
    targets = np.arange(1, m + 1) / (m + 1) * n
    below = np.searchsorted(rows, values, side="left")
    upto = np.searchsorted(rows, values, side="right")
    return np.maximum(np.maximum(below - targets, targets - upto), 0)


def measure(
    side: Process, path: Path, rows: NDArray[np.float64], m: int, repeats: int
) -> tuple[float, float | None]:
    """Ask a side; return the root mean square of rank errors, and the rows in an interval."""
    request = json.dumps({"path": str(path), "m": m, "repeats": repeats})
    runs = json.loads(side.told(request))
    errors = np.array([rank_errors(rows, run["values"]) for run in runs])
    if "ends" not in runs[0]:
        return float((errors**2).mean() ** 0.5), None
    ends = np.array([run["ends"] for run in runs])
    wide = np.searchsorted(rows, ends[..., 1], "right") - np.searchsorted(rows, ends[..., 0])
    return float((errors**2).mean() ** 0.5), float(wide.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description="Rank errors of quantiles, beside the peers.")
    parser.add_argument("--draws", type=int, default=200, help="answers for m = 1; fewer for more")
    parser.add_argument("--quantiles", type=int, nargs="*", default=[1, 3, 9, 99])
    parser.add_argument("--sides", nargs="*", choices=list(SIDES), default=list(SIDES))
    parser.add_argument("--venvs", type=Path, help="a folder of environments that stand ready")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    cases = [("even", 10_000), ("skewed", 100_000)]
    cells: dict[tuple[str, int, str], str] = {}
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        data = {}
        for spread, n in cases:
            rows = np.sort(SPREADS[spread](np.random.default_rng(7), n).clip(0, 1))
            path = Path(place) / f"{spread}.parquet"
            pq.write_table(pa.table({"x": rows}), path)
            data[spread] = path, rows
        for name in given.sides:
            script, argument, packages = SIDES[name]
            folder = name.split(",")[0].lower()
            if not packages:
                ready = Path(sys.executable)
            else:
                ready = None if given.venvs is None else given.venvs / folder / "bin" / "python"
            with installed(name, *packages) if ready is None else nullcontext(ready) as python:
                if python is None:
                    continue
                side = Process(python, script, argument, quiet=bool(packages))
                for spread, _ in cases:
                    for m in given.quantiles:
                        say(f"{name}: {m} of {spread} rows")
                        repeats = max(3, given.draws // max(1, round(m**0.8)))
                        rms, wide = measure(side, *data[spread], m, repeats)
                        text = significant(rms)
                        text += "" if wide is None else f" ({significant(wide)})"
                        cells[spread, m, name] = text
                side.close()
    table = [["rows", "quantiles", *given.sides]]
    table += [
        [f"{n:,}, {spread}", str(m), *(cells.get((spread, m, name), "–") for name in given.sides)]
        for spread, n in cases
        for m in given.quantiles
    ]
    print(as_pipes(table, {"rows"}) if given.markdown else as_columns(table))


if __name__ == "__main__":
    main()
