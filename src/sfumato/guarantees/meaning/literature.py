"""The ε and δ that published papers use, and an assessment of the customary rules of thumb.

*ε*   The table of Hsu et al. 2014: the ε of the experiments in nineteen papers. It shows habits,
      not safety; `guarantee.meaning()` shows what an ε does.
*δ*   A mechanism that publishes each of n records with probability δ (name and shame) is (0, δ)-DP.
      It discloses n·δ people on average, and at least one with probability 1 − (1 − δ)^n. So a δ is
      judged by n·δ, for the declared number n of units: a note from 0.01 on, a warning from 0.1 on,
      and from 1 on, where one full disclosure is expected, it is not called safe in any words.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

from flint import arb

from ...exact.balls import ball, chance, evaluate
from ...exact.numbers import Number, is_whole, probability, text
from .. import guarantee_refusals as refusals
from ..guarantee import check_epsilon
from .honest_numbers import figure, percent

Level = Literal["small", "note", "warning", "unsafe"]


class PublishedEpsilon(NamedTuple):
    """The ε that one paper used, and for what: a list, or the ends of a range; "<" has no lower
    end.
    """

    authors: str
    epsilons: tuple[str, ...]
    application: str

    @property
    def low(self) -> float:
        return 0.0 if self.epsilons[0].startswith("<") else min(map(_number, self.epsilons))

    @property
    def high(self) -> float:
        return max(map(_number, self.epsilons))


LITERATURE: tuple[PublishedEpsilon, ...] = (
    PublishedEpsilon("McSherry, Mahajan", ("0.1", "10"), "network traces"),
    PublishedEpsilon("Chaudhuri, Monteleoni", ("0.1",), "logistic regression"),
    PublishedEpsilon("Machanavajjhala et al.", ("< 7",), "census data"),
    PublishedEpsilon("Korolova et al.", ("ln 2", "ln 5", "ln 10"), "click counts"),
    PublishedEpsilon("Bhaskar et al.", ("1.4",), "frequent items"),
    PublishedEpsilon("Machanavajjhala et al.", ("0.5", "3"), "recommendations"),
    PublishedEpsilon("Bonomi et al.", ("0.01", "10"), "record linkage"),
    PublishedEpsilon("Li et al.", ("0.1", "1"), "frequent items"),
    PublishedEpsilon("Ny, Pappas", ("ln 3",), "Kalman filter"),
    PublishedEpsilon("Chaudhuri et al.", ("0.1", "2"), "principal components"),
    PublishedEpsilon("Narayan, Haeberlen", ("0.69",), "joins of distributed databases"),
    PublishedEpsilon("Chen et al.", ("1", "5"), "queries over distributed clients"),
    PublishedEpsilon("Acs, Castelluccia", ("1",), "smart meters"),
    PublishedEpsilon("Uhler et al.", ("0.1", "0.4"), "genome data"),
    PublishedEpsilon("Xiao et al.", ("0.05", "1"), "histograms"),
    PublishedEpsilon("Li, Miklau", ("0.1", "2.5"), "linear queries"),
    PublishedEpsilon("Chen et al.", ("0.5", "1.5"), "trajectories"),
    PublishedEpsilon("Cormode et al.", ("0.1", "1"), "locations"),
    PublishedEpsilon("Chaudhuri et al.", ("0.01", "0.5"), "empirical risk minimization"),
)


class Rule(NamedTuple):
    """A common claim about ε or δ, and the facts."""

    claim: str
    fact: str


RULES: tuple[Rule, ...] = (
    Rule(
        "ε is usually between 0.1 and 5, typically ln 2 or ln 3",
        (
            "at ln 3 a belief of 50 % becomes 75 % at most, at 5 it becomes 99.34 %: the two "
            "are worlds apart"
        ),
    ),
    Rule(
        "a mechanism that fails at a small ε may hold at 2ε, which may still do",
        "what 2ε means can be computed, and what lies beyond ε is measured: by δ(ε)",
    ),
    Rule(
        "failing at ε = 15 matters only if the telling answer is likely",
        "how much it matters is δ(15): a number, to be stated with the promise",
    ),
    Rule(
        "e^ε is about 1 + ε",
        "to half a per cent at ε = 0.1, where it is 1.1052; at ε = 1 it is 2.7183, not 2",
    ),
    Rule(
        "δ should be smaller than the inverse of any polynomial in n",
        (
            "no single number is; what counts is n·δ, the number of people whom δ allows to "
            "be published whole"
        ),
    ),
    Rule(
        "δ = 1/n is small",
        "it allows to publish one record in full, on average, and does so with probability 63 %",
    ),
)


class Judgement(NamedTuple):
    """An assessment of a δ that is promised to a number of units."""

    level: Level
    expected: Fraction  # n·δ
    at_least_one: float
    sentence: str


WITH_DELTA = "With δ = "
"""How a sentence about a δ begins."""

LARGE_DELTA = Fraction(1, 1000)
"""A δ that is too large for a table of ten units already, and so for a table of unknown size."""

LEVELS: tuple[tuple[Fraction, Level], ...] = (
    (Fraction(1), "unsafe"),
    (Fraction(1, 10), "warning"),
    (Fraction(1, 100), "note"),
    (Fraction(0), "small"),
)

_WORDS: dict[Level, str] = {
    "small": "That is small.",
    "note": "A smaller δ costs little and would be better.",
    "warning": "Choose a smaller δ.",
    "unsafe": "This δ protects nobody in particular: choose a far smaller one.",
}


def papers_using(epsilon: Number) -> tuple[PublishedEpsilon, ...]:
    """Return the papers of the table whose range contains this ε."""
    e = float(check_epsilon(epsilon))
    return tuple(use for use in LITERATURE if use.low <= e <= use.high)


def judge_delta(delta: Number, n: int) -> Judgement:
    """Assess what a δ allows for n units."""
    d, units = probability(delta, "delta"), _units(n)
    expected = units * d
    level = next(level for least, level in LEVELS if expected >= least)
    leak = name_and_shame(d, units)
    sentence = (
        f"{WITH_DELTA}{text(d)} for {figure(Fraction(units), 'up', 12)} units, "
        f"{figure(expected, 'up')} of them may be expected to be published in full, "
        f"and at least one with a probability of up to {percent(leak, 'up')}."
    )
    return Judgement(
        level,
        expected,
        leak,
        f"{sentence} {_WORDS[level]}" if d else f"Nothing is lost to δ = 0. {_WORDS[level]}",
    )


def delta_warning(delta: Number, units: int | None) -> str:
    """Return a sentence for a δ that is too large for so many units: an n·δ of 0.01 or more. Where
    their number is not declared, the rule in words for a δ above 0.001. Else nothing.
    """
    d = probability(delta, "delta")
    if units is not None:
        judged = judge_delta(d, units)
        return "" if judged.level == "small" else judged.sentence
    if d <= LARGE_DELTA:
        return ""
    return (
        f"{WITH_DELTA}{text(d)}, n·δ of n units may be expected to be published in full. Choose a "
        "δ below 0.01/n, and declare table_rows= to have n·δ computed."
    )


def name_and_shame(delta: Number, n: int) -> float:
    """1 − (1 − δ)^n: the probability that publishing each of n records with probability δ publishes
    at least one; rounded up.
    """
    d, units = probability(delta, "delta"), _units(n)
    return chance(lambda: -(units * (-ball(d)).log1p()).expm1(), "up")


def _units(n: int) -> int:
    if not is_whole(n):
        raise refusals.UNITS_BELOW_ONE(n=n)
    return n


def _number(written: str) -> float:
    bare = written.removeprefix("<").strip()
    return (
        evaluate(lambda: arb(int(bare.removeprefix("ln"))).log())
        if bare.startswith("ln")
        else float(bare)
    )
