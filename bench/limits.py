"""How far answers are from the truth of the whole table, if limits are learned for the question,
and if they are learned for small groups.

*Data*      Invented, the same every time: units whose numbers of rows follow a power law, a
            log-normal law or a geometric law, with log-normal values or values on both sides of 0.
*Questions* COUNT(*), SUM(x) and AVG(x) of the whole table, each of a new table that has declared
            nothing. Learning costs a sixth of ε in addition.
*Error*     The root of the mean squared difference from the exact answer without any limit,
            relative to that answer: noise, and what the limits leave out. Beside it the ratio of
            the two rules, and the error with the best limits of all, chosen with the data in view.

Nothing fails for being inexact. `--markdown` prints the table for a page.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from telling import as_columns, as_pipes, say

RULES = ("groups", "question")
QUESTIONS = {"COUNT(*)": 1, "SUM(x)": 1, "AVG(x)": 2}
"""The questions, and the noisy numbers that each of them needs."""


@dataclass(frozen=True)
class World:
    """Units with their numbers of rows, and the values of all rows."""

    rows: NDArray[np.int64]
    values: NDArray[np.float64]

    @property
    def table(self) -> pa.Table:
        return pa.table({"u": np.repeat(np.arange(len(self.rows)), self.rows), "x": self.values})

    def truth(self, question: str) -> float:
        total = float(self.values.sum())
        count = len(self.values)
        return {"COUNT(*)": float(count), "SUM(x)": total, "AVG(x)": total / count}[question]


def worlds(units: int) -> dict[str, World]:
    """Invent the data."""
    rng = np.random.default_rng(27)

    def world(rows: NDArray[np.float64], values: Callable[[int], NDArray[np.float64]]) -> World:
        counts = np.minimum(np.ceil(rows), 5000).astype(np.int64)
        return World(counts, values(int(counts.sum())))

    def skewed(size: int) -> NDArray[np.float64]:
        return rng.lognormal(2, 1, size)

    def delays(size: int) -> NDArray[np.float64]:
        return np.round(rng.lognormal(2.5, 1.2, size) - 8)

    return {
        "Zipf rows (exponent 2.5), log-normal values": world(rng.pareto(1.5, units) + 1, skewed),
        "log-normal rows, log-normal values": world(rng.lognormal(2, 1, units), skewed),
        "log-normal rows, delays": world(rng.lognormal(3.5, 1, units), delays),
        "geometric rows, log-normal values": world(rng.geometric(0.25, units), skewed),
    }


def ask(world: World, question: str, epsilon: float, rule: str) -> float:
    """Ask a new table, and return the answer."""
    with sf.protect(world.table, name="t", unit="u", budget=10) as table:
        answer = table.sql(f"SELECT {question} AS a FROM t", epsilon=epsilon, learn_for=rule)
        return float(answer["a"][0])


def best_error(world: World, question: str, epsilon: float) -> float:
    """The least expected error of any limits that are powers of two, relative to the truth."""
    truth, parts = world.truth(question), QUESTIONS[question]
    sigma = math.sqrt(2) * parts / epsilon
    errors = []
    for k in (2**j for j in range(14)):
        weights = np.repeat(np.minimum(1, k / world.rows), world.rows)
        count = float(weights.sum())
        if question == "COUNT(*)":
            errors.append(math.hypot(count - truth, k * sigma))
            continue
        for high in (2**j for j in range(2, 13)):
            low = -min(high, 8 if world.values.min() < 0 else 0)
            total = float((weights * np.clip(world.values, low, high)).sum())
            noise = k * max(high, -low) * sigma
            if question == "SUM(x)":
                errors.append(math.hypot(total - truth, noise))
            else:
                errors.append(math.hypot(total / count - truth, noise / count))
    return min(errors) / abs(truth)


def main() -> None:
    """Measure all questions of all worlds by both rules."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--units", type=int, default=4000)
    options.add_argument("--times", type=int, default=12)
    options.add_argument("--markdown", action="store_true")
    chosen = options.parse_args()
    lines = [["table", "ε", "question", "for groups", "for the question", "ratio", "best of all"]]
    ratios = []
    for name, world in worlds(chosen.units).items():
        say(name)
        for epsilon in (0.3, 1.0):
            for question in QUESTIONS:
                truth = world.truth(question)
                old, new = (
                    math.sqrt(
                        np.mean(
                            [
                                (ask(world, question, epsilon, rule) / truth - 1) ** 2
                                for _ in range(chosen.times)
                            ]
                        )
                    )
                    for rule in RULES
                )
                ratios.append(new / old)
                best = best_error(world, question, epsilon)
                lines.append(
                    [
                        name,
                        f"{epsilon:g}",
                        question,
                        *(f"{100 * error:.2g} %" for error in (old, new)),
                        f"{new / old:.2f}",
                        f"{100 * best:.2g} %",
                    ]
                )
    words = ("table", "question")
    print(as_pipes(lines, words) if chosen.markdown else as_columns(lines))
    print(f"\ngeometric mean of the ratios: {math.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
