"""Membership from published means: was this person among those whose averages were published?
(S-148)

*Attack*      Homer et al. 2008, on allele frequencies of a study. The attacker has the person's own
              variants x, the frequencies p of the population and the published means f of n people
              at m positions. A member pulls every mean towards themselves by 1/n; over m positions
              that adds up.
*Scores*      "likelihood": Σ x·ln(f/p) + (1 − x)·ln((1 − f)/(1 − p)) (Sankararaman et al. 2009).
              "distance": Σ |x − p| − |x − f| (Homer). "product": Σ (x − p)·(f − p)/(p·(1 − p)).
*Separation*  The mean score of members lies about √(m/n) standard deviations above that of others:
              3.16 for m = 10,000 and n = 1000.
*Against*     A fair coin puts the person into the pool, or somebody else in their place (replace).
              All m sums are released at once; changing one person moves them by m in all, so each
              gets Laplace noise of scale m/ε; with `delta`, Gaussian noise for √m. The attacker
              knows the law of the noise. Allowed: (e^ε + δ)/(1 + e^ε) by the guarantee, whatever
              the score, and whatever else is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number, ceil_sqrt, shown
from ..functions.privatize import privatize
from ..guarantees import Guarantee
from ..noise.bits import SYSTEM, Bits
from .data.genomes import Genomes, known_genomes
from .lib.attack_result import EPSILONS, Result, Success, guess_bound, known_count, known_epsilons
from .lib.attack_text import named, per_cent
from .lib.roc import Roc, roc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Real = NDArray[np.float64]
# frequencies nearer to 0 or 1 are taken for this: a logarithm of zero would decide everything
_LEAST = 1e-3


def _likelihood(f: Real, p: Real) -> tuple[Real, float]:
    one, zero = np.log(f / p), np.log((1 - f) / (1 - p))
    return one - zero, float(zero.sum())


def _distance(f: Real, p: Real) -> tuple[Real, float]:
    return 2 * (f - p), float((p - f).sum())


def _product(f: Real, p: Real) -> tuple[Real, float]:
    weights = (f - p) / (p * (1 - p))
    return weights, -float((weights * p).sum())


SCORES: Mapping[str, Callable[[Real, Real], tuple[Real, float]]] = {
    "likelihood": _likelihood,
    "distance": _distance,
    "product": _product,
}
"""Name → weights w and constant c of the score w·x + c, from the published means and the
frequencies of the population: all are straight in zeros and ones.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Membership(Result):
    """Scores of people who are in the pool, and of people who are not."""

    pool: NDArray[np.int8]
    outside: NDArray[np.int8]
    frequencies: Real
    score: str
    inside_scores: Real
    outside_scores: Real

    @property
    def n(self) -> int:
        """How many people the means are of."""
        return int(self.pool.shape[0])

    @property
    def m(self) -> int:
        """How many means are published."""
        return int(self.pool.shape[1])

    @property
    def expected(self) -> float:
        """√(m/n)."""
        return float(np.sqrt(self.m / self.n))

    @property
    def separation(self) -> float:
        """By how many standard deviations the mean score of members is above that of others."""
        return float(
            (self.inside_scores.mean() - self.outside_scores.mean())
            / self.outside_scores.std(ddof=1)
        )

    @property
    def roc(self) -> Roc:
        """Every threshold at once, for the exact means."""
        return roc(self.inside_scores, self.outside_scores)

    @property
    def numbers(self) -> dict[str, float | int]:
        curve = self.roc
        found = {
            f"found at {per_cent(alarms)} false alarms": float(curve.at(np.array([alarms]))[0])
            for alarms in (0.01, 0.05)
        }
        return {
            "n": self.n,
            "m": self.m,
            "expected": self.expected,
            "separation": self.separation,
            "area": curve.area,
        } | found

    @property
    def sentences(self) -> tuple[str, ...]:
        curve = self.roc
        return (
            (
                f"From {self.m} means of {self.n} people, members stand out by "
                f"{self.separation:.3g} standard deviations; √(m/n) is {self.expected:.3g}."
            ),
            (
                f"With one false alarm in a hundred, "
                f"{per_cent(float(curve.at(np.array([0.01]))[0]))} of the members are found."
            ),
            (
                f"A member has the higher score than somebody else in {per_cent(curve.area)} "
                f"of all pairs."
            ),
        )

    def plot(
        self,
        epsilons: Sequence[Number] = (1, 5),
        *,
        trials: int = 500,
        seed: int = 0,
        bits: Bits = SYSTEM,
    ) -> Figure:
        """Found against false alarms: for the exact means, and for private ones."""
        from ..plots import Graph, graphs

        at = np.linspace(0, 1, 201)
        curves = {"exact means": self.roc.at(at)} | {
            named(epsilon): self.curve(epsilon, trials=trials, seed=seed, bits=bits).at(at)
            for epsilon in epsilons
        }
        curves["guessing alone"] = at
        graph = Graph(
            title=f"{self.m} means of {self.n} people",
            x=at,
            curves=curves,
            across="false alarms",
            up="members found",
        )
        return graphs([graph], title="Was this person among them?")

    def curve(
        self,
        epsilon: Number,
        *,
        delta: Number | None = None,
        trials: int = 500,
        seed: int = 0,
        bits: Bits = SYSTEM,
    ) -> Roc:
        """Every threshold at once, for private means: one release for each trial."""
        (wanted,) = known_epsilons([epsilon])
        scores, there, _ = self._played(wanted, delta, known_count(trials, "trials", 2), seed, bits)
        return roc(scores[there], scores[~there])

    def against(
        self,
        epsilons: Sequence[Number] = EPSILONS,
        *,
        delta: Number | None = None,
        trials: int = 400,
        seed: int = 0,
        bits: Bits = SYSTEM,
    ) -> tuple[Success, ...]:
        """How often the attacker tells whether the person is in the pool: from exact means, and
        from private ones.
        """
        wanted, many = known_epsilons(epsilons), known_count(trials, "trials")
        found = []
        for epsilon in (None, *wanted):
            scores, there, promise = self._played(epsilon, delta, many, seed, bits)
            against, bound = (
                ("exact means", None)
                if epsilon is None or promise is None
                else (named(epsilon), guess_bound(promise))
            )
            found.append(
                Success(
                    against=against,
                    hits=int(((scores > 0) == there).sum()),
                    trials=many,
                    chance=0.5,
                    promise=promise,
                    bound=bound,
                )
            )
        return tuple(found)

    def _played(
        self, epsilon: Fraction | None, delta: Number | None, trials: int, seed: int, bits: Bits
    ) -> tuple[Real, NDArray[np.bool_], Guarantee | None]:
        """The scores of so many people, each after a release of its own; whether they were in; and
        what was promised. Above zero speaks for being in.
        """
        generator = np.random.default_rng(seed)
        p, size = self.frequencies, self.n
        sums = self.pool[1:].sum(axis=0, dtype=np.int64)
        there = generator.integers(0, 2, trials) == 1
        scores, promise = np.empty(trials), None
        for trial, own in enumerate(there):
            target, other = generator.choice(len(self.outside), 2, replace=False)
            whole = sums + self.outside[target if own else other]
            spread = 0.0
            if epsilon is not None:
                released = privatize(
                    _as_given,
                    whole,
                    size=self.m,
                    relation="replace",
                    bits=bits,
                    **_noise(self.m, epsilon, delta),
                )
                whole, promise = np.asarray(released.value), released.promise
                spread = (
                    released.error(0.95) ** 2 / 4
                )  # a variance, roughly: any weights make a fair attack
            x = self.outside[target] - p
            weights = 1 / (size * p * (1 - p) + spread)
            scores[trial] = (weights * x * (whole - size * p)).sum() - (weights * x * x).sum() / 2
        return scores, there, promise


