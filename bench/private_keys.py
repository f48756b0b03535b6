"""How exact counts by private keys are, and from how many rows on a group is shown, beside OpenDP.

*Data*      Units with up to 20 rows each, all rows of a unit in groups of their own: one large
            group, and groups of 300 to 600 rows in steps of 10.
*Question*  COUNT(*) by a key that is not public, at ε = 1 and δ = 1e-9. Ours knows the units and
            their 20 rows, and bounds them; OpenDP takes 20 contributions of a unit for granted.
*Error*     The root of the mean squared error of the large group over repetitions, and the 95 %
            quantile of the error.
*Shown*     From how many rows on a group is shown in half of the repetitions, between the two sizes
            nearest to it.

OpenDP lives in an environment that is made here and removed at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from peers import Process, installed
from telling import as_columns, as_pipes, say

ROWS, LARGE = 20, 40_000
SIZES = range(300, 610, 10)

OPENDP = """
import json, sys, warnings
from importlib.metadata import version
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
frame = pl.read_parquet(sys.argv[1]).lazy()
print(version("opendp"), flush=True)
for line in sys.stdin:
    released = []
    for _ in range(int(line)):
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=20),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9),
            split_evenly_over=1,
        )
        query = context.query().group_by("k").agg(dp.len().alias("n"))
        table = query.release().collect()
        released.append(dict(zip(table["k"].to_list(), table["n"].to_list())))
    print(json.dumps(released), flush=True)
"""

Released = list[dict[str, float]]


def build_table() -> tuple[pa.Table, dict[str, int]]:
    """Make the table, and its exact counts."""
    exact = {"large": LARGE} | {f"s{size}": size for size in SIZES}
    keys = np.repeat(list(exact), list(exact.values()))
    units = np.arange(len(keys)) % (len(keys) // ROWS + 1)  # a unit's rows lie in several groups
    return pa.table({"u": units, "k": keys}), exact


def release_ours(table: pa.Table, repeats: int) -> Released:
    """Answer the question with sfumato."""
    import sfumato as sf

    protected = sf.protect(
        table, name="t", unit="u", max_rows=ROWS, budget=sf.Approx(10**6, "1e-2")
    )
    released = []
    for _ in range(repeats):
        answer = protected.sql(
            "SELECT k, COUNT(*) AS n FROM t GROUP BY k", promise=sf.Approx(1, "1e-9"), fresh=True
        )
        named = zip(answer.rows, answer["n"], strict=True)
        released.append({str(row[0]): float(n) for row, n in named})
    return released


def measure(released: Released, exact: dict[str, int]) -> list[str]:
    """Return the error, its 95 % quantile and the size that is shown half of the time, as texts."""
    errors = np.array([answer["large"] - exact["large"] for answer in released])
    shares = [np.mean([f"s{size}" in answer for answer in released]) for size in SIZES]
    above = next((i for i, share in enumerate(shares) if share >= 0.5), None)
    half = "more" if above is None else f"{SIZES[max(above - 1, 0)]} to {SIZES[above]}"
    spread = float(np.sqrt(np.mean(errors**2)))
    return [f"{spread:.1f}", f"{float(np.quantile(np.abs(errors), 0.95)):.1f}", half]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=400)
    options.add_argument("--markdown", action="store_true")
    options.add_argument("--alone", action="store_true", help="leave OpenDP out")
    chosen = options.parse_args()
    table, exact = build_table()
    lines: list[list[str]] = [["side", "error (RMS)", "error, 95 %", "shown from, rows"]]
    say("ours")
    lines.append(["sfumato", *measure(release_ours(table, chosen.repeats), exact)])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rows.parquet"
        pq.write_table(table, path)
        if not chosen.alone:
            with installed("OpenDP", "opendp[polars]==0.16.*") as python:
                if python is not None:
                    peer = Process(python, OPENDP, path, quiet=True)
                    say("OpenDP")
                    answers = json.loads(peer.told(chosen.repeats))
                    lines.append([f"OpenDP {peer.version}", *measure(answers, exact)])
                    peer.close()
    print(as_pipes(lines, ("side", "shown from, rows")) if chosen.markdown else as_columns(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
