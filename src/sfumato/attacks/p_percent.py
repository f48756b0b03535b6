"""The p-percent rule of statistical offices: withhold a total if it reveals the largest contributor
to the second largest.

*Rule*      Whoever contributes X_(n−1) subtracts it from the total S and is left with X_(n) and the
            rest R = S − X_(n) − X_(n−1): an estimate too large by R. The total is sensitive if R <
            (p/100)·X_(n): the largest is then known to within p per cent.
*Slide*     The slides of 2023 print X_(n)/Σ_{i≠n−1} X_(i) > p_s. As the sum is X_(n) + R, this says
            R/X_(n) < (1 − p_s)/p_s: the same rule with p = 100·(1 − p_s)/p_s (E-39). A threshold of
            0.9 is the standard rule at 11.1 per cent, not at 90. Indices ascend.
*Worst*     All others together know the last one: S − Σ_{i>1} X_i = X_1. No p helps against them.
*Leaks*     Whether a total is withheld depends on the data, and says something about them. Noise
            depends on public numbers only.
*Against*   Which of several values, all equally likely and further apart than p per cent, does the
            largest have? (`games`, *Sum*.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, positive, power_of_two_at_least, shown
from . import attack_refusals as refusals
from .lib import games
from .lib.attack_result import EPSILONS, Result, Success, check_count, check_epsilons
from .lib.owner_table import read_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Variant = Literal["standard", "slide"]
_MOST_ROWS = 2_000_000  # of all trials of a game together


@dataclass(frozen=True, slots=True, kw_only=True)
class PPercent(Result):
    """A total, its two largest contributors, and whether it is sensitive."""

    n: int
    total: Fraction
    largest: Fraction
    second: Fraction
    p: Fraction  # of the standard rule, in per cent
    variant: Variant

    @property
    def remainder(self) -> Fraction:
        """The part of the total that the second largest cannot subtract."""
        return self.total - self.largest - self.second

    @property
    def remainder_over_largest(self) -> float:
        """The error of the second largest's estimate, as a share of the largest."""
        return float(self.remainder / self.largest) if self.largest else math.inf

    @property
    def slide_ratio(self) -> float:
        """X_(n)/(S − X_(n−1)), which the slides of 2023 compare with their threshold."""
        return float(self.largest / (self.total - self.second)) if self.largest else 0.0

    @property
    def sensitive(self) -> bool:
        """Whether the rule forbids to publish the total."""
        return self.remainder * 100 < self.p * self.largest

    @property
    def numbers(self) -> dict[str, float | int]:
        names = (
            "n",
            "total",
            "largest",
            "second",
            "remainder",
            "p",
            "remainder_over_largest",
            "slide_ratio",
            "sensitive",
        )
        return {
            name: value if isinstance(value := getattr(self, name), int) else float(value)
            for name in names
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        share = 100 * self.remainder_over_largest
        verdict = (
            f"{'less' if self.sensitive else 'not less'} than {float(self.p):.3g} per cent: "
            f"the total is {'' if self.sensitive else 'not '}sensitive"
        )
        return (
            (
                f"The second largest of {self.n} contributors subtracts its own "
                f"{float(self.second):.6g} from the total of {float(self.total):.6g}."
            ),
            (
                f"That leaves {float(self.total - self.second):.6g} for a largest of "
                f"{float(self.largest):.6g}: too much by {share:.3g} per cent, {verdict}."
            ),
            (
                "All the others together know the largest exactly, whatever p is; and "
                "whether a total is withheld says something about it, too."
            ),
        )

    def plot(self) -> Figure:
        """Plot the total as the second largest sees it."""
        from ..plots import SuccessRate, successes

        total = float(self.total) or 1.0
        parts = {
            "second largest": self.second,
            "rest": self.remainder,
            "largest": self.largest,
            "largest, as estimated": self.total - self.second,
        }
        drawn = [SuccessRate(name=name, rate=float(part) / total) for name, part in parts.items()]
        return successes(
            drawn, title="What the second largest knows of the largest", up="share of the total"
        )

    def against(
        self, epsilons: Sequence[Number] = EPSILONS, *, trials: int = 1000, seed: int = 0
    ) -> tuple[Success, ...]:
        """Play: the second largest guesses the value of the largest, from the exact total and from
        private ones.

        The candidates are equally likely: the true value, and values smaller by steps of three
        times p per cent of it. The second largest does not know the small contributors. The public
        bound is the power of two above the largest. Allowed: see `games`.
        """
        losses, many = check_epsilons(epsilons), check_count(trials, "trials")
        if not self.largest:
            raise refusals.VALUES_ALL_ZERO()
        apart = min(3 * self.p / 100, Fraction(1))
        steps = min(4, int(1 / apart) + 1)
        candidates = np.array([float(self.largest * (1 - step * apart)) for step in range(steps)])
        most = power_of_two_at_least(self.largest)
        full, partial = divmod(self.remainder, most)
        rest = np.array([float(self.second), *[float(most)] * int(full), float(partial)])
        many = max(1, min(many, _MOST_ROWS // len(rest)))
        return games.play_sum(
            rest, candidates, float(self.second), float(most), losses, trials=many, seed=seed
        )


def p_percent(
    values: object, p: Number = 10, *, column: str | None = None, variant: Variant = "standard"
) -> PPercent:
    """Check whether the total of these values, or of a column of a table, reveals the largest.

    `p` is in per cent. With `variant="slide"` it is the threshold of the slides of 2023, such as
    90, and is converted to that of the standard rule.
    """
    threshold = positive(p, "p")
    if variant not in ("standard", "slide"):
        raise refusals.UNKNOWN_VARIANT(variant=shown(variant))
    if variant == "slide" and threshold >= 100:
        raise refusals.SLIDE_THRESHOLD_TOO_LARGE(p=shown(p))
    numbers = _check_values(values, column)
    top = np.partition(numbers, max(len(numbers) - 2, 0))[-2:]
    second, largest = (
        (Fraction(0), Fraction(float(top[0])))
        if len(top) == 1
        else (Fraction(float(top[0])), Fraction(float(top[1])))
    )
    try:
        total = Fraction(math.fsum(numbers))
    except OverflowError:
        raise refusals.TOTAL_TOO_LARGE() from None
    return PPercent(
        n=len(numbers),
        total=total,
        largest=largest,
        second=second,
        p=standard_p(threshold) if variant == "slide" else threshold,
        variant=variant,
    )


def standard_p(slide: Number) -> Fraction:
    """Convert the slide's threshold to the p of the standard rule, both in per cent (E-39)."""
    share = positive(slide, "p")
    return 100 * (100 - share) / share


def _check_values(values: object, column: str | None) -> NDArray[np.float64]:
    """Check that the values are numbers, none below zero, none missing."""
    if column is not None:
        numbers = read_columns(values, [column]).numbers(column)
    else:
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise refusals.VALUES_NOT_NUMBERS(type=type(values).__name__) from None
    if (
        numbers.ndim != 1
        or not len(numbers)
        or not np.isfinite(numbers).all()
        or (numbers < 0).any()
    ):
        raise refusals.VALUES_NEGATIVE_OR_MISSING()
    return numbers
