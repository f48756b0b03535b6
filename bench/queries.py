"""How fast a protected table answers: beside the plain query, beside OpenDP, beside NumPy, with the
goals.

*Data*      Made by DuckDB from hashes of row numbers, the same every time: about ten rows a user,
            1,000 categories of uneven size, a value in [0, 100), a million items. Kept in a
            temporary directory.
*Sides*     Each is a process of its own, which answers when it is asked and says how long it took;
            its peak of memory is its own, too. Rounds go in turns, after one that does not count,
            and of every side the best counts. Planning is part of every answer, on both sides.
*OpenDP*    lives in an environment that is made here and removed at the end; where it cannot be
            installed it is left out, and that is said.

Nothing fails for being slow: the last column says what was met. `--markdown` prints the table of
docs/project/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from peers import Process, installed
from telling import as_columns, as_pipes, pin, say, significant

OURS = """
import itertools, json, resource, sys, time
import duckdb, numpy as np
import sfumato as sf

path, rows, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
declared = dict(
    name="visits",
    budget=sf.Approx(10**6, "1/2"),
    bounds={"value": (0, 100)},
    table_rows=10 * rows,
)
if what in ("rows", "unit"):
    unit = {"unit": "user_id", "max_rows": 5} if what == "unit" else {}
    table = sf.protect(path, keys={"category": range(1000)}, **unit, **declared)
    def run():
        query = table.group_by("category").aggregate(n=sf.count(), total=sf.sum("value"))
        return query.release(promise=sf.Pure(1), fresh=True)
elif what == "plain":
    connection = duckdb.connect(config={"threads": 2})
    sql = "SELECT category, COUNT(*), SUM(value) FROM read_parquet(?) GROUP BY category"
    def run():
        return connection.execute(sql, [path]).to_arrow_table()
elif what == "median":
    table = sf.protect(path, **declared)
    def run():
        return table.aggregate(middle=sf.median("value")).release(promise=sf.Pure(1), fresh=True)
elif what == "numpy":
    answer = duckdb.connect().execute("SELECT value FROM read_parquet(?)", [path])
    values = answer.fetchnumpy()["value"]
    def run():
        return np.median(values)
elif what in ("private", "private-unit", "public", "public-unit"):
    unit = {"unit": "user_id", "max_rows": 5} if what.endswith("unit") else {}
    keys = {"item": range(int(sys.argv[4]))} if what.startswith("public") else {}
    table = sf.protect(path, keys=keys, **unit, **declared)
    def run():
        query = table.group_by("item").aggregate(n=sf.count())
        return query.release(epsilon=1, delta=1e-8, fresh=True)
elif what == "plans":
    c, cities = sf.col, ["Roma", "Milano", "Napoli"]
    epsilons = (i / 10**4 for i in itertools.count(500))
    def queries(table):
      adults = table.where(c("age") >= 18).group_by(city=cities)
      decades = table.mutate(decade=c("age") // 10).group_by(decade=range(13))
      wide, limits = table.group_by(city=cities), {"low": 0, "high": 100}
      return {
        "count": table.aggregate(n=sf.count()),
        "count and mean by private city": table.group_by("city").aggregate(
            n=sf.count(), mean=sf.mean("spend")),
        "five aggregates by public city": adults.aggregate(
            n=sf.count(), people=sf.count_units(), total=sf.sum("spend"), mean=sf.mean("spend"),
            sd=sf.std("spend")),
        "quantile by public city": table.group_by(city=cities).aggregate(
            p50=sf.quantile("spend", 0.5)),
        "histogram": table.aggregate(ages=sf.histogram("age", edges=range(0, 121, 10))),
        "mutated, filtered": decades.aggregate(
            n=sf.count(), rich=sf.count_if(c("spend") > 50)),
        "twelve means": wide.aggregate(
            **{f"m{i}": sf.mean(c("spend") * i, low=0, high=100) for i in range(1, 13)}),
        "six correlations": wide.aggregate(
            **{f"r{i}{j}": sf.corr(c("spend") * i, c("spend") * j, **limits)
               for j in range(1, 5) for i in range(1, j)}),
      }
    def run():
        made = {}
        limits = dict(unit="user_id", max_rows=5, bounds={"spend": (0, 100)}, budget=1)
        with sf.protect(sf.samples.visits(), name="visits", **limits) as table:
            for name, query in queries(table).items():
                took = []
                # a new ε each time: planning caches the searches of earlier ε
                for epsilon in (next(epsilons), next(epsilons)):
                    start = time.process_time()
                    plan = query.plan(epsilon=epsilon)
                    plan.error(), plan.sql, plan.groups
                    took.append(time.process_time() - start)
                made[name] = took
        return made
print(duckdb.__version__, flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    made = run()
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plans = made if what == "plans" else {}
    print(json.dumps({"seconds": took, "peak": peak, "plans": plans}), flush=True)
"""

PEER = """
import json, resource, sys, time, warnings
from importlib.metadata import version
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
path, rows, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
keys = pl.LazyFrame({"category": pl.Series(range(1000), dtype=pl.Int32)})

def run():
    unit = (
        dp.unit_of(contributions=5, identifier=pl.col("user_id"))
        if what == "unit"
        else dp.unit_of(contributions=1)
    )
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=unit,
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=[], max_length=min(10 * rows, 2**32 - 1))],
    )
    query = context.query()
    query = query.truncate_per_group(5) if what == "unit" else query
    value = pl.col("value").fill_nan(0.0).fill_null(0.0).dp.sum(bounds=(0.0, 100.0))
    return query.group_by("category").agg(dp.len(), value).with_keys(keys).release().collect()