def membership(people: Any, *, pool: int | None = None, score: str = "likelihood") -> Membership:
    """What the means of a pool say about who is in it: half of the people, or the first `pool` of
    them.

    `people` are `genomes(…)`, a matrix of zeros and ones, or a table of such columns. Without known
    frequencies, half of those outside the pool stand for the population. For owners, on their own
    data: the result is not private.
    """
    if score not in SCORES:
        raise Refused(
            "attacks.variant",
            f"score={shown(score)}",
            f"a score is one of {', '.join(SCORES)}",
            'score="likelihood"',
        )
    found: Genomes = known_genomes(people)
    size = found.people // 2 if pool is None else known_count(pool, "pool")
    rest = found.people - size
    if size < 2 or rest < (2 if found.frequencies is not None else 3):
        raise Refused(
            "attacks.trials",
            f"pool={size} of {found.people}",
            "two or more people are in the pool, and a few are outside",
            f"pool={found.people // 2}",
        )
    aside = 0 if found.frequencies is not None else rest // 2
    inside, reference, outside = np.split(found.bits, [size, size + aside])
    p = found.frequencies if found.frequencies is not None else reference.mean(axis=0)
    p, f = np.clip(p, _LEAST, 1 - _LEAST), np.clip(inside.mean(axis=0), _LEAST, 1 - _LEAST)
    weights, constant = SCORES[score](f, p)
    scores = [rows @ weights + constant for rows in (inside, outside)]
    if float(np.ptp(scores[1])) <= 1e-12 * float(np.abs(scores[1]).max()):
        raise Refused(
            "attacks.values",
            "people",
            "those outside the pool all look the same, so nobody stands out among them",
            "people with different variants",
        )
    return Membership(
        pool=inside,
        outside=outside,
        frequencies=p,
        score=score,
        inside_scores=scores[0],
        outside_scores=scores[1],
    )


def _noise(m: int, epsilon: Fraction, delta: Number | None) -> dict[str, Any]:
    """Promise and sensitivity of m sums of zeros and ones, one person being replaced: m in all, √m
    in length.
    """
    if delta is None:
        return {"epsilon": epsilon, "sensitivity": m}
    return {
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": Fraction(ceil_sqrt(Fraction(m * 4**20)), 2**20),
    }


def _as_given(sums: Any) -> Any:
    return sums
