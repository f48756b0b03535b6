"""Tables that agree: errors beside the optimum and beside separate answers, time and coverage.

    python bench/workloads.py [--quick]

*Errors*    are arithmetic: root mean square of a cell at μ = 1 (ρ = 1/2) in a count of rows.
*Theirs*    ResidualPlanner's numbers, which were not run here.
*Optimum*   of any unbiased method with Gaussian noise: the closed form in docs/proofs/marginals.md.
*Separate*  every table measured by itself with an equal share of the budget.
*Equal*     equal shares, then least squares: for a ROLLUP that is a tree with equal noise on all of
            its levels.
*Fair*      the shares of a report: no table is worse than separate answers.
*Coverage*  exact noise of `noise.rounded_normal`, the estimate, and the interval of `noise`.
"""

from __future__ import annotations

import itertools
import resource
import sys
import time
from fractions import Fraction
from math import sqrt

import numpy as np

from sfumato.mechanisms import Gaussian
from sfumato.noise.many_draws import RoundingError
from sfumato.noise.weighted_sums import SumLaw, Term
from sfumato.tables.marginals.choose_shares import Shares, choose_shares
from sfumato.tables.marginals.parts import Domain, Keys, Reconciliation, closure
from sfumato.tables.marginals.reconcile import reconcile, round_together

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
SCALE = 1 << 10  # steps of a row
RESIDUAL_PLANNER = {"adult, ≤ 2 keys": 6.4111, "adult, ≤ 3 keys": 10.6650}
"""The root mean square error that ResidualPlanner's code reports (Xiao, He, Zhang & Kifer 2023),
run once on such a machine. Its noise is correlated, and it took 143 CPU s to reconcile the second.
"""


def ways(keys: int, most: int) -> list[Keys]:
    """All tables by at most so many keys."""
    return [each for size in range(most + 1) for each in itertools.combinations(range(keys), size)]


ROLLUP: list[Keys] = [(), (0,), (0, 1), (0, 1, 2)]
WORKLOADS: dict[str, tuple[tuple[int, ...], list[Keys]]] = {
    "CUBE(20, 12, 2)": ((20, 12, 2), ways(3, 3)),
    "ROLLUP(50, 60, 30)": ((50, 60, 30), ROLLUP),
    "CUBE(8, 2, 2, 63), PL94": ((8, 2, 2, 63), ways(4, 4)),
    "adult, ≤ 2 keys": (ADULT, ways(14, 2)),
    "adult, ≤ 3 keys": (ADULT, ways(14, 3)),
}


def optimum(domain: Domain, requested: list[Keys]) -> float:
    """The least root mean square error of any unbiased method."""
    total = 0.0
    for part in closure(requested):
        cost = float(domain.part_variance(part, part))
        worth = sum(
            domain.cells(keys) * float(domain.part_variance(keys, part))
            for keys in requested
            if set(part) <= set(keys)
        )
        total += sqrt(worth * cost)
    return total / sqrt(sum(map(domain.cells, requested)))


def equal(domain: Domain, requested: list[Keys]) -> float:
    """Equal shares for all tables, then least squares."""
    by = Reconciliation(domain, dict.fromkeys(requested, Fraction(1, len(requested))))
    total = sum(
        domain.cells(keys)
        * sum(
            float(domain.part_variance(keys, part) / by.precision_of(part))
            for part in closure([keys])
        )
        for keys in requested
    )
    return sqrt(total / sum(map(domain.cells, requested)))


