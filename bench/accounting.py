"""How tight and how fast certified composition is, beside dp-accounting's PLDAccountant and
prv-accountant, in turns on one core.

*Cases*     Five schedules. (i) and (iv) have a closed form; (ii), (iii) and (v) have none. Ours
            gives both bounds, dp-accounting an upper one, prv-accountant an interval with an
            ε-error of 0.01. Where one of them fails, the table says with what.
*Goals*     Our interval is no wider than 10⁻⁴ of ε; our upper bound is at most dp-accounting's
            times 1 + 10⁻⁶; our time is at most a tenth of its.
*Peers*     live in an environment that is made here and removed at the end; where they cannot be
            installed they are left out, and that is said.

Nothing fails for being slow: the last column says what was met. `--markdown` prints the table of
docs/guides/budgets/accounting.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

import sfumato as sf
from peers import Process, beside, installed
from sfumato import mechanisms as mech
from sfumato.accounting.loss import loss_curve, loss_pairs
from telling import as_columns, as_pipes, pin, say

GRID = 2**-20


def _laplace(scale: int) -> mech.Laplace:
    return mech.Laplace(sensitivity=1, scale=scale, grid=GRID)


CASES: dict[str, tuple[str, Callable[[], list[Any]], str]] = {
    "i": (
        "10⁴ Gaussian, σ = 100",
        lambda: [(mech.Gaussian(sensitivity=1, sigma=100), 10_000)],
        "1e-6",
    ),
    "ii": (
        "10⁴ Gaussian, σ = 1, sampled at 0.001",
        lambda: [(mech.Gaussian(sensitivity=1, sigma=1).subsample("0.001"), 10_000)],
        "1e-6",
    ),
    "iii": (
        "1000 Laplace, b = 50, and 1000 Gaussian, σ = 50",
        lambda: [(_laplace(50), 1000), (mech.Gaussian(sensitivity=1, sigma=50), 1000)],
        "1e-8",
    ),
    "iv": (
        "100 randomized responses, ε = 0.1",
        lambda: [(mech.RandomizedResponse(epsilon="0.1"), 100)],
        "1e-6",
    ),
    "v": (
        "50 Laplace, b = 10, 1000 Gaussian, σ = 1, sampled at 0.01, and 10 responses, ε = 0.1",
        lambda: [
            (_laplace(10), 50),
            (mech.Gaussian(sensitivity=1, sigma=1).subsample("0.01"), 1000),
            (mech.RandomizedResponse(epsilon="0.1"), 10),
        ],
        "1e-6",
    ),
}
"""Name to: what it is, the schedule, δ."""

WIDE, ABOVE, TENTH = 1e-4, 1e-6, 0.1

PEER = """
import json, math, sys, time
import warnings
warnings.filterwarnings("ignore")
from importlib.metadata import version
import dp_accounting as dpa
from dp_accounting.pld import pld_privacy_accountant as P
from dp_accounting.pld import privacy_loss_distribution as pld
from prv_accountant import GaussianMechanism, LaplaceMechanism, PRVAccountant, PureDPMechanism
from prv_accountant import PoissonSubsampledGaussianMechanism as SampledGaussian

G, L, S = dpa.GaussianDpEvent, dpa.LaplaceDpEvent, dpa.PoissonSampledDpEvent
EVENTS = {
    "i": ([(G(100), 10000)], 0, 1e-6),
    "ii": ([(S(0.001, G(1)), 10000)], 0, 1e-6),
    "iii": ([(L(50), 1000), (G(50), 1000)], 0, 1e-8),
    "iv": ([], 100, 1e-6),
    "v": ([(L(10), 50), (S(0.01, G(1)), 1000)], 10, 1e-6),
}
PRV = {
    "i": ([GaussianMechanism(noise_multiplier=100)], [10000], 20),
    "ii": ([SampledGaussian(sampling_probability=0.001, noise_multiplier=1)], [10000], 10),
    "iii": (
        [LaplaceMechanism(mu=1 / 50), GaussianMechanism(noise_multiplier=50)],
        [1000, 1000],
        15,
    ),
    "iv": ([PureDPMechanism(0.1)], [100], 12),
    "v": (
        [
            LaplaceMechanism(mu=1 / 10),
            SampledGaussian(sampling_probability=0.01, noise_multiplier=1),
            PureDPMechanism(0.1),
        ],
        [50, 1000, 10],
        15,
    ),
}

def response(epsilon):
    truth = 1 / (1 + math.exp(-epsilon))
    return pld.from_randomized_response(2 * (1 - truth), 2, value_discretization_interval=1e-4)

def dp(case):
    events, responses, delta = EVENTS[case]
    start = time.perf_counter()
    if responses and not events:
        found = response(0.1).self_compose(responses).get_epsilon_for_delta(delta)
    else:
        accountant = P.PLDAccountant()
        for event, count in events:
            accountant.compose(event, count)
        if responses:
            total = accountant._pld.compose(response(0.1).self_compose(responses))
            found = total.get_epsilon_for_delta(delta)
        else:
            found = accountant.get_epsilon(delta)
    return [found, time.perf_counter() - start]

def prv(case):
    mechanisms, counts, most = PRV[case]
    start = time.perf_counter()
    accountant = PRVAccountant(
        prvs=mechanisms,
        max_self_compositions=counts,
        eps_error=0.01,
        delta_error=1e-10,
        eps_max=most,
    )
    low, _, high = accountant.compute_epsilon(delta=EVENTS[case][2], num_self_compositions=counts)
    return [low, high, time.perf_counter() - start]

