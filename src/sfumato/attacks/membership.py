"""Membership inference from published means: was this person in the group behind the averages?
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
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, ceil_sqrt, shown
from ..functions.privatize import privatize
from ..guarantees import Guarantee
from ..noise.bits import SYSTEM, Bits
from . import attack_refusals as refusals
from .data.genomes import Genomes, read_genomes
from .lib.attack_result import EPSILONS, Result, Success, check_count, check_epsilons, guess_bound
from .lib.attack_text import epsilon_label, per_cent
from .lib.roc import Roc, roc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Integers = NDArray[np.int64]
Real = NDArray[np.float64]
# frequencies are clamped to this distance from 0 and 1: a logarithm of zero would decide everything
_LEAST = 1e-3


def _likelihood(f: Real, p: Real) -> tuple[Real, float]:
    if_one, if_zero = np.log(f / p), np.log((1 - f) / (1 - p))
    return if_one - if_zero, float(if_zero.sum())


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
frequencies of the population: all scores are linear in zeros and ones.
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
        """The number of people behind the means."""
        return int(self.pool.shape[0])

    @property
    def m(self) -> int:
        """How many means are published."""
        return int(self.pool.shape[1])

    @property
    def expected(self) -> float:
        """The expected separation of members from non-members, √(m/n)."""
        return float(np.sqrt(self.m / self.n))

    @property
    def separation(self) -> float:
        """The mean score of members minus that of non-members, in standard deviations."""
        return float(
            (self.inside_scores.mean() - self.outside_scores.mean())
            / self.outside_scores.std(ddof=1)
        )

    @property
    def roc(self) -> Roc:
        """The ROC curve of the attack on the exact means."""
        return roc(self.inside_scores, self.outside_scores)

    @property
    def numbers(self) -> dict[str, float | int]:
        curve = self.roc
        detected = {
            f"found at {per_cent(alarms)} false alarms": float(curve.at(np.array([alarms]))[0])
            for alarms in (0.01, 0.05)
        }
        return {
            "n": self.n,
            "m": self.m,
            "expected": self.expected,
            "separation": self.separation,
            "area": curve.area,
        } | detected

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
        """Plot detections against false alarms, for exact and for private means."""
        from ..plots import Graph, graphs

        at = np.linspace(0, 1, 201)
        curves = {"exact means": self.roc.at(at)} | {
            epsilon_label(epsilon): self.curve(epsilon, trials=trials, seed=seed, bits=bits).at(at)
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
        """Compute the ROC curve of the attack on private means, with one release for each trial."""
        (loss,) = check_epsilons([epsilon])
        scores, there, _ = self._played(loss, delta, check_count(trials, "trials", 2), seed, bits)
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
        """Play: is the person in the pool? From exact means, and from private ones."""
        losses, many = check_epsilons(epsilons), check_count(trials, "trials")
        successes = []
        for epsilon in (None, *losses):
            scores, there, promise = self._played(epsilon, delta, many, seed, bits)
            against, bound = (
                ("exact means", None)
                if epsilon is None or promise is None
                else (epsilon_label(epsilon), guess_bound(promise))
            )
            successes.append(
                Success(
                    against=against,
                    hits=int(((scores > 0) == there).sum()),
                    trials=many,
                    chance=0.5,
                    promise=promise,
                    bound=bound,
                )
            )
        return tuple(successes)

    def _played(
        self, epsilon: Fraction | None, delta: Number | None, trials: int, seed: int, bits: Bits
    ) -> tuple[Real, NDArray[np.bool_], Guarantee | None]:
        """Score so many people, each after a separate release; return the scores, whether each was
        a member, and the promise. A score above zero means member.
        """
        generator = np.random.default_rng(seed)
        p, size = self.frequencies, self.n
        sums = self.pool[1:].sum(axis=0, dtype=np.int64)
        there = generator.integers(0, 2, trials) == 1
        scores, promise = np.empty(trials), None
        for trial, is_member in enumerate(there):
            target, substitute = generator.choice(len(self.outside), 2, replace=False)
            totals = sums + self.outside[target if is_member else substitute]
            spread = 0.0
            if epsilon is not None:
                released = privatize(
                    _identity,
                    totals,
                    size=self.m,
                    relation="replace",
                    bits=bits,
                    **_noise(self.m, epsilon, delta),
                )
                totals, promise = np.asarray(released.value), released.promise
                # a variance, roughly: any weights make a fair attack
                spread = released.error(0.95) ** 2 / 4
            x = self.outside[target] - p
            weights = 1 / (size * p * (1 - p) + spread)
            scores[trial] = (weights * x * (totals - size * p)).sum() - (weights * x * x).sum() / 2
        return scores, there, promise


def membership(people: object, *, pool: int | None = None, score: str = "likelihood") -> Membership:
    """Measure what the means of a pool reveal about its members: half of the people, or the first
    `pool` of them.

    `people` are `genomes(…)`, a matrix of zeros and ones, or a table of such columns. Without known
    frequencies, half of the people outside the pool stand for the population. For owners, on their
    own data: the result is not private.
    """
    if score not in SCORES:
        raise refusals.UNKNOWN_SCORE(score=shown(score), scores=", ".join(SCORES))
    data: Genomes = read_genomes(people)
    size = data.people // 2 if pool is None else check_count(pool, "pool")
    rest = data.people - size
    needed = 2 if data.frequencies is not None else 3
    if size < 2 or rest < needed:
        raise refusals.POOL_OR_REST_TOO_SMALL(
            pool=size, people=data.people, outside=needed, half=data.people // 2
        )
    aside = 0 if data.frequencies is not None else rest // 2
    inside, reference, outside = np.split(data.bits, [size, size + aside])
    p = data.frequencies if data.frequencies is not None else reference.mean(axis=0)
    p, f = np.clip(p, _LEAST, 1 - _LEAST), np.clip(inside.mean(axis=0), _LEAST, 1 - _LEAST)
    weights, constant = SCORES[score](f, p)
    scores = [rows @ weights + constant for rows in (inside, outside)]
    if float(np.ptp(scores[1])) <= 1e-12 * float(np.abs(scores[1]).max()):
        raise refusals.OUTSIDERS_ALL_ALIKE()
    return Membership(
        pool=inside,
        outside=outside,
        frequencies=p,
        score=score,
        inside_scores=scores[0],
        outside_scores=scores[1],
    )


class Noise(TypedDict):
    """The promise and the sensitivity of a release."""

    epsilon: Fraction
    delta: NotRequired[Number]
    sensitivity: Number


def _noise(m: int, epsilon: Fraction, delta: Number | None) -> Noise:
    """Return promise and sensitivity of m sums of zeros and ones when one person is replaced: m in
    ℓ₁ norm, √m in ℓ₂ norm.
    """
    if delta is None:
        return {"epsilon": epsilon, "sensitivity": m}
    return {
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": Fraction(ceil_sqrt(Fraction(m * 4**20)), 2**20),
    }


def _identity(sums: Integers) -> Integers:
    return sums
