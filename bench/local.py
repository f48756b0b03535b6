"""How fast the local model is: clients and server together, beside pure-ldp, with the goals.

*Work*      n people with values among k, uneven; every value becomes a report, every report is
            counted, every frequency is estimated. ε = 1. Ours include the wire format, and a check
            of every report; bits are the operating system's. pure-ldp draws from NumPy's and
            Python's generators.
*Sides*     Each is a process of its own. Ours does all people, several times, and the best counts.
            pure-ldp works person by person, so a part of the people is measured and the time per
            person multiplied; how many is said. Its estimate of all values is made once and added
            as it is.
*pure-ldp*  lives in an environment that is made here and removed at the end; where it cannot be
            installed it is left out, and that is said.

Nothing fails for being slow: the last column says what was met. `--markdown` prints the table of
docs/guides/local.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from peers import installed
from telling import as_columns, as_pipes, say

PURE_LDP = ("pure-ldp==1.2.*", "xxhash<4", "scikit-learn", "statsmodels")
"""With what it needs and does not declare."""

OURS = """
import json, sys, time
import numpy as np
from sfumato import local

what, n, k, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
values = (k * np.random.default_rng(1).random(n) ** 2).astype(np.int64)
oracle = {"Unary": local.Unary, "Hashing": local.Hashing}[what](epsilon=1, categories=range(k))
best = None
for _ in range(rounds):
    start = time.perf_counter()
    reports = oracle.perturb(values)
    sent = time.perf_counter()
    frequencies = oracle.estimate(reports).frequencies
    done = time.perf_counter()
    best = min(best or (1e9, 0, 0), (done - start, sent - start, done - sent))
off = float(np.sqrt(((frequencies - np.bincount(values, minlength=k) / n) ** 2).mean()))
print(json.dumps({"seconds": best[0], "clients": best[1], "server": best[2], "error": off}))
"""

PEER = """
import json, sys, time, warnings
import numpy as np
from pure_ldp.frequency_oracles import UEClient, UEServer, LHClient, LHServer

warnings.simplefilter("ignore")
what, n, k, some = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
values = ((k * np.random.default_rng(1).random(n) ** 2).astype(np.int64) + 1).tolist()[:some]
if what == "Unary":
    client, server = UEClient(epsilon=1, d=k, use_oue=True), UEServer(epsilon=1, d=k, use_oue=True)
else:
    client, server = LHClient(epsilon=1, d=k, use_olh=True), LHServer(epsilon=1, d=k, use_olh=True)
start = time.perf_counter()
reports = [client.privatise(value) for value in values]
sent = time.perf_counter()
for report in reports:
    server.aggregate(report)
counted = time.perf_counter()
server.estimate_all(range(1, k + 1), suppress_warnings=True)
done = time.perf_counter()
each = n / some
answer = {
    "seconds": (counted - start) * each + done - counted,
    "clients": (sent - start) * each,
    "server": (counted - sent) * each + done - counted,
}
print(json.dumps(answer))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One comparison: an oracle, people and values; how many people of the peer are measured, and
    the goal.
    """

    oracle: str
    people: int
    values: int
    measured: int
    goal: float


FULL = (
    Case(oracle="Unary", people=10**6, values=100, measured=50_000, goal=10),
    Case(oracle="Hashing", people=10**6, values=100, measured=20_000, goal=10),
    Case(oracle="Hashing", people=10**5, values=1000, measured=3_000, goal=20),
)
QUICK = tuple(
    Case(
        oracle=case.oracle,
        people=case.people // 10,
        values=case.values,
        measured=case.measured // 10,
        goal=case.goal,
    )
    for case in FULL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What was measured: seconds of clients and server together."""

    case: Case
    ours: dict[str, float]
    other: dict[str, float] | None

    @property
    def ratio(self) -> float | None:
        return None if self.other is None else self.other["seconds"] / self.ours["seconds"]

    @property
    def verdict(self) -> str:
        return (
            "not measured"
            if self.ratio is None
            else "met"
            if self.ratio >= self.case.goal
            else "not met"
        )


def run(python: str | Path, script: str, *arguments: object) -> dict[str, float]:
    done = subprocess.run(
        [str(python), "-c", script, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def measure(cases: tuple[Case, ...], rounds: int, peer: Path | None) -> list[Figure]:
    figures = []
    for case in cases:
        say(f"{case.oracle}: {case.people:,} people × {case.values} values")
        ours = run(sys.executable, OURS, case.oracle, case.people, case.values, rounds)
        other = (
            None
            if peer is None
            else run(peer, PEER, case.oracle, case.people, case.values, case.measured)
        )
        figures.append(Figure(case=case, ours=ours, other=other))
    return figures


HEADINGS = (
    "oracle",
    "people × values",
    "ours: clients + server",
    "pure-ldp",
    "of that measured",
    "times faster",
    "goal",
    "",
)


def cells(figure: Figure) -> tuple[str, ...]:
    case, ours = figure.case, figure.ours
    other = "not measured" if figure.other is None else f"{figure.other['seconds']:.1f} s"
    work = f"{case.people:,} × {case.values:,}"
    took = f"{ours['clients']:.2f} + {ours['server']:.2f} s"
    ratio = "" if figure.ratio is None else f"{figure.ratio:.0f}"
    return (
        case.oracle,
        work,
        took,
        other,
        f"{case.measured:,} people",
        ratio,
        f"≥ {case.goal:g}",
        figure.verdict,
    )


def as_text(figures: list[Figure], setting: str) -> str:
    return f"{as_columns([HEADINGS, *map(cells, figures)])}\n{setting}"


def as_markdown(figures: list[Figure], setting: str) -> str:
    return f"{as_pipes([HEADINGS, *map(cells, figures)], HEADINGS)}\n\n{setting}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Clients and server of the local model, beside pure-ldp."
    )
    parser.add_argument(
        "--quick",
        dest="cases",
        action="store_const",
        const=QUICK,
        default=FULL,
        help="a tenth of the people",
    )
    parser.add_argument(
        "--markdown",
        dest="show",
        action="store_const",
        const=as_markdown,
        default=as_text,
        help="print the table of docs/guides/local.md",
    )
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    load = os.getloadavg()[0]
    with installed("pure-ldp", *PURE_LDP) as peer:
        figures = measure(chosen.cases, chosen.rounds, peer)
    setting = (
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        f"load average {load:.1f} before and {os.getloadavg()[0]:.1f} after"
    )
    print(
        chosen.show(figures, f"{setting}; ours the best of {chosen.rounds} rounds, pure-ldp one.")
    )


if __name__ == "__main__":
    main()
