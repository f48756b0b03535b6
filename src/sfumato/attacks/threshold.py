"""How much noise it takes to hide a column from reconstruction: about √n, whatever n is.

*Curve*    For each size n and each noise of standard deviation c·√n: the share of bits that come
           out wrong from 4n random counts. With that many answers, least squares is wrong with a
           chance of about Φ(−√(3n)/(4·c·√n)) = Φ(−√3/(4c)), the same for every n: noise has to grow
           like √n, or all is told.
*Private*  All counts together at ε, for coins of n people each time. *Bound*: e^ε/(1 + e^ε) for
           each bit (`repeated_releases`, *Many*).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, positive
from ..noise.bits import SYSTEM, Bits
from . import attack_refusals as refusals
from .lib.attack_result import EPSILONS, GameResult, check_count, check_epsilons
from .lib.attack_text import per_cent
from .lib.repeated_releases import draw_coins, play_game
from .reconstruct import Method, approximate_error, reconstruct, subset_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (32, 64, 128)
LEVELS: tuple[Number, ...] = ("0.05", "0.1", "0.15", "0.2", "0.3", "0.5", "0.75", 1, "1.5", 2, 4)
PER_PERSON = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseThreshold(GameResult):
    """The share of wrong bits, by the size of the noise in units of √n, for several n."""

    sizes: tuple[int, ...]
    levels: tuple[float, ...]
    wrong: NDArray[np.float64]  # sizes × levels
    method: Method
    runs: int
    people: int  # in the runs against private answers

    @property
    def expected(self) -> NDArray[np.float64]:
        """The approximate share of bits that least squares gets wrong, at each level."""
        n = 100
        return np.array(
            [approximate_error(n, PER_PERSON * n, level * math.sqrt(n)) for level in self.levels]
        )

    @property
    def numbers(self) -> dict[str, float | int]:
        return {
            f"wrong, n = {n}, noise {c:g}·√n": float(self.wrong[i, j])
            for i, n in enumerate(self.sizes)
            for j, c in enumerate(self.levels)
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        least, most = 0, len(self.levels) - 1
        spans = [
            (n, per_cent(1 - float(self.wrong[i, least])), per_cent(1 - float(self.wrong[i, most])))
            for i, n in enumerate(self.sizes)
        ]
        by_size = tuple(
            f"Of {n} people, asked {PER_PERSON * n} counts: with noise of "
            f"{self.levels[least]:g}·√n {first} of the secrets come out right, "
            f"with noise of {self.levels[most]:g}·√n {last}."
            for n, first, last in spans
        )
        law = (
            "The curves for different numbers of people lie on each other: what counts is "
            "the noise beside √n. Much less than that protects nobody."
        )
        return (*by_size, law, *self.verdicts)

    def plot(self) -> Figure:
        from .plots.reconstruct_plot import draw_threshold

        return draw_threshold(self)


def threshold(
    sizes: Sequence[int] = SIZES,
    levels: Sequence[Number] = LEVELS,
    *,
    method: Method = "least squares",
    runs: int = 20,
    people: int = 64,
    epsilons: Sequence[Number] = EPSILONS,
    seed: int = 0,
    bits: Bits = SYSTEM,
) -> NoiseThreshold:
    """Reconstruct coins of n people from 4n counts with more and more noise, and from private
    counts.
    """
    many, n = check_count(runs, "runs"), check_count(people, "people", 2)
    losses = check_epsilons(epsilons)
    for name, values, example in (("sizes", sizes, (32, 64)), ("levels", levels, (0.1, 1))):
        if isinstance(values, str) or not isinstance(values, Collection) or not len(values):
            raise refusals.NOT_A_LIST_OF_NUMBERS(name=name, value=values, example=example)
    counts = tuple(check_count(size, "sizes", 2) for size in sizes)
    scales = tuple(float(positive(level, "levels")) for level in levels)
    wrong = np.array(
        [[_wrong(size, level, many, method, seed) for level in scales] for size in counts]
    )

    def game(epsilon: Fraction | None) -> NDArray[np.bool_]:
        right = []
        for run in range(many):
            answers = subset_counts(
                draw_coins(n, bits),
                PER_PERSON * n,
                epsilon=epsilon,
                tossed=True,
                seed=seed + run,
                bits=bits,
            )
            right.append(reconstruct(answers, method=method).guess == answers.truth)
        return np.concatenate(right)

    return NoiseThreshold(
        sizes=counts,
        levels=scales,
        wrong=wrong,
        method=method,
        runs=many,
        people=n,
        played=play_game(game, losses),
    )


def _wrong(size: int, level: float, runs: int, method: Method, seed: int) -> float:
    adversary = np.random.default_rng(seed)  # the secrets of these runs are nobody's
    shares = []
    for run in range(runs):
        answers = subset_counts(
            adversary.integers(0, 2, size),
            PER_PERSON * size,
            sd=level * math.sqrt(size),
            tossed=True,
            seed=seed + 1 + run,
        )
        shares.append((reconstruct(answers, method=method).wrong or 0) / size)
    return float(np.mean(shares))
