"""The records of a study: a table or figure of the sources, run again, with a verdict for every
printed number.

*Verdicts*  agrees · the number lies in the band of our repetitions, or is the exact one as printed.
            unlikely · it lies in the band, but 99 % of runs with this set-up lie nearer to their
            middle. Of a hundred right numbers one gets this verdict.
            misprint · arithmetic on printed numbers, or the exact value, shows it wrong, and what
            would be right. set-up unsafe · the promise printed with the set-up is not the one it
            keeps.
            differs · outside the band with no explanation. There should be none.
No verdict is written by hand: this module computes each one from numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from .bands import middle_90, prediction_below, share_band
from .printed import Interval, Printed, meet, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


UNLIKELY = 0.01
"""The chance that a faithful number gets the verdict "unlikely", per cell."""


class Verdict(StrEnum):
    """The verdict on a printed number."""

    AGREES = "agrees"
    UNLIKELY = "unlikely"
    MISPRINT = "misprint"
    UNSAFE = "set-up unsafe"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow:
    """A printed number, our number, and the verdict. `spread` holds the middle 90 % of our
    repetitions; the verdict follows from `band` and from `percentile`, the part of faithful runs
    that lie below the printed number. Where the sources print no number but a formula, a curve or
    a set-up, `is_printed` is false: `printed` is then what follows from it.
    """

    cell: str
    printed: str
    ours: str
    verdict: Verdict
    printed_value: float | None = None
    value: float | None = None
    spread: Interval | None = None
    band: Interval | None = None
    percentile: float | None = None
    is_printed: bool = True
    errata: tuple[str, ...] = ()
    sentence: str = ""

    @classmethod
    def drawn(
        cls,
        cell: str,
        printed: Printed,
        draws: Sequence[float],
        band: Interval,
        below: float | None = None,
    ) -> Self:
        """Judge a number that is one random run: it agrees if its interval meets the band, and is
        unlikely beyond 99 % of runs. `below` is its percentile, where the law is known.
        """
        low, centre, high = middle_90(draws)
        percentile = (
            prediction_below(draws, printed.value, logarithm=False) if below is None else below
        )
        verdict = (
            Verdict.DIFFERS
            if not meet(printed.interval, band)
            else Verdict.AGREES
            if UNLIKELY / 2 <= percentile <= 1 - UNLIKELY / 2
            else Verdict.UNLIKELY
        )
        return cls(
            cell=cell,
            printed=str(printed),
            ours=shown(centre),
            verdict=verdict,
            printed_value=printed.value,
            value=centre,
            spread=(low, high),
            band=band,
            percentile=percentile,
        )

    @classmethod
    def averaged(
        cls, cell: str, printed: str, expected: float, draws: Sequence[float], band: Interval
    ) -> Self:
        """Judge a mean that a formula of the sources gives: the mean of our repetitions agrees if
        it lies in the band.
        """
        low, _, high = middle_90(draws)
        mean = sum(draws) / len(draws)
        verdict = Verdict.AGREES if band[0] <= mean <= band[1] else Verdict.DIFFERS
        return cls(
            cell=cell,
            printed=printed,
            ours=shown(mean),
            verdict=verdict,
            printed_value=expected,
            value=mean,
            spread=(low, high),
            band=band,
            is_printed=False,
        )

    @classmethod
    def frequency(cls, cell: str, probability: float, hits: int, count: int) -> Self:
        """Judge a probability that follows from the set-up: the observed frequency agrees if it
        lies in the band.
        """
        observed, band = hits / count, share_band(probability, count)
        verdict = Verdict.AGREES if band[0] <= observed <= band[1] else Verdict.DIFFERS
        return cls(
            cell=cell,
            printed=shown(probability),
            ours=shown(observed),
            verdict=verdict,
            printed_value=probability,
            value=observed,
            spread=(observed, observed),
            band=band,
            is_printed=False,
        )

    @classmethod
    def exact(
        cls,
        cell: str,
        printed: Printed,
        value: float,
        *,
        errata: tuple[str, ...] = (),
        if_wrong: str = "",
        if_right: str = "",
    ) -> Self:
        """Judge a number that follows from others: it agrees if it is the exact number as printed,
        else it is a misprint.
        """
        right = printed.stands_for(value)
        return cls(
            cell=cell,
            printed=str(printed),
            ours=shown(value, 5),
            verdict=Verdict.AGREES if right else Verdict.MISPRINT,
            printed_value=printed.value,
            value=value,
            errata=() if right else errata,
            sentence=if_right if right else if_wrong,
        )

    @classmethod
    def claim(
        cls,
        cell: str,
        printed: str,
        ours: str,
        *,
        holds: bool,
        errata: tuple[str, ...] = (),
        sentence: str = "",
    ) -> Self:
        """Judge a printed formula by an example: it is a misprint if it does not hold there."""
        return cls(
            cell=cell,
            printed=printed,
            ours=ours,
            verdict=Verdict.AGREES if holds else Verdict.MISPRINT,
            errata=() if holds else errata,
            sentence=sentence,
        )

    @classmethod
    def promise(
        cls,
        cell: str,
        printed: str,
        ours: str,
        *,
        is_kept: bool,
        value: float,
        errata: tuple[str, ...],
        sentence: str,
    ) -> Self:
        """Judge a printed promise: the set-up is unsafe if it does not keep the promise."""
        verdict = Verdict.AGREES if is_kept else Verdict.UNSAFE
        return cls(
            cell=cell,
            printed=printed,
            ours=ours,
            verdict=verdict,
            value=value,
            errata=() if is_kept else errata,
            sentence=sentence,
        )

    def computed(self) -> Self:
        """Mark the row as one whose number the sources do not print."""
        return replace(self, is_printed=False)

    def misprinted(self, sentence: str, errata: tuple[str, ...]) -> Self:
        return replace(self, verdict=Verdict.MISPRINT, errata=errata, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The error of the faithful run and of the right way, in the same measure."""

    what: str
    measure: str
    faithful: float
    right: float
    remark: str = ""

    @property
    def saved(self) -> float:
        """The part of the error that the right way saves; negative where being right costs more."""
        return 1 - self.right / self.faithful


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """The result of one study."""

    rows: tuple[StudyRow, ...]
    sentence: str
    comparisons: tuple[Comparison, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def printed(self) -> int:
        """The number of rows whose number or claim the sources print."""
        return sum(row.is_printed for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One table or figure of the sources: its name, place and items, and the function that runs
    it.
    """

    name: str
    title: str
    source: str
    items: tuple[str, ...]
    run: Callable[[int, int], StudyResult]
