"""How much noise a stream has, and how long a step takes.

*Deviation*  of the total after n periods, μ = 1, one row changes one period by 1: arithmetic on the
             exact weights. Beside it a stream whose length is known to be n, a binary tree of that
             length, separate noise, and published figures of jax-privacy 2.0 (BLT with at most 5
             buffers, the largest deviation over n sums).
*Windows*    The deviation of the last w periods, for ever.
*Steps*      The time to measure one more period of 20 columns after n periods, and to read the
             totals of all; the time of a million periods at once, for one column.

`--markdown` prints the tables for a page; `--quick` leaves the million out.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sfumato.mechanisms import RunningSums, square_root_factor
from sfumato.mechanisms.shared.prefix_strategies import tree
from telling import as_columns, as_pipes, pin, say, significant

BLT = {365: 2.945, 1024: 3.278, 4096: 3.732}
"""jax-privacy 2.0, 25 to 40 s of optimisation for each length."""

Rows = list[list[str]]


def compare_totals(lengths: Sequence[int]) -> Rows:
    """The deviation of a total by strategy."""
    endless = RunningSums(mu_squared=1)
    rows = [["periods", "no end", "known end", "ratio", "BLT", "binary tree", "separate"]]
    for n in lengths:
        without, best = endless.deviation(n), square_root_factor(n)
        rows.append(
            [
                f"{n:,}",
                f"{without:.3f}",
                f"{best:.3f}",
                f"{without / best:.3f}",
                f"{BLT[n]:.3f}" if n in BLT else "",
                f"{math.sqrt(tree(n, 2).variance):.2f}",
                f"{math.sqrt(n):.1f}",
            ]
        )
    return rows


def compare_windows(lengths: Sequence[int]) -> Rows:
    """The deviation of the last periods by strategy."""
    endless = RunningSums(mu_squared=1)
    rows = [["window", "stream of windows", "no end", "separate"]]
    for w in lengths:
        windows = RunningSums(mu_squared=1, window=w).deviation(2_000, 2_001 - w)
        totals = endless.deviation(2_000, 2_001 - w)
        rows.append([str(w), f"{windows:.3f}", f"{totals:.3f}", f"{math.sqrt(w):.3f}"])
    return rows


def measure_steps(lengths: Sequence[int], columns: int) -> Rows:
    """The CPU time of one more period, and of all totals."""
    noise = RunningSums(mu_squared=1)
    chance = np.random.default_rng(1)
    rows = [["periods before", f"one more period, {columns} columns (ms)", "all totals (ms)"]]
    for n in lengths:
        sums = chance.integers(0, 1000, (n + 1, columns))
        y = noise.perturb(sums[:n])
        noise.totals(y)  # computes the series
        begin = time.process_time()
        noise.perturb(sums[noise.first_read(n + 1) - 1 :], after=n)
        middle = time.process_time()
        noise.totals(y)
        end = time.process_time()
        rows.append(
            [f"{n:,}", significant(1000 * (middle - begin)), significant(1000 * (end - middle))]
        )
    return rows


def measure_million() -> Rows:
    """The CPU time of a million periods at once."""
    noise, n = RunningSums(mu_squared=1), 10**6
    sums = np.random.default_rng(1).integers(0, 1000, n)
    times = [time.process_time()]
    y = noise.perturb(sums)
    times.append(time.process_time())
    noise.totals(y)
    times.append(time.process_time())
    noise.totals(y)
    times.append(time.process_time())
    first, series, again = (b - a for a, b in pairwise(times))
    return [
        ["a million periods, one column", "CPU s"],
        ["measure", significant(first)],
        ["totals, with the series", significant(series)],
        ["totals again", significant(again)],
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--markdown", action="store_true")
    options.add_argument("--quick", action="store_true")
    chosen = options.parse_args()
    say(pin())
    far = [] if chosen.quick else [10**6]
    tables = [
        compare_totals([30, 365, 1024, 4096, 8192, 65_536, *far]),
        compare_windows([1, 7, 30, 90]),
        measure_steps([100, 1_000, 4_000, 20_000], 20),
        *([] if chosen.quick else [measure_million()]),
    ]
    for table in tables:
        print((as_pipes(table, ()) if chosen.markdown else as_columns(table)) + "\n")


if __name__ == "__main__":
    main()
