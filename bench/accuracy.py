"""How exact a protected table answers for the same ε, beside OpenDP, Tumult, PipelineDP and
diffprivlib, and beside lower bounds that hold for every ε-private answer.

*Data*      Made by DuckDB from hashes of row numbers, the same every time: 250,000 people with
            one row each in 500 public groups, two columns between 0 and 100, no nulls.
*Questions* Each is asked for ε = 1 in all, of every group, many times (bench/accuracy_sides.py).
*Error*     The root of the mean squared error over groups and repetitions, per column; beside it
            the mean half-width of the 95 % intervals where a side states any.
*Twice*     sfumato answers as a user would ask first: columns may have nulls, and a fortieth of ε
            tells how many values were clipped. And *bare*: columns are declared without nulls, and
            the question clips them itself, so that ε goes to the columns alone. Peers know no nulls
            and do not count what they clip, so they stand beside the second.
*Earlier*   With `--earlier src`, an older source tree answers the same questions, with columns that
            may have nulls: its errors and half-widths are given as multiples of today's.
*Floor*     bench/accuracy_floors.py.
*Peers*     live in environments that are made here and removed at the end, or that stand ready in
            `--venvs`. One that cannot be installed, or has no answer to a question, is left out,
            and the table says so.
*Runs*      With `--runs FOLDER` the answers of each side are kept there as JSON, and those that are
            there are not asked again.

Nothing fails for being inexact: the table gives ratios. `--markdown` prints it for a page.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import duckdb
import numpy as np
from numpy.typing import NDArray

from accuracy_floors import floors, of_both_optimum
from accuracy_sides import PEERS, QUESTIONS, SFUMATO, SQL
from peers import Process, installed
from telling import as_columns, as_pipes, say, significant

ROWS_OF_A_GROUP = 500
OURS, BARE, EARLIER = "sfumato", "bare", "before"
MOMENTS = 1.96  # deviations in a 95 % sampling error


class Run(TypedDict):
    """One answer: `values` by column and group, `widths` by column."""

    values: dict[str, list[float]]
    widths: dict[str, float]


class Side(TypedDict):
    """What one side answered, by question: None where it has no answer."""

    version: str
    runs: dict[str, list[Run] | None]


@dataclass(frozen=True, slots=True)
class Error:
    """A root mean square error, its relative standard error, and a mean half-width."""

    rms: float
    relative: float
    half_width: float | None


def build_people(path: Path, groups: int) -> dict[str, list[float]]:
    """Write the table and return its exact answers by column."""
    connection = duckdb.connect()
    connection.execute(
        f"""COPY (SELECT i AS id, (hash(i) % {groups})::INTEGER AS g,
            100 * pow((hash(i + 1000003) % 1000000) / 1e6, 2) AS x,
            50 + 25 * sin((hash(i + 2000003) % 1000000) / 1e5) AS y
            FROM range({groups * ROWS_OF_A_GROUP}) t(i)) TO '{path}' (FORMAT PARQUET)"""
    )
    columns = ", ".join(f"{sql} AS {name}" for name, sql in SQL.items())
    frame = connection.execute(
        f"SELECT {columns} FROM read_parquet('{path}') GROUP BY g ORDER BY g"
    ).to_arrow_table()
    return {name: [float(v) for v in frame[name].to_pylist()] for name in SQL}


def errors_of(runs: Sequence[Run], name: str, exact: Sequence[float]) -> NDArray[np.float64]:
    """Return the errors of a column, of all repetitions and groups."""
    return (np.array([run["values"][name] for run in runs]) - np.array(exact)).ravel()


def error_of(side: Side, question: str, name: str, exact: Sequence[float]) -> Error | None:
    """Return the error of a column of a question; None where the side has no answer."""
    runs = side["runs"].get(question)
    if runs is None:
        return None
    squares = errors_of(runs, name, exact) ** 2
    mean = float(squares.mean())
    widths = [run["widths"][name] for run in runs if name in run["widths"]]
    relative = float(squares.std()) / len(squares) ** 0.5 / (2 * mean)
    return Error(mean**0.5, relative, float(np.mean(widths)) if widths else None)


@dataclass(frozen=True, slots=True)
class Setting:
    """The table and how often it is asked."""

    path: Path
    groups: int
    repeats: int


def ask(
    python: str | Path,
    script: str,
    setting: Setting,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
) -> Side:
    """Ask one side every question."""
    quiet = script is not SFUMATO
    side = Process(
        python, script, setting.path, setting.groups, *arguments, quiet=quiet,
        environment=environment,
    )  # fmt: skip
    runs: dict[str, list[Run] | None] = {}
    for question, columns in QUESTIONS.items():
        request = {
            "columns": {column: SQL[column] for column in columns},
            "repeats": setting.repeats,
        }
        runs[question] = json.loads(side.told(json.dumps(request)))
    side.close()
    return {"version": side.version, "runs": runs}


def ask_all(
    setting: Setting, names: Sequence[str], earlier: Path | None, venvs: Path | None, keep: Path
) -> dict[str, Side]:
    """Ask every side that has not answered before; keep the answers as JSON."""
    answers: dict[str, Side] = {}
    own = [OURS, BARE, *([] if earlier is None else [EARLIER])]
    for name in [*own, *names]:
        file = keep / f"{name.replace(' ', '-')}.json"
        if file.exists():
            answers[name] = json.loads(file.read_text())
            continue
        if name in PEERS:
            script, packages = PEERS[name]
            ready = None if venvs is None else venvs / _folder(name) / "bin" / "python"
            with installed(name, *packages) if ready is None else nullcontext(ready) as python:
                if python is None:
                    continue
                say(f"{name}: asking")
                answers[name] = ask(python, script, setting)
        else:
            say(f"{name}: asking")
            source = {"PYTHONPATH": str(earlier)} if name == EARLIER else None
            nulls = "bare" if name == BARE else "nulls"
            answers[name] = ask(sys.executable, SFUMATO, setting, nulls, environment=source)
        file.write_text(json.dumps(answers[name]))
    return answers


def _folder(name: str) -> str:
    return "opendp" if name == "by hand" else name.lower()


def times(other: Error | None, ours: Error) -> str:
    """Write an error as a multiple of ours."""
    return "–" if other is None else significant(other.rms / ours.rms)


def width(error: Error | None) -> str:
    """Write a half-width."""
    return "–" if error is None or error.half_width is None else significant(error.half_width)


def own_table(
    answers: Mapping[str, Side], exact: Mapping[str, Sequence[float]], least: Mapping[str, float]
) -> list[list[str]]:
    """Lay out our errors and half-widths, as asked first and bare."""
    has_earlier = EARLIER in answers
    head = ["question", "column", "error", "95 % half-width", "error, × floor"]
    head += ["error before, ×", "half-width before, ×"] if has_earlier else []
    head += ["error, bare", "95 % half-width, bare", "bare, × floor"]
    rows = [head]
    for question, name in _columns():
        ours, bare = (error_of(answers[side], question, name, exact[name]) for side in (OURS, BARE))
        assert ours is not None
        assert bare is not None
        assert ours.half_width is not None
        row = [question, SQL[name], significant(ours.rms), width(ours)]
        row.append(f"{ours.rms / least[name]:.2f}")
        if has_earlier:
            before = error_of(answers[EARLIER], question, name, exact[name])
            row.append(times(before, ours))
            half = before.half_width if before is not None else None
            row.append("–" if half is None else significant(half / ours.half_width))
        row += [significant(bare.rms), width(bare), f"{bare.rms / least[name]:.2f}"]
        rows.append(row)
    return rows


def peers_table(
    answers: Mapping[str, Side], exact: Mapping[str, Sequence[float]], names: Sequence[str]
) -> tuple[list[list[str]], float]:
    """Lay out the error of each peer as a multiple of ours asked bare; return the largest
    sampling error of a ratio, too.
    """
    sides = [name for name in names if name in answers]
    rows, largest = [["question", "column", "error", *sides]], 0.0
    for question, name in _columns():
        ours = error_of(answers[BARE], question, name, exact[name])
        assert ours is not None
        row = [question, SQL[name], significant(ours.rms)]
        for side in sides:
            error = error_of(answers[side], question, name, exact[name])
            row.append(times(error, ours))
            if error is not None:
                both = MOMENTS * (error.relative**2 + ours.relative**2) ** 0.5
                largest = max(largest, both)
        rows.append(row)
    return rows, largest


def widths_table(
    answers: Mapping[str, Side], exact: Mapping[str, Sequence[float]], names: Sequence[str]
) -> list[list[str]]:
    """Lay out the half-widths that peers state, as multiples of ours asked bare."""
    sides = [
        name
        for name in names
        if name in answers
        and any(run["widths"] for runs in answers[name]["runs"].values() for run in runs or ())
    ]
    rows = [["question", "column", "95 % half-width", *sides]]
    for question, name in _columns():
        ours = error_of(answers[BARE], question, name, exact[name])
        assert ours is not None
        assert ours.half_width is not None
        row = [question, SQL[name], width(ours)]
        for side in sides:
            error = error_of(answers[side], question, name, exact[name])
            half = None if error is None else error.half_width
            row.append("–" if half is None else significant(half / ours.half_width))
        rows.append(row)
    return rows


def _columns() -> list[tuple[str, str]]:
    return [(question, name) for question, columns in QUESTIONS.items() for name in columns]


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors for the same ε, beside the peers.")
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--earlier", type=Path, help="the src folder of an older version")
    parser.add_argument("--venvs", type=Path, help="a folder of environments that stand ready")
    parser.add_argument("--runs", type=Path, help="a folder that keeps the answers")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        path, keep = Path(place) / "people.parquet", given.runs or Path(place)
        keep.mkdir(exist_ok=True)
        exact = build_people(path, given.groups)
        setting = Setting(path, given.groups, given.repeats)
        answers = ask_all(setting, given.peers, given.earlier, given.venvs, keep)
        least = floors(path, given.groups)

    def table(rows: list[list[str]]) -> str:
        return as_pipes(rows, {"question", "column"}) if given.markdown else as_columns(rows)

    print(", ".join(f"{name} {side['version']}" for name, side in answers.items()))
    print(table(own_table(answers, exact, least)), end="\n\n")
    beside, sampling = peers_table(answers, exact, given.peers)
    print(table(beside))
    print(f"95 % sampling error of a ratio: at most {sampling:.1%}", end="\n\n")
    print(table(widths_table(answers, exact, given.peers)), end="\n\n")
    both = answers[BARE]["runs"]["COUNT(*), SUM(x)"]
    assert both is not None
    counts, sums = (errors_of(both, name, exact[name]) for name in ("n", "sum_x"))
    print(f"COUNT(*), SUM(x): {of_both_optimum(counts, sums):.3f} of the least possible variance")


if __name__ == "__main__":
    main()