names = ("dp-accounting", "prv-accountant")
print(", ".join(f"{name} {version(name)}" for name in names), flush=True)
for line in sys.stdin:
    which, case = line.split()
    try:
        print(json.dumps(dp(case) if which == "dp" else prv(case)), flush=True)
    except Exception as error:
        print(json.dumps(type(error).__name__), flush=True)
        print(f"{which} {case}: {error!r}", file=sys.stderr)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case: our bounds and time, and the peers'."""

    case: str
    low: float
    high: float
    ms: float
    dp: float | None
    dp_ms: float | None
    prv: tuple[float, float] | None
    prv_ms: float | None
    failed: dict[str, str]
    """A peer that failed, and with what."""

    @property
    def wide(self) -> float:
        return (self.high - self.low) / self.high

    @property
    def verdict(self) -> str:
        missed = ["width"] if self.wide > WIDE else []
        if self.dp is not None and self.dp_ms is not None:
            missed += ["upper"] if self.high > self.dp * (1 + ABOVE) else []
            missed += ["time"] if self.ms > TENTH * self.dp_ms else []
        return "met" if not missed else f"not met: {', '.join(missed)}"


def measure(rounds: int, ready: str | None) -> tuple[str, list[Row]]:
    cores, load = pin(), os.getloadavg()[0]
    with (
        nullcontext(ready)
        if ready
        else installed("peers", "dp-accounting==0.6.*", "prv-accountant==0.2.*") as python,
        beside(python, PEER, quiet=True) as peer,
    ):
        rows = [compare(case, rounds, peer) for case in CASES]
        versions = (
            f"Python {platform.python_version()}, NumPy {np.__version__}, "
            f"{peer.version if peer else 'peers not measured'}"
        )
    return (
        (
            f"{versions}; {platform.machine()}, {cores}, load average {load:.1f} before the "
            f"run; best of {rounds} rounds"
        ),
        rows,
    )


def compare(case: str, rounds: int, peer: Process | None) -> Row:
    """One of each in turns, after one that does not count; of each side the best counts."""
    say(f"({case}) {CASES[case][0]}")
    ours, theirs, prvs = [], [], []
    for _ in range(rounds + 1):
        ours.append(certify(case))
        if peer is not None:
            theirs.append(json.loads(peer.told("dp", case)))
            prvs.append(json.loads(peer.told("prv", case)))
    low, high, seconds = min(ours[1:], key=lambda r: r[2])
    failed = {
        name: f"failed: {answers[-1]}"
        for name, answers in (("dp", theirs), ("prv", prvs))
        if answers and isinstance(answers[-1], str)
    }
    dp = min((r for r in theirs[1:] if not isinstance(r, str)), key=lambda r: r[1], default=None)
    prv = min((r for r in prvs[1:] if not isinstance(r, str)), key=lambda r: r[2], default=None)
    return Row(
        case=case,
        low=low,
        high=high,
        ms=1e3 * seconds,
        dp=dp[0] if dp else None,
        dp_ms=1e3 * dp[1] if dp else None,
        prv=(prv[0], prv[1]) if prv else None,
        prv_ms=1e3 * prv[2] if prv else None,
        failed=failed,
    )


def certify(case: str) -> tuple[float, float, float]:
    """Both bounds from the mechanisms on, nothing kept from before."""
    _, schedule, delta = CASES[case]
    steps = schedule()
    for kept in (loss_curve.deltas, loss_curve.epsilons, loss_pairs.laws_of):
        kept.cache_clear()
    start = time.perf_counter()
    total = sf.compose(steps)
    low, high = total.epsilon_lower(delta), total.epsilon(delta)
    return low, high, time.perf_counter() - start


def table(rows: list[Row]) -> list[list[str]]:
    head = [
        "case",
        "lower",
        "upper",
        "width/ε",
        "ms",
        "dp-accounting",
        "ms",
        "ratio",
        "prv-accountant",
        "ms",
        "",
    ]
    body = []
    for r in rows:
        dp = (
            (f"{r.dp:.7g}", f"{r.dp_ms:.0f}", f"{r.dp_ms / r.ms:.0f}×")
            if r.dp is not None and r.dp_ms is not None
            else (r.failed.get("dp", "–"), "–", "–")
        )
        prv = (
            (f"{r.prv[0]:.4f} … {r.prv[1]:.4f}", f"{r.prv_ms:.0f}")
            if r.prv is not None
            else (r.failed.get("prv", "–"), "–")
        )
        body.append(
            [
                f"({r.case})",
                f"{r.low:.7f}",
                f"{r.high:.7f}",
                f"{r.wide:.1e}",
                f"{r.ms:.2g}",
                *dp,
                *prv,
                r.verdict,
            ]
        )
    return [head, *body]


def as_text(setting: str, rows: list[Row]) -> str:
    return "\n".join(
        [
            as_columns(table(rows)),
            "",
            *(f"({case}) {what} at δ = {delta}" for case, (what, _, delta) in CASES.items()),
            "",
            setting,
        ]
    )


def as_markdown(setting: str, rows: list[Row]) -> str:
    return f"{as_pipes(table(rows), ('case',))}\n\n{setting}."


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Certified composition beside dp-accounting and prv-accountant."
    )
    parser.add_argument(
        "--quick", action="store_true", help="two rounds: a glance, not a measurement"
    )
    parser.add_argument(
        "--peers", metavar="PYTHON", help="an interpreter that has the peers already"
    )
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="print the table of docs/guides/budgets/accounting.md",
    )
    chosen = parser.parse_args()
    setting, rows = measure(2 if chosen.quick else 7, chosen.peers)
    print((as_markdown if chosen.markdown else as_text)(setting, rows))


if __name__ == "__main__":
    main()
