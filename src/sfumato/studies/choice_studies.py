"""Run the private choices of the survey: an auction (S-061) and an exponential mechanism over
letters (S-180).

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
from .study import Comparison, Study, StudyResult, StudyRow

PRICES = ("1", "1.01", "3.01", "3.02")
BIDS = (Fraction(1), Fraction(1), Fraction("3.01"))
REVENUE = {"1": "3", "1.01": "1.01", "3.01": "3.01", "3.02": "0"}
"""The revenue at each price, as printed."""

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


def auction(repetitions: int, _: int) -> StudyResult:
    """Run the auction at ε = 1 with the exponential mechanism, and with one that is never worse."""
    revenue = [Fraction(p) * sum(bid >= Fraction(p) for bid in BIDS) for p in PRICES]
    rows = [
        StudyRow.exact(f"revenue at {p}", Printed(REVENUE[p]), float(r))
        for p, r in zip(PRICES, revenue, strict=True)
    ]
    exponential = mech.Exponential(sensitivity=Fraction("3.02"), epsilon=1, candidates=PRICES)
    flip = mech.PermuteAndFlip(sensitivity=Fraction("3.02"), epsilon=1, candidates=PRICES)
    law, flip_law = exponential.probabilities(revenue), flip.probabilities(revenue)
    chosen = [PRICES[i] for i in exponential.law(revenue).sample(repetitions).tolist()]
    rows += [
        StudyRow.frequency(f"chance of {p}", float(q), chosen.count(p), repetitions)
        for p, q in zip(PRICES, law, strict=True)
    ]
    best = float(max(revenue))
    lost = [
        best - float(sum(q * float(r) for q, r in zip(pmf, revenue, strict=True)))
        for pmf in (law, flip_law)
    ]
    sentence = (
        "Revenue moves by the largest price, 3.02, when one bidder changes (the maximum "
        "over candidates too, E-19); with three bidders "
        "and ε = 1 little can be gained, "
        "and nobody's bid is given away."
    )
    comparisons = (
        Comparison(
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
            "permute and flip": list(flip_law),
            "ours, share of runs": [chosen.count(p) / repetitions for p in PRICES],
        },
        title="Which price?",
        up="probability",
    )
    return StudyResult(
        rows=tuple(rows), sentence=sentence, comparisons=comparisons, figures={"S-061": picture}
    )


def letter_scores(records: Sequence[str]) -> np.ndarray:
    """Count how often each of a–z occurs."""
    text = "".join(records)
    return np.array([text.count(letter) for letter in LETTERS], dtype=np.float64)


def names(seed: int) -> Callable[[int], list[str]]:
    """Return an oracle that draws invented first and last names of two or three syllables."""
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


def letters(repetitions: int, seed: int) -> StudyResult:
    """Run the commonest letter; γ = 0.1 gives m = 285 and k = 285, by the package's own plan."""
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
    counts = [int(s) for s in scores]
    faithful, right = (
        mech.Exponential(sensitivity=delta, epsilon=1, candidates=LETTERS)
        for delta in (sampled.value, 8)
    )
    flip = mech.PermuteAndFlip(sensitivity=8, epsilon=1, candidates=LETTERS)
    law, honest, flipped = (m.probabilities(counts) for m in (faithful, right, flip))
    package = scores / scores.sum()
    chosen = [LETTERS[i] for i in faithful.law(counts).sample(repetitions).tolist()]
    tied = [letter for letter, score in zip(LETTERS, counts, strict=True) if score == max(counts)]
    j = LETTERS.index("j")
    rows = (
        StudyRow.exact("m of the sampler at γ = 0.1", Printed("285"), sampled.m),
        StudyRow.claim(
            "f(D), the maximizer",
            "b",
            ", ".join(tied),
            holds="b" in tied,
            sentence=f"{len(tied)} letters are tied: j is as good an answer as b, and the run "
            f"shows nothing of the noise.",
        ),
        StudyRow.claim(
            "the private answer j can occur",
            "j",
            f"P(j) = {shown(float(law[j]))}",
            holds=float(law[j]) >= FALSE_ALARM,
        ),
        StudyRow.frequency(
            "share of j, exponential mechanism with exp",
            float(law[j]),
            chosen.count("j"),
            repetitions,
        ),
        StudyRow.promise(
            "promise of the package's mechanism",
            "ε = 1",
            "ε = ∞, δ = 1",
            is_kept=not _disjoint(),
            value=float("inf"),
            errata=("E-20",),
            sentence="Its probabilities are the scores themselves, divided by their sum: with "
            "scores (1, 0) and (0, 1) on neighbours "
            "the answers have nothing in common.",
        ),
        StudyRow.promise(
            "promise of the sampled sensitivity",
            "ε = 1",
            f"ε = {shown(8 / float(sampled.value))} at worst",
            is_kept=float(sampled.value) >= 8,
            value=8 / float(sampled.value),
            errata=("E-38",),
            sentence=f"The sampler found {shown(float(sampled.value))}; a string of eight "
            f"characters moves a score by eight. What holds "
            "is random DP over invented names, γ = 0.1.",
        ),
    )
    regret = [max(counts) - float(pmf @ scores) for pmf in (law, honest, flipped)]
    sentence = (
        "The package leaves out the exponential (E-20), so ε cancels; here the mechanism is "
        "the real one."
    )
    comparisons = (
        Comparison(
            what="the exponential mechanism for Δ = 8",
            measure="expected regret",
            faithful=regret[0],
            right=regret[1],
            remark="the price of a promise for all strings of eight",
        ),
        Comparison(
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
    return StudyResult(
        rows=rows, sentence=sentence, comparisons=comparisons, figures={"S-180": picture}
    )


def _disjoint() -> bool:
    """Whether the package's law (scores over their sum) puts its mass on different letters for
    scores (1, 0) and (0, 1).
    """
    first, second = (np.array(s) / sum(s) for s in ((1, 0), (0, 1)))
    return float(np.minimum(first, second).sum()) == 0.0


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
