"""How far off many linear queries are, by strategy, and how long the choice and a release take.

*Workloads*  prefixes, all ranges and 64 random queries of 0 and 1 over n cells; all rectangles of a
             square grid.
*Ways*       ours       `LinearQueries`, the strategy that it chooses
             cells      noise on the cells alone
             hierarchy  `Hierarchy`, the tree with equal levels and the best branching
             root       the square root of the prefixes (Gaussian noise)
             opendp     OpenDP's b-ary tree with its consistency step, Laplace noise: drawn 100
                        times on empty cells; with `--opendp` a Python that has OpenDP
             bound      a lower bound for every strategy
*Error*      The root mean square over the queries, at ε = 1 (Laplace) or μ = 1 (Gaussian), exact
             but for OpenDP.
*Time*       Process time of the first choice in a process, and of one release of the fitted cells.

The random queries come from a fixed seed; they are public. `--markdown` prints for a page.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import time

import numpy as np

from sfumato import mechanisms as mech
from sfumato.mechanisms.hierarchy import average_factor
from sfumato.mechanisms.linear.axis_strategies import AxisStrategy, CellStrategy, RootStrategy
from telling import as_columns, as_pipes

SIZES = (64, 256, 1024, 4096)
OPENDP = """
import json, sys
import numpy as np
import opendp.prelude as dp
dp.enable_features("contrib")
n = int(sys.argv[1])
b = dp.t.choose_branching_factor(size_guess=n)
space = dp.vector_domain(dp.atom_domain(T=int), size=n), dp.l1_distance(T=int)
tree = dp.t.make_b_ary_tree(*space, leaf_count=n, branching_factor=b)
noisy = tree >> dp.m.then_laplace(float(tree.map(1)))
fit = dp.t.make_consistent_b_ary_tree(branching_factor=b)
prefixes, ranges = [], []
for _ in range(100):
    cells = np.array(fit(noisy([0] * n)), dtype=float)[:n]
    ends = np.concatenate([[0.0], np.cumsum(cells)])
    prefixes.append((ends[1:] ** 2).mean())
    ranges.append(((n + 1) * (ends**2).sum() - ends.sum() ** 2) / (n * (n + 1) / 2))
print(json.dumps([np.mean(prefixes) ** 0.5, np.mean(ranges) ** 0.5]))
"""


def workloads(cells: int) -> dict[str, mech.Workload]:
    """The workloads over so many cells."""
    random = np.random.default_rng(7).integers(0, 2, (64, cells))
    return {
        f"{cells} prefixes": mech.prefixes(cells),
        f"ranges of {cells}": mech.all_ranges(cells),
        f"64 random of {cells}": mech.matrix(random),
    }


def fixed_error(strategy: AxisStrategy, workload: mech.Workload, law: str) -> float:
    """The error of one strategy at ε = 1 or μ = 1."""
    (term,) = workload.terms
    moved = strategy.column_l1 if law == "laplace" else math.sqrt(strategy.column_l2_squared)
    noise = 2 * moved**2 if law == "laplace" else moved**2
    return math.sqrt(noise * strategy.total(term.blocks[0]) / workload.queries)


def measure(name: str, workload: mech.Workload, law: str, peers: dict[str, float]) -> list[str]:
    """One line: errors, the ratio to the bound, and times."""
    way = {"epsilon": 1} if law == "laplace" else {"mu": 1}
    start = time.process_time()
    ours = mech.LinearQueries(workload, relation="add-remove", **way)
    chosen = time.process_time() - start
    counts = np.ones(workload.shape, dtype=np.int64)
    start = time.process_time()
    ours.perturb(counts)
    released = time.process_time() - start
    errors: dict[str, float] = {}
    if len(workload.shape) == 1:
        cells = workload.shape[0]
        errors["cells"] = fixed_error(CellStrategy(cells), workload, law)
        if law == "gaussian":
            errors["root"] = fixed_error(RootStrategy(cells), workload, law)
        elif name.startswith("ranges"):
            tree = mech.Hierarchy(edges=range(cells + 1), epsilon=1, relation="add-remove")
            average = average_factor(cells, tree.branching)
            errors["hierarchy"] = math.sqrt(tree.noise.variance * average)
        if law == "laplace":
            errors |= {"opendp": peers[name]} if name in peers else {}
    shown = [f"{errors[w]:.2f}" if w in errors else "" for w in WAYS]
    assert ours.ratio is not None
    return [
        name,
        law,
        ours.strategy,
        f"{ours.rmse:.2f}",
        *shown,
        f"{ours.bound:.2f}",
        f"{ours.ratio:.3f}",
        f"{chosen:.2f}",
        f"{released:.3f}",
    ]


WAYS = ("cells", "hierarchy", "root", "opendp")
HEADS = ["queries", "noise", "strategy", "ours", *WAYS, "bound", "ratio", "choose, s", "release, s"]


def peer_errors(python: str | None) -> dict[str, float]:
    """The errors of OpenDP's tree, by the name of the workload."""
    errors: dict[str, float] = {}
    for cells in SIZES if python else ():
        command = [python, "-c", OPENDP, str(cells)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        prefixes, ranges = json.loads(done.stdout)
        errors |= {f"{cells} prefixes": prefixes, f"ranges of {cells}": ranges}
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--opendp", help="a Python that has OpenDP")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest number of cells")
    options = parser.parse_args()
    peers = peer_errors(options.opendp)
    lines = []
    for law in ("gaussian", "laplace"):
        for cells in SIZES:
            if cells <= options.most:
                for name, workload in workloads(cells).items():
                    lines.append(measure(name, workload, law, peers))
        for side in (64, 256):
            if side <= options.most:
                workload = mech.rectangles(side, side)
                lines.append(measure(f"rectangles of {side} × {side}", workload, law, peers))
    table = [HEADS, *lines]
    print(as_pipes(table, HEADS[:3]) if options.markdown else as_columns(table))


if __name__ == "__main__":
    main()