print(version("opendp"), flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    run()
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": took, "peak": peak, "plans": {}}), flush=True)
"""

THREADS = 2
PLAN_MS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured."""

    sizes: tuple[int, ...]
    items: int
    rounds: int


FULL = Effort(sizes=(10**7,), items=10**6, rounds=5)
LARGE = Effort(sizes=(10**7, 10**8), items=10**6, rounds=5)
QUICK = Effort(sizes=(10**6,), items=10**5, rounds=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One comparison: ours and another, and the goal for their ratio, "≥" times better than it or
    "≤" times as much; of milliseconds, for ours.
    """

    work: str
    rows: int
    ours: float
    beside: str
    other: float | None
    unit: Literal["s", "MiB", "ms"] = "s"
    sense: Literal["≥", "≤"] = "≤"
    goal: float | None = None

    @property
    def ratio(self) -> float | None:
        if not self.other:
            return None
        return self.other / self.ours if self.sense == "≥" else self.ours / self.other

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.goal is None:
            return "reported"
        if self.unit == "ms":
            return "met" if self.ours <= self.goal else "not met"
        return (
            "met"
            if (self.ratio >= self.goal if self.sense == "≥" else self.ratio <= self.goal)
            else "not met"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was measured, and where."""

    setting: str
    figures: tuple[Figure, ...]


class Side(Process):
    """A process that answers one question whenever it is asked."""

    def __init__(self, python: str | Path, script: str, *arguments: object) -> None:
        super().__init__(
            python, script, *arguments, environment={"POLARS_MAX_THREADS": str(THREADS)}
        )
        self.seconds, self.peak, self.plans = float("inf"), 0.0, dict[str, list[float]]()

    def ask(self, *, count: bool) -> None:
        answer = json.loads(self.told())
        self.peak = answer["peak"]
        if count:
            self.seconds = min(self.seconds, answer["seconds"])
            self.plans = {
                name: [*map(min, took, self.plans.get(name, took))]
                for name, took in answer["plans"].items()
            }


def make(path: Path, rows: int, items: int) -> None:
    """The table, from hashes of row numbers."""
    import duckdb

    def uniform(salt: int) -> str:
        return f"((hash(i, {salt}) >> 11)::DOUBLE / {2**53})"

    duckdb.connect(config={"threads": THREADS}).execute(f"""
        COPY (SELECT (hash(i, 1) % {max(1, rows // 10)})::BIGINT AS user_id,
                     floor(1000 * {uniform(2)} ** 2)::INTEGER AS category,
                     100 * {uniform(3)} AS value, (hash(i, 4) % {items})::INTEGER AS item
              FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)""")


def turns(sides: Sequence[Side | None], rounds: int, fewer: Sequence[int] = ()) -> None:
    """One answer of each in turns, after one of each that does not count; those at places in
    `fewer` take part in the first round that counts, only.
    """
    for turn in range(rounds + 1):
        for place, side in enumerate(sides):
            if side is not None and (turn <= 1 or place not in fewer):
                side.ask(count=turn > 0)
    for side in sides:
        if side is not None:
            side.close()


def measure(effort: Effort) -> Report:
    cores, load, figures, versions = pin(THREADS), os.getloadavg()[0], [], set[str]()
    with (
        tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place,
        installed("OpenDP", "opendp[polars]==0.16.*") as python,
    ):
        for rows in effort.sizes:
            say(f"{rows:,} rows: making them")
            path = Path(place) / f"visits-{rows}.parquet"
            make(path, rows, effort.items)
            for found, said in (
                by_key(path, rows, effort, python),
                one_column(path, rows, effort),
                by_item(path, rows, effort),
            ):
                figures += found
                versions |= said
            if rows <= 10**7:  # the same on PostgreSQL and Spark
                found, said = elsewhere(path, rows, effort)
                figures += found
                versions |= said
            path.unlink()
    figures += planning(effort)
    names = (
        f"Python {platform.python_version()}, {', '.join(sorted(versions))}, Ibis "
        f"{version('ibis-framework')}"
    )
    setting = (
        f"{names}; {platform.machine()}, {cores}; load average {load:.1f} before the run and "
        f"{os.getloadavg()[0]:.1f} after; best of {effort.rounds} rounds"
    )
    return Report(setting=setting, figures=tuple(figures))


def elsewhere(path: Path, rows: int, effort: Effort) -> tuple[list[Any], set[str]]:
    """Beside the plain queries of other engines: see bench/engines.py."""
    from engines import on_engines

    return on_engines(path, rows, effort.rounds)


def by_key(
    path: Path, rows: int, effort: Effort, python: Path | None
) -> tuple[list[Figure], set[str]]:
    """Count and sum by 1,000 public keys: each row a person; then users, of at most five rows."""
    large = rows > 10**7
    say(f"{rows:,} rows: count and sum by key, no unit")
    ours, plain = (
        Side(sys.executable, OURS, path, rows, "rows"),
        Side(sys.executable, OURS, path, rows, "plain"),
    )
    peer = Side(python, PEER, path, rows, "rows") if python else None
    turns((ours, plain, peer), effort.rounds, (2,) if large else ())
    say(f"{rows:,} rows: count and sum by key, users of at most five rows")
    bounded, truncated = (
        Side(sys.executable, OURS, path, rows, "unit"),
        Side(python, PEER, path, rows, "unit") if python else None,
    )
    turns((bounded, truncated), effort.rounds, (1,) if large else ())
    work = "count and sum by 1,000 public keys"
    users = f"{work}, a user counts for ≤ 5 rows"
    figures = [
        Figure(
            work=work,
            rows=rows,
            ours=ours.seconds,
            beside="plain DuckDB",
            other=plain.seconds,
            goal=2 if large else 3,
        ),
        Figure(
            work=work,
            rows=rows,
            ours=ours.seconds,
            beside="OpenDP",
            other=peer.seconds if peer else None,
            sense="≥",
            goal=10,
        ),
        Figure(
            work=users,
            rows=rows,
            ours=bounded.seconds,
            beside="OpenDP",
            other=truncated.seconds if truncated else None,
            sense="≥",
            goal=5 if large else 8,
        ),
        Figure(
            work=users,
            rows=rows,
            ours=bounded.peak,
            beside="OpenDP",
            other=truncated.peak if truncated else None,
            unit="MiB",
            goal=1 / 8,
        ),
        Figure(
            work=users, rows=rows, ours=bounded.seconds, beside="plain DuckDB", other=plain.seconds
        ),
    ]
    return figures, {f"DuckDB {ours.version}", f"OpenDP {peer.version if peer else 'not measured'}"}


def one_column(path: Path, rows: int, effort: Effort) -> tuple[list[Figure], set[str]]:
    """A median with its interval, from the file; and NumPy's, of an array that is in memory
    already.
    """
    say(f"{rows:,} rows: median")
    ours, numpy = (
        Side(sys.executable, OURS, path, rows, "median"),
        Side(sys.executable, OURS, path, rows, "numpy"),
    )
    turns((ours, numpy), effort.rounds)
    figure = Figure(
        work="median of a Parquet column, with its interval",
        rows=rows,
        ours=ours.seconds,
        beside="numpy.median",
        other=numpy.seconds,
        goal=2,
    )
    return [figure], {f"NumPy {version('numpy')}"}


def by_item(path: Path, rows: int, effort: Effort) -> tuple[list[Figure], set[str]]:
    """A count for each of very many keys, which are selected privately; and the same where they are
    public.
    """
    figures = []
    for about, suffix in (("", ""), (", a user counts for ≤ 5 rows", "-unit")):
        say(f"{rows:,} rows: {effort.items:,} keys{about}")
        private, public = (
            Side(sys.executable, OURS, path, rows, which + suffix, effort.items)
            for which in ("private", "public")
        )
        turns((private, public), min(effort.rounds, 3))
        work = f"count by {effort.items:,} private keys{about}"
        figures.append(
            Figure(
                work=work,
                rows=rows,
                ours=private.seconds,
                beside="the keys public",
                other=public.seconds,
                goal=2,
            )
        )
    return figures, set()


def planning(effort: Effort) -> list[Figure]:
    """From a query to everything that precedes reading: cost, error, the engine's statements as
    text. The first time; and again, with another ε.
    """
    say("planning")
    side = Side(sys.executable, OURS, "", 10**6, "plans")
    turns((side,), max(effort.rounds, 5))
    return [
        Figure(
            work=f"plan: {name}",
            rows=0,
            ours=1e3 * first,
            beside="asked again",
            other=1e3 * again,
            unit="ms",
            goal=PLAN_MS,
        )
        for name, (first, again) in side.plans.items()
    ]


def table(report: Report) -> list[list[str]]:
    """The rows of the table, head first."""
    head = ["work", "rows", "ours", "beside", "takes", "ratio", "goal", ""]
    return [head, *(line(figure) for figure in report.figures)]


def line(f: Figure) -> list[str]:
    rows = f"{f.rows:,}" if f.rows else "–"
    other = "–" if f.other is None else f"{significant(f.other)} {f.unit}"
    ratio = (
        "–"
        if f.ratio is None
        else f"{significant(f.ratio)}{' × faster' if f.sense == '≥' else ' ×'}"
    )
    goal = (
        "–"
        if f.goal is None
        else f"≤ {PLAN_MS} ms"
        if f.unit == "ms"
        else f"{f.sense} {'1/8' if f.goal == 1 / 8 else significant(f.goal)} ×"
    )
    return [
        f.work,
        rows,
        f"{significant(f.ours)} {f.unit}",
        f.beside,
        other,
        "–" if f.unit == "ms" else ratio,
        goal,
        f.verdict,
    ]


def as_text(report: Report) -> str:
    return f"{as_columns(table(report))}\n\n{report.setting}"


def as_markdown(report: Report) -> str:
    return f"{as_pipes(table(report), ('work', 'beside'))}\n\n{report.setting}."


def as_json(report: Report) -> str:
    figures: list[dict[str, Any]] = [
        asdict(figure) | {"ratio": figure.ratio, "verdict": figure.verdict}
        for figure in report.figures
    ]
    return json.dumps({"setting": report.setting, "figures": figures}, indent=2, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Speed of a protected table, beside the plain query, OpenDP and NumPy."
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        dest="effort",
        action="store_const",
        const=QUICK,
        help="10⁶ rows and three rounds: a glance, not a measurement",
    )
    size.add_argument(
        "--large",
        dest="effort",
        action="store_const",
        const=LARGE,
        help="10⁸ rows, too: needs some 15 GiB of memory, which OpenDP takes",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", dest="show", action="store_const", const=as_json, help="print JSON")
    form.add_argument(
        "--markdown",
        dest="show",
        action="store_const",
        const=as_markdown,
        help="print the table of docs/project/performance.md",
    )
    parser.set_defaults(show=as_text, effort=FULL)
    chosen = parser.parse_args()
    print(chosen.show(measure(chosen.effort)))


if __name__ == "__main__":
    main()
