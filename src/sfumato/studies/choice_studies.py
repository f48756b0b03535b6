"""Choices: the auction of the survey (S-061) and its run of an exponential mechanism over letters
(S-180).

*Auction*   Bids 1, 1 and 3.01; revenue at prices 1, 1.01, 3.01, 3.02. A bidder moves the revenue by
            up to the largest price.
*Letters*   Ten strings “Object A” … “Object J”; a letter's score is how often it occurs. The
            package's exponential mechanism has no exp in it (E-20): letters that do not occur are
            never chosen, whatever ε is. Its sensitivity was sampled from random names (γ = 0.1),
            which is no promise (E-38); a string of eight characters moves a score by up to eight.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from .. import mechanisms as mech
from ..sensitivity.sampled import Sampled, sample_sensitivity
from .band_pictures import bars
from .bands import FALSE_ALARM
from .printed import Printed, shown
from .study import Beside, Result, Row, Study

PRICES = ("1", "1.01", "3.01", "3.02")
BIDS = (Fraction(1), Fraction(1), Fraction("3.01"))
REVENUE = {"1": "3", "1.01": "1.01", "3.01": "3.01", "3.02": "0"}
"""As printed."""

DATABASE = tuple(f"Object {letter}" for letter in string.ascii_uppercase[:10])
LETTERS = tuple(string.ascii_lowercase)
SYLLABLES = (
    "an",
    "be",
    "ca",
    "da",
    "el",
    "fi",
    "go",
    "ha",
    "is",
    "jo",
    "ka",
    "li",
    "ma",
    "no",
    "or",
    "pa",
    "ri",
    "sa",
    "to",
    "vi",
)


def auction(repetitions: int, _: int) -> Result:
    """ε = 1; the right mechanism, and one that is never worse."""
    revenue = [Fraction(p) * sum(bid >= Fraction(p) for bid in BIDS) for p in PRICES]
    rows = [
        Row.exact(f"revenue at {p}", Printed(REVENUE[p]), float(r))
        for p, r in zip(PRICES, revenue, strict=True)
    ]
    exponential = mech.Exponential(sensitivity=Fraction("3.02"), epsilon=1, candidates=PRICES)
    flip = mech.PermuteAndFlip(sensitivity=Fraction("3.02"), epsilon=1, candidates=PRICES)
    law, other = exponential.probabilities(revenue), flip.probabilities(revenue)
    chosen = [PRICES[i] for i in exponential.law(revenue).sample(repetitions).tolist()]
    rows += [
        Row.frequency(f"chance of {p}", float(q), chosen.count(p), repetitions)
        for p, q in zip(PRICES, law, strict=True)
    ]
    best = float(max(revenue))
    lost = [
        best - float(sum(q * float(r) for q, r in zip(pmf, revenue, strict=True)))
        for pmf in (law, other)
    ]
    sentence = (
        "Revenue moves by the largest price, 3.02, when one bidder changes (the maximum "
        "over candidates too, E-19); with three bidders "
        "and ε = 1 little can be gained, "
        "and nobody's bid is given away."
    )
    beside = (
        Beside(
            what="permute and flip, the same ε",
            measure="expected loss of revenue",
            faithful=lost[0],
            right=lost[1],
        ),
    )
    picture = bars(
        PRICES,
        {
            "exponential": list(law),
            "permute and flip": list(other),
            "ours, share of runs": [chosen.count(p) / repetitions for p in PRICES],
        },
        title="Which price?",
        up="probability",
    )
    return Result(rows=tuple(rows), sentence=sentence, beside=beside, figures={"S-061": picture})


def letter_scores(records: Sequence[str]) -> np.ndarray:
    """How often each of a–z occurs."""
    text = "".join(records)
    return np.array([text.count(letter) for letter in LETTERS], dtype=np.float64)


def names(seed: int) -> Callable[[int], list[str]]:
    """An oracle that draws invented names: a first and a last name of two or three syllables."""
    generator = np.random.Generator(np.random.Philox(key=[seed, 26]))

    def draw(n: int) -> list[str]:
        return [
            ", ".join(
                "".join(generator.choice(SYLLABLES, size=generator.integers(2, 4))).capitalize()
                for _ in range(2)
            )
            for _ in range(n)
        ]

    return draw


def letters(repetitions: int, seed: int) -> Result:
    """γ = 0.1 gives m = 285 and k = 285, by the package's own plan."""
    scores = letter_scores(DATABASE)
    sampled = sample_sensitivity(
        letter_scores,
        oracle=names(seed),
        n=len(DATABASE),
        gamma=Fraction(1, 10),
        plan="diffpriv",
        over="invented names",
    )
    assert isinstance(sampled, Sampled)
    whole = [int(s) for s in scores]
    faithful, right = (
        mech.Exponential(sensitivity=delta, epsilon=1, candidates=LETTERS)
        for delta in (sampled.value, 8)
    )
    flip = mech.PermuteAndFlip(sensitivity=8, epsilon=1, candidates=LETTERS)
    law, honest, flipped = (m.probabilities(whole) for m in (faithful, right, flip))
    package = scores / scores.sum()
    chosen = [LETTERS[i] for i in faithful.law(whole).sample(repetitions).tolist()]
    tied = [letter for letter, score in zip(LETTERS, whole, strict=True) if score == max(whole)]
    j = LETTERS.index("j")
    rows = (
        Row.exact("m of the sampler at γ = 0.1", Printed("285"), sampled.m),
        Row.claim(
            "f(D), the maximizer",
            "b",
            ", ".join(tied),
            holds="b" in tied,
            sentence=f"{len(tied)} letters are tied: j is as good an answer as b, and the run "
            f"shows nothing of the noise.",
        ),
        Row.claim(
            "the private answer j can occur",
            "j",
            f"P(j) = {shown(float(law[j]))}",
            holds=float(law[j]) >= FALSE_ALARM,
        ),
        Row.frequency(
            "share of j, exponential mechanism with exp",
            float(law[j]),
            chosen.count("j"),
            repetitions,
        ),
        Row.promise(
            "promise of the package's mechanism",
            "ε = 1",
            "ε = ∞, δ = 1",
            kept=not _disjoint(),
            value=float("inf"),
            errata=("E-20",),
            sentence="Its probabilities are the scores themselves, divided by their sum: with "
            "scores (1, 0) and (0, 1) on neighbours "
            "the answers have nothing in common.",
        ),
        Row.promise(
            "promise of the sampled sensitivity",
            "ε = 1",
            f"ε = {shown(8 / float(sampled.value))} at worst",
            kept=float(sampled.value) >= 8,
            value=8 / float(sampled.value),
            errata=("E-38",),
            sentence=f"The sampler found {shown(float(sampled.value))}; a string of eight "
            f"characters moves a score by eight. What holds "
            "is random DP over invented names, γ = 0.1.",
        ),
    )
    regret = [max(whole) - float(pmf @ scores) for pmf in (law, honest, flipped)]
    sentence = (
        "The package leaves out the exponential (E-20), so ε cancels; here the mechanism is "
        "the real one."
    )
    beside = (
        Beside(
            what="the exponential mechanism for Δ = 8",
            measure="expected regret",
            faithful=regret[0],
            right=regret[1],
            remark="the price of a promise for all strings of eight",
        ),
        Beside(
            what="permute and flip for Δ = 8",
            measure="expected regret",
            faithful=regret[1],
            right=regret[2],
            remark="beside the exponential mechanism for Δ = 8",
        ),
    )
    picture = bars(
        LETTERS,
        {
            "package, without exp": list(package),
            "exponential, sampled Δ": list(law),
            "exponential, Δ = 8": list(honest),
        },
        title="Which letter?",
        up="probability",
    )
    return Result(rows=rows, sentence=sentence, beside=beside, figures={"S-180": picture})


def _disjoint() -> bool:
    """Whether the package's law (scores over their sum) puts its mass on different letters for
    scores (1, 0) and (0, 1).
    """
    one, other = (np.array(s) / sum(s) for s in ((1, 0), (0, 1)))
    return float(np.minimum(one, other).sum()) == 0.0


STUDIES = (
    Study(
        name="auction",
        title="An auction",
        source="survey, motivation of the exponential mechanism",
        items=("S-061",),
        run=auction,
    ),
    Study(
        name="letters",
        title="The commonest letter",
        source="survey, R run of the exponential mechanism",
        items=("S-180",),
        run=letters,
    ),
)