def errors() -> None:
    """Print the errors of every workload."""
    heads = (
        "workload",
        "separate",
        "equal + LS",
        "fair",
        "sfumato",
        "optimum",
        "theirs",
        "of optimum",
        "gain",
        "s",
    )
    print("{:26}{:>10}{:>12}{:>8}{:>9}{:>9}{:>9}{:>12}{:>7}{:>7}".format(*heads))
    for name, (sizes, requested) in WORKLOADS.items():
        domain = Domain(sizes)
        started = time.process_time()
        shares = choose_shares(domain, requested)
        seconds = time.process_time() - started
        fair = choose_shares(domain, requested, fair=True).rms(domain)
        rms, best = shares.rms(domain), optimum(domain, requested)
        theirs = f"{RESIDUAL_PLANNER[name]:.3f}" if name in RESIDUAL_PLANNER else ""
        print(
            f"{name:26}{shares.apart:10.3f}{equal(domain, requested):12.3f}{fair:8.3f}{rms:9.3f}"
            f"{best:9.3f}{theirs:>9}{rms / best:12.4f}{shares.apart / rms:7.2f}{seconds:7.2f}"
        )


def mechanisms(shares: Shares) -> dict[Keys, Gaussian]:
    """The noise of the measured tables at μ = 1, on a grid of SCALE steps for a row."""
    return {
        keys: Gaussian(sensitivity=SCALE, sigma=Fraction(SCALE / sqrt(share)))
        for keys, share in shares.measured.items()
    }


def times() -> None:
    """Reconcile the tables of adult's ≤ 3 keys, and round them."""
    sizes, requested = WORKLOADS["adult, ≤ 3 keys"]
    domain = Domain(sizes)
    shares = choose_shares(domain, requested)
    noise = mechanisms(shares)
    started = time.process_time()
    noisy = {keys: each.law.sample(domain.shape(keys)) for keys, each in noise.items()}
    drawn = time.process_time()
    by = weigh(domain, noise)
    estimates = reconcile(noisy, by, requested)
    reconciled = time.process_time()
    rounded = round_together(estimates, SCALE)
    done = time.process_time()
    cells = sum(table.size for table in estimates.values())
    for keys in itertools.islice(reversed(requested), 20):
        for key in keys:
            rest = tuple(each for each in keys if each != key)
            assert (rounded[keys].sum(axis=keys.index(key)) == rounded[rest]).all()
    print(
        f"\nadult ≤ 3 keys: {cells:,} cells of {len(requested)} tables, {len(noise)} measured\n"
        f"CPU s: noise {drawn - started:.2f}, reconcile {reconciled - drawn:.2f}, round "
        f"{done - reconciled:.2f}; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"
    )


def weigh(domain: Domain, noise: dict[Keys, Gaussian]) -> Reconciliation:
    """Weigh tables by their inverse variances."""
    least = min(each.law.variance for each in noise.values())
    return Reconciliation(
        domain,
        {
            keys: Fraction(round(least / each.law.variance * 2**24), 2**24)
            for keys, each in noise.items()
        },
    )


def coverage(name: str, runs: int) -> None:
    """Say how often the 95 % intervals of all cells hold."""
    sizes, requested = WORKLOADS[name]
    domain = Domain(sizes)
    noise = mechanisms(choose_shares(domain, requested))
    by, halves = weigh(domain, noise), dict[Keys, int]()
    for keys in requested:
        terms: list[Term] = [
            (noise[each.measured].law, abs(each.weight), each.count) for each in by.noise_of(keys)
        ]
        terms.append((RoundingError(Fraction(2 ** max(len(keys), 1), 16)), Fraction(1), 1))
        halves[keys] = SumLaw(tuple(terms)).half_width(Fraction(19, 20))
    holds = cells = 0
    for _ in range(runs):
        noisy = {keys: each.law.sample(domain.shape(keys)) for keys, each in noise.items()}
        tables = reconcile(noisy, by, closure(requested))
        for keys, table in round_together(tables, 1 / 16).items():
            if keys in halves:
                holds += int((np.abs(table) <= halves[keys] * 16).sum())
                cells += table.size
    print(f"coverage, {name}: {holds / cells:.4%} of {cells:,} cells, nominal 95 %")


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    errors()
    times()
    coverage("CUBE(8, 2, 2, 63), PL94", 4 if quick else 200)
    coverage("CUBE(20, 12, 2)", 4 if quick else 1300)
    coverage("ROLLUP(50, 60, 30)", 1 if quick else 11)
