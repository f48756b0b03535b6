"""How fast the noise is: ours, NumPy's (not secure) and OpenDP's (exact), drawn in turns on one
core, beside the goals.

*Draws*     Arrays of 10⁶: `mechanism.law.sample` against `Generator.laplace` and
            `Generator.normal`; OpenDP's integer vector mechanisms draw fewer and are compared by
            rate. One round is one array of each; on every side the best of the rounds counts, and
            ratios are of the bests.
*Figures*   Single calls, whole arrays through `perturb`, making a mechanism, importing the package.
*Peer*      OpenDP lives in an environment that is made here and removed at the end; where it cannot
            be installed it is left out, and that is said.

Nothing fails for being slow: the last column says what was met. `--markdown` prints the tables of
docs/project/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from peers import Process, beside, installed
from sfumato import mechanisms as mech
from telling import as_columns, as_pipes, pin, say, significant

SCALES = {"1": 1, "10": 10, "10⁶": 10**6, "2³⁰": 2**30, "10¹²": 10**12, "10¹⁵": 10**15}
REQUIRED = ("10", "2³⁰")
"""Scales at which the goals have to hold; the others are reported."""

MAKE: dict[str, Callable[[int], mech.Laplace | mech.Gaussian]] = {
    "Laplace": lambda scale: mech.Laplace(sensitivity=1, scale=scale),
    "Gaussian": lambda scale: mech.Gaussian(sensitivity=1, sigma=scale),
}
OF_NUMPY = {"Laplace": ("≥ 1", 1.0), "Gaussian": ("≥ 1/3", 1 / 3)}
OF_OPENDP = 100
SCALAR_US = 5
IMPORT_MS = 100

PEER = """
import sys, time
from importlib.metadata import version
import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
integers = dp.vector_domain(dp.atom_domain(T="i64"))
make = {
    "Laplace": lambda scale: dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale=scale),
    "Gaussian": lambda scale: dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), scale=scale),
}
print(version("opendp"), flush=True)
for line in sys.stdin:
    law, scale, count = line.split()
    mechanism, zeros = make[law](float(scale)), np.zeros(int(count), dtype=np.int64)
    start = time.perf_counter()
    mechanism(zeros)
    print(time.perf_counter() - start, flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured."""

    draws: int
    peer_draws: int
    rounds: int
    calls: int


FULL = Effort(draws=10**6, peer_draws=2 * 10**4, rounds=9, calls=10**5)
QUICK = Effort(draws=10**5, peer_draws=2 * 10**3, rounds=3, calls=10**4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """One law at one scale: nanoseconds per draw."""

    law: str
    scale: str
    ours: float
    numpy: float
    opendp: float | None

    @property
    def of_numpy(self) -> float:
        return self.numpy / self.ours

    @property
    def of_opendp(self) -> float | None:
        return None if self.opendp is None else self.opendp / self.ours

    @property
    def verdict(self) -> str:
        if self.scale not in REQUIRED:
            return "reported"
        if self.of_numpy < OF_NUMPY[self.law][1] or (
            self.of_opendp is not None and self.of_opendp < OF_OPENDP
        ):
            return "not met"
        return "met" if self.of_opendp is not None else "OpenDP not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, and the number it should stay below."""

    what: str
    value: float
    unit: str
    goal: int | None = None

    @property
    def verdict(self) -> str:
        return "reported" if self.goal is None else "met" if self.value < self.goal else "not met"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was measured, and where."""

    setting: str
    draws: tuple[Draws, ...]
    figures: tuple[Figure, ...]


def measure(effort: Effort) -> Report:
    cores, load = pin(), os.getloadavg()[0]
    with (
        installed("OpenDP", "opendp==0.16.*", f"numpy=={np.__version__}") as python,
        beside(python, PEER) as peer,
    ):
        draws = tuple(compare(law, scale, effort, peer) for law in MAKE for scale in SCALES)
        versions = (
            f"Python {platform.python_version()}, NumPy {np.__version__}, OpenDP "
            f"{peer.version if peer else 'not measured'}"
        )
    figures = (
        *single_calls(effort),
        *whole_arrays(effort),
        *constructions(effort),
        *fresh_starts(effort),
    )
    where = f"{platform.machine()}, {cores}, load average {load:.1f} before the run"
    setting = (
        f"{versions}; {where}; {effort.draws:,} draws an array, best of {effort.rounds} rounds"
    )
    return Report(setting=setting, draws=draws, figures=figures)


def compare(law: str, scale: str, effort: Effort, peer: Process | None) -> Draws:
    """One array of each in turns, after one of each that does not count."""
    say(f"{law}: scale {scale}")
    width, count = SCALES[scale], effort.draws
    sample, generator = MAKE[law](width).law.sample, np.random.default_rng()
    theirs = generator.laplace if law == "Laplace" else generator.normal
    rounds = []
    for _ in range(effort.rounds + 1):
        ours = seconds(partial(sample, count)) / count
        numpy = seconds(partial(theirs, 0.0, width, count)) / count
        rounds.append(
            (
                ours,
                numpy,
                float(peer.told(law, width, effort.peer_draws)) / effort.peer_draws
                if peer
                else 0.0,
            )
        )
    best = [1e9 * min(side) for side in zip(*rounds[1:], strict=True)]
    return Draws(
        law=law, scale=scale, ours=best[0], numpy=best[1], opendp=best[2] if peer else None
    )


def single_calls(effort: Effort) -> Iterator[Figure]:
    for law, make in MAKE.items():
        for scale in REQUIRED:
            took = per_call(partial(make(SCALES[scale]).perturb, 42), effort.calls, effort.rounds)
            yield Figure(
                what=f"{law}, scale {scale}: `perturb(42)`",
                value=1e6 * took,
                unit="µs",
                goal=SCALAR_US,
            )


def whole_arrays(effort: Effort) -> Iterator[Figure]:
    values = np.arange(effort.draws)
    for law, make in MAKE.items():
        for scale in REQUIRED:
            took = per_call(partial(make(SCALES[scale]).perturb, values), 1, effort.rounds)
            yield Figure(
                what=f"{law}, scale {scale}: `perturb` of {len(values):,} int64",
                value=1e3 * took,
                unit="ms",
            )


def constructions(effort: Effort) -> Iterator[Figure]:
    ways: dict[str, Callable[[], object]] = {
        "Laplace(sensitivity=1, epsilon=0.1)": lambda: mech.Laplace(sensitivity=1, epsilon=0.1),
        "Gaussian(sensitivity=1, sigma=10)": lambda: mech.Gaussian(sensitivity=1, sigma=10),
        "Gaussian(sensitivity=1, epsilon=1, delta=1e-6)": lambda: mech.Gaussian(
            sensitivity=1, epsilon=1, delta=1e-6
        ),
    }
    for what, make in ways.items():
        yield Figure(
            what=f"`{what}`",
            value=1e6 * per_call(make, effort.calls // 1000, effort.rounds),
            unit="µs",
        )


def fresh_starts(effort: Effort) -> Iterator[Figure]:
    """In new interpreters, where nothing has been imported or tabulated yet."""
    for before, timed, goal in (
        ("", "import numpy", None),
        ("import numpy", "import sfumato", IMPORT_MS),
        ("import numpy", "from sfumato import mechanisms", None),
        (
            "from sfumato import mechanisms as mech",
            "mech.Laplace(sensitivity=1, scale=10).perturb(42)",
            None,
        ),
        (
            "from sfumato import mechanisms as mech",
            "mech.Gaussian(sensitivity=1, sigma=10).perturb(42)",
            None,
        ),
    ):
        what = f"new process: `{timed}`" + (f" after `{before}`" if before else "")
        yield Figure(what=what, value=fresh(before, timed, effort.rounds), unit="ms", goal=goal)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def per_call(call: Callable[[], object], calls: int, rounds: int) -> float:
    """Seconds a call takes, the loop around it included; the best of the rounds, after one that
    does not count.
    """

    def many() -> None:
        for _ in range(calls):
            call()

    return min([seconds(many) for _ in range(rounds + 1)][1:]) / calls


def fresh(before: str, timed: str, rounds: int) -> float:
    """Milliseconds that a statement takes in a new interpreter, the median of the rounds."""
    script = (
        f"import time\n{before}\nstart = time.perf_counter()\n{timed}\n"
        f"print(time.perf_counter() - start)"
    )
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", script], check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(rounds + 1)
    ]
    return 1e3 * statistics.median(times[1:])


def tables(report: Report) -> Iterator[list[list[str]]]:
    """The rows of the two tables, heads first."""
    head = [
        "law",
        "scale",
        "ours, ns",
        "NumPy, ns",
        "OpenDP, ns",
        "× NumPy",
        "goal",
        "× OpenDP",
        "goal",
        "",
    ]
    rows = []
    for d in report.draws:
        goals = (OF_NUMPY[d.law][0], f"≥ {OF_OPENDP}") if d.scale in REQUIRED else ("–", "–")
        peer, of_peer = (
            ("–", "–")
            if d.opendp is None or d.of_opendp is None
            else (f"{d.opendp:,.0f}", f"{d.of_opendp:,.0f}")
        )
        rows.append(
            [
                d.law,
                d.scale,
                f"{d.ours:.1f}",
                f"{d.numpy:.1f}",
                peer,
                f"{d.of_numpy:.2f}",
                goals[0],
                of_peer,
                goals[1],
                d.verdict,
            ]
        )
    yield [head, *rows]
    head = ["what", "took", "goal", ""]
    yield [
        head,
        *(
            [
                f.what,
                f"{significant(f.value)} {f.unit}",
                f"< {f.goal} {f.unit}" if f.goal else "–",
                f.verdict,
            ]
            for f in report.figures
        ),
    ]


def as_text(report: Report) -> str:
    return "\n\n".join(
        [
            *(
                as_columns([[cell.replace("`", "") for cell in row] for row in rows])
                for rows in tables(report)
            ),
            report.setting,
        ]
    )


def as_markdown(report: Report) -> str:
    return "\n\n".join(
        [*(as_pipes(rows, ("law", "what")) for rows in tables(report)), f"{report.setting}."]
    )


def as_json(report: Report) -> str:
    def full(row: Draws | Figure, **more: Any) -> dict[str, Any]:
        return asdict(row) | more | {"verdict": row.verdict}

    draws = [
        full(
            d,
            width=SCALES[d.scale],
            required=d.scale in REQUIRED,
            of_numpy=d.of_numpy,
            of_opendp=d.of_opendp,
        )
        for d in report.draws
    ]
    return json.dumps(
        {"setting": report.setting, "draws": draws, "figures": [full(f) for f in report.figures]},
        indent=2,
        ensure_ascii=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the noise, beside NumPy's and OpenDP's.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a tenth of the draws and three rounds: a glance, not a measurement",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", dest="show", action="store_const", const=as_json, help="print JSON")
    form.add_argument(
        "--markdown",
        dest="show",
        action="store_const",
        const=as_markdown,
        help="print the tables of docs/project/performance.md",
    )
    parser.set_defaults(show=as_text)
    chosen = parser.parse_args()
    print(chosen.show(measure(QUICK if chosen.quick else FULL)))


if __name__ == "__main__":
    main()
